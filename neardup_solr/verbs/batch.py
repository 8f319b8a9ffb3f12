"""Many documents at once: signed, and compared with the documents they share a band with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Comparer
from neardup_solr.minhash import sign, signature
from neardup_solr.records import Document, Hit, Match
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.query import (
    Hits,
    Known,
    Probe,
    Question,
    hits_apart,
    hits_of_each,
    with_most_shared,
)

BANDS = "content_bands"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBatch:
    """Documents that can be indexed, with their number of words and their band keys.

    `known` is what they are compared by: normal forms, joined with the values of fields that are
    compared, or encoded signatures for the estimate.
    """

    documents: Sequence[Document]
    words: NDArray[np.int64]
    keys: NDArray[np.uint64]
    known: list[str]

    def part(self, rows: slice) -> SignedBatch:
        """Return the documents of some rows."""
        return SignedBatch(
            documents=self.documents[rows],
            words=self.words[rows],
            keys=self.keys[rows],
            known=self.known[rows],
        )

    def terms(self) -> list[tuple[str, ...]]:
        """Format the bands of each document. A document without words has none."""
        named = signature.format_band_keys(self.keys)
        return [own if words else () for own, words in zip(named, self.words, strict=True)]


class Candidate(NamedTuple):
    """A document that shares a band with another, and its `place` in what is compared.

    `number` is its number among the documents that a gate admitted before, `row` its row in this
    batch; a document of the collection has neither.
    """

    id: str
    place: int
    shared: int
    number: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMatch:
    """A document that another is near to. `is_equal` if what is compared is the same."""

    met: Candidate
    match: Match
    is_equal: bool


def sign_batch(documents: Sequence[Document], comparer: Comparer) -> SignedBatch:
    """Sign documents, and keep what they are compared by."""
    texts = [one.text for one in documents]
    made = sign.sign(texts, comparer.settings, keep_normal=True)
    measure = comparer.measure
    if measure.needs_texts:
        known = measure.add_values(made.normal, (one.kept for one in documents))
    else:
        known = list(map(signature.encode, made.signatures))
    return SignedBatch(documents=documents, words=made.words, keys=made.keys, known=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finder:
    """Finder of candidates in a collection, among documents that match the `filters`.

    `hot` are the bands found so far that too many documents share. By `with_most_shared`,
    documents that share only such bands are found too, those that share most. `fields` are
    further fields to read. With `is_sure` False, OtherSettings is raised if documents have other
    settings than the comparer. With `known`, each document is found what it is found alone; with
    `leaves_large`, nothing is found for those that have a large band.
    """

    comparer: Comparer
    filters: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    with_most_shared: bool = False
    is_sure: bool = True
    known: Known | None = None
    leaves_large: bool = False
    hot: set[str] = field(default_factory=set)

    def question(self) -> Question:
        """Make the question that is asked of Solr."""
        measure = self.comparer.measure
        asked = (measure.compared_field, *measure.fields, "num_words", *self.fields)
        settings = None if self.is_sure else self.comparer.settings.fingerprint
        return Question(field=BANDS, fields=asked, filters=self.filters, settings=settings)


def know(comparer: Comparer, before: Known | None = None) -> Known:
    """Begin to know documents that are compared so, or go on from what was known `before`."""

    def choose(form: str, others: Sequence[str]) -> list[bool]:
        pairs = np.zeros((len(others), 2), dtype=np.uint32)
        pairs[:, 1] = np.arange(1, 1 + len(others))
        near: list[bool] = comparer.compare_texts([form, *others], pairs).is_near.tolist()
        return near

    make_forms = partial(join_stored, comparer=comparer)
    if before is None:
        return Known(make_forms=make_forms, choose=choose)
    return replace(before, make_forms=make_forms, choose=choose)


def hits_of_batch(collection: Collection, batch: SignedBatch, finder: Finder) -> list[Hits]:
    """Find the documents of a collection that share a band with each of a batch.

    If a result `is_cut`, documents that share only hot bands may be missing from it.
    """
    terms, question = batch.terms(), finder.question()
    if finder.known is None:
        found = hits_of_each(collection, terms, question, finder.hot)
    else:
        probes, leaves = list(map(Probe, terms, batch.known)), finder.leaves_large
        found = hits_apart(collection, probes, question, finder.known, leaves_large=leaves)
    if not finder.with_most_shared:
        return found
    return with_most_shared(collection, terms, question, found)


def collect_candidates(
    batch: SignedBatch, found: Sequence[Sequence[Hit]], known: list[str], comparer: Comparer
) -> list[tuple[int, Candidate]]:
    """Collect what was found for each row and may be within the limits, with the row.

    What it is compared by is added to `known`, which begins with that of the batch.
    """
    places: dict[str, int] = {}
    rows: list[Mapping[str, Any]] = []
    all_met = []
    for row, words in enumerate(batch.words.tolist()):
        for one in found[row]:
            has_content = one.fields.get(comparer.measure.compared_field)
            if not has_content or not comparer.may_be_near(words, one.num_words):
                continue
            if one.id not in places:
                places[one.id] = len(known) + len(rows)
                rows.append(one.fields)
            all_met.append((row, Candidate(id=one.id, place=places[one.id], shared=one.shared)))
    known += join_stored(rows, comparer)
    return all_met


def join_stored(rows: Sequence[Mapping[str, Any]], comparer: Comparer) -> list[str]:
    """Make what documents are compared by, from stored fields. It is "" if there is no content."""
    measure = comparer.measure
    contents = [str(row.get(measure.compared_field) or "") for row in rows]
    if not measure.needs_texts:
        return contents
    forms = sign.normal_forms(contents, comparer.settings.normalization)
    joined = measure.add_values(forms, rows)
    return [one and own for one, own in zip(forms, joined, strict=True)]


def compare_candidates(
    known: Sequence[str], met: Sequence[tuple[int, Candidate]], comparer: Comparer
) -> Iterator[tuple[int, NearMatch]]:
    """Yield the pairs of `met` that are within the limits, with the row of each.

    Raises SettingsError if a signature was made with other settings.
    """
    if not met:
        return
    pairs = np.array([(row, one.place) for row, one in met], dtype=np.uint32)
    found = comparer.compare_texts(known, pairs)
    for at in np.flatnonzero(found.is_near).tolist():
        row, one = met[at]
        match = Match(
            id=one.id,
            distance=int(found.distances[at]) if comparer.measure.has_distance else None,
            similarity=float(found.similarities[at]),
            shared=one.shared,
            content="",
        )
        yield row, NearMatch(met=one, match=match, is_equal=known[one.place] == known[row])
