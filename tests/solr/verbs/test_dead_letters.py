"""Records of dead letters are read as their job has read them, with nothing guessed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, JobError, RecordError
from tests.refusals import refusal

LETTERS = "dead-letters.jsonl"
OBJECTS = [{"id": "", "text": "bad"}, {"id": "1", "text": "one"}, {"id": "2", "text": "two"}]


def begin(solr: nd.Collection, job: Path, source: Any, **options: Any) -> list[RecordError]:
    """Index a source of which some records become dead letters; their errors."""
    failures: list[RecordError] = []
    assert nd.index(source, solr, job=job, on_error=failures.append, **options).failed > 0
    return failures


def retry(solr: nd.Collection, job: Path) -> list[RecordError]:
    """Index the dead letters of a job again; the errors of those that stay."""
    failures: list[RecordError] = []
    nd.retry(solr, job=job, on_error=failures.append)
    return failures


def again(solr: nd.Collection, job: Path, *records: Any) -> list[RecordError]:
    """Replace the dead letters of a job by one for each of these records, and index them again."""
    letter = json.loads((job / LETTERS).read_text().splitlines()[0])
    with (job / LETTERS).open("w") as file:
        for number, record in enumerate(records):
            other = {"position": f"x, line {number}", "record": record, "id": None, "reason": "bad"}
            file.write(json.dumps(letter | other) + "\n")
    failures = retry(solr, job)
    assert {error.position for error in failures} <= {f"x, line {at}" for at in range(len(records))}
    return failures


def reasons(failures: list[RecordError]) -> list[str]:
    """Why each record stays a dead letter."""
    return [error.reason for error in failures]


def stored(solr: nd.Collection, *ids: str, fields: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """These documents, which have been indexed."""
    found = {row["id"]: row for row in solr.stored(ids, ["content", *fields])}
    return [found[id] for id in ids]


FILES = {
    "a.csv": "Ad,title,body,city,price\n,A,B,Rome,\n2,C,D,,9\n",
    "b.csv": "ad;title;body;city;price\n;A;B;Rome;\n2;C;D;;9\n",
    "c.tsv": "ad\ttitle\tbody\tcity\tprice\n\tA\tB\tRome\t\n2\tC\tD\t\t9\n",
    "d.jsonl": '{"ad":"","title":"A","body":"B","city":"Rome"}\n{"ad":2,"title":"C","body":"D"}\n',
    "e.json": '[{"ad":"","title":"A","body":"B","city":"Rome"},{"ad":2,"title":"C","body":"D"}]',
}


@pytest.mark.parametrize("name", FILES)
def test_a_mended_record_is_what_its_source_would_have_given(
    solr: nd.Collection, tmp_path: Path, name: str
) -> None:
    """Columns, joined texts, kept values: as if the file had been right."""
    path, job = tmp_path / name, tmp_path / "job"
    path.write_text(FILES[name])
    begin(solr, job, path, id="ad", text=("title", "body"), keep=("city", "price"))
    (letter,) = nd.dead_letters(job=job)
    assert isinstance(letter.record, dict)
    (column,) = {"Ad", "ad"} & letter.record.keys()
    assert again(solr, job, {**letter.record, column: "new"}) == []
    (found,) = stored(solr, "new", fields=("city", "price"))
    assert found == {"id": "new", "content": "A\nB", "city": ["Rome"]}


def test_a_letter_of_solr_has_its_text_in_the_first_column(
    solr: nd.Collection, tmp_path: Path
) -> None:
    """The joined text is not joined again."""
    path, job = tmp_path / "a.csv", tmp_path / "job"
    path.write_text("ad,title,body,n_i\n7,A,B,many\n8,C,D,8\n")
    (error,) = begin(solr, job, path, id="ad", text=("title", "body"), keep="n_i")
    assert error.stage == "solr"
    (letter,) = nd.dead_letters(job=job)
    assert isinstance(letter.record, dict)
    assert letter.record == {"ad": "7", "title": "A\nB", "n_i": "many"}
    assert again(solr, job, {**letter.record, "n_i": "7"}) == []
    assert stored(solr, "7", fields=("n_i",)) == [{"id": "7", "content": "A\nB", "n_i": 7}]


def test_documents_and_lines_have_columns_of_their_own_names(
    solr: nd.Collection, tmp_path: Path
) -> None:
    """Whatever `id` and `text` the job was given."""
    documents = [nd.Document(id=id, text="A", kept={"city": "Rome"}) for id in ("", "1", "2")]
    begin(solr, tmp_path, documents, id="ad", text=("title", "body"), keep="city")
    assert again(solr, tmp_path, {"id": "7", "text": "A", "city": "Rome"}) == []
    expected = {"id": "7", "content": "A", "city": ["Rome"]}
    assert stored(solr, "7", fields=("city",)) == [expected]


STILL_BAD: list[tuple[Any, str]] = [
    ({"text": "A"}, "no id: 'id' is missing or null"),
    ({"id": "7"}, "no text: 'text' is missing or null"),
    ({"id": 1.5, "text": "A"}, "the id in 'id' is the number 1.5, not text or a whole number"),
    ({"id": "", "text": "A"}, "the id is empty"),
    ({}, "no id: 'id' is missing or null"),
    ("{", "malformed JSON (unexpected end of data: line 1 column 2 (char 1))"),
]


def test_a_record_that_is_still_bad_says_why(solr: nd.Collection, tmp_path: Path) -> None:
    """The reason is that of now, in one line, also in the file; what is gone keeps its own."""
    gone = [None, "7 raw text", "[1]"]
    begin(solr, tmp_path, OBJECTS)
    failures = again(solr, tmp_path, *(record for record, _ in STILL_BAD), *gone)
    expected = [reason for _, reason in STILL_BAD]
    assert reasons(failures)[: len(expected)] == expected
    codes = [error.code for error in failures]
    assert [code == "record-gone" for code in codes] == [False] * len(expected) + [True] * 3
    left = [letter.reason for letter in nd.dead_letters(job=tmp_path)]
    assert left == expected + ["bad"] * 3


def test_a_whole_number_keeps_its_digits(solr: nd.Collection, tmp_path: Path) -> None:
    """An id over 64 bits is no float, in an object or in a raw line."""
    path, job = tmp_path / "a.jsonl", tmp_path / "job"
    path.write_text("\n".join(map(json.dumps, OBJECTS)))
    begin(solr, job, path)
    large = [2**70, 2**70 + 1]
    raw = json.dumps({"id": large[1], "text": "B"})
    assert again(solr, job, {"id": large[0], "text": "A"}, raw) == []
    assert [row["content"] for row in stored(solr, *map(str, large))] == ["A", "B"]


def test_raw_lines_of_json_are_read_as_such(solr: nd.Collection, tmp_path: Path) -> None:
    """What the user has mended in the text of a line counts."""
    path, job = tmp_path / "a.jsonl", tmp_path / "job"
    path.write_text("\n".join(map(json.dumps, OBJECTS)))
    begin(solr, job, path)
    good = '{"id": 7, "text": "A"}'
    cut, odd = '{"id": 8, "text": "A"', '{"id": 9, "text": "caf\udce9"}'
    failures = again(solr, job, good, f"[{good}]", cut, odd)
    found = reasons(failures)
    assert found[0] == "not a JSON object"
    assert found[1].startswith("malformed JSON (")
    assert found[2].startswith("invalid UTF-8: byte")
    assert [row["content"] for row in stored(solr, "7")] == ["A"]


def lines(path: Path, encoding: str = "utf-8") -> nd.Source:
    """A file of lines, of which one is too long."""
    path.write_bytes(f"1 café\n2 two\n3 {'long ' * 9}\n".encode(encoding))
    return nd.Source(path, max_doc_bytes=20, encoding=None if encoding == "utf-8" else encoding)


def test_raw_lines_of_text_are_read_as_such(solr: nd.Collection, tmp_path: Path) -> None:
    """One record each, within the limits of the job."""
    job = tmp_path / "job"
    begin(solr, job, lines(tmp_path / "a.txt"))
    records = ["7 seven words\r", "7 caf\udce9", "7 seven\n8 eight", "", "7 " + "x" * 21]
    assert reasons(again(solr, job, *records)) == [
        "invalid UTF-8: byte 0xe9 at offset 5 of the record",
        "2 records instead of one",
        "0 records instead of one",
        "too_large: more than 20 bytes",
    ]
    assert [row["content"] for row in stored(solr, "7")] == ["seven words"]


def test_a_line_in_another_encoding_is_utf8_by_now(solr: nd.Collection, tmp_path: Path) -> None:
    """Its bytes were converted before it became a dead letter."""
    job = tmp_path / "job"
    begin(solr, job, lines(tmp_path / "a.txt", "cp1252"))
    assert again(solr, job, "7 café") == []
    assert [row["content"] for row in stored(solr, "1", "7")] == ["café", "café"]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_row_needs_the_header_of_its_table(
    solr: nd.Collection, tmp_path: Path, mark: str
) -> None:
    """It is that of the source as long as this has not changed."""
    path, job = tmp_path / "a.csv", tmp_path / "job"
    path.write_text(f"{mark}id;city;text\n1;Rome;A\n;Bonn;B\n")
    begin(solr, job, path, keep="city")
    found = reasons(again(solr, job, '7;Bonn;"A; B"', "8;;A", "9;A", '9;Bonn;"A'))
    assert found[0] == "2 fields, but the header has 3"
    assert found[1].startswith("malformed quoting")
    assert stored(solr, "7", "8", fields=("city",)) == [
        {"id": "7", "content": "A; B", "city": ["Bonn"]},
        {"id": "8", "content": "A"},
    ]
    path.write_text("id;text;city\n1;A;Rome\n")
    (changed,) = again(solr, job, "9;Bonn;A", {"id": "9", "text": "C"})
    assert changed.code == "record-gone"
    assert [row["content"] for row in stored(solr, "9")] == ["C"]
    path.unlink()
    (missing,) = again(solr, job, "10;Bonn;A")
    assert missing.code == "record-gone"
    assert missing.reason != changed.reason


def test_an_id_that_came_before_is_refused_again(solr: nd.Collection, tmp_path: Path) -> None:
    """It was asked for that an id does not come twice; with another id it is a document."""
    rows = [("7", "A"), ("8", "B"), ("7", "C")]
    begin(solr, tmp_path, nd.Source(rows, on_repeat="fail"))
    assert [error.code for error in retry(solr, tmp_path)] == ["id-repeated"]
    assert [row["content"] for row in stored(solr, "7")] == ["A"]
    letter = json.loads((tmp_path / LETTERS).read_text())
    letter["record"]["id"] = "9"
    (tmp_path / LETTERS).write_text(json.dumps(letter) + "\n")
    assert retry(solr, tmp_path) == []
    assert [row["content"] for row in stored(solr, "7", "9")] == ["A", "C"]


def odd_readings(reading: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Ways of reading that this version does not know."""
    yield {}
    yield reading | {"colour": "red"}
    yield reading | {"text": []}


def test_a_reading_that_is_not_understood_is_refused(solr: nd.Collection, tmp_path: Path) -> None:
    """Another version may know other words."""
    begin(solr, tmp_path, OBJECTS)
    path = tmp_path / "checkpoint.json"
    kept = json.loads(path.read_bytes())
    for odd in odd_readings(kept["work"]["reading"]):
        path.write_text(json.dumps(kept | {"work": kept["work"] | {"reading": odd}}))
        with refusal(JobError, "job-unreadable"):
            nd.retry(solr, job=tmp_path)


def test_dead_letters_of_a_job_are_listed(solr: nd.Collection, tmp_path: Path) -> None:
    """In the order of the source; a folder without a job is an error."""
    path, job = tmp_path / "a.csv", tmp_path / "job"
    path.write_text("id,text\n1,one\n,two\n3,three\n4\n5,five\n")
    begin(solr, job, path)
    found = nd.dead_letters(job=job)
    assert [one.position.rpartition(", ")[2] for one in found] == ["line 3", "line 5"]
    assert [one.record for one in found] == [{"id": "", "text": "two"}, "4"]
    with refusal(JobError, "job-missing"):
        nd.dead_letters(job=tmp_path)
    with refusal(ArgumentError, "argument-missing", "`collection`", "`job`"):
        nd.dead_letters()
