"""Notes on how sources are read, which are logged if nobody else gets them."""

from __future__ import annotations

import sys
from types import FrameType

from neardup_solr.progress import LOG

NOTED: set[tuple[object, ...]] = set()  # notes that were logged, and where
MOST = 10_000  # of these, in a service that runs for years


def log_note(line: str) -> None:
    """Log a line about a source, once for each line of the program that asks for it.

    So `groupby(...).apply` logs it once, not for each group. In a notebook, the cell counts, too.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("neardup_solr"):
        frame = frame.f_back
    if frame is not None:
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        cell = getattr(shell, "execution_count", None)
        place = (line, frame.f_code.co_filename, frame.f_lineno, cell)
        if place in NOTED:
            return
        if len(NOTED) >= MOST:
            NOTED.clear()
        NOTED.add(place)
    LOG.warning("%s", line)
