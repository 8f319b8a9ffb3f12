"""Questions of a review: their order, who is asked about which, how a pair is shown, advice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup_solr import Duplicate
from neardup_solr.measures import Limits, measure_of
from neardup_solr.verbs.duplicates.find import find_duplicates
from neardup_solr.verbs.duplicates.request import DuplicatesRequest
from neardup_solr.verbs.review.question import make_question
from neardup_solr.verbs.review.questions import LEASE, Questions, Tally, advise, order_questions
from neardup_solr.verbs.review.request import REACH, REACH_BY_FIELDS


def pair(number: int, similarity: float) -> Duplicate:
    return Duplicate(id=f"a{number}", other_id=f"b{number}", similarity=similarity, distance=1,
                     measure="words", cluster=f"a{number}", shared=0, sides=(0, 0))  # fmt: skip


def questions(similarities: list[float], threshold: float = 0.75) -> Questions:
    pairs = [pair(number, one) for number, one in enumerate(similarities)]
    return Questions(pairs=pairs, threshold=threshold)


def test_pairs_near_the_threshold_are_asked_about_first() -> None:
    similarities = np.array([1.0, 0.76, 0.4, 0.70])
    assert order_questions(similarities, 0.75) == [1, 3, 0, 2]


def test_the_model_says_what_is_asked_next() -> None:
    """What is leased stays, what was skipped comes last, and nothing comes twice."""
    asked = questions([0.75, 0.8, 0.85, 0.9, 0.95])
    assert [asked.next(reader, 0) for reader in "xyz"] == [0, 1, 2]
    asked.skip(0)
    asked.judged[1] = "same"
    asked.prepare(np.array([0.5, 0.5, 0.5, 0.99, 0.6]))
    assert [asked.next(reader, 1) for reader in "xyzab"] == [4, 3, 2, 0, None]
    assert asked.tally() == (1, 0, 0, 4)


def test_each_third_question_is_drawn_at_random() -> None:
    """Any pair may be drawn, and all pairs are asked about once."""
    asked = questions([0.75] * 20 + [1.0] * 400)
    order = []
    for now in range(420):
        number = asked.next("x", now)
        assert number is not None
        order.append(number)
        asked.judged[number] = "same"
    assert sorted(order) == list(range(420))
    drawn = order[2:30:3]
    assert sum(number >= 20 for number in drawn) >= 7
    assert all(number < 20 for at, number in enumerate(order[:15]) if at % 3 < 2)
    assert asked.next("x", 420) is None


def test_what_was_skipped_is_not_drawn() -> None:
    """It waits until all others have been asked about."""
    asked = questions([0.75, 0.8, 0.85, 0.9, 0.95])
    first = asked.next("x", 0)
    assert first is not None
    asked.skip(first)
    order = []
    for now in range(1, 6):
        number = asked.next("x", now)
        assert number is not None
        order.append(number)
        asked.judged[number] = "same"
    assert order[-1] == first
    assert sorted(order) == [0, 1, 2, 3, 4]


@given(st.lists(st.sampled_from("xy"), max_size=40))
def test_nobody_is_asked_about_the_pair_of_another(readers: list[str]) -> None:
    asked = questions([0.7, 0.72, 0.74, 0.76, 0.78, 0.8])
    shown: dict[str, int | None] = {}
    for now, reader in enumerate(readers):
        number = asked.next(reader, now)
        assert number is None or number not in {n for r, n in shown.items() if r != reader}
        shown[reader] = number
        if number is not None and now % 3:
            asked.judged[number] = "same"
            shown[reader] = None


def test_a_pair_that_is_left_alone_is_asked_about_again() -> None:
    asked = questions([0.75])
    assert asked.next("x", 0) == 0
    assert asked.next("y", 1) is None
    assert asked.next("x", 2) == 0  # its page was loaded again
    assert asked.next("y", 3 + LEASE) == 0


def show(first: str, second: str) -> tuple[list[str], list[int]]:
    """Make the row of two texts: both as words, and the steps of their diff."""
    question = make_question(pair(0, 0.8), None, {"a0": first, "b0": second}, {})
    values, name, *steps = question["rows"][-1]
    assert name == "Text"
    return values, steps[0] if steps else []


def test_what_is_missing_is_no_difference() -> None:
    assert show("fish and chips", "") == (["fish and chips", ""], [])
    assert show("& – 👍", "fish") == (["& – 👍", "fish"], [0, 3, 1])  # symbols are its words


def test_long_texts_are_shown_where_they_differ() -> None:
    """Editions of a megabyte by their passages, other texts around the first difference."""
    words = [f"w{number}" for number in range(150_000)]
    other = [*words[:140_000], "changed", *words[140_001:]]
    texts = {"a0": " ".join(words), "b0": " ".join(other)}
    question = make_question(pair(0, 0.8), None, texts, {})
    assert (question["rows"], len(question["texts"]), len(question["passages"])) == ([], 2, 1)
    values, steps = show("x" * 1_000_000, "y" * 1_000_000)
    assert max(map(len, values)) < 20_100
    assert len(steps) == 3


@pytest.mark.parametrize("tally", [Tally(30, 0, 0, 1), Tally(29, 1, 0, 1)])
def test_nothing_is_advised_where_the_reach_cannot_grow(tally: Tally) -> None:
    """A lower threshold would add pairs that have nothing in common, for nothing to learn."""
    assert "reach" in advise(tally, 0.5, REACH)
    assert advise(tally, 0.5, REACH_BY_FIELDS) == ""


def test_the_reach_is_counted_from_the_measure_that_is_chosen() -> None:
    """Short records get another measure than texts, and another threshold."""
    people = [(str(n), f"Anna Berg {n} Main Road {n % 7} Ulm 0{n}") for n in range(30)]
    result = find_duplicates(DuplicatesRequest(people, reach=0.1))
    assert result.measure == "records"
    least = measure_of("records", Limits()).least(Limits())
    assert result.min_similarity == pytest.approx(least - 0.1)
