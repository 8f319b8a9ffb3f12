"""Addresses of a Solr: what they may hold, what is wrong with them, and proxies on the way."""

from __future__ import annotations

from urllib.parse import urlsplit

import pysolr
import pytest

import neardup_solr as nd
from neardup_solr import errors as e
from tests.command import neardup
from tests.faults.scripted import EMPTY, Answer, answering
from tests.refusals import refusal

FINE = Answer(body=EMPTY)


@pytest.mark.parametrize(
    ("nothing", "said"),
    [
        (Answer(status=404, kind="text/html", body=b"<html>"), "text/html"),
        (Answer(status=404, body=b'{"status":"404"}'), "does not come from Solr"),
    ],
)
def test_an_address_without_solr_at_its_end(nothing: Answer, said: str) -> None:
    """A server that is no Solr at that path: the line says how an address ends."""
    with (
        answering(nothing) as (address, _),
        pytest.raises(e.SolrAnswerError, match=said) as caught,
    ):
        nd.connect(address.removesuffix("/solr"), "x")
    assert (caught.value.code, "/solr at the end" in caught.value.next_step) == ("not-solr", True)


def test_tls_where_there_is_none() -> None:
    """https to a port that speaks http is one line in words."""
    with (
        answering(FINE) as (address, _),
        pytest.raises(e.SolrUnreachable, match="TLS"),
    ):
        nd.connect(address.replace("http://", "https://"), "x")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_not_reached_through_a_proxy(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy of the environment is for the world outside, whatever no_proxy says."""
    with answering(Answer(status=502)) as (proxy, used), answering(FINE) as (address, asked):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        nd.connect(address.replace("127.0.0.1", host), "x").commit()
    assert (len(used), len(asked)) == (0, 2)


def test_a_host_elsewhere_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only loopback goes past the proxy."""
    with answering(FINE) as (proxy, used):
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, proxy)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        nd.connect("http://solr.invalid:8983/solr", "x").commit()
    assert used[1:] == ["http://solr.invalid:8983/solr/x/update?expandMacros=false"]


@pytest.mark.parametrize(
    "name", ["", "a b", "a/b", "../x", "..", "-x", "ü", "a?b", "\ud800", "a\n"]
)
def test_names_that_no_core_can_have(name: str) -> None:
    """Such a name is refused before anything is asked."""
    with pytest.raises(e.ArgumentError, match="`collection`") as caught:
        nd.connect("http://h:8983/solr", name)
    assert caught.value.code == ("argument-type" if name == "\ud800" else "name-invalid")


@pytest.mark.parametrize(
    ("behind", "right"),
    [
        ("arts/select", "arts"),
        ("arts/select/", "arts"),
        ("arts/select?q=*:*&fq=a/b", "arts"),
        ("arts/update/json/docs", "arts"),
        ("arts/query", "arts"),
        ("arts/admin/ping", "arts"),
        ("arts/anything", "arts"),
        ("#/arts", "arts"),
        ("#/arts/query?q=*:*", "arts"),
        ("#/arts_shard1_replica_n1/core-overview", "arts_shard1_replica_n1"),
        ("#/~collections/arts", "arts"),
        ("#/~cores/arts", "arts"),
        ("index.html#/arts", "arts"),
        ("admin/cores", ""),
        ("admin.html", ""),
    ],
)
@pytest.mark.parametrize("name", [None, "arts"])
def test_the_address_of_a_handler_is_no_collection(
    behind: str, right: str, name: str | None
) -> None:
    """What goes on behind the collection, or is an admin page, is told with the right address."""
    address = f"http://user:secret@localhost/search/solr/{behind}"
    with refusal(e.ArgumentError, "address-invalid", "`address`") as caught:
        nd.connect(address, name)
    shown = f"http://localhost/search/solr/{right}".rstrip("/")
    assert shown in caught.value.next_step.replace(",", "").split()
    assert "secret" not in str(caught.value)
    with refusal(e.ArgumentError, "address-invalid", "`address`"):
        nd.connect(pysolr.Solr(address), name)
    done = neardup("doctor", "--solr", address)
    assert (done.returncode, "--solr" in done.stderr) == (2, True)
    assert "--collection cannot be" not in done.stderr


@pytest.mark.parametrize(
    "address",
    [
        "http://user:12/secret@127.0.0.1:18983/solr",
        "http://user:pw/secret@127.0.0.1:18983/solr",
        "http://user:12#secret@127.0.0.1:18983/solr",
        "http://user:12?secret@127.0.0.1:18983/solr",
        "http://user/secret@h/solr/core",
    ],
)
def test_a_password_that_cuts_the_address(address: str) -> None:
    """A sign that ends the host's part has to be encoded; the password is not shown."""
    with pytest.raises(e.ArgumentError, match="%2F") as caught:
        nd.connect(address, "x")
    assert caught.value.code == "address-invalid"
    assert "secret" not in str(caught.value)
    assert "user:" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "base", "core"),
    [
        ("http://h/solr", "http://h/solr", "neardup"),
        ("http://h/solr/", "http://h/solr", "neardup"),
        ("http://h/solr/named", "http://h/solr", "named"),
        ("http://h/solr/named/", "http://h/solr", "named"),
        ("http://user:secret@h/solr/named", "http://h/solr", "named"),
        ("http://h/search/solr", "http://h/search/solr", "neardup"),
        ("http://h/solr/#/", "http://h/solr", "neardup"),
        ("http://h/solr/named?q=a/b#c", "http://h/solr", "named"),
    ],
)
def test_addresses(address: str, base: str, core: str) -> None:
    """An address may name the core, and never keeps its password."""
    with answering(FINE) as (server, _):
        here = urlsplit(server).netloc
        found = nd.connect(address.replace("h/", f"{here}/", 1))
    assert (found.base, found.name) == (base.replace("h/", f"{here}/", 1), core)
    assert "secret" not in repr(found)


def test_credentials_are_sent_as_basic_auth() -> None:
    """User and password of the address become the session's, percent-decoded."""
    with answering(FINE) as (server, _):
        solr = nd.connect(server.replace("://", "://us%40er:p%2Fw@"), "x")
    assert solr.session.auth == ("us@er", "p/w")


@pytest.mark.parametrize(
    "address", ["localhost:8983", "ftp://h/solr", "http://", "h", "http://h:x"]
)
def test_what_is_no_address(address: str) -> None:
    """An address without http or a host is refused at once."""
    with pytest.raises(e.ArgumentError, match="`address`") as caught:
        nd.connect(address, "x")
    assert caught.value.code == "address-invalid"
