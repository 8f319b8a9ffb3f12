"""The examples of docs/interoperability.md and docs/native.md, run as they stand.

That of a CA, a header and a proxy needs a door in front of Solr: test_interoperability.py runs it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import requests

import neardup_solr as nd
from tests import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "interoperability.md").read_text(encoding="utf-8")
ACCESS, SCRIPT, OTHER, LINE, TEST = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
ADDRESS = "http://localhost:8983/solr/listings"


def run(code: str, solr: nd.Collection) -> list[str]:
    """What a script prints that speaks of `listings`, with the core in its place."""
    assert ADDRESS in code
    command = [sys.executable, "-W", "error", "-c", code.replace(ADDRESS, solr.url)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_a_plain_pysolr_script(solr: nd.Collection) -> None:
    """It finds the near-duplicates of what it added."""
    found = run(SCRIPT, solr)
    assert found[0].startswith("12 13 0.")
    assert [line.split()[0] for line in found[1:]] == ["13", "12"]


def test_a_collection_that_another_program_feeds(solr: nd.Collection) -> None:
    """What the page says it prints."""
    said = re.search(r"```text\n(2\n.*?)```", PAGE, flags=re.DOTALL)
    assert said is not None
    assert run(OTHER, solr) == said[1].splitlines()


def test_the_fixture_in_one_line(home: Path, tmp_path: Path) -> None:
    """The line and the test as they stand."""
    (tmp_path / "conftest.py").write_text(LINE)
    (tmp_path / "test_theirs.py").write_text(TEST)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name != "NEARDUP_SOLR_URL"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ["native"])
def test_the_schema_to_add_is_the_one_of_our_configset(name: str, solr: nd.Collection) -> None:
    """The JSON of docs/native.md describes the type and the field that the configset has."""
    block = re.search(r"```json\n(.*?)```", (DOCS / f"{name}.md").read_text(), flags=re.DOTALL)
    assert block is not None
    added = json.loads(block[1])
    there = requests.get(f"{solr.url}/schema/fieldtypes/{name}", timeout=30).json()["fieldType"]
    analyzer = there["analyzer"]
    assert analyzer["tokenizer"] == added["add-field-type"]["analyzer"]["tokenizer"]
    assert analyzer["filters"] == added["add-field-type"]["analyzer"]["filters"]
    field = requests.get(f"{solr.url}/schema/fields/content_native", timeout=30).json()["field"]
    assert added["add-field"].items() <= field.items()
