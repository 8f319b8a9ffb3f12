"""The beginning of a source: its columns, and some of its rows."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import paths_of
from neardup_solr.sources.blocks import is_of_excel
from neardup_solr.sources.formats import PARTS, SHEETS, WITHOUT_COLUMNS
from neardup_solr.sources.parts import list_parts, name_source
from neardup_solr.sources.reader import check_columns, open, open_part, until_damage
from neardup_solr.sources.reading import USUAL, Reading
from neardup_solr.sources.source import SourceLike
from neardup_solr.sources.values import Unusable

NAMED: Final = 100  # objects that are looked at for their names
LOOKED_AT: Final = 20_000  # records of a file, of which some show how its columns are


def read_text(source: str | Path, *, reading: Reading = USUAL) -> str:
    """Read a file as a text. "-" is standard input.

    Raises SourceError if it cannot be read, is not UTF-8 or is too large.
    """
    from neardup_solr.sources.text_files import Several, read_contents

    opened = name_source(source, reading)
    try:
        return read_contents(opened, reading.max_doc_bytes)
    except Unusable as problem:
        step = "give a shorter text, or one in UTF-8"
        raise opened.error(str(problem), step, code=problem.code) from problem
    except RecordError as error:
        raise opened.error(error.reason, "give a complete file", code=error.code) from error
    except Several:
        reason = "holds several texts"
        raise opened.error(reason, "give a file with one text", code="value-invalid") from None


def column_names(source: SourceLike, *, reading: Reading) -> list[Any]:
    """Read the names of the columns of a source, none if it has no columns, or is read once.

    Raises as `documents` does.
    """
    paths = paths_of(source)
    if paths is None:
        from neardup_solr.sources.in_memory import names_of

        return names_of(source)
    parts = list_parts(paths, reading)
    if not all(part.path is not None and part.path.is_file() for part in parts):  # but a pipe
        return []
    if parts[0].format in WITHOUT_COLUMNS:
        return []
    table = open_part(parts[0])
    if table.names is not None:
        return list(table.names)
    names: dict[Any, None] = {}  # each object has others
    for _, record in islice(until_damage(table), NAMED):
        with suppress(ValueError, RecursionError):
            names.update(dict.fromkeys(table.row(record) if record else ()))
    return list(names)


def require_columns(source: SourceLike, *, reading: Reading) -> None:
    """Refuse the parts of a table that lack a column that is needed, by SourceError."""
    parts = list_parts(paths_of(source) or [], reading)
    if len(parts) > 1:
        check_columns(parts)


def read_rows(source: SourceLike, *, reading: Reading, most: int) -> list[dict[Any, Any]]:
    """Read up to twice `most` rows with all columns, evenly from the whole, or from its beginning.

    Raises as `documents` does.
    """
    if paths_of(source) is None:
        from neardup_solr.sources.in_memory import rows_of

        return rows_of(source, most)
    records, step, rows = list[Any](), 1, list[dict[Any, Any]]()
    table = open(source, reading=reading)
    for at, (_, record) in enumerate(islice(table.records, LOOKED_AT)):
        if at % step == 0 and record is not None:
            records.append(record)
        if len(records) > 2 * most:
            records, step = records[::2], 2 * step
    for record in records:
        with suppress(ValueError, RecursionError):
            rows.append(table.row(record))
    return rows


def format_of(source: SourceLike, *, reading: Reading) -> str:
    """Look up the format of a source: that of its files, or "parts" if they have several.

    Raises SourceError if no suffix tells it.
    """
    formats = {part.format for part in list_parts(paths_of(source) or [], reading)}
    return formats.pop() or "lines" if len(formats) == 1 else PARTS


def is_for_excel(source: SourceLike, *, reading: Reading) -> bool:
    """Tell whether a source is a sheet of Excel, or has the mark by which that knows UTF-8."""
    try:
        parts = list_parts(paths_of(source) or [], reading)
        return any(part.format in SHEETS or is_of_excel(part) for part in parts)
    except (SourceError, OSError):  # which its reader reports
        return False
