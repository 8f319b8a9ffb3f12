"""The first lines of a source: they tell the format of standard input, and if there are ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from neardup_solr.progress import ignore
from neardup_solr.sources.columns import are_there, choose_id, number_them, shown
from neardup_solr.sources.csv import DELIMITERS, choose_delimiter, fields, lines_have_ids
from neardup_solr.sources.lines import begun
from neardup_solr.sources.record import ROW, Opened, Reading

MOST_LINES: Final = 5
MOST_OF_LINES: Final = 1_000  # that tell whether they begin with ids
MOST_BYTES: Final = 2**16


def are_enough(head: bytes) -> bool:
    """Tell whether these bytes show the format. If someone types, the answer should come soon."""
    lines = _lines(head[: head.rfind(b"\n") + 1])
    if len(head) >= MOST_BYTES or len(lines) >= MOST_LINES:
        return True
    return bool(lines) and (_is_json(head) or _is_plain(lines[0]))


def recognize_format(source: Opened, head: bytes, reading: Reading) -> tuple[str, Reading]:
    """The format of a source that begins with `head`, and how to read it.

    Raises SourceError if it looks like a table without the columns that are asked for.
    """
    lines = _lines(head) or [""]
    if _is_json(head):
        return "json", reading
    if reading.delimiter:
        return "csv", reading
    fitting = [each for each in DELIMITERS if are_there(fields(lines[0], each), reading)]
    if len(fitting) == 1:
        format = "tsv" if fitting[0] == "\t" else "csv"
        return format, replace(reading, delimiter=fitting[0])
    likely = [each for each in DELIMITERS if _is_table(lines, each)]
    if likely:
        names = shown(fields(lines[0], likely[0]))
        raise source.error(
            f"looks like a table with the columns {names}, without {reading.id!r} or "
            f"{' or '.join(map(repr, reading.text))}",
            "name the right ones with `id` and `text`; if it holds lines of an id and a text, "
            "give `source_format` as lines",
        )
    return "lines", reading


def with_ids(source: Opened, format: str) -> Opened:
    """The source, whose records are numbered if nothing looks like an id and a guess is wanted.

    A notice says so, and whether lines begin with ids. Raises SourceError if lines do not, but
    have to.
    """
    reading = source.reading
    if reading.guess == "none" or not reading.has_ids or format == "folder":
        return source
    if format == "lines":
        return _with_ids_of_lines(source)
    if reading.guess == "refuse":
        return source
    names, source = _names(source, format)
    if names:
        reading = choose_id(source, names, reading)
    return replace(source, reading=replace(reading, guess="none"))


def _names(source: Opened, format: str) -> tuple[list[str], Opened]:
    """Find the names of the columns, or none if that fails, which is said when it is read."""
    if format in ("parquet", "xlsx"):
        from neardup_solr.sources.raw import names_of

        return names_of(source, format) or [], source
    head, source = begun(source, are_enough)
    if format in ("json", "jsonl"):
        from neardup_solr.sources.json import first_names

        return first_names(head), source
    first = next(iter(_lines(head)), "")
    if first.count('"') % 2:  # a header of several lines
        return [], source
    usual = "\t" if format == "tsv" else ","
    quiet = replace(source, on_notice=ignore)
    return fields(first, choose_delimiter(quiet, first.encode(), source.reading, usual)), source


def _with_ids_of_lines(source: Opened) -> Opened:
    head, source = begun(source, are_enough)
    whole = head[: head.rfind(b"\n") + 1] or head
    lines = whole.decode("utf-8", "replace").split("\n")[:MOST_OF_LINES]
    reading = replace(source.reading, guess="none")
    if lines_have_ids(lines):
        source.on_notice(f"{source.name}: the first word of each line is its id")
        return replace(source, reading=reading)
    if source.reading.guess == "refuse":
        reason = "the first words of its lines do not look like ids"
        step = f"give id for `id` if they are{number_them(source.reading)}"
        raise source.error(reason, step)
    source.on_notice(
        f"{source.name}: the first words of its lines do not look like ids,"
        " so the lines are numbered from 1"
    )
    return replace(source, reading=replace(reading, id=ROW))


def _lines(head: bytes) -> list[str]:
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
    counts = {len(fields(line, delimiter)) for line in lines}
    least = 3 if delimiter == "\t" else 2
    words = fields(lines[0], delimiter)
    return (
        len(lines) > 1
        and len(counts) == 1
        and min(counts) >= least
        and not any(" " in word for word in words)
    )
