"""Threads that an interrupt does not wait for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count

import pytest

from neardup_solr.progress import run_aside, thread_pool


def interrupt_work(
    pool: ThreadPoolExecutor, work: Callable[[int], None], jobs: list[Future[None]]
) -> None:
    """Submit ten jobs, then be interrupted."""
    jobs += [pool.submit(work, at) for at in range(10)]
    raise KeyboardInterrupt


def test_after_an_interrupt_nothing_is_waited_for() -> None:
    """What runs is left alone, and what is queued is dropped."""
    until, numbers = threading.Event(), count()

    def work(_: int) -> None:
        next(numbers)
        assert until.wait(60)

    jobs: list[Future[None]] = []
    with pytest.raises(KeyboardInterrupt), thread_pool(2) as pool:
        interrupt_work(pool, work, jobs)
    assert [job.cancelled() for job in jobs] == 2 * [False] + 8 * [True]
    until.set()
    assert [job.result(60) for job in jobs[:2]] == [None, None]
    assert next(numbers) == 2


def test_after_an_error_what_runs_is_waited_for() -> None:
    """So nothing writes into a folder that is removed because of the error."""
    done: list[int] = []
    jobs: list[Future[None]] = []
    begun = threading.Event()

    def work(at: int) -> None:
        begun.set()
        time.sleep(0.1)
        done.append(at)

    def fail(pool: ThreadPoolExecutor) -> None:
        jobs.extend(pool.submit(work, at) for at in range(10))
        begun.wait()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), thread_pool(1) as pool:
        fail(pool)
    assert done == [0]
    assert all(job.cancelled() for job in jobs[1:])


def test_all_is_done_without_an_error() -> None:
    """The end of the block waits for all."""
    with thread_pool(2) as pool:
        jobs = [pool.submit(sum, [at, 1]) for at in range(10)]
    assert [job.result(0) for job in jobs] == list(range(1, 11))


def test_work_is_done_beside_the_main_thread() -> None:
    """Its result and its errors are those of the work; other threads do it themselves."""
    assert run_aside(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        run_aside(lambda: 1 // 0)
    with thread_pool(1) as pool:
        assert pool.submit(run_aside, threading.get_ident).result() == (
            pool.submit(threading.get_ident).result()
        )
