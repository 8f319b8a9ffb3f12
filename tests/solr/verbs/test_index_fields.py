"""index chooses the fields of a new collection by the first texts."""

import logging
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core

WITHOUT_SHINGLES = nd.Settings(fields=nd.Settings().fields - {"content_ng", "content_sg"})
COUNT = 1_200  # more than are looked at
SHORT = [nd.Document(id=f"s{n}", text=f"a short text of number {n}") for n in range(20)]


def long_text(number: int, words: int = 80) -> str:
    """A text that shares no shingle with those of other numbers."""
    return " ".join(f"w{number}x{at}" for at in range(words))


def documents(count: int = COUNT) -> Iterator[nd.Document]:
    """Long texts, the last of which is the first one with another word."""
    for number in range(count - 1):
        yield nd.Document(id=str(number), text=long_text(number))
    yield nd.Document(id="edited", text=long_text(0).replace("w0x40", "other"))


def test_long_texts_have_no_shingles(solr: nd.Collection, caplog: pytest.LogCaptureFixture) -> None:
    """A line says so before anything is sent, nothing is lost, and bands find what is near."""
    told: list[list[str]] = []

    def look(_: nd.types.Progress) -> None:
        told.append([record.message for record in caplog.records])

    summary = nd.index(documents(), solr, on_progress=look)
    assert summary.settings == WITHOUT_SHINGLES
    assert (summary.read, summary.indexed, solr.count()) == (COUNT, COUNT, COUNT)
    line = "bands suffice for texts of about 80 words: word shingles and signature terms are left"
    assert [message for message in told[-1] if message.startswith(line)] == told[-1]
    assert told[0] == told[-1]
    assert solr.count(["content_ng:* OR content_sg:*"]) == 0
    assert [match.id for match in nd.search(solr, id="0")] == ["edited"]
    assert [match.id for match in nd.search(solr, text=long_text(7))] == ["7"]
    assert [(one.id, one.other_id) for one in nd.report(solr).pairs] == [("0", "edited")]
    assert [(one.id, one.other_id) for one in nd.duplicates(solr).pairs] == [("0", "edited")]
    gated = nd.gate([nd.Document(id="new", text=long_text(3))], solr)
    assert [[match.id for match in one.matches] for one in gated] == [["3"]]
    assert not nd.doctor(solr).problems


def test_a_collection_keeps_its_fields(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """If it has shingles, long texts get them, too."""
    nd.index(SHORT, solr)
    assert nd.index(documents(5), solr).settings == nd.Settings()
    assert solr.count(["content_ng:*"]) == solr.count()
    assert not caplog.records


def test_a_collection_stays_without_shingles(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if short texts come later."""
    nd.index(documents(5), solr)
    caplog.clear()
    assert nd.index(SHORT, solr).settings == WITHOUT_SHINGLES
    assert solr.count(["content_ng:*"]) == 0
    assert not caplog.records


@pytest.mark.parametrize("fields", ["all", "+profile_hash", "-content_sg"])
def test_named_fields_are_not_changed(
    solr: nd.Collection, fields: str, caplog: pytest.LogCaptureFixture
) -> None:
    """They are what they were before."""
    summary = nd.index(documents(5), solr, settings={"fields": fields})
    assert "content_ng" in summary.settings.fields
    assert not caplog.records


def test_other_settings_go_with_long_texts(solr: nd.Collection) -> None:
    """The same settings again are those of the collection."""
    for _ in range(2):
        chosen = nd.index(documents(5), solr, settings={"hashes": 256}).settings
        assert (chosen.hashes, chosen.fields) == (256, WITHOUT_SHINGLES.fields)


def test_most_of_the_first_texts_count(solr: nd.Collection) -> None:
    """Few long ones among short records change nothing."""
    source = [*documents(5), *SHORT]
    assert nd.index(source, solr).settings == nd.Settings()


def test_a_slow_source_waits_for_one_batch(solr: nd.Collection) -> None:
    """What comes from an iterator is sent as soon as a batch is full."""
    taken: list[int] = []

    def slow() -> Iterator[nd.Document]:
        for at, one in enumerate(documents(40)):
            taken.append(solr.count() if at == 30 else 0)
            yield one

    nd.index(slow(), solr, batch=2, threads=1, checkpoint_every=2)
    assert max(taken) > 0


def test_what_was_looked_at_is_in_the_job(
    solr: nd.Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Records that fail among the first, and a resumed job, have the same counts and settings."""
    path, job = tmp_path / "long.jsonl", tmp_path / "job"
    lines = [orjson.dumps({"id": one.id, "text": one.text}) for one in documents()]
    lines[3] = b"nonsense"
    path.write_bytes(b"\n".join(lines))
    errors: list[nd.RecordError] = []

    def stop(told: nd.types.Progress) -> None:
        if told.done > COUNT // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nd.index(path, solr, job=job, checkpoint_every=200, on_error=errors.append,
                 on_progress=stop)  # fmt: skip
    summary = nd.index(path, solr, job=job, resume=True)
    assert summary.settings == WITHOUT_SHINGLES
    assert (summary.read, summary.indexed, summary.failed) == (COUNT, COUNT - 1, 1)
    assert solr.count() == COUNT - 1
    assert caplog.messages[1:] == ["1 record could not be used by an earlier run"]


def test_collections_with_other_fields_are_compared(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """One that was indexed with shingles, and one without them."""
    nd.index(documents(5), solr)
    with fresh_core(solr.base) as other:
        nd.index([nd.Document(id="x", text=long_text(2))], other, settings={"fields": "all"})
        found = nd.duplicates(other, against=solr)
        assert [(one.id, one.other_id) for one in found.pairs] == [("x", "2")]


def test_excerpts_that_are_missed_are_told(
    solr: nd.Collection, caplog: pytest.LogCaptureFixture
) -> None:
    """Without shingles a search for containment says what would find them."""
    nd.index(documents(5), solr)
    caplog.set_level(logging.WARNING)
    caplog.clear()
    nd.search(solr, text=long_text(2, words=30), measure="containment")
    assert [
        "most excerpts from longer texts are missed" in record.message for record in caplog.records
    ] == [True]
    caplog.clear()
    nd.search(solr, text=long_text(2, words=30), measure="containment", by="bands")
    assert not caplog.records
