"""annotate --into: the texts of a collection, indexed into another."""

from __future__ import annotations

import time
from collections.abc import Iterator

from neardup_solr.progress import Progress, ignore
from neardup_solr.records import Document
from neardup_solr.settings_by_name import DEFAULT_SETTINGS
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, SETTINGS, TEXT
from neardup_solr.solr.unsigned import roots_only
from neardup_solr.verbs.annotate.needs import MD5, AnnotateTask
from neardup_solr.verbs.annotate.request import AnnotateRequest
from neardup_solr.verbs.annotate.rewrite import pages
from neardup_solr.verbs.annotate.settings_choice import choose_settings
from neardup_solr.verbs.annotate.summary import AnnotateSummary
from neardup_solr.verbs.field_names import own_fields
from neardup_solr.verbs.index import index_source
from neardup_solr.verbs.losses import LossCheck
from neardup_solr.verbs.text_fields import require_texts
from neardup_solr.verbs.update_safety import NATIVE, require_other


def copy_texts(
    request: AnnotateRequest, collection: Collection, other: Collection, patience: float
) -> AnnotateSummary:
    """Index the texts of a collection into another, but those that it has already."""
    require_texts(collection, schema.read_schema(collection), collection.names.text)
    require_other(collection, other)
    losses = LossCheck(other, own_fields(other) | {*other.names.fields([ID, TEXT]), NATIVE})
    task = AnnotateTask(
        settings=choose_settings(other, request.settings, DEFAULT_SETTINGS, collection)
    )
    collection.commit()
    filters = [*request.query, *roots_only(schema.read_schema(collection))]
    pace = request.pace
    on_progress = request.on_progress or ignore
    total, read, gone = collection.count(filters), 0, 0

    def documents() -> Iterator[Document]:
        """Yield the documents that the other lacks or has with another text, at that pace."""
        nonlocal read, gone, losses
        since = time.monotonic()
        for page in pages(collection.ids(filters), pace.batch):
            texts = {row["id"]: row.get(TEXT) for row in collection.stored(page, [TEXT])}
            copies = {row["id"]: row for row in other.stored(page, [MD5, SETTINGS])}
            read += len(page)
            gone += len(page) - len(texts)
            needed = [
                Document(id=id, text=text or "")
                for id, text in texts.items()
                if task.needs_fields(copies.get(id, {}), text)
            ]
            if replaced := [each.id for each in needed if each.id in copies]:
                losses = losses.renew()
                losses.require_only(replaced)
            yield from needed
            on_progress(Progress("annotating", read, max(total, read)))
            since = pace.wait(len(needed), since)

    summary = index_source(
        documents(), other, id="id", keep=(), settings=task.settings, threads=pace.threads,
        batch=pace.batch, patience=patience, on_error=request.on_error,
    )  # fmt: skip
    counts = {"errors": summary.errors, "seconds": summary.seconds, "redone": 0}
    return task.summary(read=read, gone=gone, failed=summary.failed, **counts)
