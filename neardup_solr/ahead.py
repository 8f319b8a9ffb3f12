"""Read the next part of something while the last one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def ahead(pool: Executor, read: Callable[[T], R], parts: Iterable[T]) -> Iterator[R]:
    """What is read of each part; the next part is read while one is used."""
    coming: Future[R] | None = None
    for part in parts:
        following = pool.submit(read, part)
        if coming is not None:
            yield coming.result()
        coming = following
    if coming is not None:
        yield coming.result()
