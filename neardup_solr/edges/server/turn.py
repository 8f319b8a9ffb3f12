"""One command at a time starts or stops the embedded Solr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def turn(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file for the block; `waiting` is called once if another process holds it.

    The system gives the lock back when its holder ends, however it ends.
    """
    with path.open("ab") as file:
        told = False
        while True:
            try:
                _take(file)
                break
            except OSError:
                if not told:
                    waiting()
                told = True
                time.sleep(0.1)
        yield
