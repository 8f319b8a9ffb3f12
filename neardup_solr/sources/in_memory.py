"""Sources in memory: DataFrames, tables of Arrow, mappings of columns, and iterables of records.

A DataFrame is recognized by its class, so neither pandas nor polars is loaded for it. It is read a
few rows at a time: nothing is copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, Final

from neardup_solr.checks import describe
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.records import Document, Run, find_problem
from neardup_solr.sources.arrow import like_rows, read_arrow
from neardup_solr.sources.column import (
    LACKING,
    Columns,
    choose_id,
    dig,
    find_columns,
    matches,
    number_them,
    show_names,
    split_path,
)
from neardup_solr.sources.document import (
    are_unicode,
    as_columns,
    first_line,
    from_columns,
    from_row,
    make_document,
)
from neardup_solr.sources.json import FIRST_OBJECTS
from neardup_solr.sources.kinds import kind_of
from neardup_solr.sources.objects import (
    Object,
    list_unseen,
    make_object_run,
    make_records,
    take_columns,
    tell_unseen,
)
from neardup_solr.sources.part import ID, NUMBERED, TEXT, Piece, Record, SourcePart
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import Unusable, read_id, read_kept, read_value

FRAME_ROWS: Final = 1_024
FIRST_ROWS: Final = 1_000  # that show which fields columns have
WHAT_MAY_BE: Final = (
    "give the path of a file or folder, a list of paths or texts, a DataFrame, a Series, an Arrow "
    "table, or an iterable of (id, text), dicts or nd.Document"
)
DOCUMENT: Final = "a Document"
MAPPING: Final = "a dict"
PAIR: Final = "a pair"


def read_memory(source: Any, part: SourcePart) -> Iterator[Piece]:
    """Read the records of what is in memory.

    Raises ArgumentError if it is not a source, SourceError if it lacks the columns.
    """
    kind = kind_of(source)
    if not kind:
        what = f"the class {source.__name__}" if isinstance(source, type) else describe(source)
        raise ArgumentError(f"{what} is not a source", WHAT_MAY_BE, code="argument-type")
    readers: dict[str, Callable[[Any, SourcePart], Iterator[Piece]]] = {
        "pandas": _read_pandas,
        "polars": _read_polars,
        "lazy": _read_polars,
        "arrow": _read_tables,
        "columns": _read_mapping,
        "records": read_iterable,
    }
    return readers[kind](source, part)


def names_of(source: Any) -> list[Any]:
    """List the columns of what can be read again, a named index of pandas too, or none."""
    kind = kind_of(source)
    if kind == "pandas":
        return [*_named_levels(source), *source.columns]
    if kind in ("polars", "lazy"):
        return list(source.collect_schema().names())
    if kind == "arrow":
        return list(source.schema.names) if hasattr(source, "to_batches") else []
    if kind == "columns":  # texts by their ids are none, which reading refuses
        are_texts = all(isinstance(column, str) for column in source.values())
        return [] if are_texts else list(source.keys())
    if not isinstance(source, list | tuple) or any(
        kind_of_item(item) != MAPPING for item in source[:1]
    ):
        return []
    return list_names(source[:FIRST_OBJECTS])


def rows_of(source: Any, most: int) -> list[dict[Any, Any]]:
    """Read up to twice `most` rows of what has such columns, evenly from the whole if it can be."""
    kind = kind_of(source)
    step = max(1, len(source) // most) if isinstance(source, Sized) else 1
    if kind == "pandas":
        few = source.iloc[::step]
        few = few.reset_index() if _named_levels(source) else few
        return [dict(zip(few.columns, row, strict=True)) for row in few.itertuples(index=False)]
    if kind == "lazy":
        return list(source.head(most).collect().to_dicts())
    if kind == "polars":
        return list(source.gather_every(step).to_dicts())
    if kind == "arrow":  # a table, or a dataset
        is_table = isinstance(source, Sized)
        few = source.take([*range(0, len(source), step)]) if is_table else source.head(most)
        return list(few.to_pylist())
    if kind == "columns":
        if not all(isinstance(column, Iterable) for column in source.values()):
            return []  # which reading refuses
        names, rows = list(source.keys()), zip(*source.values(), strict=False)
        return [dict(zip(names, row, strict=True)) for row in islice(rows, most)]
    return [dict(as_mapping(row)) for row in source[::step] if kind_of_item(row) == MAPPING]


def ends_of(source: Any, rows: int) -> tuple[Any, Any] | None:
    """Take the first and the last rows of what has them at hand, None of anything else."""
    if not hasattr(source, "__len__"):
        return None
    kind, last = kind_of(source), max(0, len(source) - rows)
    if kind == "pandas":
        return source.iloc[:rows], source.iloc[last:]
    if kind in ("polars", "arrow") and hasattr(source, "slice"):
        return source.slice(0, rows), source.slice(last)
    if kind == "records" and isinstance(source, Sequence):
        return source[:rows], source[last:]
    return None


def _named_levels(frame: Any) -> list[Any]:
    """List the names of the index of a pandas DataFrame that its columns do not have."""
    return [name for name in frame.index.names if name not in (None, *frame.columns)]


def _read_pandas(frame: Any, part: SourcePart) -> Iterator[Piece]:
    """Read the rows of a pandas DataFrame. An index with the name of the id is a column too."""
    id, named = part.reading.id, _named_levels(frame)
    is_column = bool(matches(id, frame.columns))
    levels = [] if is_column else [named[at] for at in matches(id, named)]

    def take(first: int) -> Any:
        few = frame.iloc[first : first + FRAME_ROWS]
        return few.reset_index(level=levels) if levels else few

    if frame.columns.nlevels > 1:
        reason = "its columns have several levels, so they have no names"
        step = 'join the levels: df.columns = ["_".join(map(str, each)) for each in df.columns]'
        raise part.error(reason, step, code="column-missing")
    names: list[Any] = list(take(0).columns)
    if not matches(id, names) and split_path(id, tuple(names))[0] < 0:
        reading = choose_id(part, [*names, *named], part.reading)
        part = replace(part, reading=reading)
        if reading.has_ids:
            step = f"or make the index the id: df.rename_axis({id!r})"
            if frame.index.nlevels > 1:  # as a whole it is no id
                step = (
                    f"or a level of the index: {show_names(named) if named else 'none has a name'}"
                )
            raise part.error(
                f"the column {id!r} is missing; available: {show_names(names)}",
                f"name the right one with `id`, {step}{number_them(reading)}",
                code="column-missing",
            )
    columns = find_columns(part, names, part.reading, partial(rows_of, frame, FIRST_ROWS))
    slices = map(take, range(0, len(frame), FRAME_ROWS))
    return _read_slices(part, columns, slices, lambda few, at: few.iloc[:, at].tolist())


def _read_slices(
    part: SourcePart,
    columns: Columns,
    slices: Iterable[Any],
    take: Callable[[Any, int], list[Any]],
) -> Iterator[Piece]:
    """Read DataFrames of a few rows each. `take` takes the values of a column by its place."""
    places, columns = columns.needed()
    rows = ([take(few, place) for place in places] for few in slices)
    return _read_rows(part, columns, rows)


def _read_rows(
    part: SourcePart, columns: Columns, slices: Iterable[Sequence[Sequence[Any]]]
) -> Iterator[Piece]:
    """Read rows, a few at a time, column by column."""
    number = 1
    for parts in slices:
        yield from from_columns(f"{part.name}, row ", number, parts, columns, part.reading)
        number += len(parts[0])


def _read_polars(frame: Any, part: SourcePart) -> Iterator[Piece]:
    """Read the rows of a DataFrame, or of a LazyFrame: in batches, only the columns it needs."""
    names = frame.collect_schema().names()
    columns = find_columns(part, names, part.reading, partial(rows_of, frame, FIRST_ROWS))
    frames = [frame]
    if kind_of(frame) == "lazy":
        few = frame.select([names[place] for place in columns.needed()[0]])
        has_batches = hasattr(few, "collect_batches")
        frames = few.collect_batches(maintain_order=True) if has_batches else [few.collect()]
    slices = chain.from_iterable(each.iter_slices(FRAME_ROWS) for each in frames)
    return _read_slices(part, columns, slices, lambda few, at: few[names[at]].to_list())


def _read_tables(source: Any, part: SourcePart) -> Iterator[Piece]:
    """Read an Arrow table, or what can become one."""
    pyarrow = part.require("Arrow", "pyarrow")
    try:
        if hasattr(source, "__arrow_c_stream__"):
            reader = pyarrow.RecordBatchReader.from_stream(source)
        elif hasattr(source, "__arrow_c_array__"):
            reader = pyarrow.Table.from_batches([pyarrow.record_batch(source)]).to_reader()
        elif hasattr(source, "to_batches"):  # a dataset, of which only some columns are read
            names = source.schema.names
            examples = partial(like_rows, source.schema)
            places, _ = find_columns(part, names, part.reading, examples).needed()
            reader = source.scanner(columns=[names[place] for place in places]).to_reader()
        else:
            from pyarrow.interchange import from_dataframe

            reader = from_dataframe(source).to_reader()
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        what = f"{describe(source)} has no columns ({first_line(error)})"
        raise ArgumentError(what, WHAT_MAY_BE, code="argument-type") from error
    return read_arrow(part, reader)


def _read_mapping(source: Any, part: SourcePart) -> Iterator[Piece]:
    """Read the rows of a mapping of columns to their values."""
    names = list(source.keys())
    has_text = any(matches(name, names) for name in part.reading.text)
    if names and not has_text and all(isinstance(source[name], str) for name in names):
        reason = "has texts by their ids, not columns"
        raise part.error(reason, "give its items()", code="argument-type")
    examples = partial(rows_of, source, FIRST_ROWS)
    places, columns = find_columns(part, names, part.reading, examples).needed()
    parts = {names[place]: source[names[place]] for place in places}
    for name, column in parts.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            reason = f"its column {name!r} is {describe(column)}, not a list of values"
            step = "give a list for each column; a single document is given as [(id, text)]"
            raise part.error(reason, step, code="argument-type")
    if len(set(map(len, parts.values()))) > 1:
        lengths = ", ".join(f"{name!r} {len(column):,}" for name, column in parts.items())
        reason = f"its columns differ in length: {lengths}"
        raise part.error(reason, "give the same number of values for each", code="argument-type")
    values = list(map(iter, parts.values()))
    slices = iter(lambda: [list(islice(each, FRAME_ROWS)) for each in values], [[]] * len(values))
    return _read_rows(part, columns, slices)


def read_iterable(source: Iterable[Any], part: SourcePart) -> Iterator[Piece]:
    """Read an iterable of Documents, dicts, or pairs of id and text, all of a kind."""
    readers: dict[str, Callable[[SourcePart, int, Iterable[Sequence[Any]]], Iterator[Piece]]]
    readers = {DOCUMENT: _of_documents, PAIR: _of_pairs, MAPPING: _of_mappings}
    numbered = enumerate(source, 1)
    for number, item in numbered:
        kind = kind_of_item(item)
        if kind:
            if kind == MAPPING:  # numbered if none of the first ones has anything like an id
                few = source[:FIRST_OBJECTS] if isinstance(source, list | tuple) else [item]
                reading = choose_id(part, list_names(few), part.reading)
                part = replace(part, reading=reading)
            yield from readers[kind](part, number, _group(source, number, item, numbered))
            return
        yield RecordError(
            f"{part.name}, record {number}", _misfit(item, kind), code="record-malformed"
        )


def _group(
    source: Iterable[Any], number: int, item: Any, numbered: Iterable[tuple[int, Any]]
) -> Iterator[Sequence[Any]]:
    """Group the items from that of a number on. What is not at hand is passed on one by one."""
    if isinstance(source, list | tuple):
        firsts = range(number - 1, len(source), FRAME_ROWS)
        return (source[first : first + FRAME_ROWS] for first in firsts)
    return chain([[item]], ([item] for _, item in numbered))


def list_names(items: Iterable[Any]) -> list[Any]:
    """List the names that mappings have."""
    mappings = (item for item in items if kind_of_item(item) == MAPPING)
    return list(dict.fromkeys(name for item in mappings for name in as_mapping(item)))


def as_mapping(item: Any) -> Mapping[Any, Any]:
    """Make a mapping of a named tuple, or of what has keys, such as a sqlite3.Row."""
    if isinstance(item, dict | Mapping):
        return item
    if hasattr(item, "_fields"):
        return dict(zip(item._fields, item, strict=True))
    return {name: item[name] for name in item.keys()}  # noqa: SIM118 - it yields values


def _of_one_kind(
    part: SourcePart, first: int, items: Iterable[Any], kind: str
) -> Iterator[tuple[str, Any]]:
    """Pass items on with their positions, with an error in place of each of another kind."""
    for number, item in enumerate(items, first):
        position = f"{part.name}, record {number}"
        fits = kind_of_item(item) == kind
        yield (
            position,
            item if fits else RecordError(position, _misfit(item, kind), code="record-malformed"),
        )


def kind_of_item(item: object) -> str:
    """Find the kind of a record, or "" if it is not a record."""
    if isinstance(item, Document):
        return DOCUMENT
    if hasattr(item, "keys") or hasattr(item, "_fields"):  # the latter of a named tuple
        return MAPPING
    return PAIR if isinstance(item, tuple | list) else ""


def _misfit(item: object, kind: str) -> str:
    if kind and kind_of_item(item):
        return f"{kind_of_item(item)}, but the first record is {kind}: give records of one kind"
    texts = ", or a list of texts" if isinstance(item, str) and not kind else ""
    return f"{describe(item)} is not a record: give (id, text), a dict or an nd.Document{texts}"


def _of_documents(
    part: SourcePart, first: int, groups: Iterable[Sequence[Any]]
) -> Iterator[Record]:
    """Pass documents on as they are: the verb that uses them checks each."""
    for position, item in _of_one_kind(part, first, chain.from_iterable(groups), DOCUMENT):
        if isinstance(item, RecordError):
            yield item
            continue
        if part.reading.strip_html:
            from neardup_solr.sources.html_text import strip_html

            item = replace(item, text=strip_html(item.text))
        if type(item.id) is not str or type(item.text) is not str or item.kept:
            yield _with_plain_values(item, item.position or position, part.reading)
        elif not part.reading.has_ids:
            yield replace(item, id=NUMBERED, position=item.position or position)
        elif item.position or find_problem(item) is None:
            yield item
        else:
            yield replace(item, position=position)


def _with_plain_values(document: Document, position: str, reading: Reading) -> Record:
    """Make a document with plain values instead of those of NumPy and the like."""
    try:
        id = read_id(document.id, reading) if reading.has_ids else NUMBERED
        text = read_value(document.text, reading)
        kept = {name: read_kept(name, each, reading) for name, each in document.kept.items()}
        record = make_document(position, id, text, reading=reading, kept=kept)
    except Unusable as reason:
        record = RecordError(position, str(reason), code="value-invalid")
    if type(record) is not RecordError:
        return record
    if type(document.id) is type(document.text) is str:
        return replace(document, position=position)
    columns = {ID: document.id, TEXT: document.text, **document.kept}
    record.record = as_columns(columns.keys(), columns.values())
    return record


def _of_pairs(part: SourcePart, first: int, groups: Iterable[Sequence[Any]]) -> Iterator[Piece]:
    if part.reading.keep:
        problem = f"{part.label}: pairs of id and text have no further columns"
        step = "give dicts instead, or leave `keep` out"
        raise ArgumentError(problem, step, code="arguments-conflict")
    id = 0 if part.reading.has_ids else None
    pair = Columns(names=(ID, TEXT), id=id, text=(1,), keep=())
    where = f"{part.name}, record "
    for group in groups:
        is_plain = len(group) > 1 and {*map(type, group)} <= {tuple, list}
        if is_plain and {*map(len, group)} == {2}:
            columns = list(zip(*group, strict=True))
            yield from from_columns(where, first, columns, pair, part.reading)
        else:
            for position, item in _of_one_kind(part, first, group, PAIR):
                yield _of_pair(position, item, pair, part.reading)
        first += len(group)


def _of_pair(position: str, item: Any, pair: Columns, reading: Reading) -> Record:
    if isinstance(item, RecordError):
        return item
    if len(item) == 2:
        return from_row(position, item, pair, reading)
    reason = f"a record of {counted(len(item), 'value')}: give (id, text), or a dict"
    return RecordError(position, reason, code="record-malformed")


def _of_mappings(part: SourcePart, first: int, groups: Iterable[Sequence[Any]]) -> Iterator[Piece]:
    reading = part.reading
    unseen = list_unseen(reading)
    for group in groups:
        if (run := _make_run_of(part, first, group, unseen)) is not None:
            yield run
        else:
            items = _of_one_kind(part, first, group, MAPPING)
            objects = (_take_columns(position, item, reading) for position, item in items)
            yield from make_records(objects, reading, unseen)
        first += len(group)
    tell_unseen(part, unseen)


def _make_run_of(
    part: SourcePart, first: int, items: Sequence[Any], unseen: set[str]
) -> Run | None:
    """Make a run of dicts, None if any of them needs a closer look."""
    if len(items) == 1 or {*map(type, items)} != {dict}:
        return None
    reading, columns = part.reading, take_columns(items, part.reading)
    if columns is None:
        return None
    run = make_object_run(f"{part.name}, record ", first, columns, reading)
    if run is None or not are_unicode(run.texts):
        return None
    unseen -= columns.seen
    return run


def _take_columns(position: str, item: Any, reading: Reading) -> Object:
    """Take the values of the columns that are columns for of a mapping, as Python has them."""
    if isinstance(item, RecordError):
        return position, item, b""
    item = as_mapping(item)
    values: dict[str, Any] = {}
    try:
        for name in (*reading.keep, reading.id, *reading.text):
            if (boxed := dig(item, name, LACKING)) is LACKING:
                continue
            if type(boxed) is str and boxed.isascii():
                values[name] = boxed
            elif name in reading.keep:
                values[name] = read_kept(name, boxed, reading)
            else:
                values[name] = (read_id if name == reading.id else read_value)(boxed, reading)
    except Unusable as problem:
        record = as_columns(item.keys(), item.values())
        return position, RecordError(position, str(problem), record=record, code=problem.code), b""
    needed = (*reading.text, reading.id) if reading.has_ids else reading.text
    if None in map(values.get, needed):
        names = (name for name in item if isinstance(name, str))  # for the error
        values = {name: item[name] for name in names} | values
    return position, values, b""
