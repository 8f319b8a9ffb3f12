"""explain on a real Solr: shared words of a sample, and signatures that do not fit."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from tests.unit.verbs.test_explain import MANY


def test_words_of_a_sample_are_estimated(solr: nd.Collection) -> None:
    """The first documents of a collection tell, about, how many have a word."""
    pair = [nd.Document(id=id, text="corner ritz 7s") for id in ("one", "other")]
    nd.index([*MANY, *pair], solr)
    counts = nd.explain(solr, "one", "other", measure="aligned").facts.shared_words
    assert counts["ritz"] == 2
    assert abs(counts["corner"] - len(MANY)) < 25
    assert 35 < counts["7s"] < 75


def test_a_signature_of_another_length(solr: nd.Collection) -> None:
    """A stored signature of other settings is refused."""
    nd.index([nd.Document(id="1", text="a b c d"), nd.Document(id="2", text="a b c e")], solr)
    short = nd.Settings(hashes=64, bands=21)
    others = [nd.Document(id="1", text="a b c d"), nd.Document(id="2", text="a b c e")]
    entry = nd.explain(others, "1", "2", settings=short).facts.first.entry
    assert solr.add([{"id": "1", "signature": {"set": entry.signature}}]) == ()
    solr.commit()
    with pytest.raises(nd.SettingsError) as refused:
        nd.explain(solr, "1", "2")
    for number in ("64", "128"):
        assert number in str(refused.value)
