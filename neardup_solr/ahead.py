"""Work on the next parts of something while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(
    pool: Executor, work: Callable[[T], R], parts: Iterable[T], *, at_once: int = 1
) -> Iterator[R]:
    """The result for each part, in order; the next `at_once` are worked on while one is used."""
    coming: deque[Future[R]] = deque()
    for part in parts:
        coming.append(pool.submit(work, part))
        if len(coming) > at_once:
            yield coming.popleft().result()
    while coming:
        yield coming.popleft().result()
