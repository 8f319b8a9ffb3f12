"""The HTTP side of a service: its paths, and who may use them.

The event loop reads requests and refuses what is too much; threads ask Solr (see `queues`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from importlib import resources
from typing import Any

import orjson
from prometheus_client.exposition import generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup_solr import errors
from neardup_solr.verbs.serve.documents import Json, read_documents
from neardup_solr.verbs.serve.log_lines import ServiceLog
from neardup_solr.verbs.serve.metrics import Metrics
from neardup_solr.verbs.serve.queues import SMALL, Queue, Queues
from neardup_solr.verbs.serve.request_log import RequestLog
from neardup_solr.verbs.serve.search_request import LOCAL_PARAMS
from neardup_solr.verbs.serve.service import READY_SECONDS, Service
from neardup_solr.verbs.serve.tokens import Tokens
from neardup_solr.web import pages
from neardup_solr.web.body import FAULT, TWICE
from neardup_solr.web.failure import Failure, to_json
from neardup_solr.web.origin import Guard

SILENT_SECONDS = 4.0  # without Solr's answer, until requests are refused
PAGES = {
    "/": "page.html", "/page.js": "page.js", "/page.css": "page.css", "/docs": "docs.html",
    "/docs.js": "docs.js", "/report.css": "report.css", "/words.js": "words.js",
}  # fmt: skip


class Handlers:
    """Answers of a service by its paths, to clients with the right.

    A request has at most so many `documents`.
    """

    def __init__(
        self, service: Service, tokens: Tokens | None, log: ServiceLog, metrics: Metrics,
        queues: Queues, documents: int,
    ) -> None:  # fmt: skip
        self.service, self.tokens, self.log, self.metrics = service, tokens, log, metrics
        self.queues, self.documents = queues, documents

    def make_app(self, *, names: frozenset[str], port: int, root_path: str) -> Starlette:
        """Make the application that listens at `port`, and beside its own has these `names`."""
        text = (resources.files(__package__) / "openapi.json").read_text("utf-8")
        security: list[Json] = [{"token": []}] if self.tokens else []
        called = {"servers": [{"url": root_path}], "security": security}
        described = to_json(orjson.loads(text) | called, headers=pages.HEADERS)

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
            *pages.list_pages(__package__, PAGES, root_path),
            Route("/openapi.json", describe),
        ]
        paths = frozenset(route.path for route in routes)
        guard = [Middleware(Guard, port=port, names=names)]
        logged = Middleware(
            RequestLog, log=self.log, metrics=self.metrics, paths=paths, root_path=root_path
        )
        return pages.make_app(
            routes, [logged, *(guard if self.tokens is None or names else ())],
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
                raise Failure(400, reason, "omit it, or see the docs page", code="argument-unknown")
            names = [name for name, _ in request.query_params.multi_items()]
            if parameters is not None and len({*names}) < len(names):
                reason = f"{path} accepts each parameter once"
                raise Failure(400, reason, "omit the others", code="argument-invalid")
            body = await work(request)
            return body if isinstance(body, Response) else to_json(body)

        return Route(path, answer, methods=[method])

    def _authorize(self, request: Request, right: str) -> None:
        """Refuse who does not have the right. Pages have no data, and need none."""
        if self.tokens is None or not right:
            return
        client = self.tokens.find(request.headers.get("authorization", ""))
        if client is None:
            step = "send a token for this service: Authorization: Bearer TOKEN"
            reason = "the token is missing or wrong"
            raise Failure(401, reason, step, WWW_Authenticate="Bearer", code="token-invalid")
        request.state.client, request.state.rights = client
        if right not in request.state.rights:
            reason = f"this token does not grant {right!r}"
            step = "ask the operator for a token that does"
            raise Failure(403, reason, step, code="right-missing")

    async def tell_health(self, _: Request) -> object:
        """Answer as long as the process lives."""
        return {"status": "ok"}

    async def tell_readiness(self, _: Request) -> object:
        """Answer whether the collection can be served."""
        self._require_solr(READY_SECONDS)
        return self.service.with_gap({"status": "ready"})

    async def count(self, _: Request) -> object:
        """Answer with the metrics."""
        with self.queues.hold(queue := self.queues.for_metrics, 0):
            lines = await queue.run(generate_latest, self.metrics.registry)
        return Response(lines, headers=pages.HEADERS, media_type="text/plain; version=0.0.4")

    async def explain(self, request: Request) -> object:
        """Answer why two documents, which may be large, are found or not."""
        self._require_solr(SILENT_SECONDS)
        queues = self.queues
        with queues.hold(queues.large, queues.size):
            return await queues.large.run(self.service.explain, request.query_params)

    async def search(self, request: Request) -> object:
        """Answer with the near-duplicates of a text or a document."""
        self._require_solr(SILENT_SECONDS)
        async with self.queues.admit(request, self.queues.others) as (queue, search):
            is_free = LOCAL_PARAMS in request.state.rights
            queue = self.queues.by_id if self.service.is_by_id(search) else queue
            return await queue.run(partial(self.service.search, search, is_free=is_free))

    async def entries(self, request: Request) -> object:
        """Answer with the fields of documents, for which Solr is not needed."""
        self._require_solr(SILENT_SECONDS, is_asked=False)
        async with self.queues.admit(request, self.queues.others) as (queue, fields):
            documents, _ = await self._read(request, queue, fields, whole=True)
            return await queue.run(self.service.make_entries, documents)

    async def check(self, request: Request) -> object:
        """Answer with the decisions about documents."""
        self._require_solr(SILENT_SECONDS)
        async with self.queues.admit(request, self.queues.checks) as (queue, fields):
            records, is_single = await self._read(request, queue, fields)
            decisions = await queue.decide(records)
        for decision in decisions:
            self.metrics.decisions.labels(decision["action"]).inc()
        return decisions[0] if is_single else {"decisions": decisions}

    def _require_solr(self, seconds: float, *, is_asked: bool = True) -> None:
        problem = self.service.find_problem(seconds)
        is_away = isinstance(problem, errors.SolrUnreachable | errors.SolrAnswerError)
        if problem is not None and (is_asked or not is_away):
            raise problem.with_traceback(None)  # it would grow with each request

    async def _read(
        self, request: Request, queue: Queue, fields: Json, *, whole: bool = False
    ) -> tuple[list[Any], bool]:
        """Return the documents of a request, and whether it is one alone.

        One alone has to be right; with `whole`, each one.
        """
        is_single = "documents" not in fields
        documents = [fields] if is_single else fields["documents"]
        if not isinstance(documents, list) or (
            not is_single and fields.keys() - {FAULT, "documents"}
        ):
            reason = "`documents` must be a list and the only field"
            if documents is TWICE:
                reason = f"`documents` {TWICE}"
            raise Failure(400, reason, 'send {"documents": [...]}', code="request-malformed")
        if len(documents) > self.documents:
            reason = f"{len(documents):,} documents are more than the limit of {self.documents:,}"
            raise Failure(413, reason, "send fewer documents at a time", code="request-too-large")
        request.state.documents = len(documents)
        self.metrics.documents.labels(request.scope["path"]).inc(len(documents))
        read = partial(read_documents, documents, self.service.reading)
        records = read() if queue.size <= SMALL else await queue.run(read)
        for record in records:
            if isinstance(record, errors.RecordError) and (is_single or whole):
                raise record
        return records, is_single
