"""serve: the gate, the search and the fields of a text over HTTP, for programs in any language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from neardup_solr import arguments, hangup
from neardup_solr.arguments import Action, MeasureName, OneOrMore, checked, listed, require
from neardup_solr.errors import SettingsError
from neardup_solr.files import check_regular
from neardup_solr.log import open_log
from neardup_solr.measures import measure_named
from neardup_solr.measures.equality import parse_equality
from neardup_solr.progress import LOG
from neardup_solr.solr.address import is_loopback
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.search import measure_by
from neardup_solr.verbs.serve.filters import parse_named

PORT = 8985


@checked
def serve(
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    filters: OneOrMore = (),
    answers: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = PORT,
    root_path: str = "",
    allow_host: OneOrMore = (),
    tokens: str | Path | None = None,
    max_body: int | str = "1M",
    max_documents: int = 100,
    concurrency: int = 8,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a collection over HTTP with JSON, until SIGTERM or SIGINT.

    Example: `nd.serve(listings, reject=0.95, port=8985)`

    POST /check decides about documents as `gate` does; the page docs/serve.md describes the
    differences, and all requests. The file `tokens` has a line "NAME TOKEN RIGHT..." for
    each client and is read again when it changes, and on SIGHUP. The rights are check, search,
    local-params, explain, entries, metrics and all. Without tokens, `host` must be a loopback
    address, and the Host of a request must be this machine or in `allow_host`.

    Clients filter by fields and their values. Each of the `filters`, "NAME=QUERY", is a query in
    Solr's syntax that they can choose by its name.

    Raises ArgumentError if the port cannot be used or a filter has no name, SourceError if the
    tokens cannot be read, SettingsError if starlette or uvicorn is missing or the collection lacks
    a required field, SolrError if Solr does not answer or does not understand a filter.
    """
    try:
        from neardup_solr import web
        from neardup_solr.verbs.serve.app import Desk, Lines
        from neardup_solr.verbs.serve.service import Service
        from neardup_solr.verbs.serve.tokens import Tokens
    except ImportError as error:
        reason = f"the service needs {error.name}, which is not installed"
        raise SettingsError(reason, "pip install 'neardup-solr[serve]'") from None
    is_path = not root_path or root_path.startswith("/")
    require(is_path, f"`root_path` cannot be {root_path!r}", "start it with /, as in /neardup")
    web.require_port(port)
    most = arguments.in_bytes(max_body, "max_body")
    arguments.require_positive(max_body=most, max_documents=max_documents, concurrency=concurrency)
    policy = Policy(
        tag=tag, hold=hold, reject=reject, exact=exact, max_distance=max_distance,
        measure=measure, equality=parse_equality(equal),
    )  # fmt: skip
    named = parse_named(listed(filters))
    with open_log() as log, hangup.held(), ExitStack() as stack:
        stack.enter_context(log.gathering(LOG, *web.LOGGERS, formatter=Lines()))
        clients = None if tokens is None else Tokens(Path(tokens))
        reason = f"`tokens` are required to listen on {host}, which other machines can reach"
        require(clients is not None or is_loopback(host), reason, "name a file with `tokens`")
        if model is not None:
            check_regular(Path(model))
        chosen = measure_named(measure_by(collection, measure, model, max_distance))
        policy = replace(policy, measure=chosen)
        names = frozenset(map(web.parse_host, listed(allow_host)))
        if names and not is_loopback(host):
            names |= {host}
        root_path = root_path.rstrip("/")
        step = "choose a different `port`, or set `host` to an IP address"
        bound = stack.enter_context(closing(web.bind(host, port, step)))
        service = Service(collection, policy, fq=listed(fq), answers=answers, named=named)
        desk = Desk(service, clients, log, most, max_documents, concurrency)
        stack.enter_context(desk.watching())
        address, port = bound.getsockname()[:2]
        if on_ready is not None:
            place = f"[{address}]" if ":" in address else address
            on_ready(f"http://{place}:{port}{root_path}/")
        app = desk.make_app(names=names, port=port, root_path=root_path)
        web.run(app, bound, desk.obey_hangup)
