"""Which candidates are near-duplicates: block by block, each text read once if possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Way
from neardup_solr.candidates import ONE_SIDE, Candidates, Joining, all_candidates
from neardup_solr.measures import (
    Comparer,
    Limits,
    floor,
)
from neardup_solr.measures.arrays import Compared, Flat, Pairs, pairs_of
from neardup_solr.minhash import sign
from neardup_solr.progress import SILENT, Progress, Watching
from neardup_solr.resources import prefetch, run_aside, thread_pool
from neardup_solr.settings import CAP, WORD_CAP
from neardup_solr.spill import Spill
from neardup_solr.text.packed import Packed, pack, size_of
from neardup_solr.verbs.duplicates.inputs import Gathered, fitting_parts, threads
from neardup_solr.verbs.duplicates.options import Options

if TYPE_CHECKING:
    from neardup_solr.checkpoint import Checkpoint
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

TEXTS, COMPARING = "texts", "comparing"
Part = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]
SAMPLE = 500  # documents whose words are counted
BLOCK = 1 << 17  # pairs that are compared at a time
Ends: TypeAlias = NDArray[np.uint32]  # of the first rows of pairs, and of the second ones
NO_PAIRS = np.empty(0, dtype=np.bool_)
NO_DISTANCES, NO_SIMILARITIES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
U64 = np.uint64
PLACE = U64(19)  # bits: a stretch has half a million documents
LOW = (U64(1) << PLACE) - U64(1)
ORDER = 3  # of the pairs in a checkpoint: the version of `_in_order`


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

    def take(self, parts: Sequence[tuple[NDArray[Any], ...]]) -> None:
        """Have the pairs of all parts."""
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            self.pairs, self.distances, self.similarities = columns

    def keep(self, wanted: NDArray[np.bool_] | NDArray[np.intp]) -> None:
        """Keep these pairs, in this order."""
        self.pairs, self.distances = self.pairs[wanted], self.distances[wanted]
        self.similarities = self.similarities[wanted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What compares pairs of gathered documents. `spill` holds their texts meanwhile.

    Pairs that were compared in the `previous` run, with the same contents, are not compared again.
    """

    gathered: Gathered
    comparer: Comparer
    spill: Spill
    watching: Watching = SILENT
    previous: PreviousRun | None = None
    is_limited: bool = True

    def silent(self) -> Comparison:
        """The same without a word of progress."""
        return replace(self, watching=SILENT)

    def without_limits(self) -> Comparison:
        """The same without limits, by which every pair counts, and without a word of progress."""
        every = replace(self.comparer, limits=Limits(min_similarity=0.0))
        return replace(self.silent(), comparer=every, is_limited=False)

    def count_beyond(self, found: Candidates) -> int:
        """About how many near-duplicates share only words beyond the cap, by the sample of those.

        A pair is met once for each of its documents that is in the sample.
        """
        if not len(found.beyond):
            return 0
        near = replace(self.silent(), previous=None).verified(found.beyond.copy())
        met = np.count_nonzero(np.isin(near.pairs, found.sample))
        return round(met / 2 * len(self.gathered) / len(found.sample))

    def median_words(self) -> int | None:
        """Median number of words of a sample of documents, or None if texts are not compared.

        Words are what stands between spaces.
        """
        if not (self.comparer.measure.needs_texts and len(self.gathered)):
            return None
        rows = np.linspace(0, len(self.gathered) - 1, min(len(self.gathered), SAMPLE))
        texts = self.gathered.texts(np.unique(rows.astype(np.int64)).tolist())
        return int(np.median([len(text.split()) for text in texts if text is not None] or [0]))

    @property
    def order(self) -> str:
        """What has to be the same for the parts of a checkpoint to be those that come first."""
        return f"{ORDER}.{BLOCK}" + (f".{self.previous.digest}" if self.previous else "")

    def verified(self, pairs: Pairs, *, checkpoint: Checkpoint | None = None) -> Verified:
        """The pairs that are within the limits, by their rows; the array `pairs` may be sorted."""
        if self.previous is None:
            found = self._compared(pairs, checkpoint)
        else:
            found = self._with_known(pairs, self.previous, checkpoint)
        found.keep(np.lexsort((found.pairs[:, 1], found.pairs[:, 0])))
        return found

    def _with_known(
        self, pairs: Pairs, previous: PreviousRun, checkpoint: Checkpoint | None
    ) -> Verified:
        """As `verified`: only pairs of which nothing is known are compared."""
        known = previous.within if self.is_limited else previous.beyond
        near, unknown = known.split(pairs)
        found = self._compared(unknown, checkpoint)
        previous.forget([*found.vanished, *found.stale])
        found.pairs = np.concatenate([found.pairs, pairs_of(near.near)])
        found.distances = np.concatenate([found.distances, near.distances])
        found.similarities = np.concatenate([found.similarities, near.similarities])
        known.add(found.pairs, found.distances, found.similarities)
        return found

    def _compared(self, pairs: Pairs, checkpoint: Checkpoint | None) -> Verified:
        pairs = _in_order(pairs)
        if self.comparer.measure.needs_texts:
            return self._by_texts(pairs, checkpoint)
        found = Verified(pairs[:0], NO_DISTANCES, NO_SIMILARITIES)
        table = self.gathered.signatures
        parts = []
        for at in range(0, len(pairs), BLOCK):
            block = pairs[at : at + BLOCK]
            parts.append(_near(block, self.comparer.compare(table, block)))
        found.take(parts)
        return found

    def _by_texts(self, pairs: Pairs, checkpoint: Checkpoint | None) -> Verified:
        found = Verified(pairs[:0], NO_DISTANCES, NO_SIMILARITIES)
        parts = list(checkpoint.kept()) if checkpoint else []
        done = len(parts) * BLOCK
        is_compared = np.zeros(len(self.gathered), dtype=np.bool_)
        for at in range(0, len(pairs), BLOCK):
            is_compared[pairs[at : at + BLOCK]] = True
        rows = np.flatnonzero(is_compared).astype(np.uint32)
        places = np.cumsum(is_compared, dtype=np.uint32) - np.uint32(1)  # of a row, among those
        if self.gathered.sets is not None and not self.gathered.may_change:
            texts, places = self.gathered.sets, np.arange(len(self.gathered), dtype=np.uint32)
        else:
            # After an interruption, too, all of them: which are gone or have changed is not kept.
            texts = self._prepared(rows, found)
        is_there = np.ones(len(self.gathered), dtype=np.bool_)
        is_there[list(found.vanished)] = False
        for at in range(done, len(pairs), BLOCK):
            block = pairs[at : at + BLOCK]
            block = block[is_there[block].all(axis=1)]
            own = places[block]
            parts.append(_near(block, self.comparer.compare(texts, own)))
            if checkpoint:
                checkpoint.keep(parts[-1])
            self._tell(COMPARING, min(at + BLOCK, len(pairs)), len(pairs))
        found.take(parts)
        return found

    def _prepared(self, rows: NDArray[np.uint32], found: Verified) -> Flat:
        """The texts of rows as the measure compares them, each read once, in order.

        Notes in `found` which are gone, and have nothing to compare, or have changed.
        """
        prepare = self.comparer.prepare()
        prepared = self.spill.lists()
        done = characters = 0

        parts = (rows[part] for part in fitting_parts(len(rows), lambda: (done, characters)))
        # One part is read while another is normalised; not two are read at the same time.
        with thread_pool(1) as reader, thread_pool(1) as normaliser:
            read = prefetch(reader, self._read, parts)
            for forms in prefetch(normaliser, lambda part: self._forms(*part, found), read):
                prepared.extend(prepare(forms))
                done += len(forms)
                characters += size_of(forms)
                self._tell(TEXTS, done, len(rows))
        return prepared.flat()

    def _read(self, rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], Sequence[str | None]]:
        """The rows, and their texts."""
        return rows, self.gathered.texts(rows.tolist())

    def _forms(
        self, rows: NDArray[np.uint32], read: Sequence[str | None], found: Verified
    ) -> Sequence[str]:
        """The normal forms of the texts of rows; "" if one is gone."""
        gathered, threads = self.gathered, self.comparer.threads
        texts = read if isinstance(read, Packed) else pack([text or "" for text in read])
        if not gathered.may_change:
            return sign.normal_forms(texts, threads=threads)
        found.vanished.update(
            row for row, text in zip(rows.tolist(), read, strict=True) if text is None
        )
        signed = sign.sign(
            texts, gathered.settings, threads=threads, keep_normal=True, keep_keys=False
        )
        differ = (signed.signatures != gathered.signatures[rows]).any(axis=1)
        if self.previous is not None:
            self.previous.note_contents(rows, texts)
        is_there = np.array([text is not None for text in read])
        found.stale.update(rows[is_there & (differ | (signed.words == 0))].tolist())
        return signed.normal

    def _tell(self, stage: str, done: int, total: int) -> None:
        self.watching.on_progress(Progress(stage, done, total))


def _in_order(pairs: Pairs) -> Pairs:
    """The pairs in the order in which they are compared: the array itself is sorted.

    Those of the same two stretches of documents are together, as texts may lie in a file; within
    them they go by rows. While it is sorted, a pair is one number: both stretches, 13 bits each,
    then both places in them.
    """
    pairs = np.ascontiguousarray(pairs)
    numbers = pairs.view(np.uint64)[:, 0]
    parts = [slice(at, at + BLOCK) for at in range(0, len(pairs), BLOCK)]
    for part in parts:
        first, second = pairs[part].T.astype(np.uint64)
        stretches = (first >> PLACE) << U64(13) | second >> PLACE
        numbers[part] = stretches << U64(38) | (first & LOW) << PLACE | second & LOW
    run_aside(numbers.sort)
    for part in parts:
        ordered = numbers[part].copy()
        pairs[part, 0] = (ordered >> U64(51)) << PLACE | ordered >> PLACE & LOW
        pairs[part, 1] = (ordered >> U64(38) & U64(0x1FFF)) << PLACE | ordered & LOW
    return pairs


def _near(pairs: Pairs, compared: Compared) -> Part:
    """The pairs that are within the limits."""
    distances, similarities, is_near = compared
    return pairs[is_near], distances[is_near], similarities[is_near]


def comparer_of(gathered: Gathered, options: Options) -> Comparer:
    """Make what compares the documents, with their own frequencies of words if those are needed."""
    measure = options.compared_by
    frequencies = None
    if measure.needs_frequencies:
        from neardup_solr.measures import aligned

        forms = gathered.forms()
        frequencies = aligned.frequencies([forms[row] for row in gathered.living().tolist()])
    return Comparer(
        measure=measure,
        limits=options.limits,
        settings=gathered.settings,
        frequencies=frequencies,
        threads=threads(),
    )


JOINING = "joining"
_PAIR = 16  # bytes, with what is needed for it meanwhile


def find_candidates(gathered: Gathered, way: Way, options: Options, spill: Spill) -> Candidates:
    """Find the pairs that may be near-duplicates, of the same group if there are groups."""
    is_across = len(gathered.sides) == 2 and not options.within
    groups = gathered.groups
    joining = Joining(
        cap=options.cap or (WORD_CAP if way == "words" else CAP),
        memory=spill.share,
        most=spill.memory // _PAIR,
        threads=threads(),
        sides=gathered.side_of() if is_across else ONE_SIDE,
        groups=groups,
    )

    def tell(stage: str, done: int, total: int = len(gathered)) -> None:
        options.watching.on_progress(Progress(stage, done, total))

    if way == "all":
        found = all_candidates(len(gathered), joining)
    elif way == "words":
        from neardup_solr.candidates.by_word import word_candidates

        found = word_candidates(gathered.forms(), joining)
    elif way == "bands":
        from neardup_solr.candidates.by_band import band_candidates

        found = band_candidates(
            gathered.signatures,
            gathered.settings,
            joining=joining,
            on_progress=partial(tell, JOINING),
        )
    else:
        from neardup_solr.candidates.by_shingle import shingle_candidates

        sets = gathered.sets or gathered.read_sets(spill, partial(tell, TEXTS))
        least = floor(options.compared_by.least(options.limits))
        found = shingle_candidates(sets, least, joining=joining)
    if not len(groups):
        return found
    # Whatever a way has made of them; some at a time.
    parts = (found.pairs[at : at + BLOCK] for at in range(0, len(found.pairs), BLOCK))
    are_same = [groups[part[:, 0]] == groups[part[:, 1]] for part in parts]
    return replace(found, pairs=found.pairs[np.concatenate([NO_PAIRS, *are_same])])
