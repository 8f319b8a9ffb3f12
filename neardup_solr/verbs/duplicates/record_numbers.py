"""Numbers of the records of a source that near-duplicates, or others of their id, stand for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import DocumentKey
from neardup_solr.records import AnyId, Removed
from neardup_solr.sources.reading import Reading
from neardup_solr.verbs.duplicates.from_source import SourceSide
from neardup_solr.verbs.duplicates.graph import RowNumbers


class RecordGroup(NamedTuple):
    """Records of which one is kept for all, the kept one first: their numbers, and their ids."""

    numbers: Sequence[int]
    ids: Sequence[AnyId]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordNumbers:
    """The numbers of records, from 1 on, that have a near-duplicate, or another one of their id.

    `numbers` are those of the `nodes` of the first side; `dead` has the ids, by number, of records
    that another one of their id stands for, and `living` has by id the number of that one.
    """

    numbers: NDArray[np.intp]
    nodes: Sequence[DocumentKey]
    dead: Mapping[int, AnyId]
    living: Mapping[AnyId, int]

    @classmethod
    def of(
        cls, side: SourceSide, nodes: Sequence[DocumentKey], rows: RowNumbers
    ) -> RecordNumbers:  # fmt: skip
        """Note the numbers of the records of a side, which have the `rows` of `nodes`."""
        numbers = side.numbers()
        dead = dict(zip(numbers[side.dead].tolist(), side.ids.take(side.dead), strict=True))
        living: dict[AnyId, int] = {}
        if dead:
            doubled = {*dead.values()}
            ids = zip(numbers.tolist(), side.ids.take(range(len(numbers))), strict=True)
            living |= {id: number for number, id in ids if id in doubled and number not in dead}
        of_nodes = numbers[rows[rows < len(numbers)]]
        return cls(numbers=of_nodes, nodes=nodes, dead=dead, living=living)

    @classmethod
    def none(cls) -> RecordNumbers:
        """Make the numbers of no record: none stands for others."""
        return cls(numbers=np.empty(0, dtype=np.intp), nodes=(), dead={}, living={})

    def list_removed(self, removed: Mapping[AnyId, Removed]) -> dict[int, Removed]:
        """List what stands for each record that is removed, or repeated, by its number."""
        instead = {number: removed[id] for id, number in self._by_id().items() if id in removed}
        for number, id in self.dead.items():
            # Another record of its id counts, which may itself be removed for a third one.
            other = removed.get(id)
            kept = other.duplicate_of if other else id
            instead[number] = Removed(id=id, duplicate_of=kept, similarity=None)
        return instead

    def list_groups(self, removed: Mapping[AnyId, Removed]) -> list[RecordGroup]:
        """List the records that are kept for others, with these, in the order of the source."""
        by_id = {**self.living, **self._by_id()}
        groups: dict[AnyId, list[tuple[int, AnyId]]] = defaultdict(list)
        for number, each in sorted(self.list_removed(removed).items()):
            groups[each.duplicate_of].append((number, each.id))
        listed = [[(by_id[kept], kept), *others] for kept, others in groups.items()]
        return [RecordGroup(*zip(*members, strict=True)) for members in sorted(listed)]

    def _by_id(self) -> dict[AnyId, int]:
        ids = (id for side, id in self.nodes if side == 0)
        return dict(zip(ids, self.numbers.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class HeldRecords:
    """The records of a source in memory, which is not copied, and their number.

    The `source` is None if it can be read only once.
    """

    source: Any
    reading: Reading
    numbers: RecordNumbers
    count: int
