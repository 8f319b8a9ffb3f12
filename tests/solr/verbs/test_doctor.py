"""doctor on a collection: what it counts, and how much of it it computes anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import neardup_solr as nd
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr import api
from tests.solr.front import front

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


def test_the_disk_of_the_index_counts(solr: nd.Collection) -> None:
    """It may be another one than that of the server: here one with five megabytes left."""

    def between(path: str, body: bytes, ask: Callable[[], Answer]) -> Answer:
        answer = ask()
        if "/admin/metrics" not in path:
            return answer
        full = re.sub(rb'("CORE.fs.usableSpace": ?)\d+', rb"\g<1>5242880", answer.body)
        of_10 = rb'(solr_core_disk_space_megabytes\{.*usable_space"\}) \S+'
        return replace(answer, body=re.sub(of_10, rb"\1 5.0", full))

    nd.index([nd.Document(id="1", text="one two three")], solr)
    assert nd.doctor(solr).problems == ()
    with front(solr.base, between=between) as address:
        (found,) = nd.doctor(nd.connect(address, solr.name)).problems
    assert (found.rule, found.about) == ("disk", "5 MB free")
