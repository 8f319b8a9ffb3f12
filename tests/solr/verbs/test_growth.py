"""What annotate costs a collection of somebody else's, and what lint and init say of it before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pysolr
import pytest
import requests

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests.solr import api
from tests.solr.foreign import collection
from tests.solr.theirs import our_fields

pytestmark = pytest.mark.usefixtures("home")
TIMEOUT = 60
DRAW = random.Random(26)
WORDS = ["".join(DRAW.choices("aeioulnrstdkmp", k=DRAW.randint(3, 9))) for _ in range(4_000)]
TEXTS = {f"s{at}": " ".join(DRAW.choices(WORDS, k=200)) for at in range(600)}
# Every sixth text is another one of which some words are others.
for number in range(0, 600, 6):
    changed = TEXTS[f"s{number}"].split()
    changed[50:52] = "two", "others"
    TEXTS[f"s{number + 1}"] = " ".join(changed)
LEAN = ("md5_hash", "num_words", "first_word", "content_bands", "signature")


def filled(solr: nd.Collection) -> nd.Collection:
    """The collection with the texts, indexed by another program into a dynamic field."""
    rows = [{"sku": sku, "title": f"title {sku}", "body_txt": text} for sku, text in TEXTS.items()]
    pysolr.Solr(solr.url, timeout=TIMEOUT).add(rows, commit=True)
    return solr


@pytest.fixture(scope="module")
def shop() -> Iterator[nd.Collection]:
    """A shop that was annotated, with what was said and measured before."""
    with collection() as solr:
        nd.init(filled(solr), text="body_txt", prefix="nd_")
        nd.annotate(solr)
        yield solr


def plain(solr: nd.Collection) -> requests.Response:
    """The answer of a query that names no fields."""
    params = {"q": "*:*", "rows": "10", "defType": "lucene", "indent": "false"}
    return requests.get(f"{solr.url}/select", params=params, timeout=TIMEOUT)


def merged(solr: nd.Collection) -> int:
    """The size of the index without deleted documents."""
    pysolr.Solr(solr.url, timeout=TIMEOUT).optimize()
    return api.index_bytes(solr)


def ours(solr: nd.Collection, id: str) -> dict[str, Any]:
    """Our fields of a document."""
    return solr.document(id, ["*"])


def test_the_cost_is_what_init_said() -> None:
    """Index and answer grow by what init estimates from a sample: to no more than twice."""
    with collection() as solr:
        before, answer = merged(filled(solr)), len(plain(solr).content)
        told = nd.init(solr, text="body_txt", prefix="nd_").growth
        assert told is not None
        assert told.index_bytes == before
        nd.annotate(solr)
        added = merged(solr) - before
        each = (len(plain(solr).content) - answer) / 10
    assert added <= before
    assert added == pytest.approx(told.added_bytes, rel=0.2)
    assert each == pytest.approx(told.bytes_each, rel=0.1)
    assert f"return {told.bytes_each:,} more bytes per document" in str(told)
    peak = 2 * (before + told.added_bytes) / before
    assert f" times, up to about {peak:.1f} during writing)" in str(told)


def test_shingles_only_if_asked_for(shop: nd.Collection) -> None:
    """By default there are the fields that duplicates, bands and gate need, and no others."""
    written = {name.removeprefix("nd_") for name in plain(shop).json()["response"]["docs"][0]}
    assert written == {"sku", "title", "body_txt", "_version_", *LEAN, "signature_settings"}
    assert shop.needed_settings().fields == {"content", *LEAN}
    with collection() as solr:
        nd.init(filled(solr), text="body_txt", prefix="nd_")
        nd.annotate(solr, settings={"fields": "+content_ng"})
        assert solr.needed_settings().fields == {"content", "content_ng", *LEAN}


def test_index_writes_what_annotate_does(shop: nd.Collection) -> None:
    """New documents in a prepared collection, whether others are annotated or not."""
    texts = [nd.Document(id=id, text=TEXTS[id]) for id in ("s0", "s1", "s2")]
    fields = {"sku", "body_txt", "_version_", "signature_settings", *LEAN}
    with collection() as solr:
        nd.init(solr, text="body_txt", prefix="nd_")
        done = nd.index(texts, solr)
        assert done.settings == shop.needed_settings()
        written = plain(solr).json()["response"]["docs"][0]
        assert {name.removeprefix("nd_") for name in written} == fields
        assert [match.id for match in nd.search(solr, id="s0")] == ["s1"]
        assert nd.annotate(solr).unchanged == 3
    with collection() as solr:
        nd.init(solr, text="body_txt", prefix="nd_")
        chosen = nd.index(texts, solr, settings={"fields": "+content_ng"}).settings
        assert chosen.fields == {"content", "content_ng", *LEAN}


def test_every_verb_answers_as_in_a_collection_of_ours(shop: nd.Collection, solr_url: str) -> None:
    """The same texts, indexed by us with every field: the same pairs, matches and decisions."""
    some, text = "s6", TEXTS["s6"]
    with fresh_core(solr_url) as own:
        nd.index([nd.Document(id=id, text=one) for id, one in TEXTS.items()], own)
        new = [nd.Document(id="new", text=f"{text} more"), nd.Document(id="other", text="a b c d")]
        for one in (own, shop):
            assert [match.id for match in nd.search(one, id=some, by="bands")] == ["s7"]
            assert [match.id for match in nd.search(one, text=text, by="bands")] == [some, "s7"]
            decisions = list(nd.gate(new, one, hold=0.5))
            assert [each.action for each in decisions] == ["hold", "allow"]
            assert {match.id for match in decisions[0].matches} == {some, "s7"}
        found = [nd.duplicates(one, by="bands") for one in (own, shop)]
        assert found[0].pairs == found[1].pairs
        assert len(found[0].pairs) == 100
        facts = [nd.explain(one, some, "s7").facts for one in (own, shop)]
        ways = [{way.name: way for way in one.ways} for one in facts]
        for way in ("bands", "duplicates"):
            assert ways[0][way] == ways[1][way]
    assert nd.doctor(shop).problems == ()
    assert nd.mark(shop, found[1]).marked == 200
    assert nd.mark(shop, ()).cleared == 200


def test_an_update_by_somebody_else_keeps_our_fields(shop: nd.Collection) -> None:
    """Of a part of a document, by a program that knows nothing of us."""
    before = ours(shop, "s3")
    assert len(before["nd_content_bands"]) == 42
    update = {"sku": "s3", "title": {"set": "another"}}
    pysolr.Solr(shop.url, timeout=TIMEOUT).add([update], commit=True)
    after = ours(shop, "s3")
    assert after.pop("title") == "another"
    assert after.pop("_version_") > before.pop("_version_")
    assert after == {name: value for name, value in before.items() if name != "title"}


@pytest.mark.parametrize("numeric", [False, True])
def test_hidden_docvalues_would_be_lost(numeric: bool) -> None:
    """Why our fields are in answers: what is not (useDocValuesAsStored) goes with an update."""
    kind = "plong" if numeric else "string"
    value = [1, 2] if numeric else ["x", "y"]
    hidden = f"""<field name="shut" type="{kind}" indexed="true" stored="false" docValues="true"
        multiValued="true" useDocValuesAsStored="false"/>"""
    with collection(more=hidden) as solr:
        plain_solr = pysolr.Solr(solr.url, timeout=TIMEOUT)
        plain_solr.add([{"sku": "1", "title": "a", "shut": value}], commit=True)
        assert "shut" not in plain(solr).json()["response"]["docs"][0]
        assert solr.count([f"shut:{value[0]}"]) == 1
        plain_solr.add([{"sku": "1", "title": {"set": "b"}}], commit=True)
        assert solr.count([f"shut:{value[0]}"]) == 0


def test_collections_prepared_before_go_on() -> None:
    """Bands that are terms stay terms, whatever init and annotate are asked for now."""
    earlier = {"id": "sku", "text": ("body_txt",), "prefix": "nd_"}
    note = api.note(id="sku", text=["body_txt"], prefix="nd_")
    with collection(more=our_fields("nd_") + api.element(note)) as solr:
        named = filled(solr)
        done = nd.init(named)
        assert (done.fields, asdict(done.names)) == ((), earlier | {"has_numeric_bands": False})
        nd.annotate(named, settings=nd.Settings())  # as they were annotated then
        assert all(len(band) == 14 for band in ours(named, "s6")["nd_content_bands"])
        assert [match.id for match in nd.search(named, id="s6", by="bands")] == ["s7"]
        assert nd.annotate(named).unchanged == 600
        assert nd.reband(named, bands=20, rows=5) == 600
        assert len(ours(named, "s6")["nd_content_bands"]) == 20


def test_lint_finds_the_text_and_says_the_cost() -> None:
    """The field with the longest texts, though it is a dynamic one, in one line; and the growth."""
    with collection() as solr:
        found = {one.rule: one for one in nd.lint(filled(solr), prefix="nd_").findings}
        expected = nd.init(solr, text="body_txt", prefix="nd_", dry_run=True).growth
        assert found["text"].level == "note"
        assert found["text"].about == "body_txt"
        assert "--text-field body_txt --prefix nd_" in found["text"].remedy
        assert found["growth"].reason == str(expected)
        nd.init(solr, text="body_txt", prefix="nd_")
        nd.annotate(solr)
        assert not {"text", "growth"} & {one.rule for one in nd.lint(solr).findings}


def test_lint_without_texts_guesses_nothing() -> None:
    """An empty collection, and one whose only text is a copy of others."""
    with collection() as solr:
        assert {
            one.level for one in nd.lint(solr, prefix="nd_").findings if one.rule == "text"
        } == {"warning"}
