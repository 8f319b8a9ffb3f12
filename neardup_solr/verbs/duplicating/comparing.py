"""Which candidates are near-duplicates: block by block, each text fetched once if it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from neardup_solr.edges.checkpoint import Checkpoint
from neardup_solr.pure import alignment, normalize, signing, verification
from neardup_solr.pure.blocking import all_candidates, word_candidates
from neardup_solr.pure.candidates import (
    CAP,
    ONE_SIDE,
    Candidates,
    Joining,
    Pairs,
    band_candidates,
    components,
)
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.similarity import Limits
from neardup_solr.pure.verification import MEASURES, Comparing
from neardup_solr.verbs.duplicating.gathering import Gathered, Working, threads

JOINING, COMPARING = "joining", "comparing"
WAYS = ("bands", "words", "all")
Part = tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64]]
BLOCK = 1 << 17  # pairs whose texts are held at a time
_PAIR = 16  # bytes; a share of the memory is for the pairs, while they are put in order
_READ_AT_ONCE = 10_000  # texts of a whole collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """What makes two documents near-duplicates.

    `measure` is one of `verification.MEASURES`, `limits` bound it. `by` is how candidates are
    found: "bands" (they share an LSH band), "words" (they share a word that few documents have;
    for short records, and the default for the measure "aligned"), or "all" pairs. A band key or
    word of more than `cap` documents (None: the way's default) is not paired whole. Of two sides,
    documents of one side are compared `within` it only where that is asked for; `mutual_best`
    keeps the pairs of which each document is the other's most similar one, for sides that list
    each thing once.

    Raises SettingsError where a value cannot be.
    """

    measure: str = "words"
    limits: Limits = field(default_factory=Limits)
    by: str | None = None
    cap: int | None = None
    within: bool = False
    mutual_best: bool = False

    def __post_init__(self) -> None:
        verification.check_measure(self.measure, self.limits)
        if self.by is not None and self.by not in WAYS:
            raise SettingsError(f"--by {self.by} is not known", f"choose {', '.join(WAYS)}")
        if self.cap is not None and self.cap < 2:
            raise SettingsError(f"a cap of {self.cap} cannot be", "give 2 or more")
        if self.mutual_best and self.within:
            raise SettingsError("--mutual-best is for pairs across", "leave --within out")

    @property
    def way(self) -> str:
        """How candidates are found."""
        return self.by or ("words" if MEASURES[self.measure].has_frequencies else "bands")

    @property
    def has_texts(self) -> bool:
        """Whether texts have to be read."""
        return MEASURES[self.measure].has_texts or self.way == "words"


@dataclass(slots=True, kw_only=True)
class Verified:
    """Pairs that are near-duplicates, and what was met on the way.

    `vanished` documents were gone when their texts were read, `stale` ones have a text that is
    not the one that was signed.
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
    """What compares pairs of gathered documents."""

    gathered: Gathered
    comparing: Comparing
    working: Working

    def without_limits(self) -> Comparison:
        """The same, but every pair counts."""
        every = replace(self.comparing, limits=Limits(min_similarity=0.0))
        return replace(self, comparing=every)

    def verified(self, pairs: Pairs, *, checkpoint: Checkpoint | None = None) -> Verified:
        """Those of the pairs that are within the limits, in the order of their rows."""
        measure = self.comparing.measure
        if not MEASURES[measure].has_texts:
            found = self._estimated(pairs)
        else:
            found = self._by_texts(pairs, checkpoint)
        found.keep(np.lexsort((found.pairs[:, 1], found.pairs[:, 0])))
        return found

    def _estimated(self, pairs: Pairs) -> Verified:
        similarities = verification.estimated(self.gathered.signatures, pairs)
        kept = similarities >= self.comparing.least
        distances = np.full(int(kept.sum()), verification.NO_DISTANCE, dtype=np.int64)
        return Verified(pairs=pairs[kept], distances=distances, similarities=similarities[kept])

    def _by_texts(self, pairs: Pairs, checkpoint: Checkpoint | None) -> Verified:
        found = Verified(
            pairs=pairs[:0],
            distances=np.empty(0, dtype=np.int64),
            similarities=np.empty(0, dtype=np.float64),
        )
        pairs = _by_component(len(self.gathered), pairs)
        parts = list(checkpoint.kept()) if checkpoint else []
        done = len(parts) * BLOCK
        for block, forms in self._blocks(pairs[done:], found):
            parts.append(self._compared(block, forms))
            if checkpoint:
                checkpoint.keep(parts[-1])
            done += len(block)
            self.working.on_progress(COMPARING, done, len(pairs))
        if parts:
            columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
            found.pairs, found.distances, found.similarities = columns
        return found

    def _compared(self, block: Pairs, forms: dict[int, str | None]) -> Part:
        rows, places = np.unique(block, return_inverse=True)
        there = np.array([forms[row] is not None for row in rows.tolist()])
        numbers: Pairs = places.reshape(block.shape).astype(np.uint32)
        is_whole = there[numbers].all(axis=1)
        block, numbers = block[is_whole], numbers[is_whole]
        texts = [forms[row] or "" for row in rows.tolist()]
        distances, similarities, kept = verification.compared(texts, numbers, self.comparing)
        return block[kept], distances[kept], similarities[kept]

    def _blocks(
        self, pairs: Pairs, found: Verified
    ) -> Iterator[tuple[Pairs, dict[int, str | None]]]:
        """Blocks of pairs with the normal forms of their documents, the next ones read ahead."""
        blocks = [pairs[at : at + BLOCK] for at in range(0, len(pairs), BLOCK)]
        forms: dict[int, str | None] = {}
        with ThreadPoolExecutor(1) as ahead:
            waiting = None
            for at, block in enumerate(blocks):
                rows = np.unique(block).tolist()
                read = waiting.result() if waiting else self._forms(rows, forms, found)
                forms = {row: read[row] if row in read else forms[row] for row in rows}
                if at + 1 < len(blocks):
                    following = np.unique(blocks[at + 1]).tolist()
                    waiting = ahead.submit(self._forms, following, forms, found)
                yield block, forms

    def _forms(
        self, rows: list[int], known: dict[int, str | None], found: Verified
    ) -> dict[int, str | None]:
        """The normal forms of rows that are not known yet."""
        rows = [row for row in rows if row not in known]
        texts = self.gathered.texts(rows)
        there = [row for row, text in zip(rows, texts, strict=True) if text is not None]
        signed = signing.sign(
            [text for text in texts if text is not None],
            self.gathered.settings,
            threads=self.comparing.threads,
            keep_normal=True,
        )
        differ = (signed.signatures != self.gathered.signatures[there]).any(axis=1)
        found.stale.update(np.array(there)[differ | (signed.words == 0)].tolist())
        found.vanished.update(set(rows) - set(there))
        return dict.fromkeys(rows) | dict(zip(there, signed.normal, strict=True))


def _by_component(documents: int, pairs: Pairs) -> Pairs:
    """The pairs in an order in which those of the same documents are near each other."""
    labels = components(documents, pairs)[pairs[:, 0]]
    ordered: Pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0], labels))]
    return ordered


def candidates(
    gathered: Gathered, verifying: Verifying, working: Working, memory: int
) -> Candidates:
    """The pairs of documents that may be near-duplicates; none of a document that came again."""
    is_across = len(gathered.sides) == 2 and not verifying.within
    sides = gathered.side_of() if is_across else ONE_SIDE
    found = _WAYS[verifying.way](gathered, verifying, working, sides, memory)
    dead = np.zeros(len(gathered), dtype=np.bool_)
    for side, first in zip(gathered.sides, gathered.bounds, strict=False):
        dead[np.array(side.dead, dtype=np.int64) + first] = True
    if dead.any():
        found = replace(found, pairs=found.pairs[~dead[found.pairs].any(axis=1)])
    return found


def _by_bands(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    joining = Joining(
        cap=verifying.cap or CAP,
        memory=memory,
        most=memory // _PAIR,
        threads=threads(),
        sides=sides,
    )
    return band_candidates(
        gathered.signatures,
        gathered.settings,
        joining=joining,
        on_progress=lambda done, total: working.on_progress(JOINING, done, total),
    )


def _by_words(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    forms = all_forms(gathered)
    across = sides if len(sides) else None
    if verifying.cap is None:
        return word_candidates(forms, sides=across)
    return word_candidates(forms, sides=across, cap=verifying.cap)


def _all(
    gathered: Gathered,
    verifying: Verifying,
    working: Working,
    sides: NDArray[np.uint8],
    memory: int,
) -> Candidates:
    return all_candidates(len(gathered), sides if len(sides) else None)


_WAYS: dict[str, Callable[[Gathered, Verifying, Working, NDArray[np.uint8], int], Candidates]] = {
    "bands": _by_bands,
    "words": _by_words,
    "all": _all,
}


def all_forms(gathered: Gathered) -> list[str]:
    """The normal forms of all documents; "" for one that is no longer there."""
    forms: list[str] = []
    for at in range(0, len(gathered), _READ_AT_ONCE):
        rows = range(at, min(at + _READ_AT_ONCE, len(gathered)))
        texts = gathered.texts(rows)
        forms += [normalize.normalize(text) if text else "" for text in texts]
    return forms


def measuring(gathered: Gathered, verifying: Verifying) -> Comparing:
    """How the documents are compared, with their own frequencies of words where those count."""
    needed = MEASURES[verifying.measure].has_frequencies
    return Comparing(
        measure=verifying.measure,
        limits=verifying.limits,
        settings=gathered.settings,
        frequencies=alignment.frequencies(all_forms(gathered)) if needed else None,
        threads=threads(),
    )
