"""Rising numbers in compiled code: found among others, and pairs of rows that move together."""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel.machine import compiled

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


@compiled
def find(numbers, known, places):
    """Fill `places` (int64, numbers) with where each number is among the known ones, else -1.

    Both are uint64 and rise, so that they are walked through once, side by side.
    """
    at, end = 0, len(known)
    for number in range(len(numbers)):
        wanted = numbers[number]
        while at < end and known[at] < wanted:
            at += 1
        places[number] = at if at < end and known[at] == wanted else -1


@compiled
def move(numbers, places, moved, kept):
    """Give pairs of rows, each a number, the rows at `places` (int64), -1 if they are gone.

    A number has the first row in its upper 32 bits. Fills `moved` (uint64) and `kept` (int64) with
    the new number of each pair of which both rows are there, the smaller first, and where the pair
    was; gives how many there are, and whether they rise.
    """
    count, last, do_rise = 0, np.uint64(0), True
    for number in range(len(numbers)):
        first, second = places[numbers[number] >> _HALF], places[numbers[number] & _LOW]
        if first < 0 or second < 0:
            continue
        new = np.uint64(min(first, second)) << _HALF | np.uint64(max(first, second))
        if new < last:
            do_rise = False
        moved[count], kept[count] = new, number
        last, count = new, count + 1
    return count, do_rise
