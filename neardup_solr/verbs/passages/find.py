"""The main path of `passages`: documents, their letters, seeds in common, passages, relations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_seed import CAP, Rows, Seeds, collect_seeds, match_texts
from neardup_solr.cores import count_cores
from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import ArgumentError
from neardup_solr.kernel.seeds import round_to_words
from neardup_solr.measures import Flat
from neardup_solr.measures.folded import fold_texts
from neardup_solr.measures.relation import QUOTED_IN, QUOTES, SHARES, cover, relate
from neardup_solr.memory import Spill
from neardup_solr.progress import Progress, prefetch, thread_pool
from neardup_solr.sources.source import is_collection
from neardup_solr.text.packed import Packed, pack
from neardup_solr.verbs.duplicates.corpus import Corpus, read_corpus
from neardup_solr.verbs.duplicates.from_source import SourceSide
from neardup_solr.verbs.duplicates.parts import split_fitting
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.record_numbers import RecordNumbers
from neardup_solr.verbs.duplicates.unique import SourceRecords, identify
from neardup_solr.verbs.passages.columns import PassageColumns
from neardup_solr.verbs.passages.cut import Cut, cut_texts
from neardup_solr.verbs.passages.request import PassagesRequest
from neardup_solr.verbs.passages.result import Passages
from neardup_solr.verbs.passages.strike import SourceStrikes

LEAST_SHARE = 0.6  # of the letters that so many words have on average: of a passage, at least
MATCHING = "matching"  # a stage of progress


def find_passages(request: PassagesRequest) -> Passages:
    """Find the passages that documents share, and wait for the Solr of a collection."""
    plan = request.make_plan()
    if any(map(is_collection, plan.sources)):
        from neardup_solr.solr.patience import keep_patience

        with keep_patience(plan.sources, plan.patience):
            return _find_passages(plan, request)
    return _find_passages(plan, request)


def _find_passages(plan: RunPlan, request: PassagesRequest) -> Passages:
    """Read, fold the texts to letters, match seeds, cut passages out, and relate the documents."""
    state = identify(plan.source, plan.readings[0])
    with Spill(memory=plan.memory) as spill:
        corpus = read_corpus(plan, spill)
        letters, words = _fold_corpus(corpus, spill)
        plan.on_progress(Progress(MATCHING, 0, len(corpus)))
        seeds = collect_seeds(letters, count_cores())
        sizes = np.diff(letters.bounds)
        least = LEAST_SHARE * request.min_words * sizes / np.maximum(words, 1)
        rows = _match(plan, corpus, letters, seeds, least)
        round_to_words(letters.values, letters.bounds, rows)
        rows = rows[rows[:, 7] >= request.min_words]
        plan.on_progress(Progress("cutting", 0))
        cut = cut_texts(rows, corpus.texts, has_texts=request.texts)
        relations, shares = _relate(rows, sizes, cut)
        needed = sort_distinct(rows[:, :2].ravel())
        sides = corpus.sides
        for side in sides:
            side.failures.warn()
        spans = (rows[:, [3, 5]] - rows[:, [2, 4]]).max(axis=1, initial=1)
        columns = PassageColumns(
            ids=corpus.ids(needed.tolist()),
            owners=np.searchsorted(needed, rows[:, :2]),
            words=rows[:, 7],
            cut=cut,
            relations=relations,
            similarities=1.0 - rows[:, 6] / spans,
            shares=shares,
        )
        return Passages(
            _columns=columns,
            _strikes=_note_records(plan, corpus, needed, state),
            documents=sum(side.documents for side in sides),
            min_words=request.min_words,
            against=corpus.is_across,
            cap=CAP,
            hot=int(np.count_nonzero(np.diff(seeds.group_ends) > CAP)),
            repeated=sum(side.repeated for side in sides),
            failed=sum(side.failures.count for side in sides),
            errors=tuple(error for side in sides for error in side.failures.first),
        )


def _match(
    plan: RunPlan, corpus: Corpus, letters: Flat, seeds: Seeds, least: NDArray[np.float64]
) -> Rows:
    """Match the texts of documents that count, each with those after it."""
    second_side = corpus.bounds[1] if corpus.is_across else 0
    parts = [np.empty((0, 8), dtype=np.int64)]
    for part in match_texts(letters, seeds, least, count_cores(), second_side=second_side):
        parts.append(part)
        if len(part):
            plan.on_progress(Progress(MATCHING, int(part[-1, 0]), len(corpus)))
    rows = np.concatenate(parts)
    return rows[~np.isin(rows[:, :2], corpus.dead).any(axis=1)] if corpus.dead else rows


def _relate(
    rows: Rows, sizes: NDArray[np.int64], cut: Cut
) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Relate the documents of each passage, and compute the shares that all passages cover."""
    are_first = np.diff(rows[:, :2], axis=0, prepend=-1).any(axis=1)
    pairs, count = np.cumsum(are_first) - 1, int(np.count_nonzero(are_first))
    owners = rows[are_first, :2]
    covered = [cover(pairs, rows[:, at], rows[:, at + 1], count) for at in (2, 4)]
    shares = np.stack(covered, axis=1) / np.maximum(sizes[owners], 1)
    edits = np.bincount(pairs, rows[:, 6], count) / np.maximum(np.max(covered, axis=0), 1)
    relations = relate(shares[:, 0], shares[:, 1], edits)
    is_quoted, is_other = cut.quoted.T
    mentions = relations[pairs]
    mentions[(mentions == SHARES) & is_quoted & ~is_other] = QUOTES
    mentions[(mentions == SHARES) & is_other & ~is_quoted] = QUOTED_IN
    return mentions, shares[pairs]


def _note_records(
    plan: RunPlan, corpus: Corpus, rows: NDArray[np.int64], state: str | None
) -> SourceStrikes | ArgumentError:
    """Note the records of the documents with these rows, or why they cannot be written anew."""
    side = corpus.sides[0]
    records = SourceRecords.of(plan, side, RecordNumbers.none(), state)
    if isinstance(records, ArgumentError):
        return records
    assert isinstance(side, SourceSide)
    numbers = side.numbers()
    inside = np.minimum(rows, len(numbers) - 1)  # those of the second side are not struck
    return SourceStrikes(records=records, numbers=numbers[inside], are_first=corpus.is_across)


def _fold_corpus(corpus: Corpus, spill: Spill) -> tuple[Flat, NDArray[np.int64]]:
    """Fold the texts of all documents to letters, and count the words of each."""
    letters, words, size = spill.lists(), [np.empty(0, dtype=np.int64)], 0

    def read(part: slice) -> Packed:
        texts = corpus.texts(range(len(corpus))[part])
        return texts if isinstance(texts, Packed) else pack([text or "" for text in texts])

    parts = split_fitting(len(corpus), lambda: (len(letters), size))
    threads = count_cores()
    with thread_pool(1) as reader, thread_pool(threads) as folders:
        texts = prefetch(reader, read, parts)
        for folded in prefetch(folders, fold_texts, texts, at_once=threads):
            letters.extend(Flat(folded.letters, folded.bounds))
            words.append(folded.words)
            size += len(folded.letters)
    values, bounds = letters.flat()
    return Flat(values.astype(np.uint16, copy=False), bounds), np.concatenate(words)
