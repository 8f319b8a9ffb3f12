"""Progress of a verb: reports to the caller, and threads that an interrupt does not wait for."""

from __future__ import annotations

import gc
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from itertools import islice, repeat
from threading import Thread, current_thread, main_thread
from typing import TypeVar, cast

from neardup_solr.cores import count_cores
from neardup_solr.errors import RecordError, counted
from neardup_solr.records import characters
from neardup_solr.regex import regex


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a function.

    `stage`: current work, such as "indexing" or "comparing"; `done`: documents done (when
    "joining": bands; when "comparing" in `duplicates`: pairs); `total`: number of all, if known;
    `share`: share of the source, 0 to 1, if known and there is no total.
    """

    stage: str
    done: int
    total: int | None = None
    share: float | None = None


OnError = Callable[[RecordError], None]
OnProgress = Callable[[Progress], None]


def ignore(_: object) -> None:
    """Ignore the report."""


@dataclass(slots=True, kw_only=True)
class SourceProgress:
    """Progress of a work on a source of so many `rows` and bytes (`size`), if it tells them."""

    stage: str
    on_progress: OnProgress
    rows: int | None
    size: int | None
    bytes: int = 0

    def count_bytes(self, bytes: int) -> None:
        """Note how many bytes of the source have been read."""
        self.bytes = bytes

    def report(self, read: int, done: int) -> None:
        """Report how many documents are done, and the share of the records that were read."""
        counts = ((read, self.rows), (self.bytes, self.size))
        share = next((part / total for part, total in counts if total), None)
        self.on_progress(Progress(self.stage, done, share=share))


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Callbacks for records that cannot be used, and for progress."""

    on_error: OnError | None = None
    on_progress: OnProgress = field(default=ignore)


LOG = logging.getLogger("neardup_solr")
MOST_ERRORS = 1_000  # that a result holds; more are only counted
MOST_CAUSES = 5  # that are logged after the first
_CAUSE = regex(r"'[^']*'|\w*\d\w*")  # what differs in reasons of the same cause
MOST_CHARACTERS = 2**24  # of the records that these carry along
FEW_STEPS = 1 << 17  # of compiled loops: some tenths of a millisecond
AHEAD = 4  # parts for each core that are worked on ahead


@dataclass(slots=True)
class Failures:
    """The records that a verb could not use: how many, and the first of them.

    Each of the `damages` ends a file, whose number of records that are missing is unknown.
    `on_error` gets each; if it is None, `warn` logs a line about all of them, and one about each
    other cause.
    """

    on_error: OnError | None
    count: int = 0
    first: list[RecordError] = field(default_factory=list)
    characters: int = 0
    damages: list[RecordError] = field(default_factory=list)

    def add(self, error: RecordError) -> None:
        """Count a record and report it."""
        self.count += 1
        if error.ends_source:
            self.damages.append(error)
        if len(self.first) < MOST_ERRORS:
            self.first.append(self._held(error))
        if self.on_error is not None:
            self.on_error(error)

    def _held(self, error: RecordError) -> RecordError:
        """An error as a result holds it: with its record, unless the records take too much."""
        self.characters += characters(error.record)
        if self.characters <= MOST_CHARACTERS:
            return error
        held = copy(error)
        held.record = None
        return held

    def warn(self) -> None:
        """Log how many records could not be used, and why the first could not."""
        if self.count and self.on_error is None:
            records = counted(self.count, "record")
            if not self.first:  # the dead letters of that run say why
                LOG.warning("%s could not be used by an earlier run", records)
                return
            more = "" if self.count == 1 else ", the first of them"
            LOG.warning("%s could not be used%s: %s", records, more, self.first[0])
            for error in self._list_others()[:MOST_CAUSES]:
                LOG.warning("another cause: %s", error)

    def _list_others(self) -> list[RecordError]:
        """List an error for each cause but that of the first, and all damages."""
        causes = {_CAUSE.sub("", error.reason): error for error in reversed(self.first)}
        others = [error for error in self.first[1:] if error in causes.values()]
        damages = (error for error in self.damages if error is not self.first[0])
        return list(dict.fromkeys([*damages, *others]))


def until(is_so: Callable[[], bool], seconds: float, pause: float) -> bool:
    """Ask until something is so, with pauses. False if it is not within so many seconds."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
    return True


T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disable the garbage collector: a million new objects are made in three quarters of the time.

    The more objects the caller has, the more it saves. For short work that leaves no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def thread_pool(count: int) -> Iterator[ThreadPoolExecutor]:
    """Yield an executor of so many threads.

    After an error what is queued is dropped, and what runs is waited for. After an interrupt it is
    not: it ends by itself, and nobody looks at its result.
    """
    executor = ThreadPoolExecutor(count)
    try:
        yield executor
    except Exception:
        executor.shutdown(cancel_futures=True)
        raise
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    executor.shutdown()


def prefetch(
    pool: Executor, work: Callable[[T], R], parts: Iterable[T], *, at_once: int = 1
) -> Iterator[R]:
    """Yield the result for each part, in order, and work on the next `at_once` meanwhile."""
    coming: deque[Future[R]] = deque()
    for part in parts:
        coming.append(pool.submit(work, part))
        if len(coming) > at_once:
            yield coming.popleft().result()
    while coming:
        yield coming.popleft().result()


def map_in_order(
    work: Callable[[T], R], parts: Iterable[T], *, few: int | None, ahead: int = AHEAD
) -> Iterator[tuple[T, R]]:
    """Yield each part with what work makes of it, in order, by all cores if there are many parts.

    The first `few`, or all if it is None, are worked on when they are asked for, the others
    `ahead`, so many for each core. An error is raised behind the results of the parts before it.
    """
    stream = iter(parts)
    for part in islice(stream, few):
        yield part, work(part)
    threads = 1 if few is None else count_cores()
    if threads == 1:
        yield from ((part, work(part)) for part in stream)
        return
    coming: deque[tuple[T, Future[R]]] = deque()
    failures: list[Exception] = []
    readable = _until_failure(stream, failures)
    with thread_pool(threads) as pool:
        while True:
            more = islice(readable, max(0, ahead * threads - len(coming)))
            coming.extend((part, pool.submit(work, part)) for part in more)
            if not coming:
                break
            part, result = coming.popleft()
            yield part, result.result()
    for failure in failures:
        raise failure


def run_ahead(parts: Iterable[T], *, few: int, ahead: int = AHEAD) -> Iterator[T]:
    """Yield parts, all but the first `few` made ahead in a thread of their own, unless on one core.

    For parts that take long to make and leave the lock of the interpreter to others meanwhile.
    """
    stream, end = iter(parts), object()
    yield from islice(stream, few)
    if count_cores() == 1:
        yield from stream
        return

    def make(_: None) -> T | object:
        return next(stream, end)

    with thread_pool(1) as pool:
        for part in prefetch(pool, make, repeat(None), at_once=ahead):
            if part is end:
                return
            yield cast("T", part)


def _until_failure(parts: Iterable[T], failures: list[Exception]) -> Iterator[T]:
    """Yield parts until there are no more, or the next cannot be read, which goes to `failures`."""
    try:
        yield from parts
    except Exception as error:
        failures.append(error)


def run_aside(work: Callable[[], R], *, steps: float = math.inf) -> R:
    """Do work in a new thread if this is the main thread, which can then be interrupted.

    Work of few steps, such as comparisons of numbers, is done sooner than a thread starts. After an
    interrupt the work goes on until it is done or the process ends.
    """
    if steps < FEW_STEPS or current_thread() is not main_thread():
        return work()
    return start_thread(work).result()


def start_thread(work: Callable[[], R]) -> Future[R]:
    """Start work in a new thread, which ends with the process."""
    result: Future[R] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return result
