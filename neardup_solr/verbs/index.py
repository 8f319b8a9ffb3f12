"""index: documents into a collection, with the fields of near-duplicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from neardup_solr import sources, units
from neardup_solr.argument_types import OneOrMore
from neardup_solr.checks import require, require_positive
from neardup_solr.errors import SettingsError
from neardup_solr.index_job import Job
from neardup_solr.progress import Failures, OnError, OnProgress, ignore
from neardup_solr.records import check_documents
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import TEXT
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.sources.column import check_keep
from neardup_solr.verbs.columns_to_keep import ColumnsToKeep
from neardup_solr.verbs.delivery import Delivery
from neardup_solr.verbs.index_run import IndexRun, IndexSummary


def index_source(
    source: SourceLike,
    collection: Collection,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    threads: int = 2,
    batch: int = 500,
    checkpoint_every: int = 20_000,
    patience: float | str = "5m",
    min_replicas: int = 1,
    job: str | Path | None = None,
    resume: bool = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> IndexSummary:
    """Index a source into a collection, and verify that it is there."""
    source, reading = reading_of(source, "refuse", id=id, text=text, keep=keep)
    check_keep(reading.keep)
    require_positive(threads=threads, batch=batch)
    require_positive(checkpoint_every=checkpoint_every, min_replicas=min_replicas)
    patience = units.in_seconds(patience, "patience")
    reason = "`on_repeat` cannot be keep: a collection has only one document per id"
    step = "set it to last, first or fail"
    require(reading.on_repeat != "keep", reason, step, code="argument-invalid")
    step = "name the folder of the job"
    require(job is not None or not resume, "`resume` needs a `job`", step, code="argument-missing")
    reason = f"`job` cannot be {str(job)!r}"
    require(str(job).strip() not in ("", "."), reason, "name a folder", code="argument-invalid")
    _require_one_text_field(collection, reading.text)
    run = IndexRun(
        source=source,
        reading=reading,
        collection=collection,
        batch=batch,
        failures=Failures(on_error),
        progress=sources.make_progress("indexing", source, on_progress or ignore),
    )
    folder = nullcontext() if job is None else Job(Path(job))
    with collection.session.outages.waited_for(patience), run.notes_on_errors(), folder as opened:
        if opened is not None:
            run.open_job(opened, resume=resume)
        read = sources.open_source(source, reading, on_progress=run.progress.count_bytes)
        run.batches = run.make_batches(check_documents(read.pieces()))
        chosen = run.choose_settings(settings, min_replicas)
        collection.require_fields(["id", *chosen.fields])
        collection.require_placed(min_replicas)
        if keep is None or not collection.names.is_plain:
            run.batches = ColumnsToKeep(collection).guard(run.batches)
        delivery = Delivery(
            collection=collection,
            settings=chosen,
            as_record=run.reading.as_record,
            batch=batch,
            min_replicas=min_replicas,
            threads=threads,
            checkpoint_every=checkpoint_every,
            on_sent=run.acknowledge,
            on_verified=run.keep_checkpoint,
        )
        run.has_begun = True
        delivery.run(run.batches, run.begin.read)
        summary = run.summary(delivery)
        run.end()
        run.failures.warn()
        return summary


def _require_one_text_field(collection: Collection, columns: Sequence[str]) -> None:
    """Refuse to write texts of several fields or columns into the one field of another schema."""
    fields = collection.names.text
    if fields == (TEXT,) or len(fields) == len(columns) == 1:
        return
    step = "post the documents with your own program, then run: "
    step += f"neardup annotate {collection.place}"
    of = f"the text of {collection.name!r} is"
    if len(fields) > 1:
        reason = f"{of} in several fields ({', '.join(fields)}), but `index` writes only one"
        raise SettingsError(reason, step, code="collection-unfit")
    joined = f"{' and '.join(columns)} would be joined in {fields[0]!r}"
    step = f"name one with `text` and the others with `keep`, or {step}"
    raise SettingsError(f"{of} in a single field: {joined}", step, code="collection-unfit")
