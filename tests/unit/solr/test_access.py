"""CA files, headers, proxies and sessions that a user names, with no Solr behind them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pysolr
import pytest
import requests

import neardup_solr as nd
from tests.faults.scripted import EMPTY, Answer, answering
from tests.unit.solr.conftest import Door

pytestmark = pytest.mark.usefixtures("plain_environment")


def test_a_missing_ca_file_of_the_environment(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line names the variable; where there is no TLS it does not matter."""
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")
    with pytest.raises(nd.SettingsError, match=r"/nowhere.pem .*\$SSL_CERT_FILE"):
        nd.connect("https://127.0.0.1:1/solr")
    nd.connect(door.address)


@pytest.mark.parametrize("name", ["ca", "cert"])
def test_a_pipe_is_no_certificate(tmp_path: Path, name: str) -> None:
    """Nobody waits for what may be written to it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    access: Any = {name: pipe}
    with pytest.raises(nd.ArgumentError, match="pipe"):
        nd.connect("https://127.0.0.1:1/solr", **access)


@pytest.mark.parametrize(
    "headers", [{"X Api": "s3cret"}, {"X-Api": "s3cret\n"}, {"X-Api": "s3cret€"}, {"": "s3cret"}]
)
def test_headers_that_http_cannot_carry(headers: dict[str, str]) -> None:
    """The line names the header and not its value, which may be a secret."""
    with pytest.raises(nd.ArgumentError, match="`headers`") as caught:
        nd.connect("http://127.0.0.1:1/solr", headers=headers)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["ftp://me:s3cret@h", "::::", "", "http://h:x"])
def test_what_is_no_proxy(proxy: str) -> None:
    """It is refused before anything is asked, and shows no password."""
    with pytest.raises(nd.ArgumentError, match="`proxy`") as caught:
        nd.connect("http://127.0.0.1:1/solr", proxy=proxy)
    assert "s3cret" not in str(caught.value)


def test_a_proxy_without_a_scheme(door: Door) -> None:
    """As in the environment, http:// may be left out."""
    proxy = door.address.removeprefix("http://").removesuffix("/solr")
    nd.connect("http://solr.invalid/solr/x", proxy=proxy)
    assert door.credentials == [None]


def test_a_proxy_that_is_named_counts_for_this_machine_too() -> None:
    """Unlike those of the environment: whoever names one wants it."""
    with answering(Answer(body=EMPTY)) as (proxy, used):
        nd.connect("http://127.0.0.1:1/solr/x", proxy=proxy).commit()
    assert used[-1] == "http://127.0.0.1:1/solr/x/update?expandMacros=false"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there(scheme: str) -> None:
    """It is the proxy that does not answer, and not the Solr behind it."""
    proxy = "http://127.0.0.1:1"
    with pytest.raises(nd.SolrUnreachable, match="the proxy"):
        nd.connect(f"{scheme}://solr.invalid/solr/x", proxy=proxy).count()


def test_a_proxy_that_refuses_does_not_show_its_password() -> None:
    """Neither for http nor for a tunnel."""
    with answering(Answer(status=407)) as (proxy, _):
        named = proxy.replace("://", "://me:s3cret@").removesuffix("/solr")
        for address in ("http://solr.invalid/solr/x", "https://solr.invalid/solr/x"):
            with pytest.raises(nd.SolrError) as caught:
                nd.connect(address, proxy=named).count()
            assert "the proxy" in str(caught.value)
            assert "HTTP 407" in str(caught.value)
            assert "s3cret" not in str(caught.value)


def test_answers_to_a_session_of_the_user_are_checked() -> None:
    """What pysolr itself would take for success is an error, and a redirect is not followed."""
    fakes = [
        Answer(kind="text/html", body=b"<html>"),
        Answer(body=b""),
        Answer(status=302, location="http://127.0.0.1:1/solr"),
    ]
    for fake in fakes:
        with answering(fake) as (address, asked), pytest.raises(nd.errors.SolrAnswerError):
            nd.connect(pysolr.Solr(f"{address}/x"))
        assert len(asked) == 1


def test_a_hook_that_raises_for_errors() -> None:
    """Such a session's errors are told as those of any other."""

    def check(response: requests.Response, *args: object, **kwargs: object) -> None:
        response.raise_for_status()

    session = requests.Session()
    session.hooks["response"].append(check)
    body = b'{"responseHeader":{"status":400},"error":{"msg":"undefined field x","code":400}}'
    with (
        answering(Answer(status=400, body=body)) as (address, _),
        pytest.raises(nd.errors.SolrAnswerError, match="undefined field x"),
    ):
        nd.connect(pysolr.Solr(f"{address}/x", session=session))
