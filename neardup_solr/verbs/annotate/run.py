"""annotate: the run that a request asks for, in place or into another collection."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from neardup_solr.checks import require
from neardup_solr.errors import SettingsError
from neardup_solr.progress import Failures, ignore
from neardup_solr.settings_by_name import ANNOTATED
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS, TEXT, VERSION, require_name
from neardup_solr.solr.query import having
from neardup_solr.solr.unsigned import roots_only
from neardup_solr.units import in_seconds
from neardup_solr.verbs import init
from neardup_solr.verbs.annotate.follow import Follower
from neardup_solr.verbs.annotate.into import copy_texts
from neardup_solr.verbs.annotate.needs import MD5, AnnotateTask
from neardup_solr.verbs.annotate.request import AnnotateRequest
from neardup_solr.verbs.annotate.rewrite import Rewrite
from neardup_solr.verbs.annotate.settings_choice import choose_settings
from neardup_solr.verbs.annotate.summary import AnnotateSummary
from neardup_solr.verbs.field_names import choose_names
from neardup_solr.verbs.update_safety import require_safe

READ = (TEXT, MD5, SETTINGS, VERSION)


def run_annotate(request: AnnotateRequest) -> AnnotateSummary:
    """Check a request, and add the computed fields to the documents that it selects."""
    pace = request.pace
    request.require_valid()
    patience = in_seconds(request.patience, "patience")
    with request.collection.session.outages.waited_for(patience):
        collection = _rename_fields(request)
        if (into := request.into) is not None:
            reason = f"{into!r} would be written into itself"
            step = "name a different collection with `into`"
            require(into != collection.name, reason, step, code="collection-unfit")
            other = into if isinstance(into, Collection) else _open_or_create(collection, into)
            return copy_texts(request, collection, other, patience)
        collection.require_fields(["id", SETTINGS])  # or the errors would be obscure
        safe = require_safe(collection)
        settings = choose_settings(collection, request.settings, ANNOTATED)
        task = AnnotateTask(settings=settings, which=request.which)
        make_orders = partial(task.make_orders, names=collection.names)
        failures, on_progress = Failures(request.on_error), request.on_progress or ignore
        run = Rewrite(collection, "annotating", READ, make_orders, pace, failures, on_progress)
        is_missing = request.which == "missing"
        missing = [f"-{having(collection.names.of(SETTINGS))}"] if is_missing else []
        filters = [*request.query, *missing, *roots_only(safe)]
        marks = dict[str, int]()
        if request.follow:
            remember = None if request.remember is None else Path(request.remember)
            marks = Follower(run, safe, filters, settings, remember=remember).follow()
        else:
            run.run(filters)
        return task.summary(read=run.read, gone=run.gone, **run.end(), **marks)


def _rename_fields(request: AnnotateRequest) -> Collection:
    """Give the collection other names of fields. In place they have to be those that it keeps."""
    collection, text, prefix = request.collection, request.text, request.prefix
    if not (text or prefix is not None):
        return collection
    choose_names(collection.names, "", text=text, prefix=prefix)  # refused before any request
    names = choose_names(
        collection.names, schema.read_schema(collection).key, text=text, prefix=prefix
    )
    if request.into is None and names != collection.names:
        reason = f"{collection.name!r} was not prepared with these field names"
        command = f"neardup init {collection.place}{names.options(collection.names)}"
        step = f"prepare it so that searches use them too: {command}"
        raise SettingsError(reason, step, code="fields-missing")
    return collection.with_names(names)


def _open_or_create(collection: Collection, name: str) -> Collection:
    """Open another collection of the same server, which is created if it is missing."""
    require_name(name)
    other = collection.beside(name)
    if not admin.exists(other):
        init.prepare(other)
    return other.with_names(other.kept_names())
