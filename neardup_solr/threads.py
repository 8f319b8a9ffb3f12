"""Threads that an interrupt leaves soon, and garbage collection.

Python handles a signal in its main thread, between two of its steps. So the main thread does
not work on what takes long in machine code: it waits for threads, and stops waiting at once.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread
from typing import TypeVar

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


def run_aside(work: Callable[[], R]) -> R:
    """Do work in a new thread if this is the main thread, which can then be interrupted.

    After an interrupt the work goes on until it is done or the process ends.
    """
    return work() if current_thread() is not main_thread() else start_thread(work).result()


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
