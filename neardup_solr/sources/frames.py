"""Records of DataFrames, tables of Arrow, mappings of columns and iterables.

A DataFrame is known by its class, so neither pandas nor polars is loaded for it. It is read a few
rows at a time: nothing is copied as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Final

from neardup_solr.arguments import describe
from neardup_solr.errors import ArgumentError, RecordError, counted
from neardup_solr.records import Document, find_problem
from neardup_solr.sources.arrow import first_line, read_arrow
from neardup_solr.sources.json import FIRST_OBJECTS, Object, from_objects
from neardup_solr.sources.lines import NEEDS_FORMATS
from neardup_solr.sources.record import (
    NUMBERED,
    Columns,
    Opened,
    Piece,
    Reading,
    Record,
    Unusable,
    as_columns,
    choose_id,
    columns,
    from_columns,
    from_row,
    kept_value,
    key,
    matches,
    number_them,
    record,
    shown,
    value,
)

ROWS_AT_ONCE: Final = 1_024

WHAT_MAY_BE: Final = (
    "give the path of a file or folder, a list of paths, a DataFrame, a table of Arrow, or an "
    "iterable of (id, text), of dicts or of nd.Document"
)


def read_memory(given: Any, source: Opened) -> Iterator[Piece]:
    """The records of what is in memory.

    Raises ArgumentError if it is not a source, SourceError if it lacks the columns.
    """
    if isinstance(given, type):
        raise ArgumentError(f"the class {given.__name__} is not a source", WHAT_MAY_BE)
    frame = _frame(given, source)
    if frame is not None:
        return frame
    if hasattr(given, "keys") and hasattr(given, "__getitem__"):
        return _read_mapping(given, source)
    is_iterable = hasattr(given, "__iter__") and not hasattr(given, "read")
    if not is_iterable or isinstance(given, bytes | bytearray):
        raise ArgumentError(f"{describe(given)} is not a source", WHAT_MAY_BE)
    return _read_iterable(given, source)


def is_there(given: object) -> bool:
    """Tell whether all records are there already. An iterator may take long for each."""
    return hasattr(given, "__len__")


def class_name(given: object) -> str:
    """Name something in memory in messages, by its class."""
    return type(given).__name__


def _frame(given: Any, source: Opened) -> Iterator[Piece] | None:
    """Read a DataFrame or a table of another library, or None if it is neither."""
    library, kind = origin(given)
    if kind == "Series":
        step = 'make a DataFrame of it: series.rename_axis("id").rename("text").reset_index()'
        raise ArgumentError(
            f"a {library}.Series has no columns",
            step if library == "pandas" else 'give pl.DataFrame({"id": ids, "text": series})',
        )
    if (library, kind) == ("pandas", "DataFrame"):
        return _read_pandas(given, source)
    if kind == "LazyFrame":
        return _read_lazy(given, source)
    if kind == "DataFrame":
        return _read_polars([given], given.columns, source)
    doors = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "to_batches")
    if any(hasattr(given, door) for door in doors):
        return read_arrow(source, _batches(given, source))
    return None


def names_of(given: Any) -> list[Any]:
    """List the columns of what can be read again, a named index of pandas too, or none."""
    library, kind = origin(given)
    if (library, kind) == ("pandas", "DataFrame"):
        inner = [name for name in given.index.names if name not in (None, *given.columns)]
        return [*inner, *given.columns]
    if kind in ("DataFrame", "LazyFrame"):
        return list(given.collect_schema().names())
    if hasattr(given, "to_batches"):
        return list(given.schema.names)
    if hasattr(given, "keys") and hasattr(given, "__getitem__"):
        return list(given.keys())
    if not isinstance(given, list | tuple) or any(_kind(one) != MAPPING for one in given[:1]):
        return []
    few = given[:FIRST_OBJECTS]
    return list(dict.fromkeys(name for one in few if _kind(one) == MAPPING for name in _names(one)))


def rows_of(given: Any, most: int) -> list[dict[Any, Any]]:
    """Read up to twice `most` rows of what has such columns, evenly from the whole if it can be."""
    library, kind = origin(given)
    if kind == "LazyFrame":
        return list(given.head(most).collect().to_dicts())
    step = max(1, len(given) // most) if isinstance(given, Sized) else 1
    if (library, kind) == ("pandas", "DataFrame"):
        has_more = len(names_of(given)) > len(given.columns)
        few = given.iloc[::step].reset_index() if has_more else given.iloc[::step]
        return [dict(zip(few.columns, row, strict=True)) for row in few.itertuples(index=False)]
    if kind == "DataFrame":
        return list(given.gather_every(step).to_dicts())
    if hasattr(given, "to_batches"):  # a table, or a dataset
        is_there = isinstance(given, Sized)
        few = given.take([*range(0, len(given), step)]) if is_there else given.head(most)
        return list(few.to_pylist())
    if not isinstance(given, list | tuple):
        if not all(isinstance(column, Iterable) for column in given.values()):
            return []  # which reading refuses
        names, rows = list(given.keys()), zip(*given.values(), strict=False)
        return [dict(zip(names, row, strict=True)) for row in islice(rows, most)]
    few = (one for one in given[::step] if _kind(one) == MAPPING)
    return [dict(one._asdict() if hasattr(one, "_fields") else one) for one in few]


def origin(given: object) -> tuple[str, str]:
    """Find the library and the class of a DataFrame or the like. A subclass counts as its base."""
    for kind in type(given).__mro__:
        library = kind.__module__.partition(".")[0]
        if library in ("pandas", "polars") and kind.__name__ in (
            "DataFrame",
            "LazyFrame",
            "Series",
        ):
            return library, kind.__name__
    return "", ""


def _read_pandas(frame: Any, source: Opened) -> Iterator[Piece]:
    """Read the rows of a pandas DataFrame. An index with the name of the id is a column too."""
    names: list[Any] = list(frame.columns)
    inner = [name for name in frame.index.names if name is not None]
    if not matches(source.reading.id, names) and matches(source.reading.id, inner):
        names += inner
    elif not matches(source.reading.id, names):
        source = replace(source, reading=choose_id(source, [*names, *inner], source.reading))
        if source.reading.has_ids:
            raise source.error(
                f"the column {source.reading.id!r} is missing; those there are: {shown(names)}",
                "name the right one with `id`, or make the index the id: "
                f"df.rename_axis({source.reading.id!r}){number_them(source.reading)}",
            )
    places, asked = columns(source, names, source.reading).needed()
    width = len(frame.columns)

    def column(few: Any, place: int) -> list[Any]:
        is_index = place >= width
        found = few.index.get_level_values(names[place]) if is_index else few.iloc[:, place]
        return list(found.tolist())

    firsts = range(0, len(frame), ROWS_AT_ONCE)
    slices = (frame.iloc[first : first + ROWS_AT_ONCE] for first in firsts)
    return _read_slices(source, slices, places, asked, column)


def _read_slices(
    source: Opened, slices: Iterable[Any], wanted: Iterable[Any], asked: Columns, column: Any
) -> Iterator[Piece]:
    """Read DataFrames of a few rows each, by a function that gives the values of a column."""
    number, where = 1, f"{source.name}, row "
    for few in slices:
        parts = [column(few, each) for each in wanted]
        yield from from_columns(where, number, parts, asked, source.reading)
        number += len(few)


def _read_lazy(frame: Any, source: Opened) -> Iterator[Piece]:
    """The rows of a LazyFrame: only the columns that are needed are computed, in batches."""
    names = frame.collect_schema().names()
    places, _ = columns(source, names, source.reading).needed()
    wanted = [names[place] for place in places]
    chosen = frame.select(wanted)
    if hasattr(chosen, "collect_batches"):
        return _read_polars(chosen.collect_batches(maintain_order=True), wanted, source)
    return _read_polars([chosen.collect()], wanted, source)


def _read_polars(frames: Iterable[Any], names: list[str], source: Opened) -> Iterator[Piece]:
    places, asked = columns(source, names, source.reading).needed()
    slices = chain.from_iterable(frame.iter_slices(ROWS_AT_ONCE) for frame in frames)
    wanted = [names[place] for place in places]
    return _read_slices(source, slices, wanted, asked, lambda few, name: few[name].to_list())


def _batches(given: Any, source: Opened) -> Any:
    """The batches of an Arrow table, or of what can be turned into one."""
    try:
        import pyarrow
    except ImportError as error:
        raise source.error("Arrow needs the library pyarrow", NEEDS_FORMATS) from error
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pyarrow.RecordBatchReader.from_stream(given)
        if hasattr(given, "__arrow_c_array__"):
            batch = pyarrow.record_batch(given)
            return pyarrow.RecordBatchReader.from_batches(batch.schema, [batch])
        if hasattr(given, "to_batches"):  # a dataset, of which only some columns are read
            return _of_dataset(given, source)
        from pyarrow.interchange import from_dataframe

        table = from_dataframe(given)
        return table.to_reader()
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        what = f"{describe(given)} has no columns ({first_line(error)})"
        raise ArgumentError(what, WHAT_MAY_BE) from error


def _of_dataset(given: Any, source: Opened) -> Any:
    names = given.schema.names
    places, _ = columns(source, names, source.reading).needed()
    return given.scanner(columns=[names[place] for place in places]).to_reader()


def _read_mapping(given: Any, source: Opened) -> Iterator[Record]:
    """The rows of a mapping of columns to their values."""
    names = list(given.keys())
    places, asked = columns(source, names, source.reading).needed()
    parts = [given[names[place]] for place in places]
    for place, part in zip(places, parts, strict=True):
        if isinstance(part, str | bytes | Mapping) or not hasattr(part, "__len__"):
            raise source.error(
                f"its column {names[place]!r} is {describe(part)}, not a list of values",
                "give a list for each column; a single document is given as [(id, text)]",
            )
    lengths = {len(part) for part in parts}
    if len(lengths) > 1:
        told = ", ".join(
            f"{names[place]!r} {len(part):,}" for place, part in zip(places, parts, strict=True)
        )
        raise source.error(
            f"its columns differ in length: {told}", "give as many values for each of them"
        )
    return (
        from_row(f"{source.name}, row {number}", row, asked, source.reading)
        for number, row in enumerate(zip(*parts, strict=True), 1)
    )


def _read_iterable(given: Iterable[Any], source: Opened) -> Iterator[Piece]:
    """Read an iterable of Documents, dicts, or pairs of id and text, all of one kind."""
    numbered = enumerate(given, 1)
    for number, found in numbered:
        kind = _kind(found)
        if kind:
            if kind == MAPPING:
                source = _with_ids_of(given, found, source)
            rest = _of_one_kind(source, chain([(number, found)], numbered), kind)
            yield from _READERS[kind](rest, source)
            return
        yield RecordError(f"{source.name}, record {number}", _misfit(found, kind))


def _with_ids_of(given: Iterable[Any], first: Any, source: Opened) -> Opened:
    """The source, whose records are numbered if none of the first ones has anything like an id."""
    few = given[:FIRST_OBJECTS] if isinstance(given, list | tuple) else [first]
    names = [name for one in few if _kind(one) == MAPPING for name in _names(one)]
    return replace(source, reading=choose_id(source, dict.fromkeys(names), source.reading))


def _names(found: Any) -> Iterable[Any]:
    names: Iterable[Any] = found._fields if hasattr(found, "_fields") else found.keys()
    return names


def _of_one_kind(
    source: Opened, numbered: Iterable[tuple[int, Any]], kind: str
) -> Iterator[tuple[str, Any]]:
    """Pass records on with their positions, and an error in place of one of another kind."""
    for number, found in numbered:
        position = f"{source.name}, record {number}"
        fits = _kind(found) == kind
        yield position, found if fits else RecordError(position, _misfit(found, kind))


DOCUMENT: Final = "a Document"
MAPPING: Final = "a dict"
PAIR: Final = "a pair"


def _kind(found: object) -> str:
    """Find the kind of a record, or "" if it is not a record."""
    if isinstance(found, Document):
        return DOCUMENT
    if hasattr(found, "keys") or hasattr(found, "_fields"):  # the latter of a named tuple
        return MAPPING
    return PAIR if isinstance(found, tuple | list) else ""


def _misfit(found: object, kind: str) -> str:
    if kind and _kind(found):
        return f"{_kind(found)}, but the first record is {kind}: give records of one kind"
    return f"{describe(found)} is not a record: give (id, text), a dict or an nd.Document"


def _read_documents(records: Iterable[tuple[str, Any]], source: Opened) -> Iterator[Record]:
    """Documents as they are: the verb that uses them says what is wrong with one."""
    for position, found in records:
        if isinstance(found, RecordError):
            yield found
        elif type(found.id) is not str or type(found.text) is not str or found.kept:
            yield _with_plain_values(found, found.position or position, source.reading)
        elif not source.reading.has_ids:
            yield replace(found, id=NUMBERED, position=found.position or position)
        elif found.position or find_problem(found) is None:
            yield found
        else:
            yield replace(found, position=position)


def _with_plain_values(found: Document, position: str, reading: Reading) -> Record:
    """A document with plain values instead of those of NumPy and the like."""
    try:
        id = value(found.id, reading) if reading.has_ids else NUMBERED
        text = value(found.text, reading)
        kept = {name: kept_value(name, each, reading) for name, each in found.kept.items()}
        made = record(position, id, text, reading=reading, kept=kept)
    except Unusable as reason:
        made = RecordError(position, str(reason))
    if type(made) is RecordError:
        columns = {"id": found.id, "text": found.text, **found.kept}
        made.record = as_columns(columns.keys(), columns.values())
    is_plain = type(found.id) is type(found.text) is str
    return replace(found, position=position) if isinstance(made, RecordError) and is_plain else made


def _read_pairs(records: Iterable[tuple[str, Any]], source: Opened) -> Iterator[Record]:
    if source.reading.keep:
        raise ArgumentError(
            f"{source.given}: pairs of id and text have no columns to keep",
            "give dicts instead, or leave `keep` out",
        )
    id = 0 if source.reading.has_ids else None
    pair = Columns(names=("id", "text"), id=id, text=(1,), keep=())
    for position, found in records:
        if isinstance(found, RecordError):
            yield found
        elif len(found) != 2:
            values = counted(len(found), "value")
            yield RecordError(position, f"a record of {values}: give (id, text), or a dict")
        else:
            yield from_row(position, found, pair, source.reading)


def _read_mappings(records: Iterable[tuple[str, Any]], source: Opened) -> Iterator[Record]:
    reading = source.reading
    found = (_of_mapping(position, each, reading) for position, each in records)
    return from_objects(source, found, reading)


_READERS: Final = {DOCUMENT: _read_documents, PAIR: _read_pairs, MAPPING: _read_mappings}


def _of_mapping(position: str, found: Any, reading: Reading) -> Object:
    """A mapping with the values of the columns that are asked for, as Python has them."""
    if isinstance(found, RecordError):
        return position, found, b""
    if hasattr(found, "_fields"):
        found = dict(zip(found._fields, found, strict=True))
    made: dict[str, Any] = {}
    columns = found.keys()  # a sqlite3.Row would give its values if it were gone through
    names = tuple(each for each in columns if isinstance(each, str))
    try:
        for name in reading.keep:
            if (at := key(name, names)) in names:
                made[name] = kept_value(name, found[at], reading)
        for name in (reading.id, *reading.text):
            if (at := key(name, names)) in names:
                made[name] = value(found[at], reading)
    except Unusable as problem:
        record = as_columns(names, (found[name] for name in names))
        return position, RecordError(position, str(problem), record=record), b""
    return position, made, b""
