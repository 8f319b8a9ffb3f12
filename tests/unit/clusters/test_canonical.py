"""Rules for the canonical document: how they are written, and what they choose."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr.clusters.canonical import FIRST, Rule, choose_canonicals, parse_rule
from neardup_solr.errors import SettingsError
from neardup_solr.records import natural
from tests.refusals import refusal

IDS = ["10", "9", "b", "a"]  # in natural order: 9, 10, a, b


def chosen(text: str, column: list[Any]) -> str:
    """The id that a rule chooses, with this column in each field that it needs."""
    made = parse_rule(text)
    return IDS[made.choose(range(len(IDS)), IDS, dict.fromkeys(made.needs, column))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("first", FIRST),
        ("longest", Rule(field="num_words", is_descending=True)),
        ("shortest", Rule(field="num_words")),
        ("oldest", Rule(field="_version_")),
        ("oldest:published_dt", Rule(field="published_dt")),
        ("oldest:dc:date", Rule(field="dc:date")),
        ("source=wire, agency,blog,", Rule(field="source", trusted=("wire", "agency", "blog"))),
        ("site=http://a:asc", Rule(field="site", trusted=("http://a:asc",))),
    ],
)
def test_rules(text: str, expected: Rule) -> None:
    """Each way of writing a rule is understood."""
    assert parse_rule(text) == expected
    assert parse_rule(text).needs == ((expected.field,) if expected.field else ())


@pytest.mark.parametrize("text", ["", "best", "price", "price:asc", "price:desc", "oldest:",
                                  "source=", "source=,", "=wire", "longest:"])  # fmt: skip
def test_what_is_no_rule(text: str) -> None:
    """Anything else is refused in a line that names the rules."""
    with refusal(SettingsError, "argument-invalid", "longest", "FIELD=wire,agency"):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("first", [], "9"),
        ("longest", [5, 7, 9, 9], "a"),
        ("shortest", [5, 7, 9, 5], "10"),
        ("oldest:price", ["10", "9", "100", None], "9"),  # texts that read as numbers
        ("oldest:price", [10, "9", 8.5, None], "b"),
        ("oldest:price", [10, "9 euros", 85, None], "10"),  # one is no number: all are text
        ("oldest:price", [float("nan"), 3, 2, 4], "b"),  # NaN is missing
        ("oldest:day", ["2024-05-01", "2023-12-31", "", None], "9"),
        ("oldest:day", [None, None, None, None], "9"),
        ("oldest:day", [["7", "3"], ["4"], [], None], "10"),  # several values: the best of them
        ("oldest:version", [2**63 - 1, 2**63 - 2, 2**63, None], "9"),  # no rounding
        ("oldest:version", [str(2**63 - 1), str(2**63 - 2), str(2**63), None], "9"),
        ("source=wire,agency", ["blog", "agency", "wire", "wire"], "a"),
        ("source=wire,agency", ["blog", "agency", None, ["x", "wire"]], "a"),
        ("source=wire,agency,wire", ["blog", "agency", None, "wire"], "a"),
        ("source=wire", ["blog", None, "agency", []], "9"),
        ("source=2,1", [1, 2, None, 3], "9"),  # numbers by how they are written
    ],
)
def test_choices(text: str, column: list[Any], expected: str) -> None:
    """Missing values come last, and of equals the first id in natural order."""
    assert chosen(text, column) == expected


@given(
    st.lists(st.none() | st.integers(-3, 3), min_size=4, max_size=4),
    st.permutations(range(4)),
    st.sampled_from(["oldest:day", "day=2,-1,0"]),
)
def test_the_order_of_members_is_of_no_consequence(
    column: list[int | None], members: list[int], text: str
) -> None:
    """Whichever member comes first, the choice is the same."""
    values = {"day": column}
    assert parse_rule(text).choose(members, IDS, values) == parse_rule(text).choose(
        range(4), IDS, values
    )


@given(st.lists(st.integers(0, 5), max_size=12), st.sampled_from(["oldest:day", "first"]))
def test_canonicals_choose_in_each_cluster(groups: list[int], text: str) -> None:
    """Each document has the canonical one of its own cluster, as chosen for that alone."""
    labels = np.array([groups.index(group) for group in groups], dtype=np.int64)
    ids = [str(20 - row) for row in range(len(groups))]
    values = {"day": [row * 7 % 5 for row in range(len(groups))]}
    found = choose_canonicals(parse_rule(text), labels, ids, values)
    for row, label in enumerate(labels.tolist()):
        members = np.flatnonzero(labels == label).tolist()
        assert found[row] == parse_rule(text).choose(members, ids, values)


def test_first_is_the_natural_order() -> None:
    """Without a field the least id is chosen, numbers by their value."""
    assert IDS[FIRST.choose(range(4), IDS, {})] == min(IDS, key=natural) == "9"
