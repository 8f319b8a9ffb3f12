"""Documents that annotate writes whole: nothing in them changes, no change of others is lost."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from neardup_solr.progress import Failures
from neardup_solr.solr import update
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rate_limit import RateLimit
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row
from neardup_solr.verbs.annotate.whole import make_writer
from neardup_solr.verbs.field_names import own_fields
from tests.refusals import refusal
from tests.solr import api, foreign, quotes_uuids, theirs

TYPES = """
  <fieldType name="pfloat" class="solr.FloatPointField" docValues="true"/>
  <fieldType name="uuid" class="solr.UUIDField" docValues="true"/>
  <fieldType name="binary" class="solr.BinaryField"/>
  <fieldType name="flag" class="solr.BoolField" docValues="true"/>
  <fieldType name="sortable" class="solr.SortableTextField">
    <analyzer>
      <tokenizer class="solr.StandardTokenizerFactory"/>
      <filter class="solr.LowerCaseFilterFactory"/>
    </analyzer>
  </fieldType>
  <field name="float" type="pfloat" indexed="true" stored="true"/>
  <field name="floats" type="pfloat" indexed="true" stored="false" multiValued="true"/>
  <field name="kept_floats" type="pfloat" indexed="false" stored="true" docValues="false"
         multiValued="true"/>
  <field name="doubles" type="pdouble" indexed="true" stored="false" multiValued="true"/>
  <field name="kept_doubles" type="pdouble" stored="true" multiValued="true"/>
  <field name="longs" type="plong" indexed="true" stored="false" multiValued="true"/>
  <field name="kept_longs" type="plong" stored="true" multiValued="true"/>
  <field name="dates" type="pdate" indexed="true" stored="false" multiValued="true"/>
  <field name="kept_dates" type="pdate" stored="true" multiValued="true"/>
  <field name="flags" type="flag" indexed="true" stored="false" multiValued="true"/>
  <field name="kept_flags" type="flag" stored="true" multiValued="true"/>
  <field name="flag" type="flag" indexed="false" stored="false"/>
  <field name="uuid" type="uuid" indexed="true" stored="false"/>
  <field name="uuids" type="uuid" indexed="true" stored="true" multiValued="true"/>
  <field name="blob" type="binary" stored="true"/>
  <field name="sorted" type="sortable" indexed="true" stored="true"/>
  <field name="names" type="string" indexed="true" stored="true" multiValued="true"/>
  <field name="large" type="text" indexed="true" stored="true" large="true"/>
  <field name="seven" type="pint" indexed="false" stored="false" docValues="true" default="7"/>
  <field name="hidden" type="string" indexed="false" stored="false" docValues="true"
         multiValued="true" useDocValuesAsStored="false"/>
  <dynamicField name="*_from" type="string" indexed="true" stored="true" multiValued="true"/>
  <dynamicField name="*_copied" type="string" indexed="true" stored="false" multiValued="true"/>
  <copyField source="*_from" dest="*_copied"/>
  <copyField source="names" dest="hidden" maxChars="9"/>
  <copyField source="count" dest="all"/>
  <copyField source="weight_d" dest="all"/>
"""
STRINGS = ["", " ", "b", "a", "b", "${a}", '{"set":1}', "\x01\t\n\\", "é\u2028\U0001f600", "null"]
DATES = ["-0044-03-15T12:00:00.123Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z",
         "2026-01-02T03:04:05.060Z", "+12345-06-07T08:09:10.011Z"]  # fmt: skip
LONGS = [-(2**63), 2**63 - 1, 2**53 + 1, 0, 0, -1]
DOUBLES = [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3, 1e22, "NaN", "-Infinity", 16777217.0]
FLOATS = [0.1, 3.4028235e38, -0.0, 1e10, "NaN", "Infinity", 16777216.0, 0.33333334]
SEARCHES = (
    "longs:\\-1", "dates:[* TO 1970-01-01T00:00:00Z]", "floats:[0.05 TO 0.2]", "float:[0 TO 1]",
    "doubles:[1e300 TO *]", "flags:true", "flag:false", "uuids:*", "sorted:third", "large:word",
    "names:null", "names:\"\"", "a_copied:*", "seven:7", "hidden:a", "kept_dates:*", "all:7",
    "weird\\ name_s:x", "{!func}field(float)", "{!frange l=0 u=0.5}field(floats,min)",
)  # fmt: skip
BLANK = '<processor class="solr.RemoveBlankFieldUpdateProcessorFactory"/>'
TRIMMING = '<processor class="solr.TrimFieldUpdateProcessorFactory"/>'  # so updates are atomic


def odd_documents(count: int) -> list[dict[str, Any]]:
    """Documents with the extremes of each type in some of their fields."""
    draw = random.Random(3)

    def some(values: list[Any]) -> list[Any]:
        return draw.choices(values, k=draw.randint(1, 5))

    def floats() -> list[Any]:
        bits = [draw.getrandbits(8 + 23) | 1 << 30 for _ in range(3)]
        drawn = [struct.unpack("<f", struct.pack("<I", one))[0] for one in bits]
        return some(FLOATS) + [one if abs(one) < 3.4e38 else 1.5 for one in drawn]

    made = []
    for number, document in enumerate(theirs.documents(count)):
        document |= {
            "float": draw.choice(FLOATS), "floats": floats(), "kept_floats": floats(),
            "doubles": some(DOUBLES), "kept_doubles": [*some(DOUBLES), draw.random()],
            "longs": some(LONGS), "kept_longs": some(LONGS),
            "dates": some(DATES), "kept_dates": some(DATES),
            "flags": some([True, False]), "kept_flags": some([True, False]),
            "flag": number % 3 == 0, "blob": "AAECAwT/+vv8",
            "uuid": f"550e8400-e29b-41d4-a716-{number:012}",
            "uuids": ["550e8400-e29b-41d4-a716-446655440000"] * 2,
            "sorted": "the third Word", "names": some(STRINGS), "large": "word",
            "a_from": some(STRINGS), "weird name_s": "x", 'a"b_s': draw.choice(STRINGS),
        }  # fmt: skip
        for name in draw.sample(sorted(document.keys() - {"key", "title", "parts"}), 3):
            del document[name]
        made.append(document)
    return made


def everything(solr: nd.Collection) -> dict[str, Any]:
    """All fields of all documents, what searches find, and what functions of fields give."""
    found = theirs.everything(solr)
    ask = {"fl": "key,float:field(float),max:field(floats,max),at:field(dates,min)"}
    return found | {query: theirs.select(solr, query, **ask) for query in SEARCHES}


def orders(solr: nd.Collection) -> dict[str, Order]:
    """The atomic update of each document with a text."""
    read = solr.stored([one["key"] for one in theirs.select(solr, "*:*")], ["content", "_version_"])
    read = [one for one in read if "content" in one]
    documents = [nd.Document(id=one["id"], text=one["content"]) for one in read]
    versions = {one["id"]: one["_version_"] for one in read}
    made = update.orders(documents, versions, nd.Settings(), solr.names)
    return {order.id: order for order in made}


def is_alone(key: str) -> bool:
    """Whether one of their documents is no child and has none."""
    return "." not in key and int(key.removeprefix("k")) % 20 != 0


def written_whole(solr: nd.Collection) -> set[str]:
    """The ids of documents that are written whole."""
    way = make_writer(solr, own_fields(solr))
    assert way is not None
    made = orders(solr)
    return {order.id for order in way.complete(list(made.values())) if order.others is not None}


@pytest.fixture
def solr(home: Path) -> Iterator[nd.Collection]:
    """Their collection with some documents, of which one in 20 has children."""
    with theirs.collection() as made:
        theirs.add(made, theirs.documents(100))
        yield made


@quotes_uuids
def test_every_value_of_every_type_stays_and_searches_find_the_same(home: Path) -> None:
    """Whole or atomic comes to the same, to the last bit; parents and floats are always atomic."""
    count = 200
    after = []
    for processors in ("", TRIMMING):
        fields = TYPES if processors else TYPES.replace('type="pfloat"', 'type="pdouble"')
        with theirs.collection(processors=processors, fields=fields) as solr:
            theirs.add(solr, odd_documents(count))
            theirs.update(solr, *({"key": "k3", "seen": {"set": date}} for date in DATES))
            theirs.update(solr, {"key": "k3", "seen": {"set": "2026-01-02T03:04:05.060Z"}})
            before = everything(solr)
            assert [one for one in (*theirs.SEARCHES, *SEARCHES) if not before[one]] == []
            if processors:
                assert make_writer(solr, own_fields(solr)) is None
            else:
                assert written_whole(solr) == {id for id in orders(solr) if is_alone(id)}
            nd.annotate(solr)
            assert everything(solr) == before
            after.append(theirs.ours(solr))
            nd.strip(solr)
            assert everything(solr) == before
            assert theirs.ours(solr) == {}
    assert after[0] == after[1]
    assert len(after[0]) > count * 0.9


def test_children_that_come_meanwhile_stay(solr: nd.Collection) -> None:
    """Before the document is read whole or after, committed or not: its version has changed."""
    made = orders(solr)
    way = make_writer(solr, own_fields(solr))
    assert way is not None
    some = [made[key] for key in ("k1", "k2", "k3", "k4")]
    child = {"title": "inner late", "count": 1}

    def bear(key: str, *, commit: bool) -> None:
        theirs.update(solr, {"key": key, "parts": {"add": [{"key": f"{key}.9", **child}]}},
                      commit=commit)  # fmt: skip

    bear("k1", commit=True)
    bear("k2", commit=False)
    whole = way.complete(some)
    assert [one.others is not None for one in whole] == [False, True, True, True]
    bear("k3", commit=True)
    sent = update.send(solr, whole, way.params)
    assert (set(sent.dropped), set(sent.versions)) == ({"k1", "k2", "k3"}, {"k4"})
    done = nd.annotate(solr)
    assert done.failed == 0
    born = [one["key"] for one in theirs.select(solr, "title:late")]
    assert born == ["k1.9", "k2.9", "k3.9"]
    assert not {"k1", "k2", "k3"} & written_whole(solr)
    found = theirs.select(solr, "{!parent which='*:* -_nest_path_:*'}title:late", fl="key,nd_*")
    assert [one["key"] for one in found if "nd_md5_hash" in one] == ["k1", "k2", "k3"]


def test_a_document_that_changed_after_it_was_read_whole_is_not_written(
    solr: nd.Collection,
) -> None:
    """Neither over a change nor over a deletion."""
    made = orders(solr)
    way = make_writer(solr, own_fields(solr))
    assert way is not None
    whole = way.complete([made[key] for key in ("k1", "k2", "k3")])
    theirs.update(solr, {"key": "k1", "count": {"inc": 1}}, commit=False)  # in place, in Solr
    url = f"{solr.url}/update"
    assert requests.post(url, json={"delete": ["k2"]}, timeout=30).status_code == 200
    sent = update.send(solr, whole, way.params)
    assert (set(sent.dropped), set(sent.versions)) == ({"k1", "k2"}, {"k3"})
    solr.commit()
    assert theirs.select(solr, "key:k1", fl="count") == [{"count": 2}]
    assert theirs.select(solr, "key:k2") == []


def test_a_child_that_has_our_fields_stays_a_child(solr: nd.Collection) -> None:
    """It would become a document of its own."""
    (child,) = theirs.select(solr, "key:k0.1")
    theirs.update(solr, {"key": "k0.1", "_root_": "k0", "nd_num_words": {"set": 1}})
    before = theirs.everything(solr)
    way = make_writer(solr, own_fields(solr))
    assert way is not None
    (now,) = theirs.select(solr, "key:k0.1")
    assert now["_version_"] != child["_version_"]
    order = Order("k0.1", now["_version_"], {"nd_num_words": None})
    assert way.complete([order]) == [order]
    nd.strip(solr)
    assert theirs.everything(solr) == before


COPIED = """
  <dynamicField name="*_from" type="string" indexed="true" stored="true"/>
  <dynamicField name="*_copied" type="string" indexed="true" stored="true" multiValued="true"/>
  <copyField source="*_from" dest="*_copied"/>
"""


@pytest.mark.parametrize("processors", ["", TRIMMING], ids=["whole", "atomic"])
def test_what_is_copied_by_patterns_is_not_doubled(home: Path, processors: str) -> None:
    """An atomic update does so, and so is refused; a whole document does not."""
    with theirs.collection(processors=processors, fields=COPIED) as solr:
        theirs.add(solr, [{"key": "k1", "title": "one", "a_from": "x"}])
        before = theirs.everything(solr)
        if processors:
            with refusal(SettingsError, "data-at-risk", "a_copied", "'k1'"):
                nd.annotate(solr)
        else:
            assert nd.annotate(solr).annotated == 1
            assert theirs.everything(solr) == before


ATOMIC: dict[str, dict[str, Any]] = {
    "own processor": {"processors": TRIMMING},
    "not read exactly": {"fields": """
        <fieldType name="range" class="solr.DateRangeField"/>
        <field name="odd" type="range" indexed="true" stored="true"/>"""},
    "spelt otherwise in a copy": {"fields": '<copyField source="seen" dest="all"/>'},
}  # fmt: skip


@pytest.mark.parametrize("made", ATOMIC.values(), ids=list(ATOMIC))
def test_other_collections_are_updated_atomically(home: Path, made: dict[str, Any]) -> None:
    """And all is as before, here too."""
    with theirs.collection(**made) as solr:
        theirs.add(solr, theirs.documents(50))
        if 'name="odd"' in made.get("fields", ""):
            theirs.update(solr, {"key": "k1", "odd": {"set": "2026-01-02"}})
        before = theirs.everything(solr)
        assert make_writer(solr, own_fields(solr)) is None
        nd.annotate(solr)
        assert theirs.everything(solr) == before
        assert len(theirs.ours(solr)) == len([key for key in orders(solr) if "." not in key])


def test_a_document_with_a_field_that_came_later_is_updated_atomically(solr: nd.Collection) -> None:
    """Each document is looked at, not only what the collection had at the start."""
    way = make_writer(solr, own_fields(solr))
    assert way is not None
    added = {"add-field-type": {"name": "range", "class": "solr.DateRangeField"},
             "add-dynamic-field": {"name": "*_r", "type": "range", "stored": True}}  # fmt: skip
    assert requests.post(f"{solr.url}/schema", json=added, timeout=30).status_code == 200
    theirs.update(solr, {"key": "k1", "odd_r": {"set": "2026"}})
    made = orders(solr)
    whole = way.complete([made["k1"], made["k2"]])
    assert [one.others is None for one in whole] == [True, False]


def test_a_float_is_not_taken_through_json(home: Path) -> None:
    """Two roundings might give its neighbour."""
    with theirs.collection(fields=TYPES) as solr:
        theirs.add(solr, [{"key": "k1", "title": "a", "floats": [0.1]}])
        assert make_writer(solr, own_fields(solr)) is None


FORMING = """
    <processor class="solr.UUIDUpdateProcessorFactory"/>
    <processor class="solr.RemoveBlankFieldUpdateProcessorFactory"/>
    <processor class="solr.FieldNameMutatingUpdateProcessorFactory">
      <str name="pattern">[^\\w-\\.]</str><str name="replacement">_</str>
    </processor>
    <processor class="solr.ParseBooleanFieldUpdateProcessorFactory"/>
    <processor class="solr.ParseLongFieldUpdateProcessorFactory"/>
    <processor class="solr.ParseDoubleFieldUpdateProcessorFactory"/>
    <processor class="solr.ParseDateFieldUpdateProcessorFactory">
      <arr name="format"><str>yyyy-MM-dd['T'[HH:mm[:ss[.SSS]][z</str></arr>
    </processor>
    <processor class="solr.AddSchemaFieldsUpdateProcessorFactory">
      <str name="defaultFieldType">string</str>
    </processor>"""


def test_processors_of_the_default_configset_do_not_run_again(home: Path) -> None:
    """Blank values and names with signs, which they would take away, stay in whole documents."""
    with theirs.collection(processors=FORMING) as solr:
        theirs.add(solr, theirs.documents(50))
        assert theirs.select(solr, "key:k1", fl="body")[0]["body"][1] != ""
        odd = {"key": "k1", "title": "one", "body": ["", "x"], "code": "", "weird name_s": "01"}
        params = {"update.distrib": "NONE", "commit": "true"}
        sent = requests.post(f"{solr.url}/update", params=params, json=[odd], timeout=30)
        assert sent.status_code == 200, sent.text
        before = theirs.everything(solr)
        assert before["k1"].items() >= odd.items()
        assert written_whole(solr) == {id for id in orders(solr) if is_alone(id)}
        nd.annotate(solr)
        assert theirs.everything(solr) == before


def test_a_processor_that_kept_parameters_choose_is_seen(home: Path) -> None:
    """It would run over whole documents; Solr applies a set of parameters by its name alone."""
    kept = '{"params": {"_UPDATE": {"processor": "template", "template.field": "odd_s:x"}}}'
    with theirs.collection(parameters=kept) as solr:
        theirs.add(solr, [{"key": "k1", "title": "one"}])
        assert theirs.select(solr, "odd_s:x", fl="key") == [{"key": "k1"}]
        assert make_writer(solr, own_fields(solr)) is None


def test_a_schema_without_nested_documents_is_updated_atomically(home: Path) -> None:
    """Nothing is won there; with _root_ alone it may hold children of which nothing tells."""
    schema = foreign.SCHEMA.replace('<field name="_nest_path_" type="_nest_path_"/>', "")
    note = api.element(api.note(id="sku", text=["title"]))
    for whole, rooted in ((False, schema), (True, foreign.SCHEMA)):
        with foreign.collection(schema=rooted, more=note) as solr:
            assert (make_writer(solr, frozenset()) is not None) == whole


def test_a_processor_that_changes_more_is_found_by_the_first_document(
    solr: nd.Collection,
) -> None:
    """What no lint can see: the first document is compared whole, put back, and the run ends."""
    before = theirs.everything(solr)

    def write(found: list[Row], again: bool) -> list[Order]:
        fields = {"nd_num_words": 1, "state": "x"}
        return [Order(one["id"], one["_version_"], fields) for one in found]

    run = Rewrite(
        solr, "stripping", ["_version_"], write, RateLimit(batch=20, threads=1), Failures(None)
    )
    with refusal(SettingsError, "data-at-risk", "'k0'", "state"):
        run.run(["-_nest_path_:*"])
    assert theirs.everything(solr) == before
    assert len(theirs.ours(solr)) == 1


def test_a_refused_document_is_named_and_the_others_of_its_batch_are_written(
    solr: nd.Collection,
) -> None:
    """A chain without tolerance cuts a batch off at a bad document: the rest is sent again."""
    found = theirs.select(solr, "-_nest_path_:*", fl="key,_version_")[:20]
    made = [
        Order(one["key"], one["_version_"], {"count": "odd" if at == 7 else 77})
        for at, one in enumerate(found)
    ]
    sent = update.send(solr, made)
    assert [(one.id, "odd" in one.reason) for one in sent.refused] == [(found[7]["key"], True)]
    solr.commit()
    now = {one["key"] for one in theirs.select(solr, "count:77")}
    assert now == {one["key"] for one in found} - {found[7]["key"]}
    assert sent.versions.keys() | sent.dropped == now


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
