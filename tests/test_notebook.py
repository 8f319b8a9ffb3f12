"""The notebook of the documentation runs, and shows what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests import ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


# What a kernel says of its connection, and Jupyter of its folders, is not ours.
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path: Path) -> None:
    """From a DataFrame to clusters and a picture in ten cells; what it shows is what comes out."""
    read: Any = nbformat.read  # without types
    kept, made = read(NOTEBOOK, as_version=4), read(NOTEBOOK, as_version=4)
    NotebookClient(made, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert len(cells) == 10
    assert shown(made) == shown(kept)
    assert any("image/png" in output.get("data", {}) for output in cells[-1].outputs)


def shown(notebook: Any) -> list[str]:
    """The plain text that the cells of a notebook give."""
    return [
        output.get("data", {}).get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]
