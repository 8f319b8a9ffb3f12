"""Choice of the columns of a verb's sources, if they are not named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple, cast

from neardup_solr.arguments import OneOrMore, Source
from neardup_solr.checks import listed
from neardup_solr.comma_names import join_names
from neardup_solr.errors import ArgumentError, DataError, RecordError, SourceError
from neardup_solr.files import paths_of
from neardup_solr.measures.columns import parse_fields
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import Document
from neardup_solr.sources.column import is_like_id, matches
from neardup_solr.sources.guess import guess_columns
from neardup_solr.sources.head import column_names, read_rows, require_columns
from neardup_solr.sources.reader import pieces, records
from neardup_solr.sources.reading import ROW, reading_of
from neardup_solr.sources.sides import (
    UnpairedError,
    choose_ids,
    name_of,
    refuse_unpaired,
    require_rows,
    require_telling,
)
from neardup_solr.sources.source import is_collection, label_of
from neardup_solr.sources.values import plain

ROWS = 1_000  # that are looked at
FOR_TEXTS = ("remember", "without_common", "max_distance")


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRequest:
    """Sources, columns and arguments for texts that a user of a verb has named."""

    source: Any
    against: Any
    has_two_sides: bool  # or the verb takes a single source
    id: str | None
    text: OneOrMore
    fields: OneOrMore | None
    has_model: bool
    same: OneOrMore
    measure: Any
    for_texts: tuple[str, ...]  # arguments that are for texts alone
    chooses_measure: bool  # one of them chooses a measure of texts

    @property
    def sides(self) -> list[Any]:
        """The sources that are compared: one, or two."""
        return [side for side in (self.source, self.against) if side is not None]

    @property
    def is_for_texts(self) -> bool:
        """True if a measure of texts is named."""
        return self.measure not in ("auto", "fields")


def _request_of(arguments: Mapping[str, Any]) -> ColumnRequest:
    """Take the request out of the arguments of a verb, of which each has others."""
    names = [f"`{name}`" for name in FOR_TEXTS if arguments.get(name) not in (None, False)]
    is_by_shingles = arguments.get("by") == "shingles"
    return ColumnRequest(
        source=arguments["source"],
        against=arguments.get("against"),
        has_two_sides="against" in arguments,
        id=arguments["id"],
        text=arguments["text"],
        fields=arguments["fields"],
        has_model=arguments.get("model") is not None,
        same=arguments.get("same") or (),
        measure=arguments.get("measure", "fields"),
        for_texts=(*names, *["`by` shingles"] * is_by_shingles),
        chooses_measure=is_by_shingles or arguments.get("max_distance") is not None,
    )


class Chosen(NamedTuple):
    """Arguments for a source that was looked at, and a line on what is left out, or "".

    `beside` are the columns that are left out, but may tell copies apart.
    """

    name: str
    arguments: dict[str, Any]
    left_out: str
    beside: tuple[str, ...] = ()

    def lines(self, spell: Callable[[Mapping[str, Any]], str]) -> list[str]:
        """Describe the choice in a line or two, with the arguments spelled to be repeated."""
        is_table = "fields" in self.arguments
        use = "its columns are compared" if is_table else "other columns are read as text"
        chosen = f"text, so {use}"
        if self.arguments.keys() == {"id"}:
            is_row = self.arguments["id"] == ROW
            chosen = f"id, so {'its records are numbered' if is_row else 'another column is used'}"
            if "=" in self.arguments["id"]:
                chosen = "of ids in common with the other source, so each has its own"
        has = "have" if self.name.endswith(" more") else "has"
        line = f"{self.name} {has} no column {chosen}, as with {spell(self.arguments)}"
        return [line, *filter(None, [self.left_out])]


def fill_in(arguments: Mapping[str, Any], *, by_fields: bool = True) -> dict[str, Any]:
    """Choose columns as `choose_columns`, log which, and return these arguments, {} for none.

    The argument `beside` has those that may tell copies apart.
    """
    chosen = choose_columns(arguments, by_fields=by_fields)
    if chosen is None:
        return {}
    for line in chosen.lines(_spell):
        LOG.warning("%s", line)
    return chosen.arguments | {"beside": chosen.beside}


def choose_columns(arguments: Mapping[str, Any], *, by_fields: bool = True) -> Chosen | None:
    """Choose the id, and fields or a text, by the arguments of a verb.

    None if the source is a collection, or it has columns id and text; the id is chosen for a text
    and for fields that are named, too. Two sides are compared by columns that both have. If a
    measure of texts is named, or not `by_fields`, the columns are joined to one. Whoever reads the
    source reports what is wrong with it.

    Raises DataError if fields are chosen and another argument is for texts, or if two sides
    have no columns in common that could be compared; SourceError if one of two sides cannot be
    read, or if two files are no table, but could be two sides.
    """
    request = _request_of(arguments)
    try:
        chosen = _look_at_rows(request, by_fields)
    except UnpairedError:
        raise
    except (ArgumentError, SourceError, RecordError, TypeError) as error:
        if isinstance(error, SourceError) and request.against is not None:
            raise  # or what was not chosen would be missing in the other side
        return None
    if request.against is None and request.has_two_sides:
        _refuse_apart(request, chosen, by_fields)
    if chosen is not None and "fields" in chosen.arguments:
        for argument in request.for_texts:
            _refuse_fields(argument, chosen, chooses_measure=request.chooses_measure)
    return chosen


def _refuse_apart(request: ColumnRequest, chosen: Chosen | None, by_fields: bool) -> None:
    """Refuse two files with other columns as a table, if they could be compared with each other.

    Whoever reads them reports what else is wrong.
    """
    if chosen is not None:
        request = replace(request, **chosen.arguments)
    text = request.text if request.fields is None else (*parse_fields(request.fields),)
    source, reading = reading_of(request.source, "number", id=request.id, text=text)
    paths = paths_of(source) or ()
    if len(paths) != 2:
        return
    try:
        require_columns(source, reading=reading)
        return
    except (ArgumentError, SourceError) as error:
        if getattr(error, "source", None) != os.fspath(paths[1]):
            return
        refused = cast(SourceError, error)
    first, second = (
        replace(request.source, source=path) if isinstance(request.source, Source) else path
        for path in paths
    )
    step = f"to compare it with {os.fspath(paths[0])}, name it with `against`"
    try:
        _look_at_rows(replace(request, source=first, against=second), by_fields)
    except UnpairedError as error:
        step = f"{step}, and {error.next_step}"
    except (ArgumentError, SourceError, RecordError, TypeError):
        return
    raise SourceError(refused.source, refused.reason, step, code=refused.code)


def _refuse_fields(argument: str, chosen: Chosen, *, chooses_measure: bool) -> None:
    """Raise the error that an argument is for texts, and which text there could be instead."""
    names = join_names(parse_fields(chosen.arguments["fields"]))
    step = f"omit it, or join the columns to a text with `text` {names!r}"
    if not chooses_measure and argument == "`remember`":  # short texts would be compared as records
        step = f"{step} `measure` words"
    reason = (
        f"{argument} is for texts, but the columns of {chosen.name} are compared, as none is text"
    )
    raise DataError(reason, step, code="values-unfit")


def _look_at_rows(request: ColumnRequest, by_fields: bool) -> Chosen | None:
    compared = request.sides
    first = request.source if isinstance(request.source, Source) else Source(())
    id, text = request.id or first.id, listed(first.text or request.text)
    if any(map(is_collection, compared)):
        return None
    read = [
        reading_of(
            side, "none", id=id and name_of(id, at), text=[name_of(each, at) for each in text]
        )
        for at, side in enumerate(compared)
    ]
    names = [column_names(side, reading=reading) for side, reading in read]
    for at, (side, reading) in enumerate(read):
        if len(read) == 1 or names[at]:
            continue
        if all(os.path.isfile(path) for path in paths_of(side) or [""]):
            next(pieces(side, reading=reading, on_notice=ignore), None)  # or it is refused
        if isinstance(side, Sized) and not len(side):
            other = compared[1 - at]  # [] has no columns to choose
            return _look_at_rows(replace(request, source=other, against=None), by_fields)
    has_fields = request.fields is not None or request.has_model
    has_ids = id is not None or all(
        matches(reading.id, each) for (_, reading), each in zip(read, names, strict=True)
    )
    is_named = text != ("text",)
    if len(names) > 1 and all(names):
        _check_names(request, text if is_named else (), read, names)
    has_compared = has_fields or is_named or any(matches("text", each) for each in names)
    if not (names and all(names)) or (has_ids and has_compared):
        return None
    like_ids = [name for each in names for name in each if is_like_id(str(name))]
    if is_named and not (has_fields or like_ids):  # whoever reads the source numbers its records
        return None

    shown = {name.strip(): None for name in names[0] if isinstance(name, str) and name.strip()}
    keys = [{name: [each[at] for at in matches(name, each)] for name in shown} for each in names]
    common = [name for name in shown if all(len(each[name]) == 1 for each in keys)]
    every = [read_rows(side, reading=reading, most=ROWS) for side, reading in read]
    sides = [
        [{name: plain(row.get(each[name][0])) for name in common} for row in rows]
        for rows, each in zip(every, keys, strict=True)
    ]

    def read_again(wanted: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        rows = [row for side in sides for row in side]
        whole = (name for name in common if all(isinstance(row[name], str | int) for row in rows))
        texts = tuple({*wanted, *islice(whole, 1)})  # with which each record has a text
        for number, (side, reading) in enumerate(read):
            by_row = replace(reading, id=ROW, text=texts, keep=tuple(wanted))
            for record in records(side, reading=by_row, on_notice=ignore):
                if isinstance(record, Document):
                    yield number, record.kept

    name = label_of(read[0][0])
    if not any(sides):  # no records, which is reported when they are read
        return Chosen(name, {"text": tuple(common)}, "") if common and not has_compared else None
    compared_columns = () if request.fields is None else (*parse_fields(request.fields),)
    guess = guess_columns(sides, id=id, named=(*compared_columns, *text))
    if guess and guess.fields and any(len(rows) >= ROWS for rows in sides):  # long texts: once
        guess = guess_columns(sides, id=id, named=(*compared_columns, *text), read=read_again)
    alike: dict[str, str] = {}
    if len(every) > 1 and not has_compared:
        argument = "text" if request.is_for_texts or request.for_texts else "fields"
        alike = require_telling(argument, guess, sides, read, every, common)
    if guess is None and not has_compared:
        require_rows(read, every)
        return None
    chosen_id = None if guess is None else guess.id
    if len(every) > 1 and id is None and not has_ids and chosen_id in (None, ROW):
        chosen_id = choose_ids(every, (*compared_columns, *text))
    arguments: dict[str, Any] = {} if chosen_id is None else {"id": chosen_id}
    if has_compared:
        is_numbered = chosen_id == ROW and not (has_fields or (is_named and like_ids))
        return Chosen(name, arguments, "") if arguments and not is_numbered else None
    assert guess is not None
    if guess.texts or request.is_for_texts or not by_fields:
        arguments["text"] = guess.texts or tuple(guess.fields)
    else:
        arguments["fields"] = guess.spelled
    twice = {each: "appears twice" for each in shown if any(len(side[each]) > 1 for side in keys)}
    of_ids = arguments.get("id", "id").split("=")
    for other in (str(each) for each in chain(*names[: len(names) * (len(names) > 1)])):
        if not matches(other, (*common, *of_ids)):
            twice[other] = alike.get(other, "only in one source")
    left_out = replace(guess, left_out=guess.left_out | twice).describe_left_out()
    return Chosen(name, arguments, left_out, guess.beside)


def _check_names(
    request: ColumnRequest, text: Sequence[str], read: Sequence[tuple[Any, Any]],
    names: Sequence[Sequence[object]],
) -> None:  # fmt: skip
    """Refuse a column that is named once and is in one of two sources alone."""
    kinds = {} if request.fields is None else parse_fields(request.fields)
    both = all(matches("text", each) for each in names)
    is_open = not (text or kinds or request.has_model or both)
    has_texts = any(isinstance(side, Source) and side.text is not None for side in request.sides)
    wanted = {"text": () if has_texts else text or ("text",) * is_open, "fields": tuple(kinds),
              "same": listed(request.same)}  # fmt: skip
    for argument, columns in wanted.items():
        for column in columns:
            lacking = [not matches(name_of(column, at), each) for at, each in enumerate(names)]
            if sum(lacking) == 1 and "." not in column and name_of(column, 0) == column:
                rows = [read_rows(side, reading=reading, most=ROWS) for side, reading in read]
                raise refuse_unpaired(argument, read, rows, [column], lacking.index(True))


def _spell(arguments: Mapping[str, Any]) -> str:
    """Spell arguments as they are written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
