"""The comparisons of a run that was interrupted, in the file `checkpoint`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from neardup_solr.files import read_arrays, write_arrays
from neardup_solr.verbs.duplicates.verified import COLUMNS, Columns

CHECKPOINT = b"neardup duplicates: pairs that an interrupted run has compared\n"
KEEP_EVERY = 10.0  # seconds


class UnfinishedRun:
    """The near pairs of blocks that are compared, kept in a file for a run that is interrupted."""

    def __init__(self, path: Path | None = None, work: str = "") -> None:
        self._path, self._work, self._due = path, work, time.monotonic() + KEEP_EVERY
        self.done, self.parts = 0, list[Columns]()
        stored = "" if path is None else read_arrays(path, CHECKPOINT)
        if not isinstance(stored, str) and stored[0]["work"] == work:
            self.done = stored[0]["done"]
            self.parts.append(tuple(stored[1][name] for name in COLUMNS))

    def add(self, part: Columns, done: int) -> None:
        """Add the near pairs of a block, of the first `done` pairs."""
        self.parts.append(part)
        self.done = done
        if time.monotonic() > self._due:
            self._write()
            self._due = time.monotonic() + KEEP_EVERY

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep what is compared whatever happens."""
        try:
            yield
        finally:
            self._write()

    def _write(self) -> None:
        if self._path is not None and self.parts:
            columns = map(np.concatenate, zip(*self.parts, strict=True))
            about = {"work": self._work, "done": self.done}
            write_arrays(self._path, CHECKPOINT, about, dict(zip(COLUMNS, columns, strict=True)))


def delete_checkpoint(path: Path) -> None:
    """Delete the file of a run that is finished. Another file, which was not used, stays."""
    try:
        with open(path, "rb") as file:
            is_checkpoint = file.readline(len(CHECKPOINT)) == CHECKPOINT
    except FileNotFoundError:
        return
    if is_checkpoint:
        path.unlink()
