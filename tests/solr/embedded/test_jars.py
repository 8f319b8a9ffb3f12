"""The lock of the embedded Solr's jars, and those that Java gets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, ServerError
from tests import ROOT
from tests.refusals import refusal
from tests.solr.embedded.conftest import FakeJava

FOLDER = ROOT / "solr_config" / "server"
LOCKS = {path.stem.removeprefix("jars-"): path for path in FOLDER.glob("jars-*.lock")}
USUAL = "9.10.1"
STUBBED = {"10.0.0": "solr-solrj-streaming"}  # which is that of another version, with a stub


class Line(NamedTuple):
    """A line of a lock."""

    group: str
    artifact: str
    version: str
    classifier: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The file name, as Maven forms it."""
        return "-".join(filter(None, (self.artifact, self.version, self.classifier))) + ".jar"


def read(solr: str) -> Sequence[Line]:
    """Read the lock of a version of Solr."""
    lines = []
    for line in LOCKS[solr].read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            coordinate, size, sha256 = line.split()
            group, artifact, version, classifier = [*coordinate.split(":"), ""][:4]
            lines.append(Line(group, artifact, version, classifier, int(size), sha256))
    return lines


def test_each_version_that_can_be_chosen_has_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is refused, by a line that names them all."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    monkeypatch.setenv("NEARDUP_SOLR_VERSION", "7.7.3")
    with refusal(ArgumentError, "argument-invalid", "'7.7.3'") as error:
        nd.connect()
    assert {*re.findall(r"\d+\.\d+\.\d+", str(error.value))} == {*LOCKS, "7.7.3"}


@pytest.mark.parametrize("solr", LOCKS)
def test_every_line_of_the_lock_is_whole_and_no_file_comes_twice(solr: str) -> None:
    """Each jar has a size and a SHA-256, and the jars' file names differ."""
    jars = read(solr)
    assert all(one.size > 0 and re.fullmatch("[0-9a-f]{64}", one.sha256) for one in jars)
    assert len({one.name for one in jars}) == len(jars)
    assert sorted(jars, key=lambda one: f"{one.group}:{one.artifact}:") == list(jars)


@pytest.mark.parametrize("solr", LOCKS)
def test_the_lock_holds_the_solr_that_is_announced(solr: str) -> None:
    """The version in the messages is the version of the jar."""
    versions = {
        one.version
        for one in read(solr)
        if one.group == "org.apache.solr" and one.artifact != STUBBED.get(solr)
    }
    assert versions == {solr}


@pytest.mark.parametrize("solr", LOCKS)
def test_the_lock_keeps_one_version_of_each_library(solr: str) -> None:
    """Two versions of one artifact on a class path would be a coin toss."""
    named = [(one.group, one.artifact, one.classifier) for one in read(solr)]
    assert len(set(named)) == len(named)


def test_the_class_path_lists_the_locked_jars_only(own_home: Path, path: Path) -> None:
    """In the order of the lock, by Maven's file names; a stray jar in the folder is not loaded."""
    folder = own_home / f"solr-{USUAL}" / "jars"
    (folder / "stray.jar").touch()
    *_, class_path = FakeJava(path, "21").start()
    locked = read(USUAL)
    assert any(one.classifier for one in locked)
    assert class_path.split(os.pathsep) == [str(folder / one.name) for one in locked]


def test_a_stub_is_loaded_instead_of_what_it_replaces() -> None:
    """It comes before the jar that has the class, too."""
    named = [one.artifact for one in read("10.0.0")]
    assert named.index("solr10-stub") < named.index(STUBBED["10.0.0"])


def test_a_stub_that_is_not_built_is_said_before_anything_is_downloaded(
    path: Path, environment: pytest.MonkeyPatch
) -> None:
    """No repository has it; the line says who builds it, and which version needs none."""
    environment.setenv("NEARDUP_SOLR_VERSION", "10.0.0")
    FakeJava(path, "21")
    told: list[str] = []
    with refusal(ServerError, "download-failed", "scripts/solr-10", USUAL):
        nd.connect(on_started=told.append)
    assert told == []


@pytest.mark.usefixtures("no_network")
def test_a_jar_of_the_right_size_and_wrong_content_is_not_intact(
    own_home: Path, path: Path
) -> None:
    """After a start that failed the hash decides, not the size: it is downloaded again."""
    java, folder = FakeJava(path, "21"), own_home / f"solr-{USUAL}" / "jars"
    assert java.start()
    damaged = folder / min(read(USUAL), key=lambda one: one.size).name
    content = damaged.read_bytes()
    damaged.unlink()  # it may be a link to that of others
    damaged.write_bytes(bytes(len(content)))
    told: list[str] = []
    with refusal(ServerError, "download-failed", damaged.name):
        nd.connect(on_started=told.append)
    assert "1 jar" in told[0]
    damaged.write_bytes(content)
    assert java.start()
