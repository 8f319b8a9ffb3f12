"""Merged records of DataFrames, Arrow tables and lists of dicts, of the same kind and types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from neardup_solr import checks
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.progress import OnProgress
from neardup_solr.reports.result_table import to_arrow, to_pandas, to_polars
from neardup_solr.reports.rows import Columns as ReportColumns
from neardup_solr.reports.rows import Kept
from neardup_solr.sources.in_memory import MAPPING, as_mapping, kind_of_item
from neardup_solr.sources.kinds import kind_of
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.values import plain
from neardup_solr.verbs.duplicates.merge import VALUE_COLUMNS, Columns, MergedClusters
from neardup_solr.verbs.duplicates.record_numbers import HeldRecords, RecordNumbers

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.merge_rules import MergedColumn

FRAMES = ("pandas", "polars", "arrow")
Joined = Mapping[int, Any]  # values that are joined, by place


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameStore:
    """The records of what is in memory, as `RecordStore` has them, by the `kind` of the source."""

    frame: Any
    kind: str
    numbers: RecordNumbers
    reading: Reading
    name: str
    has_types: bool

    @classmethod
    def of(cls, records: HeldRecords) -> FrameStore:
        """Take what can be read once more, or raise ArgumentError."""
        source, kind = records.source, kind_of(records.source)
        if kind == "lazy":
            source, kind = source.collect(), "polars"
        is_table = kind in FRAMES
        are_dicts = isinstance(source, list | tuple) and all(
            kind_of_item(item) == MAPPING for item in source
        )
        reason = "records can be merged of files, DataFrames, Arrow tables and lists of dicts"
        step = "give one of these as `source`"
        checks.require(is_table or are_dicts, reason, step, code="argument-type")
        name = type(source).__name__
        if len(source) != records.count:
            reason = "has changed since it was compared"
            raise SourceError(name, reason, "run this again", code="source-changed")
        names = [*map(str, source.columns)] if kind == "pandas" else []
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        reason, step = f"the column {twice!r} appears twice", "rename one of these columns"
        checks.require(twice is None, reason, step, code="column-repeated")
        return cls(
            frame=source, kind=kind if is_table else "dicts", numbers=records.numbers,
            reading=records.reading, name=name, has_types=is_table,
        )  # fmt: skip

    def read_columns(self, numbers: Sequence[int], _: OnProgress) -> Columns:
        """Read the columns of some records."""
        places = [number - 1 for number in numbers]
        if self.kind == "pandas":
            few = self.frame.iloc[places]
            return {name: few[name].tolist() for name in few.columns}
        if self.kind == "polars":
            return dict(self.frame[places].to_dict(as_series=False))
        if self.kind == "arrow":
            return dict(_take_arrow(self.frame, places).to_pydict())
        rows = [as_mapping(self.frame[place]) for place in places]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: [row.get(name) for row in rows] for name in names}

    def list_names(self) -> Sequence[str]:
        """List the names of the columns that any record has."""
        if self.kind == "dicts":
            return [*dict.fromkeys(name for row in self.frame for name in as_mapping(row))]
        columns = self.frame.column_names if self.kind == "arrow" else self.frame.columns
        return [*columns]

    def take(self, merged: MergedClusters) -> Any:
        """Take all records that stay, the kept ones with their merged values."""
        left_out = {number for group in merged.groups for number in group.numbers[1:]}
        kept = [at for at in range(len(self.frame)) if at + 1 not in left_out]
        if self.kind == "dicts":
            changes = merged.list_changes()
            return [{**as_mapping(self.frame[at]), **changes.get(at + 1, {})} for at in kept]
        take, takes = TAKES[self.kind]
        frame = take(self.frame, kept)
        for name, result in merged.results.items():
            donors, joined = self._find_donors(merged, result, kept)
            if donors != kept or joined:
                frame = takes(frame, self.frame, name, donors, joined)
        return frame

    def _find_donors(
        self, merged: MergedClusters, result: MergedColumn, kept: Sequence[int]
    ) -> tuple[list[int], dict[int, Any]]:
        """Find the places of the records that the values of a column come from, and joined ones."""
        places = {at: place for place, at in enumerate(kept)}
        donors, joined = [*kept], dict[int, Any]()
        for at, (group, (start, _)) in enumerate(zip(merged.groups, merged.bounds, strict=True)):
            place = places[group.numbers[0] - 1]
            if result.rows[at] < 0:
                joined[place] = result.values[at]
            else:
                donors[place] = group.numbers[result.rows[at] - start] - 1
        return donors, joined

    def tabulate(self, rows: Iterator[Sequence[Any]]) -> Any:
        """Make a table of rows of values, a DataFrame like the records."""
        if self.kind == "dicts":
            return [dict(zip(VALUE_COLUMNS, row, strict=True)) for row in rows]
        cells = [*zip(*rows, strict=True)] or [() for _ in VALUE_COLUMNS]
        columns: ReportColumns = {
            name: Kept(map(plain, column))
            for name, column in zip(VALUE_COLUMNS, cells, strict=True)
        }
        make = {"pandas": to_pandas, "polars": to_polars, "arrow": to_arrow}[self.kind]
        return make(columns)

    def write(self, *_: object) -> NoReturn:
        """Raise ArgumentError: others write what is in memory."""
        reason = "only records of files are written by `write`"
        step = "write `records` and `values` as you write other tables of this kind"
        raise ArgumentError(reason, step, code="argument-type")


def _take_pandas(frame: Any, places: Sequence[int]) -> Any:
    return frame.iloc[places].copy()


def _set_pandas(frame: Any, source: Any, name: Any, donors: Sequence[int], joined: Joined) -> Any:
    column = source[name].iloc[donors].set_axis(frame.index)
    if joined:
        is_category = hasattr(column.dtype, "categories")
        kind = object if is_category else column.dtype
        column = type(column)(_put(column.tolist(), joined), index=frame.index, dtype=kind)
    frame[name] = column
    return frame


def _take_polars(frame: Any, places: Sequence[int]) -> Any:
    return frame[places]


def _set_polars(frame: Any, source: Any, name: str, donors: Sequence[int], joined: Joined) -> Any:
    column = source[name].gather(donors)
    if joined:
        kind = None if type(column.dtype).__name__ == "Enum" else column.dtype  # which has others
        column = type(column)(name, _put(column.to_list(), joined), dtype=kind)
    return frame.with_columns(column)


def _take_arrow(table: Any, places: Sequence[int]) -> Any:
    import pyarrow

    try:
        return table.take(pyarrow.array(places, pyarrow.int64()))
    except pyarrow.ArrowNotImplementedError:  # as of views of texts
        parts = [table.slice(0, 0), *(table.slice(place, 1) for place in places)]
        if isinstance(table, pyarrow.Table):
            return pyarrow.concat_tables(parts)
        return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], table.type)


def _set_arrow(table: Any, source: Any, name: str, donors: Sequence[int], joined: Joined) -> Any:
    import pyarrow

    at = source.column_names.index(name)
    column = _take_arrow(source.column(name), donors)
    if joined:
        column = pyarrow.array(_put(column.to_pylist(), joined), column.type)
    return table.set_column(at, source.schema.field(at), column)


def _put(values: list[Any], joined: Joined) -> list[Any]:
    """Put joined values in their places."""
    for place, value in joined.items():
        values[place] = value
    return values


# Take rows by their places, and set a column to the values of other rows.
TAKES: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "pandas": (_take_pandas, _set_pandas),
    "polars": (_take_polars, _set_polars),
    "arrow": (_take_arrow, _set_arrow),
}
