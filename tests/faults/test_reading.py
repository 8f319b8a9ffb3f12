"""What is read from a Solr that lies: a right result, one that says what is missing, or an error.

A proxy stands before a real Solr and changes one of the answers that a verb needs.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.testing import SIZES, fresh_core
from tests.faults import tiers
from tests.faults.conftest import RecordRow
from tests.faults.scripted import EMPTY, Answer, answering, serving
from tests.refusals import refusal

ALONE = Answer(
    body=b'{"responseHeader":{"status":0},"response":{"numFound":9,"docs":[]}}'
)  # what is asked first, for the shards: there are none
FRESH = Answer(body=EMPTY)  # what nd.connect asks for
DOCUMENTS = [
    nd.Document(id=f"d{n:02}", text=f"number {n % 20} of the {n % 20} old lamps in street {n % 20}")
    for n in range(60)
]
MAX_ANSWER = "NEARDUP_MAX_ANSWER"
Json = Any


@dataclass(slots=True)
class Liar:
    """A proxy whose `at`th answer is a lie; `told` says whether there was anything to change."""

    at: int = -1
    lie: Callable[[Answer], Answer | None] = lambda answer: answer
    asked: list[str] = field(default_factory=list)
    told: bool = False

    def answer(self, path: str, true: Answer) -> Answer:
        """The answer to the next request."""
        self.asked.append(path)
        if len(self.asked) - 1 != self.at:
            return true
        changed = self.lie(true)
        self.told = changed is not None
        return changed or true


@contextmanager
def lying(solr: nd.Collection) -> Iterator[tuple[nd.Collection, Liar]]:
    """The same collection through a proxy that lies as it is told."""
    liar, real = Liar(), requests.Session()
    base = solr.base.removesuffix("/solr")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: no waiting for its acknowledgement

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kind = {"Content-Type": self.headers.get("Content-Type", "")}
            got = real.request(self.command, base + self.path, data=body, headers=kind)
            true = Answer(
                status=got.status_code, kind=got.headers["Content-Type"], body=got.content
            )
            told = liar.answer(self.path, true)
            self.send_response(told.status)
            self.send_header("Content-Type", told.kind)
            self.send_header("Content-Length", str(len(told.body) + told.missing))
            if told.location is not None:
                self.send_header("Location", told.location)
            self.end_headers()
            self.wfile.write(told.body)
            self.close_connection = self.close_connection or told.missing > 0

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with real, serving(Handler) as address:
        near = nd.connect(f"{address}/solr", solr.name)
        near.session.retry = replace(near.session.retry, attempts=1)
        liar.asked.clear()
        with near.session:
            yield near, liar


def changed(change: Callable[[Json], Json | None]) -> Callable[[Answer], Answer | None]:
    """A lie that changes the JSON of an answer, if there is what it changes."""

    def lie(true: Answer) -> Answer | None:
        try:
            made = change(json.loads(true.body))
        except (KeyError, IndexError, TypeError, AttributeError, StopIteration):
            return None
        # Each document on lines of its own, as Solr writes them.
        return None if made is None else replace(true, body=json.dumps(made, indent=0).encode())

    return lie


def header(**parts: object) -> Callable[[Answer], Answer | None]:
    """A lie that adds to the header."""
    return changed(lambda j: j | {"responseHeader": j["responseHeader"] | parts})


def response(change: Callable[[list[Json], int], Mapping[str, Json]]) -> Any:
    """A lie about the documents that were found."""

    def lie(j: Json) -> Json:
        found = j["response"]
        return j | {"response": found | change(found["docs"], found["numFound"])}

    return changed(lie)


def bucket(change: Callable[[Json], Json]) -> Any:
    """A lie about the first thing that was counted."""

    def lie(j: Json) -> Json:
        name = next(name for name in j["facets"] if name != "count")
        return j | {"facets": j["facets"] | {name: change(j["facets"][name])}}

    return changed(lie)


def row(change: Callable[[Json], Json]) -> Any:
    """A lie about the fields of the schema."""
    return changed(lambda j: j | {"fields": [change(one) for one in j["fields"]]})


def without(names: Json, name: str) -> Json:
    """A mapping without one of its names."""
    return {key: names[key] for key in names if key != name or names[key] is None}


HTML = b"<html><body>fine</body></html>"
FAILED = {"http://h:1/solr/x_shard2": {"error": "refused", "trace": "at x", "time": 1}}

LIES: dict[str, Callable[[Answer], Answer | None]] = {
    "partial results": header(partialResults=True),
    "results left out": header(partialResults="omitted"),
    "a segment ended early": header(segmentTerminatedEarly=True),
    "hits ended early": header(maxHitsTerminatedEarly=True),
    "a failed shard": changed(lambda j: j | {"shards.info": FAILED}),
    "a failed shard, tolerated": changed(
        lambda j: (
            j
            | {"responseHeader": j["responseHeader"] | {"partialResults": True}}
            | {"shards.info": FAILED}
        )
    ),
    "a shard that is no object": changed(lambda j: j | {"shards.info": {"x": 7}}),
    "shards that are a list": changed(lambda j: j | {"shards.info": [7]}),
    "a rough count": response(lambda docs, found: {"numFoundExact": False}),
    "a document too few": response(lambda docs, found: {"docs": docs[:-1] if docs[0] else docs}),
    "no documents": response(lambda docs, found: {"docs": docs[:0] if docs[0] else docs}),
    "a document twice": response(lambda docs, found: {"docs": [*docs, docs[0]]}),
    "a document twice, counted": response(
        lambda docs, found: {"docs": [docs[0], *docs], "numFound": found + 1}
    ),
    "a document instead of another": response(lambda docs, found: {"docs": [docs[1], *docs[1:]]}),
    "documents counted, not given": response(
        lambda docs, found: {"numFound": found + 1} if docs[0] else {}
    ),
    "given, not counted": response(lambda docs, found: {"numFound": found - 1} if docs[0] else {}),
    "a count that is true": response(lambda docs, found: {"numFound": True}),
    "a count that is text": response(lambda docs, found: {"numFound": str(found)}),
    "a negative count": response(lambda docs, found: {"numFound": -1} if docs[0] else {}),
    "no count": changed(
        lambda j: j | {"response": without(j["response"], "numFound")} if j["response"] else None
    ),
    "documents that are texts": response(lambda docs, found: {"docs": [str(one) for one in docs]}),
    "a document without its id": response(lambda docs, found: {"docs": [{}, *docs[1:]]}),
    "documents that are an object": response(lambda docs, found: {"docs": {"0": docs[0]}}),
    "an exception in place of a document": response(
        lambda docs, found: {"docs": [*docs[:-1], {"EXCEPTION": "lost"}] if docs[0] else docs}
    ),
    "an exception beside all documents": response(
        lambda docs, found: {"docs": [*docs, {"EXCEPTION": "lost"}] if docs[0] else docs}
    ),
    "no response": changed(lambda j: without(j, "response") if j["response"] else None),
    "an error in a success": changed(lambda j: j | {"error": {"msg": "lost", "code": 500}}),
    "status 1": header(status=1),
    "status as text": header(status="0"),
    "status false": header(status=False),
    "no header": changed(lambda j: without(j, "responseHeader")),
    "a header that is a number": changed(lambda j: j | {"responseHeader": 0}),
    "nothing counted": changed(lambda j: without(j, "facets") if j["facets"] else None),
    "a count without its number": bucket(lambda one: {}),
    "counted as text": bucket(lambda one: {"count": "7"} if "count" in one else {"buckets": "7"}),
    "values without their number": bucket(
        lambda one: {"buckets": [{"val": b["val"]} for b in one["buckets"]]}
    ),
    "a schema of texts": row(str),
    "a schema without names": row(lambda one: without(one, "name")),
    "a schema with numbers for names": row(lambda one: one | {"name": 7}),
    "nothing": lambda true: replace(true, body=b""),
    "null": lambda true: replace(true, body=b"null"),
    "an empty list": lambda true: replace(true, body=b"[]"),
    "an empty object": lambda true: replace(true, body=b"{}"),
    "HTML": lambda true: replace(true, body=HTML, kind="text/html"),
    "HTML called JSON": lambda true: replace(true, body=HTML),
    "half of it": lambda true: replace(true, body=true.body[: len(true.body) // 2]),
    "all but its end": lambda true: replace(true, body=true.body.rstrip()[:-1]),
    "broken off": lambda true: replace(true, body=true.body[:-9], missing=9),
    "twice": lambda true: replace(true, body=true.body * 2),
    "not UTF-8": lambda true: replace(true, body=b"\xff" + true.body),
    "a redirect": lambda true: replace(true, status=302, location="http://127.0.0.1:9/solr"),
    "accepted for later": lambda true: replace(true, status=202),
    "a part of it": lambda true: replace(true, status=206),
    "an error of the server": lambda true: replace(true, status=500, body=HTML, kind="text/html"),
}


def pairs(found: nd.Duplicates | nd.Report) -> object:
    """What matters of a result; one that says what is missing claims nothing."""
    return [(pair.id, pair.other_id) for pair in found.pairs] if found.complete else None


def matches(found: list[nd.Match]) -> object:
    """What matters of a search."""
    return [(match.id, match.similarity, match.content) for match in found]


VERBS: dict[str, Callable[[nd.Collection], object]] = {
    "duplicates": lambda solr: pairs(nd.duplicates(solr, by="bands")),
    "report": lambda solr: pairs(nd.report(solr, by="bands")),
    "report one by one": lambda solr: pairs(nd.report(solr, by="shingles", to_id="d02")),
    "search by id": lambda solr: matches(nd.search(solr, id="d07")),
    "search for a text": lambda solr: matches(nd.search(solr, text=DOCUMENTS[3].text, by="bands")),
    "search the estimate": lambda solr: matches(nd.search(solr, id="d07", measure="estimate")),
    "ids": lambda solr: sorted(solr.ids()),
    "export": lambda solr: solr.export(["id", "signature"]),
    "texts": lambda solr: solr.texts(["d01", "d02"]),
    "settings": lambda solr: solr.stored_settings(),
}


@pytest.fixture(scope="module")
def filled(solr_url: str) -> Iterator[nd.Collection]:
    """A collection with documents in groups of three."""
    with fresh_core(solr_url) as core:
        nd.index(DOCUMENTS, core)
        yield core


def chosen(answers: int) -> Iterator[tuple[str, int]]:
    """The lies and the answers that become them: a sixth, or half of the lies once in a hurry.

    Each lie becomes another answer than the one before it, so that all of both have their turn.
    """
    step = tiers.sized(usual=2 * answers, full=min(answers, 6))
    for number, lie in enumerate(LIES):
        yield from ((lie, at) for at in range(number % step, answers, step))


@pytest.mark.parametrize("verb", VERBS)
def test_no_lie_becomes_a_result(filled: nd.Collection, verb: str, row: RecordRow) -> None:
    """Each lie in each answer: refused, said to be incomplete, or of no effect on what is right."""
    read = VERBS[verb]
    true = read(filled)
    assert true
    with lying(filled) as (solr, liar):
        assert read(solr) == true
        answers = len(liar.asked)
        told, fooled = 0, []
        for lie, at in chosen(answers):
            liar.at, liar.lie, liar.told = at, LIES[lie], False
            liar.asked.clear()
            solr.endpoint.settings = None
            try:
                found = read(solr)
            except nd.NeardupError:
                found = None
            told += liar.told
            if found not in (None, true):
                fooled.append((lie, at, liar.asked[at]))
    assert fooled == []
    assert told
    row("R6", f"{told} lies to {verb}: {len(fooled)} false successes")


def test_an_answer_cut_anywhere_is_refused(row: RecordRow) -> None:
    """Documents, counts and schemas that end at any byte, whether or not the length says so."""
    page = json.dumps(
        {
            "responseHeader": {"status": 0},
            "response": {"numFound": 2, "docs": [{"id": "1"}, {"id": "2"}]},
            "facets": {"count": 2, "values": {"buckets": [{"val": "a", "count": 2}]}},
        }
    ).encode()
    reads: list[Callable[[nd.Collection], object]] = [
        lambda solr: solr.stored(["1", "2"], []),
        lambda solr: solr.values("x"),
    ]
    for missing in (False, True):
        cuts = [
            Answer(body=page[:at], missing=missing * (len(page) - at)) for at in range(len(page))
        ]
        with answering(FRESH, *cuts, Answer(body=page)) as (address, asked):
            solr = nd.connect(address, "x")
            solr.session.retry = replace(solr.session.retry, attempts=1)
            for number in range(len(cuts)):
                with pytest.raises(nd.SolrError):
                    reads[number % 2](solr)
            assert solr.stored(["1", "2"], []) == [{"id": "1"}, {"id": "2"}]
        assert len(asked) == len(page) + 2
    row("R6", f"answers cut at {2 * len(page)} places: 0 false successes")


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_beyond_the_bound_is_not_held(
    packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More bytes than an answer may have, also once unpacked, are refused with what lifts it."""
    long = b'{"responseHeader":{"status":0},"response":{"numFound":0,"docs":[]}%s}' % (b" " * 9_000)
    told = Answer(body=gzip.compress(long), encoding="gzip") if packed else Answer(body=long)
    monkeypatch.setenv(MAX_ANSWER, "8k")
    with answering(FRESH, told) as (address, _):
        solr = nd.connect(address, "x")
        with pytest.raises(nd.errors.SolrAnswerError, match="8,192") as caught:
            solr.count()
        assert (caught.value.code, MAX_ANSWER in str(caught.value)) == ("answer-too-large", True)
        monkeypatch.setenv(MAX_ANSWER, "16k")
        assert solr.count() == 0
        monkeypatch.setenv(MAX_ANSWER, "much")
        with pytest.raises(nd.SettingsError, match=rf"\${MAX_ANSWER} .*much"):
            solr.count()


def test_an_endless_document_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """An export may have any size, but not one document of it."""
    monkeypatch.setattr(SIZES, "export_block", 1 << 10)
    monkeypatch.setattr(SIZES, "export_document", 1 << 13)
    monkeypatch.setattr(SIZES, "answer_piece", 1 << 10)
    start = b'{"responseHeader":{"status":0},"response":{"numFound":1,"docs":[{\n"id":"'
    endless = Answer(body=start + b"x" * (1 << 14), missing=1 << 30)
    with answering(FRESH, ALONE, endless) as (address, _):
        began = nd.connect(address, "x")
        with refusal(nd.errors.SolrAnswerError, "not-solr", "export"):
            began.export(["id"])


def test_one_document_in_two_shards() -> None:
    """Shards that hold the same document are refused: it would be its own near-duplicate."""
    shards = b'{"a":{"shardAddress":"%s/a"},"b":{"shardAddress":"%s/b"}}'
    whole = b'{"responseHeader":{"status":0},"response":{"numFound":1,"docs":[{\n"id":"%s"\n}]}}'
    for ids, refused in (((b"1", b"2"), False), ((b"1", b"1"), True)):
        answers = [Answer(body=whole % id) for id in ids]
        with answering(*answers) as (address, _):
            base = address.encode()
            alone = ALONE.body.replace(b'"response"', b'"shards.info":%s,"response"' % shards)
            with answering(FRESH, Answer(body=alone % (base, base))) as (front, _):
                solr = nd.connect(front, "x")
                if refused:
                    with refusal(nd.errors.SolrAnswerError, "id-repeated", "two shards"):
                        solr.export(["id"])
                else:
                    assert solr.export(["id"]) == [{"id": "1"}, {"id": "2"}]


def test_a_report_on_a_collection_that_changes(filled: nd.Collection) -> None:
    """What is written meanwhile may be missing from a report, which says so."""

    def on_progress(_: nd.types.Progress) -> None:
        filled.add([{"id": "late", "content": "x"}])
        filled.commit()

    try:
        found = nd.report(filled, by="bands", on_progress=on_progress)
        assert found.gaps == ("the collection has changed in the meantime; run this again",)
        assert not found.complete
        found = nd.report(filled, by="bands")
        assert found.gaps == ("documents without a signature: 1; index them again",)
    finally:
        filled.delete_ids(["late"])
        filled.commit()
    assert nd.report(filled, by="bands").complete
