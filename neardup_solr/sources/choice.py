"""Choice of the columns of a verb's sources, if they are not named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from types import NoneType
from typing import Any, NamedTuple, cast

from neardup_solr.argument_types import OneOrMore
from neardup_solr.arguments import Source
from neardup_solr.checks import listed, require
from neardup_solr.comma_names import join_names
from neardup_solr.errors import ArgumentError, DataError, RecordError, SourceError
from neardup_solr.files import paths_of
from neardup_solr.measures.columns import parse_fields
from neardup_solr.progress import ignore
from neardup_solr.records import Document
from neardup_solr.sources.column import DEEPEST, is_like_id, matches
from neardup_solr.sources.column_guess import Guess, guess_columns
from neardup_solr.sources.notes import log_note
from neardup_solr.sources.reader import SourceReader, check_columns, open_source
from neardup_solr.sources.reading import ROW, reading_of
from neardup_solr.sources.sides import (
    UnpairedError,
    choose_ids,
    name_of,
    refuse_unpaired,
    require_rows,
    require_telling,
)
from neardup_solr.sources.source import is_collection
from neardup_solr.sources.values import plain

ROWS = 1_000  # that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRequest:
    """Sources, columns and arguments for texts that a user of a verb has named.

    Not `by_fields`, columns are joined to a text, as if a measure of texts were named.
    """

    source: Any
    against: Any = None
    has_two_sides: bool = True  # or the verb takes a single source
    id: str | None
    text: OneOrMore
    fields: OneOrMore | Mapping[str, str] | None
    has_model: bool = False
    by_fields: bool = True
    same: OneOrMore = ()
    measure: str
    for_texts: tuple[str, ...] = ()  # arguments that are for texts alone

    @property
    def sides(self) -> list[Any]:
        """The sources that are compared: one, or two."""
        return [side for side in (self.source, self.against) if side is not None]

    @property
    def named_id(self) -> str | None:
        """The column of the ids, if it is named."""
        return self.id or (self.source.id if isinstance(self.source, Source) else None)

    @property
    def named_text(self) -> tuple[str, ...]:
        """The columns of the text, the usual one if none is named."""
        text = self.source.text if isinstance(self.source, Source) else None
        return listed(text or self.text)

    @property
    def is_for_texts(self) -> bool:
        """True if a measure of texts is named."""
        return self.measure not in ("auto", "fields")


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


def log_choice(chosen: Chosen) -> None:
    """Log which columns were chosen, as arguments are written in Python."""
    for line in chosen.lines(_spell):
        log_note(line)


def choose_columns(request: ColumnRequest) -> Chosen | None:
    """Choose the id, and fields or a text, of sources whose columns are not named.

    None if the source is a collection, or it has columns id and text; the id is chosen for a text
    and for fields that are named, too. Two sides are compared by columns that both have. If a
    measure of texts is named, or not `by_fields`, the columns are joined to one. Whoever reads the
    source reports what is wrong with it.

    Raises ArgumentError if columns are named and only collections are read; DataError if fields
    are chosen and another argument is for texts, or if two sides have no columns in common that
    could be compared; SourceError if one of two sides cannot be read, or if two files are no table,
    but could be two sides.
    """
    _refuse_columns_of_collections(request)
    try:
        chosen = _look_at_rows(request)
    except UnpairedError:
        raise
    except (ArgumentError, SourceError, RecordError, TypeError) as error:
        if isinstance(error, SourceError) and request.against is not None:
            raise  # or what was not chosen would be missing in the other side
        return None
    if request.against is None and request.has_two_sides:
        _refuse_apart(request, chosen)
    if chosen is not None and "fields" in chosen.arguments:
        for argument in request.for_texts:
            _refuse_fields(argument, chosen)
    return chosen


def _refuse_columns_of_collections(request: ColumnRequest) -> None:
    """Refuse columns that are named where only collections are read, whose fields have names."""
    if not (request.sides and all(map(is_collection, request.sides))):
        return
    for name, is_named in (("id", request.id), ("text", request.named_text != ("text",))):
        reason = f"a collection has its own fields, so `{name}` cannot be set"
        require(not is_named, reason, "omit it", code="arguments-conflict")


def _refuse_apart(request: ColumnRequest, chosen: Chosen | None) -> None:
    """Refuse two files with other columns as a table, if they could be compared with each other.

    Whoever reads them reports what else is wrong.
    """
    first = request.source
    paths = paths_of(first.source if isinstance(first, Source) else first) or ()
    if len(paths) != 2:
        return
    if chosen is not None:
        request = replace(request, **chosen.arguments)
    text = request.text if request.fields is None else (*parse_fields(request.fields),)
    source, reading = reading_of(first, "number", id=request.id, text=text)
    try:
        check_columns(open_source(source, reading, on_notice=ignore).parts)
        return
    except (ArgumentError, SourceError) as error:
        of = getattr(error, "source", None)
        if of != os.fspath(paths[1]) and getattr(error, "code", "") != "column-missing":
            return
        refused = cast(SourceError, error)
    first, second = (
        replace(request.source, source=path) if isinstance(request.source, Source) else path
        for path in paths
    )
    is_first = of != os.fspath(paths[1])
    second_name = "the other one" if is_first else "it"
    step = f"to compare it with {os.fspath(paths[is_first])}, name {second_name} with `against`"
    try:
        _look_at_rows(replace(request, source=first, against=second))
    except UnpairedError as error:
        step = f"{step}, and {error.next_step}"
    except (ArgumentError, SourceError, RecordError, TypeError):
        return
    raise SourceError(refused.source, refused.reason, step, code=refused.code)


def _refuse_fields(argument: str, chosen: Chosen) -> None:
    """Raise the error that an argument is for texts, and which text there could be instead."""
    names = join_names(parse_fields(chosen.arguments["fields"]))
    step = f"omit it, or join the columns to a text with `text` {names!r}"
    reason = (
        f"{argument} is for texts, but the columns of {chosen.name} are compared, as none is text"
    )
    raise DataError(reason, step, code="values-unfit")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedColumns:
    """The columns that a user has named, and if the sources have what else is needed."""

    id: str | None
    text: tuple[str, ...]
    fields: tuple[str, ...]
    is_text_named: bool
    has_fields: bool  # or a model, which has some
    has_ids: bool  # a column is named, or each source has one of the usual name
    has_compared: bool  # likewise

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns that are compared, as far as they are named."""
        return (*self.fields, *self.text)


class SideRows(NamedTuple):
    """Rows of each side: `every` with all columns, `common` ones alone with values of JSON.

    `names` are the columns that each side has once. `places` has, for each name of the first side,
    the columns of every side that it stands for.
    """

    every: list[list[dict[Any, Any]]]
    common: list[list[dict[str, Any]]]
    names: list[str]
    places: list[dict[str, list[Any]]]


def _look_at_rows(request: ColumnRequest) -> Chosen | None:
    """Choose columns by their names, and by the values of some rows if these do not tell."""
    if any(map(is_collection, request.sides)):
        return None
    opened = _open_sides(request)
    names = [each.column_names() for each in opened]
    for at, each in enumerate(opened):
        if len(opened) > 1 and not names[at] and _is_empty(each):
            other = request.sides[1 - at]  # [] has no columns to choose
            return _look_at_rows(replace(request, source=other, against=None))
    named = _find_named(request, opened, names)
    if len(opened) > 1 and all(names):
        _check_names(request, named.text if named.is_text_named else (), opened, names)
    if not (names and all(names)) or (named.has_ids and named.has_compared):
        return None
    has_like_id = any(is_like_id(str(name)) for each in names for name in each)
    if named.is_text_named and not (named.has_fields or has_like_id):
        return None  # whoever reads the source numbers its records
    rows = _read_sides(opened, names)
    if not any(rows.common):  # no records, which is reported when they are read
        is_chosen = rows.names and not named.has_compared
        return Chosen(opened[0].label, {"text": tuple(rows.names)}, "") if is_chosen else None
    guess = _guess(opened, named, rows)
    alike: dict[str, str] = {}
    if len(opened) > 1 and not named.has_compared:
        argument = "text" if request.is_for_texts or request.for_texts else "fields"
        labels = [each.label for each in opened]
        alike = require_telling(argument, guess, rows.common, labels, rows.every, rows.names)
    if guess is None and not named.has_compared:
        require_rows([each.label for each in opened], rows.every)
        return None
    id = _choose_id(guess, named, rows)
    arguments: dict[str, Any] = {} if id is None else {"id": id}
    if named.has_compared:
        is_odd = named.has_fields or (named.is_text_named and has_like_id)
        return Chosen(opened[0].label, arguments, "") if id and (is_odd or id != ROW) else None
    assert guess is not None
    if guess.texts or request.is_for_texts or not request.by_fields:
        arguments["text"] = guess.texts or tuple(guess.fields)
    else:
        arguments["fields"] = guess.spelled
    left_out = guess.left_out | _find_apart(names, rows, arguments.get("id", "id"), alike)
    line = replace(guess, left_out=left_out).describe_left_out()
    return Chosen(opened[0].label, arguments, line, guess.beside)


def _open_sides(request: ColumnRequest) -> list[SourceReader]:
    """Open each side, to be read by the columns that are named, in silence."""
    id, text = request.named_id, request.named_text
    opened = []
    for at, side in enumerate(request.sides):
        names = [name_of(each, at) for each in text]
        source, reading = reading_of(side, "none", id=id and name_of(id, at), text=names)
        opened.append(open_source(source, reading, on_notice=ignore))
    return opened


def _is_empty(opened: SourceReader) -> bool:
    """Tell whether one of two sides has no records. A file that cannot be read is refused."""
    if all(os.path.isfile(path) for path in opened.paths or [""]):
        next(opened.pieces(), None)
    return isinstance(opened.source, Sized) and not len(opened.source)


def _find_named(
    request: ColumnRequest, opened: Sequence[SourceReader], names: Sequence[Sequence[object]]
) -> NamedColumns:
    """Find which columns are named, and which the sources have without that."""
    id, text = request.named_id, request.named_text
    has_fields = request.fields is not None or request.has_model
    is_text_named = text != ("text",)
    return NamedColumns(
        id=id,
        text=text,
        fields=() if request.fields is None else (*parse_fields(request.fields),),
        is_text_named=is_text_named,
        has_fields=has_fields,
        has_ids=id is not None
        or all(matches(side.reading.id, each) for side, each in zip(opened, names, strict=True)),
        has_compared=has_fields or is_text_named or any(matches("text", each) for each in names),
    )


def _read_sides(opened: Sequence[SourceReader], names: Sequence[Sequence[object]]) -> SideRows:
    """Read some rows of each side."""
    first = {name.strip(): None for name in names[0] if isinstance(name, str) and name.strip()}
    places = [{name: [each[at] for at in matches(name, each)] for name in first} for each in names]
    common = [name for name in first if all(len(side[name]) == 1 for side in places)]
    every = [each.rows(ROWS) for each in opened]
    rows = [
        [{name: plain(row.get(columns[name][0])) for name in common} for row in side]
        for side, columns in zip(every, places, strict=True)
    ]
    _spread_objects(rows)
    return SideRows(every, rows, common, places)


def _spread_objects(sides: Sequence[Sequence[dict[str, Any]]]) -> None:
    """Replace objects in rows by their fields, named by paths, unless a column has other values.

    An object is neither an id nor a text, but has fields that are.
    """
    rows = [*chain.from_iterable(sides)]
    for _ in range(DEEPEST):
        names = {name for row in rows for name, value in row.items() if isinstance(value, dict)}
        if not names:
            return
        names -= {name for row in rows for name, value in row.items()
                  if name in names and not isinstance(value, dict | NoneType)}  # fmt: skip
        for row, name in product(rows, names):
            for inner, value in (row.pop(name, None) or {}).items():
                row.setdefault(f"{name}.{inner}", value)


def _guess(opened: Sequence[SourceReader], named: NamedColumns, rows: SideRows) -> Guess | None:
    """Guess by some rows, or by all of them if these are too few to tell."""

    def read_again(wanted: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        some = [row for side in rows.common for row in side]
        whole = (
            name for name in rows.names if all(isinstance(row.get(name), str | int) for row in some)
        )
        texts = tuple({*wanted, *islice(whole, 1)})  # with which each record has a text
        for number, each in enumerate(opened):
            by_row = replace(each.reading, id=ROW, text=texts, keep=tuple(wanted))
            for record in open_source(each.source, by_row, on_notice=ignore).records():
                if isinstance(record, Document):
                    yield number, record.kept

    guess = guess_columns(rows.common, id=named.id, named=named.compared)
    has_more = any(len(side) >= ROWS for side in rows.common)
    if guess and guess.fields and has_more:  # long texts are read once
        guess = guess_columns(rows.common, id=named.id, named=named.compared, read=read_again)
    return guess


def _choose_id(guess: Guess | None, named: NamedColumns, rows: SideRows) -> str | None:
    """Choose the column of the ids, which two sides may have under other names."""
    id = None if guess is None else guess.id
    is_open = named.id is None and not named.has_ids and id in (None, ROW)
    return choose_ids(rows.every, named.compared) if len(rows.every) > 1 and is_open else id


def _find_apart(
    names: Sequence[Sequence[object]], rows: SideRows, id: str, alike: Mapping[str, str]
) -> dict[str, str]:
    """Find the columns that are not in each side once, with the reason for each."""
    reasons = {
        name: "appears twice"
        for name in rows.places[0]
        if any(len(side[name]) > 1 for side in rows.places)
    }
    for name in (str(each) for each in chain(*names if len(names) > 1 else ())):
        if not matches(name, (*rows.names, *id.split("="))):
            reasons[name] = alike.get(name, "only in one source")
    return reasons


def _check_names(
    request: ColumnRequest, text: Sequence[str], opened: Sequence[SourceReader],
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
                rows, labels = [each.rows(ROWS) for each in opened], [each.label for each in opened]
                raise refuse_unpaired(argument, labels, rows, [column], lacking.index(True))


def _spell(arguments: Mapping[str, Any]) -> str:
    """Spell arguments as they are written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
