"""Annotating somebody else's collection: our fields appear, nothing else changes, and back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.testing import fresh_core
from tests.refusals import refusal
from tests.solr import api, theirs

COUNT = 600
SMALL: dict[str, Any] = {"batch": 20, "threads": 1}


@pytest.fixture
def solr(home: Path) -> Iterator[nd.Collection]:
    """Their collection, empty."""
    with theirs.collection() as made:
        yield made


@pytest.fixture
def filled(solr: nd.Collection) -> nd.Collection:
    """Their collection with some documents."""
    theirs.add(solr, theirs.documents(120))
    return solr


def indexed(
    texts: dict[str, str], settings: nd.Settings, solr_url: str
) -> dict[str, dict[str, Any]]:
    """Our fields of texts, by id, as indexing writes them into a collection of ours."""
    with fresh_core(solr_url) as ours:
        nd.index([nd.Document(id=id, text=text) for id, text in texts.items()], ours,
                 settings=settings)  # fmt: skip
        rows = api.select(ours, fl="*," + ",".join(api.FIELDS))
    return {
        row["id"]: {f"nd_{name}": row[name] for name in api.FIELDS if name in row} for row in rows
    }


def texts(solr: nd.Collection) -> dict[str, str]:
    """The text of each document that has one, as annotate joins it."""
    found = theirs.select(solr, "title:* -_nest_path_:*", fl="key,title,body")
    return {one["key"]: "\n".join([one["title"], *one.get("body", [])]) for one in found}


def meanwhile(act: Callable[[], None]) -> dict[str, Any]:
    """Act once, after the first documents were read and before any is written."""
    acts = [act]
    return {"on_progress": lambda told: acts.pop()() if acts else None}


def test_every_field_and_search_is_as_before(solr: nd.Collection) -> None:
    """Stored, docValues-only, copied, dynamic and nested ones, defaults, and all searches."""
    theirs.add(solr, theirs.documents(COUNT))
    before = theirs.everything(solr)
    assert all(before[query] for query in theirs.SEARCHES)
    done = nd.annotate(solr)
    assert theirs.everything(solr) == before
    count = len(texts(solr))
    assert (done.read, done.annotated, done.without_text) == (COUNT, count, COUNT - count)
    assert (done.unchanged, done.gone, done.failed, done.redone) == (0, 0, 0, 0)
    assert nd.strip(solr).stripped == count
    assert theirs.everything(solr) == before
    assert theirs.ours(solr) == {}


def test_a_field_of_every_name_makes_no_update_a_child(home: Path) -> None:
    """With such a dynamic field Solr 9 reads {"set": …} in JSON as a child of the document."""
    ignored = '<dynamicField name="*" type="string" indexed="false" stored="false"/>'
    with theirs.collection(fields=ignored) as solr:
        theirs.add(solr, theirs.documents(60))  # those with children are updated atomically
        before = theirs.everything(solr)
        assert nd.annotate(solr).annotated == len(texts(solr)) > 40
        assert theirs.everything(solr) == before
        assert nd.strip(solr).stripped == len(texts(solr))
        assert theirs.everything(solr) == before


def test_what_is_written_is_what_indexing_would_write(filled: nd.Collection, solr_url: str) -> None:
    """Every field, over all text fields of a document."""
    settings = nd.Settings(fields=nd.Settings().fields | {"profile_hash"})
    nd.annotate(filled, settings=settings)
    assert theirs.ours(filled) == indexed(texts(filled), settings, solr_url)


def test_running_it_again_writes_only_what_is_missing_or_stale(
    filled: nd.Collection, solr_url: str
) -> None:
    """Documents that are new, whose text has changed or gone; no other gets a new version."""
    nd.annotate(filled)
    theirs.update(
        filled,
        {"key": "new", "title": "a new one"},
        {"key": "k1", "title": {"set": "another title"}},
        {"key": "k2", "title": {"set": None}, "body": {"set": None}},
        {"key": "k3", "state": {"set": "old"}},
    )
    versions = {one["key"]: one["_version_"] for one in theirs.select(filled, "*:*")}
    done = nd.annotate(filled)
    now = {one["key"]: one["_version_"] for one in theirs.select(filled, "*:*")}
    assert {key for key in now if now[key] != versions[key]} == {"new", "k1", "k2"}
    assert done.annotated == 3
    ours = theirs.ours(filled)
    assert ours["k1"] == indexed(texts(filled), done.settings, solr_url)["k1"]
    assert "k2" not in ours
    assert nd.annotate(filled, which="missing").annotated == 0


def test_missing_passes_over_stale_ones_and_all_writes_every_one(filled: nd.Collection) -> None:
    """The choice of documents is that of `which`."""
    nd.annotate(filled, query=["count:3"])
    theirs.update(filled, {"key": "k3", "title": {"set": "another title"}})
    stale = theirs.ours(filled)["k3"]
    count = len(texts(filled))
    assert nd.annotate(filled, which="missing").annotated == count - len(
        theirs.select(filled, "count:3 -_nest_path_:*")
    )
    assert theirs.ours(filled)["k3"] == stale
    assert nd.annotate(filled, which="all").annotated == count
    assert theirs.ours(filled)["k3"] != stale


def test_an_interrupted_run_goes_on_and_ends_the_same(filled: nd.Collection, solr_url: str) -> None:
    """Cut off in the middle and run again, with nothing lost and nothing written twice."""
    before = theirs.everything(filled)

    def interrupt(told: nd.types.Progress) -> None:
        if told.done >= 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nd.annotate(filled, **SMALL, on_progress=interrupt)
    done = nd.annotate(filled)
    assert done.unchanged > 0
    assert theirs.everything(filled) == before
    assert theirs.ours(filled) == indexed(texts(filled), done.settings, solr_url)


def test_a_change_between_reading_and_writing_is_kept_and_the_document_redone(
    filled: nd.Collection,
    solr_url: str,
) -> None:
    """A text changed, a document deleted: the update is dropped, the text that is there counts."""

    def change() -> None:
        theirs.update(filled, {"key": "k1", "title": {"set": "changed meanwhile"}}, commit=False)
        url, body = f"{filled.url}/update", {"delete": ["k2"]}
        assert requests.post(url, json=body, timeout=30).status_code == 200

    done = nd.annotate(filled, **meanwhile(change))
    assert (done.redone, done.gone, done.failed) == (1, 1, 0)
    found = {one["key"]: one for one in theirs.select(filled, "*:*", fl="*")}
    assert found["k1"]["title"] == "changed meanwhile"
    assert "k2" not in found
    assert theirs.ours(filled)["k1"] == indexed(texts(filled), done.settings, solr_url)["k1"]


def test_all_changes_of_a_writer_at_the_same_time_survive(filled: nd.Collection) -> None:
    """Counters that somebody else increments while documents are annotated miss no increment."""
    begun = {one["key"]: one["count"] for one in theirs.select(filled, "count:* -_nest_path_:*")}
    keys, done = [*begun] * 5, threading.Event()

    def write() -> None:
        for at in range(0, len(keys), 10):
            some = keys[at : at + 10]
            theirs.update(
                filled, *({"key": key, "count": {"inc": 1}} for key in some), commit=False
            )
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        nd.annotate(filled, **SMALL, which="all")
    writer.join()
    nd.annotate(filled)
    now = {one["key"]: one["count"] for one in theirs.select(filled, "count:* -_nest_path_:*")}
    assert now == {key: count + 5 for key, count in begun.items()}
    assert set(theirs.ours(filled)) == set(texts(filled))


def test_the_rate_is_kept_and_strip_takes_only_what_a_query_matches(filled: nd.Collection) -> None:
    """No more documents a second are written than asked for; all others keep their fields."""
    assert nd.annotate(filled, rate=120, batch=20).seconds >= 0.6
    before = theirs.ours(filled)
    chosen = {one["key"] for one in theirs.select(filled, "count:3", fl="key")} & before.keys()
    assert nd.strip(filled, query=["count:3"]).stripped == len(chosen) > 0
    assert theirs.ours(filled) == {key: before[key] for key in before.keys() - chosen}


def test_other_settings_are_refused_and_given_by_reband_or_strip(filled: nd.Collection) -> None:
    """A collection never mixes settings; the line says how it gets others, and so it does."""
    nd.annotate(filled)
    with refusal(SettingsError, "settings-differ"):
        nd.annotate(filled, settings={"hashes": 64, "bands": 20})
    with refusal(SettingsError, "settings-differ") as refused:
        nd.annotate(filled, settings={"bands": 20, "rows": 5})
    others = f"to change others: neardup strip {filled.place}, then annotate again"
    assert refused.value.next_step == (
        f"omit these settings; to change bands: neardup reband; {others}"
    )
    assert nd.reband(filled, bands=20, rows=5)
    assert nd.annotate(filled, settings={"bands": 20, "rows": 5}).annotated == 0
    nd.strip(filled)
    assert nd.annotate(filled, settings={"kind": "chars"}).annotated


LOSSY = {
    '<field name="lost" type="text" indexed="true" stored="false"/>': {"lost": "gone"},
    '<dynamicField name="*_x" type="text" indexed="true" stored="false"/>': {"any_x": "gone"},
    '<field name="kept" type="string" indexed="true" stored="false" docValues="true"'
    ' useDocValuesAsStored="false"/>': {"kept": "hidden"},
}


@pytest.mark.parametrize(("field", "values"), LOSSY.items(), ids=["indexed", "dynamic", "hidden"])
def test_a_field_that_would_be_lost_is_named_and_nothing_is_written(
    home: Path, field: str, values: dict[str, str]
) -> None:
    """Indexed only, by a dynamic field, or in docValues that are not given back."""
    with theirs.collection(fields=field) as solr:
        theirs.add(solr, [{"key": "1", "title": "one", **values}])
        (name,) = values
        for verb in (nd.annotate, nd.strip):
            with refusal(SettingsError, "data-at-risk", name, "--into OTHER"):
                verb(solr)
        assert theirs.select(solr, f"{name}:*", fl="key") == [{"key": "1"}]
        assert theirs.ours(solr) == {}


def test_documents_that_an_update_would_harm_are_refused(filled: nd.Collection) -> None:
    """It would delete children without a path; of a field that is copied to, keep only copies."""
    theirs.update(filled, {"key": "p", "title": "t", "_childDocuments_": [{"key": "c"}]})
    with refusal(SettingsError, "data-at-risk", "_root_", "--into OTHER"):
        nd.annotate(filled)
    url, body = f"{filled.url}/update", {"delete": {"query": "_root_:p"}}
    assert requests.post(url, json=body, timeout=30).status_code == 200
    theirs.update(filled, {"key": "k0a", "title": "copied", "shown": ["written"]})
    with refusal(SettingsError, "data-at-risk", "shown", "'k0a'"):
        nd.annotate(filled)
    assert theirs.ours(filled) == {}


def test_a_chain_that_stamps_updates_is_refused(home: Path) -> None:
    """Each update would give its document a new time."""
    with theirs.collection(processors=theirs.STAMPING) as solr:
        theirs.add(solr, theirs.documents(5))
        before = theirs.everything(solr)
        with refusal(SettingsError, "data-at-risk", "Timestamp", "--into OTHER"):
            nd.annotate(solr)
        assert theirs.everything(solr) == before


def test_a_default_that_came_after_the_documents_is_noticed_before_any_is_written(
    filled: nd.Collection,
) -> None:
    """An update would give it to documents that have been without it."""
    field = {"name": "late", "type": "string", "stored": True, "default": "x"}
    answer = requests.post(f"{filled.url}/schema", json={"add-field": field}, timeout=30)
    assert answer.status_code == 200, answer.text
    with refusal(SettingsError, "data-at-risk", "late", "'k0'", "default"):
        nd.annotate(filled)
    assert theirs.ours(filled) == {}


def test_documents_that_solr_refuses_stop_the_run(filled: nd.Collection) -> None:
    """A schema changed midway: a clear error, and no document loses anything."""
    before = theirs.everything(filled)

    def change() -> None:
        command = {"delete-field": {"name": "nd_num_words"}}
        answer = requests.post(f"{filled.url}/schema", json=command, timeout=30)
        assert answer.status_code == 200, answer.text

    with refusal(SolrAnswerError, "solr-refused", "nd_num_words", "neardup lint"):
        nd.annotate(filled, **meanwhile(change))
    assert theirs.everything(filled) == before
