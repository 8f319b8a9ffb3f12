"""A collection as somebody else made it: an own schema, an own chain, documents by plain pysolr."""

from __future__ import annotations

import random
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree

import pysolr
import requests

import neardup_solr as nd
from tests.solr import api

TIMEOUT = 60
PAGE = 10_000
PREFIX = "nd_"
NAMES = api.note(id="key", text=["title", "body"], prefix=PREFIX)
STAMPING = """<processor class="solr.TimestampUpdateProcessorFactory">
      <str name="fieldName">stamped</str>
    </processor>"""
CONFIG = """<config>
  <luceneMatchVersion>9.12</luceneMatchVersion>
  <schemaFactory class="ManagedIndexSchemaFactory">
    <bool name="mutable">true</bool>
    <str name="managedSchemaResourceName">managed-schema.xml</str>
  </schemaFactory>
  <updateHandler class="solr.DirectUpdateHandler2">
    <updateLog><str name="dir">${solr.ulog.dir:}</str></updateLog>
  </updateHandler>
  <updateRequestProcessorChain name="theirs" default="true">
    {processors}
    <processor class="solr.LogUpdateProcessorFactory"/>
    <processor class="solr.DistributedUpdateProcessorFactory"/>
    <processor class="solr.RunUpdateProcessorFactory"/>
  </updateRequestProcessorChain>
  <requestHandler name="/select" class="solr.SearchHandler"/>
</config>
"""
SCHEMA = """<schema name="theirs" version="1.6">
  <fieldType name="string" class="solr.StrField" docValues="true"/>
  <fieldType name="plong" class="solr.LongPointField" docValues="true"/>
  <fieldType name="pint" class="solr.IntPointField" docValues="true"/>
  <fieldType name="pdouble" class="solr.DoublePointField" docValues="true"/>
  <fieldType name="pdate" class="solr.DatePointField" docValues="true"/>
  <fieldType name="boolean" class="solr.BoolField"/>
  <fieldType name="location" class="solr.LatLonPointSpatialField" docValues="true"/>
  <fieldType name="nest" class="solr.NestPathField"/>
  <fieldType name="text" class="solr.TextField" positionIncrementGap="100">
    <analyzer>
      <tokenizer class="solr.StandardTokenizerFactory"/>
      <filter class="solr.LowerCaseFilterFactory"/>
    </analyzer>
  </fieldType>
  <field name="key" type="string" required="true" indexed="true" stored="true"/>
  <field name="_version_" type="plong" indexed="false" stored="false"/>
  <field name="_root_" type="string" indexed="true" stored="false" docValues="false"/>
  <field name="_nest_path_" type="nest"/>
  <field name="title" type="text" indexed="true" stored="true"/>
  <field name="body" type="text" indexed="true" stored="true" multiValued="true"/>
  <field name="all" type="text" indexed="true" stored="false" multiValued="true"/>
  <field name="shown" type="text" indexed="true" stored="true" multiValued="true"/>
  <field name="code" type="string" indexed="false" stored="false" docValues="true"/>
  <field name="tags" type="string" indexed="true" stored="false" docValues="true"
         multiValued="true"/>
  <field name="count" type="pint" indexed="false" stored="false" docValues="true"/>
  <field name="sizes" type="pint" indexed="false" stored="false" docValues="true"
         multiValued="true"/>
  <field name="place" type="location" indexed="true" stored="true"/>
  <field name="state" type="string" indexed="true" stored="true" default="new"/>
  <field name="seen" type="pdate" indexed="true" stored="true" default="NOW"/>
  <field name="open" type="boolean" indexed="true" stored="true"/>
  <field name="stamped" type="pdate" indexed="true" stored="true"/>
  <dynamicField name="*_s" type="string" indexed="true" stored="true"/>
  <dynamicField name="*_d" type="pdouble" indexed="true" stored="false"/>
  <copyField source="title" dest="all"/>
  <copyField source="body" dest="all"/>
  <copyField source="*_s" dest="all"/>
  <copyField source="title" dest="shown"/>
  <uniqueKey>key</uniqueKey>
  {own}
</schema>
"""
WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "jetty")
SEARCHES = (
    "all:amber", "all:(+cedar +delta)", "all:red", "title:ember", "body:fjord", "shown:grove",
    "tags:b", "state:new", "weight_d:[0.5 TO 0.7]", "place:[0,0 TO 30,30]", "open:true",
    "colour_s:red", "code:c7", "count:[3 TO 5]", "_nest_path_:*",
    "{!parent which='*:* -_nest_path_:*'}title:inner",
    "{!child of='*:* -_nest_path_:*'}+title:amber -_nest_path_:*",
)  # fmt: skip


@contextmanager
def collection(
    *, processors: str = "", fields: str = "", parameters: str = "{}", is_noted: bool = True
) -> Iterator[nd.Collection]:
    """An empty core with their schema, our fields added to it; spoken to by its names.

    `processors` begin its update chain; `fields` are further lines of its schema; `parameters` is
    its params.json. Without a note nothing tells its names.
    """
    url, name = api.embedded_base(), f"theirs_{uuid.uuid4().hex[:12]}"
    folder = api.configsets(url) / name
    (folder / "conf").mkdir(parents=True)
    for file, content in configset(processors, fields, parameters, is_noted).items():
        (folder / "conf" / file).write_text(content)
    api.admin(url, "cores", action="CREATE", name=name, configSet=name)
    solr = nd.connect(url, name)
    yield solr
    api.drop(solr)
    shutil.rmtree(folder)


def configset(
    processors: str = "", fields: str = "", parameters: str = "{}", is_noted: bool = True
) -> dict[str, str]:
    """The files of such a collection, by their names."""
    own = our_fields(PREFIX) + (api.element(NAMES) if is_noted else "")
    return {
        "solrconfig.xml": CONFIG.replace("{processors}", processors),
        "managed-schema.xml": SCHEMA.replace("{own}", fields + own),
        "params.json": parameters,
    }


@contextmanager
def sharded(cloud: str, *, processors: str = "") -> Iterator[nd.Collection]:
    """The same on a SolrCloud, in two shards."""
    name = f"theirs_{uuid.uuid4().hex[:12]}"
    api.upload(cloud, name, configset(processors))
    api.create(cloud, name, name, shards=2)
    solr = nd.connect(cloud, name)
    yield solr
    api.drop(solr)


def our_fields(prefix: str) -> str:
    """Our fields and their types for a schema of somebody else's, each name with a prefix."""
    ours = ElementTree.parse(api.CONFIGSET / "managed-schema.xml").getroot()
    elements = [*ours.iter("fieldType"), *ours.iter("field")]
    kept = [one for one in elements if one.tag == "fieldType" or one.get("name") in api.FIELDS]
    for one in kept:
        one.set("name", prefix + one.attrib["name"])
        if one.tag == "field":
            one.set("type", prefix + one.attrib["type"])
    return "\n".join(ElementTree.tostring(one, encoding="unicode") for one in kept)


def documents(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Documents with every kind of field; one in ten has none of most, one in 20 has children."""
    draw = random.Random(seed)
    return [_document(number, draw) for number in range(count)]


def _document(number: int, draw: random.Random) -> dict[str, Any]:
    def words(count: int) -> str:
        return " ".join(draw.choices(WORDS, k=count))

    made: dict[str, Any] = {"key": f"k{number}"}
    if number % 10 == 9:
        return made if number % 20 == 9 else made | {"title": words(4)}
    made |= {
        "title": words(5), "body": [words(20), "", words(9)], "code": f"c{number % 50}",
        "tags": draw.sample("abcde", 2), "count": number % 9, "sizes": [3, 1, 3],
        "place": f"{draw.uniform(-60, 60):.3f},{draw.uniform(-60, 60):.3f}",
        "open": number % 2 == 0, "weight_d": draw.random(), "colour_s": draw.choice(["red", "tan"]),
    }  # fmt: skip
    if number % 20 == 0:
        made["parts"] = [{"key": f"k{number}.{at}", "title": f"inner {words(2)}", "count": at}
                         for at in range(2)]  # fmt: skip
    return made


def add(solr: nd.Collection, made: Sequence[dict[str, Any]]) -> None:
    """Add documents as anybody would."""
    pysolr.Solr(solr.url, timeout=TIMEOUT).add(list(made), commit=True)


def everything(solr: nd.Collection) -> dict[str, Any]:
    """Every field of every document but ours and the version, and what all searches find."""
    found: dict[str, Any] = {}
    for one in selected(solr, "*:*", fl="*"):
        for name in [name for name in one if name.startswith(PREFIX) or name == "_version_"]:
            del one[name]
        found[one["key"]] = one
    return found | {q: [one["key"] for one in select(solr, q, fl="key")] for q in SEARCHES}


def select(solr: nd.Collection, query: str, **params: Any) -> list[dict[str, Any]]:
    """All documents that a query finds."""
    return list(selected(solr, query, **params))


def selected(solr: nd.Collection, query: str, **params: Any) -> Iterator[dict[str, Any]]:
    """As `select`, page by page."""
    data = {"q": query, "rows": PAGE, "sort": "key asc", **params}
    before, mark = "", "*"
    while mark != before:
        asked = {**data, "cursorMark": mark}
        answer = requests.post(f"{solr.url}/select", data=asked, timeout=TIMEOUT)
        assert answer.status_code == 200, answer.text
        found = answer.json()
        yield from found["response"]["docs"]
        before, mark = mark, found["nextCursorMark"]


def ours(solr: nd.Collection) -> dict[str, Any]:
    """Our fields of every document that has any."""
    found = select(solr, "*:*", fl="key,nd_*")
    return {one.pop("key"): one for one in found if len(one) > 1}


def update(solr: nd.Collection, *made: dict[str, Any], commit: bool = True) -> None:
    """Post documents or atomic updates."""
    api.add(solr, *made, commit=commit)
