"""duplicates by containment of a collection: excerpts of its texts are found."""

import json
from collections.abc import Callable

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.excerpts import EXCERPTS, articles, excerpts
from tests.faults.scripted import Answer
from tests.solr.front import front

FIRST = 100  # documents that are read before their lengths are known
SETTINGS = nd.Settings(fields=frozenset({"content_bands", "signature", "content"}))


@pytest.fixture
def texts() -> dict[str, str]:
    """Articles and excerpts by id."""
    whole = articles()
    return whole | excerpts(whole, changed=2)


def test_excerpts_in_a_collection_are_found(solr: nd.Collection, texts: dict[str, str]) -> None:
    """By default at least 99 of 100, by bands few, and the pairs are those of the same texts."""
    documents = [nd.Document(id=id, text=text) for id, text in texts.items()]
    nd.index(documents, solr, settings=SETTINGS)
    stored, signed = (
        nd.duplicates(each, measure="containment", settings=settings)
        for each, settings in ((solr, None), (documents, SETTINGS))
    )
    assert stored.by == "shingles"
    assert stored.pairs == signed.pairs
    assert len(stored.pairs) == EXCERPTS
    assert len(nd.duplicates(solr, measure="containment", by="bands").pairs) < EXCERPTS // 2


def test_long_texts_are_read_few_at_a_time(
    solr: nd.Collection, texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By shingles, too, as many as fit by the length of those before; the pairs are the same."""
    nd.index([nd.Document(id=id, text=text) for id, text in texts.items()], solr, settings=SETTINGS)
    whole = nd.duplicates(solr, measure="containment")
    monkeypatch.setattr(SIZES, "part_text", 20_000)
    sizes: list[int] = []

    def note(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        if b'"content"' in body and sum(sizes) < len(texts):  # later, pairs are read for a diff
            sizes.append(len(json.loads(body)["params"]["any"].split("\x1f")))
        return answer()

    with front(solr.base, between=note) as address:
        found = nd.duplicates(nd.connect(address, solr.name), measure="containment")
    assert found.pairs == whole.pairs
    assert sizes[0] == FIRST  # the next may be so many, too, as one is read ahead
    assert sum(sizes) == len(texts)
    assert max(sizes[2:]) < 40  # an article has 250 words and more


def test_a_collection_against_a_source(solr: nd.Collection, texts: dict[str, str]) -> None:
    """New excerpts are found in the collection that has the articles."""
    sides = [
        [nd.Document(id=id, text=text) for id, text in texts.items() if id.startswith(kind)]
        for kind in "ea"
    ]
    nd.index(sides[1], solr, settings=SETTINGS)
    found = nd.duplicates(sides[0], against=solr, measure="containment")
    assert found.by == "shingles"
    assert {(pair.id[1:], pair.other_id[1:]) for pair in found.pairs} == {
        (str(number), str(number)) for number in range(EXCERPTS)
    }
