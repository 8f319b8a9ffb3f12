"""The measure that a collection keeps, on a real Solr: every command compares by it."""

from __future__ import annotations

import neardup_solr as nd
from tests.refusals import refusal

PLACES = ["harbor", "castle", "garden", "market", "river", "bridge", "forest", "valley"]
ROWS = [
    {"id": f"{kind}-{at}", "text": f"{kind} {place} hotel {at} {place} road"}
    for kind in ("grand", "royal", "little")
    for at, place in enumerate(PLACES, 11)
]
COPY = {"id": "copy", "text": "grand harbour hotel 11 harbor rd"}


def test_commands_agree_on_the_measure(solr: nd.Collection) -> None:
    """Short texts are kept as records; search, report, gate, explain and duplicates compare so."""
    nd.index([*ROWS, COPY], solr)
    settings = solr.stored_settings()
    assert settings is not None
    assert settings.measure == "records"
    found = nd.duplicates(solr)
    assert found.measure == "records"
    assert "records" in found.chosen
    assert ("copy", "grand-11") in {(one.id, one.other_id) for one in found.pairs}
    (match,) = (one for one in nd.search(solr, id="copy") if one.id == "grand-11")
    assert match.distance is None
    reported = {(one.id, one.other_id): one for one in nd.report(solr, candidates=200).pairs}
    assert reported["copy", "grand-11"].similarity == match.similarity
    assert nd.explain(solr, "copy", "grand-11").facts.measure == "records"
    new = {"id": "new", "text": COPY["text"] + " by"}
    (decision,) = nd.gate([new], solr)
    assert decision.matches[0].distance is None
    near = nd.search(solr, id="copy", max_distance=3)
    assert {one.distance for one in near} == {2, 3}


def test_other_words_and_earlier_collections(solr: nd.Collection) -> None:
    """What is named is kept; what was indexed before goes on as it was."""
    nd.index(ROWS, solr, settings=nd.Settings())  # as of a version that kept no measure
    nd.index([COPY], solr)
    settings = solr.stored_settings()
    assert settings is not None
    assert settings.measure is None
    assert nd.duplicates(solr).measure == "words"
    assert all(one.distance is not None for one in nd.search(solr, id="copy"))


def test_a_measure_that_is_named_is_kept(solr: nd.Collection) -> None:
    """The collection has it, and refuses another one."""
    nd.index(ROWS, solr, settings={"measure": "jaccard"})
    assert nd.duplicates(solr).measure == "jaccard"
    with refusal(nd.SettingsError, "settings-differ", "jaccard"):
        nd.index([COPY], solr, settings={"measure": "words"})
