"""The package in an archive, and as .pyc alone: zipapp, --py-files of Spark, frozen programs."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import neardup_solr as nd
from website.commands import commands

PACKAGE = Path(nd.__file__).parent
# The machine code of the tests is that of the same sources, so it is not compiled again.
CODE = PACKAGE / "kernel" / "__pycache__"


def run(place: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package at a place, in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(place), "NUMBA_CACHE_DIR": str(CODE)}
    environment["NEARDUP_HOME"] = str(folder / "home")  # in which no Solr runs
    return subprocess.run(
        [sys.executable, "-P", *words], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table with a copy."""
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,one two three\n2,one two three\n")
    return path


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with the package, without what was compiled."""
    folder = tmp_path_factory.mktemp("archive")
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "copy" / "neardup_solr", ignore=leave_out)
    return Path(shutil.make_archive(str(folder / "nd"), "zip", folder / "copy"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as .pyc alone."""
    folder = tmp_path_factory.mktemp("compiled")
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / "neardup_solr", ignore=leave_out)
    assert compileall.compile_dir(folder, quiet=2, legacy=True)
    for path in folder.rglob("*.py"):
        path.unlink()
    return folder


def test_an_archive_finds_duplicates(archive: Path, table: Path) -> None:
    """By the command and by the library, with a page of the pairs."""
    ran = run(archive, table.parent, "-m", "neardup_solr", "duplicates", table.name, "-o", "a.html")
    assert ran.returncode == 0, ran.stderr
    assert "one two three" in (table.parent / "a.html").read_text("utf-8")
    code = "import neardup_solr as nd; print(len(nd.duplicates('table.csv').pairs), nd.__file__)"
    called = run(archive, table.parent, "-c", code)
    assert called.stdout.split() == ["1", str(archive / "neardup_solr" / "__init__.py")]


def test_an_archive_says_that_it_has_no_solr(archive: Path, tmp_path: Path) -> None:
    """The embedded Solr is made of files."""
    ran = run(archive, tmp_path, "-m", "neardup_solr", "demo")
    assert ran.returncode
    assert "pip install neardup-solr" in ran.stderr


def test_the_listings_of_the_demo_are_in_an_archive(archive: Path, tmp_path: Path) -> None:
    """They are copied for the time of the process."""
    code = "from neardup_solr import demo; print(demo.listings().exists(), demo.pairs())"
    exists, place = run(archive, tmp_path, "-c", code).stdout.split()
    assert exists == "True"
    assert not Path(place).exists()


@pytest.mark.parametrize("place", ["archive", "compiled"])
def test_help_needs_no_sources(place: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The options of each command come from its function and the table."""
    words = [words.split() for words in commands()]
    code = (
        "import contextlib, os, runpy, sys\n"
        "os._exit = sys.exit\n"
        f"for words in {words!r}:\n"
        "    sys.argv = ['neardup', *words, '--help']\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        runpy.run_module('neardup_solr', run_name='__main__')\n"
        "import neardup_solr as nd\n"
        "assert all('Arguments:' in getattr(nd, n).__doc__ for n in nd.__all__ if n.islower())\n"
    )
    ran = run(request.getfixturevalue(place), tmp_path, "-c", code)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Usage: ") == len(words)
