"""The Solr that the tests talk to: $NEARDUP_SOLR_URL, one in Docker, or the embedded one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from neardup_solr import embedded
from neardup_solr.embedded import cores, nodes, process
from neardup_solr.solr import admin
from neardup_solr.solr.collection import Collection, open_collection
from neardup_solr.solr.credentials import AUTHORITIES, HEADERS
from neardup_solr.testing import fresh_core, private_home

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure() -> None:
    """Take SIGINT as usual: the background job of a shell ignores it, as would all it starts.

    No example of hypothesis is timed, as a busy machine would fail it.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    # Two workers that look for a free port at the same time would find the same one.
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    process.FIRST_PORT += 40 * worker
    nodes.FIRST_PORT += 300 * worker


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options that choose the server."""
    parser.addoption("--solr", choices=("embedded", "docker"), default="embedded")
    parser.addoption("--solr-image", default="neardup-solr:9.10.1", help="image for --solr docker")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder for the embedded Solr that holds nothing but the jars of the user's own."""
    with private_home(tmp_path_factory.mktemp("neardup")) as folder:
        yield folder


@pytest.fixture(scope="session")
def solr_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a real Solr, ending in /solr; without one the run fails."""
    address = os.environ.get("NEARDUP_SOLR_URL")
    if address:
        yield address.rstrip("/")
    elif request.config.getoption("--solr") == "docker":
        from tests.solr.docker import container

        with container(request.config.getoption("--solr-image")) as url:
            yield url
    else:
        request.getfixturevalue("home")
        yield embedded.start().url


@pytest.fixture
def address(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The embedded Solr, which is asked if no other is named; its collections go afterwards."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_HOME", str(home))
    server = embedded.start()
    there = set(cores(server) or ())
    yield server.url
    for name in set(cores(server) or ()) - there:
        admin.drop(open_collection(server.url, name))


@pytest.fixture
def solr(solr_url: str) -> Iterator[Collection]:
    """A fresh, empty core with all fields, taken away afterwards."""
    with fresh_core(solr_url) as core:
        yield core


@pytest.fixture
def core_url(solr: Collection) -> str:
    """The address of a fresh, empty core."""
    return solr.url


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of shared test data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("NEARDUP_DATA", SHARED_DATA))
    if not folder.is_dir():
        pytest.skip(f"no test data in {folder}; set NEARDUP_DATA")
    return folder


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CA, headers or proxies of whoever runs the tests."""
    for name in (*AUTHORITIES, HEADERS, "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
