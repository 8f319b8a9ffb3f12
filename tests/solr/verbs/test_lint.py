"""lint on real collections of someone else's: what it says is what happens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import CoreMissing, SettingsError
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr import api
from tests.solr.foreign import CLASSIC, MANAGED, SCHEMA, collection
from tests.solr.front import front
from tests.solr.theirs import our_fields

pytestmark = pytest.mark.usefixtures("home")
# What an update of a part makes of such fields: those that begin with "lost" are lost.
FIELDS = """
  <fieldType name="sorted" class="solr.SortableTextField" maxCharsForDocValues="8">
    <analyzer><tokenizer class="solr.StandardTokenizerFactory"/></analyzer>
  </fieldType>
  <field name="lost_indexed" type="text" indexed="true" stored="false"/>
  <field name="lost_cut" type="sorted" indexed="true" stored="false"/>
  <field name="lost_copy" type="text" indexed="true" stored="false"/>
  <field name="lost_all" type="text" indexed="true" stored="false" multiValued="true"/>
  <field name="gone" type="text" indexed="false" stored="false"/>
  <field name="lost_source" type="text" indexed="true" stored="false"/>
  <field name="kept_copy" type="text" indexed="true" stored="false"/>
  <field name="kept_numbers" type="plong" indexed="true" stored="false" multiValued="true"/>
  <field name="lost_hidden" type="string" indexed="true" stored="false"
         useDocValuesAsStored="false"/>
  <dynamicField name="lost_*" type="text" indexed="true" stored="false"/>
  <dynamicField name="*_k" type="string" indexed="true" stored="true" docValues="false"/>
  <dynamicField name="*_copied" type="text" indexed="true" stored="false"/>
  <copyField source="gone" dest="lost_copy"/>
  <copyField source="lost_source" dest="lost_all"/>
  <copyField source="title" dest="lost_all"/>
  <copyField source="title" dest="kept_copy"/>
  <copyField source="*_k" dest="*_copied"/>
"""
DOCUMENT = {
    "title": "word",
    "body": ["word", "more"],
    "price": 7,
    "a_s": "word",
    "a_txt": "word",
    "kept_numbers": [3, 1, 3],
    "lost_hidden": "word",
    "a_k": "word",
    "lost_indexed": "word",
    "lost_cut": "12345678 word",
    "lost_source": "special",
    "lost_other": "word",
    "gone": "word",
}
SEARCHES = {
    "title": "title:word", "body": "body:more", "price": "price:7", "a_s": "a_s:word",
    "a_txt": "a_txt:word", "kept_numbers": "kept_numbers:3", "lost_hidden": "lost_hidden:word",
    "kept_copy": "kept_copy:word", "a_copied": "a_copied:word", "catchall": "catchall:more",
    "lost_indexed": "lost_indexed:word", "lost_cut": "lost_cut:word", "lost_copy": "lost_copy:word",
    "lost_all": "lost_all:special", "lost_source": "lost_source:special",
    "lost_other": "lost_other:word",
}  # fmt: skip


def send(solr: nd.Collection, *documents: Mapping[str, Any]) -> None:
    """Add documents, or update parts of them, as another program does."""
    api.add(solr, *documents)


def rules(found: nd.types.Lint, level: str) -> dict[str, Any]:
    """The findings of a level by what they are about."""
    return {one.about: one for one in found.findings if one.level == level}


@contextmanager
def ready(more: str = "") -> Iterator[nd.Collection]:
    """A collection that has all of our fields under a prefix."""
    note = api.note(id="sku", text=["title", "body"], prefix="nd_")
    with collection(more=more + our_fields("nd_") + api.element(note)) as solr:
        yield solr


def test_lint_says_what_an_update_loses() -> None:
    """The fields that a real update of a part loses are those that lint warned of, one by one."""
    with collection(more=FIELDS) as solr:
        send(solr, {"sku": "1", **DOCUMENT})
        before = {name for name, query in SEARCHES.items() if solr.count([query])}
        warned = nd.lint(solr, text=["title"], prefix="nd_")
        send(solr, {"sku": "1", "a_txt": {"set": "word"}})
        after = {name for name, query in SEARCHES.items() if solr.count([query])}
    assert before == set(SEARCHES)
    assert before - after == {name for name in SEARCHES if name.startswith("lost_")}
    lost = {one.about for one in warned.dangers if one.rule == "lost-field"}
    assert lost == before - after
    assert {one.rule for one in warned.dangers} == {"lost-field"}


def test_only_fields_that_documents_have_are_lost() -> None:
    """A schema may have what no document uses."""
    with collection(more=FIELDS) as solr:
        send(solr, {"sku": "1", "title": "word", "price": 1})
        found = nd.lint(solr, text=["title"], prefix="nd_")
    assert [one.about for one in found.dangers] == ["lost_all"]
    assert "copied from lost_source, which is not itself stored" in found.dangers[0].reason


WRITTEN = """
  <field name="code" type="string" indexed="true" stored="false" docValues="false"/>
  <field name="other" type="string" indexed="true" stored="false" docValues="false"/>
  <field name="off" type="string" indexed="true" stored="false" useDocValuesAsStored="false"/>
  <copyField source="title" dest="other"/>
"""


@pytest.mark.parametrize("name", ["catchall", "other"])
def test_a_value_in_a_copy_that_is_only_indexed_is_a_danger(name: str) -> None:
    """One that has no source is found; of others lint says that nothing tells."""
    with ready(more=WRITTEN) as solr:
        send(solr, {"sku": "1", "title": "word", "body": "more"})
        assert {"catchall", "other"} <= rules(nd.lint(solr), "note").keys()
        send(solr, {"sku": "2", "a_s": "x", name: "by hand"})
        found = nd.lint(solr)
        assert [each.about for each in found.dangers] == [name]
        assert "1 document has" in found.dangers[0].reason
        with refusal(nd.SettingsError, "data-at-risk", f"{name}:"):
            nd.annotate(solr)
        assert solr.count([f"{name}:hand OR {name}:by\\ hand"]) == 1


def test_what_keeps_a_field_follows_from_its_type() -> None:
    """A text has no docValues; what has them only has to count them; a copy needs its source."""
    with ready(more=WRITTEN + FIELDS) as solr:
        send(solr, {"sku": "1", "title": "word", "off": "x", "code": "x", **DOCUMENT})
        advice = {each.about: each.remedy for each in nd.lint(solr).dangers}
    assert [name for name in advice if "add docValues" in advice[name]] == ["code"]
    assert "useDocValuesAsStored" in advice["off"]
    assert "lost_source" in advice["lost_all"]


def test_a_collection_that_is_fine_has_no_dangers() -> None:
    """With our fields in it, and on this machine, nothing but notes remains."""
    with ready() as solr:
        send(solr, {"sku": "1", "title": "word", "body": ["a", "b"], "price": 3, "a_s": "x"})
        found = nd.lint(solr)
        assert nd.annotate(solr).annotated == 1
    assert found.documents == 1
    assert [one for one in found.findings if one.level != "note"] == []


def test_our_own_collection_is_fine(solr: nd.Collection) -> None:
    """So is one of the bundled configset, though its schema cannot be changed."""
    assert solr.add([{"id": "1", "content": "word", "city": "Paris"}]) == ()
    solr.commit()
    found = {(one.level, one.rule) for one in nd.lint(solr).findings}
    assert found - {("note", "version")} == {("note", "schema")}  # that of an older Solr


ANONYMOUS = {"sku": "p", "title": "a", "_childDocuments_": [{"sku": "c", "title": "b"}]}
NAMED = {"sku": "p", "title": "a", "kids": [{"sku": "c", "title": "b"}]}
NEWER = SCHEMA.replace('version="1.6"', 'version="1.7"')  # nothing can be uninverted there
NO_PATH = SCHEMA.replace('<field name="_nest_path_" type="_nest_path_"/>', "")


@pytest.mark.parametrize(
    ("made", "family", "left"),
    [
        (NO_PATH, ANONYMOUS, 1),
        (NEWER, ANONYMOUS, 1),
        (NEWER, NAMED, 2),
        (SCHEMA, ANONYMOUS, 1),
        (SCHEMA, NAMED, 2),
    ],
)
def test_children_without_a_path_are_a_danger(
    made: str, family: Mapping[str, Any], left: int
) -> None:
    """An update of their parent deletes them, and only them."""
    with collection(schema=made) as solr:
        send(solr, {"sku": "alone", "title": "x"})
        assert rules(nd.lint(solr, text=["title"]), "danger") == {}
        send(solr, family)
        assert solr.count() == 3
        found = nd.lint(solr, text=["title"])
        send(solr, {"sku": "p", "a_s": {"set": "x"}})
        assert solr.count(["sku:p OR sku:c"]) == left
    assert [one.rule for one in found.dangers] == (["children"] if left == 1 else [])
    assert left == 1 or "1 document is a child" in rules(found, "note")["_root_"].reason


CHAIN = """<updateRequestProcessorChain name="mine" default="true">{before}
  <processor class="solr.DistributedUpdateProcessorFactory"/>{after}
  <processor class="solr.RunUpdateProcessorFactory"/></updateRequestProcessorChain>"""
STAMP = (
    '<processor class="solr.DefaultValueUpdateProcessorFactory"><str name="fieldName">state_s</str>'
    '<str name="value">new</str></processor>'
)
CLONE = (
    '<processor class="solr.CloneFieldUpdateProcessorFactory"><str name="source">title</str>'
    '<str name="dest">body</str></processor>'
)
# The same by name, and by a chain that only initParams choose.
NAMED_STAMP = STAMP.replace("<processor ", '<updateProcessor name="stamp" ').replace(
    "</processor>", "</updateProcessor>"
) + CHAIN.format(before="", after="").replace('"mine"', '"mine" processor="stamp"')
INIT_STAMP = CHAIN.format(before=STAMP, after="").replace('"true"', '"false"') + (
    '<initParams path="/update/**"><lst name="defaults"><str name="update.chain">mine</str></lst>'
    "</initParams>"
)


@pytest.mark.parametrize(
    ("before", "after", "danger"),
    [
        (NAMED_STAMP, "", "DefaultValueUpdateProcessorFactory"),
        (INIT_STAMP, "", "DefaultValueUpdateProcessorFactory"),
        (STAMP, "", "DefaultValueUpdateProcessorFactory"),
        ("", STAMP, None),
        ("", CLONE, "CloneFieldUpdateProcessorFactory"),
        (CLONE, "", None),
    ],
)
def test_update_chains_that_change_documents(before: str, after: str, danger: str | None) -> None:
    """A processor is a danger where, and only where, an update of another field changes values."""
    chain = CHAIN.format(before=before, after=after) if "Chain" not in before else before
    factory = MANAGED.format("true") + chain
    with collection(factory=factory) as solr:
        send(solr, {"sku": "1", "title": "word", "state_s": "old"})
        (was,) = read(solr)
        found = nd.lint(solr, text=["title"])
        send(solr, {"sku": "1", "a_s": {"set": "x"}})
        (now,) = read(solr)
    assert [one.about for one in found.dangers] == ([danger] if danger else [])
    assert (was != now) == bool(danger)


def read(solr: nd.Collection) -> list[dict[str, Any]]:
    """The values that the processors change."""
    return api.select(solr, "sku:1", fl="body,state_s")


def test_the_update_log_and_the_version() -> None:
    """Without them Solr refuses an update of a part, or cannot tell who came first."""
    with collection(log="") as solr:
        send(solr, {"sku": "1", "title": "word"})
        assert rules(nd.lint(solr, text=["title"]), "danger").keys() == {"updateLog"}
        nd.init(solr, text="title")
        with refusal(SettingsError, "data-at-risk", "updateLog"):
            nd.annotate(solr)


PARTS = """
  <fieldType name="boolean" class="solr.BoolField" docValues="{back}"/>
  <fieldType name="pdouble" class="solr.DoublePointField" docValues="{back}"/>
  <fieldType name="place" class="solr.PointType" dimension="2" subFieldType="pdouble"/>
  <fieldType name="box" class="solr.BBoxField" geo="true" numberType="pdouble"/>
  <field name="place" type="place" indexed="true" stored="true"/>
  <field name="bare" type="place" indexed="true" stored="false"/>
  <field name="box" type="box" stored="true"/>
"""


@pytest.mark.parametrize("back", ["true", "false"])
@pytest.mark.parametrize(
    ("name", "value"), [("place", "1.5,2.5"), ("bare", "1.5,2.5"), ("box", "ENVELOPE(1, 2, 4, 3)")]
)
def test_fields_that_solr_fills_from_another(name: str, value: str, back: str) -> None:
    """It cannot update a document if it also gives them back, and loses them if neither is kept."""
    is_whole = name != "bare"
    with collection(more=PARTS.format(back=back)) as solr:
        send(solr, {"sku": "1", "title": "word", name: value})
        dangers = nd.lint(solr, text=["title"]).dangers
        part = dangers[0].about if dangers else ""
        body = [{"sku": "1", "body": {"set": "more"}}]
        answer = requests.post(f"{solr.url}/update?commit=true", json=body, timeout=60)
        is_lost = bool(part) and not solr.count([f"{part}:[* TO *]"])
    rules = {each.rule for each in dangers}
    assert rules == {
        (True, "true"): {"doubled-field"}, (True, "false"): set(),
        (False, "true"): set(), (False, "false"): {"lost-field"},
    }[is_whole, back]  # fmt: skip
    assert (answer.status_code == 400) == ("doubled-field" in rules)
    assert is_lost == ("lost-field" in rules)


def test_a_copy_of_all_fields() -> None:
    """Neither copies of copies nor our note are its sources, and ours in it are told of."""
    more = '<field name="all" type="text" indexed="true" stored="false" multiValued="true"/>'
    with collection(more=f'{more}<copyField source="*" dest="all"/>') as solr:
        send(solr, {"sku": "1", "title": "word", "body": ["more"]})
        found = rules(nd.lint(solr, text=["title"]), "warning")["all"]
        assert found.rule == "copied"
        assert "--prefix" not in found.remedy
        nd.init(solr, text="title")
        mine = nd.connect(solr.base, solr.name)
        assert nd.annotate(mine).annotated == 1
        assert mine.count(["all:more", "all:word", "all:n2"]) == 1
    with collection(more=f'{more}<copyField source="sig*" dest="all"/>') as solr:
        assert "--prefix nd_" in rules(nd.lint(solr, text=["title"]), "warning")["all"].remedy
        others = nd.lint(solr, text=["title"], prefix="nd_").findings
        assert "copied" not in {each.rule for each in others}


def test_fields_that_are_stored_since_documents_came() -> None:
    """What the schema says now is not what older documents have: their values would be lost."""
    number = '<field name="count" type="plong" indexed="true" stored="{}" docValues="false"/>'
    note = '<field name="note" type="text" indexed="true" stored="{}"/>'
    more = number + note
    with collection(more=more.format("false", "false")) as solr:
        send(solr, {"sku": "1", "title": "word", "count": 7, "note": "seven"})
        send(solr, {"sku": "2", "title": "word"})
        count = {"name": "count", "type": "plong", "docValues": False}
        for changed in (count, {"name": "note", "type": "text"}):
            command = {"replace-field": changed | {"indexed": True, "stored": True}}
            requests.post(f"{solr.url}/schema", json=command, timeout=60).raise_for_status()
        send(solr, {"sku": "3", "title": "word", "count": 7, "note": "seven"})
        nd.init(solr, text="title")
        mine = nd.connect(solr.base, solr.name)
        assert rules(nd.lint(mine), "danger").keys() == {"count", "note"}
        with refusal(nd.SettingsError, "data-at-risk", "count"):
            nd.annotate(mine)
        assert mine.count(["count:7", "note:seven"]) == 2
        send(solr, {"sku": "1", "title": "word", "count": 7, "note": "seven"})
        assert nd.annotate(mine).annotated == 3


def test_ids_that_solr_analyses() -> None:
    """A document that cannot be found by its own id cannot be updated; others can."""
    schema = SCHEMA.replace('name="sku" type="string"', 'name="sku" type="text"')
    schema = re.sub('<field name="_(root|nest_path)_".*/>', "", schema)
    with collection(schema=schema) as solr:
        send(solr, {"sku": "low", "title": "word"})
        assert "sku" not in rules(nd.lint(solr, text=["title"]), "danger")
        send(solr, {"sku": "High", "title": "word"})
        assert "'High'" in rules(nd.lint(solr, text=["title"]), "danger")["sku"].reason


def test_too_few_clauses() -> None:
    """The limit that counts is the one that a query meets."""
    query = "<query><maxBooleanClauses>999</maxBooleanClauses></query>"
    with collection(factory=MANAGED.format("true") + query) as solr:
        found = rules(nd.lint(solr, text=["title"]), "warning")
    assert found.keys() == {"maxBooleanClauses"}


def test_no_unique_key() -> None:
    """Nothing can be updated then."""
    with collection(key="", log="") as solr:
        found = rules(nd.lint(solr, text=["title"]), "danger")
    assert "no unique key" in found["uniqueKey"].reason


@pytest.mark.parametrize("factory", [CLASSIC, MANAGED.format("false")])
def test_schemas_that_cannot_be_changed(factory: str) -> None:
    """The remedy is XML to paste; asking changes nothing."""
    with collection(factory=factory) as solr:
        found = rules(nd.lint(solr, text=["title"]), "warning")
        assert (
            f"neardup init {solr.place} --text-field title prints" in found["schemaFactory"].remedy
        )
        assert not nd.init(solr, text="title", dry_run=True).is_mutable
    with collection() as solr:
        assert nd.init(solr, text="title", dry_run=True).is_mutable


def test_clashes_and_texts() -> None:
    """A field of another kind under one of our names, and texts that cannot be read."""
    more = '<field name="signature" type="text" indexed="true" stored="true"/>'
    with collection(more=more) as solr:
        found = rules(nd.lint(solr, text=["catchall", "price", "nope"]), "danger")
        assert "it is a TextField, not a StrField" in found["signature"].reason
        assert "--prefix" in found["signature"].remedy
        assert "cannot be read back" in found["catchall"].reason
        assert "LongPointField, not text" in found["price"].reason
        assert "does not exist" in found["nope"].reason
        assert rules(nd.lint(solr, text=["title"], prefix="nd_"), "danger") == {}


@pytest.mark.parametrize(
    ("text", "level"),
    [(["body"], "warning"), (["title"], ""), (["title", "body"], "note"), (["note_txt"], "warning"),
     (["a_txt", "body"], "note"), ([], "")],
)  # fmt: skip
def test_text_fields_without_values(text: list[str], level: str) -> None:
    """No document is compared by them: a line says so, but not of an empty collection."""
    with collection() as solr:
        assert not any("value" in one.reason for one in nd.lint(solr, text=text).findings)
        send(solr, {"sku": "1", "title": "old word", "a_txt": "a word"}, {"sku": "2", "price": 3})
        said = [one for one in nd.lint(solr, text=text).findings if "no document" in one.reason]
        assert [one.level for one in said] == [level] * bool(level)
        assert all("title" in one.remedy and one.about not in one.remedy for one in said)


def test_defaults_of_select_do_not_matter_but_appends_do() -> None:
    """A filter that /select always adds hides documents from us."""
    hiding = MANAGED.format("true")
    config = '<lst name="appends"><str name="fq">title:x</str></lst>'
    with collection(factory=hiding, select=config) as solr:
        found = rules(nd.lint(solr, text=["title"]), "danger")
    assert found.keys() == {"/select appends fq"}


def test_a_collection_that_is_not_there(solr_url: str) -> None:
    """It is the usual error."""
    with pytest.raises(CoreMissing):
        nd.lint(nd.connect(solr_url, "nowhere"))


def test_a_field_that_left_the_schema() -> None:
    """Documents still have it, and Solr refuses to update them."""
    with collection() as solr:
        add = {"name": "old", "type": "string", "stored": True}
        api.change_schema(solr, {"add-field": add})
        send(solr, {"sku": "1", "title": "word", "old": "x"})
        api.change_schema(solr, {"delete-field": {"name": "old"}})
        found = rules(nd.lint(solr, text=["title"]), "danger")
    assert found["old"].rule == "unknown-field"


def test_a_user_who_may_not_change_the_schema() -> None:
    """Nothing is said of the schema, which another user can change."""

    def between(path: str, body: bytes, ask: Callable[[], Answer]) -> Answer:
        is_change = path.partition("?")[0].endswith("/schema") and body
        return Answer(status=403, body=b"{}") if is_change else ask()

    with collection() as solr, front(solr.base, between=between) as at:
        limited = nd.connect(at, solr.name)
        assert not [each for each in nd.lint(limited).findings if each.rule == "schema"]
        with pytest.raises(nd.errors.SolrUnauthorized):
            nd.init(limited, text="title")
