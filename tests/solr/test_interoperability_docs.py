"""What docs/interoperability.md and docs/native.md say, beyond the examples of test_examples.py.

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
ACCESS, _, _, LINE, TEST = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


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
