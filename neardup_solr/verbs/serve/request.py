"""The arguments of `serve`, and the service that they ask for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from neardup_solr import hangup
from neardup_solr.argument_types import Action, MeasureName
from neardup_solr.checks import require, require_positive
from neardup_solr.errors import SettingsError
from neardup_solr.files import check_regular
from neardup_solr.log import open_log
from neardup_solr.measures import measure_named
from neardup_solr.measures.equality import parse_equality
from neardup_solr.progress import LOG
from neardup_solr.settings import choose_words
from neardup_solr.solr.address import is_loopback
from neardup_solr.solr.collection import Collection
from neardup_solr.units import in_bytes
from neardup_solr.verbs.collection_measure import measure_by
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.serve.filters import parse_named


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRequest:
    """The arguments of `serve`, by their names. What may be one or several is a tuple."""

    collection: Collection
    tag: float | None
    hold: float | None
    reject: float | None
    exact: Action
    measure: MeasureName
    model: str | Path | None
    max_distance: int | None
    equal: tuple[str, ...]
    fq: tuple[str, ...]
    filters: tuple[str, ...]
    answers: str | Path | None
    passages: bool
    host: str
    port: int
    root_path: str
    allow_host: tuple[str, ...]
    tokens: str | Path | None
    max_body: int | str
    max_documents: int
    concurrency: int
    on_ready: Callable[[str], None] | None

    def make_policy(self) -> Policy:
        """Make the policy of the gate. Raises ArgumentError if its arguments contradict."""
        return Policy(
            tag=self.tag, hold=self.hold, reject=self.reject, exact=self.exact,
            measure=self.measure, max_distance=self.max_distance,
            equality=parse_equality(self.equal),
            min_words=choose_words(None, passages=self.passages),
        )  # fmt: skip


def run_service(request: ServeRequest) -> None:
    """Check the request, listen at its port, and answer until a signal comes."""
    try:
        from neardup_solr.verbs.serve.app import Handlers
        from neardup_solr.verbs.serve.log_lines import JsonLines, ServiceLog
        from neardup_solr.verbs.serve.metrics import Metrics
        from neardup_solr.verbs.serve.queues import Queues
        from neardup_solr.verbs.serve.service import Service
        from neardup_solr.verbs.serve.tokens import Tokens
        from neardup_solr.verbs.serve.watch import Watch
        from neardup_solr.web import origin, server
    except ImportError as error:
        reason = f"the service needs {error.name}, which is not installed"
        step = "pip install 'neardup-solr[serve]'"
        raise SettingsError(reason, step, code="package-missing") from None
    collection, host = request.collection, request.host
    root_path = request.root_path.rstrip("/")
    is_path = not request.root_path or request.root_path.startswith("/")
    reason = f"`root_path` cannot be {request.root_path!r}"
    require(is_path, reason, "start it with /, as in /neardup", code="argument-invalid")
    server.require_port(request.port)
    size = in_bytes(request.max_body, "max_body")
    documents, at_work = request.max_documents, request.concurrency
    require_positive(max_body=size, max_documents=documents, concurrency=at_work)
    policy = request.make_policy()
    named = parse_named(request.filters)
    with open_log() as log, hangup.held(), ExitStack() as stack:
        stack.enter_context(log.gathering(LOG, *server.LOGGERS, formatter=JsonLines()))
        tokens = None if request.tokens is None else Tokens(Path(request.tokens))
        reason = f"`tokens` are required to listen on {host}, which other machines can reach"
        step = "name a file with `tokens`"
        require(tokens is not None or is_loopback(host), reason, step, code="argument-missing")
        if request.model is not None:
            check_regular(Path(request.model))
        measure = measure_by(collection, request.measure, request.model, request.max_distance)
        policy = replace(policy, measure=measure_named(measure))
        names = frozenset(map(origin.parse_host, request.allow_host))
        if names and not is_loopback(host):
            names |= {host}
        step = "choose a different `port`, or set `host` to an IP address"
        bound = stack.enter_context(closing(server.bind(host, request.port, step)))
        service = Service(collection, policy, fq=request.fq, answers=request.answers, named=named)
        metrics, lines = Metrics(service, log), ServiceLog(log)
        queues = stack.enter_context(closing(Queues(service, metrics, size, at_work)))
        watch = Watch(service, tokens, lines)
        stack.enter_context(watch.running())
        address, port = bound.getsockname()[:2]
        if request.on_ready is not None:
            place = f"[{address}]" if ":" in address else address
            request.on_ready(f"http://{place}:{port}{root_path}/")
        handlers = Handlers(service, tokens, lines, metrics, queues, documents)
        app = handlers.make_app(names=names, port=port, root_path=root_path)
        server.run(app, bound, watch.obey_hangup)
