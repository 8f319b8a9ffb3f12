"""The main path of `passages`: documents, their letters, seeds in common, passages, relations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_seed import Rows, Seeds, collect_seeds, match_texts
from neardup_solr.candidates.passage_columns import PassageColumns
from neardup_solr.candidates.passages import choose_min_words, least_letters, round_passages
from neardup_solr.cores import count_cores
from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Flat
from neardup_solr.memory import Spill
from neardup_solr.progress import Progress
from neardup_solr.settings import SEED_CAP
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.corpus import Corpus, read_corpus
from neardup_solr.verbs.duplicates.from_source import SourceSide
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.record_numbers import RecordNumbers
from neardup_solr.verbs.duplicates.unique import SourceRecords, identify
from neardup_solr.verbs.passages.cut import cut_texts
from neardup_solr.verbs.passages.request import PassagesRequest
from neardup_solr.verbs.passages.result import Passages
from neardup_solr.verbs.passages.strike import SourceStrikes

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
        letters, words = corpus.read_letters()
        plan.on_progress(Progress(MATCHING, 0, len(corpus)))
        seeds = collect_seeds(letters, count_cores())
        sizes = np.diff(letters.bounds)
        min_words = request.min_words or choose_min_words(int(words.sum()))
        rows = _match(plan, corpus, letters, seeds, least_letters(sizes, words, min_words))
        rows = round_passages(letters, rows, min_words)
        plan.on_progress(Progress("cutting", 0))
        cut = cut_texts(rows, corpus.texts, has_texts=request.texts)
        needed = sort_distinct(rows[:, :2].ravel())
        sides = corpus.sides
        for side in sides:
            side.failures.warn()
        owners = np.searchsorted(needed, rows[:, :2])
        ids = corpus.ids(needed.tolist())
        columns = PassageColumns.of(ids, owners, rows, sizes, cut)
        return Passages(
            _columns=columns,
            _strikes=_note_records(plan, corpus, needed, state),
            documents=sum(side.documents for side in sides),
            min_words=min_words,
            against=corpus.is_across,
            cap=SEED_CAP,
            hot=int(np.count_nonzero(np.diff(seeds.group_ends) > SEED_CAP)),
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
