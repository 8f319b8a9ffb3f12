"""Near documents of a batch, in the collection, among those admitted before, and by answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import UNSURE, Answer, Answered, TextKey, TextVerdicts, key_text
from neardup_solr.measures import Comparer, Equality
from neardup_solr.memory import Strings
from neardup_solr.records import Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder, Hits
from neardup_solr.solr.names import TEXT
from neardup_solr.text.symbols import have_same_symbols
from neardup_solr.verbs.answer import read_within, remove_limits
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
_NUMBER_BITS = 40  # of a document that was admitted
_NUMBERS = (1 << _NUMBER_BITS) - 1


def term_keys(keys: Keys) -> Keys:
    """Turn band hashes (documents × bands) into the numbers that terms in content_bands spell.

    The band stands in the upper 16 bits, 48 bits of its hash in the others; see `make_band_keys`.
    """
    bands = np.arange(keys.shape[1], dtype=np.uint64)
    numbers: Keys = keys >> _SPARE_BITS | bands << _BAND_BITS
    return numbers


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
        pairs, shared = np.unique(np.concatenate(parts), return_counts=True)
        return pairs >> _NUMBER_BITS, pairs & _NUMBERS, shared


def _sharing_keys(
    run: tuple[Keys, NDArray[np.int64]], flat: Keys, rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """List pairs of a row, in the upper bits, and a number, again for each key that they share."""
    keys, owners = run
    first = np.searchsorted(keys, flat, side="left")
    counts = np.searchsorted(keys, flat, side="right") - first
    begins = np.repeat(first - (np.cumsum(counts) - counts), counts)
    places = begins + np.arange(counts.sum())
    pairs: NDArray[np.int64] = np.repeat(rows, counts) << _NUMBER_BITS | owners[places]
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Near-duplicates of each document of a batch, and if they were too many to compare all.

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

    forms: Strings
    texts: Strings
    ids: list[str] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    hashes: dict[int, str] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    bands: BandIndex = field(default_factory=BandIndex)

    def add(
        self, batch: SignedBatch, rows: Sequence[int], hashes: Mapping[int, str],
        equality: Equality,
    ) -> None:  # fmt: skip
        """Admit these rows of a batch."""
        numbers = np.arange(len(self.ids), len(self.ids) + len(rows))
        has_words = batch.words[rows] > 0
        if has_words.any():
            keys = term_keys(batch.keys[rows])
            self.bands.add(keys[has_words], numbers[has_words])
        added = [batch.documents[row].id for row in rows]
        self.ids += added
        self.latest.update(zip(added, numbers.tolist(), strict=True))
        self.forms.extend([batch.forms[row] for row in rows])
        if equality:
            self.keys += [hash(equality.key(batch.documents[row].text)) for row in rows]
        self.texts.extend([batch.documents[row].text for row in rows])
        numbered = zip(numbers.tolist(), rows, strict=True)
        self.hashes.update((number, hashes[row]) for number, row in numbered if row in hashes)


def match_hits(
    comparer: Comparer, batch: SignedBatch, hits: Sequence[Hits], admitted: Admitted
) -> Matched:
    """Compare documents with the hits of each, and with each other."""
    counted = [
        [hit for hit in each.best if counts_for(document.id, hit)]
        for document, each in zip(batch.documents, hits, strict=True)
    ]
    forms = list(batch.forms)
    rows = np.flatnonzero(batch.words > 0)
    candidates = [
        *collect_candidates(batch, counted, forms, comparer),
        *_among_admitted(batch, rows, forms, admitted),
        *_in_batch(batch, rows),
    ]
    near: list[list[NearMatch]] = [[] for _ in batch.words]
    for row, match in compare_candidates(forms, candidates, comparer):
        near[row].append(match)
    return Matched(near=near, is_cut=[each.is_cut for each in hits])


def keep_equal(
    equality: Equality, collection: Collection, batch: SignedBatch, matched: Matched,
    admitted: Admitted,
) -> Matched:  # fmt: skip
    """Keep the near-duplicates whose texts have in common what has to be equal."""
    candidates = [match.candidate for near in matched.near for match in near]
    ids = {each.id for each in candidates if each.row is None and each.number is None}
    stored = {id: hash(equality.key(text)) for id, text in collection.texts(sorted(ids)).items()}
    keys = [hash(equality.key(document.text)) for document in batch.documents]

    def key_of(candidate: Candidate) -> int | None:
        if candidate.row is not None:
            return keys[candidate.row]
        number = candidate.number
        return stored.get(candidate.id) if number is None else admitted.keys[number]

    near = [
        [match for match in matches if key_of(match.candidate) == key]
        for key, matches in zip(keys, matched.near, strict=True)
    ]
    return replace(matched, near=near)


def compare_symbols(
    collection: Collection, batch: SignedBatch, matched: Matched, admitted: Admitted
) -> Matched:
    """Compare the symbols of documents with those of texts of the same normal form."""
    equal = [match.candidate for near in matched.near for match in near if match.is_equal]
    if not equal:
        return matched
    ids = {each.id for each in equal if each.row is None and each.number is None and not each.text}
    texts = collection.texts(sorted(ids)) if ids else {}

    def is_exact(row: int, match: NearMatch) -> bool:
        if not match.is_equal:
            return True
        text, other = batch.documents[row].text, match.candidate
        if other.number is not None:
            other_text: str | None = admitted.texts[other.number]
        elif other.row is not None:
            other_text = batch.documents[other.row].text
        else:
            other_text = other.text or texts.get(other.id)
        return not other_text or have_same_symbols(text, other_text)  # or it is not stored

    near = [
        [replace(match, is_exact=is_exact(row, match)) for match in matches]
        for row, matches in enumerate(matched.near)
    ]
    return replace(matched, near=near)


def counts_for(id: str, hit: Hit) -> bool:
    """Return True if a document of the collection counts for a new document with this id.

    It does not if it was tagged as a near-duplicate of this id: then it came later, and the new
    document comes again.
    """
    tags = hit.fields.get(TAG_FIELD, ())
    return hit.id != id and id not in ([tags] if isinstance(tags, str) else tags)


def _among_admitted(
    batch: SignedBatch, rows: NDArray[np.int64], forms: list[str], admitted: Admitted
) -> Iterator[tuple[int, Candidate]]:
    """Yield documents admitted in earlier batches that share a band with these rows."""
    places: dict[int, int] = {}
    for at, number, shared in _rows_of(admitted.bands.sharing(term_keys(batch.keys[rows]))):
        if number not in places:
            places[number] = len(forms)
            forms.append(admitted.forms[number])
        id, place = admitted.ids[number], places[number]
        yield int(rows[at]), Candidate(id=id, place=place, shared=shared, number=number)


def _in_batch(batch: SignedBatch, rows: NDArray[np.int64]) -> Iterator[tuple[int, Candidate]]:
    """Yield earlier documents of the same batch that share a band with these rows."""
    keys, index = term_keys(batch.keys[rows]), BandIndex()
    index.add(keys, rows)
    for later, row, shared in _rows_of(index.sharing(keys)):
        if row < rows[later]:
            id = batch.documents[row].id
            yield int(rows[later]), Candidate(id=id, place=row, shared=shared, row=row)


def _rows_of(columns: Shared) -> Iterable[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in columns), strict=True)


@dataclass(slots=True, kw_only=True)
class GateAnswers:
    """The answers that a gate obeys, and those about documents that have come so far."""

    verdicts: TextVerdicts
    obeyed: dict[Answer, None] = field(default_factory=dict)
    changed: dict[Answer, None] = field(default_factory=dict)

    def count(self) -> Answered:
        """Count the answers about documents that have come so far."""
        aside = {*self.verdicts.set_aside}
        return Answered(
            obeyed=tuple(answer for answer in self.obeyed if answer not in aside),
            changed=tuple(self.changed),
            set_aside=self.verdicts.set_aside,
        )

    def obey(
        self, finder: Finder, batch: SignedBatch, matched: Matched, admitted: Admitted
    ) -> Matched:
        """Leave out what is different from a document of a batch, and add what is the same."""
        verdicts, comparer = self.verdicts, finder.comparer
        keys = {
            row: key_text(document.id, document.text)
            for row, document in enumerate(batch.documents)
            if document.id in verdicts.about and batch.words[row]
        }
        if not keys:
            return matched
        near = {match.candidate.id for row in keys for match in matched.near[row]}
        ids = {id for key in keys.values() for id in verdicts.list_related(key)}
        ids |= near & verdicts.about.keys()
        fields = [*dict.fromkeys((TEXT, *comparer.measure.stored_fields, TAG_FIELD))]
        stored = read_within(finder.collection, ids, fields, finder.filters)
        stored_keys = {id: key_text(id, str(row.get(TEXT, ""))) for id, row in stored.items()}

        def key_of(candidate: Candidate) -> TextKey:
            if candidate.row is not None:
                return keys.get(candidate.row, (candidate.id, ""))
            if candidate.number is not None:
                return candidate.id, admitted.hashes.get(candidate.number, "")
            return stored_keys.get(candidate.id, (candidate.id, ""))

        forms = list(batch.forms)
        candidates = [
            (row, candidate)
            for row, candidate in self._list_same(keys, stored, forms, comparer, admitted)
            if verdicts.are_same(keys[row], key_of(candidate))
        ]
        same: dict[int, list[NearMatch]] = defaultdict(list)
        for row, match in compare_candidates(forms, candidates, remove_limits(comparer)):
            same[row].append(match)
        self._count(keys, stored_keys, admitted)
        allowed = list(matched.near)
        for row, key in keys.items():
            keyed = ((match, (key, key_of(match.candidate))) for match in allowed[row])
            allowed[row] = [match for match, _ in verdicts.obey(keyed, itemgetter(1))]
        hashes = {row: hash for row, (_, hash) in keys.items()}
        return replace(matched, near=allowed, same=same, hashes=hashes)

    def _list_same(
        self, keys: Mapping[int, TextKey], stored: Mapping[str, Mapping[str, Any]],
        forms: list[str], comparer: Comparer, admitted: Admitted,
    ) -> Iterator[tuple[int, Candidate]]:  # fmt: skip
        """Yield documents that are the same by id, with the row of each, and add their forms."""
        of_stored = dict(zip(stored, comparer.make_forms([*stored.values()]), strict=True))
        for row, key in keys.items():
            for id in sorted(self.verdicts.list_same(key)):
                hit = Hit(id=id, shared=0, fields=stored.get(id, {}))
                if of_stored.get(id) and counts_for(key[0], hit):
                    yield row, Candidate(id=id, place=len(forms), shared=0)
                    forms.append(of_stored[id])
                if (number := admitted.latest.get(id)) is not None:
                    yield row, Candidate(id=id, place=len(forms), shared=0, number=number)
                    forms.append(admitted.forms[number])
                for earlier in keys:
                    if earlier < row and keys[earlier][0] == id:
                        yield row, Candidate(id=id, place=earlier, shared=0, row=earlier)

    def _count(
        self, keys: Mapping[int, TextKey], stored: Mapping[str, TextKey], admitted: Admitted
    ) -> None:
        """Note the answers about documents that have come and others that they are about."""
        hashes = dict(stored.values())
        for id, hash in keys.values():
            hashes[id] = hash
            for answer in self.verdicts.about[id]:
                others = answer.hashes.keys() - {id}
                for other in others & admitted.latest.keys():
                    hashes[other] = admitted.hashes.get(admitted.latest[other], "")
                if others <= hashes.keys() and not answer.fits(hashes):
                    self.changed[answer] = None
                elif others <= hashes.keys() and answer.answer != UNSURE:
                    self.obeyed[answer] = None
