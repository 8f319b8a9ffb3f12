"""duplicates: all near-duplicate pairs of a collection or a file, verified and clustered."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from neardup_solr.arguments import (
    Linkage,
    OneOrMore,
    PairMeasure,
    Way,
    checked,
)
from neardup_solr.errors import SourceError
from neardup_solr.measures import measure_named
from neardup_solr.memory import Spill, parse_memory
from neardup_solr.progress import LOG, OnError, OnProgress, Progress
from neardup_solr.settings import Settings
from neardup_solr.sources import is_collection, paths_of
from neardup_solr.verbs.duplicates import compare
from neardup_solr.verbs.duplicates.compare import Comparison, find_answered, find_candidates
from neardup_solr.verbs.duplicates.doubts import find_doubts
from neardup_solr.verbs.duplicates.group import group_verified, make_compare
from neardup_solr.verbs.duplicates.read import Compared, Corpus, Work, make_work, read_documents
from neardup_solr.verbs.duplicates.remember import Memory
from neardup_solr.verbs.duplicates.result import Duplicates, identify, make_result

# What becomes of records whose id came before; those that fail are told as such.
REPEATED = {
    "keep": "each of them is compared, with its row number added to the id, as in 12@row7",
    "last": "only the last record for each id is used",
    "first": "only the first record for each id is used",
}
ROWS = '; to filter a table by `removed`, set id=":row", which numbers its rows from 1'

__all__ = ["Duplicates", "duplicates"]


@checked
def duplicates(
    source: Compared,
    *,
    against: Compared | None = None,
    by: Way | None = None,
    measure: PairMeasure = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    answers: str | Path | None = None,
    model: str | Path | None = None,
    cap: int | None = None,
    linkage: Linkage | None = None,
    canonical: str = "first",
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    remember: str | Path | None = None,
    texts: bool | int | None = None,
    without_common: bool | float = False,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Duplicates:
    """Find all near-duplicate pairs of a collection or of a source, and group them in clusters.

    Example: `nd.duplicates("listings.csv", fields=["text", "city:exact"]).clusters`

    `settings` apply to a source; a collection has its own. If you give no `text` and no `fields`,
    and a source has no column "text", the columns to compare are guessed from its contents and
    logged. Records with the same id are all compared, under ids such as "12@row3", unless a
    `Source` has a different `on_repeat`. With `against`, each pair has a document from `source` and
    one from `against`.

    `by` names the terms that candidate pairs share: "bands" (LSH), "shingles" or rare "words".
    "all" compares every pair, the default for up to 2,000 short texts. If more than `cap` documents
    share a term, not all of them are paired; exact copies are still in one cluster.

    `fields` compares columns as "text", "exact", "number" or "date". The similarity is then the
    probability of a match, with weights estimated from all candidates (Fellegi and Sunter 1969);
    missing values carry no weight. Documents without a value in a `same` field have no pairs. An
    answer in `answers` applies unless a newer answer contradicts it or a text has changed.

    With `linkage` "single", one pair joins a document to a cluster; with "complete", it must form a
    pair with each document in it; with "mutual_best" and `against`, a pair counts only if neither
    document has a better match. That is the default for `fields` of two sources, whose records are
    compared as wholes, by weights that were learnt beforehand; else it is "single". `canonical` is
    "first", "longest", "shortest", "oldest", "oldest:FIELD" or "FIELD=wire,agency" (prefer the
    value wire, then agency).

    If Solr is away, the call waits for it, at most `patience` (seconds, or "5m").

    Large data goes to temporary files in $TMPDIR. The call fails if the candidates need more than
    $NEARDUP_MEMORY bytes (default: half of the machine's memory). A warning is logged if what
    would be removed may be no copies.

    Raises SettingsError if a collection lacks signatures, SourceError if a source cannot be read,
    SolrError if Solr does not answer.
    """
    return find_duplicates(make_work(locals()))


def plan(
    *,
    reach: float = 0.0,
    checkpoint: Path | None = None,
    memory: str | None = None,
    beside: tuple[str, ...] = (),
    **arguments: Any,
) -> Work:
    """Check some arguments of `duplicates`, with the others as they are by default.

    With `reach` pairs so far below the threshold are found as well. A file `checkpoint` keeps what
    is verified: after an interruption the same work goes on there. Delete it with the result.
    `memory` counts instead of $NEARDUP_MEMORY. Columns `beside` those that are compared may tell
    copies apart.
    """
    parameters = inspect.signature(duplicates).parameters
    values = {name: each.default for name, each in parameters.items()} | arguments
    values["beside"] = beside
    work = make_work(values, reach, checkpoint)
    return work if memory is None else replace(work, memory=parse_memory(memory, "memory"))


def find_duplicates(work: Work) -> Duplicates:
    """Find all near-duplicates, and wait for the Solr of a collection while it is away."""
    if not any(map(is_collection, work.sides)):
        return _find_duplicates(work)
    from neardup_solr.solr.collection import waiting

    with waiting(work.sides, work.patience):
        return _find_duplicates(work)


def _find_duplicates(work: Work) -> Duplicates:
    """Read, pair what may be near, compare, group, and make the result."""
    if work.by == "bands":
        warn_of_bands(cast(PairMeasure, work.measure.name))
    memory = None if work.remember is None else Memory(work.remember)
    state = identify(work.sides[0], work.readings[0])
    with Spill(memory=work.memory) as spill:
        documents = read_documents(work, spill)
        work.watching.on_progress(Progress(compare.JOINING, 0))
        comparison = Comparison.of(work, documents)
        way = work.choose_way(comparison.distinct, documents.fits)
        candidates = find_candidates(work, documents, way, comparison.copies, comparison.columns)
        if work.judged is not None:
            comparison = replace(comparison, answers=find_answered(documents, work.judged))
        if memory is not None:
            memory.match(work, documents)
        verified = comparison.verify(
            candidates.pairs,
            copies=candidates.copies,
            memory=memory,
            keeps=True,
            on_progress=work.watching.on_progress,
        )
        work.watching.on_progress(Progress("grouping", 0))
        if work.linkage == "mutual_best":
            from neardup_solr.measures.aligned import mutual_best

            verified.keep(mutual_best(verified.pairs, verified.similarities))
        comparison.add_same(verified)
        grouped, rows = group_verified(comparison, verified)
        doubts = find_doubts(work, documents, grouped, rows, make_compare(comparison, rows))
        remedy = ""
        if doubts:
            from neardup_solr.verbs.duplicates.remedies import Remedies

            remedy = Remedies.of(comparison, grouped, rows, doubts).find()
        _warn(work, documents)
        changes = None if memory is None else memory.changes
        result = make_result(
            comparison, way, candidates, verified, grouped, rows, doubts=doubts, remedy=remedy,
            since=changes, state=state,
        ).mark_doubted()  # fmt: skip
    if doubt := result.doubt:
        LOG.warning("%s.", doubt)
    elif result.borderline is not None and (unsure := result.borderline.unsure):
        LOG.warning("%s neardup review asks about such pairs.", unsure)
    if memory is not None:
        try:
            memory.write(work)
        except SourceError as error:
            LOG.warning("the next run will compare everything again: %s", error)
    return result


def warn_of_bands(measure: PairMeasure) -> None:
    """Log that candidates by bands are few of those that a measure looks for, if they are."""
    if measure_named(measure).way == "shingles":
        LOG.warning("bands miss most excerpts from longer texts; shingles find them")


def _warn(work: Work, documents: Corpus) -> None:
    """Log how many records could not be used, and how many repeat an id."""
    for side in documents.sides:
        side.failures.warn()
    repeated = sum(side.repeated for side in documents.sides)
    if repeated:
        records = "1 record repeats" if repeated == 1 else f"{repeated:,} records repeat"
        at = next(at for at, side in enumerate(documents.sides) if side.repeated)
        source, on_repeat = work.sides[at], work.readings[at].on_repeat or "keep"
        is_table = paths_of(source) is None and not is_collection(source)
        advice = ROWS if is_table and on_repeat == "keep" else ""
        LOG.warning("%s an id: %s%s", records, REPEATED[on_repeat], advice)
