"""Rows of decisions: the lines and files that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.files import write_lines
from neardup_solr.records import Match
from neardup_solr.reports.row_table import Row, RowTable, check_format, check_output
from neardup_solr.verbs.gate.decision import Decision

COLUMNS = ("id", "action", "other_id", "similarity", "distance", "matches", "reason")
FAILED = "failed"  # the action in rows about records that make no document


def format_decisions(decisions: Iterable[Decision | RecordError], format: str) -> Iterator[str]:
    """Make lines of decisions in a format: "tsv", "csv" or "jsonl".

    The action of a record that makes no document is "failed".

    A row has the nearest match and the number of all; in JSONL `matches` has all of them.
    Raises ArgumentError for another format.
    """
    check_format(format)
    if format == "jsonl":
        return (orjson.dumps(_object(each)).decode() + "\n" for each in decisions)
    return RowTable(map(_row, decisions), COLUMNS).lines(format)


def write_decisions(decisions: Iterable[Decision | RecordError], path: Path) -> None:
    """Write decisions to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    Raises SourceError if it has another suffix or the file cannot be written.
    """
    check_output(path)
    if path.suffix.lower() == ".jsonl":
        write_lines(path, format_decisions(decisions, "jsonl"))
    else:
        RowTable(map(_row, decisions), COLUMNS).write(path)


def _row(decision: Decision | RecordError) -> Row:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    if isinstance(decision, RecordError):
        reason = f"{decision.position}: {decision.reason}"
        return row | {"id": decision.id, "action": FAILED, "matches": 0, "reason": reason}
    if decision.matches:
        nearest = make_match(decision.matches[0])
        row |= {"other_id": nearest["id"], "similarity": nearest["similarity"]}
        row |= {"distance": nearest["distance"]}
    row |= {name: getattr(decision, name) for name in ("id", "action", "reason")}
    return row | {"matches": len(decision.matches)}


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


def _utf8(text: str) -> str:
    """Escape lone surrogates: an id that is refused for them can still be shown."""
    return text.encode("utf-8", "backslashreplace").decode()
