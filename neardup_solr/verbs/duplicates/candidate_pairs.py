"""Candidates of `duplicates`: the pairs that may be near, by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.argument_types import Way
from neardup_solr.candidates import ONE_SIDE, SPREAD, Candidates, Copies, Joining, all_candidates
from neardup_solr.candidates.pair_array import PairArray
from neardup_solr.cores import count_cores
from neardup_solr.measures import Measure, floor
from neardup_solr.measures.pairs import Pairs
from neardup_solr.progress import Progress
from neardup_solr.settings import CAP, SEED_CAP, WORD_CAP
from neardup_solr.sizes import SIZES
from neardup_solr.verbs.duplicates.copies import find_signed_copies, number_sides
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.plan import RunPlan

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldColumn, Marks

JOINING, TEXTS = "joining", "texts"  # stages of progress
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
CAPS: dict[Way, int] = {"words": WORD_CAP, "passages": SEED_CAP}
BLOCK = 1 << 17  # pairs that are looked at at a time
NO_PAIRS = np.empty(0, dtype=np.bool_)


def choose_way(measure: Measure, documents: int, fits: Callable[[int], bool]) -> Way:
    """Choose how candidates are found among so many documents.

    `fits` tells whether their texts have at most so many characters together.
    """
    slow = ALIGNING if measure.needs_frequencies else 1
    most = LITTLE // slow // max(documents, 1)
    return (
        "all"
        if measure.needs_texts
        and measure.way != "passages"
        and documents <= SIZES.crossed_documents
        and fits(most)
        else measure.way
    )


def name_way(plan: RunPlan, corpus: Corpus, documents: int) -> Way:
    """Name how candidates are found among so many documents, as asked for, or as they are."""
    return plan.request.by or choose_way(corpus.measure, documents, corpus.fits)


def make_joining(plan: RunPlan, corpus: Corpus, cap: int = CAP) -> Joining:
    """Make the limits of a search for candidates, with a `cap` unless another one is asked for."""
    return Joining(
        cap=plan.request.cap or cap,
        memory=corpus.spill.share,
        most=corpus.spill.most_pairs,
        threads=count_cores(),
        sides=number_sides(corpus),
        groups=corpus.groups,
    )


def find_candidates(
    plan: RunPlan, corpus: Corpus, way: Way, copies: Copies | None = None,
    columns: Sequence[FieldColumn] = (), fresh: Marks | None = None,
) -> Candidates:  # fmt: skip
    """Find the pairs that may be near-duplicates, of the same group if there are groups.

    Equal texts are among them, and records that are equal in all `columns`, whatever the way and
    the cap are. Many `copies` are not compared each: the pairs then stand for them. If these and
    `fresh` documents are known, most pairs without such a document are left out.
    """
    candidates = _find_candidates(plan, corpus, way, copies, fresh)
    if not columns or (way == "all" and candidates.copies is None):
        return candidates
    rows = np.arange(len(corpus)) if candidates.copies is None else candidates.copies.distinct
    joining = make_joining(plan, corpus)
    equal = _pair_equal(corpus, columns, rows, joining)
    return replace(candidates, pairs=_unite(joining, candidates.pairs, equal))


def _pair_equal(
    corpus: Corpus, columns: Sequence[FieldColumn], rows: NDArray[Any],
    joining: Joining,
) -> Pairs:  # fmt: skip
    """Pair those of some rows that are equal in all columns, in whatever notation."""
    keys, has_value = np.zeros(len(corpus), np.uint64), np.zeros(len(corpus), np.bool_)
    for column in columns:
        keys = keys * SPREAD ^ column.equal.astype(np.uint64)
        has_value |= column.equal >= 0
    if len(corpus.groups):
        keys ^= corpus.groups * SPREAD
    rows = rows[has_value[rows]]
    equal = Copies(keys[rows], joining.sides[rows] if len(joining.sides) else ONE_SIDE)
    pairs, _ = equal.expand(equal.pairs(), joining)
    return np.sort(rows[pairs], axis=1).astype(np.uint32)


def _find_candidates(
    plan: RunPlan, corpus: Corpus, way: Way, copies: Copies | None, fresh: Marks | None
) -> Candidates:
    """Find the pairs that share what the way looks for, or have equal texts."""
    joining = make_joining(plan, corpus, CAPS.get(way, CAP))

    def tell(stage: str, done: int, total: int | None = len(corpus)) -> None:
        plan.on_progress(Progress(stage, done, total))

    if copies is not None and pairs_distinct(way, corpus):
        return _pair_distinct(corpus, way, replace(joining, fresh=fresh), copies)
    least = floor(corpus.measure.least(plan.limits_by(corpus.measure)))
    alike = None
    if way == "all":
        candidates = all_candidates(len(corpus), joining)
    elif way == "bands":
        from neardup_solr.candidates.by_band import band_candidates, hash_signatures

        signatures, settings = corpus.signatures, corpus.settings
        alike = hash_signatures(signatures, joining, last=settings.bands * settings.rows)
        candidates = band_candidates(
            signatures,
            settings,
            alike=alike,
            joining=joining,
            on_progress=partial(tell, JOINING),
        )
    elif way == "passages":
        from neardup_solr.candidates.by_seed import passage_candidates

        tell(TEXTS, 0)
        letters, _ = corpus.read_letters()
        tell(JOINING, 0, None)
        candidates = passage_candidates(letters, least, joining=joining)
    else:
        from neardup_solr.candidates.by_shingle import shingle_candidates

        sets = corpus.read_sets(partial(tell, TEXTS))
        tell(JOINING, 0, None)
        candidates = shingle_candidates(sets, least, joining=joining)
    if way in ("shingles", "passages") or candidates.hot_keys:
        copies = copies or find_signed_copies(plan, corpus, joining, alike)
        pairs, _ = copies.expand(copies.pairs(), joining)
        candidates = replace(candidates, pairs=_unite(joining, candidates.pairs, pairs))
    if not len(joining.groups):
        return candidates
    # Whatever a way has made of them; some at a time.
    groups = joining.groups
    parts = (candidates.pairs[at : at + BLOCK] for at in range(0, len(candidates.pairs), BLOCK))
    are_same = [groups[part[:, 0]] == groups[part[:, 1]] for part in parts]
    return replace(candidates, pairs=candidates.pairs[np.concatenate([NO_PAIRS, *are_same])])


def pairs_distinct(way: Way, corpus: Corpus) -> bool:
    """Tell whether candidates of a way stand for their copies, if these are known."""
    return way == "words" or (way == "all" and len(corpus) > SIZES.crossed_documents)


def _pair_distinct(corpus: Corpus, way: Way, joining: Joining, copies: Copies) -> Candidates:
    """Find the pairs of distinct documents, which stand for their copies, and one of these each."""
    rows = copies.distinct
    joining = replace(
        joining,
        sides=joining.sides[rows] if len(joining.sides) else joining.sides,
        groups=joining.groups[rows] if len(joining.groups) else joining.groups,
        sizes=copies.sizes[rows],
        fresh=None if joining.fresh is None else joining.fresh[rows],
    )
    if way == "all":
        candidates = all_candidates(len(rows), joining)
    else:
        from neardup_solr.candidates.by_word import word_candidates

        forms = corpus.forms()
        some = [forms[row] for row in rows.tolist()]
        candidates = word_candidates(some, joining, corpus.words().take(rows))
    pairs = rows[candidates.pairs].astype(np.uint32)
    return replace(
        candidates,
        pairs=_unite(joining, pairs, copies.pairs()),
        beyond=rows[candidates.beyond].astype(np.uint32),
        sample=rows[candidates.sample],
        copies=copies,
    )


def _unite(joining: Joining, *parts: Pairs) -> Pairs:
    """Put pairs together, each once."""
    united = PairArray(joining)
    for pairs in parts:
        united.add(np.ascontiguousarray(pairs))
    united.keep_distinct()
    return united.pairs
