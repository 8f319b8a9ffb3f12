"""gate: decide whether new documents may come in, by those of a collection."""

from __future__ import annotations

from dataclasses import replace

from neardup_solr import sources, units
from neardup_solr.answers.format import read_answers
from neardup_solr.checks import listed
from neardup_solr.files import paths_of
from neardup_solr.measures import measure_named
from neardup_solr.progress import Failures, ignore
from neardup_solr.sources import reading_of
from neardup_solr.sources.parts import list_parts
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


def open_gate(request: GateRequest) -> Decisions:
    """Prepare the decisions about a source, which are made when they are read."""
    request.check()
    source, reading = reading_of(request.source, "none")
    if (paths := paths_of(source)) is not None:
        list_parts(paths, reading)  # before a Solr is asked, or started
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
    records = sources.open_source(source, reading, on_progress=progress.count_bytes).records()
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
        patience=units.in_seconds(request.patience, "patience"),
        templates=None if request.yes else Templates(request.reject),
    )
    return Decisions(run.decide(records), run, source, _warns=index)
