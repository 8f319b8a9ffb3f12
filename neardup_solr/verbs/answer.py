"""answer: note what people say of pairs in a file, for later runs to obey."""

from __future__ import annotations

import getpass
import os
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup_solr import sources
from neardup_solr.answers import Answer, choose_latest, hash_text, is_blank
from neardup_solr.answers.answer_file import append_answers
from neardup_solr.answers.format import parse_table, read_answers
from neardup_solr.answers.verdicts import Verdicts
from neardup_solr.argument_types import Frame, Id, Judgement, OneOrMore
from neardup_solr.arguments import checked
from neardup_solr.checks import require
from neardup_solr.errors import DocumentNotFound, RecordError, SourceError, counted
from neardup_solr.files import check_apart, regular
from neardup_solr.progress import LOG
from neardup_solr.records import id_problem
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.rows import ANSWER, Columns
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading, SourceLike, reading_of
from neardup_solr.sources.choice import ColumnRequest, choose_columns, log_choice
from neardup_solr.sources.pair_files import PAIR
from neardup_solr.verbs.evaluate.id_pairs import columns_of
from neardup_solr.verbs.evaluate.sample import AnswerSheet

ASIDE = "set aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSummary:
    """Counts of answers read from a table.

    `added` ones are new in the file, `known` ones were in it already, `empty` rows have none.
    """

    added: int
    known: int
    empty: int


class Answers(Table):
    """File of the answers that people gave about pairs.

    The file is read at each access; `add` creates it.

    Raises ArgumentError if that is no path, but an address, for example.
    """

    @checked
    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"<Answers in {self.path}>"

    @property
    def latest(self) -> tuple[Answer, ...]:
        """Latest answer about each pair, the newest first."""
        return tuple(choose_latest(read_answers(self.path)))

    @property
    def set_aside(self) -> tuple[Answer, ...]:
        """Answers that newer answers about other pairs contradict."""
        return _find_aside(self.latest)

    def columns(self) -> Columns:
        """Return the columns id, other_id, answer, who, when and state ("set aside" or empty)."""
        latest = self.latest
        aside = {*_find_aside(latest)}
        names = {"id": "id", "other_id": "other_id", ANSWER: "answer", "who": "who", "when": "time"}
        columns = {
            column: [getattr(answer, name) for answer in latest] for column, name in names.items()
        }
        return columns | {"state": [ASIDE if answer in aside else "" for answer in latest]}

    @checked
    def write(self, path: str | Path) -> None:
        """Write the table to a file of another name.

        Raises SourceError as for other tables, and ArgumentError for the file of the answers.
        """
        check_apart({"`answers`": self.path, "`output`": Path(path)})
        super().write(path)

    @checked
    def add(
        self,
        pairs: str | Path | Frame | AnswerSheet,
        source: Collection | SourceLike | None = None,
        *,
        ordered: bool = False,
        who: str | None = None,
        id: str | None = None,
        text: OneOrMore = "text",
    ) -> ImportSummary:
        """Add the answers that people entered in a table of pairs.

        `pairs` is a DataFrame, or a file that `duplicates` or `Duplicates.sample` wrote, with the
        columns id, other_id and answer: same, different, unsure or empty. Answers already in the
        file are skipped. The columns text and other_text, or else the `source`, provide the texts.
        With `ordered`, id and other_id are from two sources; `source` is the first.

        Raises ArgumentError if an answer is an unknown word, or a pair has two answers (then no
        answer is added), SourceError if a file cannot be read or written.
        """
        source, reading = _choose_reading(source, id, text)
        before = choose_latest(_read_before(self.path, source=source, pairs=pairs))
        latest = {answer.pair: answer for answer in before}
        answers, empty = _read_table(pairs, ordered=ordered)
        wanted = {answer.id for answer in answers if not answer.hash}
        wanted |= {answer.other_id for answer in answers if not (answer.other_hash or ordered)}
        texts = _read_texts(source, wanted, reading, is_needed=False)
        now, name, new = datetime.now(UTC), find_name(who), []
        for answer in answers:
            first = answer.hash or hash_text(texts.get(answer.id))
            second = answer.other_hash or hash_text(None if ordered else texts.get(answer.other_id))
            named = replace(answer, hash=first, other_hash=second, who=name, when=now)
            old = latest.get(named.pair)
            if old is None or old.answer != named.answer or not named.fits(old.hashes):
                new.append(named)
        append_answers(self.path, new)
        return ImportSummary(added=len(new), known=len(answers) - len(new), empty=empty)


def _find_aside(latest: Iterable[Answer]) -> tuple[Answer, ...]:
    """Find the answers that newer ones contradict."""
    ends = ((answer, (0, answer.id), (answer.ordered, answer.other_id)) for answer in latest)
    return Verdicts(ends).set_aside


def record_answer(
    source: Collection | SourceLike | None,
    one: Id,
    other: Id,
    answer: Judgement,
    *,
    answers: str | Path,
    who: str | None,
    id: str | None,
    text: OneOrMore,
) -> Answer:
    """Record what a person says of a pair."""
    ids = (str(one), str(other))
    reason = f"both ids are {ids[0]!r}"
    require(ids[0] != ids[1], reason, "give the ids of two documents", code="id-invalid")
    for each in ids:
        problem = id_problem(each)
        reason = f"{each[:40]!r} is not a valid id: {problem}"
        require(problem is None, reason, "give another id", code="id-invalid")
    place = Path(answers)
    source, reading = _choose_reading(source, id, text)
    _read_before(place, source=source)
    texts = _read_texts(source, ids, reading, is_needed=True)
    first, second = (hash_text(texts.get(each)) for each in ids)
    noted = Answer(id=ids[0], other_id=ids[1], answer=answer, who=find_name(who),
                   when=datetime.now(UTC), hash=first, other_hash=second)  # fmt: skip
    append_answers(place, [noted])
    return noted


def _choose_reading(source: Any, id: str | None, text: OneOrMore) -> tuple[Any, Reading]:
    """Choose the columns of a source that are not named, as `duplicates` does, to read it."""
    chosen = None if source is None else choose_columns(request_columns(source, id, text))
    if chosen is not None:
        log_choice(chosen)
        id, text = chosen.arguments.get("id", id), chosen.arguments.get("text", text)
    return reading_of(source, "number", id=id, text=text)


def request_columns(
    source: SourceLike | Collection, id: str | None, text: OneOrMore
) -> ColumnRequest:
    """Request the columns that `duplicates` chooses, joined to the text of an answer."""
    return ColumnRequest(
        source=source,
        id=id,
        text=text,
        fields=None,
        measure="auto",
        by_fields=False,
        has_two_sides=False,
    )


def find_name(who: str | None) -> str:
    """Return the name of who answers: that of the login, if None."""
    if who is not None:
        return who
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user without a name, as in a container
        return ""


def _read_before(place: Path, **others: object) -> list[Answer]:
    """Read the answers that others are added to, if there are any, so that no file is spoilt."""
    check_apart({"`answers`": place}, **others)
    return read_answers(place, regular) if os.path.exists(place) else []


def _read_table(pairs: Any, *, ordered: bool) -> tuple[list[Answer], int]:
    """Read the answers of a table, each pair once, and count the rows that have none."""
    named = dict(columns_of(pairs))
    columns = {str(name).strip().lower(): values for name, values in named.items()} | named
    if not {*PAIR, ANSWER} <= columns.keys():
        name = str(pairs) if isinstance(pairs, str | Path) else "`pairs`"
        step = "write the pairs with `duplicates`, then add a column named answer"
        reason = "needs the columns id, other_id and answer"
        raise SourceError(name, reason, step, code="column-missing")
    answers = {answer.pair: answer for answer in parse_table(columns, ordered=ordered)}
    return list(answers.values()), sum(map(is_blank, columns[ANSWER]))


def _read_texts(
    source: Collection | SourceLike | None, ids: Several[str], reading: Reading, *, is_needed: bool
) -> Mapping[str, str]:
    """Read the texts of documents. Of ids that come again, the last one counts.

    Raises SourceError, DocumentNotFound or RecordError if a document `is_needed` and lacking.
    """
    if source is None or not ids:
        return {}
    refused: Mapping[str | None, RecordError] = {}
    if isinstance(source, Collection):
        texts = source.texts(sorted(ids))
    else:
        records, refused = sources.open_source(source, reading).find(ids)
        texts = {id: record.text for id, record in records.items()}
    lacking = sorted({*ids} - texts.keys())
    if lacking and is_needed:
        if isinstance(source, Collection):
            raise DocumentNotFound(source.url, lacking[0])
        raise sources.lacking(source, lacking[0], refused)
    if lacking:
        documents = counted(len(lacking), "answered document is", "answered documents are")
        LOG.warning("%s missing or unusable in the source, first %s", documents, lacking[0])
    return texts
