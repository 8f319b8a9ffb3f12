"""Annotating a sharded collection: nodes that do not tell what they took, and changes by others."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from neardup_solr.files import solr_config
from neardup_solr.solr import admin, collection
from neardup_solr.solr.update import set_fields
from neardup_solr.verbs.annotate.whole import make_writer
from neardup_solr.verbs.field_names import own_fields
from tests.solr import theirs
from tests.solr.verbs.test_annotate_whole import is_alone, orders

COUNT = 300
BLANK = '<processor class="solr.RemoveBlankFieldUpdateProcessorFactory"/>'


@pytest.fixture
def solr(cloud: str) -> Iterator[nd.Collection]:
    """Two shards with documents that have a text and a kept column, and no field of ours."""
    made = collection.open_collection(cloud, "sharded")
    admin.create(made, configset=solr_config() / "conf", shards=2)
    made.add(
        [{"id": f"d{n}", "content": f"text number {n} of them", "n_i": n} for n in range(COUNT)]
    )
    made.commit()
    yield made
    admin.drop(made)


def kept(solr: nd.Collection) -> dict[str, tuple[str, int]]:
    """What somebody else wrote."""
    found = solr.stored(list(solr.ids()), ["content", "n_i"])
    return {one["id"]: (one["content"], one["n_i"]) for one in found}


def test_two_shards_are_annotated_and_stripped(solr: nd.Collection) -> None:
    """All documents, whichever node they are on; one changed meanwhile is redone."""

    def change(told: nd.types.Progress) -> None:
        if told.done == COUNT:
            set_fields(solr, [{"id": f"d{n}", "n_i": {"set": -n}} for n in range(1, 11)])

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


@pytest.mark.parametrize("processors", ["", BLANK], ids=["quiet", "forming"])
def test_documents_of_two_shards_are_written_whole(cloud: str, processors: str) -> None:
    """With their blank values; not those of parents, nor what others change and bear meanwhile."""
    with theirs.sharded(cloud, processors=processors) as solr:
        theirs.add(solr, theirs.documents(200))
        theirs.update(solr, {"key": "k1", "colour_s": {"set": ""}})
        way = make_writer(solr, own_fields(solr))
        assert way is not None
        assert bool(way.params) == bool(processors)
        made = orders(solr)
        whole = [one for one in way.complete(list(made.values())) if one.others is not None]
        assert {one.id for one in whole} == {id for id in made if is_alone(id)}

        def change(told: nd.types.Progress) -> None:
            if told.done == 200:
                bear = {"parts": {"add": [{"key": "k2.9", "title": "late", "count": 1}]}}
                theirs.update(solr, {"key": "k2", **bear}, commit=False)
                theirs.update(solr, {"key": "k3", "count": {"inc": 5}}, commit=False)

        before = theirs.everything(solr)
        done = nd.annotate(solr, on_progress=change)
        assert done.failed == 0
        after = theirs.everything(solr)
        assert after.pop("k2.9")["title"] == "late"
        assert after.pop("k3") == {**before.pop("k3"), "count": 8}
        assert {key: after[key] for key in before if key.startswith("k")} == {
            key: before[key] for key in before if key.startswith("k")
        }
        assert before["k1"]["colour_s"] == ""
        assert set(theirs.ours(solr)) == {id for id in made if "." not in id}


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
            assert nd.annotate(collection.open_collection(cloud, "other")).annotated == COUNT
        assert requests.get(collections, params=params, timeout=60).status_code == 200
    with pytest.raises(SettingsError, match="read-only"):
        nd.annotate(solr)
    writable = {"action": "MODIFYCOLLECTION", "collection": "sharded", "readOnly": "false"}
    assert requests.get(collections, params=writable, timeout=60).status_code == 200
    requests.get(collections, params={"action": "DELETEALIAS", "name": "other"}, timeout=60)
