"""Rules for the canonical document: how they are written, and what they choose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup_solr as nd
from tests.refusals import refusal

IDS = ["10", "9", "b", "a"]  # in natural order: 9, 10, a, b
TEXT = "the old mill by the river"


def record(id: str, value: Any, field: str) -> dict[str, Any]:
    """A record with a value in a field, or with so many words."""
    if field == "words":
        return {"id": id, "text": " ".join(["mill"] * value)}
    return {"id": id, "text": TEXT, field: value}


def chosen(rule: str, column: list[Any]) -> str:
    """The id that a rule chooses, in a source in natural order with this column."""
    field = {"first": "any", "longest": "words", "shortest": "words"}.get(rule)
    field = field or rule.partition("=")[0].removeprefix("oldest:").removeprefix("newest:")
    values = dict(zip(IDS, column, strict=False))
    rows = [record(id, values.get(id), field) for id in ("9", "10", "a", "b")]
    how: dict[str, Any] = {"measure": "words", "min_similarity": 0.0, "by": "all"}
    [cluster] = nd.duplicates(rows, canonical=rule, **how).clusters
    return str(cluster.canonical)


@pytest.mark.parametrize("rule", ["", "best", "price", "price:asc", "price:desc", "oldest:",
                                  "newest:",
                                  "source=", "source=,", "=wire", "longest:"])  # fmt: skip
def test_what_is_no_rule(rule: str) -> None:
    """Anything else is refused, and the rules are named."""
    with refusal(nd.ArgumentError, "argument-invalid", repr(rule), "longest", "FIELD=wire,agency"):
        nd.duplicates([], canonical=rule)


@pytest.mark.parametrize(
    ("rule", "column", "expected"),
    [
        ("first", [], "9"),
        ("longest", [5, 7, 9, 9], "a"),
        ("shortest", [5, 7, 9, 5], "10"),
        ("oldest:price", ["10", "9", "100", None], "9"),  # texts that read as numbers
        ("oldest:price", [10, "9", 8.5, None], "b"),
        ("oldest:price", [10, "9 euros", 85, None], "10"),  # one is no number: all are text
        ("oldest:price", [float("nan"), 3, 2, 4], "b"),  # NaN is missing
        ("oldest:day", ["2024-05-01", "2023-12-31", "", None], "9"),
        ("oldest:dc:date", ["2024-05-01", "2023-12-31", "2023-11-30", None], "b"),
        ("oldest:day", [None, None, "x", None], "b"),
        ("oldest:day", [["7", "3"], ["4"], [], None], "10"),  # several values: the best of them
        ("oldest:version", [2**63 - 1, 2**63 - 2, 2**63, None], "9"),  # no rounding
        ("oldest:version", [str(2**63 - 1), str(2**63 - 2), str(2**63), None], "9"),
        ("newest:day", ["2024-05-01", "2024-05-01T00:30", "", None], "9"),
        ("newest:day", ["n/a", None, "31.12.2023", "3.1.2024 08:00"], "a"),  # unreadable is oldest
        ("newest:day", ["4 March 2024", "2024-03-05", "20240306", "today"], "b"),
        ("newest:day", ["01/02/2024", "1/31/2023", "03/01/2023", None], "10"),  # month first
        ("newest:day", ["01/03/2024", "31/1/2023", "02/12/2023", "12/02/2024"], "10"),
        ("newest:day", ["2024-05-01T12:00+02:00", "2024-05-01T11:00Z", None, None], "9"),
        ("newest:day", ["1709633123", "1709633124000", 1709633122, None], "9"),
        ("newest:day", ["5/3/24 11:20 PM", "5/3/2024 11:20 PM", "5/3/2024 11:30", None], "9"),
        ("newest:day", [["2020-01-01", "2024-01-01"], ["2023-01-01"], [], None], "10"),
        ("source=wire,agency", ["blog", "agency", "wire", "wire"], "a"),
        ("source=wire, agency,blog,", ["blog", "agency", None, "x"], "9"),
        ("source=wire,agency", ["blog", "agency", None, ["x", "wire"]], "a"),
        ("source=wire,agency,wire", ["blog", "agency", None, "wire"], "a"),
        ("source=wire", ["blog", None, "agency", []], "9"),
        ("source=2,1", [1, 2, None, 3], "9"),  # numbers by how they are written
        ("site=http://a:asc", ["x", "y", "http://a:asc", "z"], "b"),
    ],
)
def test_choices(rule: str, column: list[Any], expected: str) -> None:
    """Missing values come last, and of equals the first one."""
    assert chosen(rule, column) == expected


@given(
    st.permutations([None, -3, 0, 1, 2]),
    st.permutations(range(5)),
    st.sampled_from(["oldest:day", "day=2,-1,0"]),
)
def test_the_order_of_members_is_of_no_consequence(
    column: list[int | None], order: list[int], rule: str
) -> None:
    """Whichever member comes first, the choice is the same, unless some are equal."""
    rows = [{"id": str(at), "text": TEXT, "day": value} for at, value in enumerate(column)]
    expected = str(column.index(2 if "=" in rule else -3))
    [cluster] = nd.duplicates([rows[at] for at in order], canonical=rule).clusters
    assert cluster.canonical == expected


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=12), st.sampled_from(["oldest:day", "first"])
)
def test_canonicals_choose_in_each_cluster(groups: list[int], rule: str) -> None:
    """Each cluster has the canonical document that is chosen for it alone."""
    texts = ("mill lane", "old heron", "boat lamp", "quay barn")
    rows = [
        {"id": str(20 - at), "text": texts[group], "day": at * 7 % 5}
        for at, group in enumerate(groups)
    ]
    alone = [
        cluster.canonical
        for text in texts
        for cluster in nd.duplicates(
            [row for row in rows if row["text"] == text], canonical=rule, measure="words"
        ).clusters
    ]
    found = nd.duplicates(rows, canonical=rule, measure="words", max_distance=0).clusters
    assert sorted(str(cluster.canonical) for cluster in found) == sorted(map(str, alone))


def test_a_cluster_without_a_value_keeps_its_first() -> None:
    """Where another cluster has values, and none of its own documents has one."""
    rows: list[dict[str, Any]] = [{"id": id, "text": TEXT, "day": None} for id in ("9", "10", "a")]
    rows += [{"id": id, "text": "heron", "day": day} for id, day in (("x", "2"), ("y", "1"))]
    clusters = nd.duplicates(rows, canonical="oldest:day", measure="words").clusters
    assert sorted(str(cluster.canonical) for cluster in clusters) == ["9", "y"]


NAMED = [
    (["updated"], "updated"),
    (["created", "modified_at"], "modified_at"),
    (["Erstellt am", "Geändert am"], "Geändert am"),
    (["when", "date"], "date"),
    (["born", "seen"], "seen"),
    (["entered"], "entered"),
]


@pytest.mark.parametrize(("names", "expected"), NAMED)
def test_the_column_of_the_last_change(names: list[str], expected: str) -> None:
    """It is known by its name, or as the only date that is not of a life; a line names it."""
    old, new = "2020-01-01", "2024-01-01"
    days = [{name: old if name == expected else new for name in names}, {expected: new}]
    rows = [{"id": str(at), "text": TEXT, **each} for at, each in enumerate(days)]
    [cluster] = nd.duplicates(rows, canonical="newest").clusters
    assert cluster.canonical == "1"


@pytest.mark.parametrize("names", [[], ["born"], ["seen", "entered"], ["updated", "modified"]])
def test_no_column_of_the_last_change(names: list[str]) -> None:
    """Without one, or among several, a line says how to name it."""
    row = {"text": TEXT, "year": 2020} | dict.fromkeys(names, "2024-01-01")
    rows = [{"id": id, **row} for id in "ab"]
    listed = [] if names == ["born"] else names
    with refusal(nd.errors.DataError, "column-missing", "newest:", *listed):
        nd.duplicates(rows, canonical="newest")
    with refusal(nd.errors.DataError, "values-unfit", "'text'", "newest:FIELD"):
        nd.duplicates(rows, canonical="newest:text")
