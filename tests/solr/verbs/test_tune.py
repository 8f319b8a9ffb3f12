"""tune and reband on a real Solr."""

from dataclasses import replace
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import DataError, SettingsError
from neardup_solr.testing import fresh_core
from tests.refusals import refusal
from tests.solr import api

ALL_FIELDS = nd.Settings().fields | {"profile_hash"}
WORDS = [f"word{at}x" for at in range(12)]
KEPT = {"city": ["Paris", "New York"], "price_i": 7, "seen_dt": "2024-01-01T00:00:00Z"}


def listings(count: int) -> list[nd.Document]:
    """Texts of which neighbours are alike; the last has no word."""
    texts = [" ".join(f"{word}{(at + n) // 5}" for n, word in enumerate(WORDS * 3))
             for at in range(count - 1)]  # fmt: skip
    return [nd.Document(id=f"d,{at}", text=text, kept=KEPT) for at, text in enumerate([*texts, ""])]


def stored(solr: nd.Collection) -> dict[str, dict[str, Any]]:
    """All fields of all documents but those that rebanding changes."""
    fields = ["*", *ALL_FIELDS, "seen_dt", "price_i"]
    changed = ("_version_", "content_bands", "signature_settings")
    found = {id: solr.document(id, fields) for id in solr.ids()}
    return {id: {k: v for k, v in each.items() if k not in changed} for id, each in found.items()}


def test_a_collection_is_tuned_as_its_file_is(solr: nd.Collection) -> None:
    """Stored signatures tell what the texts tell, and the present bands are judged as well."""
    documents = listings(60)
    nd.index(documents, solr)
    known = [("d,0", "d,1"), ("d,0", "d,30"), ("d,0", "gone")]
    by_text, by_solr = (nd.tune(source, known=known) for source in (documents, solr))
    assert by_solr.current is not None
    assert (by_solr.current.plan.bands, by_solr.current.plan.rows) == (42, 3)
    assert replace(by_solr, current=None) == by_text
    assert by_solr.absent == 1


def test_a_sample_of_a_collection(solr: nd.Collection) -> None:
    """Some documents stand for all; those of known pairs are read whether drawn or not."""
    nd.index(listings(60), solr)
    found = nd.tune(solr, sample=10, known=[("d,0", "d,1"), ("d,58", "d,57")])
    assert (found.sampled, found.documents, sum(found.agreements)) == (10, 60, 45)
    assert sum(found.known) == 2


def test_collections_that_cannot_be_tuned(solr: nd.Collection) -> None:
    """No documents, no signatures, or more hashes than are stored: each is told."""
    with refusal(SettingsError, "collection-empty"):
        nd.tune(solr)
    nd.index(
        listings(5), solr, settings=nd.Settings(fields=frozenset({"content", "content_bands"}))
    )
    with refusal(SettingsError, "fields-missing", "signature"):
        nd.tune(solr)
    with refusal(SettingsError, "fields-missing", "signature"):
        nd.reband(solr, bands=7, rows=3)


def test_more_hashes_than_stored_are_refused(solr: nd.Collection) -> None:
    """Fewer are fine: their bands can be made of what is stored."""
    nd.index(listings(20), solr)
    with refusal(SettingsError, "settings-differ", "128", "256"):
        nd.tune(solr, hashes=256)
    assert nd.tune(solr, hashes=110).choice.plan.hashes == 105
    with refusal(DataError, "argument-out-of-range", "`bands`", "25"):
        nd.reband(solr, bands=60, rows=5)
    for bands in (1, 1_000):
        with refusal(DataError, "argument-out-of-range", "`bands` and `rows`", "128"):
            nd.reband(solr, bands=bands, rows=129)


def bands_of(documents: list[nd.Document], settings: nd.Settings, solr_url: str) -> dict[str, Any]:
    """The bands that the documents get where they are indexed by these settings."""
    with fresh_core(solr_url) as other:
        nd.index(documents, other, settings=settings)
        rows = other.stored([each.id for each in documents], ["content_bands"])
    return {row["id"]: row.get("content_bands", []) for row in rows}


def test_reband_changes_bands_and_nothing_else(solr: nd.Collection, solr_url: str) -> None:
    """Bands and fingerprint are those of indexing anew; kept columns, texts and terms stay."""
    documents = listings(25)
    all_fields = nd.Settings(fields=ALL_FIELDS)
    nd.index(documents, solr, settings=all_fields)
    before = stored(solr)
    target = replace(all_fields, bands=30, rows=2)
    assert nd.reband(solr, bands=30, rows=2) == 25
    assert stored(solr) == before
    for id, bands in bands_of(documents, target, solr_url).items():
        found = solr.document(id, ["content_bands", "signature_settings"])
        assert found.get("content_bands", []) == bands
        assert found["signature_settings"] == target.fingerprint
    assert nd.search(solr, id="d,3", by="bands")
    assert nd.reband(solr, bands=30, rows=2) == 0


def test_reband_goes_on_where_it_stopped(solr: nd.Collection) -> None:
    """A collection of which a part has the new bands gets them for the rest only."""
    documents = listings(20)
    target = replace(nd.Settings(), bands=10, rows=4)
    nd.index(documents, solr)
    api.set_fields(solr, {"id": "d,3", "signature_settings": {"set": target.fingerprint}})
    solr.commit()
    assert nd.reband(solr, bands=10, rows=4) == 19
    assert set(solr.values("signature_settings")) == {target.fingerprint}


def test_reband_of_more_than_a_batch(solr: nd.Collection) -> None:
    """Pages of ids and batches of updates leave none out."""
    count = 505  # a batch has 500
    nd.index([nd.Document(id=str(at), text=f"a b c {at}") for at in range(count)], solr)
    target = replace(nd.Settings(), bands=2, rows=1)
    assert nd.reband(solr, bands=2, rows=1) == count
    assert solr.values("signature_settings") == {target.fingerprint: count}


def test_reband_leaves_what_changes_meanwhile(
    solr: nd.Collection, solr_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that another writer replaces between reading and update gets its own bands."""
    documents = listings(6)
    nd.index(documents, solr)
    newer = nd.Document(id="d,2", text="quite another text than before")
    made = nd.signature.make_band_keys
    replaced: list[nd.types.IndexSummary] = []

    def replacing(*args: Any) -> tuple[str, ...]:
        if not replaced:
            replaced.append(nd.index([newer], solr, keep=()))
        return made(*args)

    monkeypatch.setattr(nd.signature, "make_band_keys", replacing)
    target = replace(nd.Settings(), bands=10, rows=4)
    assert nd.reband(solr, bands=10, rows=4) == 6
    found = solr.document("d,2", ["content_bands", "content"])
    assert found["content"] == newer.text
    assert {"d,2": found["content_bands"]} == bands_of([newer], target, solr_url)


def test_reband_of_other_settings_is_refused(solr: nd.Collection) -> None:
    """Signatures of other shingles cannot be made of stored ones; nothing is changed."""
    nd.index(listings(5), solr)
    other = nd.Settings(shingle_size=2).fingerprint
    api.set_fields(solr, {"id": "d,3", "signature_settings": {"set": other}})
    solr.commit()
    with refusal(SettingsError, "settings-differ"):
        nd.reband(solr, bands=10, rows=3)
    assert solr.values("signature_settings") == {nd.Settings().fingerprint: 4, other: 1}


def test_reband_to_more_than_is_stored_is_refused(solr: nd.Collection) -> None:
    """Bands cannot have more hashes than a signature; nor has an empty collection any."""
    with refusal(SettingsError, "collection-empty", "neardup index"):
        nd.reband(solr, bands=10, rows=4)
    nd.index(listings(5), solr)
    with refusal(SettingsError, "argument-out-of-range", "43", "129"):
        nd.reband(solr, bands=43, rows=3)
    assert set(solr.values("signature_settings")) == {nd.Settings().fingerprint}
