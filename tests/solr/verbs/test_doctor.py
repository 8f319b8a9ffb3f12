"""doctor on a collection: what it counts, and how much of it it computes anew."""

from __future__ import annotations

from typing import Any

import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import api

COUNT = 30


@pytest.fixture
def damaged(solr: nd.Collection) -> nd.Collection:
    """A collection in which a field of every document is another one than its text gives."""
    nd.index([nd.Document(id=str(n), text=f"text number {n}") for n in range(COUNT)], solr)
    assert damages(nd.doctor(solr)) == []
    api.set_fields(solr, *[{"id": str(n), "num_words": {"set": 99}} for n in range(COUNT)])
    solr.commit()
    return solr


def damages(told: nd.types.Diagnosis) -> list[Any]:
    """What was found of fields that are not those of their texts."""
    return [one for one in told.findings if one.rule == "damaged"]


@pytest.mark.parametrize(("sample", "sampled"), [(1, 1), (10, 10), (1_000, COUNT)])
def test_a_sample_is_as_large_as_it_may_be(
    damaged: nd.Collection, sample: int, sampled: int
) -> None:
    """The same documents in every run; what is found is told of them."""
    first, second = (nd.doctor(damaged, sample=sample) for _ in range(2))
    assert first.sampled == second.sampled == sampled
    [found] = damages(first)
    assert found.about.startswith(f"{sampled} of {sampled} sampled documents, such as ")
    assert found.remedy == f"neardup annotate {damaged.place} --which all"
    assert damages(second) == [found]


def test_no_sample_finds_no_damage(damaged: nd.Collection) -> None:
    """Documents are only counted."""
    told = nd.doctor(damaged, sample=0)
    assert (told.sampled, damages(told)) == (0, [])
    assert (told.documents, told.missing) == (COUNT, 0)
    assert told.settings == {nd.Settings().fingerprint: COUNT}
    with refusal(nd.ArgumentError, "argument-out-of-range", "`sample`", "-1"):
        nd.doctor(damaged, sample=-1)


def test_without_texts_nothing_is_called_stale(solr: nd.Collection) -> None:
    """Where no text is kept, nothing tells whether it has changed, so none is computed anew."""
    documents = [nd.Document(id=str(n), text=f"text number {n}") for n in range(COUNT)]
    nd.index(documents, solr, settings={"fields": ["content_bands", "md5_hash"]})
    told = nd.doctor(solr)
    assert (told.documents, told.sampled, told.problems) == (COUNT, 0, ())
