"""Passages that texts share, column by column, and what the texts are to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.relation import (
    QUOTED_IN,
    QUOTES,
    RELATIONS,
    SHARES,
    cover_pairs,
    mark_pairs,
    relate,
)  # fmt: skip
from neardup_solr.records import AnyId, Passage, Relation

Numbers = NDArray[np.int64]


class Cut(NamedTuple):
    """Passages in both of their texts: arrays of shape (passages, 2).

    `starts` and `ends` are characters, the end behind the last; `quoted` is True in quotation
    marks. `texts` are the passages themselves if they were asked for.
    """

    starts: Numbers
    ends: Numbers
    quoted: NDArray[np.bool_]
    texts: list[tuple[str, str]]

    @classmethod
    def of_sides(
        cls, starts: Numbers, ends: Numbers, quoted: NDArray[np.bool_], texts: Sequence[str]
    ) -> Cut:
        """Make it of the first sides of all passages, then the second, with or without texts."""
        sides = 2, len(starts) // 2
        pairs = list(zip(texts[: sides[1]], texts[sides[1] :], strict=True))
        return cls(starts.reshape(sides).T, ends.reshape(sides).T, quoted.reshape(sides).T, pairs)


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

    @classmethod
    def of(
        cls, ids: Sequence[AnyId], owners: Numbers, rows: Numbers, sizes: Numbers, cut: Cut
    ) -> PassageColumns:
        """Make columns of the kernel's rows, and relate the texts, which have `sizes` letters."""
        relations, shares = _relate(rows, sizes, cut)
        spans = (rows[:, [3, 5]] - rows[:, [2, 4]]).max(axis=1, initial=1)
        return cls(
            ids=ids,
            owners=owners,
            words=rows[:, 7],
            cut=cut,
            relations=relations,
            similarities=1.0 - rows[:, 6] / spans,
            shares=shares,
        )

    def __len__(self) -> int:
        return len(self.owners)

    def pairs(self) -> NDArray[np.intp]:
        """List the place of the first passage of each pair of documents."""
        return np.flatnonzero(mark_pairs(self.owners))

    def count_relations(self) -> dict[Relation, int]:
        """Count the pairs of documents of each relation, that of their first passage."""
        counts = np.bincount(self.relations[self.pairs()], minlength=len(RELATIONS))
        return dict(zip(RELATIONS, counts.tolist(), strict=True))

    def list_longest(self, most: int) -> list[int]:
        """List the places of the passages of most words, the longest first."""
        longest: list[int] = np.argsort(-self.words, kind="stable")[:most].tolist()
        return longest

    def take(self, places: Sequence[int]) -> dict[str, list[Any]]:
        """Take the columns of some passages."""
        at, cut = np.asarray(places, dtype=np.intp), self.cut
        first, second = ([self.ids[each] for each in side] for side in self.owners[at].T.tolist())
        start, other_start = cut.starts[at].T.tolist()
        end, other_end = cut.ends[at].T.tolist()
        share, other_share = self.shares[at].round(4).T.tolist()
        columns: dict[str, list[Any]] = {
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

    def list(self, places: Sequence[int]) -> list[Passage]:
        """List some passages."""
        columns = self.take(places)
        rows = zip(*columns.values(), strict=True)
        return [Passage(**dict(zip(columns, row, strict=True))) for row in rows]


def _relate(
    rows: Numbers, sizes: Numbers, cut: Cut
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Relate the documents of each passage, and compute the shares that all passages cover."""
    covered = cover_pairs(rows)
    pairs, shares = covered.numbers, covered.shares(sizes)
    edits = np.bincount(pairs, rows[:, 6], len(shares)) / covered.letters.max(axis=1, initial=1)
    relations = relate(shares[:, 0], shares[:, 1], edits)
    is_quoted, is_other = cut.quoted.T
    mentions = relations[pairs]
    mentions[(mentions == SHARES) & is_quoted & ~is_other] = QUOTES
    mentions[(mentions == SHARES) & is_other & ~is_quoted] = QUOTED_IN
    return mentions, shares[pairs]
