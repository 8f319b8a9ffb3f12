"""index, search, report, delete on a real Solr."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import SIZES
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr.front import front

TEXTS = {
    "1": "the quick brown fox jumps over the lazy dog",
    "2": "The quick, brown fox jumps over the LAZY dog!",
    "3": "the quick brown fox jumped over the lazy dog",
    "4": "a slow green turtle crawls under the busy cat",
    "5": "",
    "6": "\u200b",
    "7": "pizza",
    "8": "Pizza!",
}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]


def pairs(report: nd.Report) -> list[tuple[str, str, int | None]]:
    """The rows of a report without the similarity."""
    return [(pair.id, pair.other_id, pair.distance) for pair in report.pairs]


def test_index_counts_add_up(solr: nd.Collection, tmp_path: Path) -> None:
    """read = indexed + repeated + failed; bad records are located and the rest is indexed."""
    source = tmp_path / "mixed.jsonl"
    source.write_text(
        '{"id": 1, "text": "one"}\nnonsense\n{"id": 2, "text": "two"}\n{"id": 1, "text": "three"}\n'
        '{"id": "", "text": "no id"}\n{"id": 4}\n{"id": 5, "text": "five"}\n'
    )
    errors: list[nd.RecordError] = []
    summary = nd.index(source, solr, on_error=errors.append)
    assert (summary.read, summary.indexed, summary.repeated, summary.failed) == (7, 3, 1, 3)
    assert [error.position for error in errors] == [
        "mixed.jsonl, line 2", "mixed.jsonl, line 5", "mixed.jsonl, line 6",
    ]  # fmt: skip
    assert solr.texts(["1", "2", "5"]) == {"1": "three", "2": "two", "5": "five"}


def test_batches_are_as_large_as_asked(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are closed by documents, and by characters where texts are long."""
    sizes: list[int] = []

    def note(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        if body.startswith(b"["):
            sizes.append(len(json.loads(body)))
        return answer()

    documents = [nd.Document(id=str(n), text=f"text number {n:04}") for n in range(10)]
    with front(solr.base, between=note) as address:
        passing = nd.connect(address, solr.name)
        for characters, batch, expected in (
            (SIZES.index_batch_text, 4, [4, 4, 2]),
            (3 * 16, 500, [3, 3, 3, 1]),
            (SIZES.index_batch_text, 500, [10]),
        ):
            sizes.clear()
            monkeypatch.setattr(SIZES, "index_batch_text", characters)
            nd.index(documents, passing, batch=batch)
            assert sorted(sizes, reverse=True) == expected


@pytest.mark.parametrize("batch", [1, 2, 3, 100])
def test_the_last_of_a_repeated_id_wins(solr: nd.Collection, batch: int) -> None:
    """Whatever the batches and however many senders, the last record of an id is what stays."""
    documents = [nd.Document(id=str(n % 3), text=f"version {n}") for n in range(31)]
    summary = nd.index(documents, solr, threads=4, batch=batch)
    assert (summary.read, summary.indexed, summary.repeated) == (31, 3, 28)
    last = {"0": "version 30", "1": "version 28", "2": "version 29"}
    assert solr.texts(["0", "1", "2"]) == last


def test_indexing_twice_changes_nothing(solr: nd.Collection) -> None:
    """The same source again replaces each document by itself."""
    nd.index(DOCUMENTS, solr)
    nd.index(DOCUMENTS, solr)
    assert solr.count() == len(DOCUMENTS)


def test_every_field_is_written(solr: nd.Collection) -> None:
    """A document carries all fields, kept columns included."""
    nd.index([nd.Document(id="1", text="a b c d", kept={"city": "Paris", "stars_i": 3})], solr)
    stored = solr.document("1", ["*", "signature", "signature_settings", "first_word", "num_words"])
    assert stored["content_ng"] == ["a b c", "b c d"]
    assert len(stored["content_sg"]) == 20
    assert len(stored["content_bands"]) == 42
    assert stored["signature_settings"] == "n2 words3 affine128 seed42 bands42x3 sg20"
    assert (stored["first_word"], stored["num_words"]) == ("a", 4)
    assert len(stored["signature"]) == 684
    assert solr.count(["city:Paris", "stars_i:[3 TO *]"]) == 1


def test_fields_can_be_left_out(solr: nd.Collection) -> None:
    """What is left out is not written, the settings say so, and a search that needs it is told."""
    few = nd.Settings(fields=(nd.Settings().fields | {"profile_hash"}) - {"content_ng"})
    nd.index(DOCUMENTS, solr, settings=few)
    assert "content_ng" not in solr.document("1", ["*"])
    with refusal(nd.SettingsError, "fields-missing", "content_ng", "`by`"):
        nd.search(solr, id="1", by="shingles")
    assert {match.id for match in nd.search(solr, id="1")} == {"2", "3"}


def test_other_settings_are_refused(solr: nd.Collection) -> None:
    """A collection keeps the settings that it began with; both are shown."""
    nd.index(DOCUMENTS, solr)
    with refusal(nd.SettingsError, "settings-differ", "words3", "words2"):
        nd.index(DOCUMENTS, solr, settings=nd.Settings(shingle_size=2))


def test_settings_by_name_are_put_onto_the_stored_ones(solr: nd.Collection) -> None:
    """Naming what is stored anyway is no other setting."""
    first = nd.index(DOCUMENTS, solr, settings={"shingle_size": 2, "bands": 40})
    assert nd.index(DOCUMENTS, solr, settings={"bands": 40}).settings == first.settings


def test_settings_are_taken_from_the_collection(solr: nd.Collection) -> None:
    """Without settings of one's own, those of the collection hold."""
    first = nd.index(DOCUMENTS[:2], solr, settings=nd.Settings(shingle_size=2))
    assert nd.index(DOCUMENTS[2:], solr).settings == first.settings
    assert {match.id for match in nd.search(solr, id="1")} == {"2", "3"}


@pytest.mark.parametrize("by", ["shingles", "signatures", "bands"])
def test_search_finds_near_duplicates(solr: nd.Collection, by: nd.types.By) -> None:
    """Equal MD5 is distance 0, one word changed is distance 1, nearest first."""
    nd.index(DOCUMENTS, solr)
    found = nd.search(solr, id="1", by=by)
    assert [(match.id, match.distance) for match in found] == [("2", 0), ("3", 1)]
    assert found[1].similarity == pytest.approx(8 / 9)


def test_search_by_text(solr: nd.Collection) -> None:
    """A text that is not in the collection is compared with all of it."""
    nd.index(DOCUMENTS, solr)
    found = nd.search(solr, text="quick brown fox jumps over the lazy dog")
    assert [(match.id, match.distance) for match in found] == [("1", 1), ("2", 1), ("3", 2)]


def test_search_obeys_filters_and_limits(solr: nd.Collection) -> None:
    """Filter queries, the same first word, rows and limits all narrow what is found."""
    nd.index(DOCUMENTS, solr)

    def found(**criteria: Any) -> list[str]:
        return [match.id for match in nd.search(solr, id="1", **criteria)]

    assert found() == ["2", "3"]
    assert found(fq=("id:3",)) == ["3"]
    assert found(fq=("-id:2", "-id:3")) == []
    assert found(same=("md5_hash",)) == ["2"]
    assert found(candidates=1) == ["2"]
    assert found(max_distance=0) == ["2"]
    assert found(min_similarity=0.95) == ["2"]


def test_short_and_empty_texts(solr: nd.Collection) -> None:
    """One-word texts match their like; texts without words match nothing, not even each other."""
    nd.index(DOCUMENTS, solr)
    assert [match.id for match in nd.search(solr, id="7")] == ["8"]
    assert nd.search(solr, id="5") == nd.search(solr, id="6") == []
    assert nd.search(solr, text="") == []


def test_report_has_each_pair_once(solr: nd.Collection) -> None:
    """All pairs of the collection, each once, in natural order."""
    nd.index(DOCUMENTS, solr)
    report = nd.report(solr)
    expected = [("1", "2", 0), ("1", "3", 1), ("2", "3", 1), ("7", "8", 0)]
    assert pairs(report) == expected
    assert (report.documents, report.cut) == (8, 0)
    assert pairs(nd.report(solr, later_only=True)) == expected


def test_report_of_some_documents(solr: nd.Collection) -> None:
    """A range or a query chooses whom the report is about; later-only looks ahead only."""
    nd.index(DOCUMENTS, solr)
    assert pairs(nd.report(solr, from_id="3", to_id="4")) == [
        ("1", "3", 1), ("2", "3", 1),
    ]  # fmt: skip
    assert pairs(nd.report(solr, from_id="3", later_only=True)) == [("7", "8", 0)]
    assert pairs(nd.report(solr, query="content_ng:pizza")) == [("7", "8", 0)]


def test_report_says_where_rows_cut_it(solr: nd.Collection) -> None:
    """Documents with as many candidates as rows allows are counted."""
    nd.index([nd.Document(id=str(n), text="same text here") for n in range(6)], solr)
    assert nd.report(solr, candidates=3).cut == 6
    assert nd.report(solr, candidates=6).cut == 0


def test_search_and_report_of_an_empty_collection(solr: nd.Collection) -> None:
    """Nothing indexed is said, not reported as "no near-duplicates"."""
    with pytest.raises(nd.errors.DocumentNotFound):
        nd.search(solr, id="1")
    with refusal(nd.SettingsError, "collection-empty"):
        nd.search(solr, text="a")
    with refusal(nd.SettingsError, "collection-empty"):
        nd.report(solr)


def test_delete_by_id_and_by_query(solr: nd.Collection) -> None:
    """Deleting says how many documents went; unknown ids are no error."""
    nd.index(DOCUMENTS, solr)
    assert nd.delete(solr, ids=[1, "nope"]) == 1
    assert nd.delete(solr, query="content_ng:pizza") == 2
    assert nd.delete(solr, query="*:*") == 5
    nd.index(DOCUMENTS, solr)
    assert nd.delete(solr, ids=["1", "7", "nope"], query="content_ng:pizza") == 3
    assert solr.count() == 5


def test_a_long_document(solr: nd.Collection) -> None:
    """A text of 100,000 words, with one word beyond Lucene's term limit, is found by each way."""
    long = " ".join(f"w{n % 5000}x{n}" for n in range(100_000)) + " " + "y" * 40_000
    documents = [nd.Document(id="1", text=long), nd.Document(id="2", text=long + " end")]
    nd.index(documents, solr, settings={"fields": "all"})
    ways: tuple[nd.types.By, ...] = ("signatures", "bands", "shingles")
    for by in ways:
        found = nd.search(solr, id="1", by=by)
        assert [(match.id, match.distance) for match in found] == [("2", 1)]


def test_every_separator_can_be_in_an_id(solr: nd.Collection) -> None:
    """Ids with control characters and blanks at their ends are reported like any others."""
    ids = [*map(chr, range(1, 0x20)), " a", "b ", " ", "a\x1fb", "c\x1ed"]
    nd.index([nd.Document(id=id, text="the same") for id in ids], solr)
    assert solr.texts(ids) == dict.fromkeys(ids, "the same")
    assert len(nd.report(solr).pairs) == len(ids) * (len(ids) - 1) // 2


def test_kept_columns_filter_a_search(solr: nd.Collection, tmp_path: Path) -> None:
    """A kept column is there under its own name."""
    source = tmp_path / "a.csv"
    source.write_text("id,text,city\n1,one two three,Paris\n2,one two three,New York\n"
                      "3,one two three,Paris\n")  # fmt: skip
    nd.index(source, solr, keep=("city",))
    found = nd.search(solr, id="1", fq=('city:"New York"',))
    assert [match.id for match in found] == ["2"]
