"""The Solr that the tests talk to: $NEARDUP_SOLR_URL, one in Docker, or the embedded one."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded import cores, process
from neardup_solr.kernel import Compiled
from neardup_solr.measures import auto
from neardup_solr.solr import admin
from neardup_solr.solr.access import AUTHORITIES
from neardup_solr.solr.collection import Collection, open_collection
from neardup_solr.sources.notes import NOTED
from neardup_solr.testing import fresh_core, private_home
from tests import ROOT, durations, java_cache
from tests.faults.tiers import sized, tier
from tests.solr import nodes as cloud_nodes
from tests.solr.cloud import empty, nodes, with_jars

# Files whose tests need no other test, and those that share what is slow to start.
APART = ("tests/test_examples.py", "tests/test_trials.py")
SHARING = ("tests/spark/", "tests/solr/test_cloud", "tests/solr/test_aliases", "tests/solr/test_ex",
           "tests/solr/test_nodes", "tests/solr/verbs/test_annotate_cloud",
           "tests/solr/verbs/test_annotate_whole")  # fmt: skip
SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


def pytest_configure() -> None:
    """Take SIGINT as usual: the background job of a shell ignores it, as would all it starts.

    Hypothesis times neither examples nor how they are made, as a busy machine would fail it;
    `scripts/test --all` tries more of them.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):  # nohup ignores it, as would all that the tests start
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    examples = sized(usual=20, full=100)
    hypothesis.settings.register_profile(
        "untimed",
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        max_examples=examples,
    )
    hypothesis.settings.load_profile("untimed")
    os.environ["NEARDUP_PROGRESS"] = "0"  # a busy machine would print lines between others
    if not tier():
        os.environ.setdefault("JDK_JAVA_OPTIONS", java_cache.options())
    # Two workers that look for a free port at the same time would find the same one.
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    process.FIRST_PORT += 40 * worker
    cloud_nodes.FIRST_PORT += 300 * worker


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    seconds = durations.read()
    items.sort(key=lambda item: -seconds.get(item.path.relative_to(ROOT).as_posix(), 0.0))


def pytest_collection_finish() -> None:
    """Leave what six thousand tests and their modules consist of out of garbage collection."""
    gc.collect()
    gc.freeze()


class ByGroup(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Keeps the tests of a file in one worker, also all files that share a cloud or Spark."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(APART):
            return nodeid
        file = nodeid.partition("::")[0]
        return "cloud" if file.startswith(SHARING) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup:
    """Let workers take groups in their order; --dist loadgroup has none with pytest 9."""
    return ByGroup(config, log)


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
        server = embedded.start()
        _STARTED.append(server)
        yield server.url
        _STARTED.clear()


_STARTED: list[embedded.Server] = []  # the Solr of this worker, once a test needed it


@pytest.fixture(autouse=True)
def living_solr() -> None:
    """Fail at once if the Solr of the tests has ended: commands would wait for it, minutes each."""
    for server in _STARTED:
        try:
            socket.create_connection(("127.0.0.1", server.port), 60).close()
        except ConnectionRefusedError:
            pytest.fail(f"a test before this one ended the Solr of all: see {server.home}")


@pytest.fixture(scope="session", autouse=True)
def entry_points() -> Iterator[None]:
    """Those that ran got the types that they declare: others would be compiled for at run time."""
    yield
    rooms = [
        module for name, module in sys.modules.items() if name.startswith("neardup_solr.kernel")
    ]
    for entry in {
        one for room in rooms for one in vars(room).values() if isinstance(one, Compiled)
    }:
        assert {*entry._loaded} <= {entry.kinds}, f"{entry.name} declares other types"


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


class Cores:
    """Cores with all fields on one Solr: to empty one is quicker than to create one."""

    def __init__(self, address: str, held: ExitStack) -> None:
        self._address, self._held = address, held
        self._idle: list[str] = []

    def take(self) -> Collection:
        """An empty core, created if all are in use."""
        if self._idle:
            return open_collection(self._address, self._idle.pop())
        return self._held.enter_context(fresh_core(self._address))

    def give_back(self, name: str) -> None:
        """Empty a core for the next test."""
        core = open_collection(self._address, name)
        core.delete_query("*:*")
        core.commit()
        assert core.count() == 0, "somebody still writes to the core of this test"
        self._idle.append(name)

    @contextmanager
    def filled(self, documents: Sequence[nd.Document]) -> Iterator[Collection]:
        """Give a core with these documents, only to be read, to the tests of a module."""
        core = self.take()
        with pytest.MonkeyPatch.context() as patch:
            compare_by_words(patch)
            nd.index(documents, core)
        yield core
        self.give_back(core.name)


@pytest.fixture(scope="session")
def core_pool(solr_url: str) -> Iterator[Cores]:
    """The cores of all tests."""
    with ExitStack() as held:
        yield Cores(solr_url, held)


@pytest.fixture
def solr(core_pool: Cores) -> Iterator[Collection]:
    """An empty core with all fields."""
    core = core_pool.take()
    name = core.name
    yield core
    core_pool.give_back(name)


@pytest.fixture(scope="session")
def cloud_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a SolrCloud, with the jars."""
    return with_jars(home, tmp_path_factory.mktemp("cloud"))


@pytest.fixture(scope="session")
def one_cloud(cloud_home: Path) -> Iterator[str]:
    """The address of a SolrCloud of one node, for all tests that do not kill it."""
    with nodes(cloud_home) as server:
        yield server.url


@pytest.fixture(scope="module")
def cloud(one_cloud: str) -> Iterator[str]:
    """The address of a SolrCloud of one node, with no collections yet."""
    yield one_cloud
    empty(one_cloud)


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


def compare_by_words(patch: pytest.MonkeyPatch) -> None:
    """Choose the measure of words however short the texts are."""
    patch.setattr(auto, "FEWEST", 1 << 62)


@pytest.fixture(autouse=True)
def words_by_default(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare by words if no measure is named, where tests of other things index short texts."""
    folders = {"faults", "serve", "solr", "spark"}
    parts = request.path.parts[len(Path(__file__).parent.parts) :]  # not of the checkout's folder
    if request.path.name != "test_stored_measure.py" and folders.intersection(parts):
        compare_by_words(monkeypatch)


@pytest.fixture(autouse=True)
def nothing_noted() -> None:
    """Log each note anew: parameters of a test share its lines."""
    NOTED.clear()


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CA or proxies of whoever runs the tests."""
    for name in (*AUTHORITIES, "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
