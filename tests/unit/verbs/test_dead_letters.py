"""Records of dead letters are read as their job has read them, with nothing guessed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import Document, sources
from neardup_solr.checkpoint import Job, JobSpec, Position, read_letters
from neardup_solr.errors import ArgumentError, JobError, RecordError
from neardup_solr.sources import Reading, identity
from neardup_solr.sources.document import AGAIN
from neardup_solr.sources.part import Record
from neardup_solr.verbs.retry import GONE, NO_HEADER, LetterReader
from tests.refusals import refusal


def work_on(source: str, reading: Reading, identity: str | None = None) -> JobSpec:
    """A job that read a source in some way."""
    return JobSpec(
        source=source,
        identity=identity,
        reading=asdict(reading) | {"text": list(reading.text), "keep": list(reading.keep)},
        server="http://127.0.0.1:8983/solr",
        collection="ads",
    )


def work_of(path: Path, reading: Reading) -> JobSpec:
    """A job on a file that is there."""
    return work_on(str(path), reading, identity(path, reading))


def letter(record: Any, *, id: str | None = None, reason: str = "bad") -> nd.types.Letter:
    """A dead letter with some record."""
    return nd.types.Letter(position="x, line 7", id=id, stage="read", reason=reason, record=record)


def again(reader: LetterReader, record: Any) -> tuple[str, str, dict[str, Any]] | str:
    """The id, text and kept values of a record that is read again, or why it cannot be."""
    return told(reader.read(letter(record)))


def told(found: Record) -> tuple[str, str, dict[str, Any]] | str:
    """What a record came to."""
    if isinstance(found, Document):
        return found.id, found.text, dict(found.kept)
    assert found.position == "x, line 7"
    return found.reason


def mended(letter: nd.types.Letter) -> nd.types.Letter:
    """A dead letter whose record got an id, under whatever name its column has."""
    assert isinstance(letter.record, dict)
    (column,) = {"Ad", "ad"} & letter.record.keys()
    return replace(letter, record=letter.record | {column: "new"})


FILES = {
    "a.csv": "Ad,title,body,city,price\n,A,B,Rome,\n2,C,D,,9\n",
    "b.csv": "ad;title;body;city;price\n;A;B;Rome;\n2;C;D;;9\n",
    "c.tsv": "ad\ttitle\tbody\tcity\tprice\n\tA\tB\tRome\t\n2\tC\tD\t\t9\n",
    "d.jsonl": '{"ad":"","title":"A","body":"B","city":"Rome"}\n{"ad":2,"title":"C","body":"D"}\n',
    "e.json": '[{"ad":"","title":"A","body":"B","city":"Rome"},{"ad":2,"title":"C","body":"D"}]',
}


@pytest.mark.parametrize("name", FILES)
def test_a_mended_record_is_what_its_source_would_have_given(tmp_path: Path, name: str) -> None:
    """Columns, joined texts, kept values: as if the file had been right."""
    reading = Reading(id="ad", text=("title", "body"), keep=("city", "price"))
    path = tmp_path / name
    path.write_text(FILES[name])
    with Job(tmp_path / "job") as job:
        dead: list[RecordError] = []
        assert len(list(sources.open_source(path, reading).documents(dead.append))) == 1
        job.keep(work_of(path, reading), Position(failed=1), dead)
        (kept,) = read_letters(job.folder)
    found = LetterReader(work_of(path, reading)).read(mended(kept))
    assert isinstance(found, Document)
    assert (found.id, found.text, found.kept) == ("new", "A\nB", {"city": "Rome"})


def test_a_letter_of_solr_has_its_text_in_the_first_column() -> None:
    """The joined text is not joined again."""
    reader = LetterReader(work_on("-", Reading(id="ad", text=("title", "body"), keep=("city",))))
    record = {"ad": "7", "title": "A\nB", "city": ["Rome", "Bonn"]}
    assert again(reader, record) == ("7", "A\nB", {"city": ["Rome", "Bonn"]})


def test_documents_and_lines_have_columns_of_their_own_names() -> None:
    """Whatever `id` and `text` the job was given."""
    reader = LetterReader(
        work_on("a list", Reading(id="ad", text=("title", "body"), keep=("city",)))
    )
    record = {"id": "7", "text": "A", "city": "Rome"}
    assert again(reader, record) == ("7", "A", {"city": "Rome"})


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"text": "A"}, "no id: 'id' is missing or null"),
        ({"id": "7"}, "no text: 'text' is missing or null"),
        ({"id": 1.5, "text": "A"}, "the id in 'id' is the number 1.5, not text or a whole number"),
        ({"id": "", "text": "A"}, "the id is empty"),
        ({}, "no id: 'id' is missing or null"),
        (None, GONE),
        ("7 raw text", GONE),
        ("[1]", GONE),
        ("{", "malformed JSON (unexpected end of data: line 1 column 2 (char 1))"),
    ],
)
def test_a_record_that_is_still_bad_says_why(record: Any, reason: str) -> None:
    """The reason is that of now, in one line."""
    assert again(LetterReader(work_on("-", Reading())), record) == reason


def test_a_whole_number_keeps_its_digits() -> None:
    """An id over 64 bits is no float, in an object or in a raw line."""
    reader = LetterReader(work_on("-", Reading(source_format="jsonl")))
    assert again(reader, {"id": 2**70, "text": "A"}) == (str(2**70), "A", {})
    assert again(reader, json.dumps({"id": 2**70, "text": "A"})) == (str(2**70), "A", {})


def test_raw_lines_are_read_in_the_format_of_the_job(tmp_path: Path) -> None:
    """What the user has mended in the text of a line counts."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": "A"}\n')
    reader = LetterReader(work_of(path, Reading()))
    assert again(reader, '{"id": 7, "text": "A"}') == ("7", "A", {})
    assert again(reader, '[{"id": 7, "text": "A"}]') == "not a JSON object"
    assert str(again(reader, '{"id": 7, "text": "A"')).startswith("malformed JSON (")
    assert str(again(reader, '{"id": 7, "text": "caf\udce9"}')).startswith("invalid UTF-8: byte")
    path = tmp_path / "a.txt"
    path.write_text("1 one\n")
    reader = LetterReader(work_of(path, Reading()))
    assert again(reader, "7 seven words\r") == ("7", "seven words", {})
    assert again(reader, "7 caf\udce9") == "invalid UTF-8: byte 0xe9 at offset 5 of the record"
    assert again(reader, "7 seven\n8 eight") == "2 records instead of one"
    assert again(reader, "") == "0 records instead of one"


def test_a_line_in_another_encoding_is_utf8_by_now(tmp_path: Path) -> None:
    """Its bytes were converted before it became a dead letter."""
    path = tmp_path / "a.txt"
    path.write_bytes("1 café\n".encode("cp1252"))
    reader = LetterReader(work_of(path, Reading(encoding="cp1252")))
    assert again(reader, "7 café") == ("7", "café", {})


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_row_needs_the_header_of_its_table(tmp_path: Path, mark: str) -> None:
    """It is that of the source as long as this has not changed."""
    path = tmp_path / "a.csv"
    path.write_text(f"{mark}id;city;text\n1;Rome;A\n")
    reading = Reading(keep=("city",))
    work = work_of(path, reading)
    reader = LetterReader(work)
    assert again(reader, '7;Bonn;"A; B"') == ("7", "A; B", {"city": "Bonn"})
    assert again(reader, "7;;A") == ("7", "A", {})
    assert again(reader, "7;A") == "2 fields, but the header has 3"
    assert str(again(reader, '7;Bonn;"A')).startswith("malformed quoting")
    path.write_text("id;text;city\n1;A;Rome\n")
    assert again(LetterReader(work), "7;Bonn;A") == NO_HEADER
    assert again(LetterReader(work), {"id": "7", "text": "A"}) == ("7", "A", {})
    path.unlink()
    assert again(LetterReader(work), "7;Bonn;A") == GONE


def test_an_id_that_came_before_is_refused_again() -> None:
    """It was asked for that the first record counts; with another id it is a document."""
    reader = LetterReader(work_on("-", Reading()))
    repeated = letter({"id": "7", "text": "B"}, id="7", reason=AGAIN)
    assert told(reader.read(repeated)) == AGAIN
    other = letter({"id": "8", "text": "B"}, id="7", reason=AGAIN)
    assert told(reader.read(other)) == ("8", "B", {})


def test_the_limits_of_the_job_hold() -> None:
    """A text over its bound is refused again."""
    reader = LetterReader(work_on("-", Reading(max_doc_bytes=10)))
    assert again(reader, {"id": "7", "text": "x" * 11}) == "too_large: more than 10 bytes"


def test_a_reading_that_is_not_understood_is_refused() -> None:
    """Another version may know other words."""
    work = work_on("-", Reading())
    for odd in ({}, {**work.reading, "colour": "red"}, {**work.reading, "text": []}):
        with refusal(JobError, "job-unreadable"):
            LetterReader(JobSpec(**{**asdict(work), "reading": odd}))


def test_dead_letters_of_a_job_are_listed_without_any_solr(tmp_path: Path) -> None:
    """In the order of the file; a folder without a job is an error."""
    with Job(tmp_path / "job") as job:
        dead = [RecordError(f"a, line {one}", "bad", record={"id": one}) for one in (7, 3)]
        job.keep(work_on("a", Reading()), Position(failed=2), dead, has_ended=True)
    found = nd.dead_letters(job=tmp_path / "job")
    assert [(one.position, one.record) for one in found] == [
        ("a, line 7", {"id": 7}),
        ("a, line 3", {"id": 3}),
    ]
    with refusal(JobError, "job-missing"):
        nd.dead_letters(job=tmp_path)
    with refusal(ArgumentError, "argument-missing", "`collection`", "`job`"):
        nd.dead_letters()
