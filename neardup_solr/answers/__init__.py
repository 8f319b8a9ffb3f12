"""Answers of people about pairs and values: what an answer is, and which of several counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import get_args

import orjson

from neardup_solr.argument_types import Judgement
from neardup_solr.records import AnyId, ordered
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
NO_PAIR = "-"  # withdraws no answer: so no version takes a choice for an answer about a pair


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
class ValueChoice:
    """A value that a person chose of those that the records of a cluster have in a column.

    `column`: name of the column; `value`: value as a text; `values`: hash of all values.
    """

    column: str
    value: str
    values: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A person's judgement of a pair.

    `id`: id of the first document; `other_id`: id of the second; `answer`: "same", "different" or
    "unsure"; `who`: name of the person; `when`: time in UTC; `hash`: hash of the first text, or "";
    `other_hash`: hash of the second text, or ""; `ordered`: True if the documents are of two sides,
    as with `against`; `withdraws`: `time` of an earlier answer that this one withdraws, or "";
    `choice`: value that is chosen for the cluster of the document `id`, which `other_id` is, too:
    such an answer judges no pair.
    """

    id: str
    other_id: str
    answer: Judgement
    who: str = ""
    when: datetime = EARLIEST
    hash: str = ""
    other_hash: str = ""
    ordered: bool = False
    withdraws: str = ""
    choice: ValueChoice | None = None

    @property
    def pair(self) -> tuple[str, str, bool]:
        """Key of the pair, equal for all answers about it."""
        ids = (self.id, self.other_id) if self.ordered else ordered(self.id, self.other_id)
        return (*ids, self.ordered)

    @property
    def hashes(self) -> dict[str, str]:
        """Hashes of both texts, by id."""
        return {self.id: self.hash, self.other_id: self.other_hash}

    def fits(self, hashes: Mapping[str, str]) -> bool:
        """Return True unless a text's hash shows a change since the answer was given."""
        return all(not hash or hashes.get(id) == hash for id, hash in self.hashes.items())

    @property
    def time(self) -> str:
        """Time in ISO 8601, or ""."""
        is_known = self.when != EARLIEST
        return self.when.astimezone(UTC).isoformat(timespec="milliseconds") if is_known else ""

    def to_line(self) -> bytes:
        """Format the answer as a line of JSON."""
        fields = asdict(self) | {"when": self.time}
        rare = {name for name in ("ordered", "withdraws", "choice") if not fields[name]}
        return orjson.dumps({name: fields[name] for name in fields if name not in rare}) + b"\n"


def choose_latest(answers: Iterable[Answer]) -> list[Answer]:
    """Choose the latest answer about each pair, of one time the last, the newest first.

    Those that were withdrawn do not count, so that the answer before them does.
    """
    latest: dict[tuple[str, str, bool], Answer] = {}
    about_pairs = (answer for answer in answers if answer.choice is None)
    rising = sorted(about_pairs, key=attrgetter("when"))
    withdrawn = {(answer.pair, answer.withdraws) for answer in rising if answer.withdraws}
    for answer in rising:
        if withdrawn and (answer.withdraws or (answer.pair, answer.time) in withdrawn):
            continue
        latest.pop(answer.pair, None)
        latest[answer.pair] = answer
    return list(latest.values())[::-1]


def list_choices(answers: Iterable[Answer]) -> list[Answer]:
    """List the choices of values that were not withdrawn, the latest last."""
    choices = (answer for answer in answers if answer.choice is not None)
    rising = sorted(choices, key=attrgetter("when"))
    withdrawn = {(answer.id, answer.choice, answer.withdraws) for answer in rising}
    return [
        answer for answer in rising
        if answer.withdraws == NO_PAIR and (answer.id, answer.choice, answer.time) not in withdrawn
    ]  # fmt: skip
