"""Runs over a collection that are remembered, while others write to it, and its marks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests.solr import api
from tests.unit.verbs.test_duplicates_again import changed, documents, of_again, result, texts

BY_BANDS: dict[str, Any] = {"by": "bands"}


@pytest.fixture
def other(solr_url: str) -> Iterator[nd.Collection]:
    """A second empty core."""
    with fresh_core(solr_url) as core:
        yield core


def marks(solr: nd.Collection) -> list[dict[str, Any]]:
    """The marks of all documents."""
    return solr.export(["id", *api.MARKS])


def write(solr: nd.Collection, before: list[nd.Document], seed: int) -> list[nd.Document]:
    """Let documents come, change and go; some get another field, and so another version only."""
    after = changed(before, seed)
    gone = {one.id for one in before} - {one.id for one in after}
    same = [one for one in after if one in before]
    nd.index([one for one in after if one not in before], solr, keep=())
    solr.delete_ids(sorted(gone))
    api.set_fields(solr, *[{"id": one.id, "note": {"set": f"round {seed}"}} for one in same[::7]])
    solr.commit()
    return after


@pytest.mark.parametrize("canonical", ["first", "longest"])
def test_it_finds_and_marks_what_a_full_run_does(
    solr: nd.Collection, tmp_path: Path, canonical: str
) -> None:
    """Run after run, marked each time; only documents of another version are compared again."""
    now = documents(texts(300, seed=11))
    nd.index(now, solr)
    working = {**BY_BANDS, "canonical": canonical}
    for round in range(4):
        found = nd.duplicates(solr, remember=tmp_path / "known", **working)
        full = nd.duplicates(solr, **working)
        assert result(found) == result(full)
        assert found.pairs
        made = nd.mark(solr, found, yes=True)
        again = nd.mark(solr, full, yes=True)
        assert (again.marked, again.cleared) == (0, 0)
        assert made.vanished == 0
        if round:
            since = of_again(found.since)
            assert min(since.came, since.changed, since.gone) > 5
        now = write(solr, now, seed=round)
    assert any(api.MARKS[0] in one for one in marks(solr))


def test_marks_are_changes_once(solr: nd.Collection, tmp_path: Path) -> None:
    """A mark gives a document another version; the run after the next knows all of them."""
    nd.index(documents(texts(300, seed=12)), solr)
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    marked = nd.mark(solr, nd.duplicates(solr, **working), yes=True).marked
    assert marked > 20
    again = nd.duplicates(solr, **working)
    assert of_again(again.since).changed == marked
    assert result(again) == result(nd.duplicates(solr, **BY_BANDS))
    assert nd.mark(solr, again, yes=True).marked == 0
    last = nd.duplicates(solr, **working)
    since = of_again(last.since)
    assert (since.came, since.changed, since.gone, since.reason) == (0, 0, 0, "")
    assert since.reused == last.candidates


def test_a_text_changed_before_its_mark_is_read_again(solr: nd.Collection, tmp_path: Path) -> None:
    """Somebody writes between the report and the marks: the next run sees it."""
    nd.index(documents(texts(300, seed=13)), solr)
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    found = nd.duplicates(solr, **working)
    id = found.pairs[0].id
    nd.index([nd.Document(id=id, text="quite another text that is like no other")], solr)
    nd.mark(solr, found, yes=True)
    again = nd.duplicates(solr, **working)
    assert of_again(again.since).changed > 1  # the marked ones, too
    assert id not in again.labels
    assert result(again) == result(nd.duplicates(solr, **BY_BANDS))


def test_a_text_changed_while_it_is_compared(solr: nd.Collection, tmp_path: Path) -> None:
    """It counts as changed the next time, and the result is then that of a full run."""
    now = documents(texts(300, seed=14))
    nd.index(now, solr)
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    id = nd.duplicates(solr, **BY_BANDS).pairs[0].id

    def change(told: nd.types.Progress) -> None:
        if told.stage == "joining" and told.done == told.total:
            nd.index([nd.Document(id=id, text="quite another text that is like no other")], solr)

    found = nd.duplicates(solr, **working, on_progress=change)
    assert not found.complete
    again = nd.duplicates(solr, **working)
    assert of_again(again.since).changed == 1
    assert result(again) == result(nd.duplicates(solr, **BY_BANDS))


def test_an_older_copy_of_the_index(solr: nd.Collection, tmp_path: Path) -> None:
    """A backup that is restored has as many documents, some of them with their older texts."""

    def admin(**params: str) -> dict[str, Any]:
        answer = solr.session.get(f"{solr.base}/admin/cores", params=params, timeout=60)
        decoded: dict[str, Any] = answer.json()
        return decoded

    now = documents(texts(200, seed=18))
    nd.index(now, solr)
    told = admin(action="STATUS", core=solr.name)["status"][solr.name]
    place, data = Path(told["instanceDir"]), Path(told["dataDir"])
    shutil.copytree(data, tmp_path / "older")
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    twin, lone = nd.duplicates(solr, **BY_BANDS).pairs[0].id, "quite another text, like no other"
    nd.index([nd.Document(id=twin, text=lone)], solr)
    assert twin not in nd.duplicates(solr, **working).labels
    properties = (place / "core.properties").read_text(encoding="utf-8")
    admin(action="UNLOAD", core=solr.name)
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "older", data)
    known = dict(line.split("=", 1) for line in properties.splitlines() if "=" in line)
    admin(action="CREATE", instanceDir=str(place), **{"name": solr.name, **known})
    nd.index([nd.Document(id="new", text=now[0].text)], solr)
    found = nd.duplicates(solr, **working)
    assert twin in found.labels
    assert result(found) == result(nd.duplicates(solr, **BY_BANDS))


def test_a_signature_that_is_not_of_its_text(solr: nd.Collection, tmp_path: Path) -> None:
    """Somebody has written another one: it is told each time, as by a full run."""
    now = documents(texts(200, seed=19))
    nd.index(now, solr)
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    one, other = nd.duplicates(solr, **working).pairs[0].id, now[150].id
    fields = ["signature", "content_bands"]
    (found,) = solr.stored([other], fields)
    api.set_fields(solr, *[{"id": one, **{name: {"set": found[name]} for name in fields}}])
    solr.commit()
    for _ in range(2):
        again = nd.duplicates(solr, **working)
        assert of_again(again.since).reused
        assert result(again) == result(nd.duplicates(solr, **BY_BANDS))


def test_another_collection_of_the_same_ids(
    solr: nd.Collection, other: nd.Collection, tmp_path: Path
) -> None:
    """One that takes the place of the other, and gets the newest document last, as that did."""
    now = documents(texts(100, seed=21))
    better = [nd.Document(id=one.id, text=one.text + " and more of it") for one in now]
    nd.index(now, solr)
    nd.index(better, other)
    nd.index(now[:1], solr)
    known = tmp_path / "known"
    nd.duplicates(solr, **BY_BANDS, remember=known)
    nd.index(now[:1], other)
    found = nd.duplicates(other, **BY_BANDS, remember=known)
    assert found.since
    assert "text fields, settings, limits or filters have changed" in found.since.reason
    nd.duplicates(solr, **BY_BANDS, remember=known)
    url = f"{solr.base}/admin/cores"
    params = {"action": "SWAP", "core": solr.name, "other": other.name}
    for _ in range(2):
        solr.session.get(url, params=params, timeout=60)
        nd.index(now[:1], solr)
        found = nd.duplicates(solr, **BY_BANDS, remember=known)
        assert result(found) == result(nd.duplicates(solr, **BY_BANDS))


def test_what_cannot_be_remembered(solr: nd.Collection, tmp_path: Path) -> None:
    """aligned compares everything; a file's run is nothing that marks could add to."""
    now = documents(texts(60, seed=23))
    nd.index(now, solr)
    known = tmp_path / "known"
    found = nd.duplicates(solr, measure="aligned", remember=known)
    assert found.since
    assert "aligned weights depend" in found.since.reason
    assert not known.exists()
    found = nd.duplicates(now, remember=known, **BY_BANDS)
    assert nd.mark(solr, found, yes=True).marked > 5


def test_documents_without_a_signature(solr: nd.Collection, tmp_path: Path) -> None:
    """They are told each time, and compared once they have one."""
    now = documents(texts(200, seed=16))
    nd.index(now, solr)
    solr.add([{"id": "bare", "content": now[3].text}])
    solr.commit()
    working: dict[str, Any] = {**BY_BANDS, "remember": tmp_path / "known"}
    for _ in range(2):
        found = nd.duplicates(solr, **working)
        assert found.gaps == ("documents without a signature: 1; index them again",)
        assert result(found) == result(nd.duplicates(solr, **BY_BANDS))
    nd.index([nd.Document(id="bare", text=now[3].text)], solr)
    found = nd.duplicates(solr, **working)
    assert of_again(found.since).came == 1
    assert "bare" in found.labels
    assert result(found) == result(nd.duplicates(solr, **BY_BANDS))
