"""evaluate: precision, recall and F1 of the pairs of a result."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import Any

from neardup_solr import records
from neardup_solr.argument_types import Frame
from neardup_solr.checks import require
from neardup_solr.clusters.components import Partition
from neardup_solr.errors import DataError
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId
from neardup_solr.verbs.evaluate.evaluation import Evaluation
from neardup_solr.verbs.evaluate.id_pairs import (
    IdPair,
    KnownPairs,
    PairResult,
    SomePairs,
    columns_of,
    has_whole_ids,
    is_report,
    list_pairs,
    read_similarities,
    sort_pairs,
    write_numbers,
)
from neardup_solr.verbs.evaluate.precision import JudgedPairs, precision_of

MOST_CLOSED = 2_000_000  # pairs that follow from known ones


def evaluate_result(
    known: KnownPairs,
    found: PairResult | SomePairs | Frame | str | Path,
    *,
    ordered: bool | None,
    as_given: bool,
) -> Evaluation:
    """Compare the pairs of a result with known pairs."""
    columns = columns_of(known)
    if is_report(known, columns) and not is_report(found, columns_of(found)):
        reason, step = "`known` is a report, but the result is not", "give the known pairs first"
        raise DataError(reason, step, code="arguments-conflict")
    has_sides = getattr(found, "against", None) if ordered is None else ordered
    in_order = bool(has_sides)
    answers = JudgedPairs.of(known, columns, in_order=in_order)
    if answers is not None:
        return _judge(answers, found, in_order=in_order)
    expected = list_pairs("known", known)
    reason = "`known` contains no pairs"
    require(bool(expected), reason, "give at least one known pair", DataError, code="no-pairs")
    reported = list_pairs("found", getattr(found, "pairs", found))
    ids = {str(id) for pair in reported for id in pair}
    if ids and ids.isdisjoint(str(id) for pair in expected for id in pair):
        problem = "none of the ids in the known pairs occurs in a found pair"
        LOG.warning("%s: check that both refer to the same documents", problem)
    are_whole = has_whole_ids(found)
    return evaluate_pairs(
        expected, reported, are_whole=are_whole, has_sides=has_sides, as_given=as_given
    )


def _judge(answers: JudgedPairs, result: Any, *, in_order: bool) -> Evaluation:
    """Estimate the precision of a result from the answers to a sample of its pairs."""
    similarities = read_similarities(result, in_order=in_order)
    here = answers.of_pairs(similarities)
    return Evaluation(
        found=len(similarities),
        known=len(here.same),
        missed=(),
        false=sort_pairs(write_numbers(here.different, are_whole=has_whole_ids(result))),
        share=precision_of(similarities, here),
    )


def evaluate_pairs(
    expected: Sequence[IdPair],
    reported: Sequence[IdPair],
    *,
    are_whole: bool = False,
    has_sides: bool | None = None,
    as_given: bool = False,
) -> Evaluation:
    """Compare reported with expected pairs. If they have sides, the order within a pair counts.

    None stands for pairs without an order, which are of two sides if no id is on both.

    An id is equal to its text. Those that were missed, or are false, have their ids as in the
    arguments, but whole numbers if all ids of the result `are_whole`. Pairs that follow from
    expected pairs are expected, too, unless these are to be taken `as_given`.
    """
    in_order = bool(has_sides)
    if has_sides is None:
        firsts, seconds = ({str(pair[end]) for pair in (*expected, *reported)} for end in (0, 1))
        has_sides = firsts.isdisjoint(seconds)
    follow = () if as_given else close_pairs(expected, has_sides)
    listed, closed, results = (
        _by_text(write_numbers(pairs, are_whole=are_whole), in_order=in_order)
        for pairs in (expected, follow, reported)
    )
    right = closed | listed
    return Evaluation(
        found=len(results),
        known=len(right),
        missed=sort_pairs(pair for ids, pair in right.items() if ids not in results),
        false=sort_pairs(pair for ids, pair in results.items() if ids not in right),
        closed=len(right) - len(listed),
    )


def close_pairs(pairs: Iterable[IdPair], has_sides: bool) -> list[IdPair]:
    """Make all pairs of what chains of pairs connect. If these are of two sides, only pairs across.

    If they would be more than MOST_CLOSED, a warning is logged instead.
    """
    partition, ids = Partition(), dict[tuple[str, int], AnyId]()
    for pair in pairs:
        ends = [(str(id), side * has_sides) for side, id in enumerate(pair)]
        ids.update(zip(ends, pair, strict=True))
        partition.unite(*ends)
    clusters = defaultdict[Any, list[tuple[str, int]]](list)
    for end in sorted(ids, key=itemgetter(1)):
        clusters[partition.find(end)].append(end)
    if (count := sum(math.comb(len(members), 2) for members in clusters.values())) > MOST_CLOSED:
        LOG.warning("%s pairs follow from known pairs: too many, so none is added", f"{count:,}")
        return []
    return [
        (ids[end], ids[later])
        for ends in clusters.values()
        for end, later in combinations(ends, 2)
        if not has_sides or end[1] != later[1]
    ]


def _by_text(pairs: Iterable[IdPair], *, in_order: bool) -> dict[IdPair, IdPair]:
    """Map pairs by the texts of their ids, in natural order unless theirs counts."""
    in_turn = (pair if in_order else records.ordered(*pair) for pair in pairs)
    return {(str(id), str(other_id)): (id, other_id) for id, other_id in in_turn}
