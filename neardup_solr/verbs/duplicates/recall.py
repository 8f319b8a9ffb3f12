"""The columns that an earlier run has compared, for a source without a text and without names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from neardup_solr.arguments import Source
from neardup_solr.checks import listed
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.files import read_arrays
from neardup_solr.measures import AUTO
from neardup_solr.progress import ignore
from neardup_solr.sources.choice import Chosen
from neardup_solr.sources.column import matches
from neardup_solr.sources.reader import open_source
from neardup_solr.sources.reading import ROW, reading_of
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.request import DuplicatesRequest

FIRST_LINE = b"neardup duplicates: what the next run need not compare\n"


def recall_columns(request: DuplicatesRequest) -> DuplicatesRequest:
    """Fill in the columns of the earlier run, if it has compared some that the source still has.

    Else they are chosen by their values, which may be others once more records have come.
    """
    source = request.source
    named = source.text if isinstance(source, Source) else None
    is_open = request.fields is None and request.model is None and request.measure == AUTO
    is_open &= named is None and listed(request.text) == ("text",)
    if not (request.remember and is_open) or is_collection(source):
        return request
    try:
        stored = read_arrays(Path(request.remember), FIRST_LINE)
        opened = open_source(*reading_of(source, "number"), on_notice=ignore)
        names = opened.column_names()
    except (ArgumentError, SourceError):  # whoever opens the two tells
        return request
    if isinstance(stored, str) or not (fields := stored[0].get("fields")):
        return request
    about, id = stored[0], request.id or stored[0]["id"]
    needed = [*fields, *about["beside"], *([] if id == ROW else [id])]
    if matches("text", names) or not all(len(matches(name, names)) == 1 for name in needed):
        return request
    spelled = [name if kind == "text" else f"{name}:{kind}" for name, kind in fields.items()]
    request.on_choice(Chosen(opened.label, {"id": id, "fields": spelled}, ""))
    return replace(request, id=id, fields=fields, beside=tuple(about["beside"]))
