"""What comes from Solr may be anything, and so may the values that we ask for.

Any bytes and any JSON as an answer: a right result, or an error of ours. Any values in a query:
valid JSON in which they are parameters, or stand in quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeVar, cast

import orjson
import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.solr import export, query, refusals, responses, schema
from neardup_solr.solr.collection import Collection, open_collection
from neardup_solr.solr.query import Terms
from neardup_solr.solr.retry import Retry
from neardup_solr.solr.session import CheckedSession
from neardup_solr.testing import SIZES
from tests.faults.scripted import serving
from tests.faults.tiers import sized

URL = "http://127.0.0.1:9/solr/x"
T = TypeVar("T")
EXAMPLES = settings(max_examples=sized(usual=75, full=500), deadline=None)
NAMES = st.sampled_from(
    [
        "responseHeader",
        "status",
        "errors",
        "error",
        "msg",
        "partialResults",
        "response",
        "docs",
        "numFound",
        "numFoundExact",
        "start",
        "id",
        "_version_",
        "content",
        "facets",
        "count",
        "values",
        "buckets",
        "val",
        "shards.info",
        "shardAddress",
        "fields",
        "dynamicFields",
        "copyFields",
        "source",
        "dest",
        "name",
        "type",
        "schema",
        "fieldTypes",
        "class",
        "nextCursorMark",
        "adds",
        "message",
        "EXCEPTION",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.just(2**70)
    | st.floats()
    | st.text(max_size=3)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
FINE = st.fixed_dictionaries({"status": st.just(0)}, optional={"errors": JSON, "x": JSON})
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={"id": st.text(max_size=2) | JSON, "_version_": st.integers() | JSON, "content": JSON},
)
PAGE = st.fixed_dictionaries(
    {"docs": st.lists(DOCUMENT, max_size=3) | JSON, "numFound": st.integers(0, 3) | JSON}
)
COUNTED = st.fixed_dictionaries({"count": st.integers(0, 3) | JSON, "values": JSON})
# Mostly successes, with the usual parts, so that these are looked at as well.
USUAL = st.fixed_dictionaries(
    {"responseHeader": FINE},
    optional={
        "response": PAGE,
        "facets": COUNTED,
        "fields": st.lists(DOCUMENT | st.fixed_dictionaries({"name": st.text() | JSON})),
        "nextCursorMark": st.just("*") | JSON,
    },
)
ANSWERS = st.dictionaries(NAMES, JSON, max_size=5).flatmap(
    lambda parts: USUAL.map(lambda usual: parts | usual) | st.just(parts)
)
IDS = st.lists(st.text(max_size=4), min_size=1, max_size=6, unique=True)


def answered(body: bytes, status: int = 200) -> requests.Response:
    """A response with that body."""
    made = requests.Response()
    made.status_code, made.url = status, URL
    made.headers["Content-Type"] = "application/json"
    vars(made)["_content"] = body
    return made


def is_whole(decoded: Any) -> bool:
    """Whether an answer is a success, told in another way than `check` does it."""
    match decoded:
        case {"responseHeader": {"status": int(status)} as header} if status is not False:
            shards, response = decoded.get("shards.info", {}), decoded.get("response", {})
            return (
                status == 0
                and decoded.get("error") is None
                and not any(
                    header.get(each) for each in ("partialResults", "segmentTerminatedEarly")
                )
                and isinstance(shards, dict)
                and all(isinstance(one, dict) and "error" not in one for one in shards.values())
                and isinstance(response, dict)
                and response.get("numFoundExact") is not False
            )
    return False


def passes(response: requests.Response) -> bool:
    """Whether `check` lets a response through; only an error of ours may keep it out."""
    try:
        responses.check(response, URL, embedded=False)
    except nd.SolrError:
        return False
    return True


@EXAMPLES
@given(body=st.binary(max_size=60) | JSON.map(lambda j: json.dumps(j).encode()))
def test_any_bytes_as_an_answer(body: bytes) -> None:
    """Nothing but a success gets through, whatever the status."""
    for status in (200, 204, 302, 400, 401, 403, 404, 407, 413, 500, 503):
        response = answered(body, status)
        if passes(response):
            assert status == 200
            assert is_whole(json.loads(body))


@EXAMPLES
@given(decoded=ANSWERS)
def test_any_json_as_an_answer(decoded: dict[str, Any]) -> None:
    """Just the whole successes get through, and are given back as they are."""
    body = json.dumps(decoded, allow_nan=False) if is_finite(decoded) else "NaN"
    response = answered(body.encode())
    assert passes(response) == (is_finite(decoded) and is_whole(decoded))
    if passes(response):
        assert responses.answer(response) == orjson.loads(body)


def is_finite(decoded: Any) -> bool:
    """Whether JSON can hold all numbers; orjson reads those beyond 64 bits as floats."""
    try:
        json.dumps(decoded, allow_nan=False)
    except ValueError:
        return False
    return True


@EXAMPLES
@given(decoded=ANSWERS, request_of=st.fixed_dictionaries({"limit": st.integers(0, 3)}))
def test_any_page(decoded: dict[str, Any], request_of: dict[str, int]) -> None:
    """A page has as many documents as it counts, up to the limit, each once; or it is refused."""
    try:
        responses.require_parts(decoded, {"response.docs": list, "response.numFound": int}, URL)
        responses.require_page(decoded, request_of, URL)
        responses.require_once(decoded["response"]["docs"], "id", URL)
    except nd.errors.SolrAnswerError:
        return
    docs, found = decoded["response"]["docs"], decoded["response"]["numFound"]
    assert len(docs) == max(0, min(found, request_of["limit"]))
    assert len({str(one["id"]) for one in docs}) == len(docs)


@EXAMPLES
@given(header=st.dictionaries(NAMES, JSON), adds=JSON)
def test_any_answer_to_an_update(header: dict[str, Any], adds: Any) -> None:
    """Refusals are told by id and reason, or the answer is not understood."""
    decoded = {"responseHeader": header, "adds": adds}
    try:
        refused = refusals.parse_refusals(URL, decoded)
    except nd.SolrError:
        return
    errors = header.get("errors", [])
    assert [one.id for one in refused] == [str(each.get("id")) for each in errors]
    assert all(type(version) is int for version in refusals.versions_in(decoded).values())


class Pieces:
    """What `export` needs of a session: the bytes of an answer, a few at a time."""

    def __init__(self, body: bytes, size: int) -> None:
        self.body, self.size = body, size

    def lasting(self, send: Callable[[float], T]) -> T:
        """What is sent once."""
        return send(0.0)

    def pieces(self, url: str, params: dict[str, str], deadline: float) -> Iterator[bytes]:
        """The body, piece by piece."""
        yield from (self.body[at : at + self.size] for at in range(0, len(self.body), self.size))


def exported(body: bytes, size: int) -> list[dict[str, Any]] | None:
    """The documents of an export, or None if it is refused."""
    session = cast(CheckedSession, Pieces(body, size))
    params = {"sort": "id asc", "fl": "id"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "export_block", 2 * size)
        try:
            return [one for block in export.blocks(session, [URL], params) for one in block]
        except nd.errors.SolrAnswerError:
            return None


def written(docs: Sequence[Any], found: object) -> bytes:
    """An export as Solr writes it, each document on lines of its own."""
    inside = "},{\n".join(json.dumps(one)[1:-1] + "\n" for one in docs)
    listed = "[{\n" + inside + "}]" if docs else "[ ]"
    head = '{"responseHeader":{"status":0},"response":{"numFound":'
    return f'{head}{json.dumps(found)},"docs":{listed}}}}}'.encode()


@EXAMPLES
@given(ids=IDS, size=st.integers(1, 30), data=st.data())
def test_a_damaged_export(ids: list[str], size: int, data: st.DataObject) -> None:
    """Bytes that were changed, taken away or added: what JSON says is there, whole, or refused."""
    whole = written([{"id": id} for id in sorted(ids)], len(ids))
    assert exported(whole, size) == [{"id": id} for id in sorted(ids)]
    at = data.draw(st.integers(0, len(whole)))
    new = data.draw(st.binary(max_size=4) | st.sampled_from([b"},{\n", b"]", b"}", b"1", b'"']))
    damaged = whole[:at] + new + whole[at + data.draw(st.integers(0, 8)) :]
    found = exported(damaged, size)
    if found is not None:
        response = orjson.loads(damaged)["response"]
        assert found == response["docs"]
        assert len(found) == response["numFound"]
        own = [one["id"] for one in found]
        assert own == sorted(set(own))


@EXAMPLES
@given(
    docs=st.lists(st.fixed_dictionaries({"id": st.text(max_size=2)}) | JSON, max_size=5),
    found=st.integers(-1, 6) | JSON,
    size=st.integers(1, 30),
)
def test_any_documents_in_an_export(docs: list[Any], found: object, size: int) -> None:
    """Objects with a key each, in order and as many as announced, or refused."""
    body = (
        b'{"responseHeader":{"status":0},"response":'
        + json.dumps({"numFound": found, "docs": docs}).replace("}, {", "},{\n").encode()
        + b"}"
    )
    got = exported(body, size)
    right = (
        all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in docs)
        and [one["id"] for one in docs] == sorted({one["id"] for one in docs})
        and type(found) is int
        and found == len(docs)
        and not any("EXCEPTION" in one for one in docs)
        and is_finite(docs)
    )
    if (
        got is not None
        and docs
        and isinstance(docs[0], dict)
        and isinstance(docs[0].get("id"), str)
    ):
        assert right
    assert got is not None or not right


READS: dict[str, Callable[[Collection], object]] = {
    "count": lambda solr: solr.count(),
    "document": lambda solr: solr.document("1", ["id", "content"]),
    "texts": lambda solr: solr.texts(["1", "2"]),
    "stored": lambda solr: solr.stored(["1", "2"], ["*"]),
    "ids": lambda solr: list(solr.ids()),
    "state": lambda solr: solr.state(),
    "shards": lambda solr: solr.shards(),
    "values": lambda solr: solr.values("x"),
    "select": lambda solr: solr.select({"query": "*:*"}, fields=["id"], limit=2),
    "counted": lambda solr: solr.select(
        {"query": "*:*"}, fields=["id"], limit=0, counting={"values": "*:*"}
    ),
    "names": lambda solr: solr.kept_names(),
    "fields": lambda solr: solr.require_fields(["id"]),
    "schema": schema.read_schema,
    "commit": lambda solr: solr.commit(),
    "delete": lambda solr: solr.delete_ids(["1"]),
}


@contextmanager
def telling(said: list[bytes]) -> Iterator[Collection]:
    """A collection at a server that answers with the last thing said."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said[-1])))
            self.end_headers()
            self.wfile.write(said[-1])

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        solr = open_collection(f"{address}/solr", "x")
        solr.session.retry = Retry(attempts=1)
        with solr.session:
            yield solr


@pytest.mark.parametrize("read", READS)
def test_any_json_for_any_question(read: str) -> None:
    """Whatever the answer is, what reads it gives a result or an error of ours."""
    said: list[bytes] = []
    outcomes = {"result": 0, "error": 0}
    with telling(said) as solr:

        @settings(max_examples=sized(usual=30, full=300), deadline=None)
        @given(decoded=ANSWERS.filter(is_finite))
        def asked(decoded: dict[str, Any]) -> None:
            said.append(json.dumps(decoded).encode())
            try:
                READS[read](solr)
            except nd.NeardupError:
                outcomes["error"] += 1
            else:
                outcomes["result"] += 1

        asked()
    assert outcomes["error"]


VALUES = st.lists(st.text(max_size=6), min_size=1, max_size=5)
CLAUSE = re.compile(r'"((?:[^"\\]|\\.)*)"\^=1', re.DOTALL)


@EXAMPLES
@given(values=VALUES, field=st.text(min_size=1, max_size=5))
def test_any_values_in_a_query(values: list[str], field: str) -> None:
    """All is JSON; besides the parameters a request is the same for other values."""
    value = values[0]
    other = ["x"] * len(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query, "CLAUSES", 2)
        many = [*values, "a", "b", "c"]
        made = [requests_for(field, value, some) for some in (many, [*other, "a", "b", "c"])]
    for one, same in zip(*made, strict=True):
        assert json.loads(json.dumps(one)) == one
        if not has_surrogates(values):
            assert orjson.loads(orjson.dumps(one)) == one
        assert {**one, "params": None} == {**same, "params": None}
    by_ids = query.by_ids(values)["params"]
    assert by_ids["any"].split(by_ids["separator"]) == values
    assert query.by_id(value)["params"]["id"] == value
    few = query.any_of(Terms(field=field, values=values), filters=[], params={})
    assert few["params"] == {"field_terms": field}
    clauses = few["query"].removeprefix("{!lucene q.op=OR df=$field_terms}")
    assert " ".join(f'"{each}"^=1' for each in CLAUSE.findall(clauses)) == clauses
    assert [re.sub(r"\\(.)", r"\1", each, flags=re.S) for each in CLAUSE.findall(clauses)] == values


def requests_for(field: str, value: str, many: list[str]) -> list[query.Request]:
    """A request of each kind with these values."""
    terms = Terms(field=field, values=many)
    filter, params = query.same_value("first_word", many[0])
    return [
        query.by_id(many[0]),
        query.by_ids(many),
        query.any_of(terms, filters=[filter], params=params),
        query.any_term(terms, filters=[filter]),
        query.each_term(terms)[0],
    ]


def has_surrogates(values: list[str]) -> bool:
    """Whether a value is no text that UTF-8 can hold; documents cannot have any."""
    return any(0xD800 <= ord(sign) <= 0xDFFF for value in values for sign in value)
