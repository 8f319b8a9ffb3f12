"""What is wrong before the first document is sent: one line with the remedy, and nothing sent."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import neardup_solr as nd
from tests.command import sign_once
from tests.faults.proxy import Proxy, proxied
from tests.faults.scripted import Answer, answering
from tests.solr import foreign

LINES = "a1 first line of some words\nb2 line of other words\n"


@dataclass(slots=True)
class Sent:
    """The updates that came through a proxy: those with documents, and all others."""

    documents: list[bytes] = field(default_factory=list)
    others: int = 0

    def __call__(self, path: str, body: bytes) -> None:
        if "/update" in path and body.startswith(b"["):
            self.documents.append(body)
        else:
            self.others += 1


@dataclass(slots=True, kw_only=True)
class Wrong:
    """A wrong case: the words of the command after `neardup index FILE`, and what it says."""

    words: list[str]
    said: list[str]
    code: int = 3


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compile the kernel before any command has to."""
    sign_once()


@pytest.fixture
def sent() -> Sent:
    """What is sent to a real Solr."""
    return Sent()


@pytest.fixture
def proxy(solr: nd.Collection, sent: Sent) -> Iterator[Proxy]:
    """A proxy before a real Solr, which sees all that is sent."""
    port = urlsplit(solr.url).port
    assert port is not None
    with proxied(port, sent) as made:
        yield made


def refused(tmp_path: Path, wrong: Wrong, row: Any, case: str) -> None:
    """Index a file in a wrong way: one line on standard error, with what to do."""
    source = tmp_path / "lines.txt"
    source.write_text(LINES)
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "neardup_solr", "index", str(source), *wrong.words],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "NEARDUP_HOME": str(tmp_path)},
    )
    took = time.monotonic() - began
    assert ended.returncode == wrong.code
    assert ended.stdout == ""
    told = ended.stderr.splitlines()
    (line,) = (one for one in told if "is its id" not in one)  # how the lines are read
    assert line.startswith("neardup: ")
    for part in wrong.said:
        assert part in line
    row("R13", f"{case}: {took:.1f} s")


def through(proxy: Proxy, solr: nd.Collection, *more: str) -> list[str]:
    """The words that name the collection behind the proxy."""
    return ["--solr", proxy.url, "-c", solr.name, *more]


def test_nobody_listens(tmp_path: Path, row: Any) -> None:
    """A wrong port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/solr"
        said = [address, "refused", "check the address"]
        wrong = Wrong(words=["--solr", address], said=said, code=4)
        refused(tmp_path, wrong, row, "wrong port")


@contextmanager
def scripted(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server that gives one answer to all; it was asked at most twice afterwards."""
    with answering(answer) as (address, asked):
        yield address, asked
    assert 1 <= len(asked) <= 2  # one to try, not again and again


SCRIPTED = {
    "another server": (
        Answer(kind="text/html", body=b"<html>welcome</html>"),
        ["the response is not JSON but text/html", "check that this is the address of a Solr"],
    ),
    "a redirect": (
        Answer(status=302, location="https://login.example/", body=b""),
        ["it redirects to https://login.example/", "use that server if it is your Solr"],
    ),
    "no credentials": (
        Answer(status=401, kind="text/html", body=b"<html>"),
        ["requires a user and a password (HTTP 401)", "user:password@host"],
    ),
    "not allowed": (
        Answer(status=403, kind="text/html", body=b"<html>"),
        ["Solr does not allow this (HTTP 403)", "user:password@host"],
    ),
}


@pytest.mark.parametrize("case", SCRIPTED)
def test_it_is_no_solr_or_refuses(tmp_path: Path, case: str, row: Any) -> None:
    """A server that is no Solr, sends elsewhere, or wants other credentials."""
    answer, said = SCRIPTED[case]
    with scripted(answer) as (address, _):
        code = 3 if answer.status in (401, 403) else 4
        words = ["--solr", address, "-c", "x"]
        refused(tmp_path, Wrong(words=words, said=said, code=code), row, case)


def test_tls_is_asked_of_a_server_without(tmp_path: Path, row: Any) -> None:
    """https:// instead of http://."""
    with answering(Answer()) as (address, asked):
        address = address.replace("http://", "https://")
        said = ["does not use TLS", "http:// address?"]
        wrong = Wrong(words=["--solr", address], said=said, code=4)
        refused(tmp_path, wrong, row, "https for http")
    assert asked == []


def test_an_address_without_its_path(
    tmp_path: Path, solr: nd.Collection, proxy: Proxy, sent: Sent, row: Any
) -> None:
    """The address of a real Solr, but for /solr at its end."""
    words = ["--solr", proxy.url.removesuffix("/solr"), "-c", solr.name]
    refused(tmp_path, Wrong(words=words, said=["with /solr at the end"]), row, "no /solr")
    assert (sent.documents, proxy.connections) == ([], 1)


def test_no_such_collection(tmp_path: Path, proxy: Proxy, sent: Sent, row: Any) -> None:
    """A name that is misspelt: created by `init` alone in a Solr of one's own."""
    wrong = Wrong(
        words=["--solr", proxy.url, "-c", "misspelt"],
        said=["no core or collection 'misspelt'", "neardup init -c misspelt --solr"],
    )
    refused(tmp_path, wrong, row, "no such collection")
    # the second one asks for the names that are there
    assert (sent.documents, proxy.connections) == ([], 2)


@pytest.mark.usefixtures("home")
def test_a_schema_without_our_fields(tmp_path: Path, sent: Sent, row: Any) -> None:
    """Somebody else's collection, which has no neardup fields."""
    with foreign.collection() as theirs, proxied(urlsplit(theirs.url).port or 0, sent) as proxy:
        wrong = Wrong(words=through(proxy, theirs), said=["lacks the fields", "neardup lint -c"])
        refused(tmp_path, wrong, row, "no such fields")
    assert (sent.documents, proxy.connections) == ([], 1)


def test_other_settings(
    tmp_path: Path, solr: nd.Collection, proxy: Proxy, sent: Sent, row: Any
) -> None:
    """Settings that differ from those of the collection: both are shown."""
    stored = nd.Settings()
    solr.add([{"id": "1", "signature_settings": stored.fingerprint}])
    solr.commit()
    wrong = Wrong(
        words=through(proxy, solr, "--shingle-size", "5"),
        said=[
            stored.fingerprint,
            nd.Settings(shingle_size=5).fingerprint,
            "leave these settings out",
        ],
    )
    refused(tmp_path, wrong, row, "other settings")
    assert (sent.documents, proxy.connections) == ([], 1)


def test_settings_of_another_version(
    tmp_path: Path, solr: nd.Collection, proxy: Proxy, sent: Sent, row: Any
) -> None:
    """A collection that a version wrote whose settings this one does not know."""
    solr.add([{"id": "1", "signature_settings": "v9 of something to come"}])
    solr.commit()
    wrong = Wrong(
        words=through(proxy, solr),
        said=["'v9 of something to come'", "use the version of neardup-solr that wrote"],
    )
    refused(tmp_path, wrong, row, "another version")
    assert (sent.documents, proxy.connections) == ([], 1)


def test_two_collections_are_named(tmp_path: Path, solr: nd.Collection, row: Any) -> None:
    """An address with a collection, and another one by --collection."""
    wrong = Wrong(
        words=["--solr", solr.url, "-c", "another"],
        said=["names the collection", "without a collection"],
        code=2,
    )
    refused(tmp_path, wrong, row, "two names")
