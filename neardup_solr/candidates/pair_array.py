"""Pairs in an array that grows in place, up to a limit by the memory."""

from __future__ import annotations

import numpy as np

from neardup_solr.candidates import Joining, too_many
from neardup_solr.measures.pairs import Pairs
from neardup_solr.progress import run_aside
from neardup_solr.sizes import SIZES


class PairArray:
    """Pairs, each as a number, in an array that grows in place."""

    def __init__(self, joining: Joining, key: str = "band") -> None:
        self._joining, self._key = joining, key  # `key` names what the pairs share
        self._room = np.empty(0, dtype=np.uint64)
        self._filled = 0

    @property
    def pairs(self) -> Pairs:
        """All pairs."""
        return self._room[: self._filled].view(np.uint32).reshape(-1, 2)

    def add(self, pairs: Pairs) -> None:
        """Add pairs. Raises SettingsError if they become too many."""
        if self._filled + len(pairs) > self._joining.most:
            self.keep_distinct()
        first, last = self._filled, self._filled + len(pairs)
        if last > self._joining.most:
            raise too_many(self._joining, self._key)
        if last > len(self._room):  # in place, if the system can
            self._room.resize(max(last, 3 * len(self._room) // 2), refcheck=False)
        self._room[first:last] = pairs.view(np.uint64)[:, 0]
        self._filled = last

    def keep_distinct(self) -> None:
        """Sort the pairs, and keep each once."""
        numbers = self._room[: self._filled]
        run_aside(numbers.sort, steps=len(numbers))
        kept, before = 0, None
        for at in range(0, len(numbers), SIZES.candidate_block):
            part = numbers[at : at + SIZES.candidate_block]
            is_new = np.ones(len(part), dtype=np.bool_)
            np.not_equal(part[1:], part[:-1], out=is_new[1:])
            is_new[0] = part[0] != before
            before, new = part[-1], part[is_new]
            numbers[kept : kept + len(new)] = new
            kept += len(new)
        del numbers
        self._filled = kept
        self._room.resize(kept, refcheck=False)  # what is left over goes back to the system
