"""Results as tables of Arrow, pandas and polars, whichever the user has, and as Parquet files."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from neardup_solr.errors import SettingsError, SourceError
from neardup_solr.files import whole as whole_file
from neardup_solr.reports.rows import Columns, Kept

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Table:
    """A result that can be converted to a table of pyarrow, pandas or polars."""

    __slots__ = ()

    whole_ids: tuple[str, ...] = ()  # the columns of ids that are whole numbers

    def columns(self) -> Columns:
        """The columns of the table, by name."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """Make an Arrow table of the result, or raise SettingsError if pyarrow is missing."""
        return to_arrow(self.columns(), self.whole_ids)

    def to_pandas(self) -> pd.DataFrame:
        """Make a pandas DataFrame of the result, or raise SettingsError if pandas is missing."""
        return to_pandas(self.columns(), self.whole_ids)

    def to_polars(self) -> pl.DataFrame:
        """Make a polars DataFrame of the result, or raise SettingsError if polars is missing."""
        return to_polars(self.columns(), self.whole_ids)


def to_arrow(columns: Columns, whole: Collection[str] = ()) -> pa.Table:
    """Make an Arrow table of columns.

    Raises SettingsError if pyarrow is missing. `whole` names columns of ids that are whole
    numbers. Numbers of more than 64 bits become texts.
    """
    arrow = _library("pyarrow")
    types = {"text": arrow.string(), "int64": arrow.int64(), "uint64": arrow.uint64(),
             "count": arrow.int64(), "number": arrow.float64(),
             "texts": arrow.list_(arrow.string()), "flag": arrow.bool_()}  # fmt: skip
    arrays = {
        name: arrow.array(_alike(columns[name], kind), type=types.get(kind))
        for name, kind in _kinds(columns, whole).items()
    }
    return arrow.table(arrays)


def to_pandas(columns: Columns, whole: Collection[str] = ()) -> pd.DataFrame:
    """As `to_arrow`, as a pandas DataFrame, in which texts and numbers stay what they are."""
    pandas = _library("pandas")
    # Pandas would make whole numbers floats if one is missing.
    types = {"text": "object", "int64": "Int64", "uint64": "UInt64", "count": "Int64",
             "number": "float64", "texts": "object", "flag": "bool"}  # fmt: skip

    def series(values: list[Any], kind: str) -> Any:
        is_full = kind in ("int64", "uint64") and None not in values
        return pandas.Series(values, dtype=kind if is_full else types.get(kind))

    made: pd.DataFrame = pandas.DataFrame(
        {
            name: series(columns[name] if kind == "text" else _alike(columns[name], kind), kind)
            for name, kind in _kinds(columns, whole).items()
        }
    )
    return made


def to_polars(columns: Columns, whole: Collection[str] = ()) -> pl.DataFrame:
    """As `to_arrow`, as a polars DataFrame."""
    polars = _library("polars")
    frame: type[pl.DataFrame] = polars.DataFrame
    types = {"text": polars.String, "int64": polars.Int64, "uint64": polars.UInt64,
             "count": polars.Int64, "number": polars.Float64,
             "texts": polars.List(polars.String), "flag": polars.Boolean}  # fmt: skip
    kinds = _kinds(columns, whole)
    known = {name: types[kind] for name, kind in kinds.items() if kind in types}
    values = {name: _alike(columns[name], kind) for name, kind in kinds.items()}
    return frame(values, schema_overrides=known)


# What our own columns hold, so that an empty table has the types of a full one.
_KINDS = {
    "id": "text", "other_id": "text", "cluster": "text", "measure": "text", "action": "text",
    "reason": "text", "text": "text", "other_text": "text", "distance": "count",
    "similarity": "number", "matches": "texts", "side": "count", "canonical": "flag",
    "complete": "flag",
}  # fmt: skip


def _kinds(columns: Columns, whole: Collection[str]) -> dict[str, str]:
    """Choose the type of each column, or "" for a kept one that is left to the library."""
    ids = _kind_of_numbers(id for name in whole for id in columns.get(name, ()) if id != "")
    return {
        name: ids if name in whole else _kind_of(name, values) for name, values in columns.items()
    }


def _kind_of(name: str, values: list[Any]) -> str:
    own = None if isinstance(values, Kept) else _KINDS.get(name)
    return own or _kind_of_kept(values)


def _kind_of_kept(values: Iterable[Any]) -> str:
    found = [value for value in values if value is not None]
    types = {type(value) for value in found}
    if types == {int}:
        return _kind_of_numbers(found)
    if types == {list}:
        return "text" if _kind_of_kept(chain.from_iterable(found)) == "text" else ""
    return "text" if len(types) > 1 else ""


def _kind_of_numbers(numbers: Iterable[int]) -> str:
    """Choose the type that holds all of some whole numbers: text if there is no other."""
    found = list(numbers)
    least, most = min(found, default=0), max(found, default=0)
    if least >= -(2**63) and most < 2**63:
        return "int64"
    return "uint64" if least >= 0 and most < 2**64 else "text"


def _alike(values: list[Any], kind: str) -> list[Any]:
    """Make the values of a column of one type. A pair that is in no cluster has no number."""
    if kind == "text":
        return [value if value is None else _as_text(value) for value in values]
    return [None if value == "" else value for value in values] if "int" in kind else values


def _as_text(value: Any) -> str:
    return orjson.dumps(value).decode() if isinstance(value, list) else str(value)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SettingsError(f"{name} is not installed", f"pip install {name}") from None


def check_parquet(path: Path) -> None:
    """Refuse to write Parquet, by SourceError, if pyarrow is missing."""
    if find_spec("pyarrow") is None:
        raise SourceError(str(path), "Parquet needs pyarrow", 'pip install "neardup-solr[formats]"')


def write_parquet(path: Path, schema: Any, batches: Iterable[Any]) -> int:
    """Write batches of Arrow to a Parquet file, completely or not at all, and count their rows.

    Raises SourceError if the file cannot be written.
    """
    import pyarrow.parquet as parquet

    rows = 0
    with whole_file(path) as unfinished, parquet.ParquetWriter(unfinished, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows
