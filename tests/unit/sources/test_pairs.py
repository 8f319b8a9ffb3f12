"""Natural order of ids, and files of pairs that cannot be."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SourceError
from tests.refusals import refusal

KNOWN = [("some", "other")]


def pairs_of(ids: list[str]) -> list[tuple[str, str]]:
    """The pairs of copies with these ids."""
    copies = [(id, "one and the same text") for id in ids]
    return [(pair.id, pair.other_id) for pair in nd.duplicates(copies).pairs]


def test_natural_order() -> None:
    """Whole numbers by value come first, then other ids by code point, in pairs and among them."""
    listed = ["b", "10", "9", "a2", "a10", "010", "é", "-1"]
    ordered = ["9", "010", "10", "-1", "a10", "a2", "b", "é"]
    assert pairs_of(listed) == [*combinations(ordered, 2)]


def test_the_earlier_of_two_ids_comes_first() -> None:
    """A pair is the same whichever way round it was found; thousands of digits are no error."""
    for one, other in (("9", "10"), ("5", "9" * 5000), ("-1", "a")):
        for pair in ((one, other), (other, one)):
            assert nd.evaluate([pair], [(one, other)]).f1 == 1.0
            assert nd.evaluate([pair], []).missed == ((one, other),)


@pytest.mark.parametrize("given", [None, 5, b"a.tsv", object()])
def test_what_is_no_path_is_refused(given: Any) -> None:
    """By an error of ours, for either argument."""
    with refusal(ArgumentError, "argument-type", "`found`"):
        nd.evaluate(KNOWN, given)
    with refusal(ArgumentError, "argument-type", "`known`"):
        nd.evaluate(given, KNOWN)


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    """A NUL character is in no path."""
    with refusal(SourceError, "file-unreadable"):
        nd.evaluate(KNOWN, f"{tmp_path}/a\0b.tsv")


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
    found = nd.evaluate(KNOWN, path, ordered=True)
    assert (found.false, found.found) == (tuple(pairs), len(pairs))


def test_parquet_that_has_no_pairs_in_it(tmp_path: Path) -> None:
    """What is no file of Parquet, no pair, or not there is refused, with the row."""
    path = tmp_path / "pairs.parquet"
    with refusal(SourceError, "file-missing", path):
        nd.evaluate(KNOWN, path)
    path.write_text("1\t2\n")
    with refusal(SourceError, "file-damaged", path):
        nd.evaluate(KNOWN, path)
    pyarrow.parquet.write_table(pyarrow.table({"id": ["1", "2"], "other_id": ["3", None]}), path)
    with refusal(SourceError, "line-invalid", "line 2"):
        nd.evaluate(KNOWN, path)
