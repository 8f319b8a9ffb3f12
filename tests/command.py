"""The command `neardup`, run in this process: the same, but for the start of a new one.

What streams, signals, exit codes or the start do has to be tested with a process: see NEARDUP.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import neardup_solr as nd
from neardup_solr.cli import main
from neardup_solr.records import NOTHING
from neardup_solr.sources.notes import NOTED

NEARDUP = (sys.executable, "-m", "neardup_solr")


def neardup(
    *words: str | bytes,
    env: Mapping[str, str | None] = NOTHING,
    input: str | None = None,
    is_mixed: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run the command; what it prints, and its exit code. A variable that is None is not set.

    If the streams are mixed, standard output has all that a terminal would show.
    """
    typed = [os.fsdecode(word) for word in words]
    out = _stream()
    err = out if is_mixed else _stream()
    NOTED.clear()  # as in a process of its own
    variables = {**os.environ, **env}
    given = {name: value for name, value in variables.items() if value is not None}
    with (
        mock.patch.dict(os.environ, given, clear=True),
        mock.patch.object(sys, "argv", ["neardup", *typed]),
        _reading(input),
        redirect_stdout(out),
        redirect_stderr(err),
        _warnings_printed(),
    ):
        code = main._run(typed)
    return subprocess.CompletedProcess(
        words, code, _printed(out), "" if is_mixed else _printed(err)
    )


def sign_once() -> None:
    """Sign a text, so that no later run compiles what signs, or says so."""
    with TemporaryDirectory() as folder:
        nd.signatures([("1", "ascii"), ("2", "wïde")], Path(folder, "signed.parquet"))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BytesIO(), "utf-8", errors="backslashreplace", newline="\n", write_through=True
    )


def _printed(stream: io.TextIOWrapper) -> str:
    """What was printed, with line breaks as a process read in text mode has them."""
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8").replace("\r\n", "\n")


@contextmanager
def _reading(text: str | None) -> Iterator[None]:
    """Let standard input be a pipe that holds a text, or the null device."""
    place: str | int = os.devnull
    if text is not None:
        place, writer = os.pipe()
        with open(writer, "wb") as pipe:
            pipe.write(text.encode())
    with open(place, encoding="utf-8") as given, mock.patch.object(sys, "stdin", given):
        yield


@contextmanager
def _warnings_printed() -> Iterator[None]:
    """Print warnings of the package, as Python does where nobody has set up logging."""
    log = logging.getLogger("neardup_solr")
    printing = logging.lastResort
    assert printing is not None
    log.addHandler(printing)
    try:
        yield
    finally:
        log.removeHandler(printing)
