"""Solr behind TLS, credentials, headers and proxies, and a pysolr.Solr that the user has."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pysolr
import pytest
import requests

import neardup_solr as nd
from tests import ROOT
from tests.refusals import refusal
from tests.solr.front import Certified, Door, certify, front

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
[ACCESS] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
KEY = ("X-Api-Key", "s3cret")
TEXTS = {"1": "the quick brown fox jumps", "2": "the quick brown fox leaps", "3": "nothing alike"}
TWINS = [("1", "2")]
pytestmark = pytest.mark.usefixtures("plain_environment")


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A CA that no machine knows, and a server of its."""
    return certify(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def secured(solr: nd.Collection, certified: Certified) -> Iterator[str]:
    """The address, with credentials, of a fresh core behind TLS, basic auth and a header."""
    door = Door(credentials="us@er:p/w", headers=(KEY,))
    with front(solr.base, door=door, tls=certified) as address:
        yield f"{address.replace('://', '://us%40er:p%2Fw@')}/{solr.name}"


@pytest.fixture
def guarded(solr: nd.Collection, certified: Certified) -> Iterator[str]:
    """The address, with credentials, of a fresh core behind TLS and basic auth."""
    with front(solr.base, door=Door(credentials="us@er:p/w"), tls=certified) as address:
        yield f"{address.replace('://', '://us%40er:p%2Fw@')}/{solr.name}"


def work(solr: nd.Collection) -> list[tuple[str, str]]:
    """The pairs that the collection's verbs find after indexing: updates, searches, an export."""
    documents = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
    summary = nd.index(documents, solr)
    assert (summary.indexed, summary.failed) == (3, 0)
    assert [match.id for match in nd.search(solr, id="1")] == ["2"]
    assert sorted(row["id"] for row in solr.export(["id", "signature"])) == ["1", "2", "3"]
    return [(pair.id, pair.other_id) for pair in nd.report(solr).pairs]


def test_a_solr_behind_tls_basic_auth_and_a_header(secured: str, certified: Certified) -> None:
    """All verbs work through it, with the CA's file, credentials in the address, and a header."""
    solr = nd.connect(secured, ca=certified.ca, headers=dict([KEY]))
    assert work(solr) == TWINS
    assert "p/w" not in repr(solr)
    assert "s3cret" not in repr(solr)


def test_the_example_of_the_page(secured: str, certified: Certified) -> None:
    """The example of docs/security.md, with what is named there in its place."""
    address, core = secured.rsplit("/", 1)
    code = ACCESS
    for named, real in (
        ("https://user:password@search.example.org/solr", address),
        ("listings", core),
        ("our-ca.pem", str(certified.ca)),
        ("X-Api-Key", KEY[0]),
        ("the key", KEY[1]),
        ('    proxy="http://proxy:3128",\n', ""),
    ):
        assert named in code
        code = code.replace(named, real)
    told: dict[str, nd.Collection] = {}
    exec(code, {}, told)
    assert work(told["solr"]) == TWINS


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"])
def test_the_environment_says_what_access_would(
    name: str, secured: str, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each variable that programs name a CA by counts."""
    monkeypatch.setenv(name, str(certified.ca))
    assert work(nd.connect(secured, headers=dict([KEY]))) == TWINS


def test_the_command_reads_the_environment(guarded: str, certified: Certified) -> None:
    """`neardup` needs nothing else."""
    ran = subprocess.run(
        [sys.executable, "-m", "neardup_solr", "index", "-", "--source-format", "lines"],
        input="1 two three\n",
        env=os.environ
        | {
            "NEARDUP_SOLR_URL": guarded,
            "SSL_CERT_FILE": str(certified.ca),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_command_takes_a_ca(guarded: str, certified: Certified) -> None:
    """`neardup --ca FILE` counts more than the environment, and may be missing."""
    environment = os.environ | {
        "NEARDUP_SOLR_URL": guarded,
        "REQUESTS_CA_BUNDLE": "/nowhere.pem",
    }
    command = [sys.executable, "-m", "neardup_solr", "--ca"]
    words = ["delete", "--query", "*:*"]
    for file, code in ((str(certified.ca), 0), ("/elsewhere.pem", 3)):
        ran = subprocess.run(
            [*command, file, *words], env=environment, capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == code, ran.stderr
    assert "the CA file /elsewhere.pem from --ca or $REQUESTS_CA_BUNDLE cannot" in ran.stderr


def test_a_named_ca_counts_more_than_the_environment(
    secured: str, certified: Certified, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """requests alone would prefer $REQUESTS_CA_BUNDLE to its session's own file."""
    other = certify(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other.ca))
    solr = nd.connect(secured, ca=certified.ca, headers=dict([KEY]))
    assert solr.count() == 0


def test_a_ca_that_nobody_trusts(secured: str) -> None:
    """The line says what to name, and shows no secret."""
    with refusal(nd.SolrUnreachable, "solr-unreachable", "`ca`") as e:
        nd.connect(secured).count()
    assert "p/w" not in str(e.value)
    assert "p%2Fw" not in str(e.value)


def test_a_host_that_the_certificate_is_not_for(solr: nd.Collection, tmp_path: Path) -> None:
    """Trusted, but made out to another name."""
    other = certify(tmp_path, names="DNS:elsewhere")
    with (
        front(solr.base, tls=other) as address,
        refusal(nd.SolrUnreachable, "solr-unreachable", "different host"),
    ):
        nd.connect(address, ca=other.ca).count()


def test_a_ca_file_that_is_none(secured: str, tmp_path: Path) -> None:
    """A file that is missing is told before anything is asked, one without a certificate then."""
    with refusal(nd.SettingsError, "credentials-unusable", "/nowhere.pem"):
        nd.connect(secured, ca="/nowhere.pem")
    empty = tmp_path / "empty.pem"
    empty.write_text("no certificate\n")
    with refusal(nd.SolrUnreachable, "solr-unreachable", "CA file"):
        nd.connect(secured, ca=empty).count()


@pytest.mark.parametrize(
    ("headers", "address"),
    [((), "user:pw"), ((KEY,), "user:wrong"), ((("X-Api-Key", "wrong"),), "user:pw")],
)
def test_a_door_that_stays_shut(
    solr: nd.Collection, headers: tuple[tuple[str, str], ...], address: str
) -> None:
    """Wrong credentials and missing headers are 401, in one line without them."""
    with front(solr.base, door=Door(credentials="user:pw", headers=(KEY,))) as open_at:
        url = f"{open_at.replace('://', f'://{address}@')}/{solr.name}"
        with pytest.raises(nd.errors.SolrUnauthorized, match=r"\(HTTP 401\)") as caught:
            nd.connect(url, headers=dict(headers)).count()
    assert "wrong" not in str(caught.value)


def test_a_pysolr_with_all_it_was_given(secured: str, certified: Certified) -> None:
    """Its session's CA and headers, and its own auth, work for every verb; it works on itself."""
    url = secured.replace("us%40er:p%2Fw@", "")
    session = requests.Session()
    session.verify = str(certified.ca)
    session.headers.update([KEY])
    theirs = pysolr.Solr(url, auth=("us@er", "p/w"), session=session, always_commit=True)
    before = dict(session.headers)
    assert work(nd.connect(theirs)) == TWINS
    assert theirs.search("*:*").hits == 3
    assert (dict(session.headers), session.auth) == (before, None)


def test_a_pysolr_without_a_session(secured: str, certified: Certified) -> None:
    """Its verify and the credentials in its address count."""
    theirs = pysolr.Solr(secured, verify=str(certified.ca))
    theirs.get_session().headers.update([KEY])
    assert work(nd.connect(theirs)) == TWINS


@pytest.mark.parametrize("path", ["/solr", "/find/solr", "/find"])
def test_a_pysolr_names_its_collection(solr: nd.Collection, path: str) -> None:
    """Wherever a server in front has put Solr."""
    with front(solr.base, path=path) as address:
        ours = nd.connect(pysolr.Solr(f"{address}/{solr.name}/"))
        assert (ours.base, ours.name) == (address, solr.name)
        assert work(ours) == TWINS


def test_what_a_session_adds_of_its_own(solr: nd.Collection) -> None:
    """A session that signs each request by itself goes on doing so."""

    class Signing(requests.Session):
        def request(self, *args: object, **kwargs: object) -> requests.Response:
            kwargs["headers"] = {**(kwargs.get("headers") or {}), KEY[0]: KEY[1]}  # type: ignore[dict-item]
            return super().request(*args, **kwargs)  # type: ignore[arg-type]

    with front(solr.base, door=Door(headers=(KEY,))) as address:
        theirs = pysolr.Solr(f"{address}/{solr.name}", session=Signing())
        assert work(nd.connect(theirs)) == TWINS
