"""No batch is written that would lose anything of others, whichever verb writes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from neardup_solr.testing import SIZES
from tests.refusals import refusal
from tests.solr import api, foreign, theirs

FIELDS = """
  <field name="stock_left" type="pint" indexed="true" stored="false" docValues="false"/>
  <field name="kept_apart" type="pint" indexed="false" stored="false" docValues="true"
         useDocValuesAsStored="false"/>
  <field name="label" type="string" indexed="true" stored="true"/>
  <field name="size_text" type="string" indexed="true" stored="true"/>
  <field name="size" type="pint" indexed="true" stored="true"/>
  <field name="badge_list" type="text" indexed="true" stored="true" multiValued="true"/>
  <field name="seen_text" type="text" indexed="true" stored="true" multiValued="true"/>
  <field name="only_found" type="text" indexed="true" stored="false" multiValued="true"/>
  <dynamicField name="*_x" type="text" indexed="true" stored="false"/>
  <dynamicField name="*_from" type="string" indexed="true" stored="true"/>
  <dynamicField name="*_twice" type="text" indexed="true" stored="true" multiValued="true"/>
  <copyField source="size_text" dest="size"/>
  <field name="badges" type="string" indexed="true" stored="false" docValues="true"
         multiValued="true"/>
  <field name="noted" type="pdate" indexed="true" stored="true"/>
  <copyField source="badges" dest="badge_list"/>
  <field name="flag" type="boolean" indexed="true" stored="true"/>
  <field name="number" type="pint" indexed="true" stored="true"/>
  <field name="weight" type="pdouble" indexed="true" stored="true"/>
  <copyField source="flag" dest="seen_text"/>
  <copyField source="number" dest="seen_text"/>
  <copyField source="weight" dest="seen_text"/>
  <field name="rank" type="pint" indexed="false" stored="false" docValues="true"/>
  <copyField source="rank" dest="seen_text"/>
  <copyField source="noted" dest="seen_text"/>
  <copyField source="label" dest="only_found"/>
  <copyField source="label" dest="label_copy_s" maxChars="3"/>
  <copyField source="*_from" dest="*_twice"/>
  <fieldType name="ranks" class="solr.RankField"/>
  <fieldType name="analyzed" class="solr.PreAnalyzedField"/>
  <fieldType name="bare" class="solr.LatLonPointSpatialField" docValues="false"/>
  <field name="clicks" type="ranks"/>
  <field name="tokens" type="analyzed" indexed="true" stored="true"/>
  <field name="spot" type="bare" indexed="true" stored="false"/>
  <fieldType name="sort_key" class="solr.CollationField" language="de" strength="primary"/>
  <field name="in_order" type="sort_key" indexed="true" stored="false" docValues="true"/>
  <fieldType name="parts" class="solr.PointType" dimension="2" subFieldSuffix="_part"/>
  <dynamicField name="*_part" type="pdouble" indexed="true" stored="true" multiValued="true"/>
  <field name="venue" type="parts" indexed="true" stored="true"/>
  <dynamicField name="*_folded" type="text" indexed="true" stored="false"/>
  <copyField source="*_from" dest="*_folded"/>
"""
TRIMMING = '<processor class="solr.TrimFieldUpdateProcessorFactory"/>'  # or it is written whole
# What a document has, the field that an update of it would lose, and a query that finds it.
LOSSES: dict[str, tuple[dict[str, Any], str, str]] = {
    "indexed": ({"stock_left": 7}, "stock_left", "stock_left:7"),
    "dynamic": ({"note_x": "seven"}, "note_x", "note_x:seven"),
    "docvalues": ({"kept_apart": 7}, "kept_apart", "{!frange l=7 u=7}kept_apart"),
    "written": ({"shown": ["seven"]}, "shown", "shown:seven"),
    "twin": ({"body": ["t seven"], "shown": ["t seven"]}, "shown", 'shown:"t seven"'),
    "repeated": ({"badge_list": ["a", "a"], "badges": ["a"]}, "badge_list", "badge_list:a"),
    "number": ({"size": 7}, "size", "size:7"),
    "spelling": ({"weight": "1.50"}, "seen_text", "seen_text:1.50"),
    "order": ({"badges": ["z", "a"]}, "badge_list", 'badge_list:"z a"~101'),
    "moved": ({"rank": 3, "number": 7}, "seen_text", "seen_text:7"),
    "date": ({"noted": "2026-01-02T00:00:00Z"}, "seen_text", "seen_text:02t00"),
    "searched": ({"only_found": ["seven"]}, "only_found", "only_found:seven"),
    "pattern": ({"a_from": "seven"}, "a_twice", "a_twice:seven"),
    "folded": ({"b_folded": "seven", "c_from": "t"}, "b_folded", "b_folded:seven"),
    "rank": ({"clicks": 7.5}, "clicks", "{!rank f=clicks}"),
    "analyzed": ({"tokens": '{"v":"1","str":"shown","tokens":[{"t":"seven"}]}'},
                 "tokens", "{!raw f=tokens}seven"),
    "point": ({"spot": "45,9"}, "spot", "{!geofilt sfield=spot pt=45,9 d=1}"),
    "sort key": ({"in_order": "seven"}, "in_order", "in_order:SEVEN"),
    "part": ({"venue": "1.5,2.5"}, "venue_0_part", "venue_0_part:1.5"),
    "children": ({"_childDocuments_": [{"key": "child"}]}, "_root_", "key:child"),
    "named": ({"kids": [{"key": "kid", "title": "u", "stock_left": 7}]},
              "stock_left", "stock_left:7"),
}  # fmt: skip
FINE: list[dict[str, Any]] = [
    {"label": "longer than three", "number": 12, "flag": True, "weight": 1e10},
    {"size_text": "12", "weight": 0.0001, "rank": 1, "badges": ["a", "z"]},
    {"body": ["one", "one"], "kids": [{"key": "well", "title": "placed"}]},
]


@pytest.fixture(scope="module")
def solr(home: Path) -> Iterator[nd.Collection]:
    """A collection in which nothing would be lost, annotated by updates of fields."""
    with theirs.collection(processors=TRIMMING, fields=FIELDS) as made:
        theirs.add(made, theirs.documents(30))
        theirs.add(
            made, [{"key": f"fine{at}", "title": "t", **each} for at, each in enumerate(FINE)]
        )
        nd.annotate(made)
        yield made


def is_found(solr: nd.Collection, query: str) -> bool:
    """Whether a query finds a document."""
    return bool(theirs.select(solr, query))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_document_that_would_lose_something_stops_the_run(solr: nd.Collection, loss: str) -> None:
    """It is named with the field, its batch is not written, and without it the run goes on."""
    fields, name, query = LOSSES[loss]
    before = theirs.everything(solr)
    theirs.add(solr, [{"key": "first", "title": "t"}, {"key": "last", "title": "t", **fields}])
    assert is_found(solr, query)
    with pytest.raises(SettingsError) as refused:
        nd.annotate(solr)
    assert name in refused.value.reason
    assert theirs.ours(solr).keys().isdisjoint({"first", "last"})
    assert is_found(solr, query)
    solr.delete_query("key:(last OR first) OR _root_:last")
    solr.commit()
    theirs.add(solr, [{"key": "mended", "title": "t"}])
    nd.annotate(solr)
    assert "mended" in theirs.ours(solr)
    solr.delete_ids(["mended"])
    solr.commit()
    assert theirs.everything(solr) == before


def test_one_document_in_many_is_found_where_it_is(solr: nd.Collection) -> None:
    """Batches before it are written, its own is not."""
    many = [{"key": f"z{at:04}", "title": f"t {at}"} for at in range(700)]
    theirs.add(solr, [*many[:650], many[650] | {"shown": ["seven"]}, *many[651:]])
    with refusal(SettingsError, "data-at-risk", "shown", "'z0650'"):
        nd.annotate(solr, query="key:z*", batch=50, threads=1)
    solr.commit()
    ours = theirs.ours(solr).keys()
    assert {one["key"] for one in many[:650]} <= ours
    assert ours.isdisjoint(one["key"] for one in many[650:])
    assert is_found(solr, "shown:seven")
    theirs.add(solr, [many[650]])
    assert nd.annotate(solr, query="key:z*").failed == 0
    assert {one["key"] for one in many} <= theirs.ours(solr).keys()


class Follower(threading.Thread):
    """A follower of a collection, and the error that ends it."""

    def __init__(self, solr: nd.Collection) -> None:
        super().__init__()
        self.solr = solr
        self.error: SettingsError | None = None

    def run(self) -> None:
        own = nd.connect(self.solr.base, self.solr.name)
        try:
            nd.annotate(own, follow=True)
        except SettingsError as error:
            self.error = error

    def wait_for(self, documents: int) -> None:
        """Wait until so many documents are annotated."""
        end = time.monotonic() + 180
        while len(theirs.ours(self.solr)) < documents and time.monotonic() < end:
            time.sleep(0.1)


@contextmanager
def following() -> Iterator[tuple[nd.Collection, Follower]]:
    """Yield a collection of three documents, and a follower that has annotated them."""
    with theirs.collection(fields=FIELDS) as solr:
        theirs.add(solr, theirs.documents(3))
        follower = Follower(solr)
        follower.start()
        follower.wait_for(3)
        yield solr, follower


def test_a_follower_exits_before_it_writes_such_a_document(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a document that comes later everything stays, and the error names it."""
    monkeypatch.setattr(SIZES, "follow_pause", 0.1)
    with following() as (solr, follower):
        theirs.add(solr, [{"key": "late", "title": "new", "stock_left": 7}])
        follower.join(180)
        assert "stock_left: the document 'late'" in str(follower.error)
        assert is_found(solr, "stock_left:7")
        assert "late" not in theirs.ours(solr)


def test_a_follower_goes_by_the_schema_of_now(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy that is added while it works is no field of its own, and a value in it is seen."""
    monkeypatch.setattr(SIZES, "follow_pause", 0.1)
    with following() as (solr, follower):
        kinds = {"type": "string", "indexed": True, "stored": True, "multiValued": True}
        change = {
            "add-field": {"name": "labels", **kinds},
            "add-copy-field": {"source": "label", "dest": "labels"},
        }
        requests.post(f"{solr.url}/schema", json=change, timeout=60).raise_for_status()
        theirs.add(solr, [{"key": "fine", "title": "new", "label": "a"}])
        follower.wait_for(4)
        (fine,) = theirs.select(solr, "key:fine", fl="labels")
        assert fine == {"labels": ["a"]}
        theirs.add(solr, [{"key": "late", "title": "new", "label": "a", "labels": ["own"]}])
        (before,) = theirs.select(solr, "key:late", fl="labels")
        follower.join(180)
        assert "labels: the document 'late'" in str(follower.error)
        assert theirs.select(solr, "key:late", fl="labels") == [before]
        assert "late" not in theirs.ours(solr)


@pytest.mark.parametrize("kept", ["number", "pattern"])
def test_what_a_document_that_is_written_whole_keeps_is_no_loss(home: Path, kept: str) -> None:
    """A target without a source, and one of a pattern, are written as they are."""
    fields, name, query = LOSSES[kept]
    with theirs.collection(fields=FIELDS) as solr:
        theirs.add(solr, [{"key": "a", "title": "t", **fields}])
        (before,) = theirs.select(solr, query, fl=f"key,{name}")
        assert nd.annotate(solr).annotated == 1
        assert theirs.select(solr, query, fl=f"key,{name}") == [before]


WRITERS: dict[str, Callable[[nd.Collection], object]] = {
    "strip": nd.strip,
    "mark": lambda solr: nd.mark(solr, nd.duplicates(solr), yes=True),
    "reband": lambda solr: nd.reband(solr, bands=20, rows=5),
}


@pytest.mark.parametrize("verb", WRITERS)
def test_other_writers_look_too(home: Path, verb: str) -> None:
    """strip, mark and reband write documents anew, and refuse one that would lose a field."""
    with theirs.collection(fields=FIELDS) as solr:
        theirs.add(solr, [{"key": at, "title": "one and the same title"} for at in "ab"])
        nd.annotate(solr)
        row = theirs.select(solr, "key:b")[0]
        theirs.add(solr, [{**{n: v for n, v in row.items() if n[0] != "_"}, "stock_left": 7}])
        with refusal(SettingsError, "data-at-risk", "stock_left"):
            WRITERS[verb](solr)
        assert is_found(solr, "stock_left:7")
        assert not is_found(solr, " OR ".join(f"nd_{name}:*" for name in api.MARKS))


def change_schema(solr: nd.Collection, **commands: object) -> None:
    """Change a schema by commands of the Schema API."""
    made = {name.replace("_", "-"): command for name, command in commands.items()}
    requests.post(f"{solr.url}/schema", json=made, timeout=60).raise_for_status()


LABELS = """
  <field name="labels" type="string" indexed="true" stored="true" multiValued="true"/>
"""


@pytest.mark.parametrize("undo", [True, False], ids=["undo", "mark"])
def test_marks_go_by_the_schema_of_now(
    home: Path, monkeypatch: pytest.MonkeyPatch, undo: bool
) -> None:
    """A copy that is added during the run changes no value: the next batch is refused."""
    monkeypatch.setattr(SIZES, "mark_batch", 1)
    with theirs.collection(fields=FIELDS + LABELS) as solr:
        theirs.add(solr, [{"key": at, "title": "one and the same title"} for at in "abc"])
        nd.annotate(solr)
        (cluster,) = nd.duplicates(solr).clusters
        nd.mark(solr, [cluster])
        turned = replace(cluster, canonical="c", members=cluster.members[::-1])
        theirs.update(solr, *({"key": at, "labels": {"set": ["own"]}} for at in "abc"))
        source = "title" if undo else "nd_neardup_rank"

        def change(told: nd.types.Progress) -> None:
            if told.done == 1:
                copy = {"source": source, "dest": "labels"}
                change_schema(solr, add_copy_field=copy)

        with refusal(SettingsError, "data-at-risk", "labels:"):
            nd.mark(solr, () if undo else [turned], on_progress=change)
        solr.commit()
        assert {tuple(row["labels"]) for row in theirs.select(solr, "key:*")} == {("own",)}


def test_a_copy_into_another_collection_goes_by_the_schema_of_now(home: Path) -> None:
    """A value that is only found since the schema has changed is seen, and not replaced."""
    own = (api.CONFIGSET / "managed-schema.xml").read_text("utf-8")
    own = own.replace("{", "{{").replace("}", "}}")
    with theirs.collection() as solr, foreign.collection(schema=own) as other:
        theirs.add(solr, [{"key": at, "title": "new text"} for at in "abc"])
        nd.index([(at, "old text") for at in "abc"], other)
        kinds = {"name": "note", "type": "int", "indexed": True, "docValues": False}
        change_schema(other, add_field={**kinds, "stored": True})

        def change(told: nd.types.Progress) -> None:
            if told.done == 1:
                theirs.add(other, [{"id": "z", "content": "another", "note": 1}])
            if told.done == 2:
                change_schema(other, replace_field={**kinds, "stored": False})
                theirs.add(other, [{"id": "c", "content": "old text", "note": 7}])

        with refusal(SettingsError, "data-at-risk", "note:", "'c'"):
            nd.annotate(solr, into=other, batch=1, on_progress=change)
        other.commit()
        assert other.count(["note:7"]) == 1


def test_documents_of_another_collection_are_not_replaced(home: Path) -> None:
    """annotate --into looks at each batch of what it would replace."""
    with theirs.collection() as solr, theirs.collection() as other:
        theirs.add(solr, [{"key": "a", "title": "new text"}])
        theirs.add(other, [{"key": "a", "title": "old text", "count": 7}])
        with refusal(SettingsError, "collection-unfit", "count"):
            nd.annotate(solr, into=other)
        assert is_found(other, "count:7")
