"""Many documents at once: signed, and compared with the documents they share a band with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import Comparer
from neardup_solr.minhash import sign, signature
from neardup_solr.records import Document, Hit, Match
from neardup_solr.solr.names import TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedBatch:
    """Documents that can be indexed, with their number of words and their band keys.

    `forms` is what they are compared by: normal forms, joined with the values of fields that are
    compared, or encoded signatures for the estimate.
    """

    documents: Sequence[Document]
    words: NDArray[np.int64]
    keys: NDArray[np.uint64]
    forms: list[str]

    def part(self, rows: slice) -> SignedBatch:
        """Return the documents of some rows."""
        return SignedBatch(
            documents=self.documents[rows],
            words=self.words[rows],
            keys=self.keys[rows],
            forms=self.forms[rows],
        )

    def terms(self) -> list[tuple[str, ...]]:
        """Format the bands of each document. A document without words has none."""
        terms = signature.format_band_keys(self.keys)
        return [row if words else () for row, words in zip(terms, self.words, strict=True)]


class Candidate(NamedTuple):
    """A document that shares a band with another, and its `place` in what is compared.

    `number` is its number among the documents that a gate admitted before, `row` its row in this
    batch; a document of the collection has neither. It has its `text` if that was read.
    """

    id: str
    place: int
    shared: int
    number: int | None = None
    row: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMatch:
    """A document that another is near to.

    `is_equal` if what is compared, its `form`, is the same; `is_exact` unless the symbols of the
    texts differ.
    """

    candidate: Candidate
    match: Match
    form: str
    is_equal: bool
    is_exact: bool = True


def sign_batch(documents: Sequence[Document], comparer: Comparer) -> SignedBatch:
    """Sign documents, and keep what they are compared by."""
    texts = [document.text for document in documents]
    signed = sign.sign(texts, comparer.settings, keep_normal=True)
    measure = comparer.measure
    if measure.needs_texts:
        normal: Sequence[str] = signed.normal
        if measure.joins_numbers:
            normal = measure.normalize(texts, comparer.settings.normalization)
        forms = measure.add_values(normal, (document.kept for document in documents))
    else:
        forms = list(map(signature.encode, signed.signatures))
    return SignedBatch(documents=documents, words=signed.words, keys=signed.keys, forms=forms)


def collect_candidates(
    batch: SignedBatch, hits: Sequence[Sequence[Hit]], forms: list[str], comparer: Comparer
) -> list[tuple[int, Candidate]]:
    """Collect the hits of each row that may be within the limits, with the row.

    What they are compared by is added to `forms`, which begins with that of the batch.
    """
    places: dict[str, int] = {}
    fields: list[Mapping[str, Any]] = []
    candidates = []
    for row, words in enumerate(batch.words.tolist()):
        for hit in hits[row]:
            has_content = hit.fields.get(comparer.measure.compared_field)
            if not has_content or not comparer.may_be_near(words, hit.num_words):
                continue
            if hit.id not in places:
                places[hit.id] = len(forms) + len(fields)
                fields.append(hit.fields)
            place = places[hit.id]
            text = str(hit.fields.get(TEXT) or "")
            candidate = Candidate(id=hit.id, place=place, shared=hit.shared, text=text)
            candidates.append((row, candidate))
    forms += comparer.make_forms(fields)
    return candidates


def compare_candidates(
    forms: Sequence[str], candidates: Sequence[tuple[int, Candidate]], comparer: Comparer
) -> Iterator[tuple[int, NearMatch]]:
    """Yield the candidates that are within the limits, with the row of each.

    Raises SettingsError if a signature was made with other settings.
    """
    if not candidates:
        return
    pairs = np.array([(row, candidate.place) for row, candidate in candidates], dtype=np.uint32)
    compared = comparer.compare_texts(forms, pairs)
    for at in np.flatnonzero(compared.is_near).tolist():
        row, candidate = candidates[at]
        match = Match(
            id=candidate.id,
            distance=int(compared.distances[at]) if comparer.measure.has_distance else None,
            similarity=float(compared.similarities[at]),
            shared=candidate.shared,
            content="",
        )
        form = forms[candidate.place]
        yield row, NearMatch(candidate=candidate, match=match, form=form,
                             is_equal=form == forms[row])  # fmt: skip
