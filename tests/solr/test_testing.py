"""The public fixture: a real Solr in other people's tests, by one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.solr import api

LINE = "from neardup_solr.testing import solr\n"
TESTS = """
import pysolr

def remember(solr):
    with open("addresses", "a") as addresses:
        addresses.write(solr.url + "\\n")

def test_documents_arrive(solr):
    remember(solr)
    pysolr.Solr(solr.url).add([{"id": "1"}], commit=True)
    assert solr.count() == 1

def test_the_next_test_has_none_of_them(solr):
    remember(solr)
    assert solr.count() == 0
"""


def run(folder: Path, conftest: str, **environment: str) -> list[str]:
    """The addresses of the cores that two passing tests got, in a run of pytest of its own."""
    (folder / "conftest.py").write_text(conftest)
    (folder / "test_two.py").write_text(TESTS)
    # Modules of their own: the fixture is found in each, the Solr has to be the same.
    (folder / "test_three.py").write_text(conftest + TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        command,
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != "NEARDUP_SOLR_URL"}
        | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "4 passed" in ran.stdout, ran.stdout + ran.stderr
    return (folder / "addresses").read_text().split()


@pytest.mark.parametrize(
    "line",
    [LINE, 'pytest_plugins = ["neardup_solr.testing"]\n'],
    ids=["import", "plugin"],
)
def test_one_line_gives_a_solr_that_leaves_nothing_behind(
    line: str, home: Path, tmp_path: Path
) -> None:
    """Every test gets a core of its own, on one Solr, which is gone with the run."""
    kept = sorted(home.rglob("core.properties"))
    found = run(tmp_path, line)
    assert len(set(found)) == 4
    bases = {url.rpartition("/")[0] for url in found}
    assert len(bases) == 1
    with pytest.raises(nd.SolrUnreachable):
        nd.connect(bases.pop(), "any").count()
    assert sorted(home.rglob("core.properties")) == kept


def test_the_address_of_another_solr(solr_url: str, tmp_path: Path) -> None:
    """$NEARDUP_TEST_SOLR_URL names a Solr to use instead; its cores are taken away, too."""
    found = run(tmp_path, LINE, NEARDUP_TEST_SOLR_URL=solr_url)
    assert {url.rpartition("/")[0] for url in found} == {solr_url}
    assert not any(api.exists(core(url)) for url in found)


def core(url: str) -> nd.Collection:
    """The core at an address."""
    return nd.connect(url)
