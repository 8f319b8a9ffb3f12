"""The first lines of standard input, which tell its format."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from neardup_solr.sources.blocks import MOST_BYTES, MOST_HEAD, read_ahead
from neardup_solr.sources.column import show_names
from neardup_solr.sources.delimiter import (
    DELIMITERS,
    SEPARATOR,
    allow_long_fields,
    list_fitting,
    split_fields,
)
from neardup_solr.sources.file_kinds import find_kind
from neardup_solr.sources.part import SourcePart

# The first lines tell the format of standard input, and if lines have ids.
MOST_LINES: Final = 5


def are_enough(head: bytes) -> bool:
    """Tell whether these bytes show the format. If someone types, the answer should come soon."""
    lines = _first_lines(head[: head.rfind(b"\n") + 1])
    if len(lines) >= MOST_LINES or len(head) > MOST_HEAD:
        return True
    if len(lines) > 1 and len(head) >= MOST_BYTES:
        return True
    return bool(lines) and (_is_json(head) or _is_plain(lines[0]))


def whole_lines(head: bytes) -> bytes:
    """Take the lines of a large beginning that are not cut off, or the first one as it is."""
    return head[: head.rfind(b"\n") + 1] or head if len(head) >= MOST_BYTES else head


def recognize(part: SourcePart) -> SourcePart:
    """Recognize the format of standard input by its first lines, which a notice tells.

    Raises SourceError if it looks like a table without the columns that are needed.
    """
    head, part = read_ahead(part, are_enough)
    reading, lines = part.reading, _first_lines(whole_lines(head)) or [""]
    fitting = list_fitting(lines[0], reading)
    kind = find_kind(head)
    if kind is not None and kind.format and kind.is_text:
        part.on_notice(f"{part.name} looks like {kind.words} and is read as such")
        return replace(part, format=kind.format)
    if _is_json(head):
        format = "json"
    elif reading.delimiter or reading.skip_rows or SEPARATOR.fullmatch(lines[0]):
        return replace(part, format="csv")
    elif len(fitting) == 1:
        format = "tsv" if fitting[0] == "\t" else "csv"
        part = replace(part, reading=replace(reading, delimiter=fitting[0]))
    else:
        _refuse_table(part, lines)
        return replace(part, format="lines")
    if reading.delimiter is None:
        name = format.upper()
        part.on_notice(f"{part.name} looks like {name} and is read as such")
    return replace(part, format=format)


def _refuse_table(part: SourcePart, lines: Sequence[str]) -> None:
    """Raise SourceError if lines look like a table: its columns are not those that are needed."""
    reading = part.reading
    likely = next((each for each in DELIMITERS if _is_table(lines, each)), None)
    if likely:
        columns = show_names(split_fields(lines[0], likely))
        missing = " or ".join(map(repr, (reading.id, *reading.text)))
        reason = f"looks like a table with the columns {columns}, without {missing}"
        step = "if each line holds an id and a text, set `source_format` to lines"
        raise part.error(reason, f"name the right columns with `id` and `text`; {step}")


def _first_lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][:MOST_LINES]


def _is_json(head: bytes) -> bool:
    squeezed = b"".join(head[:1_000].split())
    return squeezed.startswith((b'{"', b"[{", b"[]", b"{}"))


def _is_plain(line: str) -> bool:
    """Tell whether a line begins with an id and a blank, and is no header of a table."""
    first = line.split(None, 1)[0]
    return first != line.rstrip() and "\t" not in line and not any(map(first.count, DELIMITERS))


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether all lines have as many fields, and the first has names without blanks.

    Two fields with a tab between them are an id and a text, not a table.
    """
    allow_long_fields()
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=delimiter))
    is_open = delimiter != "\t" and "".join(lines).count('"') % 2 == 1  # a field goes on
    counts = {len(row) for row in (rows[:-1] if is_open else rows)}
    least = 3 if delimiter == "\t" else 2
    words = split_fields(lines[0], delimiter)
    return (
        len(rows) > 1
        and len(counts) == 1
        and min(counts) >= least
        and not any(" " in word for word in words)
    )
