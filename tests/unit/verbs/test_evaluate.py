"""Precision, recall and F1."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import neardup_solr as nd
from tests.refusals import refusal


def test_hand_made_table() -> None:
    """Three found, four known, two of them right."""
    found = [("1", "2"), ("4", "3"), ("5", "6")]
    known = [("2", "1"), ("3", "4"), ("7", "8"), ("10", "9")]
    result = nd.evaluate(known, found)
    assert (result.found, result.known, result.right) == (3, 4, 2)
    assert result.precision == pytest.approx(2 / 3)
    assert result.recall == 0.5
    assert result.f1 == pytest.approx(4 / 7)
    assert result.missed == (("7", "8"), ("9", "10"))
    assert result.false == (("5", "6"),)


def test_nothing_found_and_nothing_known() -> None:
    """Empty sides are defined: nothing false, nothing missed."""
    empty = nd.Evaluation(found=0, known=0, missed=(), false=())
    assert (empty.precision, empty.recall, empty.f1) == (1.0, 1.0, 1.0)
    assert nd.evaluate([("1", "2")], []).recall == 0.0


CLUSTER = [(one, other) for one in "abcde" for other in "abcde" if one < other]


@pytest.mark.parametrize(
    "known",
    [
        [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")],
        [("b", "a"), ("b", "c"), ("d", "c"), ("e", "d")],
        [("e", "d"), ("a", "b"), ("c", "d"), ("b", "e")],
        CLUSTER,
    ],
)
def test_pairs_that_follow_from_known_ones_are_known(known: list[tuple[str, str]]) -> None:
    """A star, chains and a whole cluster say the same."""
    whole = nd.evaluate(known, [*CLUSTER, ("a", "x")])
    assert (whole.found, whole.known, whole.missed, whole.false) == (11, 10, (), (("a", "x"),))
    assert whole.closed == 10 - len(known)
    follow = f"; {whole.closed} pairs that follow from known pairs count as known"
    assert whole.summary.endswith(follow if whole.closed else f"F1 {whole.f1:.3f}")
    part = nd.evaluate([*known, ("x", "y")], CLUSTER[:5])
    assert (part.recall, part.closed) == (5 / 11, whole.closed)
    assert nd.evaluate(known, CLUSTER, as_given=True).known == len(known)


def test_between_two_sides_only_pairs_across_follow() -> None:
    """Each side has ids of its own, even if they are the same texts."""
    known = [("1", "2"), ("1", "3"), ("4", "3")]
    across = nd.evaluate(known, [*known, ("4", "2")], ordered=True)
    assert (across.closed, across.f1) == (1, 1)
    chained = nd.evaluate([("1", "2"), ("2", "3")], [("1", "3")], ordered=True)
    assert (chained.closed, chained.right) == (0, 0)
    told = [("left 1", "right 1"), ("left 1", "right 2"), ("left 2", "right 3")]
    assert nd.evaluate(told, told).f1 == 1  # no id is on both sides
    assert nd.evaluate([("a", "b"), ("a", "c")], [("a", "b"), ("a", "c"), ("b", "c")]).f1 == 1


def test_too_many_pairs_that_follow(caplog: pytest.LogCaptureFixture) -> None:
    """They would take all memory: known pairs count as they are, and a line says so."""
    star = [("0", str(n)) for n in range(1, 3_000)]
    result = nd.evaluate(star, [*star, ("1", "2")])
    assert (result.known, result.closed, result.false) == (2_999, 0, (("1", "2"),))
    assert "4,498,500 pairs follow from known pairs" in caplog.text


def test_a_sweep_counts_what_follows() -> None:
    """All three of a cluster are found, and two are known."""
    rows = [{"id": n, "text": f"one two three four five six {n}"} for n in (1, 2, 3)]
    swept = nd.duplicates(rows).sweep([(1, 2), (1, 3)])
    assert (swept.best.f1, swept.closed) == (1, 1)
    assert "1 pair that follows from known pairs counts as known" in repr(swept)


def test_ids_may_be_numbers_and_pairs_a_dataframe() -> None:
    """Whole numbers are taken as texts, wherever ids are given."""
    frame = pd.DataFrame({"Nr": [1, 2, 7], "text": ["a b c d", "a b c d", "x y z"]})
    known = pd.DataFrame([(2, 1)])
    found = nd.duplicates(frame, id="Nr")
    assert nd.evaluate(known, found).recall == nd.evaluate([(1, 2)], found).recall == 1.0
    assert nd.explain(frame, 1, 2, id="Nr").verdict == "found"
    for given in (known, [(1, 2)], [("1", "2")]):
        tuned = nd.tune(frame, id="Nr", known=given)
        assert (sum(tuned.known), tuned.absent) == (1, 0)


def test_missed_and_false_pairs_have_the_ids_of_what_was_found(tmp_path: Path) -> None:
    """Whole numbers, by which a DataFrame is filtered, whatever the known pairs have."""
    texts = ["a b c d", "a b c d", "x y z", "one two", "one two"]
    frame = pd.DataFrame({"id": [1, 2, 7, 8, 9], "text": texts})
    found = nd.duplicates(frame)
    (tmp_path / "known.tsv").write_text("2\t1\n1\t7\n")
    for known in ([(2, 1), (1, 7)], [("2", "1"), ("7", "1")], tmp_path / "known.tsv"):
        assert nd.evaluate(known, found).missed == ((1, 7), (2, 7))  # which follows
        made = nd.evaluate(known, found, as_given=True)
        assert (made.missed, made.false) == (((1, 7),), ((8, 9),))
        assert "<bdi>7</bdi>" in made._repr_html_()
    made.write(tmp_path / "wrong.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "wrong.jsonl").read_text().splitlines()]
    assert [(str(row["id"]), str(row["other_id"])) for row in rows] == [("1", "7"), ("8", "9")]
    asked = found.sample(2).to_pandas().assign(answer=["same", "different"])
    assert nd.evaluate(asked, found).false == ((8, 9),)
    assert found.sweep([(1, 2)]).best.f1 == pytest.approx(2 / 3)
    texts_alone = nd.evaluate([(1, 7)], [("8", "9")])
    assert (texts_alone.missed, texts_alone.false) == (((1, 7),), (("8", "9"),))


def test_known_pairs_of_other_documents_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Otherwise a recall of 0 looks like one of the search."""
    assert nd.evaluate([(1, 2)], [("2", "3")]).recall == 0
    assert not caplog.messages
    assert nd.evaluate([("a", "b")], [("1", "2")]).recall == 0
    (told,) = caplog.messages
    assert told.startswith("none of the ids in the known pairs occurs in a found pair")


def test_no_known_pairs_are_refused() -> None:
    """Any report would be complete."""
    with refusal(nd.ArgumentError, "no-pairs", "`known`"):
        nd.evaluate([], [("1", "2")])


def test_repeated_pairs_count_once() -> None:
    """Lists that repeat a pair are sets of pairs."""
    assert nd.evaluate([("1", "2")], [("1", "2"), ("2", "1")]).found == 1


@pytest.mark.parametrize("path", [None, 5, b"a.tsv", "a\0.tsv"])
def test_results_are_written_to_a_path(path: Any) -> None:
    """What is no path is an error of ours, in whatever result."""
    pairs = [("1", "2")]
    report = nd.Report(pairs=(), documents=0, cut=0)
    for result in (nd.evaluate(pairs, pairs), report, nd.duplicates([{"id": "1", "text": "a"}])):
        with pytest.raises(nd.ArgumentError, match=r"`path` (must|cannot) be"):
            result.write(path)


def test_the_order_of_two_sides_counts(tmp_path: Path) -> None:
    """With `against`, a of one side and b of the other are not b of the one and a of the other."""
    left = [{"id": "a", "text": "one two three four"}, {"id": "b", "text": "five six seven eight"}]
    right = [{"id": "b", "text": "one two three four"}, {"id": "a", "text": "nothing is like this"}]
    found = nd.duplicates(left, against=right)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("a", "b")]
    wrong = nd.evaluate([("b", "a")], found)
    assert (wrong.missed, wrong.false) == ((("b", "a"),), (("a", "b"),))
    assert nd.evaluate([("a", "b")], found).f1 == 1
    sheet = found.sample(1).to_pandas().assign(answer="same")
    assert nd.evaluate(sheet, found).precision == 1
    swapped = sheet.rename(columns={"id": "other_id", "other_id": "id"})
    with refusal(nd.ArgumentError, "no-pairs", "1"):
        nd.evaluate(swapped, found)
    assert found.sweep([("b", "a")]).best.f1 == 0
    path = tmp_path / "found.csv"
    found.write(path)
    assert nd.evaluate([("b", "a")], path, ordered=True).f1 == 0
    assert nd.evaluate([("b", "a")], path).f1 == 1  # a file does not tell of sides
