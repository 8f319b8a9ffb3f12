"""What docs/interoperability.md says, beyond the examples of test_examples.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "interoperability.md").read_text(encoding="utf-8")
_, LINE, TEST = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


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
