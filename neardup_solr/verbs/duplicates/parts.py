"""Parts of the work of `duplicates`: how many texts are read, signed or compared at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from neardup_solr.sizes import SIZES

AT_ONCE = 20_000  # texts that are read or signed at once
FIRST, MOST = 100, 10_000  # texts that are read while others are worked on: the first, and at most


def split_fitting(count: int, read: Callable[[], tuple[int, int]]) -> Iterator[slice]:
    """Split so many texts into parts to read at once, by the length of those before.

    `read` gives how many have been read by then, and how many characters they have.
    """
    at = 0
    while at < count:
        done, characters = read()
        fitting = SIZES.part_text * done // max(characters, 1) if done else FIRST
        last = min(at + max(1, min(MOST, fitting)), count)
        yield slice(at, last)
        at = last
