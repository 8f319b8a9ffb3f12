"""Results as tables of Arrow, pandas, polars, whichever there is, as Parquet files, as workbooks.

In workbooks texts are cells of text, so that none is run; what CSV marks as a formula is marked
here, too, for whoever saves the sheet as CSV. Characters that XML lacks are escaped as Excel
escapes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from neardup_solr.errors import SettingsError, SourceError, counted
from neardup_solr.files import whole
from neardup_solr.files import whole as whole_file
from neardup_solr.progress import LOG
from neardup_solr.reports.rows import Columns, Kept
from neardup_solr.sources.lines import NEEDS_FORMATS

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


MOST_ROWS: Final = 2**20  # of a sheet, with its header
LONGEST: Final = 2**15 - 1  # characters of a cell, in UTF-16
LARGEST: Final = 2**53  # whole numbers beyond it would be rounded

# What XML 1.0 cannot hold, and what would be taken for such an escape.
_ESCAPED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)", re.ASCII
)


def check_workbook(path: Path) -> None:
    """Refuse to write a workbook without openpyxl, by SourceError."""
    from importlib.util import find_spec

    if find_spec("openpyxl") is None:
        raise SourceError(str(path), "Excel needs the library openpyxl", NEEDS_FORMATS)


def write_sheets(
    path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]], spell: Callable[[str], str]
) -> None:
    """Write rows of texts, numbers and None below their names, completely or not at all.

    A sheet that is full is followed by another one, and texts are cut to what a cell can hold; a
    line is logged for either. `spell` says how a text is written.

    Raises SourceError if the file cannot be written, or there is no openpyxl.
    """
    check_workbook(path)
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheets = count = cut = 0

    def cell(sheet: Any, value: Any) -> Any:
        nonlocal cut
        if value is None or (isinstance(value, int | float) and abs(value) <= LARGEST):
            return value
        text = spell(value if isinstance(value, str) else str(value))
        text = _ESCAPED.sub(lambda character: f"_x{ord(character[0]):04X}_", text)
        short = _cut(text)
        cut += short is not text
        made = WriteOnlyCell(sheet, short)
        made.data_type = "s"  # also of what would be a formula or an error
        return made

    left = iter(rows)
    following = list(islice(left, 1))
    with whole(path) as unfinished:
        while following or not sheets:
            sheets += 1
            sheet = book.create_sheet(str(sheets))
            for row in chain([names], following, islice(left, MOST_ROWS - 1 - len(following))):
                sheet.append([cell(sheet, value) for value in row])
                count += 1
            following = list(islice(left, 1))
        book.save(unfinished)
    if sheets > 1:
        rows_there = counted(count - sheets, "row")
        LOG.warning("%s: its %s are in %d sheets, as one is full", path, rows_there, sheets)
    if cut:
        what = counted(cut, "text is", "texts are")
        reason = f"{what} cut to the {LONGEST:,} characters that a cell can hold"
        LOG.warning("%s: %s; .csv, .jsonl and .parquet have them whole", path, reason)


def _cut(text: str) -> str:
    """Cut a text to what fits into a cell."""
    if len(text) <= LONGEST // 2 or len(written := text.encode("utf-16-le")) <= 2 * LONGEST:
        return text
    return written[: 2 * (LONGEST - 1)].decode("utf-16-le", "ignore") + "…"
