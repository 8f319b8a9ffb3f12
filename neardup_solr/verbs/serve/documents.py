"""The documents of a request: what they are called, what they lack, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup_solr import errors
from neardup_solr.records import Document, as_whole, make_refusal
from neardup_solr.solr.names import ID, TEXT
from neardup_solr.sources.column import find_key
from neardup_solr.sources.objects import from_objects
from neardup_solr.sources.part import Record, SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.web.body import FAULT

OF_TEXT = ("text", TEXT)  # what we call the text of a document

Json = dict[str, Any]


def read_documents(objects: Sequence[object], reading: Reading) -> list[Record]:
    """Make documents of the objects of a request, and an error of each that is none."""
    records: list[tuple[str, object, bytes]] = []
    for number, each in enumerate(objects):
        position = f"documents[{number}]"
        renamed = _rename(each, position, reading) if isinstance(each, dict) else each
        records.append((position, renamed, b""))
    source = SourcePart(label="documents", name="documents", path=None, reading=reading)
    return [(isinstance(record, Document) and make_refusal(record)) or record
            for record in from_objects(source, records, reading)]  # fmt: skip


def _rename(document: Json, position: str, reading: Reading) -> Json | errors.RecordError:
    """Call key and text of a document as the collection does, if they have our names.

    A name of the collection's always means its field. An error says that both are present, and
    differ: nobody knows then which document, or which text, is meant.
    """
    names = tuple(document)
    columns = {reading.id, *reading.text}
    if fault := document.get(FAULT):
        id_name = find_key(reading.id, names) if find_key(reading.id, names) in document else ID
        id = document.get(str(id_name)) if fault[0] != id_name else None
        id = id if isinstance(id, str) else None
        return errors.RecordError(
            position, "the field {!r} {}".format(*fault), id, code="record-malformed"
        )
    renamed = dict(document)
    for role, theirs, ours in (("key", (reading.id,), (ID,)), ("text", reading.text, OF_TEXT)):
        of_theirs = [
            name for column in theirs if (name := str(find_key(column, names))) in document
        ]
        of_ours = [name for column in ours if column not in columns
                   and document.get(name := str(find_key(column, names))) is not None]  # fmt: skip
        alike = [*of_theirs[:1], *of_ours]
        if len({str(as_whole(document[name])) for name in alike}) > 1:
            both = f"{alike[0]!r} and {alike[-1]!r} both name the {role}, but differ"
            reason = f"{both}: omit one of them"
            return errors.RecordError(position, reason, record=document, code="record-malformed")
        if of_ours and not of_theirs:
            renamed[theirs[0]] = document[of_ours[0]]
    key = str(find_key(reading.id, tuple(renamed)))
    if type(renamed.get(key)) is float:  # as JSON has no other whole numbers, for some programs
        renamed[key] = as_whole(renamed[key])
    return renamed


def list_missing(document: Document, reading: Reading) -> list[str]:
    """List the fields, of those that are compared, that a document lacks."""
    texts = zip(reading.text, document.texts, strict=False)
    missing = [name for name, value in texts if value is None]
    return missing + [name for name in reading.keep if name not in document.kept]
