"""Annotating a sharded collection: nodes that do not tell what they took, and changes by others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from tests.refusals import refusal
from tests.solr import api

COUNT = 300


@pytest.fixture
def solr(cloud: str) -> Iterator[nd.Collection]:
    """Two shards with documents that have a text and a kept column, and no field of ours."""
    made = nd.connect(cloud, "sharded")
    nd.init(made, shards=2)
    made.add(
        [{"id": f"d{n}", "content": f"text number {n} of them", "n_i": n} for n in range(COUNT)]
    )
    made.commit()
    yield made
    api.drop(made)


def kept(solr: nd.Collection) -> dict[str, tuple[str, int]]:
    """What somebody else wrote."""
    found = solr.stored(list(solr.ids()), ["content", "n_i"])
    return {one["id"]: (one["content"], one["n_i"]) for one in found}


def test_two_shards_are_annotated_and_stripped(solr: nd.Collection) -> None:
    """All documents, whichever node they are on; one changed meanwhile is redone."""

    def change(told: nd.types.Progress) -> None:
        if told.done == COUNT:
            api.set_fields(solr, *[{"id": f"d{n}", "n_i": {"set": -n}} for n in range(1, 11)])

    wanted = kept(solr) | {f"d{n}": (f"text number {n} of them", -n) for n in range(1, 11)}
    done = nd.annotate(solr, on_progress=change)
    assert (done.annotated, done.failed) == (COUNT, 0)
    assert done.redone >= 8  # but for those of the first three that were written before
    assert kept(solr) == wanted
    assert nd.doctor(solr).problems == ()
    assert nd.annotate(solr).unchanged == COUNT
    assert nd.strip(solr).stripped == COUNT
    assert kept(solr) == wanted
    assert solr.count(["signature_settings:[* TO *]"]) == 0


def test_an_alias_of_one_collection_works_and_a_read_only_one_is_refused(
    solr: nd.Collection, cloud: str
) -> None:
    """Under another name all is the same; where nothing can be written one line says so."""
    collections = f"{cloud}/admin/collections"
    for params in (
        {"action": "CREATEALIAS", "name": "other", "collections": "sharded"},
        {"action": "MODIFYCOLLECTION", "collection": "sharded", "readOnly": "true"},
    ):
        if params["action"] == "MODIFYCOLLECTION":
            assert nd.annotate(nd.connect(cloud, "other")).annotated == COUNT
        assert requests.get(collections, params=params, timeout=60).status_code == 200
    with refusal(SettingsError, "data-at-risk", "read-only"):
        nd.annotate(solr)
    writable = {"action": "MODIFYCOLLECTION", "collection": "sharded", "readOnly": "false"}
    assert requests.get(collections, params=writable, timeout=60).status_code == 200
    requests.get(collections, params={"action": "DELETEALIAS", "name": "other"}, timeout=60)
