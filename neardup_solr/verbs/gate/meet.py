"""Near documents of a batch: in the collection, among those admitted before, in the batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Comparer
from neardup_solr.records import Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.spill import Spill, Strings
from neardup_solr.verbs.batch import (
    Candidate,
    Finder,
    NearMatch,
    SignedBatch,
    hits_of_batch,
    meetings,
    near_ones,
)
from neardup_solr.verbs.gate import band_index
from neardup_solr.verbs.gate.band_index import BandIndex
from neardup_solr.verbs.gate.policy import TAG_FIELD


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Near-duplicates of each document of a batch, and if there were too many to compare all.

    Documents of the same batch are included, whether they are admitted or not.
    """

    near: list[list[NearMatch]]
    is_cut: list[bool]


@dataclass(slots=True, kw_only=True)
class Admitted:
    """The documents that were admitted, by number. `latest` is the last number of each id."""

    known: Strings
    ids: list[str] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    bands: BandIndex = field(default_factory=BandIndex)

    @classmethod
    def none(cls, spill: Spill) -> Admitted:
        """No documents yet. What they are compared by is kept in `spill`."""
        return cls(known=spill.strings())

    def add(self, batch: SignedBatch, rows: Sequence[int]) -> None:
        """Admit these rows of a batch."""
        numbers = np.arange(len(self.ids), len(self.ids) + len(rows))
        has_words = batch.words[rows] > 0
        if has_words.any():
            keys = band_index.term_keys(batch.keys[rows])
            self.bands.add(keys[has_words], numbers[has_words])
        added = [batch.documents[row].id for row in rows]
        self.ids += added
        self.latest.update(zip(added, numbers.tolist(), strict=True))
        self.known.extend([batch.known[row] for row in rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """Finds near documents, in a collection and among new ones."""

    collection: Collection
    finder: Finder

    @property
    def comparer(self) -> Comparer:
        """The comparer of documents."""
        return self.finder.comparer

    def sure(self) -> Matcher:
        """The same, once the settings are known to be those of all documents."""
        return replace(self, finder=replace(self.finder, is_sure=True))

    def matched(self, batch: SignedBatch, admitted: Admitted) -> Matched:
        """The documents that each document of a batch is near to.

        Raises OtherSettings if it is not sure of its settings and they are not those of all.
        """
        found = hits_of_batch(self.collection, batch, self.finder)
        there = [
            [one for one in each.found if _counts(document.id, one)]
            for document, each in zip(batch.documents, found, strict=True)
        ]
        known = list(batch.known)
        rows = np.flatnonzero(batch.words > 0)
        met = [
            *meetings(batch, there, known, self.comparer),
            *_among_admitted(batch, rows, known, admitted),
            *_in_batch(batch, rows),
        ]
        near: list[list[NearMatch]] = [[] for _ in batch.words]
        for row, one in near_ones(known, met, self.comparer):
            near[row].append(one)
        return Matched(near=near, is_cut=[each.is_cut for each in found])


def _counts(id: str, one: Hit) -> bool:
    """Return True if a document of the collection counts for one with this id.

    One that was tagged as a near-duplicate of this id does not: it came later, and this document
    comes again.
    """
    tags = one.fields.get(TAG_FIELD, ())
    return one.id != id and id not in ([tags] if isinstance(tags, str) else tags)


def _among_admitted(
    batch: SignedBatch, rows: NDArray[np.int64], known: list[str], admitted: Admitted
) -> Iterator[tuple[int, Candidate]]:
    """Documents admitted in earlier batches that share a band with these rows."""
    shared = admitted.bands.sharing(band_index.term_keys(batch.keys[rows]))
    places: dict[int, int] = {}
    for at, number, bands in _listed(shared):
        if number not in places:
            places[number] = len(known)
            known.append(admitted.known[number])
        id = admitted.ids[number]
        yield int(rows[at]), Candidate(id=id, place=places[number], shared=bands, number=number)


def _in_batch(batch: SignedBatch, rows: NDArray[np.int64]) -> Iterator[tuple[int, Candidate]]:
    """Earlier documents of the same batch that share a band with these rows."""
    for first, later, bands in _listed(band_index.within(band_index.term_keys(batch.keys[rows]))):
        row = int(rows[first])
        id = batch.documents[row].id
        yield int(rows[later]), Candidate(id=id, place=row, shared=bands, row=row)


def _listed(columns: band_index.Shared) -> Iterable[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in columns), strict=True)
