"""Results as tables: Arrow, pandas and polars, whichever the user has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from neardup_solr.errors import SettingsError
from neardup_solr.records import AnyId, Cluster, Duplicate, Pair, key_of

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


def keys_of_pairs(pairs: Sequence[Duplicate]) -> Columns:
    """The keys of the documents of pairs, by the columns of their ids."""
    return {
        "id": [key_of(pair.id, pair.sides[0]) for pair in pairs],
        "other_id": [key_of(pair.other_id, pair.sides[1]) for pair in pairs],
    }


def beside(
    columns: Columns,
    texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]],
    keys: Columns,
) -> Columns:
    """The columns, with the texts and the kept columns of the documents added.

    `keys` has those of the documents, by the name of the column with their ids.
    """
    found = dict(columns)
    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    for side, documents in keys.items():
        prefix = side.removesuffix("id")
        if texts:
            found[f"{prefix}text"] = [texts.get(key) for key in documents]
        for name in names:
            own = f"{prefix}{name}" if f"{prefix}{name}" not in columns else f"{prefix}kept_{name}"
            found[own] = [kept.get(key, {}).get(name) for key in documents]
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


def to_arrow(columns: Columns, whole: Collection[str] = ()) -> pa.Table:
    """Columns as an Arrow table; raises SettingsError if pyarrow is missing.

    `whole` names columns of ids that are whole numbers.
    """
    arrow = _library("pyarrow")
    types = {"text": arrow.string(), "whole": arrow.int64(), "number": arrow.float64(),
             "texts": arrow.list_(arrow.string()), "flag": arrow.bool_()}  # fmt: skip
    arrays = {
        name: arrow.array(values, type=types.get(_kind(name, whole)))
        for name, values in _alike(columns, whole).items()
    }
    return arrow.table(arrays)


def to_pandas(columns: Columns, whole: Collection[str] = ()) -> pd.DataFrame:
    """As `to_arrow`, as a pandas DataFrame, in which ids of several types stay what they are."""
    columns |= {name: _with_none(columns[name]) for name in whole if name in columns}
    made: pd.DataFrame = _library("pandas").DataFrame(columns)
    # Pandas would make whole numbers floats if one is missing.
    types = {"whole": "Int64", "number": "float64", "flag": "bool", "text": "object",
             "texts": "object"}  # fmt: skip
    wanted = {name: types.get(_kind(name, whole)) for name in columns}
    wanted |= {name: "int64" for name in whole if None not in columns.get(name, [None])}
    return made.astype({name: kind for name, kind in wanted.items() if kind})


def to_polars(columns: Columns, whole: Collection[str] = ()) -> pl.DataFrame:
    """As `to_arrow`, as a polars DataFrame."""
    polars = _library("polars")
    frame: type[pl.DataFrame] = polars.DataFrame
    types = {"text": polars.String, "whole": polars.Int64, "number": polars.Float64,
             "texts": polars.List(polars.String), "flag": polars.Boolean}  # fmt: skip
    wanted = {name: types.get(_kind(name, whole)) for name in columns}
    known = {name: kind for name, kind in wanted.items() if kind is not None}
    return frame(_alike(columns, whole), schema_overrides=known)


# What our own columns hold, so that an empty table has the types of a full one.
_KINDS = {
    "id": "text", "other_id": "text", "cluster": "text", "measure": "text", "action": "text",
    "reason": "text", "text": "text", "other_text": "text", "distance": "whole",
    "similarity": "number", "matches": "texts", "canonical": "flag", "complete": "flag",
}  # fmt: skip


def _kind(name: str, whole: Collection[str]) -> str:
    return "whole" if name in whole else _KINDS.get(name, "")


def _with_none(ids: list[Any]) -> list[Any]:
    """Ids that are whole numbers; a pair that is in no cluster has none."""
    return [None if id == "" else id for id in ids]


def _alike(columns: Columns, whole: Collection[str]) -> Columns:
    """The columns; values that differ in type, as ids and kept ones may, become texts."""

    def alike(name: str, values: list[Any]) -> list[Any]:
        kind = _kind(name, whole)
        if name in whole:
            return _with_none(values)
        is_text = kind == "text" and any(type(value) is int for value in values)
        is_mixed = not kind and len({type(v) for v in values} - {type(None)}) > 1
        if not is_text and not is_mixed:
            return values
        return [None if value is None else str(value) for value in values]

    return {name: alike(name, values) for name, values in columns.items()}


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SettingsError(f"{name} is not installed", f"pip install {name}") from None
