"""Every request, answered by lies: not one of them passes for a success.

Each request is first answered rightly, which shows that the answer is what it waits for; then by
what no Solr says, and by the right answer after something has happened to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from threading import Event
from typing import Any

import orjson
import pytest

import neardup_solr as nd
from neardup_solr import Collection, Settings
from neardup_solr.errors import NeardupError, SolrAnswerError
from neardup_solr.solr.retry import Retry
from neardup_solr.testing import SIZES, fresh_core
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.serve.service import Service
from tests.faults.scripted import Answer, connected
from tests.faults.test_answers import LIES
from tests.faults.tiers import sized
from tests.refusals import refusal
from tests.solr.front import front

HEADER = {"status": 0, "QTime": 1}
DOCUMENT = {"id": "1", "content": "a text", "_version_": 7}
RESPONSE = {"numFound": 1, "start": 0, "numFoundExact": True, "docs": [DOCUMENT]}
NONE_OF_THEM = {**RESPONSE, "docs": []}
BUCKETS = {"buckets": [{"val": Settings().fingerprint, "count": 1}]}
FIELDS = [{"name": name} for name in ("id", "signature_settings")]

# A request, and the parts of the answer that it needs beside the header.
Call = Callable[[Collection], object]
REQUESTS: dict[str, tuple[Call, dict[str, Any]]] = {
    "add": (lambda solr: taken(solr.add([{"id": "1"}])), {}),
    "commit": (lambda solr: solr.commit(), {}),
    "delete by id": (lambda solr: solr.delete_ids(["1"]), {}),
    "delete by query": (lambda solr: solr.delete_query("a:b"), {}),
    "select": (
        lambda solr: solr.select({"query": "*:*"}, fields=["id"], limit=1),
        {"response": RESPONSE},
    ),
    "count": (lambda solr: solr.count(), {"response": NONE_OF_THEM}),
    "count by ids": (lambda solr: solr.count(ids=["1"]), {"response": NONE_OF_THEM}),
    "document": (lambda solr: solr.document("1", ["id"]), {"response": RESPONSE}),
    "texts": (lambda solr: solr.texts(["1"]), {"response": RESPONSE}),
    "state": (lambda solr: solr.state(), {"response": RESPONSE}),
    "shards": (lambda solr: solr.shards(), {"response": NONE_OF_THEM}),
    "values": (
        lambda solr: solr.values("signature_settings"),
        {"facets": {"count": 1, "values": BUCKETS}},
    ),
    "schema": (lambda solr: solr.require_fields(["id"]), {"fields": FIELDS}),
    "names": (lambda solr: solr.kept_names(), {"fields": FIELDS}),
    "mode": (lambda solr: create(solr), {}),
    "create": (lambda solr: create(solr), {}),
    "drop": (lambda solr: drop(solr), {}),
}
BEFORE = {"create": 1, "drop": 3}  # requests that are answered rightly, before the lie
UPDATES = {"add", "commit", "delete by id", "delete by query"}
OTHERS: tuple[object, ...] = (None, 0, "x", [], {})
STEP = sized(usual=2, full=1)  # each kind of request is told every second lie, or all
LENGTHS = sized(usual=3, full=25)  # of a right answer that is cut off


def taken(refused: Any) -> None:
    """An update succeeds if no document is refused."""
    if refused:
        raise NeardupError(refused[0].reason, "look at it")


def create(solr: Collection) -> None:
    """Create a core beside a collection. That it cannot be deleted afterwards is no error."""
    is_created = False
    with suppress(NeardupError), fresh_core(solr.base):
        is_created = True
    if not is_created:
        raise NeardupError("it was not created", "look at it")


def drop(solr: Collection) -> None:
    """Create and delete a core beside a collection."""
    with fresh_core(solr.base):
        pass


def is_no_lie(request: str, lie: Answer) -> bool:
    """A collection that does not exist has the usual names; only updates have a list of errors."""
    if request == "names":
        return lie.status in (404, 405)  # by POST, Solr 10 answers 405
    return request not in UPDATES and b'"errors":' in lie.body


def answer_to(parts: dict[str, Any], header: object = None) -> Answer:
    """An answer of Solr with these parts."""
    said = HEADER if header is None else header
    return Answer(body=orjson.dumps({"responseHeader": said, **parts}))


def lies(parts: dict[str, Any]) -> Iterator[tuple[str, Answer]]:
    """What no Solr says, then what may happen to the right answer on its way."""
    for number, (lie, *_) in enumerate(LIES):
        yield f"lie {number}", lie
    right = answer_to(parts)
    for status in (202, 203, 206, 304, 400, 404, 408, 500, 501):
        yield f"right, but HTTP {status}", replace(right, status=status)
    for header in ({}, {"status": 1}, {"status": "0"}, {"status": None}, {"status": 0.5}, [0], "0"):
        yield f"right, with the header {header}", answer_to(parts, header)
    yield "right, and an error", answer_to({**parts, "error": {"msg": "lost", "code": 500}})
    yield "right, and an error in words", answer_to({**parts, "error": "lost"})
    yield "right, then more", replace(right, body=right.body + b"<html>")
    yield "right, twice", replace(right, body=right.body * 2)
    yield "right, said to be packed", replace(right, encoding="gzip")
    for at in range(LENGTHS):
        cut = right.body[: len(right.body) * at // LENGTHS]
        yield f"right, cut after {len(cut)} bytes", replace(right, body=cut)
    for part in parts:
        yield f"without {part}", answer_to({k: v for k, v in parts.items() if k != part})
        for other in OTHERS:
            if type(other) is not type(parts[part]):
                yield f"with {other!r} as {part}", answer_to({**parts, part: other})


def ask(request: str, lie: Answer) -> bool:
    """Whether a request takes an answer for a success; any error must be one of ours."""
    call, parts = REQUESTS[request]
    right = [answer_to(parts)] * BEFORE.get(request, 0)
    with connected(*right, lie) as (solr, asked):
        try:
            call(solr)
        except NeardupError:
            assert len({*asked[len(right) :]}) == 1, "something else was asked for"
            return False
        return True


def test_no_request_believes_a_lie(row: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of request, with each lie: 0 false successes."""
    monkeypatch.setattr(SIZES, "longest_wait", 0.0)
    told, believed = 0, []
    for at, (name, (_, parts)) in enumerate(REQUESTS.items()):
        assert ask(name, answer_to(parts)), name
        for lie, answer in islice(lies(parts), at % STEP, None, STEP):
            if not is_no_lie(name, answer):
                told += 1
                if ask(name, answer):
                    believed.append((name, lie))
    assert believed == []
    row("R6", f"0 false successes of {told} ({len(REQUESTS)} kinds of requests)")


OURS = ("id", "_version_", "md5_hash", "num_words", "signature", "signature_settings")


@pytest.mark.parametrize("field", [*OURS, None])
def test_lists_in_place_of_values_are_not_understood(field: str | None, solr: Collection) -> None:
    """A proxy may make lists of the values of a field, or of all of them: no verb takes them."""
    is_lying = Event()

    def list_values(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        given = answer()
        if not is_lying.is_set() or not ("/select" in path or "/export" in path):
            return given
        content = orjson.loads(given.body)
        for document in content["response"]["docs"]:
            for name in [*document] if field is None else {field} & {*document}:
                document[name] = [document[name]]
        return replace(given, body=orjson.dumps(content), encoding=None)

    texts = [(str(n), f"the night ferry leaves the old pier at nine {n}") for n in range(4)]
    nd.index(texts, solr)
    clusters = nd.duplicates(solr).clusters
    verbs: dict[str, Callable[[Collection], object]] = {
        "id": lambda it: nd.search(it, text=texts[0][1]),
        "_version_": lambda it: nd.annotate(it, which="all", patience=0),
        "md5_hash": lambda it: nd.mark(it, clusters, yes=True, patience=0),
        "num_words": lambda it: list(nd.gate([("x", texts[0][1])], it, patience=0)),
        "signature": lambda it: nd.duplicates(it, patience=0),
        "signature_settings": lambda it: nd.doctor(it),
    }
    with front(solr.base, between=list_values) as address:
        proxied = nd.connect(address, solr.name)
        proxied.session.retry = Retry(attempts=1)
        service = Service(proxied, Policy())
        is_lying.set()
        for name, verb in verbs.items():
            if field in (name, None):
                with refusal(SolrAnswerError, "not-solr"):
                    verb(proxied)
        if field in ("num_words", None):
            with refusal(SolrAnswerError, "not-solr"):
                service.search({"text": texts[0][1]})
