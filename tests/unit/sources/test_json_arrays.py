"""Arrays of JSON: their elements are records, however they are written, cut off or too large."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.errors import RecordError
from neardup_solr.testing import SIZES
from tests.reading import told, write


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "a.json.gz"])
@pytest.mark.parametrize("indent", [None, 0, 2])
def test_an_array_of_objects_is_a_source(tmp_path: Path, name: str, indent: int | None) -> None:
    """Written in one line or in many, whatever the suffix says."""
    text = 'a "quote", {bracket], \\ and [\n'
    objects = [{"id": 1, "text": text, "more": [{"a": []}]}, {"id": "2", "text": "é"}]
    content = b"\xef\xbb\xbf " + json.dumps(objects, indent=indent, ensure_ascii=False).encode()
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    assert told(path) == ([("1", text), ("2", "é")], [], [])


def test_an_object_a_line_may_be_called_json(tmp_path: Path) -> None:
    """The suffix .json says both."""
    assert told(write(tmp_path / "a.json", '{"id":1,"text":"a"}\n'))[0] == [("1", "a")]


def test_bad_elements_cost_themselves_only(tmp_path: Path) -> None:
    """They are counted from 1; the rest of the array is read."""
    good = ",".join(f'{{"id":{number},"text":"a"}}' for number in range(6))
    content = f'[{good}, 5, {{"id":7}}, {{"id": x}}, , {{"id":"10","text":"b"}}]'.encode()
    errors: list[RecordError] = []
    found = list(nd.read(write(tmp_path / "a.json", content), id="id", on_error=errors.append))
    assert [one.id for one in found] == ["0", "1", "2", "3", "4", "5", "10"]
    assert found[-1].position == "a.json, record 11"
    assert [f"{error.position}: {error.reason.partition(' (')[0]}" for error in errors] == [
        "a.json, record 7: not a JSON object",
        "a.json, record 8: no text: 'text' is missing or null",
        "a.json, record 9: malformed JSON",
        "a.json, record 10: malformed JSON",
    ]


ELEMENTS = ",".join(f'{{"id":{number},"text":"a"}}' for number in range(6))
ENDS: dict[str, tuple[str, str]] = {
    "cut": (f"[{ELEMENTS},", "the file ends too early (the array is not closed)"),
    "cut_within": (f'[{ELEMENTS},{{"id":"7', "the file ends too early (the array is not closed)"),
    "followed": (f"[{ELEMENTS}]\n[1]", "the text after the array is not read: write one"),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_array_that_does_not_end_as_it_should(tmp_path: Path, name: str) -> None:
    """What is whole is read; then one error."""
    content, words = ENDS[name]
    found, errors, _ = told(write(tmp_path / "a.json", content))
    assert len(found) == 6
    assert len(errors) == 1
    assert errors[0].startswith(words)


HUGE = {
    "string": '"%s"' % ("x" * 2_000_000),
    "marks": '"%s"' % ("]}{[,:" * 300_000),
    "escapes": '"%s"' % (r"\"\\" * 400_000),
    "numbers": f"[{'1,' * 900_000}1]",
    "objects": '{"a":[{"b":"]"}]},' * 90_000 + "1",
    "levels": "[" * 300_000 + "]" * 300_000,
    "backslashes": '"%s"' % ("\\" * 1_000_000),
}


@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.parametrize("block", [4_099, 2**18])
def test_an_element_over_the_limit_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, block: int
) -> None:
    """It is one error and not held; those after it are read, and so is the end of the array."""
    monkeypatch.setattr(SIZES, "read_block", block)
    element = f'{{"id":"7","text":"a","more":[{HUGE[kind]}]}}'
    for content, ids, words in (
        (f'[{ELEMENTS},{element},{{"id":"8","text":"a"}}]', [*"012345", "8"], None),
        (f"[{ELEMENTS},{element}]", [*"012345"], None),
        (f"[{ELEMENTS},{element} ", [*"012345"], "the file ends too early"),
        (f"[{ELEMENTS},{element}] x", [*"012345"], "the text after the array is not read"),
        (f"[{element},{ELEMENTS}]", [*"012345"], None),
    ):
        found, errors, _ = told(write(tmp_path / "a.json", content), max_doc_bytes=1_000)
        assert [id for id, _ in found] == ids
        assert errors[0] == "too_large: more than 1,000 bytes"
        assert len(errors) == (2 if words else 1)
        assert errors[-1].startswith(words or "too_large")


@pytest.mark.parametrize("block", [4_099, 2**18])
def test_an_element_is_too_large_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """One that is read with others at once is refused as one that is not."""
    monkeypatch.setattr(SIZES, "read_block", block)
    element = '{"id":"7","text":"short","html":"%s"}' % ("x" * 70_000)
    path = write(tmp_path / "a.json", f"[{ELEMENTS},{element}]")
    found, errors, _ = told(path, max_doc_bytes=1_000)
    assert len(found) == 6
    assert errors == ["too_large: more than 1,000 bytes"]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rows=st.lists(st.tuples(st.text(min_size=1, max_size=20), st.text()), min_size=1, max_size=9),
    indent=st.sampled_from([None, 1]),
    ascii=st.booleans(),
    block=st.integers(min_value=1, max_value=40),
)
def test_arrays_round_trip(
    tmp_path: Path, rows: list[tuple[str, str]], indent: int | None, ascii: bool, block: int
) -> None:
    """Strings and brackets may lie across blocks of any size."""

    content = json.dumps([{"id": i, "text": t} for i, t in rows], indent=indent, ensure_ascii=ascii)
    if "\\ud" in content and ascii:
        ascii = False
    path = tmp_path / "a.json"
    try:
        path.write_bytes(content.encode())
    except UnicodeEncodeError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SIZES, "read_block", block)
        assert told(path)[0] == rows


def test_a_list_in_the_first_line_is_a_line(tmp_path: Path) -> None:
    """Lines below it are read, and errors have the numbers of lines."""
    objects = [f'{{"id": {n}, "text": "a"}}' for n in range(3)]
    path = write(tmp_path / "a.jsonl", "\n".join(['["id", "text"]', *objects, "", '[2, "b"]', ""]))
    errors: list[nd.RecordError] = []
    assert [row.id for row in nd.read(path, id="id", on_error=errors.append)] == [*"012"]
    assert [error.position for error in errors] == ["a.jsonl, line 1", "a.jsonl, line 6"]
    assert {error.code for error in errors} == {"record-malformed"}
