"""The HTTP side of a service: what comes in is bounded and checked, what goes out is counted.

The event loop reads requests and refuses what is too much; threads ask Solr. Each kind and size of
request has a lane. So neither a slow client, nor a flood, nor large texts hold up the others.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import secrets
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import resources
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup_solr import errors, web
from neardup_solr.errors import counted
from neardup_solr.log import Log
from neardup_solr.progress import start_thread
from neardup_solr.records import NOTHING
from neardup_solr.verbs.serve.service import LOCAL_PARAMS, SEND, Service
from neardup_solr.verbs.serve.tokens import Tokens

TOGETHER = 16  # documents that one question is about, if requests are small
SMALL, MEDIUM = 16 << 10, 128 << 10  # bytes of requests; larger ones are parsed by a thread
LIGHT, HEAVY = 1 << 24, 1 << 28  # pairs of words that a question compares, in 20 ms and in 300
SWITCH_SECONDS = 0.0005  # after which Python's threads take turns, or long work would delay others
WAITING = 4  # requests that wait, for each one that is worked on
BODIES = 64  # of the most bytes, which are read at the same time
LOOK_SECONDS = 0.5  # between two looks at Solr
READY_SECONDS, SILENT_SECONDS = 1.5, 4.0  # without Solr's answer, until it counts as away
RETRY_AFTER = {"Retry-After": "1"}
PAGES = {
    "/": "page.html", "/page.js": "page.js", "/page.css": "page.css", "/docs": "docs.html",
    "/docs.js": "docs.js", "/report.css": "report.css", "/words.js": "words.js",
}  # fmt: skip
_REQUEST_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)

Json = dict[str, Any]
Check = tuple[list[Any], "asyncio.Future[Any]"]  # the documents of a request, and its decisions


@dataclass(slots=True)
class Lane:
    """Requests that wait for each other, and for those of no other lane, on so many `threads`.

    They have at most `size` bytes and `documents` documents. Small checks are asked about by one
    question of `TOGETHER` documents or so; what comes meanwhile is gathered for the next one. What
    compares more than `steps` pairs of words, or finds many documents, goes to the lane `longer`.
    A thread keeps what it has asked the `service` until Solr answers; whoever waits is refused
    earlier.
    """

    service: Service

    size: float = math.inf
    documents: float = math.inf
    steps: float = math.inf
    longer: Lane | None = None
    threads: int = 1
    waiting: deque[Check] = field(default_factory=deque)
    under_way: int = 0
    requests: int = 0  # that are worked on or wait
    held: int = 0  # bytes of these
    pool: ThreadPoolExecutor = field(init=False)
    workers: set[int] = field(default_factory=set)  # threads by their numbers

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.threads, initializer=self._begin)

    def _begin(self) -> None:
        self.workers.add(threading.get_ident())
        self.service.keep_threads()

    @property
    def is_light(self) -> bool:
        """True if documents that share a band with many others are left to another lane."""
        return self.steps == LIGHT

    def take(self) -> list[Check]:
        """Take what the next question is about, nothing while no thread is free."""
        checks, documents = list[Check](), 0
        most = TOGETHER if self.is_light else 1
        while self.waiting and self.under_way < self.threads and documents < most:
            checks.append(self.waiting.popleft())
            documents += len(checks[-1][0])
        self.under_way += bool(checks)
        return checks

    @property
    def is_silent(self) -> bool:
        """True if all threads wait for a Solr that does not answer in time."""
        return self.service.count_silent([*self.workers]) == self.threads

    def run(self, work: Callable[..., Any], *arguments: Any) -> asyncio.Task[Any]:
        """Let a thread of the lane work. Raises SolrUnreachable once Solr does not answer in time.

        The thread goes on then, and is free for other work when Solr has answered.
        """
        return asyncio.create_task(self._run(partial(work, *arguments)))

    async def _run(self, work: Callable[[], Any]) -> Any:
        worker: list[int] = []

        def start() -> Any:
            worker.append(threading.get_ident())
            return work()

        done = asyncio.get_running_loop().run_in_executor(self.pool, start)
        try:
            while not (await asyncio.wait([done], timeout=LOOK_SECONDS))[0]:
                if self.service.count_silent(worker) if worker else self.is_silent:
                    raise self.service.make_silence()
            return done.result()
        finally:
            if not done.done():
                done.cancel()  # if it has not begun
                done.add_done_callback(_forget)


class Metrics:
    """Counts and times, in the names of Prometheus."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        place: dict[str, Any] = {"registry": self.registry, "namespace": "neardup"}
        self.requests = Counter("requests", "Requests", ["path", "status"], **place)
        self.seconds = Histogram(
            "request_seconds", "Time to answer", ["path"], **place,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )  # fmt: skip
        self.documents = Counter("documents", "Documents in requests", ["path"], **place)
        self.decisions = Counter("decisions", "Decisions", ["action"], **place)
        self.refused = Counter("refused", "Requests refused because too many were waiting", **place)
        self.at_work = Gauge("requests_in_flight", "Requests being processed or waiting", **place)
        self.unsigned = Gauge("unsigned_documents", "Documents without a signature", **place)
        self.dropped = Counter("log_lines_dropped", "Lines of the log that were dropped", **place)
        self.solr_up = Gauge("solr_up", "1 if the collection can be served", **place)


class Ledger:
    """Middleware that answers errors, and counts and logs each request."""

    def __init__(self, app: ASGIApp, *, desk: Desk, paths: frozenset[str], root_path: str) -> None:
        self.app, self.desk, self.paths, self.root_path = app, desk, paths, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever becomes of it, and log a line."""
        began, status, is_outage = time.perf_counter(), 499, False  # nobody is there to hear it
        scope["path"] = scope["path"].removeprefix(self.root_path)
        path = scope["path"] if scope["path"] in self.paths else "(unknown)"
        request = Request(scope)
        id = request.headers.get("x-request-id", "")
        id = id if _REQUEST_ID.fullmatch(id) else secrets.token_hex(8)
        state = request.state
        state.client, state.rights, state.documents = None, frozenset(), 0

        async def reply(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", id.encode())]
            await send(message)

        try:
            if {"content-length", "transfer-encoding"} <= {*request.headers}:
                reason = "the request has both Content-Length and Transfer-Encoding"
                raise web.Failure(400, reason, "send only one of them", Connection="close")
            await self.app(scope, receive, reply)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the service ends, and this takes too long
            failure = web.Failure(503, "the service is stopping", "try again later", **RETRY_AFTER)
            await failure.response(scope, receive, reply)
        except Exception as error:
            failure = refuse(error)
            is_outage = failure.status == 503
            if is_outage:
                self.desk.note_outage(failure.reason, refused=1)
            elif failure.status >= 500:
                self.desk.log_fault(id, error, failure)
            await failure.response(scope, receive, reply)
        seconds = time.perf_counter() - began
        self.desk.metrics.requests.labels(path, status).inc()
        self.desk.metrics.seconds.labels(path).observe(seconds)
        if is_outage:
            return
        line = {"id": id, "client": state.client, "path": path, "status": status}
        line |= {"ms": round(seconds * 1000, 1), "documents": state.documents}
        self.desk.log.write(to_line(line))


class Desk:
    """Answers of a service by its paths, to clients with the right, `at_work` at a time.

    A request has at most `size` bytes and so many `documents`.
    """

    def __init__(
        self, service: Service, tokens: Tokens | None, log: Log,
        size: int, documents: int, at_work: int,
    ) -> None:  # fmt: skip
        self.service, self.tokens, self.log, self.size = service, tokens, log, size
        self.documents, self.at_work = documents, at_work
        self.metrics = Metrics()
        log.to_line, log.on_drop = warn, self.metrics.dropped.inc
        self.metrics.solr_up.set_function(lambda: not service.find_problem(READY_SECONDS))
        self.metrics.unsigned.set_function(
            lambda: math.nan if (n := service.unsigned) is None else n
        )
        make_lane = partial(Lane, service)
        processors = os.cpu_count() or 2
        large = make_lane(threads=max(1, min(at_work, processors // 2)))
        many = make_lane(steps=HEAVY, longer=large)
        small, medium = make_lane(SMALL, 1, LIGHT, many), make_lane(MEDIUM, TOGETHER, LIGHT, many)
        others = make_lane(MEDIUM, TOGETHER, threads=at_work)
        self._checks, self._others, self._large = (small, medium, large), (others, large), large
        # Small requests about documents of the collection, which may be large.
        self._by_id = make_lane(threads=min(at_work, processors))
        self._for_metrics = make_lane()
        self._lanes = small, medium, many, others, large, self._by_id
        self.metrics.at_work.set_function(lambda: sum(lane.requests for lane in self._lanes))
        self._coming = 0  # bytes of requests that are read
        self._lock, self._began, self._refused = threading.Lock(), 0.0, 0  # of an outage

    def make_app(self, *, names: frozenset[str], port: int, root_path: str) -> Starlette:
        """Make the application that listens at `port`, and beside its own has these `names`."""
        text = (resources.files(__package__) / "openapi.json").read_text("utf-8")
        security: list[Json] = [{"token": []}] if self.tokens else []
        called = {"servers": [{"url": root_path}], "security": security}
        described = web.to_json(orjson.loads(text) | called, headers=web.HEADERS)

        async def describe(_: Request) -> Response:
            return described

        routes = [
            self._route("/check", self.check, "check", method="POST"),
            self._route("/search", self.search, "search", method="POST"),
            self._route("/entries", self.entries, "entries", method="POST"),
            self._route("/explain", self.explain, "explain", ("id", "other_id")),
            self._route("/metrics", self.count, "metrics", None),
            self._route("/health", self.tell_health, "", None),
            self._route("/ready", self.tell_readiness, "", None),
            *web.list_pages(__package__, PAGES, root_path),
            Route("/openapi.json", describe),
        ]
        paths = frozenset(route.path for route in routes)
        guard = [Middleware(web.Guard, port=port, names=names)]
        ledger = Middleware(Ledger, desk=self, paths=paths, root_path=root_path)

        return web.make_app(
            routes, [ledger, *(guard if self.tokens is None or names else ())],
            root_path=root_path, next_step=f"see {root_path}/docs",
        )  # fmt: skip

    def _route(
        self, path: str, work: Callable[[Request], Awaitable[object]], right: str,
        parameters: tuple[str, ...] | None = (), method: str = "GET",
    ) -> Route:  # fmt: skip
        """Make the route of a path that needs a right, and takes parameters in its address."""

        async def answer(request: Request) -> Response:
            self._authorize(request, right)
            odd = request.query_params.keys() - (parameters or ())
            if odd and parameters is not None:
                reason = f"{path} does not accept {min(odd)!r}"
                raise web.Failure(400, reason, "omit it, or see the docs page")
            names = [name for name, _ in request.query_params.multi_items()]
            if parameters is not None and len({*names}) < len(names):
                raise web.Failure(400, f"{path} accepts each parameter once", "omit the others")
            body = await work(request)
            return body if isinstance(body, Response) else web.to_json(body)

        return Route(path, answer, methods=[method])

    def _authorize(self, request: Request, right: str) -> None:
        """Refuse who does not have the right. Pages have no data, and need none."""
        if self.tokens is None or not right:
            return
        client = self.tokens.find(request.headers.get("authorization", ""))
        if client is None:
            step = "send a token for this service: Authorization: Bearer TOKEN"
            raise web.Failure(401, "the token is missing or wrong", step, WWW_Authenticate="Bearer")
        request.state.client, request.state.rights = client
        if right not in request.state.rights:
            reason = f"this token does not grant {right!r}"
            raise web.Failure(403, reason, "ask the operator for a token that does")

    async def tell_health(self, _: Request) -> object:
        """Answer as long as the process lives."""
        return {"status": "ok"}

    async def tell_readiness(self, _: Request) -> object:
        """Answer whether the collection can be served."""
        self._require_solr(READY_SECONDS)
        return self.service.with_gap({"status": "ready"})

    async def count(self, _: Request) -> object:
        """Answer with the metrics."""
        with self._hold(lane := self._for_metrics, 0):
            lines = await lane.run(generate_latest, self.metrics.registry)
        return Response(lines, headers=web.HEADERS, media_type="text/plain; version=0.0.4")

    async def explain(self, request: Request) -> object:
        """Answer why two documents, which may be large, are found or not."""
        self._require_solr(SILENT_SECONDS)
        with self._hold(self._large, self.size):
            return await self._large.run(self.service.explain, request.query_params)

    async def search(self, request: Request) -> object:
        """Answer with the near-duplicates of a text or a document."""
        self._require_solr(SILENT_SECONDS)
        async with self._admit(request, self._others) as (lane, search):
            is_free = LOCAL_PARAMS in request.state.rights
            lane = self._by_id if self.service.is_by_id(search) else lane
            return await lane.run(partial(self.service.search, search, is_free=is_free))

    async def entries(self, request: Request) -> object:
        """Answer with the fields of documents, for which Solr is not needed."""
        self._require_solr(SILENT_SECONDS, is_asked=False)
        async with self._admit(request, self._others) as (lane, fields):
            documents, _ = await self._read(request, lane, fields, whole=True)
            return await lane.run(self.service.make_entries, documents)

    async def check(self, request: Request) -> object:
        """Answer with the decisions about documents."""
        self._require_solr(SILENT_SECONDS)
        async with self._admit(request, self._checks) as (lane, fields):
            records, is_single = await self._read(request, lane, fields)
            coming: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            lane.waiting.append((records, coming))
            self._ask(lane)
            decisions = await coming
        for decision in decisions:
            self.metrics.decisions.labels(decision["action"]).inc()
        return decisions[0] if is_single else {"decisions": decisions}

    def _ask(self, lane: Lane) -> None:
        """Ask the next questions of a lane that has a free thread."""
        while checks := lane.take():
            self._decide(checks, lane)

    def _decide(self, checks: list[Check], lane: Lane) -> None:
        """Let a thread decide about requests, and give each its decisions."""
        requests = [records for records, _ in checks]
        longer = lane.longer or lane

        def finish(done: asyncio.Future[Any]) -> None:
            error = done.exception()
            if error is not None and len(checks) > 1:  # it may be of one, and not hit the others
                lane.under_way += len(checks) - 1
                for check in checks:
                    self._decide([check], lane)
                return
            lane.under_way -= 1
            for check, decisions in zip(checks, () if error else done.result(), strict=not error):
                if decisions is None:
                    longer.waiting.append(check)
                elif not check[1].done():
                    check[1].set_result(decisions)
            if error is not None and not checks[0][1].done():
                checks[0][1].set_exception(error)
            self._ask(lane)
            self._ask(longer)

        lane.run(self.service.check, requests, lane.is_light, lane.steps).add_done_callback(finish)

    def _require_solr(self, seconds: float, *, is_asked: bool = True) -> None:
        problem = self.service.find_problem(seconds)
        is_away = isinstance(problem, errors.SolrUnreachable | errors.SolrAnswerError)
        if problem is not None and (is_asked or not is_away):
            raise problem.with_traceback(None)  # it would grow with each request

    @asynccontextmanager
    async def _admit(
        self, request: Request, lanes: Sequence[Lane]
    ) -> AsyncIterator[tuple[Lane, Json]]:
        """Give the lane of a request, unless too much waits there, and its fields."""
        announced = min(int(request.headers.get("content-length") or 0), self.size)
        coming = announced or self.size
        is_flood = coming > SMALL and self._coming > BODIES * self.size
        self._require_room(_choose(lanes, announced), announced, is_flood)
        self._coming += coming
        try:
            body = await web.read_body(request, self.size)
        finally:
            self._coming -= coming
        fields = web.load_plain(body) if len(body) <= MEDIUM else None
        lane = self._large if fields is None else _choose(lanes, len(body), fields)
        with self._hold(lane, len(body)):
            if fields is None:
                fields = await lane.run(web.parse_object, body, SEND)
            yield lane, fields

    @contextmanager
    def _hold(self, lane: Lane, size: int) -> Iterator[None]:
        """Keep a request of so many bytes in a lane, unless too much waits there."""
        self._require_room(lane, size)
        lane.requests, lane.held = lane.requests + 1, lane.held + size
        try:
            yield
        finally:
            lane.requests, lane.held = lane.requests - 1, lane.held - size

    def _require_room(self, lane: Lane, size: int, is_full: bool = False) -> None:
        if lane.is_silent:
            raise self.service.make_silence()
        most = 1 + WAITING
        is_full |= lane.requests >= most * self.at_work or lane.held + size > most * self.size
        if is_full:
            self.metrics.refused.inc()
            raise web.Failure(429, "too many waiting requests", "try again later", **RETRY_AFTER)

    async def _read(
        self, request: Request, lane: Lane, fields: Json, *, whole: bool = False
    ) -> tuple[list[Any], bool]:
        """Return the documents of a request, and whether it is one alone.

        One alone has to be right; with `whole`, each one.
        """
        is_single = "documents" not in fields
        documents = [fields] if is_single else fields["documents"]
        if not isinstance(documents, list) or (
            not is_single and fields.keys() - {web.FAULT, "documents"}
        ):
            reason = "`documents` must be a list and the only field"
            raise web.Failure(400, reason, 'send {"documents": [...]}')
        if len(documents) > self.documents:
            reason = f"{len(documents):,} documents are more than the limit of {self.documents:,}"
            raise web.Failure(413, reason, "send fewer documents at a time")
        request.state.documents = len(documents)
        self.metrics.documents.labels(request.scope["path"]).inc(len(documents))
        read = partial(self.service.read, documents)
        records = read() if lane.size <= SMALL else await lane.run(read)
        for record in records:
            if isinstance(record, errors.RecordError) and (is_single or whole):
                raise record
        return records, is_single

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at Solr again and again meanwhile."""
        stop = threading.Event()

        def repeat(work: Callable[[], None], find_pause: Callable[[], float]) -> None:
            while not stop.wait(find_pause()):
                try:
                    work()
                except Exception as error:  # without a next look nothing would be served any more
                    self.log_fault(work.__name__, error, refuse(error))

        for work, find_pause in (
            (self.look, lambda: LOOK_SECONDS),
            (self.look_at_tokens, lambda: LOOK_SECONDS),
            (self.service.count_gap, lambda: self.service.count_after),
        ):
            threading.Thread(target=repeat, args=(work, find_pause), daemon=True).start()
        self.note("INFO", f"serving {self.service.description}")
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            stop.set()
            for lane in (*self._lanes, self._for_metrics):
                lane.pool.shutdown(wait=False, cancel_futures=True)

    def look(self) -> None:
        """Look at the collection, and note if it cannot be served."""
        began = time.monotonic()
        self.service.look()
        self.note_outage(str(self.service.problem or ""), since=began)

    def look_at_tokens(self, *, at_once: bool = False) -> None:
        """Read the tokens again if they have changed, or `at_once` is set, and say so."""
        clients = None if self.tokens is None else self.tokens.refresh(at_once=at_once)
        if clients is not None:
            self.note("INFO", f"the tokens were read again: {counted(clients, 'client')}")

    def obey_hangup(self) -> None:
        """Read the tokens again, whether they have changed or not."""
        if self.tokens is None:
            self.note("INFO", "SIGHUP reads the tokens again, and there are none")
        else:
            start_thread(partial(self.look_at_tokens, at_once=True))

    def note(self, level: str, message: str) -> None:
        """Log a message."""
        self.log.write(to_line({"level": level, "message": message}))

    def log_fault(self, id: str, error: Exception, failure: web.Failure) -> None:
        """Log an error of ours by its place in the code: its message may hold a text."""
        reason = failure.reason
        if failure.status == 500:
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        self.log.write(to_line({"id": id, "error": type(error).__name__, "reason": reason}))

    def note_outage(self, problem: str, *, refused: int = 0, since: float = 0.0) -> None:
        """Log a line when an outage begins, and one when all was well from `since` on."""
        with self._lock:
            now = time.monotonic()
            if problem and not self._began:
                self._began, self._refused = now, 0
                self.note("WARNING", problem)
            elif not problem and 0 < self._began <= since:
                after = f"after {now - self._began:.1f} s; {self._refused:,} requests were refused"
                self.note("INFO", f"the collection is available again {after}")
                self._began = 0.0
            self._refused += refused


def _forget(done: asyncio.Future[Any]) -> None:
    """Look at what became of work that nobody waits for, which Python would complain about."""
    if not done.cancelled():
        done.exception()


def _choose(lanes: Sequence[Lane], size: int, fields: Mapping[str, Any] = NOTHING) -> Lane:
    """Choose the first lane for a request of so many bytes and of these fields."""
    documents = fields.get("documents")
    count = len(documents) if isinstance(documents, list) else 1
    return next(lane for lane in lanes if size <= lane.size and count <= lane.documents)


def refuse(error: Exception) -> web.Failure:
    """Choose the answer to an error."""
    if isinstance(error, web.Failure):
        return error
    if isinstance(error, errors.RecordError):
        return web.Failure(400, f"{error.position}: {error.reason}", SEND)
    if isinstance(error, errors.ArgumentError):
        return web.Failure(400, error.reason, error.next_step)
    if isinstance(error, errors.DocumentNotFound):
        return web.Failure(404, error.reason, error.next_step)
    if isinstance(error, errors.NeardupError):
        reason, step = error.reason, error.next_step
        if isinstance(error, errors.SolrUnreachable):
            reason, step = f"Solr is unavailable: {reason}", "try again later"
        if isinstance(error, errors.SourceError):
            reason = f"{error.source}: {reason}"
        if isinstance(error, errors.SolrUnauthorized) and error.status == 401:
            step = "restart the service with credentials that Solr accepts"
        return web.Failure(503, reason, step, **RETRY_AFTER)
    return web.Failure(500, "internal error", "report the X-Request-Id to the operator")


class Lines(logging.Formatter):
    """Format of the library's messages: lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Make a line, without its end."""
        return to_line({"level": record.levelname, "message": record.getMessage()})[:-1]


def to_line(line: Mapping[str, Any]) -> str:
    """Make a line of the log, which begins with the time."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return orjson.dumps({"time": now, **line}).decode() + "\n"


def warn(message: str) -> str:
    """Make a line of a warning."""
    return to_line({"level": "WARNING", "message": message})
