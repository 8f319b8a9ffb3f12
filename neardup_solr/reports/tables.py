"""Results as tables: Arrow, pandas and polars, whichever the user has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from neardup_solr.errors import SettingsError
from neardup_solr.records import Cluster, Duplicate, Pair

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns = dict[str, list[Any]]


def of_pairs(pairs: Sequence[Duplicate] | Sequence[Pair], names: Sequence[str]) -> Columns:
    """The attributes of these names of pairs, as columns."""
    return {name: [getattr(pair, name) for pair in pairs] for name in names}


def of_clusters(clusters: Iterable[Cluster]) -> Columns:
    """The members of clusters, a row each, with similarity and distance to the canonical one."""
    rows = [
        (one.id, member.id, member.id == one.canonical, member.similarity, member.distance)
        for one in clusters
        for member in one.members
    ]
    names = ("cluster", "id", "canonical", "similarity", "distance")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def beside(
    columns: Columns,
    texts: Mapping[str, str],
    kept: Mapping[str, Mapping[str, Any]],
    sides: Sequence[str] = ("id", "other_id"),
) -> Columns:
    """The columns, with the texts and the kept columns of the documents added."""
    found = dict(columns)
    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    for side in sides:
        if side not in columns:
            continue
        prefix = side.removesuffix("id")
        if texts:
            found[f"{prefix}text"] = [texts.get(id) for id in columns[side]]
        for name in names:
            own = f"{prefix}{name}" if f"{prefix}{name}" not in columns else f"{prefix}kept_{name}"
            found[own] = [kept.get(id, {}).get(name) for id in columns[side]]
    return found


class Table:
    """A result that can be converted to a table of pyarrow, pandas or polars."""

    __slots__ = ()

    def columns(self) -> Columns:
        """The columns of the table, by name."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The result as an Arrow table; raises SettingsError if pyarrow is missing."""
        return to_arrow(self.columns())

    def to_pandas(self) -> pd.DataFrame:
        """The result as a pandas DataFrame; raises SettingsError if pandas is missing."""
        return to_pandas(self.columns())

    def to_polars(self) -> pl.DataFrame:
        """The result as a polars DataFrame; raises SettingsError if polars is missing."""
        return to_polars(self.columns())


def to_arrow(columns: Columns) -> pa.Table:
    """Columns as an Arrow table; raises SettingsError if pyarrow is missing."""
    arrow = _library("pyarrow")
    types = {"text": arrow.string(), "whole": arrow.int64(), "number": arrow.float64(),
             "texts": arrow.list_(arrow.string()), "flag": arrow.bool_()}  # fmt: skip
    arrays = {
        name: arrow.array(values, type=types.get(_KINDS.get(name, "")))
        for name, values in _alike(columns).items()
    }
    return arrow.table(arrays)


def to_pandas(columns: Columns) -> pd.DataFrame:
    """Columns as a pandas DataFrame; raises SettingsError if pandas is missing."""
    made: pd.DataFrame = _library("pandas").DataFrame(columns)
    # Pandas would make whole numbers floats if one is missing.
    types = {"whole": "Int64", "number": "float64", "flag": "bool", "text": "object",
             "texts": "object"}  # fmt: skip
    wanted = {name: types.get(_KINDS.get(name, "")) for name in columns}
    return made.astype({name: kind for name, kind in wanted.items() if kind})


def to_polars(columns: Columns) -> pl.DataFrame:
    """Columns as a polars DataFrame; raises SettingsError if polars is missing."""
    polars = _library("polars")
    frame: type[pl.DataFrame] = polars.DataFrame
    types = {"text": polars.String, "whole": polars.Int64, "number": polars.Float64,
             "texts": polars.List(polars.String), "flag": polars.Boolean}  # fmt: skip
    wanted = {name: types.get(_KINDS.get(name, "")) for name in columns}
    known = {name: kind for name, kind in wanted.items() if kind is not None}
    return frame(_alike(columns), schema_overrides=known)


# What our own columns hold, so that an empty table has the types of a full one.
_KINDS = {
    "id": "text", "other_id": "text", "cluster": "text", "measure": "text", "action": "text",
    "reason": "text", "text": "text", "other_text": "text", "distance": "whole",
    "similarity": "number", "matches": "texts", "canonical": "flag", "complete": "flag",
}  # fmt: skip


def _alike(columns: Columns) -> Columns:
    """The columns; values that differ in type, as kept ones may, become texts."""
    return {
        name: values if name in _KINDS or len({type(v) for v in values} - {type(None)}) < 2
        else [None if value is None else str(value) for value in values]
        for name, values in columns.items()
    }  # fmt: skip


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SettingsError(f"{name} is not installed", f"pip install {name}") from None
