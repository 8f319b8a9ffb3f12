"""The format of standard input by its first lines, if it was not named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from neardup_solr.sources.columns import are_there, shown
from neardup_solr.sources.formats import DELIMITERS, fields
from neardup_solr.sources.record import Opened, Reading

MOST_LINES: Final = 5
MOST_BYTES: Final = 2**16


def are_enough(head: bytes) -> bool:
    """Whether these bytes tell the format; if someone types, the answer should come soon."""
    lines = _lines(head[: head.rfind(b"\n") + 1])
    if len(head) >= MOST_BYTES or len(lines) >= MOST_LINES:
        return True
    return bool(lines) and (_is_json(head) or _is_plain(lines[0]))


def recognized(source: Opened, head: bytes, reading: Reading) -> tuple[str, Reading]:
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


def _lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][:MOST_LINES]


def _is_json(head: bytes) -> bool:
    squeezed = b"".join(head[:1_000].split())
    return squeezed.startswith((b'{"', b"[{", b"[]", b"{}"))


def _is_plain(line: str) -> bool:
    """Whether a line begins with an id and a blank, so that it is not the header of a table."""
    first = line.split(None, 1)[0]
    return first != line.rstrip() and "\t" not in line and not any(map(first.count, DELIMITERS))


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Whether all lines have the same number of fields, and the first has names without blanks.

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
