"""Many documents at once: signed, shared out with those that they meet, and compared with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup_solr.edges.client import Solr
from neardup_solr.pure.comparing import verification
from neardup_solr.pure.comparing.verification import MEASURES, NO_DISTANCE, Comparing
from neardup_solr.pure.model import Document, Match
from neardup_solr.pure.signatures import bands, signature, signing
from neardup_solr.verbs import sharing
from neardup_solr.verbs.sharing import Asking, Candidate, Candidates, Hot

BANDS = "content_bands"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents that can be indexed, their words and keys, and what they are compared by.

    That is their normal forms, or for the estimate their encoded signatures (`known`).
    """

    documents: Sequence[Document]
    words: NDArray[np.int64]
    keys: NDArray[np.uint64]
    known: list[str]

    def terms(self) -> list[tuple[str, ...]]:
        """The bands of each document; none of one without words."""
        named = bands.terms(self.keys)
        return [own if words else () for own, words in zip(named, self.words, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A document that another one shares a band with, and its `place` in what is compared.

    `number` is its number among those that a gate admitted before, `row` its row in this batch; a
    document of the collection has neither.
    """

    id: str
    place: int
    shared: int
    number: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A document that another is near to; `is_equal` where what is compared is the same."""

    met: Met
    match: Match
    is_equal: bool


def signed(documents: Sequence[Document], comparing: Comparing) -> Batch:
    """Documents with what is computed from their texts."""
    texts = [one.text for one in documents]
    made = signing.sign(texts, comparing.settings, keep_normal=True)
    has_texts = MEASURES[comparing.measure].has_texts
    known = made.normal if has_texts else list(map(signature.encode, made.signatures))
    return Batch(documents=documents, words=made.words, keys=made.keys, known=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeking:
    """How candidates are found in a collection: those that `filters` let through.

    `hot` are the bands that were met so far which too many documents share; whether those that
    share only such ones are met as far as they share most, is `with_most_shared`. They have these
    further `fields`.
    """

    comparing: Comparing
    filters: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    with_most_shared: bool = False
    hot: Hot = field(default_factory=Hot)

    def asking(self) -> Asking:
        """What is asked of Solr."""
        asked = (_compared_field(self.comparing), "num_words", *self.fields)
        return Asking(field=BANDS, fields=asked, filters=self.filters)


def candidates(solr: Solr, batch: Batch, seeking: Seeking) -> list[Candidates]:
    """Who in a collection shares a band with each document of a batch; nobody with one of no words.

    Of those that share only hot bands with a document, which `is_cut` then, some may be missing.
    """
    terms, asking = batch.terms(), seeking.asking()
    found = sharing.candidates(solr, terms, asking, seeking.hot)
    if not seeking.with_most_shared:
        return found
    return sharing.with_most_shared(solr, terms, asking, found)


def met(
    batch: Batch, found: Sequence[Sequence[Candidate]], known: list[str], comparing: Comparing
) -> list[tuple[int, Met]]:
    """Those found for each row that may be within the limits, with the row.

    What they are compared by is added to `known`, which begins with the batch's own.
    """
    name, has_texts = _compared_field(comparing), MEASURES[comparing.measure].has_texts
    places: dict[str, int] = {}
    contents: list[str] = []
    all_met = []
    for row, words in enumerate(batch.words.tolist()):
        for one in found[row]:
            content = one.fields.get(name)
            if not content or not _may_be_near(words, one.fields.get("num_words"), comparing):
                continue
            if one.id not in places:
                places[one.id] = len(known) + len(contents)
                contents.append(content)
            all_met.append((row, Met(id=one.id, place=places[one.id], shared=one.shared)))
    known += signing.normal_forms(contents) if has_texts else contents
    return all_met


def near(
    known: Sequence[str], met: Sequence[tuple[int, Met]], comparing: Comparing
) -> Iterator[tuple[int, Near]]:
    """Those of the rows and whom they met that are within the limits.

    Raises SettingsError where a signature is not one of these settings.
    """
    if not met:
        return
    pairs = np.array([(row, one.place) for row, one in met], dtype=np.uint32)
    if MEASURES[comparing.measure].has_texts:
        distances, similarities, kept = verification.compared(known, pairs, comparing)
    else:
        decoded = signature.decode_all(known, comparing.settings)
        similarities = verification.estimated(decoded, pairs)
        distances = np.full(len(pairs), NO_DISTANCE, dtype=np.int64)
        kept = similarities >= comparing.least - _ROUNDING
    for at in np.flatnonzero(kept).tolist():
        row, one = met[at]
        distance = int(distances[at])
        match = Match(
            id=one.id,
            distance=None if distance == NO_DISTANCE else distance,
            similarity=float(similarities[at]),
            shared=one.shared,
            content="",
        )
        yield row, Near(met=one, match=match, is_equal=known[one.place] == known[row])


def _compared_field(comparing: Comparing) -> str:
    return "content" if MEASURES[comparing.measure].has_texts else "signature"


def _may_be_near(words: int, theirs: int | None, comparing: Comparing) -> bool:
    """By words, texts are at least as far apart as their numbers of words differ."""
    if comparing.measure != "words" or theirs is None:
        return True
    return abs(words - theirs) <= comparing.limits.allowed(max(words, theirs))
