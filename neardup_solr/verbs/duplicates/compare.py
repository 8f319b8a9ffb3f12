"""Which candidates are near-duplicates: block by block, each text read once if possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import require, require_choice
from neardup_solr.candidates import CAP
from neardup_solr.candidates.by_band import (
    ONE_SIDE,
    Candidates,
    Joining,
    band_candidates,
    components,
)
from neardup_solr.candidates.by_word import WORD_CAP, all_candidates, word_candidates
from neardup_solr.checkpoint import Checkpoint
from neardup_solr.choices import MeasureName, Way
from neardup_solr.measures import (
    Comparer,
    Limits,
    Prepare,
    aligned,
    measure_named,
    measure_of,
)
from neardup_solr.measures.arrays import Compared, Pairs
from neardup_solr.minhash import sign
from neardup_solr.progress import Progress
from neardup_solr.verbs.duplicates.gather import Gathered, Working, threads

COMPARING = "comparing"
WAYS: tuple[Way, ...] = get_args(Way)
Texts = dict[int, Any]  # prepared by a measure, by row; None if the document is gone
Part = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]
# Few documents are all compared with each other, if that takes about a second: bands miss some
# pairs, and many pairs of short texts.
FEW = 2_000
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
BLOCK = 1 << 17  # pairs whose texts are held at a time
_TEXT = 1 << 11  # bytes of a text of 200 words, prepared
_READ_AT_ONCE = 10_000  # texts of a whole collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """What makes two documents near-duplicates: arguments of `duplicates`, checked.

    Raises ArgumentError if a value is not possible.
    """

    measure: MeasureName = "words"
    limits: Limits = field(default_factory=Limits)
    by: Way | None = None
    cap: int | None = None
    within: bool = False
    mutual_best: bool = False

    def __post_init__(self) -> None:
        measure_of(self.measure, self.limits)  # checks them
        if self.by is not None:
            require_choice("by", self.by, WAYS)
        require(self.cap is None or self.cap > 1, f"`cap` cannot be {self.cap}", "give 2 or more")
        both = self.mutual_best and self.within
        require(not both, "`mutual_best` is for pairs across the two sides", "leave `within` out")

    def way(self, gathered: Gathered) -> Way:
        """How the candidates among these documents are found."""
        if self.by is not None:
            return self.by
        measure = measure_named(self.measure)
        slow = ALIGNING if measure.needs_frequencies else 1
        most = LITTLE // slow // max(len(gathered), 1)
        if measure.needs_texts and len(gathered) <= FEW and gathered.fits(most):
            return "all"
        return "words" if measure.needs_frequencies else "bands"

    @property
    def has_texts(self) -> bool:
        """Whether texts have to be read."""
        return measure_named(self.measure).needs_texts or self.by == "words"


@dataclass(slots=True)
class Verified:
    """Pairs that are near-duplicates, and documents that had a problem.

    `vanished` documents were gone when their texts were read; the text of `stale` ones has changed
    since it was signed.
    """

    pairs: Pairs
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64]
    vanished: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep these pairs, in this order."""
        self.pairs, self.distances = self.pairs[wanted], self.distances[wanted]
        self.similarities = self.similarities[wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What compares pairs of gathered documents; it holds about `memory` bytes of texts."""

    gathered: Gathered
    comparer: Comparer
    working: Working
    memory: int = 1 << 30

    def without_limits(self) -> Comparison:
        """The same without limits: every pair counts."""
        every = replace(self.comparer, limits=Limits(min_similarity=0.0))
        return replace(self, comparer=every)

    def verified(self, pairs: Pairs, *, checkpoint: Checkpoint | None = None) -> Verified:
        """The pairs that are within the limits, in the order of their rows."""
        if self.comparer.measure.needs_texts:
            found = self._by_texts(pairs, checkpoint)
        else:
            found = Verified(*_near(pairs, self.comparer.compare(self.gathered.signatures, pairs)))
        found.keep(np.lexsort((found.pairs[:, 1], found.pairs[:, 0])))
        return found

    def _by_texts(self, pairs: Pairs, checkpoint: Checkpoint | None) -> Verified:
        found = Verified(pairs[:0], np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))
        pairs = _by_component(len(self.gathered), pairs)
        parts = list(checkpoint.kept()) if checkpoint else []
        done = len(parts) * BLOCK
        for block, texts in self._blocks(pairs[done:], self.comparer.prepare(), found):
            parts.append(_compared(block, texts, self.comparer))
            if checkpoint:
                checkpoint.keep(parts[-1])
            done += len(block)
            self.working.watching.on_progress(Progress(COMPARING, done, len(pairs)))
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            found.pairs, found.distances, found.similarities = columns
        return found

    def _blocks(
        self, pairs: Pairs, prepare: Prepare, found: Verified
    ) -> Iterator[tuple[Pairs, Texts]]:
        """Blocks of pairs with the texts of their documents, which are read ahead.

        A text is kept as long as a later block needs it, if there is memory.
        """
        blocks = [pairs[at : at + BLOCK] for at in range(0, len(pairs), BLOCK)]
        last = np.zeros(len(self.gathered), dtype=np.uint32)
        for at, block in enumerate(blocks):
            last[block] = at
        kept: Texts = {}
        with ThreadPoolExecutor(1) as ahead:
            waiting = None
            for at, block in enumerate(blocks):
                rows = np.unique(block).tolist()
                kept |= waiting.result() if waiting else self._read(rows, kept, prepare, found)
                if at + 1 < len(blocks):
                    following = np.unique(blocks[at + 1]).tolist()
                    waiting = ahead.submit(self._read, following, kept, prepare, found)
                texts = {row: kept[row] for row in rows}
                is_full = len(kept) * _TEXT > self.memory
                later = {row: kept[row] for row in rows if last[row] > at}
                kept = later if is_full else {row: kept[row] for row in kept if last[row] > at}
                yield block, texts

    def _read(self, rows: list[int], known: Texts, prepare: Prepare, found: Verified) -> Texts:
        """The texts of rows that are not known yet, prepared; None if a document is gone."""
        rows = [row for row in rows if row not in known]
        texts: Texts = dict.fromkeys(rows)
        for at in range(0, len(rows), _READ_AT_ONCE):
            some = rows[at : at + _READ_AT_ONCE]
            forms = self._forms(some, found)
            texts |= zip(forms, prepare(list(forms.values())), strict=True)
        return texts

    def _forms(self, rows: list[int], found: Verified) -> dict[int, str]:
        """The normal forms of rows; notes in `found` which are gone or have changed."""
        read = zip(rows, self.gathered.texts(rows), strict=True)
        texts = {row: text for row, text in read if text is not None}
        found.vanished.update(set(rows) - set(texts))
        if not self.gathered.may_change:
            forms = sign.normal_forms(list(texts.values()), threads=self.comparer.threads)
            return dict(zip(texts, forms, strict=True))
        signed = sign.sign(
            list(texts.values()),
            self.gathered.settings,
            threads=self.comparer.threads,
            keep_normal=True,
        )
        there = np.fromiter(texts, np.int64, len(texts))
        differ = (signed.signatures != self.gathered.signatures[there]).any(axis=1)
        found.stale.update(there[differ | (signed.words == 0)].tolist())
        return dict(zip(texts, signed.normal, strict=True))


def _compared(block: Pairs, texts: Texts, comparer: Comparer) -> Part:
    rows, places = np.unique(block, return_inverse=True)
    there = np.array([texts[row] is not None for row in rows.tolist()])
    numbers: Pairs = places.reshape(block.shape).astype(np.uint32)
    is_whole = there[numbers].all(axis=1)
    block, numbers = block[is_whole], numbers[is_whole]
    present = np.cumsum(there) - 1  # numbers among those that are there
    prepared = [texts[row] for row in rows[there].tolist()]
    return _near(block, comparer.compare(prepared, present[numbers].astype(np.uint32)))


def _near(pairs: Pairs, compared: Compared) -> Part:
    """The pairs that are within the limits."""
    distances, similarities, is_near = compared
    return pairs[is_near], distances[is_near], similarities[is_near]


def _by_component(documents: int, pairs: Pairs) -> Pairs:
    """The pairs, sorted so that pairs of the same documents are near each other."""
    labels = components(documents, pairs)[pairs[:, 0]]
    ordered: Pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], labels))]
    return ordered


def comparer_of(gathered: Gathered, verifying: Verifying) -> Comparer:
    """What compares the documents, with their own frequencies of words if those are needed."""
    measure = measure_named(verifying.measure)
    return Comparer(
        measure=measure,
        limits=verifying.limits,
        settings=gathered.settings,
        frequencies=aligned.frequencies(gathered.forms()) if measure.needs_frequencies else None,
        threads=threads(),
    )


JOINING = "joining"
_PAIR = 16  # bytes, while the pairs are sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """What is searched, and how; `sides` is empty if there is only one."""

    gathered: Gathered
    verifying: Verifying
    working: Working
    memory: int
    sides: NDArray[np.uint8]


def candidates(
    gathered: Gathered, way: Way, verifying: Verifying, working: Working, memory: int
) -> Candidates:
    """The pairs that may be near-duplicates, without documents whose id comes again later."""
    is_across = len(gathered.sides) == 2 and not verifying.within
    search = _Search(
        gathered=gathered,
        verifying=verifying,
        working=working,
        memory=memory,
        sides=gathered.side_of() if is_across else ONE_SIDE,
    )
    found = _WAYS[way](search)
    dead = np.zeros(len(gathered), dtype=np.bool_)
    for side, first in zip(gathered.sides, gathered.bounds, strict=False):
        dead[np.array(side.dead, dtype=np.int64) + first] = True
    if dead.any():
        found = replace(found, pairs=found.pairs[~dead[found.pairs].any(axis=1)])
    return found


def _by_bands(search: _Search) -> Candidates:
    tell = search.working.watching.on_progress
    joining = Joining(
        cap=search.verifying.cap or CAP,
        memory=search.memory,
        most=search.memory // _PAIR,
        threads=threads(),
        sides=search.sides,
    )
    return band_candidates(
        search.gathered.signatures,
        search.gathered.settings,
        joining=joining,
        on_progress=lambda done, total: tell(Progress(JOINING, done, total)),
    )


def _by_words(search: _Search) -> Candidates:
    across = search.sides if len(search.sides) else None
    cap = search.verifying.cap or WORD_CAP
    return word_candidates(search.gathered.forms(), sides=across, cap=cap)


def _all(search: _Search) -> Candidates:
    return all_candidates(len(search.gathered), search.sides if len(search.sides) else None)


_WAYS: dict[str, Callable[[_Search], Candidates]] = {
    "bands": _by_bands,
    "words": _by_words,
    "all": _all,
}
