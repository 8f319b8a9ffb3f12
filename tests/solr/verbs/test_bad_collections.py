"""Collections as people have them, bad ones too: a clear line, and nothing is lost."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import SettingsError
from tests.refusals import refusal
from tests.solr import api, has_no_finding
from tests.solr.foreign import KEY, SCHEMA, collection

pytestmark = pytest.mark.usefixtures("home")
EMPTY_ONES = 30_000
TYPES = """
  <fieldType name="pint" class="solr.IntPointField" docValues="true"/>
  <fieldType name="pdouble" class="solr.DoublePointField" docValues="true"/>
  <fieldType name="pdate" class="solr.DatePointField" docValues="true"/>
  <fieldType name="boolean" class="solr.BoolField"/>
  <field name="pages" type="pint" indexed="true" stored="true"/>
  <field name="weight" type="pdouble" indexed="true" stored="true"/>
  <field name="printed" type="pdate" indexed="true" stored="true"/>
  <field name="sold" type="boolean" indexed="true" stored="true"/>
  <field name="blurb" type="string" indexed="true" stored="true"/>
"""


def filled(solr: nd.Collection, *documents: dict[str, Any], text: str = "body") -> nd.Collection:
    """Their documents in it, our fields in its schema; spoken to by its names."""
    api.add(solr, *documents)
    nd.init(solr, text=[text], prefix="nd_")
    return nd.connect(solr.base, collection=solr.name)


def whole(solr: nd.Collection) -> list[dict[str, Any]]:
    """All fields of all documents, but their versions."""
    found = solr.whole(list(solr.ids()))
    return sorted(
        ({name: value for name, value in one.items() if name != "_version_"} for one in found),
        key=lambda one: str(one["sku"]),
    )


def watched(solr: nd.Collection) -> tuple[nd.types.AnnotateSummary, dict[int, int]]:
    """What a run did, and the most memory that it had in each 10,000 documents, in bytes."""
    most: dict[int, int] = {}

    def look(told: nd.types.Progress) -> None:
        part = (told.done - 1) // 10_000
        most[part] = max(most.get(part, 0), tracemalloc.get_traced_memory()[0])

    tracemalloc.start()
    done = nd.annotate(solr, on_progress=look)
    tracemalloc.stop()
    return done, most


@has_no_finding
def test_very_many_documents_without_text() -> None:
    """They are passed over page by page, are not written, and doctor counts them."""
    with collection() as made:
        silent = [{"sku": f"s{n}", "price": n} for n in range(EMPTY_ONES)]
        solr = filled(made, *silent, {"sku": "t", "body": ["one text"]})
        newest = solr.state().version
        assert nd.annotate(solr, query=["sku:t"]).annotated == 1
        written = solr.state().version
        done, most = watched(solr)
        assert (done.read, done.without_text, done.unchanged) == (EMPTY_ONES + 1, EMPTY_ONES, 1)
        assert solr.state().version == written > newest
        assert most[2] < 1.25 * most[1]  # pages of ids, however many there are
        told = nd.doctor(solr)
        assert (told.documents, told.without_text, told.missing) == (EMPTY_ONES + 1, EMPTY_ONES, 0)
        (found,) = told.findings
        assert (found.rule, found.about) == ("no-text", "30,000 of 30,001 documents")
        assert found.remedy.endswith(f": neardup init {solr.place} --text-field FIELD")
        assert nd.strip(solr).stripped == 1


def test_text_that_cannot_be_searched_may_be_missing() -> None:
    """A text field that is only stored: doctor says what it does not know."""
    more = '<field name="raw" type="text" indexed="false" stored="true"/>'
    with collection(more=more) as made:
        solr = filled(made, {"sku": "1", "raw": "one text"}, {"sku": "2"}, text="raw")
        assert nd.annotate(solr).annotated == 1
        told = nd.doctor(solr)
        assert (told.missing, told.without_text) == (1, None)
        assert told.findings[0].reason == "perhaps with text, but without neardup fields"


@has_no_finding
def test_html_and_arrays_of_texts() -> None:
    """HTML counts as text and doctor says so; values of a list are joined; strip gives all back."""
    values = ["<p class='x'>one two</p>", "", "three <br/> four"]
    with collection() as made:
        solr = filled(made, {"sku": "1", "body": values, "a_s": "kept"})
        before = whole(solr)
        assert nd.annotate(solr).annotated == 1
        assert solr.document("1", ["num_words"]) == {"num_words": 9}
        assert solr.texts(["1"]) == {"1": "\n".join(values)}
        assert [one.rule for one in nd.doctor(solr).findings] == ["html"]
        assert nd.strip(solr).stripped == 1
        assert whole(solr) == before


@pytest.mark.parametrize("field", ["pages", "weight", "printed", "sold", "price"])
def test_fields_that_hold_no_text(field: str) -> None:
    """Numbers, dates and switches are no texts; fields that may hold some are named, not ours."""
    with collection(more=TYPES) as made:
        solr = filled(made, {"sku": "1", "blurb": "a text"}, text="blurb")
        wrong = f"'{field}': its type is .*, not text; set `text` to .* text: body or title or bl"
        with pytest.raises(SettingsError, match=wrong):
            nd.init(solr, text=[field])
        (danger,) = nd.lint(solr, text=[field]).dangers
        assert (danger.rule, danger.about) == ("text", field)
        other = solr.with_names(replace(solr.names, text=(field,)))
        with pytest.raises(SettingsError, match=wrong):
            nd.annotate(other, into=solr.beside("nowhere"))
        assert nd.annotate(solr).annotated == 1


def test_a_collection_of_someone_else_is_not_written_into(solr: nd.Collection) -> None:
    """Documents would be replaced, other fields and all: refused, and they stay as they are."""
    with collection() as made, collection() as theirs:
        source = filled(made, {"sku": "1", "body": ["a text"]})
        target = filled(theirs, {"sku": "1", "body": ["theirs"], "a_s": "kept"})
        assert nd.annotate(target).annotated == 1
        before = whole(target)
        reason = "has documents with the fields a_s, catchall, which would be replaced; name"
        with pytest.raises(SettingsError, match=reason):
            nd.annotate(source, into=target)
        assert whole(target) == before
        assert nd.annotate(source, into=solr).annotated == 1
        assert nd.annotate(source, into=solr).unchanged == 1
        assert solr.add([{"id": "2", "content": "a text", "city": "kept"}]) == ()
        solr.commit()
        with refusal(SettingsError, "collection-unfit", "city"):
            nd.annotate(source, into=solr)


def test_select_that_wants_all_words() -> None:
    """Where q.op is AND by default, strip still finds documents with some of our fields."""
    with collection() as made:
        solr = filled(made, {"sku": "1", "body": ["a text"]}, {"sku": "2", "title": "b"})
        nd.init(solr, text=["title", "body"])
        solr = nd.connect(solr.base, collection=solr.name)
        before = whole(solr)
        assert nd.annotate(solr).annotated == 2
        assert nd.doctor(solr).without_text == 0
        assert nd.strip(solr).stripped == 2
        assert whole(solr) == before
        assert nd.init(solr, remove=True).is_done


@has_no_finding
def test_an_empty_collection() -> None:
    """No field can be lost where no document is; fields of later ones are a warning."""
    more = '<field name="searched" type="text" indexed="true" stored="false"/>'
    with collection(more=more) as made:
        solr = filled(made)
        assert nd.lint(solr).dangers == ()
        assert "searched" in [one.about for one in nd.lint(solr).findings]
        assert nd.annotate(solr).read == nd.strip(solr).stripped == 0
        assert nd.doctor(solr).findings == ()


@has_no_finding
def test_numbers_as_unique_keys() -> None:
    """A key of an old numeric type is read and written as it is, and its name is kept."""
    numbers = SCHEMA.replace('name="sku" type="string"', 'name="nr" type="tlong"')
    numbers = numbers.replace('name="_root_" type="string"', 'name="_root_" type="tlong"')
    more = '<fieldType name="tlong" class="solr.TrieLongField" docValues="true"/>'
    key = KEY.replace("sku", "nr")
    with collection(schema=numbers, more=more, key=key) as made:
        documents = [{"nr": n, "body": [f"text number {n}"]} for n in (-3, 0, 7, 10**15)]
        api.add(made, *documents)
        assert [one.about for one in nd.lint(made).findings if one.rule == "names"] == ["nr"]
        nd.init(made, text=["body"])
        solr = nd.connect(made.base, collection=made.name)
        assert nd.annotate(solr).annotated == 4
        assert nd.doctor(solr).findings == ()
        assert solr.texts(["-3"]) == {"-3": "text number -3"}
        assert nd.strip(solr).stripped == 4


def test_a_dry_run_of_the_way_back_says_what_stands_in_it() -> None:
    """It refuses what the real one would refuse."""
    with collection() as made:
        solr = filled(made, {"sku": "1", "body": ["a text"]})
        nd.annotate(solr)
        for dry_run in (True, False):
            with refusal(SettingsError, "data-at-risk", "1 document"):
                nd.init(solr, remove=True, dry_run=dry_run)
