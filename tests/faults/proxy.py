"""A TCP proxy before a real Solr that does to connections what networks do.

    with proxied(port) as proxy:
        collection = open_collection(f"{proxy.url}/{name}", name)
        proxy.fault(Fault(request=100, end="reset"))

The next connection gets the fault; those after it are clean, unless more are asked for. Requests
that went through whole are told to `on_request`, so that what was sent is counted here and not by
the client's own word.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

End = Literal["close", "reset", "hang"]
OnRequest = Callable[[str, bytes], None]
OnAnswer = Callable[[bytes], None]
SECONDS = 10.0  # for what takes no time on one machine
_BLOCK = 1 << 16
_LENGTH = b"content-length:"
# An RST instead of a FIN: nothing lingers.
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a connection.

    `request` and `response` are how many bytes pass in that direction before the connection ends
    by `end`: closed, reset, or left open while nothing passes any more. `latency` is the seconds
    that each piece waits, `rate` bytes per second, `piece` the bytes of a piece; the latter two
    are about both directions. `copies` is how often each piece of the response is sent.
    """

    request: int | None = None
    response: int | None = None
    end: End = "close"
    latency: float = 0.0
    rate: float | None = None
    piece: int = _BLOCK
    copies: int = 1


@dataclass(slots=True)
class _Requests:
    """The requests of one connection, put together from its bytes."""

    on_request: OnRequest
    held: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        """Take bytes that passed; each request that is whole now is told."""
        self.held += data
        while (head := self.held.find(b"\r\n\r\n")) >= 0:
            first, *headers = bytes(self.held[:head]).split(b"\r\n")
            sizes = [one.partition(b":")[2] for one in headers if one.lower().startswith(_LENGTH)]
            end = head + 4 + (int(sizes[0]) if sizes else 0)
            if len(self.held) < end:
                return
            body = bytes(self.held[head + 4 : end])
            del self.held[:end]
            self.on_request(first.split()[1].decode(), body)


class Proxy:
    """A proxy on a port of 127.0.0.1 that passes everything on to another one."""

    def __init__(self, upstream: int, on_request: OnRequest, port: int) -> None:
        self.upstream, self.on_request = upstream, on_request
        self.on_answer: OnAnswer = _unread  # is given the pieces of answers as they come
        self.connections = 0  # that were taken so far
        self.passed = {"request": 0, "response": 0}  # bytes in each direction
        self._fault, self._left, self._closed = Fault(), 0, False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._listen)

    @property
    def url(self) -> str:
        """The address of the Solr behind the proxy."""
        return f"http://127.0.0.1:{self.port}/solr"

    def fault(self, fault: Fault, connections: int = 1) -> None:
        """Let so many of the next connections have a fault."""
        with self._lock:
            self._fault, self._left = fault, connections

    def heal(self) -> None:
        """Let connections from now on be clean."""
        self.fault(Fault(), 0)

    def close(self) -> None:
        """End all connections, and listen no more."""
        _shut(self._listener)
        with self._lock:
            self._closed = True
            for one in self._open:
                _shut(one)
        for thread in self._threads:
            thread.join(SECONDS)
            assert not thread.is_alive()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()

    def _listen(self) -> None:
        with self._listener:
            while True:
                try:
                    here, _ = self._listener.accept()
                except OSError:
                    return
                self.connections += 1
                with self._lock:
                    fault = self._fault if self._left else Fault()
                    self._left = max(0, self._left - 1)
                    self._open.add(here)
                self._start(self._taken, here, fault)

    def _taken(self, here: socket.socket, fault: Fault) -> None:
        """Pass one connection on in both directions until one of them ends."""
        with _Pair(here, fault.end) as pair:
            try:
                there = pair.add(socket.create_connection(("127.0.0.1", self.upstream), SECONDS))
            except OSError:
                pair.end("reset")
                return
            there.settimeout(None)
            with self._lock:
                self._open.add(there)
                if self._closed:
                    _shut(there)
            back = threading.Thread(
                target=self._pass, args=(there, here, fault, pair, None), daemon=True
            )
            back.start()
            self._pass(here, there, fault, pair, _Requests(self.on_request))
            back.join()
        with self._lock:
            self._open -= {here, there}

    def _pass(
        self,
        source: socket.socket,
        target: socket.socket,
        fault: Fault,
        pair: _Pair,
        requests: _Requests | None,
    ) -> None:
        """Pass one direction on until it ends, or the fault ends both."""
        way = "response" if requests is None else "request"
        cut = fault.response if requests is None else fault.request
        came = 0
        try:
            while data := source.recv(fault.piece):
                if fault.latency:
                    time.sleep(fault.latency)
                allowed = data if cut is None else data[: max(0, cut - came)]
                came += len(data)
                # Counted first: what comes of it may be seen as soon as it is sent.
                self.passed[way] += len(allowed)
                if requests is None:
                    self.on_answer(allowed)
                else:
                    requests.feed(allowed)
                target.sendall(allowed * (fault.copies if requests is None else 1))
                if cut is not None and came >= cut:
                    if fault.end == "hang":
                        continue  # what comes is swallowed until somebody gives up
                    pair.end(fault.end)
                    return
                if fault.rate is not None:
                    time.sleep(len(data) / fault.rate)
        except OSError:
            pass
        pair.end("close")


class _Pair:
    """Both sockets of a connection, which end together, once."""

    def __init__(self, here: socket.socket, end: End) -> None:
        self._sockets = [here]
        self._lock, self._ended = threading.Lock(), False

    def __enter__(self) -> _Pair:
        return self

    def __exit__(self, *error: object) -> None:
        self.end("close")
        for one in self._sockets:
            one.close()

    def add(self, there: socket.socket) -> socket.socket:
        """Take the socket of the other side."""
        self._sockets.append(there)
        return there

    def end(self, end: End) -> None:
        """End both directions of both sockets, unless they have ended."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            for one in self._sockets:
                if end == "reset":
                    # Wakes the thread that reads, and sends nothing: closing it will send the RST.
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
                    _shut(one, socket.SHUT_RD)
                else:
                    _shut(one)


def _shut(one: socket.socket, how: int = socket.SHUT_RDWR) -> None:
    with suppress(OSError):  # it may have ended by itself
        one.shutdown(how)


def _unread(piece: bytes) -> None:
    """Forget a piece of an answer."""


def unheard(path: str, body: bytes) -> None:
    """Forget a request."""


@contextmanager
def proxied(upstream: int, on_request: OnRequest = unheard, port: int = 0) -> Iterator[Proxy]:
    """A proxy before a port of this machine; it ends with the block, and so do its connections."""
    proxy = Proxy(upstream, on_request, port)
    try:
        yield proxy
    finally:
        proxy.close()
