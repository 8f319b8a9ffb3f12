"""The passages of a result, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.relation import RELATIONS, Relation
from neardup_solr.records import AnyId
from neardup_solr.reports.rows import Columns
from neardup_solr.verbs.passages.cut import Cut, Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageColumns:
    """Passages in the order of their documents: arrays with a value, or a pair of them, of each.

    `owners` has both numbers in `ids`, `words` those of the text that has more, `relations` numbers
    of `RELATIONS`, and `shares` the parts of both documents that all their passages cover.
    """

    ids: Sequence[AnyId]
    owners: Numbers
    words: Numbers
    cut: Cut
    relations: NDArray[np.int8]
    similarities: NDArray[np.float64]
    shares: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.owners)

    def pairs(self) -> NDArray[np.intp]:
        """List the place of the first passage of each pair of documents."""
        return np.flatnonzero(np.diff(self.owners, axis=0, prepend=-1).any(axis=1))

    def count_relations(self) -> dict[Relation, int]:
        """Count the pairs of documents of each relation, that of their first passage."""
        counts = np.bincount(self.relations[self.pairs()], minlength=len(RELATIONS))
        return dict(zip(RELATIONS, counts.tolist(), strict=True))

    def list_longest(self, most: int) -> list[int]:
        """List the places of the passages of most words, the longest first."""
        longest: list[int] = np.argsort(-self.words, kind="stable")[:most].tolist()
        return longest

    def take(self, places: Sequence[int]) -> Columns:
        """Take the columns of some passages."""
        at, cut = np.asarray(places, dtype=np.intp), self.cut
        first, second = ([self.ids[each] for each in side] for side in self.owners[at].T.tolist())
        start, other_start = cut.starts[at].T.tolist()
        end, other_end = cut.ends[at].T.tolist()
        share, other_share = self.shares[at].round(4).T.tolist()
        columns: Columns = {
            "id": first,
            "other_id": second,
            "relation": [RELATIONS[each] for each in self.relations[at].tolist()],
            "similarity": self.similarities[at].round(4).tolist(),
            "words": self.words[at].tolist(),
            "start": start,
            "end": end,
            "other_start": other_start,
            "other_end": other_end,
            "share": share,
            "other_share": other_share,
        }
        if cut.texts:
            columns["text"] = [cut.texts[each][0] for each in places]
            columns["other_text"] = [cut.texts[each][1] for each in places]
        return columns
