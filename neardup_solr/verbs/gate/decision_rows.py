"""Rows of decisions: the lines and files that show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from neardup_solr.errors import RecordError
from neardup_solr.files import write_lines
from neardup_solr.records import Match, Passage
from neardup_solr.reports.row_table import Row, RowTable, check_format, check_output
from neardup_solr.verbs.gate.decision import Decision

COLUMNS = ("id", "action", "other_id", "similarity", "distance", "matches", "reason")
# Beside those: how many passages, and the longest one.
PASSAGE_COLUMNS = ("passages", "reused_id", "relation", "words", "start", "end", "other_start",
                   "other_end", "share", "other_share")  # fmt: skip
FAILED = "failed"  # the action in rows about records that make no document


def format_decisions(
    decisions: Iterable[Decision | RecordError], format: str, *, passages: bool = False
) -> Iterator[str]:
    """Make lines of decisions in a format: "tsv", "csv" or "jsonl".

    The action of a record that makes no document is "failed".

    A row has the nearest match and the number of all; in JSONL `matches` has all of them. So it is
    with `passages`, of which the row has the longest.
    Raises ArgumentError for another format.
    """
    check_format(format)
    if format == "jsonl":
        return (orjson.dumps(_object(each, passages)).decode() + "\n" for each in decisions)
    return _make_table(decisions, passages).lines(format)


def write_decisions(
    decisions: Iterable[Decision | RecordError], path: Path, *, passages: bool = False
) -> None:
    """Write decisions to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

    Raises SourceError if it has another suffix or the file cannot be written.
    """
    check_output(path)
    if path.suffix.lower() == ".jsonl":
        write_lines(path, format_decisions(decisions, "jsonl", passages=passages))
    else:
        _make_table(decisions, passages).write(path)


def _make_table(decisions: Iterable[Decision | RecordError], passages: bool) -> RowTable:
    if not passages:
        return RowTable(map(_row, decisions), COLUMNS)
    rows = ({**_row(each), **make_passage_row(_list_passages(each))} for each in decisions)
    return RowTable(rows, (*COLUMNS, *PASSAGE_COLUMNS))


def _list_passages(decision: Decision | RecordError) -> tuple[Passage, ...]:
    return () if isinstance(decision, RecordError) else decision.passages


def make_passage_row(passages: Sequence[Passage]) -> dict[str, Any]:
    """Make the columns of some passages: their number, and the longest."""
    row: dict[str, Any] = dict.fromkeys(PASSAGE_COLUMNS)
    row["passages"] = len(passages)
    if passages:
        longest = max(passages, key=lambda each: each.words)
        row |= {name: getattr(longest, name) for name in PASSAGE_COLUMNS[2:]}
        row["reused_id"] = longest.other_id
    return row


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


def _object(decision: Decision | RecordError, passages: bool) -> dict[str, Any]:
    row = _row(decision)
    matches = () if isinstance(decision, RecordError) else decision.matches
    shared = {"passages": list(map(asdict, _list_passages(decision)))} if passages else {}
    return {**row, "id": row["id"] and _utf8(row["id"]), "reason": _utf8(row["reason"]),
            "matches": list(map(make_match, matches)), **shared}  # fmt: skip


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
