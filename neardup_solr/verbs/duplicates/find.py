"""The main path of `duplicates`: request, plan, corpus, candidates, verified pairs, result."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from neardup_solr.argument_types import PairMeasure
from neardup_solr.errors import SourceError
from neardup_solr.files import paths_of
from neardup_solr.measures import measure_named
from neardup_solr.memory import Spill
from neardup_solr.progress import LOG, Progress
from neardup_solr.sources.notes import log_note
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.candidate_pairs import JOINING, name_way
from neardup_solr.verbs.duplicates.checkpoint import delete_checkpoint
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import Corpus, read_corpus
from neardup_solr.verbs.duplicates.doubts import Doubts, KnownTemplates, find_doubts
from neardup_solr.verbs.duplicates.group import make_compare
from neardup_solr.verbs.duplicates.outcome import make_result
from neardup_solr.verbs.duplicates.pairing import pair_documents
from neardup_solr.verbs.duplicates.plan import RunPlan, make_plan
from neardup_solr.verbs.duplicates.remember import EarlierRun
from neardup_solr.verbs.duplicates.remember_records import EarlierRecords
from neardup_solr.verbs.duplicates.request import DuplicatesRequest
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.duplicates.row_answers import find_answered
from neardup_solr.verbs.duplicates.unique import identify

# What becomes of records whose id came before; those that fail are told as such.
REPEATED = {
    "keep": "each of them is compared, with its row number added to the id, as in 12@row7",
    "last": "only the last record for each id is used",
    "first": "only the first record for each id is used",
}
DRIFT = (
    "The new records are unlike those that taught the weights: %s;"
    " to learn the weights anew, delete the file of `remember`."
)
ROWS = '; to filter a table by `removed`, set id=":row", which numbers its rows from 1'


def find_duplicates(request: DuplicatesRequest) -> Duplicates:
    """Find all near-duplicates. At the end the checkpoint is deleted."""
    plan = make_plan(request)
    result = run_plan(plan)
    if plan.checkpoint is not None:
        delete_checkpoint(plan.checkpoint)
    return result


def run_plan(plan: RunPlan) -> Duplicates:
    """Find all near-duplicates, and wait for the Solr of a collection while it is away."""
    if any(map(is_collection, plan.sources)):
        from neardup_solr.solr.patience import keep_patience

        with keep_patience(plan.sources, plan.patience):
            return _find_duplicates(plan)
    return _find_duplicates(plan)


def _find_duplicates(plan: RunPlan) -> Duplicates:
    """Read, pair what may be near, compare, group, and make the result."""
    if plan.request.by == "bands":
        warn_of_bands(cast(PairMeasure, plan.measure.name))
    earlier = _open_earlier(plan)
    state = identify(plan.source, plan.readings[0])
    with Spill(memory=plan.memory) as spill:
        corpus = read_corpus(plan, spill)
        plan.on_progress(Progress(JOINING, 0))
        comparison = Comparison.of(plan, corpus)
        way = name_way(plan, corpus, comparison.distinct)
        if earlier is not None:
            comparison = earlier.match(comparison, way)
        if plan.answers is not None:
            answers = find_answered(
                corpus, plan.answers, unsure_apart=plan.request.unsure_apart
            )  # fmt: skip
            comparison = replace(comparison, answers=answers)
        candidates, verified, grouped, rows = pair_documents(
            comparison, way, earlier, keeps=True, on_progress=plan.on_progress
        )
        compare = make_compare(comparison, rows)
        doubts, remedy, known = Doubts(), "", KnownTemplates()
        if not plan.request.reach:  # a review removes nothing, and asks about doubtful pairs
            doubts = find_doubts(corpus, comparison.comparer.limits, grouped, rows, compare, known)
        if doubts:
            from neardup_solr.verbs.duplicates.remedies import Remedies

            remedy = Remedies.of(comparison, grouped, rows, doubts, known).find()
        _warn_of_records(plan, corpus)
        since = None if earlier is None else earlier.complete(comparison)
        if since is not None and since.drift:
            LOG.warning(DRIFT, since.drift)
        result = make_result(
            comparison, way, candidates, verified, grouped, rows, doubts=doubts, remedy=remedy,
            since=since, state=state,
        ).mark_doubted()  # fmt: skip
    if not plan.request.reach:
        _warn_of_doubts(result)
    if earlier is not None:
        try:
            earlier.write(comparison)
        except SourceError as error:
            LOG.warning("the next run will compare everything again: %s", error)
    return result


def _open_earlier(plan: RunPlan) -> EarlierRun | EarlierRecords | None:
    """Open the file of an earlier run, if one is named."""
    if plan.remember is None:
        return None
    return EarlierRecords(plan.remember) if plan.fields else EarlierRun(plan.remember)


def _warn_of_doubts(result: Duplicates) -> None:
    """Log what may be no copies, or else how many pairs the threshold decides upon."""
    if doubt := result.doubt:
        LOG.warning("%s.", doubt)
    elif result.borderline is not None and (unsure := result.borderline.unsure):
        LOG.warning("%s neardup review asks about such pairs.", unsure)


def warn_of_bands(measure: PairMeasure) -> None:
    """Log that candidates by bands are few of those that a measure looks for, if they are."""
    if (way := measure_named(measure).way) in ("shingles", "passages"):
        LOG.warning("bands miss most excerpts from longer texts; %s find them", way)


def _warn_of_records(plan: RunPlan, corpus: Corpus) -> None:
    """Log how many records could not be used, and how many repeat an id."""
    for side in corpus.sides:
        side.failures.warn()
    repeated = sum(side.repeated for side in corpus.sides)
    if repeated:
        records = "1 record repeats" if repeated == 1 else f"{repeated:,} records repeat"
        at = next(at for at, side in enumerate(corpus.sides) if side.repeated)
        source, on_repeat = plan.sources[at], plan.readings[at].on_repeat or "keep"
        is_table = paths_of(source) is None and not is_collection(source)
        advice = ROWS if is_table and on_repeat == "keep" else ""
        log_note(f"{records} an id: {REPEATED[on_repeat]}{advice}")
