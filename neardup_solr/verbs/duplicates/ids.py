"""The ids of the documents of a source, which tell records of the same id apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from neardup_solr.memory import Column, Strings
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.records import AnyId


class Ids(Column[AnyId]):
    """Ids by row, with the number of its record for one that others have, if all are kept.

    `are_numbers` has 1 for each row whose id is given back as a whole number, or is empty.
    """

    def __init__(self, plain: Strings) -> None:
        self.plain = plain  # without numbers of records
        self.are_numbers = bytearray()
        self._are_shared: NDArray[np.bool_] | None = None
        self._numbers = np.empty(0, dtype=np.intp)
        self._taken: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.plain)

    def take(self, rows: Sequence[int]) -> list[AnyId]:
        """Take the ids of rows."""
        plain = self.plain.take(rows)
        ids: list[AnyId] = [*plain]
        if self.are_numbers:
            pairs = zip(rows, plain, strict=True)
            ids = [int(id) if self.are_numbers[row] else id for row, id in pairs]
        if self._are_shared is not None:
            for at in np.flatnonzero(self._are_shared[rows]).tolist():
                row = rows[at]
                ids[at] = self._taken.get(row) or f"{plain[at]}@row{self._numbers[row]}"
        return ids

    @property
    def are_whole(self) -> bool:
        """True if all ids are given back as whole numbers."""
        return self._are_shared is None and 0 not in self.are_numbers and bool(self.are_numbers)

    def tell_apart(
        self, are_shared: NDArray[np.bool_], numbers: NDArray[np.intp], hashes: NDArray[np.uint64]
    ) -> None:
        """Give rows whose ids are shared the `numbers` of their records. `hashes` are of all ids.

        The number comes twice if an id of the source looks like that already.
        """
        self._are_shared, self._numbers = are_shared, numbers
        rows = np.flatnonzero(are_shared)
        while len(rows):
            names = self.take(rows.tolist())
            taken = np.isin(hash_texts(list(map(str, names))), hashes)
            rows = rows[taken]
            for row, name in zip(rows.tolist(), compress(names, taken.tolist()), strict=True):
                self._taken[row] = f"{name}@row{numbers[row]}"
