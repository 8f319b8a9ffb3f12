"""What the embedded Solr wrote to its logs."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from neardup_solr.edges.server.layout import layout
from neardup_solr.edges.server.process import CONSOLE, LOG


def logs(lines: int = 50) -> str:
    """The last lines of the log; empty if Solr has never run.

    Solr's own log, or what Java printed if that is the newer one (a start that failed).
    """
    path = _newest()
    if path is None:
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, maxlen=lines))


def follow() -> Iterator[str]:
    """The lines that come to the log from now on, without end."""
    path = _newest()
    while path is None:
        time.sleep(0.2)
        path = _newest()
    file = path.open(encoding="utf-8", errors="replace")
    try:
        file.seek(0, os.SEEK_END)
        while True:
            replaced = _replaced(path, file.fileno())  # asked before the old file is read out
            yield from iter(file.readline, "")
            if replaced:
                file.close()
                file = path.open(encoding="utf-8", errors="replace")
            else:
                time.sleep(0.2)
    finally:
        file.close()


def _newest() -> Path | None:
    folder = layout().logs
    found = [path for name in (LOG, CONSOLE) if (path := folder / name).is_file()]
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def _replaced(path: Path, descriptor: int) -> bool:
    """Whether the log was rolled over: another file has its name now."""
    try:
        return path.stat().st_ino != os.fstat(descriptor).st_ino
    except OSError:
        return False  # between the two steps of rolling over
