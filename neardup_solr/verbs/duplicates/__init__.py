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
from neardup_solr.progress import LOG, OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.sources import is_collection, paths_of
from neardup_solr.verbs.duplicates.compare import Comparison, find_answered, find_candidates
from neardup_solr.verbs.duplicates.group import group_verified
from neardup_solr.verbs.duplicates.read import Compared, Corpus, Work, make_work, read_documents
from neardup_solr.verbs.duplicates.remember import Memory
from neardup_solr.verbs.duplicates.result import Duplicates, identify, make_result

# What becomes of records whose id came before; those that fail are told as such.
REPEATED = {
    "keep": "each counts, and its row comes to its id, as in 12@row7",
    "last": "the last one counts",
    "first": "the first one counts",
}
ROWS = '; to filter a table by `removed`, give id=":row", which numbers its rows from 1 on'

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
    linkage: Linkage = "single",
    canonical: str = "first",
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    remember: str | Path | None = None,
    texts: bool | int | None = None,
    without_common: bool | float = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Duplicates:
    """Find all near-duplicate pairs of a collection, or of a source without any Solr, in clusters.

    For a collection, the stored signatures are read and its own settings apply; a source is signed
    with `settings` (a mapping, or Settings). `id`, `text` and `keep` name its columns, as for
    `read`; the id ":row" numbers its records, which is done if no id is named and nothing looks
    like one. If an id comes again in it, each of its records counts, and the numbers of the records
    tell them apart: "12@row3", "12@row7", unless `on_repeat` of its `Source` says otherwise.

    With `against`, the documents of the source are compared with those of another collection or
    source, whose columns have the same names unless its `Source` names others. The first id of a
    pair is the source's.

    Candidates are found `by` "bands" (they share an LSH band), "shingles" (a sample of one's
    shingles says that the other may have enough of all; the default for the measure "containment",
    and possible for "jaccard"), "words" (they share a word that few documents have; for short
    records, and the default for the measure "aligned") or "all" (every pair; the default up to
    2,000 documents). If more than `cap` documents have a band key, a shingle or a word, not all of
    them are paired. Candidates are compared by `measure`; they count if they are at most
    `max_distance` words apart and at least `min_similarity` (0..1) similar (default: the threshold
    of the measure).

    With `fields`, records are compared by their columns (in a collection, by fields that are kept
    there), apart from each other: {"name": "text", "zip": "exact"}, or "name", "zip:exact". A field
    is text (compared as by "aligned"), exact, a number or a date; a missing value is no evidence.
    What each field says is learnt from all candidates, without answers; the similarity is the
    probability that the two are the same, 0.5 or more by default. Candidates come from the fields
    of a source together, or from `text`; in a collection, from the text that was indexed. If a
    source has no column "text", and no other one is named, fields, or a text, and the id are chosen
    by the values of its columns; two lines are logged on what was chosen and left out.

    Of a collection only documents that match `fq`, Solr filter queries, are read. With `same`, the
    names of fields or columns (a tenant, a language), only documents with equal values of all of
    them are compared; one that lacks a value, or has an empty one, is compared with nothing.
    With `equal` near-duplicates also have to have in common the "numbers" (versions, years,
    amounts, "Part II"), or all that a regular expression finds, such as "not|never".

    `answers` names a file with the answers of people. A pair that was judged
    different is not found, and its documents are never in one cluster, by no chain; those of a pair
    that was judged same always are, however similar they are. Answers are not obeyed if newer ones
    contradict them, or if a text has changed since; a line tells how many.

    `model` names a file that `tune` has written: what people answered about such documents. It has
    its own measure and fields; the similarity is the probability that two documents are the same.

    With `linkage` "single", pairs connect the documents of a cluster; with "complete", any two of
    them are a pair; with "mutual_best", for two sides that list each thing once, a pair counts if
    each of its documents is the other's most similar one. `canonical` is the rule for the document
    to keep: "first" (record of the source, or id in natural order, of a collection or two sides),
    "longest", "shortest", "oldest", "oldest:FIELD" (its least value), or trusted values,
    "FIELD=wire,agency". Pairs are sorted by their clusters, then by their ids; a cluster is named
    by its first id in natural order.

    Texts that are equal in their normal form are always compared, whatever `by` and `cap` are, and
    `cap` counts them once for a word; `copies` of the result counts them.

    With `without_common`, texts are compared without the runs of words that many documents share:
    boilerplate of pages, footers of mails, templates. How many documents that are is chosen by the
    texts, or given as a share of them (0..1). A text of which nothing is left counts only with its
    exact copies. Texts that are shown and written stay whole.

    About $NEARDUP_MEMORY bytes at most are used for a search of candidates (such as 4G; default:
    half of the machine's); what was read is in files without a name, in the folder $TMPDIR.
    `remember` names a file that keeps what was compared: the next call compares only documents that
    came or changed since, and gives what a full one would. With `texts` the result
    has the texts of its pairs; a number asks for those of so many of the largest clusters. Without
    it the result of a source still has those that a page shows; False leaves them out. `on_error`
    is told of each record that cannot be used, `on_progress` how far a stage is: "reading",
    "joining", "texts", "comparing".

    Files are written by the result: `write`, and `write_unique` for the source without its
    near-duplicates. If clusters may be templates instead of copies (`templates` of the result), a
    warning is logged.

    Raises SettingsError if a collection lacks the signatures, SourceError if a source cannot be
    read as a whole, SolrError if Solr does not answer.
    """
    return find_duplicates(make_work(locals()))


def plan(
    *,
    reach: float = 0.0,
    checkpoint: Path | None = None,
    memory: str | None = None,
    **arguments: Any,
) -> Work:
    """Check some arguments of `duplicates`, with the others as they are by default.

    With `reach` pairs so far below the threshold are found as well. A file `checkpoint` keeps what
    is verified: after an interruption the same work goes on there. Delete it with the result.
    `memory` counts instead of $NEARDUP_MEMORY.
    """
    parameters = inspect.signature(duplicates).parameters
    values = {name: each.default for name, each in parameters.items()} | arguments
    work = make_work(values, reach, checkpoint)
    return work if memory is None else replace(work, memory=parse_memory(memory, "memory"))


def find_duplicates(work: Work) -> Duplicates:
    """Find all near-duplicates: read, pair what may be near, compare, group, make the result."""
    if work.by == "bands":
        warn_of_bands(cast(PairMeasure, work.measure.name))
    memory = None if work.remember is None else Memory(work.remember)
    state = identify(work.sides[0], work.readings[0])
    with Spill(memory=work.memory) as spill:
        documents = read_documents(work, spill)
        comparison = Comparison.of(work, documents)
        way = work.choose_way(comparison.distinct, documents.fits)
        candidates = find_candidates(work, documents, way, comparison.copies)
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
        if work.linkage == "mutual_best":
            from neardup_solr.measures.aligned import mutual_best

            verified.keep(mutual_best(verified.pairs, verified.similarities))
        comparison.add_same(verified)
        grouped, rows = group_verified(comparison, verified)
        _warn(work, documents)
        changes = None if memory is None else memory.changes
        result = make_result(
            comparison, way, candidates, verified, grouped, rows, since=changes, state=state
        )
    if doubt := result.doubt:
        LOG.warning("%s.", doubt)
    if memory is not None:
        try:
            memory.write(work)
        except SourceError as error:
            LOG.warning("the next run will compare all of this again: %s", error)
    return result


def warn_of_bands(measure: PairMeasure) -> None:
    """Log that candidates by bands are few of those that a measure looks for, if they are."""
    if measure_named(measure).way == "shingles":
        LOG.warning("by bands most excerpts of longer texts are missed; by shingles they are found")


def _warn(work: Work, documents: Corpus) -> None:
    """Log how many records could not be used, and how many repeat an id."""
    for side in documents.sides:
        side.failures.warn()
    repeated = sum(side.repeated for side in documents.sides)
    if repeated:
        records = "1 record repeats" if repeated == 1 else f"{repeated:,} records repeat"
        source = work.sides[0]
        is_table = paths_of(source) is None and not is_collection(source)
        on_repeat = work.readings[0].on_repeat or "keep"
        advice = ROWS if is_table and on_repeat == "keep" else ""
        LOG.warning("%s an id: %s%s", records, REPEATED[on_repeat], advice)
