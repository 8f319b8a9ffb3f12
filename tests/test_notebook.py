"""The notebooks of the documentation run, and show what they show."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests import ROOT


# What a kernel says of its connection, and Jupyter of its folders, is not ours.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["notebook", "evening"])
def test_a_notebook_runs(tmp_path: Path, name: str) -> None:
    """From a table to clusters and a picture in ten cells; what it shows is what comes out."""
    read: Any = nbformat.read  # without types
    path = ROOT / "docs" / f"{name}.ipynb"
    kept, made = read(path, as_version=4), read(path, as_version=4)
    shutil.copy(ROOT / "tests" / "examples" / "messy.py", tmp_path)
    NotebookClient(made, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert len(cells) >= 9
    assert shown(made) == shown(kept)
    assert any("image/png" in output.get("data", {}) for output in cells[-1].outputs)


def shown(notebook: Any) -> list[str]:
    """The plain text that the cells of a notebook give."""
    return [
        output["data"].get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "data" in output  # streams come in any number of pieces
    ]
