"""gate: decide whether new documents may come in, by those of a collection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from neardup_solr import arguments, sources
from neardup_solr.answers.format import read_answers
from neardup_solr.arguments import Action, MeasureName, OneOrMore, checked, listed
from neardup_solr.measures import measure_named
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.verbs.collection_measure import measure_by
from neardup_solr.verbs.columns_to_keep import ColumnsToKeep
from neardup_solr.verbs.delivery import Delivery
from neardup_solr.verbs.gate.answers import make_answers
from neardup_solr.verbs.gate.decider import Decider, make_finder
from neardup_solr.verbs.gate.decisions import Decisions
from neardup_solr.verbs.gate.policy import TAG_FIELD
from neardup_solr.verbs.gate.request import GateRequest
from neardup_solr.verbs.gate.run import GateRun
from neardup_solr.verbs.gate.templates import Templates


@checked
def gate(
    source: SourceLike,
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    yes: bool = False,
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    index: bool = False,
    batch: int = 50,
    most: int = 100,
    answers: str | Path | None = None,
    patience: float | str = "5m",
    keep: OneOrMore | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Decisions:
    """Decide about each document of a source, in order: allow, tag, hold or reject.

    Example: `[each.action for each in nd.gate("new.jsonl", listings, reject=0.95)]`

    Each decision is made only when you read it: by a `for` loop, `list()`, `.to_pandas()`,
    `.to_polars()` or `.to_arrow()`. With `index`, documents are indexed only then.

    A document is compared with the documents in the collection that share an LSH band with it, and
    with earlier admitted documents, but not with the document that it replaces. The similarity (0
    to 1) of the best match decides. Without `tag`, `hold` and `reject`, a document is tagged if the
    similarity reaches the measure's threshold. `exact` is the minimum action for equal texts and
    for pairs answered "same". Texts from a template, which all differ in the same places, are held
    instead of rejected, unless `yes` is set.

    With `index`, each decision is returned once Solr has the document. A replacement must have all
    columns of the old document, unless `keep` is given. Documents lost by Solr are resent.

    Raises SettingsError if the collection lacks a required field, SourceError if the source cannot
    be read, SolrError if Solr does not answer; earlier decisions stay valid.
    """
    return open_gate(GateRequest(
        source, collection, tag=tag, hold=hold, reject=reject, exact=exact, yes=yes,
        measure=measure, model=model, max_distance=max_distance, equal=equal, fq=fq, index=index,
        batch=batch, most=most, answers=answers, patience=patience, keep=keep, on_error=on_error,
        on_progress=on_progress,
    ))  # fmt: skip


def open_gate(request: GateRequest) -> Decisions:
    """Prepare the decisions about a source, which are made when they are read."""
    request.check()
    collection, policy = request.collection, request.policy
    measure = measure_named(
        measure_by(collection, request.measure, request.model, request.max_distance)
    )
    policy = replace(policy, measure=measure)
    answers = None if request.answers is None else read_answers(request.answers)
    columns = request.keep
    if measure.fields:
        columns = tuple(dict.fromkeys([*listed(columns or ()), *measure.fields]))
    texts = collection.names.columns
    source, reading = reading_of(request.source, "refuse", text=texts, keep=columns, at_once=True)
    progress = sources.make_progress("deciding", source, request.on_progress or ignore)
    records = sources.records(source, reading=reading, on_progress=progress.count_bytes)
    index = request.index
    finder = make_finder(collection, policy, listed(request.fq), index=index, may_be_known=True)
    delivery = guard = None
    if index:
        collection.require_placed()
        delivery = Delivery(
            collection=collection,
            settings=finder.comparer.settings,
            as_record=reading.as_record,
        )
        guard = ColumnsToKeep(collection, {TAG_FIELD}) if columns is None else None
    decider = Decider(
        finder=finder,
        policy=policy,
        most=request.most,
        answers=None if answers is None else make_answers(collection, answers),
        is_indexing=index,
    )
    run = GateRun(
        decider=decider,
        batch=request.batch,
        failures=Failures(request.on_error),
        progress=progress,
        delivery=delivery,
        columns=guard,
        patience=arguments.in_seconds(request.patience, "patience"),
        templates=None if request.yes else Templates(request.reject),
    )
    return Decisions(run.decide(records), run, source, _warns=index)
