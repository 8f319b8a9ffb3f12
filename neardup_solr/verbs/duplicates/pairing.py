"""From documents to clusters: candidates, verified pairs, groups."""

from __future__ import annotations

from typing import NamedTuple

from neardup_solr.argument_types import Way
from neardup_solr.candidates import Candidates
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.verbs.duplicates.candidate_pairs import find_candidates
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.graph import Grouped, RowNumbers
from neardup_solr.verbs.duplicates.group import group_verified
from neardup_solr.verbs.duplicates.remember import EarlierRun
from neardup_solr.verbs.duplicates.remember_records import EarlierRecords
from neardup_solr.verbs.duplicates.verified import Verified


class Paired(NamedTuple):
    """Candidates, the verified pairs among them, and their clusters with the rows of documents."""

    candidates: Candidates
    verified: Verified
    grouped: Grouped
    rows: RowNumbers


def pair_documents(
    comparison: Comparison, way: Way, earlier: EarlierRun | EarlierRecords | None = None,
    *, keeps: bool = False, on_progress: OnProgress = ignore,
) -> Paired:  # fmt: skip
    """Pair what may be near, compare it, and group it.

    What an `earlier` run compared is not compared again; a checkpoint, if there is one, `keeps`
    what is.
    """
    plan, corpus = comparison.plan, comparison.corpus
    fresh = None if earlier is None else earlier.fresh
    candidates = find_candidates(plan, corpus, way, comparison.copies, comparison.columns, fresh)
    comparison = comparison.learn_from_all(way)
    verified = comparison.verify(
        candidates.pairs,
        copies=candidates.copies,
        earlier=earlier,
        keeps=keeps,
        on_progress=on_progress,
    )
    on_progress(Progress("grouping", 0))
    if plan.linkage == "mutual_best":
        from neardup_solr.measures.pairs import mutual_best

        verified.keep(mutual_best(verified.pairs, verified.similarities))
    comparison.add_same(verified)
    return Paired(candidates, verified, *group_verified(comparison, verified))
