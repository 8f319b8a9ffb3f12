"""The log: lines that nobody reads are dropped and counted, so that no writer waits for a reader.

A pipe that nobody reads is full after 64 KiB, and then everybody who writes to it waits for ever.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr
from threading import Condition, Thread
from typing import Any, TextIO, cast

from neardup_solr.errors import counted
from neardup_solr.progress import ignore

MOST = 1 << 20  # characters that wait to be written
LAST_SECONDS = 1.0  # for the last lines to be written
PAUSE = 0.05  # seconds until a stream that does not block may take more


def describe_dropped(count: int) -> str:
    """Describe lines that were dropped."""
    lines = counted(count, "line was", "lines were")
    return f"the log could not be written for a while, and {lines} dropped"


class Log:
    """Text stream that a thread writes to another stream, such as standard error.

    Lines that find no room, or cannot be written, are `dropped`: `on_drop` gets their number, and
    a line with it, as `to_line` makes of a message, is written when the stream takes lines again.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.dropped = stream, 0
        self.to_line: Callable[[str], str] = "{}\n".format
        self.on_drop: Callable[[int], object] = ignore
        self._waiting, self._size = list[str](), 0
        self._is_full, self._is_closed = False, False
        self._is_cut = False  # as the end of a line could not be written
        self._untold = 0  # lines that were dropped since the stream took the last ones
        self._changed = Condition()
        self._write = self._choose_way()
        self._thread = Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Let the thread write a text, and return its length."""
        with self._changed:
            self._is_full |= self._is_closed or self._size + len(text) > MOST
            if self._is_full:  # until the thread takes what waits, so that no line is cut
                self._drop(text.count("\n"))
            else:
                self._waiting.append(text)
                self._size += len(text)
                self._changed.notify()
        return len(text)

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as it can."""

    def close(self) -> None:
        """Wait a second for the last lines to be written, and drop what comes later."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(LAST_SECONDS)

    @contextmanager
    def gathering(
        self, *loggers: logging.Logger, formatter: logging.Formatter | None = None
    ) -> Iterator[None]:
        """Let the messages of loggers be lines of the log meanwhile."""
        handler = logging.StreamHandler(cast("TextIO", self))
        handler.setFormatter(formatter)
        with ExitStack() as stack:
            for logger in loggers:
                logger.addHandler(handler)
                stack.callback(logger.removeHandler, handler)
            yield

    def _choose_way(self) -> Callable[[str], str]:
        """Choose how to write a text, and to return what could not be written of it."""
        if self.stream is not sys.__stderr__:
            return self._write_to_stream
        self.stream.flush()
        return self._write_to_file

    def _write_to_stream(self, text: str) -> str:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # the latter for a stream that was closed
            return text
        return ""

    def _write_to_file(self, text: str) -> str:
        """Write past Python's lock of standard error, which would be held while nobody reads."""
        rest = b"\n" * self._is_cut + text.encode(self.stream.encoding, "backslashreplace")
        while rest:
            try:
                rest = rest[os.write(self.stream.fileno(), rest) :]
                self._is_cut = bool(rest)
            except BlockingIOError:
                time.sleep(PAUSE)
            except (OSError, ValueError):  # a full disk, or a reader that has gone
                return rest.decode(self.stream.encoding, "replace")
        return ""

    def _drop(self, count: int) -> None:
        self.dropped += count
        self._untold += count
        self.on_drop(count)

    def _repeat(self) -> None:
        """Write what waits, again and again, until the log is closed and nothing waits."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if not self._waiting:
                    return
                text, untold = "".join(self._waiting), self._untold
                self._waiting, self._size, self._is_full, self._untold = [], 0, False, 0
            rest = self._write(text + (self.to_line(describe_dropped(untold)) if untold else ""))
            if rest:
                with self._changed:
                    self._untold += untold
                    self._drop(rest.count("\n") - bool(untold))


@contextmanager
def open_log() -> Iterator[Log]:
    """Yield a log that writes to standard error, or standard error itself if it is a log."""
    if isinstance(sys.stderr, Log):
        yield sys.stderr
        return
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        log = Log(sys.stderr or nothing)
        try:
            yield log
        finally:
            log.close()


@contextmanager
def unblocked() -> Iterator[Log]:
    """Make standard error a log, so that nobody who writes to it waits, and yield it."""
    with open_log() as log, redirect_stderr(cast("TextIO", log)):
        yield log
