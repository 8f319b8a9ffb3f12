"""connect, init, settle and delete on a real Solr: who may create a core, and what is counted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import neardup_solr as nd
from tests.refusals import refusal
from tests.solr import api

AT_ONCE = 4


@pytest.fixture
def name(solr_url: str) -> Iterator[str]:
    """The name of a core that is not there; taken away where the test creates it."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    made = nd.connect(solr_url, name)
    if api.exists(made):
        api.drop(made)


@pytest.fixture
def embedded(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a core that is not there, with the embedded Solr as the one to work with."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    name = f"test_{uuid.uuid4().hex[:12]}"
    yield name
    made = nd.connect(collection=name)
    if api.exists(made):
        api.drop(made)


def test_only_create_makes_a_core_of_the_embedded_solr(embedded: str) -> None:
    """A mistyped core is an error for every verb that reads; `create` makes it."""
    solr = nd.connect(collection=embedded)
    for verb in (
        lambda: nd.search(solr, text="x"),
        lambda: nd.report(solr),
        lambda: nd.delete(solr, ids=["1"]),
        lambda: nd.index([nd.Document(id="1", text="x")], solr),
    ):
        with refusal(nd.CoreMissing, "collection-missing", f"neardup init -c {embedded}"):
            verb()
    assert not api.exists(solr)
    assert nd.connect(collection=embedded, create=True).count() == 0


def test_create_is_refused_for_a_solr_of_ones_own(
    solr_url: str, name: str, solr: nd.Collection
) -> None:
    """It says what creates one; a collection that is there is no mistake."""
    with refusal(nd.ArgumentError, "collection-missing", name, "`create`", "nd.init("):
        nd.connect(solr_url, name, create=True)
    assert nd.connect(solr.url, create=True).count() == 0


def test_several_commands_create_one_core_at_once(solr_url: str, name: str) -> None:
    """Each of them can use the core afterwards, and just one says that it created it."""
    ready = Barrier(AT_ONCE)

    def init(_: int) -> bool:
        solr = nd.connect(solr_url, name)
        ready.wait()
        created = nd.init(solr).is_created
        solr.commit()
        return created

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert sorted(pool.map(init, range(AT_ONCE))) == [False] * (AT_ONCE - 1) + [True]


def test_init_refuses_an_address_of_another_core(solr_url: str, name: str) -> None:
    """A name beside an address that names another core is a question, not an answer."""
    refused = rf"^the address names .*'{name}', but `collection` is 'other'; .*: {solr_url}$"
    with pytest.raises(nd.ArgumentError, match=refused):
        nd.init(nd.connect(f"{solr_url}/{name}", collection="other"))
    for each in (name, "other"):
        assert not api.exists(nd.connect(solr_url, each))


def unseen(solr: nd.Collection, *ids: str) -> None:
    """Send documents as an index run does that is then interrupted: nothing is committed."""
    settings = nd.Settings().fingerprint
    assert solr.add([{"id": id, "signature_settings": settings} for id in ids]) == ()


def test_settings_of_an_interrupted_run_hold(solr: nd.Collection) -> None:
    """Documents that no search sees yet have settings, too."""
    unseen(solr, "1", "2")
    with refusal(nd.SettingsError, "settings-differ"):
        solr.choose_settings(nd.Settings(hashes=256))


def test_delete_counts_what_matched(solr: nd.Collection) -> None:
    """Documents of an interrupted run count, others that arrive do not, none counts twice."""
    unseen(solr, *"abcdef")
    assert nd.delete(solr, ids=["nope"]) == 0
    unseen(solr, *"ghi")
    assert nd.delete(solr, ids=["g", "g", "nope"]) == 1
    assert nd.delete(solr, ids=["a", "b"], query="id:b OR id:c") == 3
    assert nd.delete(solr, query="-id:d", dry_run=True) == 4
    assert nd.delete(solr, query="-id:d") == 4
    assert list(solr.ids()) == ["d"]


def test_a_query_that_is_not_understood_deletes_nothing(solr: nd.Collection) -> None:
    """Neither the query nor the ids beside it."""
    unseen(solr, "a")
    with refusal(nd.errors.SolrAnswerError, "solr-refused"):
        nd.delete(solr, ids=["a"], query="a:(")
    assert list(solr.ids()) == ["a"]


def test_delete_refuses_a_bare_string(solr: nd.Collection) -> None:
    """A string is a sequence of strings, but hardly what was meant."""
    unseen(solr, *"abc")
    refused = r"^`ids` must be a list of strings, not the string 'abc';"
    refused += r" give one such as ids=\[.*\]$"
    with pytest.raises(nd.ArgumentError, match=refused):
        nd.delete(solr, ids="abc")
    solr.commit()
    assert solr.count() == 3
