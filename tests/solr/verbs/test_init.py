"""init on collections of someone else's: what is added, and taken away again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from xml.etree import ElementTree

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from tests.refusals import refusal
from tests.solr import api
from tests.solr.foreign import CLASSIC, KEY, MANAGED, SCHEMA, collection

pytestmark = pytest.mark.usefixtures("home")
TEXT = ["title", "body"]
NAMES = {"id": "sku", "text": ("title", "body"), "prefix": "nd_", "has_numeric_bands": True}
PLAIN = {"id": "id", "text": ("content",), "prefix": "", "has_numeric_bands": False}
TEXTS = {
    "1": "the old shop by the harbour sells fish and bread",
    "2": "the old shop by the harbour sells fish and wine",
    "3": "nothing of that kind is to be found anywhere here",
}


def whole(solr: nd.Collection) -> object:
    """All that the Schema API says."""
    told = requests.get(f"{solr.url}/schema", timeout=60).json()["schema"]
    return {key: sorted(value, key=str) if isinstance(value, list) else value
            for key, value in told.items()}  # fmt: skip


def test_what_is_added_is_taken_away_again() -> None:
    """Nothing of the schema is changed but our fields, and afterwards it is as it was."""
    with collection() as solr:
        before = whole(solr)
        done = nd.init(solr, text=TEXT, prefix="nd_")
        assert done.is_done
        assert asdict(done.names) == NAMES
        assert set(done.fields) == {"nd_" + name for name in api.FIELDS} | {api.NOTE}
        assert asdict(solr.kept_names()) == asdict(solr.names) == NAMES
        added = api.schema_fields(solr) - set(SCHEMA_FIELDS)
        assert added == set(done.fields)
        assert nd.lint(solr, text=TEXT, prefix="nd_").dangers == ()
        again = nd.init(solr)
        assert (again.is_done, again.fields, asdict(again.names)) == (True, (), NAMES)
        assert set(nd.init(solr, remove=True, dry_run=True).fields) == set(done.fields)
        assert set(nd.init(solr, remove=True).fields) == set(done.fields)
        assert whole(solr) == before
        assert asdict(solr.kept_names()) == asdict(solr.names) == PLAIN
        assert nd.init(solr, remove=True).fields == ()


def test_an_open_collection_is_used_at_once() -> None:
    """After init the same collection is annotated, stripped, and prepared once more."""
    with collection() as solr:
        texts = {"1": "at nine", "2": "at ten", "3": "never", "4": "at once", "5": "at noon"}
        solr.add([{"sku": sku, "title": "a ferry", "body": [text]} for sku, text in texts.items()])
        solr.commit()
        for _ in range(2):  # Solr still lists the fields of the first time
            nd.init(solr, text=("title", "body"), prefix="nd_")
            assert nd.annotate(solr).annotated == 5
            assert nd.search(solr, text="a ferry at nine")[0].id == "1"
            assert nd.strip(solr).stripped == 5
            nd.init(solr, remove=True)


SCHEMA_FIELDS = [
    one.attrib["name"]
    for one in ElementTree.fromstring(SCHEMA.format(more="", key=KEY)).iter("field")
]


def test_a_dry_run_changes_nothing() -> None:
    """It says what would be added, as XML too."""
    with collection() as solr:
        before = whole(solr)
        planned = nd.init(solr, text=["title"], prefix="nd_", dry_run=True)
        assert whole(solr) == before
    assert not planned.is_done
    assert planned.is_mutable
    assert "nd_signature" in planned.fields
    assert '<field name="nd_signature" type="neardup_string" indexed="false"' in planned.xml


@pytest.mark.parametrize("factory", [CLASSIC, MANAGED.format("false")])
def test_the_xml_to_paste_is_enough(factory: str) -> None:
    """A schema that cannot be changed and gets those lines is prepared, and says so."""
    with collection(factory=factory) as solr:
        planned = nd.init(solr, text=TEXT, prefix="nd_")
        assert (planned.is_done, planned.is_mutable) == (False, False)
        assert asdict(solr.kept_names()) == PLAIN
        with refusal(SettingsError, "field-missing", "'content'", "`text`"):
            nd.init(solr)
    with collection(factory=factory, more=planned.xml) as solr:
        done = nd.init(solr)
        assert (done.is_done, done.fields, asdict(done.names)) == (True, (), NAMES)
        with refusal(SettingsError, "collection-unfit", "nd_md5_hash"):
            nd.init(solr, remove=True)


def test_documents_index_and_search_after_it() -> None:
    """connect reads the names from the schema, so that the other verbs need no options."""
    with collection() as solr:
        nd.init(solr, text=["body"], prefix="nd_")
        named = nd.connect(solr.url)
        assert asdict(named.names) == NAMES | {"text": ("body",)}
        nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], named)
        assert [match.id for match in nd.search(named, id="1")] == ["2"]
        assert [(pair.id, pair.other_id) for pair in nd.duplicates(named).pairs] == [("1", "2")]
        assert nd.lint(named).dangers == ()
        with refusal(SettingsError, "data-at-risk", "3 documents", "neardup strip"):
            nd.init(named, remove=True)


def test_marks_and_bands_work_under_a_prefix() -> None:
    """So do the verbs that ask for our fields in queries of their own."""
    with collection() as solr:
        nd.init(solr, text=["body"], prefix="nd_")
        named = nd.connect(solr.url)
        nd.index([nd.Document(id=id, text=text) for id, text in TEXTS.items()], named)
        found = nd.duplicates(named)
        assert nd.mark(named, found).marked == 2
        assert named.count(["nd_neardup_rank:0"]) == 1
        assert nd.mark(named, ()).cleared == 2
        assert nd.reband(named, bands=20, rows=5) == 3
        assert [match.id for match in nd.search(named, id="1")] == ["2"]


def test_text_fields_may_be_named_later() -> None:
    """The names in the schema are replaced, the fields stay."""
    with collection() as solr:
        nd.init(solr, text=["title"])
        done = nd.init(solr, text=["body", "x_txt"])
        assert done.fields == ()
        assert asdict(solr.kept_names()) == NAMES | {"text": ("body", "x_txt"), "prefix": ""}
        api.keep_names(solr, id="sku", text=["body"])
        assert solr.kept_names().text == ("body",)


@pytest.mark.parametrize(
    ("more", "text", "prefix", "reason"),
    [
        ("", (), "nd_", r"'content': this field does not exist; set `text` to .* text: body or t"),
        ("", ("nope",), "nd_", "'nope': this field does not exist"),
        ("", ("catchall",), "nd_", "'catchall': it cannot be read back"),
        ("", ("title",), "n-d", "`prefix` cannot be"),
        ('<field name="signature" type="text" stored="true"/>', ("title",), "",
         "'signature' already exists: it is a TextField, not a StrField; choose a `pre"),
        ('<field name="md5_hash" type="string" indexed="true" stored="true" multiValued="true"/>',
         ("title",), "", "'md5_hash' already exists: it is multi-valued"),
    ],
)  # fmt: skip
def test_what_cannot_be_prepared(
    more: str, text: tuple[str, ...], prefix: str, reason: str
) -> None:
    """Each is one clear line, and the schema stays as it was."""
    with collection(more=more) as solr:
        before = whole(solr)
        with pytest.raises(SettingsError, match=reason):
            nd.init(solr, text=text, prefix=prefix)
        assert whole(solr) == before


def test_a_dynamic_field_that_documents_have() -> None:
    """Its values are of another type than ours would be."""
    more = '<dynamicField name="nd_*" type="text" indexed="true" stored="true"/>'
    with collection(more=more) as solr:
        api.add(solr, {"sku": "1", "nd_signature": "x"})
        with refusal(SettingsError, "schema-conflict", "'nd_signature'"):
            nd.init(solr, text=["title"], prefix="nd_")


def test_another_prefix_needs_a_way_back_first() -> None:
    """Two sets of our fields would be one too many."""
    with collection() as solr:
        nd.init(solr, text=["title"], prefix="nd_")
        with refusal(SettingsError, "schema-conflict", "'nd_'", "--remove"):
            nd.init(solr, prefix="x_")


def test_fields_that_were_there_before_stay() -> None:
    """A field under one of our names that can serve is used, if empty, and never taken away."""
    more = '<field name="md5_hash" type="string" indexed="true" stored="true"/>'
    with collection(more=more) as solr:
        api.add(solr, {"sku": "1", "md5_hash": "x"})
        with refusal(SettingsError, "schema-conflict", "'md5_hash'"):
            nd.init(solr, text=["title"])
        assert [one.about for one in nd.lint(solr, text=["title"]).dangers] == ["md5_hash"]
        solr.delete_query("*:*")
        solr.commit()
        done = nd.init(solr, text=["title"])
        assert "md5_hash" not in done.fields
        assert nd.lint(solr).dangers == ()
        assert "md5_hash" not in nd.init(solr, remove=True).fields
        assert "md5_hash" in api.schema_fields(solr)


def test_several_commands_prepare_at_once() -> None:
    """All of them end well, and the fields are there once."""
    with collection() as solr, ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: nd.init(solr, text=["title"], prefix="nd_"), range(4)))
        assert all(one.is_done for one in done)
        assert nd.init(solr).fields == ()


def test_our_own_collection_has_nothing_to_add(solr: nd.Collection) -> None:
    """One of the bundled configset is as it should be, and keeps the usual names."""
    done = nd.init(solr)
    assert (done.is_done, done.fields, asdict(done.names)) == (True, (), PLAIN)
    assert nd.init(solr, remove=True).fields == ()
    assert not nd.init(solr).is_created


def test_a_note_that_is_not_understood() -> None:
    """Somebody has edited it: nothing is guessed."""
    with collection() as solr:
        api.keep_names(solr, id="sku", text=["title"])
        for default in ("{", "[]", '{"id":"sku"}', '{"id":"a b","text":["t"],"prefix":""}'):
            note = api.note(id="sku", text=["title"]) | {"default": default}
            api.change_schema(solr, {"replace-field": note})
            with pytest.raises(SettingsError, match=api.NOTE):
                nd.connect(solr.url)


def test_several_text_fields_are_left_to_their_own_program() -> None:
    """Index would put the whole text into the first one; it refuses new documents, too."""
    with collection() as solr:
        nd.init(solr, text=("title", "body"), prefix="nd_")
        new = [{"id": "2", "title": "a night ferry", "body": ["at nine"]}]
        with refusal(SettingsError, "collection-unfit", "title", "neardup annotate"):
            nd.index(new, solr, text=("title", "body"))
        with refusal(SettingsError, "collection-unfit", "title, body"):
            nd.index([("2", "a text of ours")], solr)
        assert solr.count() == 0


def test_documents_of_another_program_are_not_replaced() -> None:
    """Index refuses what would take their fields away, and says what is meant instead."""
    with collection() as solr:
        solr.add([{"sku": "1", "title": "a night ferry", "body": ["at nine"]}])
        solr.commit()
        with refusal(nd.errors.SchemaError, "fields-missing", "signature_settings"):
            nd.search(solr, id="1")
        nd.init(solr, text="title", prefix="nd_")
        nd.annotate(solr)
        before = solr.whole(["1"])
        for keep in (None, ()):
            with refusal(SettingsError, "data-at-risk", "body", "annotate -c"):
                nd.index([("1", "another text")], solr, keep=keep)
        assert solr.whole(["1"]) == before
        assert nd.index([("2", "a text of ours")], solr).indexed == 1
