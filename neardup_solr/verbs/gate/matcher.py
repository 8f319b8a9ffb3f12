"""Near documents of a batch: in the collection, among those admitted before, in the batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Comparer
from neardup_solr.measures.equality import Equality
from neardup_solr.memory import Strings
from neardup_solr.records import Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Hits
from neardup_solr.verbs.batch import (
    Candidate,
    NearMatch,
    SignedBatch,
    collect_candidates,
    compare_candidates,
)
from neardup_solr.verbs.gate.policy import TAG_FIELD

Keys = NDArray[np.uint64]
Shared = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_BAND_BITS, _SPARE_BITS = np.uint64(48), np.uint64(16)


def term_keys(keys: Keys) -> Keys:
    """Turn band hashes (documents × bands) into the numbers that terms in content_bands spell.

    The band stands in the upper 16 bits, 48 bits of its hash in the others; see `make_band_keys`.
    """
    bands = np.arange(keys.shape[1], dtype=np.uint64)
    numbers: Keys = keys >> _SPARE_BITS | bands << _BAND_BITS
    return numbers


def within(keys: Keys) -> Shared:
    """List the pairs of rows that share a band: the earlier, the later, how many bands."""
    if len(keys) < 2:
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing, nothing
    equal = np.zeros((len(keys), len(keys)), dtype=np.int64)
    for band in keys.T:
        equal += band[:, None] == band
    earlier, later = np.nonzero(np.triu(equal, 1))
    return earlier, later, equal[earlier, later]


class BandIndex:
    """Index of documents by band key. They are numbered in the order in which they came.

    Sorted runs whose sizes at least double from the newest to the oldest: what is added is merged
    with the newest ones, so that n keys are in about log2(n) runs and are moved that often
    (O'Neil et al., "The Log-Structured Merge-Tree", 1996). 16 bytes a key.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Keys, NDArray[np.int64]]] = []

    def add(self, keys: Keys, numbers: NDArray[np.int64]) -> None:
        """Add documents: `keys` (documents × bands) by `term_keys`, `numbers` (documents)."""
        flat, owners = keys.ravel(), np.repeat(numbers, keys.shape[1])
        while self._runs and len(self._runs[-1][0]) < 2 * len(flat):
            older, their = self._runs.pop()
            flat, owners = np.concatenate([older, flat]), np.concatenate([their, owners])
        order = np.argsort(flat, kind="stable")
        self._runs.append((flat[order], owners[order]))

    def sharing(self, keys: Keys) -> Shared:
        """Find documents that share a band with rows of `keys`: rows, numbers, how many bands."""
        flat, rows = keys.ravel(), np.repeat(np.arange(len(keys)), keys.shape[1])
        parts = [_sharing_keys(run, flat, rows) for run in self._runs]
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing, nothing
        met = np.concatenate(parts)
        found, shared = np.unique(met, axis=0, return_counts=True)
        return found[:, 0], found[:, 1], shared


def _sharing_keys(
    run: tuple[Keys, NDArray[np.int64]], flat: Keys, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """List pairs of a row and a number, one for each key that they share."""
    known, owners = run
    first = np.searchsorted(known, flat, side="left")
    counts = np.searchsorted(known, flat, side="right") - first
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places = begins + np.arange(counts.sum())
    return np.stack([np.repeat(rows, counts), owners[places]], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Near-duplicates of each document of a batch, and if there were too many to compare all.

    Documents of the same batch are included, whether they are admitted or not. `same` are those
    that are the same by answers, and may be near, too; `hashes` are those of the texts that answers
    are about. Both are by row.
    """

    near: list[list[NearMatch]]
    is_cut: list[bool]
    same: Mapping[int, list[NearMatch]] = field(default_factory=dict)
    hashes: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Admitted:
    """The documents that were admitted, by number. `latest` is the last number of each id.

    `hashes` has those of the texts of documents that answers are about, `keys` what of each text
    has to be equal, if anything has.
    """

    known: Strings
    ids: list[str] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    hashes: dict[int, str] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    bands: BandIndex = field(default_factory=BandIndex)

    def add(
        self,
        batch: SignedBatch,
        rows: Sequence[int],
        hashes: Mapping[int, str],
        equality: Equality,
    ) -> None:
        """Admit these rows of a batch."""
        numbers = np.arange(len(self.ids), len(self.ids) + len(rows))
        has_words = batch.words[rows] > 0
        if has_words.any():
            keys = term_keys(batch.keys[rows])
            self.bands.add(keys[has_words], numbers[has_words])
        added = [batch.documents[row].id for row in rows]
        self.ids += added
        self.latest.update(zip(added, numbers.tolist(), strict=True))
        self.known.extend([batch.forms[row] for row in rows])
        at = zip(numbers.tolist(), rows, strict=True)
        if equality:
            self.keys += [hash(equality.key(batch.documents[row].text)) for row in rows]
        self.hashes.update((number, hashes[row]) for number, row in at if row in hashes)


def match_hits(
    comparer: Comparer, batch: SignedBatch, found: Sequence[Hits], admitted: Admitted
) -> Matched:
    """Compare documents with what a finder has found for each, and with each other."""
    there = [
        [one for one in each.best if counts_for(document.id, one)]
        for document, each in zip(batch.documents, found, strict=True)
    ]
    known = list(batch.forms)
    rows = np.flatnonzero(batch.words > 0)
    met = [
        *collect_candidates(batch, there, known, comparer),
        *_among_admitted(batch, rows, known, admitted),
        *_in_batch(batch, rows),
    ]
    near: list[list[NearMatch]] = [[] for _ in batch.words]
    for row, one in compare_candidates(known, met, comparer):
        near[row].append(one)
    return Matched(near=near, is_cut=[each.is_cut for each in found])


def keep_equal(
    equality: Equality,
    collection: Collection,
    batch: SignedBatch,
    matched: Matched,
    admitted: Admitted,
) -> Matched:
    """Keep the near-duplicates whose texts have in common what has to be equal."""
    ids = {
        match.met.id
        for near in matched.near
        for match in near
        if match.met.row is None and match.met.number is None
    }
    stored = {id: hash(equality.key(text)) for id, text in collection.texts(sorted(ids)).items()}
    own = [hash(equality.key(document.text)) for document in batch.documents]

    def key_of(match: NearMatch) -> int | None:
        row, number = match.met.row, match.met.number
        if row is not None:
            return own[row]
        return stored.get(match.met.id) if number is None else admitted.keys[number]

    near = [
        [match for match in matches if key_of(match) == key]
        for key, matches in zip(own, matched.near, strict=True)
    ]
    return replace(matched, near=near)


def counts_for(id: str, one: Hit) -> bool:
    """Return True if a document of the collection counts for one with this id.

    One that was tagged as a near-duplicate of this id does not: it came later, and this document
    comes again.
    """
    tags = one.fields.get(TAG_FIELD, ())
    return one.id != id and id not in ([tags] if isinstance(tags, str) else tags)


def _among_admitted(
    batch: SignedBatch, rows: NDArray[np.int64], known: list[str], admitted: Admitted
) -> Iterator[tuple[int, Candidate]]:
    """Yield documents admitted in earlier batches that share a band with these rows."""
    shared = admitted.bands.sharing(term_keys(batch.keys[rows]))
    places: dict[int, int] = {}
    for at, number, bands in _rows_of(shared):
        if number not in places:
            places[number] = len(known)
            known.append(admitted.known[number])
        id = admitted.ids[number]
        yield int(rows[at]), Candidate(id=id, place=places[number], shared=bands, number=number)


def _in_batch(batch: SignedBatch, rows: NDArray[np.int64]) -> Iterator[tuple[int, Candidate]]:
    """Yield earlier documents of the same batch that share a band with these rows."""
    for first, later, bands in _rows_of(within(term_keys(batch.keys[rows]))):
        row = int(rows[first])
        id = batch.documents[row].id
        yield int(rows[later]), Candidate(id=id, place=row, shared=bands, row=row)


def _rows_of(columns: Shared) -> Iterable[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in columns), strict=True)
