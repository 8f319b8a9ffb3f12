"""Files that the pairs of `duplicates` are written to: tables and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr import reports
from neardup_solr.files import PathError, check_place
from neardup_solr.records import AnyId, Duplicate
from neardup_solr.reports.result_table import to_arrow
from neardup_solr.reports.row_table import SUFFIXES
from neardup_solr.reports.row_table import check_output as check_rows
from neardup_solr.reports.rows import name_duplicate_columns, of_pairs

if TYPE_CHECKING:
    import pyarrow as pa

PAGE, TABLE = ".html", ".parquet"
ROWS_AT_ONCE = 100_000  # of a table


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it.

    Raises SourceError if its suffix is not known, no file can be created there, or pyarrow, which
    .parquet needs, is missing.
    """
    if path.suffix.lower() == PAGE:
        check_place(path)
    else:
        check_table(path, (*SUFFIXES, PAGE, TABLE))


def check_table(path: Path, suffixes: Sequence[str] = (*SUFFIXES, TABLE)) -> None:
    """Refuse a table as `check_output` does, by an error that names the `suffixes`."""
    if path.suffix.lower() == TABLE:
        reports.require_library(path, "Parquet", "pyarrow")
        check_place(path)
        return
    try:
        check_rows(path)
    except PathError as error:
        step = f"choose one of {', '.join(suffixes)}"
        raise PathError(str(path), error.reason, step, code="format-unknown") from None


def write_table(
    path: Path, pairs: Sequence[Duplicate], measure: str, texts: Mapping[AnyId, str],
    kept: Mapping[AnyId, Mapping[str, Any]], whole_ids: Sequence[str],
) -> None:  # fmt: skip
    """Write pairs to a Parquet file, with the texts and kept columns of their documents."""
    from neardup_solr.reports.parquet_files import write_parquet

    names = name_duplicate_columns(pairs, measure)
    # Beside our own columns, types are those of all values.
    at_once = len(pairs) if texts or kept or whole_ids else ROWS_AT_ONCE
    starts = range(0, max(len(pairs), 1), max(at_once, 1))

    def make_table(start: int) -> pa.Table:
        columns = of_pairs(pairs[start : start + at_once], names, texts, kept)
        return to_arrow(columns, whole_ids)

    first = make_table(0)
    parts = chain([first], map(make_table, starts[1:]))
    batches = chain.from_iterable(part.to_batches(ROWS_AT_ONCE) for part in parts)
    write_parquet(path, first.schema, batches)
