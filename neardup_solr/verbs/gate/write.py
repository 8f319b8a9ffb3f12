"""Decisions of the gate as rows, and the held documents in a file of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from neardup_solr.errors import RecordError, SourceError
from neardup_solr.files import check_place, write_lines
from neardup_solr.records import Match
from neardup_solr.reports import tables
from neardup_solr.reports.tables import Row
from neardup_solr.verbs.gate.policy import HOLD, TAG_FIELD, Decision

COLUMNS = ("id", "action", "other_id", "similarity", "distance", "matches", "reason")
REASON_FIELD = "neardup_reason"
FAILED = "failed"  # the action in rows about records that make no document
_WHY = frozenset({REASON_FIELD, TAG_FIELD})


def format_decisions(decisions: Iterable[Decision | RecordError], format: str) -> Iterator[str]:
    """Make lines of decisions in a format: "tsv", "csv" or "jsonl".

    The action of a record that makes no document is "failed".

    A row has the nearest match and how many there are; in JSONL `matches` has all of them.
    Raises ArgumentError for another format.
    """
    tables.check_format(format)
    if format == "jsonl":
        return (orjson.dumps(_object(one)).decode() + "\n" for one in decisions)
    return tables.format_rows(map(_row, decisions), COLUMNS, format)


def write_decisions(decisions: Iterable[Decision | RecordError], path: Path) -> None:
    """Write decisions to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    Raises SourceError if the suffix is not known or the file cannot be written.
    """
    tables.check_output(path)
    if path.suffix.lower() == ".jsonl":
        write_lines(path, format_decisions(decisions, "jsonl"))
    else:
        tables.write_rows(map(_row, decisions), COLUMNS, path)


def check_held(path: Path) -> None:
    """Refuse a file for held documents that cannot be written, before any work is done for it.

    Raises SourceError if it is not a .jsonl file, or as `files.check_place` does.
    """
    if path.suffix.lower() != ".jsonl" or path.is_dir():
        raise SourceError(str(path), "held documents go to a .jsonl file", "name one by `held`")
    check_place(path)


def keeping_held(
    decisions: Iterable[Decision | RecordError],
    path: Path,
    id: str = "id",
    text: Sequence[str] = ("text",),
) -> Iterator[Decision | RecordError]:
    """Pass decisions on, and put each held document into the file before.

    Lines are appended: id, text, the kept columns, neardup_reason and neardup_of (the ids of its
    matches). `id` and `text` name the columns of the first two; each of several has its own part of
    the text. A document that the file already has, with equal columns, is not added again.
    `neardup index` and `neardup gate` read such a file.
    """
    with path.open("a+b") as file:
        there, ends = _held_before(file)
        # The last line break may be missing, because of an editor or a full disk.
        _append(file, b"" if ends else b"\n")
        for decision in decisions:
            if isinstance(decision, Decision) and decision.action == HOLD:
                held = _held(decision, id, text)
                if (mark := _mark(held)) not in there:
                    _append(file, orjson.dumps(held) + b"\n")
                    there.add(mark)
            yield decision
        os.fsync(file.fileno())


def _append(file: BinaryIO, line: bytes) -> None:
    try:
        file.write(line)
        file.flush()
    except OSError as error:
        reason = f"cannot be written ({error.strerror})"
        raise SourceError(file.name, reason, "make room, or name another by `held`") from None


def _held_before(file: BinaryIO) -> tuple[set[bytes], bool]:
    """Read the marks of the documents in a file, and tell whether its last line is complete."""
    marks, line = set(), b"\n"
    file.seek(0)
    for line in file:
        with suppress(orjson.JSONDecodeError):  # other lines stay as they are
            marks.add(_mark(orjson.loads(line)))
    return marks, line.endswith(b"\n")


def _mark(held: Any) -> bytes:
    """Hash a held document without the reason for holding it, to 16 bytes."""
    if isinstance(held, dict):
        held = {name: value for name, value in held.items() if name not in _WHY}
    return blake2b(orjson.dumps(held, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def _row(decision: Decision | RecordError) -> Row:
    if isinstance(decision, RecordError):
        reason = f"{decision.position}: {decision.reason}"
        empty = dict.fromkeys(COLUMNS)
        return {**empty, "id": decision.id, "action": FAILED, "matches": 0, "reason": reason}
    nearest: dict[str, Any] = make_match(decision.matches[0]) if decision.matches else {}
    return {
        "id": decision.id,
        "action": decision.action,
        "other_id": nearest.get("id"),
        "similarity": nearest.get("similarity"),
        "distance": nearest.get("distance"),
        "matches": len(decision.matches),
        "reason": decision.reason,
    }


def _object(decision: Decision | RecordError) -> dict[str, Any]:
    row = _row(decision)
    matches = () if isinstance(decision, RecordError) else decision.matches
    return {**row, "id": row["id"] and _utf8(row["id"]), "reason": _utf8(row["reason"]),
            "matches": list(map(make_match, matches))}  # fmt: skip


def make_match(match: Match) -> dict[str, Any]:
    """Make the object of a match: its id, similarity, distance, and the bands shared."""
    return {
        "id": match.id,
        "similarity": round(match.similarity, 4),
        "distance": match.distance,
        "shared": match.shared,
    }


def _held(decision: Decision, id: str, text: Sequence[str]) -> dict[str, Any]:
    document = decision.document
    texts = document.texts if len(text) > 1 else ()
    columns = zip(text, texts or (document.text,), strict=False)
    return {
        **document.kept,
        id: document.id,
        **{name: value for name, value in columns if value is not None},
        REASON_FIELD: decision.reason,
        TAG_FIELD: [match.id for match in decision.matches],
    }


def _utf8(text: str) -> str:
    """Escape lone surrogates: an id that is refused for them can still be shown."""
    return text.encode("utf-8", "backslashreplace").decode()
