"""The standard streams of the command: there, and taking whatever is printed."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO, cast


def open_all() -> None:
    """Give a closed standard stream the null device, and let output escape what it cannot encode.

    In the order of their numbers, so that no file or connection opened later gets one of them.
    """
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _nothing(mode: str) -> TextIO:
    return cast(TextIO, open(os.devnull, mode, encoding="utf-8"))


def flush() -> None:
    """Write out what is left; what cannot be written is dropped, for that is told by now."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
