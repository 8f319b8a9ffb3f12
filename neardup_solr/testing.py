"""A real Solr for tests, in one line: an embedded Solr, with a fresh core for every test.

In a conftest.py, either of

    from neardup_solr.testing import solr
    pytest_plugins = ["neardup_solr.testing"]

and a test that names `solr` gets a `neardup_solr.Collection`; `pysolr.Solr(solr.url)` talks to the
same core. Needs the extra `server`.

`SIZES` are the sizes of the work: after `monkeypatch.setattr(SIZES, "mark_batch", 2)` two documents
are marked at a time.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from neardup_solr import embedded
from neardup_solr.embedded import jars
from neardup_solr.embedded.layout import ServerState, find_layout, remember
from neardup_solr.errors import SolrUnreachable
from neardup_solr.files import solr_config
from neardup_solr.sizes import SIZES as SIZES
from neardup_solr.solr import admin, collection
from neardup_solr.solr.collection import Collection

# Not $NEARDUP_SOLR_URL: that may be a Solr in production, which tests must not touch.
ADDRESS = "NEARDUP_TEST_SOLR_URL"
_SHARED = pytest.StashKey[str]()


@pytest.fixture
def solr(request: pytest.FixtureRequest) -> Iterator[Collection]:
    """A fresh, empty core with all fields on a real Solr, deleted after the test.

    The Solr is an embedded Solr that the first such test starts, in a new folder, and that ends
    with the run; or that at the address in $NEARDUP_TEST_SOLR_URL. If none starts, the test fails
    with ServerError: it is never skipped.
    """
    with fresh_core(_address(request.config)) as core:
        yield core


@contextmanager
def fresh_core(address: str) -> Iterator[Collection]:
    """A new, empty core or collection with all fields on the Solr at an address.

    It is deleted with everything in it when the block ends. Raises SolrError if that Solr
    cannot be reached or has no configset `neardup`.
    """
    core = collection.open_collection(address, f"test_{uuid.uuid4().hex[:12]}")
    admin.create(core, configset=solr_config() / "conf")
    try:
        yield core
    finally:
        admin.drop(core)


@contextmanager
def private_home(folder: Path) -> Iterator[Path]:
    """Let a folder hold the embedded Solr that this process uses, with the user's jars.

    Until the block ends $NEARDUP_HOME names it, so that no test sees what the user has indexed, and
    the Solr that runs in it asks for no password; then it is stopped. Raises ServerError if the
    jars cannot be downloaded.
    """
    place = find_layout()
    user_jars = place.jars
    jars.install(user_jars, jars.read_lock(place.version), tell=embedded.to_stderr)
    (folder / user_jars.parent.name).symlink_to(user_jars.parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEARDUP_HOME", str(folder))
        find_layout().server.mkdir(mode=0o700, parents=True, exist_ok=True)
        remember(find_layout(), ServerState(port=0))  # only a first start makes a password
        try:
            yield folder
        finally:
            embedded.stop()


def _address(config: pytest.Config) -> str:
    """The Solr of this run of pytest, started if need be, and shared by all its modules."""
    if _SHARED not in config.stash:
        config.stash[_SHARED] = _address_in_environment() or _start(config)
    return config.stash[_SHARED]


def _address_in_environment() -> str | None:
    """Return the address in $NEARDUP_TEST_SOLR_URL, if any, at which a Solr answers."""
    if address := os.environ.get(ADDRESS):
        try:
            admin.is_cloud(collection.open_collection(address, "any"))
        except SolrUnreachable as error:
            remedy = f"check ${ADDRESS}, or unset it for an embedded Solr"
            raise SolrUnreachable(error.url, error.reason, remedy) from None
    return address


def _start(config: pytest.Config) -> str:
    held = ExitStack()
    config.add_cleanup(held.close)
    folder = held.enter_context(tempfile.TemporaryDirectory(prefix="neardup_"))
    held.enter_context(private_home(Path(folder)))
    return embedded.start().url
