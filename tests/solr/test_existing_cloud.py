"""lint and init, there and back, on a real SolrCloud: shards, a shared configset, aliases."""

from __future__ import annotations

from dataclasses import asdict

import pytest

import neardup_solr as nd
from neardup_solr.errors import SettingsError, SolrAnswerError
from tests.refusals import refusal
from tests.solr import api
from tests.solr.foreign import CONFIG, KEY, LOG, MANAGED, SCHEMA

BOOKS, TOYS = "books", "toys"


@pytest.fixture(scope="module")
def shop(cloud: str) -> nd.Collection:
    """Two collections of someone else's on a SolrCloud, which share a configset."""
    more = '<dynamicField name="*_lost" type="text" indexed="true" stored="false"/>'
    files = {
        "solrconfig.xml": CONFIG.format(factory=MANAGED.format("true"), log=LOG, select=""),
        "managed-schema.xml": SCHEMA.format(more=more, key=KEY),
    }
    api.upload(cloud, "shop", files)
    for name, shards in ((BOOKS, 2), (TOYS, 1)):
        api.create(cloud, name, "shop", shards)
    return nd.connect(cloud, BOOKS)


def dangers(solr: nd.Collection) -> dict[str, str]:
    """The dangers of a collection, by what they are about."""
    return {one.about: one.rule for one in nd.lint(solr, text=["title"], prefix="nd_").dangers}


def test_a_way_there_and_back(shop: nd.Collection) -> None:
    """Fields are added to the shared configset, which is said, and taken out again."""
    before = api.schema_fields(shop)
    done = nd.init(shop, text=["title"], prefix="nd_")
    assert (done.is_done, done.beside) == (True, (TOYS,))
    toys = nd.connect(f"{shop.base}/{TOYS}")
    names = {"id": "sku", "text": ("title",), "prefix": "nd_", "has_numeric_bands": True}
    assert asdict(toys.names) == names
    assert toys.add([{"id": "1", "content": "a b c", "signature_settings": "x"}]) == ()
    toys.commit()
    assert toys.texts(["1"]) == {"1": "a b c"}
    toys.delete_ids(["1"])
    toys.commit()
    assert nd.init(shop, remove=True).is_done
    assert api.schema_fields(shop) == before


def test_fields_of_all_shards_are_looked_at(shop: nd.Collection) -> None:
    """Whichever shard has the one document with it."""
    numbers = range(30)
    assert shop.add([{"sku": f"{n}", "title": "word"} for n in numbers]) == ()
    for number in numbers[:6]:
        assert shop.add([{"sku": f"one{number}", f"f{number}_lost": "word"}]) == ()
    shop.commit()
    assert dangers(shop) == {f"f{number}_lost": "lost-field" for number in numbers[:6]}


def test_aliases_and_read_only_collections(shop: nd.Collection) -> None:
    """An alias of one collection is that collection; of two it cannot be written."""
    api.admin(shop.base, "collections", action="CREATEALIAS", name="one", collections=TOYS)
    api.admin(
        shop.base, "collections", action="CREATEALIAS", name="both", collections=f"{BOOKS},{TOYS}"
    )
    assert dangers(nd.connect(shop.base, "one")) == {}
    assert dangers(nd.connect(shop.base, "both"))[f"{BOOKS}, {TOYS}"] == "alias"
    api.admin(shop.base, "collections", action="MODIFYCOLLECTION", collection=TOYS, readOnly="true")
    assert dangers(nd.connect(shop.base, TOYS)) == {"readOnly": "read-only"}
    assert dangers(nd.connect(shop.base, "one")) == {"readOnly": "read-only"}
    with refusal(SolrAnswerError, "collection-read-only", "toys"):
        nd.connect(shop.base, TOYS).commit()
    api.admin(shop.base, "collections", action="CREATEALIAS", name="other", collections="one")
    assert dangers(nd.connect(shop.base, "other")) == {"readOnly": "read-only"}
    assert not nd.init(nd.connect(shop.base, "other"), text="title", dry_run=True).is_created
    with refusal(SettingsError, "collection-read-only", "'one'"):
        nd.annotate(
            shop,
            text="title",
            into=nd.connect(shop.base, "one"),
        )


def test_a_search_sees_the_added_fields_at_once(shop: nd.Collection) -> None:
    """Though nobody has committed since: it says what to do next, and no error of Solr."""
    api.admin(
        shop.base, "collections", action="MODIFYCOLLECTION", collection=TOYS, readOnly="false"
    )
    for name in (BOOKS, TOYS):  # which share the schema
        solr = nd.connect(shop.base, name)
        assert solr.add([{"sku": "last", "title": "old lamps"}]) == ()
        solr.commit()
    assert nd.init(shop, text=["title"], prefix="nd_").is_done
    for name in (BOOKS, TOYS):
        solr = nd.connect(f"{shop.base}/{name}")
        with refusal(SettingsError, "fields-missing", f"annotate -c {name}"):
            nd.search(solr, id="last")
        assert nd.doctor(solr).missing > 0
