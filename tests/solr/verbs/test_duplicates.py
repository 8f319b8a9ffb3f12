"""duplicates: the whole collection, from Solr and from a source."""

from typing import Any, get_args

import pytest

import neardup_solr as nd
from tests.refusals import refusal

TEXTS = {
    "9": "one two three four five six seven eight nine ten",
    "10": "one two three four five six seven eight nine eleven",
    "11": "One, two, three; four five six seven eight nine ten!",
    "x": "a b c d e f g h",
    "y": "a b c d e f g i",
    "z": "quite another text that resembles none of the others at all",
    "empty": " \u200b ",
    "also empty": "",
}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
LOOSE: dict[str, Any] = {"min_similarity": 0.7}


def rows(found: nd.Duplicates) -> list[tuple[str, str, int | None, str]]:
    """Ids, distance and cluster of each pair."""
    return [(pair.id, pair.other_id, pair.distance, pair.cluster) for pair in found.pairs]


EXPECTED = [("9", "10", 1, "9"), ("9", "11", 0, "9"), ("10", "11", 1, "9"), ("x", "y", 1, "x")]


@pytest.mark.parametrize(("by", "way"), [("bands", "bands"), (None, "all")])
def test_collection_and_source_give_the_same(
    solr: nd.Collection, by: nd.types.Way | None, way: nd.types.Way
) -> None:
    """With and without a server the same pairs come out, in clusters, by natural order."""
    nd.index(DOCUMENTS, solr)
    stored, signed = (nd.duplicates(each, by=by, **LOOSE) for each in (solr, DOCUMENTS))
    assert stored.by == way
    assert rows(stored) == rows(signed) == EXPECTED
    assert stored == signed
    assert (stored.documents, len(stored.clusters), stored.hot_keys) == (8, 2, 0)


def test_estimates_need_no_text(solr: nd.Collection) -> None:
    """By signatures alone, the estimate is the share of equal values."""
    nd.index(DOCUMENTS, solr)
    found = nd.duplicates(solr, measure="estimate", min_similarity=0.4)
    assert rows(found) == [(a, b, None, c) for a, b, _, c in EXPECTED]
    rows_of_solr = solr.stored(list(TEXTS), ["signature"])
    signatures = {row["id"]: row["signature"] for row in rows_of_solr if "signature" in row}
    for pair in found.pairs:
        one, other = (nd.signature.decode(signatures[id]) for id in (pair.id, pair.other_id))
        assert pair.similarity == (one == other).mean()


def test_what_a_collection_lacks(solr: nd.Collection) -> None:
    """An empty collection, and one without signatures, say what to do."""
    with refusal(nd.SettingsError, "collection-empty"):
        nd.duplicates(solr)
    few = nd.Settings(fields=nd.Settings().fields - {"signature"})
    nd.index(DOCUMENTS, solr, settings=few)
    with refusal(nd.SettingsError, "fields-missing", "signature"):
        nd.duplicates(solr)


@pytest.mark.parametrize("measure", get_args(nd.types.MeasureName))
def test_exact_copies_by_every_command(solr: nd.Collection, measure: nd.types.MeasureName) -> None:
    """Texts of common words come together by any way, and search and the gate find them, too."""
    items, towns = ("steel bolt", "brass nut", "oak shelf"), ("leeds", "york", "hull", "bath")
    long = [sentence * times for sentence in ("the old mill by the lane ", "a heron on the weir ")
            for times in (3, 4)]  # fmt: skip
    texts = [f"{item} {town} depot" for item in items for town in towns] + long
    documents = [
        nd.Document(id=f"{at}-{copy}", text=text.upper() if copy % 2 else text)
        for copy in range(7)
        for at, text in enumerate(texts)
    ]
    nd.index(documents, solr)
    for by in get_args(nd.types.Way):
        if by == "shingles" and measure not in ("jaccard", "containment"):
            continue
        limits: dict[str, Any] = {} if by == "all" else {"cap": 3}
        found = nd.duplicates(solr, measure=measure, by=by, min_similarity=1.0, **limits)
        for at in range(len(texts)):
            assert len({found.labels.get(f"{at}-{copy}") for copy in range(7)}) == 1
        if measure != "estimate":
            assert found.copies == len(texts) * 6
    for at, text in enumerate(texts):
        ids = {match.id for match in nd.search(solr, text=text, measure=measure)}
        assert ids >= {f"{at}-{copy}" for copy in range(7)}
    [decision] = nd.gate([nd.Document(id="new", text=texts[0])], solr, measure=measure)
    assert decision.action == "reject"
