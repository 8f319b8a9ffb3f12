"""Connections that end in time and lose no answer: subclasses of uvicorn's server and protocol.

uvicorn has no option for the time in which the head of a request has to come, none for signals, and
when it ends it drops what waits to be accepted and resets connections before their last answer is
read; no middleware sees any of this.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from neardup_solr import hangup
from neardup_solr.web import body

IDLE_SECONDS = 75  # between two requests of a connection; proxies keep theirs for 60
LAST_SECONDS = 1.0  # for a client to read the last answer, or to send what it has begun to send
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"


class PageServer(uvicorn.Server):
    """Server that answers all that has come before it ends, and does not raise a signal again."""

    def __init__(self, config: uvicorn.Config, on_hangup: Callable[[], object] | None) -> None:
        super().__init__(config)
        self.on_hangup, self._had_terminal = on_hangup, hangup.has_terminal()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals by the loop, whatever handled them before."""
        handlers = {signal.SIGINT: self._end, signal.SIGTERM: self._end}
        before = None
        if number := getattr(signal, "SIGHUP", None):  # not on Windows
            before = signal.getsignal(number)
            is_ignored = before == signal.SIG_IGN  # by nohup
            self._had_terminal &= not is_ignored
            handlers |= {} if is_ignored and self.on_hangup is None else {number: self._hang_up}
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
            for number, handler in handlers.items():
                asyncio.get_running_loop().add_signal_handler(number, handler)
        if isinstance(before, hangup.Hangup):
            self._had_terminal |= before.had_terminal
            if before.came:
                self._hang_up()
        yield

    def _hang_up(self) -> None:
        if self.on_hangup is None or (self._had_terminal and not hangup.has_terminal()):
            self._end()
        else:
            self.on_hangup()

    def _end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the connections that wait, and tell the clients of all that they end."""
        loop, waiting = asyncio.get_running_loop(), []
        self.server_state.default_headers.append(CLOSE_HEADER)
        with suppress(NotImplementedError):  # on Windows
            for bound in sockets or []:
                loop.remove_reader(bound)
        await asyncio.sleep(0.05)  # for connections that are being taken
        for bound, server in zip(sockets or [], self.servers, strict=True):
            with suppress(OSError):
                while True:
                    waiting.append(bound.accept()[0])
            server.close()  # at once: what comes from now on is refused
        state = self.server_state, self.lifespan.state
        for each in waiting:
            each.setblocking(False)
            await loop.connect_accepted_socket(partial(TimedConnection, self.config, *state), each)
        await super().shutdown(sockets)
        if self.server_state.connections and not self.force_exit:
            await asyncio.sleep(LAST_SECONDS)  # for refusals of what took too long
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()  # its client does not read: an answer would wait for ever


class Transport:
    """Transport of asyncio that ends its own side first, so that no reset takes the last answer."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._is_closing = transport, loop, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Return True if nothing more is to be read or written."""
        return self._is_closing or bool(self._transport.is_closing())

    def close(self) -> None:
        """Send what is left and the end, and read on, in vain, until the client ends, too."""
        if not self.is_closing():
            self._is_closing = True
            self._transport.write_eof()
            self._transport.resume_reading()
            self._loop.call_later(LAST_SECONDS, self._transport.close)


class TimedConnection(H11Protocol):
    """Connection that is closed if no request comes in time, or nobody reads its answer."""

    _timer: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a first request."""
        super().connection_made(cast(Any, Transport(transport, self.loop)))
        self._wait(body.REQUEST_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head, or of a refused request. `read_body` waits for bodies."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_under_way:
            self._stop_waiting()
        elif self._timer is None:
            self._wait(body.REQUEST_SECONDS)

    def pause_writing(self) -> None:
        """Wait for the client to read, as long as it reads anything."""
        super().pause_writing()
        self._watch_writing(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        """Write on, as the client has read."""
        if self._stuck is not None:
            self._stuck.cancel()
        super().resume_writing()

    def _watch_writing(self, before: int) -> None:
        size = self.transport.get_write_buffer_size()
        if size < before:
            self._stuck = self.loop.call_later(IDLE_SECONDS, self._watch_writing, size)
        else:
            self.transport.abort()

    def _should_upgrade(self) -> bool:
        """Stay with HTTP/1.1, without a warning: each request of Java's client offers HTTP/2."""
        return False

    def shutdown(self) -> None:
        """Answer what has begun to come, and close the connection after that."""
        self._unset_keepalive_if_required()
        if self._is_under_way:
            self.cycle.default_headers = self.server_state.default_headers
            self.cycle.keep_alive = False
        elif not self.conn.trailing_data[0]:
            self._wait(LAST_SECONDS)

    @property
    def _is_under_way(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._end)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _end(self) -> None:
        if self.transport.is_closing():  # as what came was no HTTP
            return
        if self.conn.trailing_data[0].strip():  # the head of a request
            self.transport.write(TIMED_OUT)
        self.transport.close()
