"""What is known of documents and of their pairs, as arrays that lie in a file between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import joins, pieces, rising
from neardup_solr.measures.arrays import Pairs
from neardup_solr.minhash.sign import in_utf8

U64 = np.uint64
Hashes: TypeAlias = NDArray[np.uint64]
UNKNOWN = U64(0)  # the hash of a content that was not read


class Traces(NamedTuple):
    """By what documents are known again, by row, of shape (documents,) each.

    `ids` and `contents` are hashes (uint64; UNKNOWN if a content was not read), `versions` those of
    Solr (int64; 0 if there are none).
    """

    ids: Hashes
    versions: NDArray[np.int64]
    contents: Hashes

    @classmethod
    def of(
        cls,
        ids: Hashes,
        versions: NDArray[np.int64] | None = None,
        contents: Hashes | None = None,
    ) -> Traces:
        """Those of documents whose ids have these hashes."""
        count = len(ids)
        return cls(
            ids=ids,
            versions=np.zeros(count, dtype=np.int64) if versions is None else versions,
            contents=np.full(count, UNKNOWN) if contents is None else contents,
        )

    def only(self, wanted: NDArray[np.bool_]) -> Traces:
        """Those of the wanted documents."""
        return Traces(self.ids[wanted], self.versions[wanted], self.contents[wanted])


NOTHING: Hashes = np.empty(0, dtype=np.uint64)
NO_TRACES = Traces(NOTHING, NOTHING.astype(np.int64), NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What is known of pairs, each the number that `numbered` makes of its rows; they rise.

    `near` pairs have a distance and a similarity, `far` ones are beyond the limits. Those `beside`
    are among them too, but do not share a band key that is not hot.
    """

    near: Hashes = field(default_factory=lambda: NOTHING)
    distances: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    similarities: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    far: Hashes = field(default_factory=lambda: NOTHING)
    beside: Hashes = field(default_factory=lambda: NOTHING)

    @property
    def sharing(self) -> Pairs:
        """The pairs that share a band key that is not hot."""
        known = [_without(numbers, self.beside) for numbers in (self.near, self.far)]
        return rows_of(np.concatenate(known))

    def placed(self, places: NDArray[np.int64]) -> Results:
        """The same for rows that are now at `places`, -1 if they are gone."""
        near, order = _placed(self.near, places)
        return Results(
            near=near, distances=self.distances[order], similarities=self.similarities[order],
            far=_placed(self.far, places)[0], beside=_placed(self.beside, places)[0],
        )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Known:
    """Results that are known of this run's pairs, and those that are added by it.

    `chained` are candidates that share nothing but hot keys.
    """

    before: Results = field(default_factory=Results)
    reused: int = 0
    chained: Hashes = field(default_factory=lambda: NOTHING)
    _asked: list[Hashes] = field(default_factory=list)
    _near: list[Results] = field(default_factory=list)

    def split(self, pairs: Pairs) -> tuple[Results, Pairs]:
        """What is known of the near ones among these pairs, and those of which nothing is known."""
        numbers = np.sort(numbered(pairs), kind="stable")  # quick as long stretches of them rise
        places = _places(numbers, self.before.near)
        is_near = places >= 0
        is_known = is_near | (_places(numbers, self.before.far) >= 0)
        near, found = numbers[is_near], places[is_near]
        if not self._asked:
            self.reused = int(np.count_nonzero(is_known))
        self._asked.append(numbers)
        known = Results(
            near=near,
            distances=self.before.distances[found],
            similarities=self.before.similarities[found],
        )
        return known, rows_of(numbers[~is_known])

    def add(
        self, pairs: Pairs, distances: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> None:
        """Note all near ones of the pairs that were asked for last."""
        numbers = numbered(pairs)
        self._near.append(Results(near=numbers, distances=distances, similarities=similarities))

    def results(self) -> Results:
        """All that is known of the pairs of this run."""
        asked = _distinct(self._asked)
        first = self._asked[0] if self._asked else NOTHING
        later = _distinct(self._asked[1:])
        parts = self._near or [Results()]
        near, at = np.unique(np.concatenate([part.near for part in parts]), return_index=True)
        return Results(
            near=near,
            distances=np.concatenate([part.distances for part in parts])[at],
            similarities=np.concatenate([part.similarities for part in parts])[at],
            far=_without(asked, near),
            beside=_distinct([self.chained, _without(later, first)]),
        )


def concatenated(parts: Sequence[Traces]) -> Traces:
    """The traces of all parts."""
    return Traces(
        ids=np.concatenate([part.ids for part in parts]),
        versions=np.concatenate([part.versions for part in parts]),
        contents=np.concatenate([part.contents for part in parts]),
    )


def hashes(texts: Sequence[str]) -> Hashes:
    """The 64-bit hash of each text, never UNKNOWN."""
    data, bounds = in_utf8(texts)
    found = np.empty(len(texts), dtype=np.uint64)
    pieces.hash_texts(data, bounds, found)
    return np.maximum(found, U64(1))


def signature_hashes(signatures: NDArray[np.uint32]) -> Hashes:
    """The 64-bit hash of each signature."""
    found = np.empty(len(signatures), dtype=np.uint64)
    joins.hash_whole(signatures, signatures.shape[1], found)
    return found


def numbered(pairs: Pairs) -> Hashes:
    """Each pair of rows as one number: the first in the upper 32 bits."""
    return pairs[:, 0].astype(np.uint64) << U64(32) | pairs[:, 1]


def rows_of(numbers: Hashes) -> Pairs:
    """The rows of pairs that `numbered` made."""
    return np.stack([numbers >> U64(32), numbers & U64(0xFFFFFFFF)], axis=1).astype(np.uint32)


def _placed(numbers: Hashes, places: NDArray[np.int64]) -> tuple[Hashes, NDArray[np.int64]]:
    """Pairs whose rows are now at `places`, rising, and where each was before."""
    moved, kept = np.empty_like(numbers), np.empty(len(numbers), dtype=np.int64)
    count, do_rise = rising.move(numbers, places, moved, kept)
    moved, kept = moved[:count], kept[:count]
    if do_rise:
        return moved, kept
    order = np.argsort(moved, kind="stable")  # the rows of a source may come in another order
    return moved[order], kept[order]


def _places(numbers: Hashes, known: Hashes) -> NDArray[np.int64]:
    """Where each of the numbers is among the known ones, -1 if it is not; both rise."""
    found = np.empty(len(numbers), dtype=np.int64)
    rising.find(numbers, known, found)
    return found


def _without(numbers: Hashes, others: Hashes) -> Hashes:
    """The numbers that are not among the others; both rise."""
    return numbers[_places(numbers, others) < 0]


def _distinct(parts: Sequence[Hashes]) -> Hashes:
    """The numbers of all parts, each once; they rise."""
    numbers = np.concatenate([NOTHING, *parts])
    if (numbers[1:] > numbers[:-1]).all():
        return numbers
    numbers.sort()
    is_new = np.ones(len(numbers), dtype=np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_new[1:])
    return numbers[is_new]
