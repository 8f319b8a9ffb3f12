"""Answers of people about pairs, kept in a file of JSON lines, one answer a line.

Lines are only ever appended. The latest answer about a pair counts, so that two files may be put
together in any order, by hand or by git.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, get_args

import orjson

from neardup_solr.arguments import Judgement, require
from neardup_solr.errors import ArgumentError, SourceError, counted
from neardup_solr.progress import LOG
from neardup_solr.records import AnyId, id_problem, ordered
from neardup_solr.text.normalize import md5, normalize

DocumentKey = tuple[int, AnyId]  # a document: its side, 0 or 1, and its id

SAME, DIFFERENT, UNSURE = JUDGEMENTS = get_args(Judgement)
BLANK = ("", "nan", "none", "<na>")  # a cell that nobody has filled
MEANINGS: Mapping[str, Judgement] = {
    **dict.fromkeys((SAME, "yes", "true", "1", "1.0"), SAME),
    **dict.fromkeys((DIFFERENT, "no", "false", "0", "0.0"), DIFFERENT),
    **dict.fromkeys((UNSURE, *BLANK), UNSURE),
}
EARLIEST = datetime.min.replace(tzinfo=UTC)
_MERGING = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")  # conflict markers of git


def is_blank(word: object) -> bool:
    """Return True for a cell of a table that nobody has filled."""
    return str(word).strip().lower() in BLANK


def parse_judgement(word: object) -> Judgement | None:
    """Parse a word of a person, such as yes, NO or 1. Return None for others."""
    return MEANINGS.get(str(word).strip().lower())


def hash_text(text: str | None) -> str:
    """Hash a text as Solr's field md5_hash has it, the MD5 of its normal form. "" is for None."""
    return "" if text is None else md5(normalize(text, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A pair that somebody judged "same", "different" or "unsure", at a time in UTC.

    `hash` and `other_hash` are those of the two texts, as `hash_text` makes them, "" if they are
    not known. If the pair is `ordered`, it is one of two sides, as by `against`: the document `id`
    of the first and `other_id` of the second. Else the order does not matter.
    """

    id: str
    other_id: str
    answer: Judgement
    who: str = ""
    when: datetime = EARLIEST
    hash: str = ""
    other_hash: str = ""
    ordered: bool = False

    @property
    def pair(self) -> tuple[str, str, bool]:
        """The key of the pair, the same for each answer about it."""
        ids = (self.id, self.other_id) if self.ordered else ordered(self.id, self.other_id)
        return (*ids, self.ordered)

    @property
    def hashes(self) -> dict[str, str]:
        """The hashes of both texts, by id."""
        return {self.id: self.hash, self.other_id: self.other_hash}

    def fits(self, hashes: Mapping[str, str]) -> bool:
        """Return True if both texts are those that were judged, as far as that is known."""
        return all(not hash or hashes.get(id) == hash for id, hash in self.hashes.items())

    @property
    def time(self) -> str:
        """The time in UTC, as ISO 8601 has it, "" if it is not known."""
        is_known = self.when != EARLIEST
        return self.when.astimezone(UTC).isoformat(timespec="milliseconds") if is_known else ""

    def to_line(self) -> bytes:
        """Format the answer as a line of JSON."""
        fields = {
            "id": self.id,
            "other_id": self.other_id,
            "answer": self.answer,
            "who": self.who,
            "when": self.time,
            "hash": self.hash,
            "other_hash": self.other_hash,
        }
        return orjson.dumps(fields | {"ordered": True} if self.ordered else fields) + b"\n"


def read_answers(path: str | Path) -> list[Answer]:
    """Read all answers of a file, in its order.

    An answer without a time has that of the line before it. A line that is cut in the middle, as
    by a full disk, is left out, and logged.

    Raises SourceError if the file cannot be read, or another line of it is not an answer.
    """
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            is_device = stat.S_ISCHR(mode) or stat.S_ISBLK(mode)
            content = file.read(1 if is_device else -1)  # /dev/full and others have no end
    except OSError as error:
        step = "begin one with: neardup answer ID OTHER_ID same|different --answers FILE"
        if not isinstance(error, FileNotFoundError):
            step = "check the file"
        raise SourceError(str(path), f"cannot be read ({error.strerror or error})", step) from None
    if is_device and content:
        raise SourceError(str(path), "is a device, and no file of answers", "name a file")
    return parse_answers(path, content)


def parse_answers(path: str | Path, content: bytes) -> list[Answer]:
    """Parse lines of a file as `read_answers` does."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    answers: list[Answer] = []
    cut: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not (line := line.strip()):
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError:
            if not line.startswith(b'{"') and line != b"{":
                raise SourceError(str(path), *_name_fault(number, line)) from None
            cut.append(number)
            continue
        before = answers[-1].when if answers else EARLIEST
        answers.append(_parse(str(path), number, row, before))
    if cut:
        _log_cut(str(path), len(cut), cut[0])
    return answers


@cache
def _log_cut(path: str, count: int, first: int) -> None:
    """Log, once a process, that lines are cut."""
    cut = counted(count, "answer is", "answers are")
    text = "%s: %s cut in the middle, and not counted, the first in line %s"
    LOG.warning(text, path, cut, f"{first:,}")


def _name_fault(number: int, line: bytes) -> tuple[str, str]:
    """Name the fault of a line that is no JSON, and what to do."""
    if line.startswith(_MERGING):
        return f"line {number} is a conflict marker of git", "delete the markers, keep both sides"
    if line.startswith((b'"{', b"PK\x03", b"\xff\xfe", b"{,", b"id,", b"id;", b"id\t")):
        reason = f"line {number} is not JSON: it is another file, or a spreadsheet has saved it"
        return reason, "take it back as it was; a table with answers is for --import"
    return f"line {number} is not an answer", "mend it, or take it out"


def _parse(path: str, number: int, row: Any, before: datetime) -> Answer:
    """Make an answer of the object in a line. `before` is the time of the last one."""

    def refuse(reason: str, step: str = "mend it, or take it out") -> SourceError:
        return SourceError(path, f"line {number} {reason}", step)

    if not isinstance(row, dict):
        raise refuse("is not an answer")
    ids = [str(id) if type(id) in (str, int) else "" for id in (row.get("id"), row.get("other_id"))]
    if any(map(id_problem, ids)):
        raise refuse("has no two ids", "give id and other_id, or take it out")
    judgement = parse_judgement(row.get("answer", "?"))
    if judgement is None or is_blank(row["answer"]):
        word = str(row.get("answer", ""))[:40]
        raise refuse(f"has the answer {word!r}", "answer same, different or unsure")
    try:
        when = datetime.fromisoformat(str(row["when"])) if row.get("when") else before
        when = (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise refuse(f"has the time {str(row['when'])[:40]!r}", "write it as in ISO 8601") from None
    return Answer(
        id=ids[0],
        other_id=ids[1],
        answer=judgement,
        who=str(row.get("who") or ""),
        when=when,
        hash=str(row.get("hash") or ""),
        other_hash=str(row.get("other_hash") or ""),
        ordered=row.get("ordered") is True,
    )


def append_answers(path: str | Path, answers: Iterable[Answer]) -> None:
    """Append answers to a file, each by one write, and wait until they are on the disk.

    So several processes may append at the same time. Nothing in the file is changed.

    Raises SourceError if the file cannot be written.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        file = os.open(path, flags, 0o666)
        try:
            size = os.lseek(file, 0, os.SEEK_END)
            if size:
                os.lseek(file, size - 1, os.SEEK_SET)
            # Without a line break at its end, as after an editor or a full disk, begin a new line.
            begin = b"\n" if size and os.read(file, 1) != b"\n" else b""
            for answer in answers:
                line = begin + answer.to_line()
                if os.write(file, line) < len(line):
                    raise OSError("the last line is cut")
                begin = b""
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        reason = f"cannot be written ({error.strerror or error})"
        raise SourceError(str(path), reason, "check free space and permissions") from None


def choose_latest(answers: Iterable[Answer]) -> list[Answer]:
    """Choose the latest answer about each pair, of one time the last, the newest first."""
    latest: dict[tuple[str, str, bool], Answer] = {}
    for answer in sorted(answers, key=attrgetter("when")):
        latest.pop(answer.pair, None)
        latest[answer.pair] = answer
    return list(latest.values())[::-1]


def parse_table(columns: Mapping[str, Sequence[Any]], *, ordered: bool) -> Iterator[Answer]:
    """Parse the answers in a table of pairs, with the hashes of texts that it has, without a time.

    Its columns are id, other_id and answer, and maybe text and other_text. Rows that nobody has
    filled are left out. Pairs of two sides are `ordered`.

    Raises ArgumentError if an answer is not known, or a pair has two different ones.
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
            reason = f"the answer {str(word)[:40]!r} to {pair} is not known"
            raise ArgumentError(reason, "answer same, different or unsure")
        hash, other_hash = (hash_text(str(one) if one else None) for one in (text, other_text))
        answer = Answer(id=_spell(id), other_id=_spell(other_id), answer=judgement,
                        hash=hash, other_hash=other_hash, ordered=ordered)  # fmt: skip
        has_ids = not any(map(id_problem, (answer.id, answer.other_id)))
        require(has_ids, f"the answer {judgement!r} is about no pair of ids", "give both ids")
        is_pair = ordered or answer.id != answer.other_id
        require(is_pair, f"both ids of a row are {answer.id!r}", "pairs of two sides are `ordered`")
        before = earlier.setdefault(answer.pair, answer).answer
        reason = f"{pair} is answered {before} and {judgement}"
        require(before == judgement, reason, "keep one of the two answers")
        yield answer


def _spell(id: AnyId | float | None) -> str:
    """Spell an id of a table as a text, in which a column of numbers may have become 12.0."""
    whole = int(id) if isinstance(id, float) and id.is_integer() else id
    return "" if whole is None else str(whole)
