"""Who a batch of new documents meets: in the collection, among those admitted, in the batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup_solr.edges.client import Solr
from neardup_solr.edges.spill import Spill, Strings
from neardup_solr.pure import arrivals, normalize, signature, signing
from neardup_solr.pure.arrivals import Arrivals
from neardup_solr.pure.model import Document, Match
from neardup_solr.pure.policy import TAG_FIELD
from neardup_solr.pure.verification import MEASURES, NO_DISTANCE, Comparing
from neardup_solr.verbs import sharing
from neardup_solr.verbs.sharing import Asking, Candidate, Candidates

BANDS = "content_bands"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents that can be indexed, their words and keys, and what they are compared by."""

    documents: Sequence[Document]
    words: NDArray[np.int64]
    keys: NDArray[np.uint64]
    known: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A document that another one shares a band with, and its `place` in what is compared.

    `number` is its number among those that were admitted before, `row` its row in this batch; a
    document of the collection has neither.
    """

    id: str
    place: int
    shared: int
    number: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A document that another one is near to; `is_equal` where what is compared is the same."""

    met: Met
    match: Match
    is_equal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """For each document of a batch whom it is near to, and whether it met more than are compared.

    Those of its own batch and those before it are there whether they are admitted or not.
    """

    near: list[list[Near]]
    is_cut: list[bool]


@dataclass(slots=True, kw_only=True)
class Admitted:
    """The documents that were admitted, by number; `latest` is the last number of each id."""

    known: Strings
    ids: list[str] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    arrivals: Arrivals = field(default_factory=Arrivals)

    @classmethod
    def none(cls, spill: Spill) -> Admitted:
        """Nobody yet; what they are compared by goes where `spill` says."""
        return cls(known=spill.strings())

    def add(self, batch: Batch, rows: Sequence[int]) -> None:
        """Admit these rows of a batch."""
        numbers = np.arange(len(self.ids), len(self.ids) + len(rows))
        has_words = batch.words[rows] > 0
        if has_words.any():
            keys = arrivals.term_keys(batch.keys[rows])
            self.arrivals.add(keys[has_words], numbers[has_words])
        self.ids += [batch.documents[row].id for row in rows]
        self.known.extend([batch.known[row] for row in rows])
        self.latest.update((batch.documents[row].id, len(self.ids) - len(rows) + at)
                           for at, row in enumerate(rows))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What finds out who is near: by a comparison, in a collection of which `filters` count."""

    solr: Solr
    comparing: Comparing
    filters: tuple[str, ...]

    def signed(self, documents: Sequence[Document]) -> Batch:
        """Documents with what is computed from their texts."""
        texts = [one.text for one in documents]
        signed = signing.sign(texts, self.comparing.settings, keep_normal=True)
        known = signed.normal if self._has_texts else list(map(signature.encode, signed.signatures))
        return Batch(documents=documents, words=signed.words, keys=signed.keys, known=known)

    def matched(self, batch: Batch, admitted: Admitted) -> Matched:
        """Whom each document of a batch is near to."""
        rows = np.flatnonzero(batch.words > 0)
        found = [Candidates()] * len(batch.words)
        asked = sharing.candidates(self.solr, arrivals.terms(batch.keys[rows]), self._asking())
        for row, each in zip(rows.tolist(), asked, strict=True):
            found[row] = each
        known = list(batch.known)
        met = [
            *self._in_collection(batch, found, known),
            *_among_admitted(batch, rows, known, admitted),
            *_in_batch(batch, rows),
        ]
        near: list[list[Near]] = [[] for _ in batch.words]
        for row, one in self._compared(known, met):
            near[row].append(one)
        return Matched(near=near, is_cut=[each.is_cut for each in found])

    @property
    def _has_texts(self) -> bool:
        return MEASURES[self.comparing.measure].has_texts

    def _asking(self) -> Asking:
        compared = "content" if self._has_texts else "signature"
        return Asking(field=BANDS, fields=(compared, "num_words", TAG_FIELD), filters=self.filters)

    def _in_collection(
        self, batch: Batch, found: Sequence[Candidates], known: list[str]
    ) -> Iterator[tuple[int, Met]]:
        """Who is met in the collection; what they are compared by is added to `known`."""
        places: dict[str, int] = {}
        for row, document in enumerate(batch.documents):
            words = int(batch.words[row])
            for one in found[row].found:
                if not self._may_be_near(document, words, one):
                    continue
                if one.id not in places:
                    places[one.id] = len(known)
                    known.append(self._known(one))
                yield row, Met(id=one.id, place=places[one.id], shared=one.shared)

    def _may_be_near(self, document: Document, words: int, one: Candidate) -> bool:
        """Whether a document of the collection counts, and can be within the limits."""
        fields = one.fields
        if one.id == document.id or not fields.get("content" if self._has_texts else "signature"):
            return False
        # What was tagged as a near-duplicate of this document came after it: it comes again.
        tags = fields.get(TAG_FIELD, ())
        if document.id in ([tags] if isinstance(tags, str) else tags):
            return False
        theirs = fields.get("num_words")
        if self.comparing.measure != "words" or theirs is None:
            return True
        return bool(abs(words - theirs) <= self.comparing.limits.allowed(max(words, theirs)))

    def _known(self, one: Candidate) -> str:
        if self._has_texts:
            return normalize.normalize(one.fields["content"])
        return str(one.fields["signature"])

    def _compared(
        self, known: Sequence[str], met: Sequence[tuple[int, Met]]
    ) -> Iterator[tuple[int, Near]]:
        """Those of the rows and whom they met that are near each other."""
        if not met:
            return
        pairs = np.array([(row, one.place) for row, one in met], dtype=np.uint32)
        columns = (column.tolist() for column in sharing.compared(known, pairs, self.comparing))
        for (row, one), distance, similarity, is_near in zip(met, *columns, strict=True):
            if is_near:
                match = Match(
                    id=one.id,
                    distance=None if distance == NO_DISTANCE else distance,
                    similarity=similarity,
                    shared=one.shared,
                    content="",
                )
                yield row, Near(met=one, match=match, is_equal=known[one.place] == known[row])


def _among_admitted(
    batch: Batch, rows: NDArray[np.int64], known: list[str], admitted: Admitted
) -> Iterator[tuple[int, Met]]:
    """Who is met of those admitted in earlier batches; as `_in_collection`."""
    shared = admitted.arrivals.sharing(arrivals.term_keys(batch.keys[rows]))
    places: dict[int, int] = {}
    for at, number, bands in _listed(shared):
        if number not in places:
            places[number] = len(known)
            known.append(admitted.known[number])
        id = admitted.ids[number]
        yield int(rows[at]), Met(id=id, place=places[number], shared=bands, number=number)


def _in_batch(batch: Batch, rows: NDArray[np.int64]) -> Iterator[tuple[int, Met]]:
    """Who is met of those before in the same batch."""
    for first, later, bands in _listed(arrivals.within(arrivals.term_keys(batch.keys[rows]))):
        row = int(rows[first])
        id = batch.documents[row].id
        yield int(rows[later]), Met(id=id, place=row, shared=bands, row=row)


def _listed(columns: arrivals.Shared) -> Iterable[tuple[int, int, int]]:
    return zip(*(column.tolist() for column in columns), strict=True)
