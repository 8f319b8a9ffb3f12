"""Precision, recall and F1."""

from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.verbs.evaluate import evaluate_pairs


def test_hand_made_table() -> None:
    """Three found, four known, two of them right."""
    found = [("1", "2"), ("4", "3"), ("5", "6")]
    known = [("2", "1"), ("3", "4"), ("7", "8"), ("10", "9")]
    result = evaluate_pairs(known, found)
    assert (result.found, result.known, result.right) == (3, 4, 2)
    assert result.precision == pytest.approx(2 / 3)
    assert result.recall == 0.5
    assert result.f1 == pytest.approx(4 / 7)
    assert result.missed == (("7", "8"), ("9", "10"))
    assert result.false == (("5", "6"),)


def test_nothing_found_and_nothing_known() -> None:
    """Empty sides are defined: nothing false, nothing missed."""
    empty = evaluate_pairs([], [])
    assert (empty.precision, empty.recall, empty.f1) == (1.0, 1.0, 1.0)
    assert evaluate_pairs([("1", "2")], []).recall == 0.0


def test_ids_may_be_numbers_and_pairs_a_dataframe() -> None:
    """Whole numbers are taken as texts, wherever ids are given."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"Nr": [1, 2, 7], "text": ["a b c d", "a b c d", "x y z"]})
    known = pd.DataFrame([(2, 1)])
    found = nd.duplicates(frame, id="Nr")
    assert nd.evaluate(known, found).recall == nd.evaluate([(1, 2)], found).recall == 1.0
    assert nd.explain(frame, 1, 2, id="Nr").verdict == "found"
    for given in (known, [(1, 2)], [("1", "2")]):
        tuned = nd.tune(frame, id="Nr", known=given)
        assert (sum(tuned.known), tuned.absent) == (1, 0)


def test_repeated_pairs_count_once() -> None:
    """Lists that repeat a pair are sets of pairs."""
    assert evaluate_pairs([("1", "2")], [("1", "2"), ("2", "1")]).found == 1


@pytest.mark.parametrize("path", [None, 5, b"a.tsv", "a\0.tsv"])
def test_results_are_written_to_a_path(path: Any) -> None:
    """What is no path is an error of ours, in whatever result."""
    pairs = [("1", "2")]
    report = nd.Report(pairs=(), documents=0, cut=0)
    for result in (nd.evaluate(pairs, pairs), report, nd.duplicates([{"id": "1", "text": "a"}])):
        with pytest.raises(nd.ArgumentError, match="`path` has to be"):
            result.write(path)
