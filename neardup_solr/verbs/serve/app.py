"""The HTTP side of a service: what comes in is bounded and checked, what goes out is counted.

The event loop reads requests and refuses what is too much; threads ask Solr. So neither a slow
client nor a flood holds what answers the others.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import secrets
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources
from typing import Any

import orjson
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from neardup_solr.errors import (
    ArgumentError,
    DocumentNotFound,
    NeardupError,
    RecordError,
    SolrAnswerError,
    SolrUnauthorized,
    SolrUnreachable,
    SourceError,
)
from neardup_solr.verbs.serve.service import SEND, Service, has_local_params
from neardup_solr.verbs.serve.tokens import LOCAL_PARAMS, Tokens
from neardup_solr.web import HEADERS, TYPES, find_foreign

BODY_SECONDS = 10.0  # for a whole request to come
IDLE_SECONDS = 75  # between two requests of a connection; proxies keep theirs for 60
LINGER_SECONDS = 2.0  # for what still comes of a request that is refused: else it hides the answer
TOGETHER = 16  # documents that one question is about, if requests are small
SWITCH_SECONDS = 0.0005  # after which Python's threads take turns, or long work would delay others
WAITING = 4  # requests that wait, for each one that is worked on
LOOK_SECONDS = 0.5  # between two looks at Solr
READY_SECONDS, SILENT_SECONDS = 1.5, 4.0  # without Solr's answer, until it counts as away
TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"
RETRY_AFTER = {"Retry-After": "1"}
PAGES = {
    "/": "page.html", "/page.js": "page.js", "/page.css": "page.css", "/docs": "docs.html",
    "/docs.js": "docs.js", "/openapi.json": "openapi.json", "/report.css": "report.css",
    "/words.js": "words.js",
}  # fmt: skip
OF_REPORTS = ("report.css", "words.js")  # files of the report page, for one look
POSTED = {"/check": "check", "/search": "search", "/entries": "entries"}
GOTTEN = {"/explain": "explain", "/metrics": "metrics", "/health": "", "/ready": ""}
READ = dict.fromkeys(POSTED, ()) | {"/explain": ("id", "other_id")}  # parameters of an address
RIGHTS = POSTED | GOTTEN | dict.fromkeys(PAGES, "")  # that each path needs
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)


Check = tuple[list[Any], "asyncio.Future[Any]"]  # the documents of a request, and its decisions


@dataclass(slots=True)
class Lane:
    """Checks that are asked about by one question at a time, of `together` documents or so.

    What comes meanwhile is gathered for the next one.
    """

    together: int
    waiting: deque[Check] = field(default_factory=deque)
    asked: int = 0

    def take(self) -> list[Check]:
        """Take what the next question is about, nothing while one is asked."""
        taken, documents = [], 0
        while self.waiting and not self.asked and documents < self.together:
            taken.append(self.waiting.popleft())
            documents += len(taken[-1][0])
        self.asked += bool(taken)
        return taken


class Failure(Exception):
    """A request that is answered by an error."""

    def __init__(self, status: int, reason: str, next_step: str, **headers: str) -> None:
        self.status, self.reason, self.next_step = status, reason, next_step
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Most bytes and documents of a request, and most requests that are worked on at a time."""

    body: int
    documents: int
    at_work: int


class Metrics:
    """What is counted, in the names of Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        known: dict[str, Any] = {"registry": self.registry, "namespace": "neardup"}
        self.requests = Counter("requests", "Requests", ["path", "status"], **known)
        self.seconds = Histogram(
            "request_seconds", "Time to answer", ["path"], **known,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )  # fmt: skip
        self.documents = Counter("documents", "Documents in requests", ["path"], **known)
        self.decisions = Counter("decisions", "Decisions", ["action"], **known)
        self.refused = Counter("refused", "Requests refused, as too much waits", **known)
        self.at_work = Gauge("requests_in_flight", "Requests worked on, or waiting", **known)
        self.unsigned = Gauge("unsigned_documents", "Documents without a signature", **known)
        self.solr_up = Gauge("solr_up", "1 if the collection can be served", **known)


@dataclass(slots=True)
class Asked:
    """One request, and what its line in the log tells."""

    request: Request
    path: str
    id: str
    body: bytes | None = None
    client: str | None = None
    rights: frozenset[str] = frozenset()
    documents: int = 0
    began: float = field(default_factory=time.perf_counter)


class App:
    """The application that serves a collection."""

    def __init__(
        self,
        service: Service,
        *,
        tokens: Tokens | None,
        names: frozenset[str],
        port: int,
        root_path: str,
        bounds: Bounds,
    ) -> None:
        self.service, self.tokens, self.root_path = service, tokens, root_path
        self.names, self.port = names, port
        self.bounds, self.metrics = bounds, Metrics()
        self.metrics.solr_up.set_function(lambda: not service.find_problem(READY_SECONDS))
        self.metrics.unsigned.set_function(
            lambda: math.nan if (n := service.unsigned) is None else n
        )
        self.metrics.at_work.set_function(lambda: self._at_work)
        self._at_work = 0
        self._pool = ThreadPoolExecutor(bounds.at_work)
        self._usual, self._long = Lane(TOGETHER), Lane(1)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Look at Solr again and again meanwhile."""
        stop = threading.Event()

        def look() -> None:
            told = ""
            while not stop.wait(LOOK_SECONDS):
                try:
                    self.service.look()
                    problem = str(self.service.problem or "")
                    if problem != told:
                        level = "WARNING" if problem else "INFO"
                        _log(
                            {"level": level, "message": problem or "the collection is served again"}
                        )
                    told = problem
                    if self.tokens is not None:
                        self.tokens.refresh()
                except Exception as error:  # without a next look nothing would be served any more
                    self._log_fault("look", error, _refuse(error))

        def count() -> None:
            while not stop.wait(self.service.count_after):
                try:
                    self.service.count_gap()
                except Exception as error:
                    self._log_fault("count", error, _refuse(error))

        for work in (look, count):
            threading.Thread(target=work, daemon=True).start()
        _log({"level": "INFO", "message": f"serving {self.service.description}"})
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            stop.set()
            self._pool.shutdown(wait=False)

    async def watch(self, connections: set[Any]) -> None:
        """Close connections on which the head of a request stays unfinished, or nothing comes."""
        # The last request of each, whether a head has begun after it, and since when that is so.
        idle: dict[Any, tuple[tuple[Any, bool], float]] = {}
        while True:
            await asyncio.sleep(1)
            now, before, idle = time.monotonic(), idle, {}
            for one in connections:
                if one.cycle is None or one.cycle.response_complete:
                    state = one.cycle, bool(one.conn.trailing_data[0])
                    last = before.get(one, (state, now))
                    idle[one] = last if last[0] == state else (state, now)
            for one, ((_, has_begun), since) in idle.items():
                if now - since > (BODY_SECONDS if has_begun else IDLE_SECONDS):
                    if has_begun:
                        one.transport.write(TIMED_OUT)
                    one.transport.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever becomes of it, and log a line."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        path = request.url.path.removeprefix(self.root_path) or "/"
        given = request.headers.get("x-request-id", "")
        id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        asked = Asked(request, path if path in RIGHTS else "(unknown)", id)
        body: Any = None
        headers: Mapping[str, str] = {}
        try:
            status, body = 200, await self._answer(asked)
            headers = HEADERS if isinstance(body, Response) else {}
        except ClientDisconnect:
            status = 499  # nobody is there to hear it
        except Exception as error:
            failure = _refuse(error)
            status, headers = failure.status, failure.headers
            body = {"error": failure.reason, "next": failure.next_step}
            if status >= 500:
                self._log_fault(id, error, failure)
        if status != 499:
            await self._send(asked, send, status, body, headers)
        seconds = time.perf_counter() - asked.began
        self.metrics.requests.labels(asked.path, status).inc()
        self.metrics.seconds.labels(asked.path).observe(seconds)
        _log(
            {
                "id": id,
                "client": asked.client,
                "path": asked.path,
                "status": status,
                "ms": round(seconds * 1000, 1),
                "documents": asked.documents,
            }
        )

    async def _answer(self, asked: Asked) -> Any:
        request, path = asked.request, asked.path
        if self.tokens is None or self.names:
            foreign = find_foreign(request.headers, self.port, self.names)
            if foreign is not None:
                step = "ask by a name of this machine, or have the service started with allow_host"
                raise Failure(*foreign, step)
        if path not in RIGHTS:
            raise Failure(404, "there is no such path", f"see {self.root_path}/docs")
        method = "POST" if path in POSTED else "GET"
        if request.method != method and (method, request.method) != ("GET", "HEAD"):
            raise Failure(405, f"{path} takes {method} only", f"send {method}", Allow=method)
        self._authorize(asked, RIGHTS[path])
        if path in READ and (odd := request.query_params.keys() - READ[path]):
            raise Failure(400, f"{path} takes no {min(odd)!r}", f"see {self.root_path}/docs")
        if path in PAGES:
            return _read_page(PAGES[path], self.root_path)
        if path == "/metrics":
            made = await asyncio.to_thread(generate_latest, self.metrics.registry)
            return Response(made, media_type="text/plain; version=0.0.4")
        if path == "/health":
            return {"status": "ok"}
        self._require_solr(READY_SECONDS if path == "/ready" else SILENT_SECONDS, path)
        if path == "/ready":
            return self.service.with_gap({"status": "ready"})
        return await self._work(asked)

    def _authorize(self, asked: Asked, right: str) -> None:
        """Refuse who does not have the right. Pages have no data, and need none."""
        if self.tokens is None or not right:
            return
        found = self.tokens.find(asked.request.headers.get("authorization", ""))
        if found is None:
            step = "send a token of this service: Authorization: Bearer TOKEN"
            raise Failure(401, "the token is missing or wrong", step, WWW_Authenticate="Bearer")
        asked.client, asked.rights = found
        if right not in asked.rights:
            reason = f"this token has not the right {right!r}"
            raise Failure(403, reason, "ask who runs the service for a token with it")

    def _require_solr(self, seconds: float, path: str) -> None:
        problem = self.service.find_problem(seconds)
        is_away = isinstance(problem, SolrUnreachable | SolrAnswerError)
        if problem is not None and not (is_away and path == "/entries"):  # which asks nothing
            raise problem.with_traceback(None)  # it would grow with each request

    async def _work(self, asked: Asked) -> Any:
        """Read a request, and let a thread answer it, unless too many wait."""
        self._require_room()
        if asked.path in POSTED:
            asked.body = await self._read_body(asked.request)
            self._require_room()
        self._at_work += 1
        try:
            if asked.path == "/check":
                return await self._check(asked)
            work: Callable[[], Any]
            if asked.path == "/entries":
                work = partial(
                    self.service.make_entries, self._parse_documents(asked, whole=True)[0]
                )
            elif asked.path == "/search":
                search = self._parse(asked)
                if LOCAL_PARAMS not in asked.rights and has_local_params(search):
                    reason = "`fq` has local parameters ({!...}), which may read other collections"
                    step = f"leave them out, or send a token with the right {LOCAL_PARAMS!r}"
                    raise Failure(403, reason, step)
                work = partial(self.service.search, search)
            else:
                work = partial(self.service.explain, asked.request.query_params)
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._at_work -= 1

    async def _check(self, asked: Asked) -> Any:
        """Wait for the decisions about a request."""
        records, is_single = self._parse_documents(asked)
        coming = asyncio.get_running_loop().create_future()
        self._usual.waiting.append((records, coming))
        self._start_checks()
        made = await coming
        for one in made:
            self.metrics.decisions.labels(one["action"]).inc()
        return made[0] if is_single else {"decisions": made}

    def _start_checks(self) -> None:
        """Ask the next question of each lane that has none under way."""
        for lane in (self._usual, self._long):
            if taken := lane.take():
                self._decide(taken, lane)

    def _decide(self, taken: list[Check], lane: Lane) -> None:
        """Let a thread decide about requests, and tell each what was decided."""
        loop = asyncio.get_running_loop()
        requests = [records for records, _ in taken]
        work = partial(self.service.check, requests, leaves_long=lane is self._usual)

        def finish(done: asyncio.Future[Any]) -> None:
            error = done.exception()
            if error is not None and len(taken) > 1:  # one may be the cause, and not hit the others
                lane.asked += len(taken) - 1
                for one in taken:
                    self._decide([one], lane)
                return
            lane.asked -= 1
            for at, one in enumerate(taken):
                _, coming = one
                if error is not None:
                    coming.set_exception(error)
                elif (made := done.result()[at]) is None:
                    self._long.waiting.append(one)
                else:
                    coming.set_result(made)
            self._start_checks()

        loop.run_in_executor(self._pool, work).add_done_callback(finish)

    def _require_room(self) -> None:
        if self._at_work >= self.bounds.at_work * (1 + WAITING):
            self.metrics.refused.inc()
            raise Failure(429, "too many requests wait", "send it again later", **RETRY_AFTER)

    async def _read_body(self, request: Request) -> bytes:
        most = self.bounds.body
        reason, step = f"a request has at most {most:,} bytes", "send less at a time"
        if int(request.headers.get("content-length") or 0) > most:
            raise Failure(413, reason, step)
        content = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in request.stream():
                    content += chunk
                    if len(content) > most:
                        raise Failure(413, reason, step)
        except TimeoutError:
            said = f"the request did not come within {BODY_SECONDS:g} seconds"
            raise Failure(408, said, "send it faster, or less") from None
        return bytes(content)

    def _parse(self, asked: Asked) -> dict[str, Any]:
        try:
            found = orjson.loads(asked.body or b"")
        except orjson.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise Failure(400, f"the request is not JSON ({where}: {error.msg})", SEND) from None
        if not isinstance(found, dict):
            raise Failure(400, "the request is not a JSON object", SEND)
        return found

    def _parse_documents(self, asked: Asked, *, whole: bool = False) -> tuple[list[Any], bool]:
        """Return the documents of a request, and whether it is one alone.

        One alone has to be right; with `whole`, each one.
        """
        found = self._parse(asked)
        is_single = "documents" not in found
        given = [found] if is_single else found["documents"]
        if not isinstance(given, list) or (len(found) > 1 and not is_single):
            raise Failure(400, "`documents` is not a list alone", 'send {"documents": [...]}')
        most = self.bounds.documents
        if len(given) > most:
            reason = f"{len(given):,} documents are more than {most:,}"
            raise Failure(413, reason, "send fewer documents at a time")
        asked.documents = len(given)
        self.metrics.documents.labels(asked.path).inc(len(given))
        records = self.service.read(given)
        for one in records:
            if isinstance(one, RecordError) and (is_single or whole):
                raise one
        return records, is_single

    async def _send(
        self, asked: Asked, send: Send, status: int, body: Any, headers: Mapping[str, str]
    ) -> None:
        """Send the answer, and take for a while what still comes of a request that is refused."""
        request = asked.request
        if isinstance(body, Response):
            response = body
        else:
            made = body if isinstance(body, bytes) else orjson.dumps(body)
            response = Response(made, media_type="application/json")
        response.status_code = status
        response.headers.update({**headers, "X-Request-Id": asked.id})
        if request.method != "POST" or asked.body is not None:
            await response(request.scope, request.receive, send)
            return
        response.headers["Connection"] = "close"
        await send({"type": "http.response.start", "status": status,
                    "headers": response.raw_headers})  # fmt: skip
        await send({"type": "http.response.body", "body": response.body, "more_body": True})
        with suppress(TimeoutError):
            async with asyncio.timeout(0 if status == 408 else LINGER_SECONDS):
                while (await request.receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body", "body": b""})

    def _log_fault(self, id: str, error: Exception, failure: Failure) -> None:
        """Log an error of ours by its place in the code: its message may hold a text."""
        reason = failure.reason
        if failure.status == 500:
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        _log({"id": id, "error": type(error).__name__, "reason": reason})


def _refuse(error: Exception) -> Failure:
    """Choose the answer to an error."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, RecordError):
        return Failure(400, f"{error.position}: {error.reason}", SEND)
    if isinstance(error, ArgumentError):
        return Failure(400, error.reason, error.next_step)
    if isinstance(error, DocumentNotFound):
        return Failure(404, error.reason, error.next_step)
    if isinstance(error, NeardupError):
        reason, step = error.reason, error.next_step
        if isinstance(error, SolrUnreachable):
            reason, step = f"Solr is away: {reason}", "send it again later"
        if isinstance(error, SourceError):
            reason = f"{error.source}: {reason}"
        if isinstance(error, SolrUnauthorized) and error.status == 401:
            step = "start the service again, with credentials that Solr takes"
        return Failure(503, reason, step, **RETRY_AFTER)
    return Failure(500, "the service has a fault", "tell who runs it the X-Request-Id")


@cache
def _read_page(name: str, root_path: str) -> Response:
    folder = "neardup_solr.reports.html" if name in OF_REPORTS else __package__
    content = (resources.files(folder) / name).read_text("utf-8")
    kind = TYPES[name.rpartition(".")[2]]
    return Response(content.replace("{root_path}", root_path), media_type=kind, headers=HEADERS)


class Lines(logging.Handler):
    """Logs what the library tells as lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a line."""
        _log({"level": record.levelname, "message": record.getMessage()})


def _log(line: Mapping[str, Any]) -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    with suppress(OSError, ValueError):  # whoever reads it has gone
        sys.stderr.write(orjson.dumps({"time": now, **line}).decode() + "\n")
        sys.stderr.flush()
