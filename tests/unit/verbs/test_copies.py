"""Exact copies are joined whatever the measure, the way to candidates and the cap are."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd

FEW_WORDS = st.sampled_from(["mill", "lane", "old", "heron", "Lane"])
# Repeated sentences have equal shingles, and so equal signatures, however often they come.
LONG = st.tuples(
    st.sampled_from(["the old mill lane heron runs by ", "a heron stands in the old mill race "]),
    st.integers(2, 4),
).map(lambda text: text[0] * text[1])
TEXTS = st.lists(
    st.tuples(st.lists(FEW_WORDS, min_size=1, max_size=4).map(" ".join) | LONG, st.integers(1, 7)),
    min_size=1,
    max_size=10,
)
WAYS = [
    {"measure": measure, "by": by}
    for measure in ("words", "jaccard", "containment", "aligned", "estimate")
    for by in ("all", "bands", "shingles", "words", None)
    if by != "shingles" or measure in ("jaccard", "containment")
]


def list_copies(texts: list[tuple[str, int]], seed: int) -> list[dict[str, str]]:
    """Each text so many times, shuffled, with ids."""
    every = [text for text, count in texts for _ in range(count)]
    np.random.default_rng(seed).shuffle(every)
    return [{"id": str(row), "text": text} for row, text in enumerate(every)]


def normal_of(document: dict[str, str]) -> str:
    """The normal form of a text of these words."""
    return " ".join(document["text"].lower().split())


def require_together(documents: list[dict[str, str]], found: nd.Duplicates) -> None:
    """Fail unless all documents of a normal form are in one cluster, and are counted."""
    sets = defaultdict(list)
    for document in documents:
        sets[normal_of(document)].append(document["id"])
    for ids in sets.values():
        assert len({found.labels.get(id, id) for id in ids}) == 1
    if found.measure == "estimate":  # which tells equal signatures, not equal texts
        return
    assert found.copies == sum(len(ids) - 1 for ids in sets.values())
    for cluster in found.clusters:
        texts = {normal_of(documents[int(str(each.id))]) for each in cluster.members}
        assert cluster.copies == len(cluster.members) - len(texts)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way['measure']}-{way['by']}")
@settings(deadline=None, max_examples=15)
@given(texts=TEXTS, cap=st.integers(2, 6), seed=st.integers(0, 9), is_strict=st.booleans())
def test_copies_are_in_one_cluster(
    way: dict[str, Any], texts: list[tuple[str, int]], cap: int, seed: int, is_strict: bool
) -> None:
    """All documents of equal normal forms come together, also if nothing else is near enough."""
    documents = list_copies(texts, seed)
    is_words = way["measure"] == "words"
    limit: dict[str, Any] = {"max_distance": 0} if is_words else {"min_similarity": 1.0}
    caps: dict[str, Any] = {} if way["by"] == "all" else {"cap": cap}
    found = nd.duplicates(documents, **way, **caps, **(limit if is_strict else {}))
    require_together(documents, found)
    kept = found.at(1.0)
    assert kept.copies == found.copies
    complete = nd.duplicates(documents, **way, **caps, linkage="complete")
    require_together(documents, complete)


@settings(deadline=None, max_examples=15)
@given(TEXTS, st.integers(2, 6), st.integers(0, 9))
def test_copies_are_compared_by_fields(texts: list[tuple[str, int]], cap: int, seed: int) -> None:
    """Records of equal fields are all compared: without a threshold, all come together."""
    documents = list_copies(texts, seed)
    found = nd.duplicates(documents, fields="text", by="words", cap=cap, min_similarity=0)
    require_together(documents, found)


def make_inventory(copies: int) -> list[dict[str, str]]:
    """Make 35 texts of common words, so many of each, and a misspelt one of every fifth."""
    items = ["steel bolt", "brass nut", "oak shelf", "pine door", "copper pipe"]
    towns = ["leeds", "york", "hull", "bath", "derby", "luton", "crewe"]
    texts = [f"{item} {town} depot" for item in items for town in towns]
    texts += [text.replace("depot", "depott") for text in texts[::5]]
    return [
        {"id": f"{at}-{copy}", "text": text}
        for at, text in enumerate(texts)
        for copy in range(copies)
    ]


def test_common_words_do_not_hide_copies() -> None:
    """What is near does not depend on how often each text is there."""
    once = nd.duplicates(make_inventory(1), measure="aligned")
    often = nd.duplicates(make_inventory(60), measure="aligned")
    assert (often.by, often.documents, often.beyond_cap) == ("all", 2_520, 0)
    clusters = [
        {frozenset(str(each.id).split("-")[0] for each in one.members) for one in found.clusters}
        for found in (once, often)
    ]
    assert clusters[0] == {each for each in clusters[1] if len(each) > 1}
    assert often.copies == 42 * 59
    assert len(often.pairs) == len(once.pairs) * 60**2 + 42 * 60 * 59 // 2


def test_pairs_across_sides() -> None:
    """Each record of one side is paired with its copies in the other, at most to the cap."""
    left, right = make_inventory(4), make_inventory(3)
    ways: list[dict[str, Any]] = [{"measure": "aligned", "by": "words"}, {"by": "bands"}]
    for way in ways:
        every = nd.duplicates(left, against=right, min_similarity=1.0, **way)
        assert {pair.sides for pair in every.pairs} == {(0, 1)}
        assert (len(every.pairs), len(every.removed)) == (42 * 12, 42 * 4)
        few = nd.duplicates(left, against=right, min_similarity=1.0, cap=2, **way)
        assert len(few.removed) == 42 * 4


def test_a_pair_judged_different_does_not_tear_the_others_apart(tmp_path: Path) -> None:
    """Of many copies one is judged another than the next: the others stay in one cluster."""
    documents = [{"id": str(row), "text": "old mill lane"} for row in range(9)]
    answers = tmp_path / "answers.jsonl"
    nd.answer(documents, "4", "5", "different", answers=answers)
    ways: list[dict[str, Any]] = [
        {"by": "words"}, {"by": "bands"}, {"measure": "aligned", "by": "bands"},
    ]  # fmt: skip
    for way in ways:
        found = nd.duplicates(documents, answers=answers, cap=3, **way)
        (cluster,) = found.clusters
        assert len(cluster.members) == 8


def test_equal_numbers_hold_for_copies() -> None:
    """What has to be equal keeps copies apart, however many there are."""
    documents = [{"id": str(row), "text": f"C{'+' * (row % 2)} lane"} for row in range(20)]
    ways: tuple[nd.types.Way, ...] = ("words", "bands")
    for by in ways:
        found = nd.duplicates(documents, equal=r"\++", cap=3, by=by)
        assert sorted(len(each.members) for each in found.clusters) == [10, 10]


def count_expanded(sizes: tuple[int, ...], cap: int) -> int:
    """Count the pairs of one set of copies, or of two whose texts are near, up to a cap."""
    rows = sum(sizes)
    every = rows * (rows - 1) // 2 if len(sizes) == 1 else sizes[0] * sizes[1]
    return every if rows <= cap else rows - 1


@pytest.mark.parametrize("by", ["bands", "words"])
@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=14), st.integers(2, 9))
def test_pairs_of_copies(by: nd.types.Way, keys: list[int], cap: int) -> None:
    """All copies of a text are paired up to the cap; above it they are connected."""
    words = ("mill lane", "old heron", "boat lamp", "quay barn", "ford holm")
    documents = [{"id": str(row), "text": words[key]} for row, key in enumerate(keys)]
    found = nd.duplicates(documents, measure="words", by=by, max_distance=0, cap=cap)
    sets = [[row for row, key in enumerate(keys) if key == each] for each in set(keys)]
    assert len(found.pairs) == sum(count_expanded((len(rows),), cap) for rows in sets)
    paired = {int(id) for pair in found.pairs for id in (pair.id, pair.other_id)}
    assert paired == {row for rows in sets if len(rows) > 1 for row in rows}


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(2, 9))
def test_pairs_of_copies_of_two_texts(first: int, second: int, cap: int) -> None:
    """A pair of texts stands for all of their copies up to the cap; above it they are connected."""
    texts = ["mill lane boat"] * first + ["mill lane lamp"] * second
    documents = [{"id": str(row), "text": text} for row, text in enumerate(texts)]
    how: dict[str, Any] = {"measure": "words", "by": "words", "max_distance": 1}
    found = nd.duplicates(documents, cap=cap, **how)
    across = sum(int(pair.id) < first <= int(pair.other_id) for pair in found.pairs)
    assert across == count_expanded((first, second), cap)
    assert [len(each.members) for each in found.clusters] == [first + second]


@pytest.mark.parametrize("by", ["all", "bands"])
def test_the_first_record_of_a_file_is_kept(tmp_path: Path, by: nd.types.Way) -> None:
    """`first` is the record that comes first in a source, whatever the ids are."""
    path = tmp_path / "items.csv"
    path.write_text("id,text\n10,old mill lane\n9,old mill lane\n2,heron\n1,heron\n")
    found = nd.duplicates(path, by=by)
    assert [(each.id, each.canonical) for each in found.clusters] == [("1", "2"), ("9", "10")]
    assert sorted(found.removed) == ["1", "9"]
    assert [each.canonical for each in found.at(1.0).clusters] == ["2", "10"]
