"""Answers that are no success, and when a request is repeated."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from neardup_solr import errors as e
from neardup_solr.solr import admin, collection, session
from neardup_solr.solr.core import Endpoint
from neardup_solr.solr.retry import Retry
from tests.faults.scripted import Answer, answering
from tests.finders import fetch_ranked
from tests.refusals import refusal

FINE = Answer()
HTML = Answer(kind="text/html", body=b"<html>fine</html>")
HTML_413 = Answer(status=413, kind="text/html", body=b"<html>too large</html>")
SILENT = Answer(silent=True)
QUICK = Retry(attempts=4, seconds=5, first_wait=0.001)


def error(message: str, status: int) -> Answer:
    """An error as Solr words it."""
    body = b'{"responseHeader":{"status":%d},"error":{"msg":"%s"}}' % (status, message.encode())
    return Answer(status=status, body=body)


def solr(address: str) -> collection.Collection:
    """A client that repeats quickly."""
    opened = session.open_session(address)
    opened.retry = QUICK
    return collection.Collection(Endpoint(base=address, name="x", session=opened))


NO_POST = b'{"status":"405","message":"HTTP method %s is not supported by this URL"}'

LIES = [
    (HTML, e.SolrAnswerError, "the response is not JSON but text/html"),
    (Answer(body=b""), e.SolrAnswerError, "the response is empty"),
    (Answer(body=b"[]"), e.SolrAnswerError, "damaged JSON, or does not come from Solr"),
    (Answer(body=b"null"), e.SolrAnswerError, "damaged JSON, or does not come from Solr"),
    (Answer(body=b"{}"), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":1}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":"0"}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":0}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":0}'), e.SolrAnswerError, "damaged JSON, or"),
    (Answer(body=b'{"responseHeader":{"status":0},"error":{"msg":"lost"}}'),
     e.SolrAnswerError, "Solr says: lost"),
    (Answer(body=b'{"responseHeader":{"status":0,"errors":7}}'), e.SolrAnswerError, "list of err"),
    (Answer(body=b'{"responseHeader":{"status":0,"errors":[7]}}'), e.SolrAnswerError, "unknown f"),
    (Answer(status=204, body=b""), e.SolrAnswerError, "the response is empty"),
    (Answer(status=202), e.SolrAnswerError, "Solr says: HTTP 202"),
    (Answer(status=302, location="http://elsewhere/"), e.SolrAnswerError, "redirects to"),
    (Answer(status=301, location="http://u:secret@elsewhere/"), e.SolrAnswerError, "redirects to"),
    (Answer(status=401, kind="text/html", body=b""), e.SolrUnauthorized, "HTTP 401"),
    (Answer(status=403), e.SolrUnauthorized, "HTTP 403"),
    (Answer(status=404, kind="text/html", body=b"<html>"), e.CoreMissing, "neardup init -c x"),
    (Answer(status=404), e.CoreMissing, "neardup init -c x"),
    # As the Jetty of Solr 10 answers a POST to what is not there, and others to any.
    (Answer(status=405, body=NO_POST % b"POST"), e.CoreMissing, "neardup init -c x"),
    (Answer(status=405, kind="text/html", body=NO_POST % b"POST"), e.CoreMissing, "init -c x"),
    (Answer(status=405, body=NO_POST % b"GET"), e.SolrAnswerError, "check that this is the addr"),
    (Answer(status=405, kind="text/html", body=b"<html>"), e.SolrAnswerError, "HTTP 405"),
    (error("disk full", 500), e.SolrAnswerError, "Solr says: disk full"),
    (Answer(status=500, kind="text/html", body=b"<html>"), e.SolrAnswerError, "HTTP 500"),
    (Answer(kind="application/json", body=b"\xff\xfe"), e.SolrAnswerError, "damaged JSON, or"),
    (Answer(encoding="gzip", body=b"plain"), e.SolrAnswerError, "it cannot be decompressed; check"),
]  # fmt: skip


@pytest.mark.parametrize(("lie", "kind", "reason"), LIES)
def test_no_lie_passes_for_success(lie: Answer, kind: type[e.SolrError], reason: str) -> None:
    """Adding documents succeeds only on an answer that says so; and such faults do not repeat."""
    with answering(lie) as (address, asked), pytest.raises(kind, match=reason) as caught:
        solr(address).add([{"id": "1"}])
    assert len(asked) == 1
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_passing_faults_are_repeated(status: int) -> None:
    """A server that is busy twice and then takes the batch has taken it."""
    with answering(error("busy", status), error("busy", status), FINE) as (address, asked):
        assert solr(address).add([{"id": "1"}]) == ()
    assert len(asked) == 3


def test_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that asks for three seconds gets them; a date counts as none."""
    waits: list[float] = []
    monkeypatch.setattr("neardup_solr.solr.retry.time.sleep", waits.append)
    busy = [Answer(status=429, retry_after="3"), Answer(status=503, retry_after="a date"), FINE]
    with answering(*busy) as (address, asked):
        assert solr(address).add([{"id": "1"}]) == ()
    assert len(asked) == 3
    assert waits[0] == 3.0
    assert waits[1] < 1.0


def test_a_wait_beyond_the_bound_is_not_waited() -> None:
    """A server that asks for an hour is given up at once."""
    with (
        answering(Answer(status=503, retry_after="3600")) as (address, asked),
        pytest.raises(e.SolrAnswerError),
    ):
        solr(address).add([{"id": "1"}])
    assert len(asked) == 1


def test_repeats_are_bounded() -> None:
    """A server that stays busy is given up."""
    with (
        answering(error("busy", 503)) as (address, asked),
        pytest.raises(e.SolrAnswerError, match="busy"),
    ):
        solr(address).add([{"id": "1"}])
    assert len(asked) == QUICK.attempts


def test_a_batch_that_is_too_large_is_halved() -> None:
    """413 halves the batch until it fits."""
    with answering(error("too large", 413), FINE) as (address, asked):
        assert solr(address).add([{"id": str(n)} for n in range(4)]) == ()
    assert len(asked) == 3


@pytest.mark.parametrize("large", [error("too large", 413), HTML_413])
def test_one_document_that_is_too_large_is_refused(large: Answer) -> None:
    """What a proxy does not let through is named, and the rest goes on: Solr's words or HTML."""
    with answering(large, large, large, FINE) as (address, asked):
        refused = solr(address).add([{"id": "1"}, b'{"id":"2"}', {"id": "3"}])
    # All three, then the first alone, then the other two, then one by one.
    assert [refusal.id for refusal in refused] == ["1"]
    assert refused[0].reason == "too large for this server (HTTP 413)"
    assert len(asked) == 5


def test_a_batch_is_halved_to_find_the_document_that_solr_refuses() -> None:
    """Without a tolerant chain Solr refuses the whole request: that document is named alone."""
    bad = error("unknown field", 400)
    with answering(bad, FINE, bad, bad, FINE) as (address, asked):
        refused = solr(address).add([{"id": str(n)} for n in range(4)])
    # All four, then the first two, then the last two, then each of those.
    assert [(refusal.id, refusal.reason) for refusal in refused] == [("2", "unknown field")]
    assert len(asked) == 5


def test_nobody_listens() -> None:
    """A refused connection is one line that names the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with refusal(e.SolrUnreachable, "solr-unreachable", f"127.0.0.1:{port}"):
        solr(f"http://127.0.0.1:{port}/solr").count()


def test_a_schema_without_the_fields() -> None:
    """Fields that a collection lacks are named before anything is sent."""
    schema = b'{"responseHeader":{"status":0},"fields":[{"name":"id"},{"name":"content"}]}'
    with (
        answering(Answer(body=schema)) as (address, asked),
        refusal(e.SchemaError, "fields-missing", "content_ng, signature"),
    ):
        solr(address).require_fields(["id", "content_ng", "content", "signature"])
    assert asked == ["/solr/x/schema/fields"]


INCOMPLETE: list[tuple[Callable[[collection.Collection], object], str]] = [
    (lambda solr: solr.require_fields(["id"]), "fields"),
    (lambda solr: solr.count(), "response.docs"),
    (lambda solr: list(fetch_ranked(solr, {"query": "*:*"})), "response.docs"),
    (lambda solr: solr.document("1", ["id"]), "response.docs"),
    (lambda solr: solr.texts(["1"]), "response.docs"),
    (lambda solr: solr.values("x"), "facets.count"),
    (admin.exists, "status"),
]


@pytest.mark.parametrize(("ask", "part"), INCOMPLETE)
def test_incomplete_answers(ask: Callable[[collection.Collection], object], part: str) -> None:
    """An answer of status 0 without the part that was asked for is an error that names it."""
    with (
        answering(FINE) as (address, _),
        refusal(e.SolrAnswerError, "not-solr", part),
    ):
        ask(solr(address))


def test_a_refused_delete_is_an_error() -> None:
    """The tolerant chain reports what it did not delete inside a success: that is none."""
    body = b'{"responseHeader":{"status":0,"errors":[{"type":"DELQ","id":"a:(","message":"no"}]}}'
    with answering(Answer(body=body)) as (address, _):
        with refusal(e.SolrAnswerError, "solr-refused", "query"):
            solr(address).delete_query("a:(")
        with refusal(e.SolrAnswerError, "solr-refused", "ids"):
            solr(address).delete_ids(["1"])
        with pytest.raises(e.SolrAnswerError, match="Solr says: no"):
            solr(address).commit()


REPEATED: list[Callable[[collection.Collection], object]] = [
    lambda solr: solr.require_fields(["id"]),
    lambda solr: list(solr.ids()),
    admin.exists,
]
WHOLE = Answer(
    body=b'{"responseHeader":{"status":0},"fields":[{"name":"id"}],"status":{"x":{"name":"x"}},'
    b'"response":{"docs":[],"numFound":0},"nextCursorMark":"*"}'
)


@pytest.mark.parametrize("ask", REPEATED)
def test_every_request_is_repeated(ask: Callable[[collection.Collection], object]) -> None:
    """Schema, administration and cursor ask again like the rest, and when a connection breaks."""
    with answering(error("busy", 503), SILENT, WHOLE) as (address, asked):
        ask(solr(address))
    assert len(asked) > 2
    assert asked[0] == asked[1] == asked[2]


def test_the_first_contact_is_not_repeated() -> None:
    """Where nothing has answered yet, the address is wrong: no minute of trying again."""
    with (
        answering(SILENT) as (address, asked),
        refusal(e.SolrUnreachable, "solr-unreachable", "check the address"),
    ):
        solr(address).count()
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("embedded", "next_step"),
    [(True, r"restarts Solr \(neardup solr logs shows why"), (False, "check that it is running")],
)
def test_a_solr_that_ends_while_in_use(embedded: bool, next_step: str) -> None:
    """What answered before has a right address: the next step is to run it and try again."""
    with answering(FINE, SILENT) as (address, _):
        used = collection.open_collection(address, "x", embedded=embedded)
        used.session.retry = QUICK
        used.commit()
        with pytest.raises(e.SolrUnreachable, match=next_step) as caught:
            used.commit()
    assert "--solr" not in str(caught.value)


def test_a_missing_core_says_where_to_create_it() -> None:
    """The next step names the Solr in use, or none where it is the embedded one."""
    with answering(Answer(status=404, kind="text/html", body=b"<html>")) as (address, _):
        for embedded, end in ((False, f"neardup init -c x --solr {address}"), (True, "init -c x")):
            with pytest.raises(e.CoreMissing) as caught:
                collection.open_collection(address, "x", embedded=embedded).count()
            assert str(caught.value).endswith(end)


def test_a_query_that_solr_does_not_understand() -> None:
    """The next step of a refused query is the query, not Solr's log."""
    with answering(error("Cannot parse", 400)) as (address, _):
        with refusal(e.SolrAnswerError, "solr-refused", "Cannot parse", "query"):
            solr(address).count(["a:("])
        with refusal(e.SolrAnswerError, "solr-refused", "Cannot parse", "query"):
            next(solr(address).ids(["a:("]))
