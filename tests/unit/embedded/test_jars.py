"""The lock of the embedded Solr's jars."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neardup_solr.embedded.jars import Jar, class_path, install, read_lock
from neardup_solr.embedded.layout import RELEASES
from neardup_solr.errors import ServerError
from tests.refusals import refusal

STUBBED = {"10.0.0": "solr-solrj-streaming"}  # which is that of another version, with a stub


def jar(classifier: str = "") -> Jar:
    """A jar of no library."""
    return Jar(
        group="org.a", artifact="b", version="1.0", classifier=classifier, size=3, sha256="00"
    )


@pytest.mark.parametrize("solr", RELEASES)
def test_every_line_of_the_lock_is_whole_and_no_file_comes_twice(solr: str) -> None:
    """Each jar has a size and a SHA-256, and the jars' file names differ."""
    jars = read_lock(solr)
    assert all(one.size > 0 and re.fullmatch("[0-9a-f]{64}", one.sha256) for one in jars)
    assert len({one.name for one in jars}) == len(jars)
    assert sorted(jars, key=lambda one: f"{one.group}:{one.artifact}:") == list(jars)


@pytest.mark.parametrize("solr", RELEASES)
def test_the_lock_holds_the_solr_that_is_announced(solr: str) -> None:
    """The version in the messages is the version of the jar."""
    versions = {
        one.version
        for one in read_lock(solr)
        if one.group == "org.apache.solr" and one.artifact != STUBBED.get(solr)
    }
    assert versions == {solr}


@pytest.mark.parametrize("solr", RELEASES)
def test_the_lock_keeps_one_version_of_each_library(solr: str) -> None:
    """Two versions of one artifact on a class path would be a coin toss."""
    named = [(one.group, one.artifact, one.classifier) for one in read_lock(solr)]
    assert len(set(named)) == len(named)


def test_a_classifier_is_part_of_the_file_name() -> None:
    """Maven appends the classifier after the version."""
    assert jar().name == "b-1.0.jar"
    assert jar("linux-x86_64").name == "b-1.0-linux-x86_64.jar"


def test_the_class_path_lists_the_locked_jars_only(tmp_path: Path) -> None:
    """A stray jar in the folder is not loaded."""
    (tmp_path / "stray.jar").touch()
    assert class_path(tmp_path, [jar()]) == str(tmp_path / "b-1.0.jar")


def test_a_stub_is_loaded_instead_of_what_it_replaces() -> None:
    """It comes before the jar that has the class, too."""
    named = [one.artifact for one in read_lock("10.0.0")]
    assert named.index("solr10-stub") < named.index(STUBBED["10.0.0"])


def test_a_stub_that_is_not_built_is_said_before_anything_is_downloaded(tmp_path: Path) -> None:
    """No repository has it; the line says who builds it, and which version needs none."""
    told: list[str] = []
    with refusal(ServerError, "download-failed", "scripts/solr-10", "9.10.1"):
        install(tmp_path / "jars", read_lock("10.0.0"), tell=told.append)
    assert told == []


def test_a_jar_of_the_right_size_and_wrong_content_is_not_intact(tmp_path: Path) -> None:
    """The hash decides, not the size."""
    (tmp_path / "b-1.0.jar").write_bytes(b"abc")
    assert not jar().is_intact(tmp_path / "b-1.0.jar")
