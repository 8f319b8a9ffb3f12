"""Answers in a file of JSON lines, and in a table of pairs.

Lines are only ever appended. The latest answer about a pair counts, so that two files may be put
together in any order, by hand or by git.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from neardup_solr.answers import EARLIEST, Answer, ValueChoice, hash_text, is_blank, parse_judgement
from neardup_solr.checks import require
from neardup_solr.errors import DataError, SourceError, code_of_reading, counted
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId, as_whole, id_problem
from neardup_solr.text.json_keys import has_key_twice

Opener = Callable[[str, int], int]  # of files, as `open` takes it
_MERGING = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")  # conflict markers of git


def read_answers(path: str | Path, opener: Opener | None = None) -> list[Answer]:
    """Read all answers of a file, in its order.

    An answer without a time has that of the line before it. A line that is cut in the middle, as
    by a full disk, is left out, and logged. By the opener `files.regular` no pipe is waited for.

    Raises SourceError if the file cannot be read, or another line of it is not an answer.
    """
    path = Path(path)
    try:
        with open(path, "rb", opener=opener) as file:
            mode = os.fstat(file.fileno()).st_mode
            is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            content = file.read(1 if is_device else -1)  # /dev/full and others have no end
    except OSError as error:
        step = "create it with: neardup answer ID OTHER_ID same|different --answers FILE"
        if not isinstance(error, FileNotFoundError):
            step = "check the file"
        reason = f"cannot be read ({error.strerror or error})"
        raise SourceError(str(path), reason, step, code=code_of_reading(error)) from None
    if is_device and content:
        reason = "is a device, not a file of answers"
        raise SourceError(str(path), reason, "name a file", code="file-kind")
    return parse_answers(path, content)


def parse_answers(
    path: str | Path, content: bytes, first: int = 1, before: datetime = EARLIEST
) -> list[Answer]:
    """Parse lines of a file, from the number `first` on, as `read_answers` does.

    `before` is the time of the answer before them.
    """
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    answers: list[Answer] = []
    cut: list[int] = []
    for number, line in enumerate(lines, start=first):
        if not (line := line.strip()):
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            if not line.startswith(b'{"') and line != b"{":
                raise SourceError(
                    str(path), *_name_fault(number, line), code="line-invalid"
                ) from None
            cut.append(number)
            continue
        if has_key_twice(row, line):
            step = "correct it, or remove it"
            reason = f"line {number} has a key twice"
            raise SourceError(str(path), reason, step, code="line-invalid")
        answers.append(_parse(str(path), number, row, before))
        before = answers[-1].when
    if cut:
        _log_cut(str(path), len(cut), cut[0])
    return answers


@cache
def _log_cut(path: str, count: int, first: int) -> None:
    """Log, once a process, that lines are cut."""
    cut = counted(count, "answer is", "answers are")
    LOG.warning("%s: %s cut off and ignored, the first in line %s", path, cut, f"{first:,}")


def _name_fault(number: int, line: bytes) -> tuple[str, str]:
    """Name the fault of a line that is no JSON, and what to do."""
    if line.startswith(_MERGING):
        return f"line {number} is a git conflict marker", "delete the markers and keep both sides"
    if line.startswith((b'"{', b"PK\x03", b"\xff\xfe", b"{,", b"id,", b"id;", b"id\t")):
        reason = "the file has a different format, or was saved by a spreadsheet program"
        step = "restore the file; to import a table of answers: neardup answer --import"
        return f"line {number} is not JSON: {reason}", step
    return f"line {number} is not an answer", "correct it, or remove it"


def _parse(path: str, number: int, row: Any, before: datetime) -> Answer:
    """Make an answer of the object in a line. `before` is the time of the last one."""

    def refuse(reason: str, step: str = "correct it, or remove it") -> SourceError:
        return SourceError(path, f"line {number} {reason}", step, code="line-invalid")

    if not isinstance(row, dict):
        raise refuse("is not an answer")
    ids = [as_whole(row.get(name)) for name in ("id", "other_id")]
    ids = [str(id) if type(id) in (str, int) else "" for id in ids]
    if any(map(id_problem, ids)):
        raise refuse("does not have two ids", "give id and other_id, or remove it")
    judgement = parse_judgement(row.get("answer", "?"))
    if judgement is None or is_blank(row["answer"]):
        word = str(row.get("answer", ""))[:40]
        raise refuse(f"has the invalid answer {word!r}", "use same, different or unsure")
    try:
        when = datetime.fromisoformat(str(row["when"])) if row.get("when") else before
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise refuse(f"has the invalid time {str(row['when'])[:40]!r}", "use ISO 8601") from None
    names = ("who", "hash", "other_hash", "withdraws")
    texts = {name: str(row.get(name) or "") for name in names}
    is_ordered = row.get("ordered") is True
    choice = row.get("choice")
    if isinstance(choice, dict):
        choice = {name: choice.get(name) for name in ("column", "value", "values")}
        if not all(type(each) is str for each in choice.values()):
            raise refuse("has an invalid choice of a value")
    return Answer(id=ids[0], other_id=ids[1], answer=judgement, when=when, ordered=is_ordered,
                  choice=ValueChoice(**choice) if isinstance(choice, dict) else None,
                  **texts)  # fmt: skip


def parse_table(columns: Mapping[str, Sequence[Any]], *, ordered: bool) -> Iterator[Answer]:
    """Parse the answers in a table of pairs, with the hashes of texts that it has, without a time.

    Its columns are id, other_id and answer, and maybe text and other_text. Rows that nobody has
    filled are left out. Pairs of two sides are `ordered`.

    Raises DataError if an answer is not known, or a pair has two different ones.
    """
    earlier: dict[tuple[str, str, bool], Answer] = {}
    blank = [None] * len(columns["answer"])
    names = ("id", "other_id", "answer", "text", "other_text")
    rows = zip(*(columns.get(name, blank) for name in names), strict=True)
    for id, other_id, word, text, other_text in rows:
        if is_blank(word):
            continue
        judgement, pair = parse_judgement(word), f"{id} – {other_id}"
        if judgement is None:
            reason = f"the answer {str(word)[:40]!r} to {pair} is unknown"
            raise DataError(reason, "use same, different or unsure", code="answers-invalid")
        hash, other_hash = (hash_text(str(each) if each else None) for each in (text, other_text))
        answer = Answer(id=_spell(id), other_id=_spell(other_id), answer=judgement,
                        hash=hash, other_hash=other_hash, ordered=ordered)  # fmt: skip
        has_ids = not any(map(id_problem, (answer.id, answer.other_id)))
        reason = f"the answer {judgement!r} has no pair of ids"
        require(has_ids, reason, "give both ids", DataError, code="id-invalid")
        is_pair = ordered or answer.id != answer.other_id
        reason = f"both ids in a row are {answer.id!r}"
        require(is_pair, reason, "set `ordered` for two sources", DataError, code="id-invalid")
        before = earlier.setdefault(answer.pair, answer).answer
        reason = f"{pair} is answered both {before} and {judgement}"
        step = "keep one of the two answers"
        require(before == judgement, reason, step, DataError, code="answers-invalid")
        yield answer


def _spell(id: AnyId | float | None) -> str:
    """Spell an id of a table as a text, in which a column of numbers may have become 12.0."""
    return "" if id is None else str(as_whole(id))
