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
        forms = measure.add_values(made.normal, (one.kept for one in documents))
    else:
        forms = list(map(signature.encode, made.signatures))
    return SignedBatch(documents=documents, words=made.words, keys=made.keys, forms=forms)


def collect_candidates(
    batch: SignedBatch, found: Sequence[Sequence[Hit]], forms: list[str], comparer: Comparer
) -> list[tuple[int, Candidate]]:
    """Collect what was found for each row and may be within the limits, with the row.

    What it is compared by is added to `forms`, which begins with that of the batch.
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
                places[one.id] = len(forms) + len(rows)
                rows.append(one.fields)
            all_met.append((row, Candidate(id=one.id, place=places[one.id], shared=one.shared)))
    forms += comparer.make_forms(rows)
    return all_met


def compare_candidates(
    forms: Sequence[str], met: Sequence[tuple[int, Candidate]], comparer: Comparer
) -> Iterator[tuple[int, NearMatch]]:
    """Yield the pairs of `met` that are within the limits, with the row of each.

    Raises SettingsError if a signature was made with other settings.
    """
    if not met:
        return
    pairs = np.array([(row, one.place) for row, one in met], dtype=np.uint32)
    found = comparer.compare_texts(forms, pairs)
    for at in np.flatnonzero(found.is_near).tolist():
        row, one = met[at]
        match = Match(
            id=one.id,
            distance=int(found.distances[at]) if comparer.measure.has_distance else None,
            similarity=float(found.similarities[at]),
            shared=one.shared,
            content="",
        )
        yield row, NearMatch(met=one, match=match, is_equal=forms[one.place] == forms[row])
