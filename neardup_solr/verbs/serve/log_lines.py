"""The log of a service: lines of JSON that begin with the time."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import orjson

from neardup_solr.log import Log
from neardup_solr.web.failure import Failure


class JsonLines(logging.Formatter):
    """Format of the library's messages: lines of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Make a line, without its end."""
        return to_line({"level": record.levelname, "message": record.getMessage()})[:-1]


def to_line(line: Mapping[str, Any]) -> str:
    """Make a line of the log, which begins with the time."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return orjson.dumps({"time": now, **line}).decode() + "\n"


def to_warning(message: str) -> str:
    """Make a line of a warning."""
    return to_line({"level": "WARNING", "message": message})


class ServiceLog:
    """Lines of a service's log: requests, messages, faults, and outages of Solr."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lock, self._began, self._refused = Lock(), 0.0, 0  # of an outage

    def write(self, line: Mapping[str, Any]) -> None:
        """Write a line, with the time."""
        self._log.write(to_line(line))

    def note(self, level: str, message: str) -> None:
        """Write a message."""
        self.write({"level": level, "message": message})

    def note_fault(self, id: str, error: Exception, failure: Failure) -> None:
        """Write an error of ours by its place in the code: its message may hold a text."""
        reason = failure.reason
        if failure.status == 500:
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
        self.write({"id": id, "error": type(error).__name__, "reason": reason})

    def note_outage(self, problem: str, *, refused: int = 0, since: float = 0.0) -> None:
        """Write a line when an outage begins, and one when all was well from `since` on."""
        with self._lock:
            now = time.monotonic()
            if problem and not self._began:
                self._began, self._refused = now, 0
                self.note("WARNING", problem)
            elif not problem and 0 < self._began <= since:
                after = f"after {now - self._began:.1f} s; {self._refused:,} requests were refused"
                self.note("INFO", f"the collection is available again {after}")
                self._began = 0.0
            self._refused += refused
