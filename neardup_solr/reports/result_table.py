"""A result as a table of pyarrow, pandas or polars."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from neardup_solr.arguments import checked

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
from neardup_solr.reports import load_library
from neardup_solr.reports.rows import Columns, Kept, column_rows

# What the columns of reports hold, so that an empty table has the types of a full one.
_KINDS = {
    "id": "text", "other_id": "text", "cluster": "text", "measure": "text", "action": "text",
    "reason": "text", "text": "text", "other_text": "text", "distance": "count",
    "similarity": "number", "matches": "texts", "side": "count", "canonical": "flag",
    "complete": "flag", "relation": "text",
}  # fmt: skip


class Table:
    """A result that can be written, or converted to a table of pyarrow, pandas or polars."""

    __slots__ = ()

    whole_ids: tuple[str, ...] = ()  # the columns of ids that are whole numbers

    def columns(self) -> Columns:
        """The columns of the table, by name."""
        raise NotImplementedError

    @checked
    def write(self, path: str | Path) -> None:
        """Write the table to a .tsv, .csv, .jsonl or .xlsx file, completely or not at all.

        Raises SourceError if the suffix is another or the file cannot be written.
        """
        column_rows(self.columns()).write(Path(path))

    def to_arrow(self) -> pa.Table:
        """Make an Arrow table of the result, or raise SettingsError if pyarrow is missing."""
        return to_arrow(self.columns(), self.whole_ids)

    def to_pandas(self) -> pd.DataFrame:
        """Make a pandas DataFrame of the result, or raise SettingsError if pandas is missing."""
        return to_pandas(self.columns(), self.whole_ids)

    def to_polars(self) -> pl.DataFrame:
        """Make a polars DataFrame of the result, or raise SettingsError if polars is missing."""
        return to_polars(self.columns(), self.whole_ids)


def to_arrow(columns: Columns, whole_ids: Collection[str] = ()) -> pa.Table:
    """Make an Arrow table of columns.

    Raises SettingsError if pyarrow is missing. `whole_ids` names columns of ids that are whole
    numbers. Numbers of more than 64 bits become texts.
    """
    arrow = load_library("pyarrow")
    types = {"text": arrow.string(), "int64": arrow.int64(), "uint64": arrow.uint64(),
             "count": arrow.int64(), "number": arrow.float64(),
             "texts": arrow.list_(arrow.string()), "flag": arrow.bool_()}  # fmt: skip
    arrays = {
        name: arrow.array(_alike(columns[name], kind), type=types.get(kind))
        for name, kind in _kinds(columns, whole_ids).items()
    }
    return arrow.table(arrays)


def to_pandas(columns: Columns, whole_ids: Collection[str] = ()) -> pd.DataFrame:
    """Make a pandas DataFrame, as `to_arrow`, in which texts and numbers stay what they are."""
    pandas = load_library("pandas")
    # Pandas would make whole numbers floats if any is missing.
    types = {"text": "object", "int64": "Int64", "uint64": "UInt64", "count": "Int64",
             "number": "float64", "texts": "object", "flag": "bool"}  # fmt: skip

    def series(name: str, kind: str) -> Any:
        values = columns[name] if kind == "text" else _alike(columns[name], kind)
        is_full = kind in ("int64", "uint64") and None not in values
        return pandas.Series(values, dtype=kind if is_full else types.get(kind))

    all_series = {name: series(name, kind) for name, kind in _kinds(columns, whole_ids).items()}
    frame: pd.DataFrame = pandas.DataFrame(all_series)
    return frame


def to_polars(columns: Columns, whole_ids: Collection[str] = ()) -> pl.DataFrame:
    """Make a polars DataFrame, as `to_arrow`."""
    polars = load_library("polars")
    frame: type[pl.DataFrame] = polars.DataFrame
    types = {"text": polars.String, "int64": polars.Int64, "uint64": polars.UInt64,
             "count": polars.Int64, "number": polars.Float64,
             "texts": polars.List(polars.String), "flag": polars.Boolean}  # fmt: skip
    kinds = _kinds(columns, whole_ids)
    schema = {name: types[kind] for name, kind in kinds.items() if kind in types}
    values = {name: _alike(columns[name], kind) for name, kind in kinds.items()}
    return frame(values, schema_overrides=schema)


def _kinds(columns: Columns, whole_ids: Collection[str]) -> dict[str, str]:
    """Choose the type of each column, or "" for a kept column that is left to the library."""
    ids = _kind_of_numbers(id for name in whole_ids for id in columns.get(name, ()) if id != "")

    def kind_of(name: str, values: list[Any]) -> str:
        kind = None if isinstance(values, Kept) else _KINDS.get(name)
        return ids if name in whole_ids else kind or _kind_of_values(values)

    return {name: kind_of(name, values) for name, values in columns.items()}


def _kind_of_values(values: Iterable[Any]) -> str:
    values = [value for value in values if value is not None]
    types = {type(value) for value in values}
    if types == {int}:
        return _kind_of_numbers(values)
    if types == {list}:
        return "text" if _kind_of_values(chain.from_iterable(values)) == "text" else ""
    return "text" if len(types) > 1 else ""


def _kind_of_numbers(numbers: Iterable[int]) -> str:
    """Choose the type that holds all of some whole numbers: text if no other does."""
    numbers = list(numbers)
    least, most = min(numbers, default=0), max(numbers, default=0)
    if least >= -(2**63) and most < 2**63:
        return "int64"
    return "uint64" if least >= 0 and most < 2**64 else "text"


def _alike(values: list[Any], kind: str) -> list[Any]:
    """Make the values of a column alike. A pair that is in no cluster has no number."""
    if kind == "text":
        return [value if value is None else _as_text(value) for value in values]
    return [None if value == "" else value for value in values] if "int" in kind else values


def _as_text(value: Any) -> str:
    return orjson.dumps(value).decode() if isinstance(value, list) else str(value)
