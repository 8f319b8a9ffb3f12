"""explain: two documents of a collection, or of a source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import api
from tests.unit.verbs.test_explain import MANY, lucky_draws, missed_by_bad_luck

NEAR = lucky_draws(40, 2)
UNLUCKY = missed_by_bad_luck()
TEXTS = {
    "near 1": NEAR[0],
    "near 2": NEAR[1],
    "luck,1": UNLUCKY[0],
    "luck,2": UNLUCKY[1],
    "far": "quite another text that resembles none of the others at all",
    "empty": " \u200b ",
}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]


def duplicates(solr: nd.Collection) -> set[tuple[str, str]]:
    """The pairs of ids that the whole collection's duplicates are."""
    return {(pair.id, pair.other_id) for pair in nd.duplicates(solr, by="bands").pairs}


def test_collection_and_source_explain_the_same(solr: nd.Collection) -> None:
    """What is stored gives the same facts and reasons as the texts themselves."""
    nd.index(DOCUMENTS, solr)
    source = [*DOCUMENTS, *MANY]  # more than are all compared
    for ids in (("near 1", "near 2"), ("luck,1", "luck,2"), ("near 1", "far"), ("far", "empty")):
        stored, read = nd.explain(solr, *ids), nd.explain(source, *ids)
        assert stored.facts.measures[:5] == read.facts.measures[:5]  # aligned goes by frequencies
        assert stored.facts.shared_bands == read.facts.shared_bands
        assert (stored.verdict, stored.reasons) == (read.verdict, read.reasons)
        assert (stored.facts.first.stale, stored.facts.second.stale) == ((), ())


def test_the_verdict_is_that_of_duplicates_and_searches(solr: nd.Collection) -> None:
    """Each way that is said to find a pair finds it, and the others do not."""
    nd.index(DOCUMENTS, solr)
    said: dict[str, set[bool]] = {"duplicates": set()}
    for ids in (("near 1", "near 2"), ("luck,1", "luck,2"), ("near 1", "far")):
        found = nd.explain(solr, *ids)
        said["duplicates"].add(found.verdict == "found")
        assert (found.verdict == "found") == (ids in duplicates(solr))
        for way in found.facts.ways[1:]:
            if way.is_there:
                said.setdefault(way.name, set()).add(way.finds)
                criteria: dict[str, Any] = {"by": way.name}
                matches = {hit.id: hit for hit in nd.search(solr, id=ids[0], **criteria)}
                assert (ids[1] in matches) == way.finds
                if way.finds:
                    assert matches[ids[1]].shared == way.shared
                    assert matches[ids[1]].distance == found.facts.distance
    both = {name for name, finds in said.items() if finds == {True, False}}
    assert both >= {"duplicates", "shingles", "signatures", "bands"}


def test_a_text_changed_without_its_signature(solr: nd.Collection) -> None:
    """A text that somebody else updated is told from its signature, and is to be indexed again."""
    nd.index(DOCUMENTS, solr)
    api.set_fields(solr, {"id": "far", "content": {"set": TEXTS["near 1"]}})
    solr.commit()
    found = nd.explain(solr, "near 1", "far")
    names = ("signature", "content_bands", "content_sg", "content_ng", "md5_hash")
    assert found.facts.second.stale == names
    # A search for the new text still finds the other one by what is stored with that.
    finding = [way.name for way in found.facts.ways if way.finds]
    assert finding == ["bands", "shingles", "signatures", "md5"]
    assert nd.search(solr, id="far", by="bands")[0].id == "near 1"
    assert found.verdict == "missed"
    assert found.reasons[-1].endswith("do not match its text; index it again.")
    nd.index([nd.Document(id="far", text=TEXTS["near 1"])], solr)
    assert nd.explain(solr, "near 1", "far").verdict == "found"


def test_a_collection_without_signatures(solr: nd.Collection) -> None:
    """Ways that were left out at indexing are said not to be there."""
    few = nd.Settings().fields - {"signature", "content_bands"}
    nd.index(DOCUMENTS, solr, settings=nd.Settings(fields=few))
    found = nd.explain(solr, "near 1", "near 2")
    assert (found.verdict, found.way) == ("found", "shingles")
    there = [way.name for way in found.facts.ways if way.is_there]
    assert there == ["shingles", "signatures", "md5"]


def test_a_collection_without_texts(solr: nd.Collection) -> None:
    """Without texts there is nothing to compare."""
    few = nd.Settings().fields - {"content"}
    nd.index(DOCUMENTS, solr, settings=nd.Settings(fields=few))
    with refusal(nd.SettingsError, "fields-missing", "content"):
        nd.explain(solr, "near 1", "near 2")


def test_what_cannot_be_explained(solr: nd.Collection) -> None:
    """An empty collection, an unknown id, and one id twice are each told."""
    with refusal(nd.SettingsError, "collection-empty"):
        nd.explain(solr, "1", "2")
    nd.index(DOCUMENTS, solr)
    with refusal(nd.errors.DocumentNotFound, "id-unknown", "'nobody'"):
        nd.explain(solr, "far", "nobody")
    with refusal(nd.ArgumentError, "id-invalid", "'far'"):
        nd.explain(solr, "far", "far")


def test_same_and_answers_of_a_collection(solr: nd.Collection, tmp_path: Path) -> None:
    """A field is read for `same`, which documents may lack; answers are about its texts."""
    text = "the night ferry to Orla leaves the old pier at"
    ferries = [
        {"id": str(n), "text": f"{text} {hour}", "port": port}
        for n, (hour, port) in enumerate([("nine", "Kiel"), ("ten", "Kiel"), ("noon", "Brest")])
    ]
    nd.index(ferries, solr, keep="port")
    assert nd.explain(solr, 0, 1, same="port").verdict == "found"
    apart = nd.explain(solr, 0, 2, same="port")
    assert (apart.verdict, apart.facts.unequal) == ("apart", ("port",))
    assert apart.facts.similarity == nd.explain(solr, 0, 2).facts.similarity
    assert nd.explain(solr, 0, 1, same="harbour").facts.unequal == ("harbour",)
    nd.answer(solr, 0, 1, "different", answers=tmp_path / "answers")
    told = nd.explain(solr, 0, 1, answers=tmp_path / "answers")
    assert (told.verdict, told.facts.answer) == ("apart", "different")
