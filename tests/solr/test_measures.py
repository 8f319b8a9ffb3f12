"""search and report by every measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests import ROOT
from tests.faults.scripted import Answer
from tests.solr.front import front

MEASURES = get_args(nd.types.MeasureName)[1:]  # of texts, without "auto"

Rows = dict[tuple[str, str], tuple[int | None, float]]


@pytest.fixture(scope="module")
def listings(solr_url: str) -> Iterator[nd.Collection]:
    """A core that holds the demo's listings; nothing here changes it."""
    with fresh_core(solr_url) as core:
        nd.index(ROOT / "neardup_solr" / "demo" / "listings.tsv", core)
        yield core


def rows(pairs: tuple[nd.Pair, ...] | tuple[nd.Duplicate, ...]) -> Rows:
    """Distance and similarity of pairs by their ids; sums in another order differ by a hair."""
    return {(pair.id, pair.other_id): (pair.distance, round(pair.similarity, 9)) for pair in pairs}


@pytest.mark.parametrize("measure", MEASURES)
def test_report_by_bands_is_duplicates_by_bands(
    listings: nd.Collection, measure: nd.types.MeasureName
) -> None:
    """Of the same candidates, the two commands find the same pairs, just as similar."""
    found = nd.report(listings, by="bands", candidates=1_000, measure=measure)
    expected = nd.duplicates(listings, by="bands", measure=measure)
    assert found.cut == 0
    assert len(found.pairs) > 20
    assert rows(found.pairs) == rows(expected.pairs)
    assert all((pair.distance is None) == (measure != "words") for pair in found.pairs)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_search_finds_what_the_report_has(
    listings: nd.Collection, measure: nd.types.MeasureName
) -> None:
    """A document's matches are its pairs of the report, most similar first, with their texts."""
    criteria: dict[str, Any] = {"measure": measure, "min_similarity": 0.1}
    id = "lantern-002"
    reported = rows(nd.report(listings, from_id=id, to_id=id, **criteria).pairs)
    found = nd.search(listings, id=id, **criteria)
    assert len(found) >= 2
    by_ids = {(min(id, m.id), max(id, m.id)): (m.distance, round(m.similarity, 9)) for m in found}
    assert by_ids == reported
    orders = [(-m.similarity if m.distance is None else m.distance, -m.shared, m.id) for m in found]
    assert orders == sorted(orders)
    assert {match.id: match.content for match in found} == listings.texts([m.id for m in found])


def test_measures_differ_in_what_they_find(solr: nd.Collection) -> None:
    """An excerpt, moved passages and abbreviations are near-duplicates by one measure each."""
    text = "the ferry leaves the old north pier at nine in the evening and takes bicycles"
    moved = "in the evening and takes bicycles the ferry leaves the old north pier at nine"
    record = "Harbour Street Bakery twelve Harbour Street Alton bread and cakes"
    texts = {
        "text": text,
        "excerpt": "the ferry leaves the old north pier",
        "moved": moved,
        "record": record,
        "short": "Harbour St Bakery 12 Harbour Str Alton bread and cakes",
    }
    nd.index([nd.Document(id=id, text=text) for id, text in texts.items()], solr)

    def found(id: str, measure: nd.types.MeasureName) -> list[str]:
        return [m.id for m in nd.search(solr, id=id, measure=measure)]

    assert found("text", "words") == []
    assert found("text", "jaccard") == ["moved"]
    assert found("excerpt", "containment") == ["moved", "text"]
    assert found("record", "jaccard") == []
    assert found("record", "aligned") == ["short"]


def test_words_are_counted_once_in_a_report(
    listings: nd.Collection,
) -> None:
    """How rare words are is asked of the collection once, and only where it counts."""
    walks: list[str] = []  # over the ids: one of the report itself, one for a sample of texts

    def count(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        if "cursorMark=%2A" in path:
            walks.append(path)
        return answer()

    with front(listings.base, between=count) as address:
        solr = nd.connect(address, listings.name)
        nd.report(solr, to_id="lantern-010", measure="words")
        assert len(walks) == 1
        assert nd.report(solr, to_id="lantern-010", measure="aligned").documents > 5
        assert len(walks) == 1 + 2


def test_estimates_need_stored_signatures(solr: nd.Collection) -> None:
    """Where signatures were left out, an estimate is refused and the other measures are not."""
    without = nd.Settings(fields=nd.Settings().fields - {"signature"})
    nd.index([nd.Document(id=id, text="one two three four") for id in "ab"], solr, settings=without)
    refused = "without signature; choose a different `measure`: estimate compares"
    with pytest.raises(nd.SettingsError, match=refused):
        nd.search(solr, text="one two three four", measure="estimate")
    with pytest.raises(nd.SettingsError, match=refused):
        nd.report(solr, measure="estimate")
    assert len(nd.report(solr, measure="jaccard").pairs) == 1


def test_numbers_and_links_are_compared_alike_by_all(solr: nd.Collection) -> None:
    """Reports, searches and the gate find texts of other links, none of another dose."""
    names = ["heron", "otter", "quay", "barn", "ford", "cliff", "moss", "lamp", "boat", "dune"]
    texts = [
        {"id": f"{name}-{at}", "text": f"{name} {name[::-1]} {name}ol tablets {dose} mg {link}"}
        for name in names
        for at, (dose, link) in enumerate(
            (
                ("5", f"bit.ly/{name}1"),
                ("5.0", f"https://t.co/{name}x2"),
                ("0.5", f"bit.ly/{name}1"),
            )
        )
    ]
    nd.index(texts[:-3], solr, settings={"kind": "chars", "shingle_size": 3, "measure": "records"})
    near = {(f"{name}-0", f"{name}-1") for name in names[:-1]}
    found = nd.duplicates(solr)
    assert {(pair.id, pair.other_id) for pair in found.pairs} == near
    similar = rows(found.pairs)
    assert rows(nd.report(solr, by="bands").pairs) == similar
    id = f"{names[0]}-0"
    assert [match.id for match in nd.search(solr, id=id, by="bands")] == [f"{names[0]}-1"]
    new = [{"id": f"new {row['id']}", "text": row["text"]} for row in texts[1:3]]
    near_ids = [{match.id for match in each.matches} for each in nd.gate(new, solr)]
    assert near_ids == [{f"{names[0]}-0", f"{names[0]}-1"}, {f"{names[0]}-2"}]
