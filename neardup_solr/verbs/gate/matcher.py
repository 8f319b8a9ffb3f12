"""Near documents of a batch: in the collection, in the batch, and among those admitted before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Comparer
from neardup_solr.measures.equality import Equality
from neardup_solr.memory import Strings
from neardup_solr.records import Hit
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Hits
from neardup_solr.text.symbols import have_same_symbols
from neardup_solr.verbs.batch import (
    Candidate,
    NearMatch,
    SignedBatch,
    collect_candidates,
    compare_candidates,
)
from neardup_solr.verbs.gate.band_index import BandIndex, Shared, term_keys
from neardup_solr.verbs.gate.policy import TAG_FIELD, Policy
from neardup_solr.verbs.gate.reuse import Reuse
from neardup_solr.verbs.gate.seed_index import SeedIndex

M = TypeVar("M", NearMatch, Reuse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Near-duplicates of each document of a batch, and if they were too many to compare all.

    Documents of the same batch are included, whether they are admitted or not. `reused` are those
    that share passages with each, if passages are looked for. `same` are those that are the same by
    answers, and may be near, too; `hashes` are those of the texts that answers are about. Both are
    by row.
    """

    near: list[list[NearMatch]]
    is_cut: list[bool]
    reused: list[list[Reuse]]
    same: Mapping[int, list[NearMatch]] = field(default_factory=dict)
    hashes: Mapping[int, str] = field(default_factory=dict)

    def list_candidates(self, rows: Sequence[int]) -> list[Candidate]:
        """List the documents that some rows are near to, or share passages with."""
        near = [each.candidate for row in rows for each in self.near[row]]
        return [*near, *(each.candidate for row in rows for each in self.reused[row])]


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
    seeds: SeedIndex = field(default_factory=SeedIndex)

    def add(
        self, batch: SignedBatch, rows: Sequence[int], hashes: Mapping[int, str],
        policy: Policy,
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
        texts = [batch.documents[row].text for row in rows]
        if policy.equality:
            self.keys += [hash(policy.equality.key(text)) for text in texts]
        if policy.min_words and rows:
            self.seeds.add(texts, numbers)
        self.texts.extend(texts)
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
    return Matched(near=near, is_cut=[each.is_cut for each in hits], reused=[[] for _ in near])


def keep_equal(
    equality: Equality, collection: Collection, batch: SignedBatch, matched: Matched,
    admitted: Admitted,
) -> Matched:  # fmt: skip
    """Keep the near-duplicates, and the reused texts, that have in common what has to be equal."""
    candidates = matched.list_candidates(range(len(batch.documents)))
    ids = {each.id for each in candidates if each.row is None and each.number is None}
    stored = {id: hash(equality.key(text)) for id, text in collection.texts(sorted(ids)).items()}
    keys = [hash(equality.key(document.text)) for document in batch.documents]

    def key_of(candidate: Candidate) -> int | None:
        if candidate.row is not None:
            return keys[candidate.row]
        number = candidate.number
        return stored.get(candidate.id) if number is None else admitted.keys[number]

    def keep(lists: list[list[M]]) -> list[list[M]]:
        return [[match for match in matches if key_of(match.candidate) == key]
                for key, matches in zip(keys, lists, strict=True)]  # fmt: skip

    return replace(matched, near=keep(matched.near), reused=keep(matched.reused))


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
