"""DataFrames, tables of Arrow and mappings of columns.

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
from neardup_solr.errors import ArgumentError
from neardup_solr.sources.arrow import like_rows, read_arrow
from neardup_solr.sources.column import matches, show_names, split_path
from neardup_solr.sources.document import from_columns, from_row
from neardup_solr.sources.header import Columns, choose_id, find_columns, number_them
from neardup_solr.sources.iterables import (
    MAPPING,
    as_mapping,
    kind_of_item,
    list_names,
    read_iterable,
)
from neardup_solr.sources.json import FIRST_OBJECTS
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.record_errors import first_line
from neardup_solr.sources.table import Piece, Record

FRAME_ROWS: Final = 1_024
FIRST_ROWS: Final = 1_000  # that show which fields columns have
# Classes of libraries, by their names: these are not loaded for it.
KINDS: Final = {
    ("pandas", "DataFrame"): "pandas",
    ("pandas", "Series"): "pandas.Series",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "lazy",
    ("polars", "Series"): "polars.Series",
}
SERIES: Final = {
    "pandas.Series": "make a DataFrame from it: "
    'series.rename_axis("id").rename("text").reset_index()',
    "polars.Series": 'give pl.DataFrame({"id": ids, "text": series})',
}
# What has tables of Arrow has any of these.
DOORS: Final = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "to_batches")
WHAT_MAY_BE: Final = (
    "give the path of a file or folder, a list of paths, a DataFrame, an Arrow table, or an "
    "iterable of (id, text), dicts or nd.Document"
)


def kind_of(source: Any) -> str:
    """Find the kind of what is in memory, "" if it is no source. A subclass counts as its base."""
    if isinstance(source, type):
        return ""
    for base in type(source).__mro__:
        if kind := KINDS.get((base.__module__.partition(".")[0], base.__name__)):
            return kind
    if any(hasattr(source, door) for door in DOORS):
        return "arrow"
    if hasattr(source, "keys") and hasattr(source, "__getitem__"):
        return "columns"
    is_iterable = hasattr(source, "__iter__") and not hasattr(source, "read")
    return "records" if is_iterable and not isinstance(source, bytes | bytearray) else ""


def read_memory(source: Any, part: SourcePart) -> Iterator[Piece]:
    """Read the records of what is in memory.

    Raises ArgumentError if it is not a source, SourceError if it lacks the columns.
    """
    kind = kind_of(source)
    if kind in SERIES:
        raise ArgumentError(f"a {kind} has no columns", SERIES[kind])
    if not kind:
        what = f"the class {source.__name__}" if isinstance(source, type) else describe(source)
        raise ArgumentError(f"{what} is not a source", WHAT_MAY_BE)
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

    names: list[Any] = list(take(0).columns)
    if not matches(id, names) and split_path(id, tuple(names))[0] < 0:
        reading = choose_id(part, [*names, *named], part.reading)
        part = replace(part, reading=reading)
        if reading.has_ids:
            raise part.error(
                f"the column {id!r} is missing; available: {show_names(names)}",
                "name the right one with `id`, or make the index the id: "
                f"df.rename_axis({id!r}){number_them(reading)}",
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
    number, where = 1, f"{part.name}, row "
    for few in slices:
        parts = [take(few, place) for place in places]
        yield from from_columns(where, number, parts, columns, part.reading)
        number += len(few)


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
        raise ArgumentError(what, WHAT_MAY_BE) from error
    return read_arrow(part, reader)


def _read_mapping(source: Any, part: SourcePart) -> Iterator[Record]:
    """Read the rows of a mapping of columns to their values."""
    names = list(source.keys())
    has_text = any(matches(name, names) for name in part.reading.text)
    if names and not has_text and all(isinstance(source[name], str) for name in names):
        raise part.error("has texts by their ids, not columns", "give its items()")
    examples = partial(rows_of, source, FIRST_ROWS)
    places, columns = find_columns(part, names, part.reading, examples).needed()
    parts = {names[place]: source[names[place]] for place in places}
    for name, column in parts.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            reason = f"its column {name!r} is {describe(column)}, not a list of values"
            step = "give a list for each column; a single document is given as [(id, text)]"
            raise part.error(reason, step)
    if len(set(map(len, parts.values()))) > 1:
        lengths = ", ".join(f"{name!r} {len(column):,}" for name, column in parts.items())
        reason = f"its columns differ in length: {lengths}"
        raise part.error(reason, "give the same number of values for each")
    return (
        from_row(f"{part.name}, row {number}", row, columns, part.reading)
        for number, row in enumerate(zip(*parts.values(), strict=True), 1)
    )
