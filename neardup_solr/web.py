"""Local pages over HTTP: what `serve` and `review` share. It needs starlette and uvicorn."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import signal
import socket
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import cache, partial
from importlib import resources
from itertools import chain
from typing import Any, cast
from urllib.parse import urlsplit

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from neardup_solr import hangup
from neardup_solr.arguments import require
from neardup_solr.errors import DataError
from neardup_solr.records import NOTHING
from neardup_solr.solr.address import is_loopback
from neardup_solr.text.json_keys import has_key_twice

REQUEST_SECONDS = 10.0  # for a whole request to come
# Bytes beyond the limit that are read: a connection that is closed before loses the answer.
DISCARDED = 16 << 20
IDLE_SECONDS = 75  # between two requests of a connection; proxies keep theirs for 60
LAST_SECONDS = 1.0  # for a client to read the last answer, or to send what it has begun to send
END_SECONDS = 30  # for requests under way when a signal comes
CONNECTIONS = 4096  # that are open, and as many that wait to be taken
LOGGERS = (logging.getLogger("uvicorn.error"), logging.getLogger("asyncio"))
FILES = 2 * CONNECTIONS  # that may be open, if the system allows it: each connection is one
REPORTS = "neardup_solr.reports.html"
OF_REPORTS = ("report.css", "words.js")  # files of the report page, for one look
CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
HEADERS = {
    "Content-Security-Policy": f"{CSP} base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
LEVELS, LONGEST = 200, 4_000  # lists within lists, and digits of a whole number, that are read
FAULT = secrets.token_hex(16)  # the key of what is wrong with an object, which no other has
TWICE = "appears twice, or contains a duplicate key"
NO_VALUE = f"contains NaN, Infinity or more than {LEVELS} nested levels, which cannot be read"
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"


class Failure(Exception):
    """A request that is answered by an error."""

    def __init__(self, status: int, reason: str, next_step: str = "", **headers: str) -> None:
        self.status, self.reason, self.next_step = status, reason, next_step
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    @property
    def response(self) -> Response:
        """The error as JSON."""
        body = {"error": self.reason} | ({"next": self.next_step} if self.next_step else {})
        return to_json(body, self.status, self.headers)


def to_json(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Make a response of JSON, or of bytes that are JSON already."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return Response(content, status, headers, "application/json")


class Guard:
    """Middleware that refuses foreign requests: see `find_foreign`."""

    def __init__(self, app: ASGIApp, *, port: int, names: Collection[str] = ()) -> None:
        self.app, self.port, self.names = app, port, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        foreign = find_foreign(Headers(scope=scope), self.port, self.names)
        if foreign is None:
            await self.app(scope, receive, send)
        else:
            step = "use the address that the command printed, or start the service with allow_host"
            await Failure(*foreign, step).response(scope, receive, send)


def find_foreign(
    headers: Mapping[str, str], port: int, names: Collection[str] = ()
) -> tuple[int, str] | None:
    """Return the status and the reason for which a foreign request is refused, None for any other.

    A page may let its own name lead to this machine (DNS rebinding), but the browser then sends
    that name as Host, and as Origin which page asks. The Host has to be a name of this machine or
    one of `names`, the Origin that of the Host, one of `names`, or this machine's at `port`.
    """
    host, origin = _split(f"//{headers.get('host', '')}"), headers.get("origin")
    if "host" in headers and not (is_loopback(host[0]) or host[0] in names):
        return 421, f"the Host {host[0]!r} does not belong to this service"
    if origin is None:
        return None
    name, page_port = page = _split(origin)
    if page == host or name in names or (is_loopback(name) and page_port == port):
        return None
    return 403, f"pages from the Origin {origin[:100]!r} may not use this service"


def parse_host(host: str) -> str:
    """Parse the name of a host that is allowed. Raises ArgumentError if it is none."""
    name, port = _split(f"//{host}")
    is_name = name and port is None and not set(name + host) & set("/*@?# ")
    step = "give only the host name, such as search.example.org"
    require(bool(is_name), f"`allow_host` cannot be {host!r}", step)
    return name


def _split(address: str) -> tuple[str, int | None]:
    """Split an address into its host, without a final dot, and its port."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return "", None


async def read_body(request: Request, most: int) -> bytes:
    """Read the body of a request, of at most so many bytes, which has to come in time."""
    too_large = Failure(413, f"a request has at most {most:,} bytes", "send less at a time")
    if int(request.headers.get("content-length") or 0) > most + DISCARDED:
        raise too_large
    body, size = bytearray(), 0
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            async for chunk in request.stream():
                size += len(chunk)
                body += chunk if size <= most else b""
                if size > most + DISCARDED:
                    break
    except TimeoutError:
        reason = f"the request did not arrive within {REQUEST_SECONDS:g} seconds"
        raise Failure(408, reason, "send it faster, or send less", Connection="close") from None
    if size > most:
        raise too_large
    return bytes(body)


def load_plain(body: bytes) -> dict[str, Any] | None:
    """Parse a JSON object, or return None if `parse_object` has to look closer.

    orjson refuses what Solr reads, makes floats of long numbers, and takes the last of equal keys.
    """
    try:
        fields = orjson.loads(body)
        is_plain = not has_key_twice(fields, body)
        if body.count(b"[") + body.count(b"{") > LEVELS:
            orjson.dumps(fields)  # which refuses more than 254 levels
    except (orjson.JSONDecodeError, TypeError):
        return None
    return fields if is_plain and isinstance(fields, dict) and not _has_long(fields) else None


def _has_long(fields: dict[str, Any]) -> bool:
    """Return True if an object, or any in a list of it, has a number that may be a rounded one."""
    parts = (each for value in fields.values() if type(value) is list for each in value)
    values = (each.values() for each in (fields, *parts) if type(each) is dict)
    return any(type(value) is float and abs(value) >= 2**63 for value in chain(*values))


def parse_object(body: bytes, next_step: str = "") -> dict[str, Any]:
    """Parse the JSON object of a request as Solr does, which replaces what is no character.

    An object has a `FAULT`, a key and a reason, if a value is none of JSON, is too deep, or has
    another beside it.
    """
    if (fields := load_plain(body)) is not None:
        return fields
    try:
        text = _cut_levels(body).decode("utf-8", "replace")
        fields = json.loads(
            text, strict=False, object_pairs_hook=_make_object,
            parse_constant=lambda _: NO_VALUE,
            parse_int=lambda digits: int(digits) if len(digits) <= LONGEST else Decimal(digits),
        )  # fmt: skip
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Failure(400, f"the request is not JSON ({where}: {error.msg})", next_step) from None
    if not isinstance(fields, dict):
        raise Failure(400, "the request is not a JSON object", next_step)
    return fields


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        name = _replace_surrogates(name)
        made[name] = TWICE if name in made else _replace_surrogates(value)
        if fault := _find_fault(made[name]):
            made[FAULT] = name, fault
    return made


def _find_fault(value: Any) -> str:
    """Say what is wrong with a value, "" if nothing is."""
    if isinstance(value, list):
        return next(filter(None, map(_find_fault, value)), "")
    if isinstance(value, dict):
        return value[FAULT][1] if FAULT in value else ""
    return value if value is TWICE or value is NO_VALUE else ""


def _replace_surrogates(value: Any) -> Any:
    """Put U+FFFD for each surrogate that is alone, also in a list."""
    if isinstance(value, list):
        return [_replace_surrogates(each) for each in value]
    is_text = isinstance(value, str) and value is not NO_VALUE
    return _SURROGATE.sub("\ufffd", value) if is_text else value


def _cut_levels(body: bytes) -> bytes:
    """Put NaN for what is more than so many `LEVELS` within lists and objects."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(body):
        depth += (is_begin := token[0] in b"[{") - (is_end := token[0] in b"]}")
        if is_begin and depth == LEVELS:
            parts += [body[start : token.start()], b"NaN"]
        elif is_end and depth == LEVELS - 1:
            start = token.end()
    return b"".join([*parts, body[start:] if depth < LEVELS else b""])


def list_pages(package: str, names: Mapping[str, str], root_path: str = "") -> list[Route]:
    """Make a route to a file of a package for each path."""

    def route(path: str, name: str) -> Route:
        async def send(_: Request) -> Response:
            return _read_page(REPORTS if name in OF_REPORTS else package, name, root_path)

        return Route(path, send)

    return [route(path, name) for path, name in names.items()]


@cache
def _read_page(package: str, name: str, root_path: str) -> Response:
    text = (resources.files(package) / name).read_text("utf-8").replace("{root_path}", root_path)
    return Response(text, media_type=TYPES[name.rpartition(".")[2]], headers=HEADERS)


def make_app(
    routes: Sequence[Route], middleware: Sequence[Middleware], next_step: str, *,
    root_path: str = "", handlers: Mapping[Any, Any] = NOTHING,
) -> Starlette:  # fmt: skip
    """Make an application of exact paths, which redirects nobody: see `refuse_route`.

    `next_step` is for those who ask for another path.
    """
    methods = {route.path: "POST" if "POST" in (route.methods or ()) else "GET" for route in routes}

    async def refuse(request: Request, error: HTTPException) -> Response:
        path = request.scope["path"]  # that of `url` depends on the Host
        return refuse_route(error, path, methods, root_path, next_step).response

    handlers = {HTTPException: refuse, **handlers}
    app = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
    app.router.redirect_slashes = False  # which would lead to the Host that the client sent
    return app


def refuse_route(
    error: HTTPException, path: str, methods: Mapping[str, str], root_path: str, next_step: str
) -> Failure:
    """Choose the answer to a path that does not exist, or to a wrong method of one.

    `methods` has the method of each path. One that is meant, such as "/check" by "//Check/", is
    named in the answer.
    """
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        method = "POST" if "POST" in allowed else "GET"
        return Failure(405, f"{path} accepts only {method}", f"send {method}", Allow=allowed)
    words = "/" + "/".join(filter(None, path.lower().split("/")))
    meant = words.removeprefix(root_path.lower()) or "/"
    if meant in methods:
        next_step = f"use {methods[meant]} {root_path}{meant}"
    return Failure(error.status_code, "this path does not exist", next_step)


def require_port(port: int) -> None:
    """Refuse a number that no port has, by ArgumentError."""
    require(0 <= port < 1 << 16, f"`port` cannot be {port}", "use 1 to 65535, or 0 for a free port")


def bind(host: str, port: int, next_step: str) -> socket.socket:
    """Take a port of an address. Raises ArgumentError with `next_step` if that cannot be.

    It is a DataError if this machine does not allow it now.
    """
    require_port(port)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only on sockets that say they are of TCP; others wait for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(CONNECTIONS)  # who comes before the server has started, waits
    except (OSError, UnicodeError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        problem = f"port {port} on {host!r} cannot be used ({reason})"
        raise DataError(problem, next_step) from None
    return bound


def run(app: ASGIApp, bound: socket.socket, on_hangup: Callable[[], object] | None = None) -> None:
    """Answer requests until SIGINT or SIGTERM comes. A second signal ends at once.

    SIGHUP calls `on_hangup`. Without it, and if the terminal has gone, it ends as SIGTERM does.
    """
    config = uvicorn.Config(
        app, loop="asyncio", http=TimedConnection, ws="none", lifespan="off", log_config=None,
        access_log=False, proxy_headers=False, server_header=False, backlog=CONNECTIONS,
        limit_concurrency=CONNECTIONS, timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
    )  # fmt: skip
    _allow_files()
    PageServer(config, on_hangup).run(sockets=[bound])


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
    """Connection that is closed if a request does not come in time, or none at all."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a first request."""
        super().connection_made(cast(Any, Transport(transport, self.loop)))
        self._wait(REQUEST_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a head, or of a refused request. `read_body` waits for bodies."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._is_under_way:
            self._stop_waiting()
        elif self._timer is None:
            self._wait(REQUEST_SECONDS)

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
        if self.conn.trailing_data[0].strip():  # the head of a request
            self.transport.write(TIMED_OUT)
        self.transport.close()


def _allow_files() -> None:
    """Let the process have as many files open as a thousand connections need."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < FILES:
            wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
