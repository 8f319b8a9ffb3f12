"""Answers that are no success, and when a request is repeated."""

from __future__ import annotations

import socket

import pytest

from neardup_solr.edges import client, session
from neardup_solr.edges.retry import Retry
from neardup_solr.pure import errors as e
from tests.faults.scripted import Answer, answering

FINE = Answer()
HTML = Answer(kind="text/html", body=b"<html>fine</html>")
QUICK = Retry(attempts=4, seconds=5, first_wait=0.001)


def error(message: str, status: int) -> Answer:
    """An error as Solr words it."""
    body = b'{"responseHeader":{"status":%d},"error":{"msg":"%s"}}' % (status, message.encode())
    return Answer(status=status, body=body)


def solr(address: str) -> client.Solr:
    """A client that repeats quickly."""
    opened, base = session.open_session(address)
    return client.Solr(base=base, core="x", session=opened, retry=QUICK)


LIES = [
    (HTML, e.SolrAnswerError, "no JSON came back but text/html"),
    (Answer(body=b""), e.SolrAnswerError, "no JSON came back"),
    (Answer(body=b"[]"), e.SolrAnswerError, "no JSON came back"),
    (Answer(body=b"null"), e.SolrAnswerError, "no JSON came back"),
    (Answer(body=b"{}"), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":1}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":"0"}}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":0}'), e.SolrAnswerError, "no responseHeader"),
    (Answer(body=b'{"responseHeader":{"status":0}'), e.SolrAnswerError, "no JSON"),
    (Answer(body=b'{"responseHeader":{"status":0},"error":{"msg":"lost"}}'),
     e.SolrAnswerError, "Solr says: lost"),
    (Answer(status=204, body=b""), e.SolrAnswerError, "no JSON came back"),
    (Answer(status=202), e.SolrAnswerError, "Solr says: HTTP 202"),
    (Answer(status=302, location="http://elsewhere/"), e.SolrAnswerError, "redirects to"),
    (Answer(status=301, location="http://u:secret@elsewhere/"), e.SolrAnswerError, "redirects to"),
    (Answer(status=401, kind="text/html", body=b""), e.SolrUnauthorized, "HTTP 401"),
    (Answer(status=403), e.SolrUnauthorized, "HTTP 403"),
    (Answer(status=404, kind="text/html", body=b"<html>"), e.CoreMissing, "neardup init x"),
    (Answer(status=404), e.CoreMissing, "neardup init x"),
    (error("unknown field", 400), e.SolrAnswerError, "Solr says: unknown field"),
    (error("disk full", 500), e.SolrAnswerError, "Solr says: disk full"),
    (Answer(status=500, kind="text/html", body=b"<html>"), e.SolrAnswerError, "HTTP 500"),
    (Answer(kind="application/json", body=b"\xff\xfe"), e.SolrAnswerError, "no JSON"),
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


def test_one_document_that_is_too_large_is_an_error() -> None:
    """A batch of one cannot be halved."""
    with (
        answering(error("too large", 413)) as (address, _),
        pytest.raises(e.SolrAnswerError, match="too large"),
    ):
        solr(address).add([{"id": "1"}])


def test_nobody_listens() -> None:
    """A refused connection is one line that names the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(e.SolrUnreachable, match=rf"127.0.0.1:{port}.*connection refused"):
        solr(f"http://127.0.0.1:{port}/solr").count()


def test_a_schema_without_the_fields() -> None:
    """Fields that a collection lacks are named before anything is sent."""
    schema = b'{"responseHeader":{"status":0},"fields":[{"name":"id"},{"name":"content"}]}'
    with (
        answering(Answer(body=schema)) as (address, asked),
        pytest.raises(e.SchemaError, match="lacks the fields content_ng, signature"),
    ):
        solr(address).require_fields(["id", "content_ng", "content", "signature"])
    assert asked == ["/solr/x/schema/fields"]


@pytest.mark.parametrize(
    ("address", "base", "core"),
    [
        ("http://h:8983/solr", "http://h:8983/solr", "given"),
        ("http://h:8983/solr/", "http://h:8983/solr", "given"),
        ("http://h:8983/solr/named", "http://h:8983/solr", "named"),
        ("http://h:8983/solr/named/", "http://h:8983/solr", "named"),
        ("https://user:secret@h/solr/named", "https://h/solr", "named"),
        ("https://h/search/solr", "https://h/search/solr", "given"),
    ],
)
def test_addresses(address: str, base: str, core: str) -> None:
    """An address may name the core, and never keeps its password."""
    found = client.connect(address, "given")
    assert (found.base, found.core) == (base, core)
    assert "secret" not in repr(found)


def test_credentials_are_sent_as_basic_auth() -> None:
    """User and password of the address become the session's, percent-decoded."""
    assert client.connect("http://us%40er:p%2Fw@h/solr", "x").session.auth == ("us@er", "p/w")


@pytest.mark.parametrize(
    "address", ["localhost:8983", "ftp://h/solr", "http://", "h", "http://h:x"]
)
def test_what_is_no_address(address: str) -> None:
    """An address without http or a host is refused at once."""
    with pytest.raises(e.SolrUnreachable, match="not an address such as"):
        client.connect(address, "x")
