"""Natural order of ids, pairs that appear once, and files of pairs that cannot be."""

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from neardup_solr import records
from neardup_solr.errors import ArgumentError, SourceError
from neardup_solr.records import Pair
from neardup_solr.sources import read_pairs
from neardup_solr.verbs import report
from tests.refusals import refusal


def test_natural_order() -> None:
    """Whole numbers by value come first, then other ids by code point."""
    listed = ["b", "10", "9", "a2", "a10", "010", "é", "-1"]
    assert sorted(listed, key=records.natural) == ["9", "010", "10", "-1", "a10", "a2", "b", "é"]


def test_numbers_beyond_any_limit_are_ordered() -> None:
    """An id of thousands of digits is no error."""
    assert records.ordered("9" * 5000, "5") == ("5", "9" * 5000)


def test_ordered_puts_the_earlier_first() -> None:
    """A pair is the same whichever way round it was found."""
    assert records.ordered("10", "9") == records.ordered("9", "10") == ("9", "10")


def test_once_drops_repeats_and_sorts() -> None:
    """A pair found from both its documents appears once; ids count as numbers."""
    nine = Pair(id="9", other_id="10", distance=0, similarity=1.0)
    ten = Pair(id="10", other_id="11", distance=1, similarity=0.9)
    assert report.once([ten, nine, ten]) == (nine, ten)


@pytest.mark.parametrize("given", [None, 5, [("1", "2")], b"a.tsv"])
def test_what_is_no_path_is_refused(given: Any) -> None:
    """By an error of ours."""
    with refusal(ArgumentError, "argument-type", "`path`"):
        read_pairs(given)


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    """A NUL character is in no path."""
    with refusal(SourceError, "file-unreadable"):
        read_pairs(f"{tmp_path}/a\0b.tsv")


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        ({"cluster": ["1"], "other_id": ["9"], "id": ["=1"]}, [("=1", "9")]),
        ({"left": [1, 2], "right": [3, 4]}, [("1", "3"), ("2", "4")]),
        ({"id": [1.0, 2.0], "other_id": [3.0, 4.0]}, [("1", "3"), ("2", "4")]),
        ({"id": [], "other_id": []}, []),
    ],
)
def test_a_table_of_parquet(
    tmp_path: Path, columns: dict[str, list[Any]], pairs: list[tuple[str, str]]
) -> None:
    """Its columns id and other_id are read, else the first two; ids may be numbers."""
    path = tmp_path / "pairs.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    assert read_pairs(path) == pairs


def test_parquet_that_has_no_pairs_in_it(tmp_path: Path) -> None:
    """What is no file of Parquet, no pair, or not there is refused, with the row."""
    path = tmp_path / "pairs.parquet"
    with refusal(SourceError, "file-missing", path):
        read_pairs(path)
    path.write_text("1\t2\n")
    with refusal(SourceError, "file-damaged", path):
        read_pairs(path)
    pyarrow.parquet.write_table(pyarrow.table({"id": ["1", "2"], "other_id": ["3", None]}), path)
    with refusal(SourceError, "line-invalid", "line 2"):
        read_pairs(path)
