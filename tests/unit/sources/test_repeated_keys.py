"""An object with a key twice is refused, however its quotes and keys are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from tests.faults.tiers import sized
from tests.refusals import refusal

NEAR = "the ferry leaves the old pier at nine"
TWICE = {
    "plain": '{"id":"z","text":"%s","text":"harmless"}',
    "escaped quotes": r'{"id":"z","text":"%s","text":"harmless","n":"\u0022\u0022"}',
    "other quotes": r'{"id":"z","text":"%s","text":"harmless","n":"\"\u0022\\\u0022"}',
    "escaped key": r'{"id":"z","te\u0078t":"%s","text":"harmless"}',
    "escaped slash": r'{"id":"z","a/b":1,"text":"%s","a\/b":"\u0022\u0022"}',
    "escaped quote in a key": r'{"id":"z","a\"b":1,"a\u0022b":2,"text":"%s"}',
    "no strings": r'{"id":"z","text":"%s","n":1,"n":2,"q":"\u0022"}',
    "within": r'{"id":"z","text":"%s","o":{"a":1,"a":2},"q":"\u0022"}',
    "within a list": r'{"id":"z","text":"%s","o":[[{"a":1,"a":2}]],"q":"\u0022"}',
    "empty": r'{"id":"z","text":"%s","":"","":"\u0022\u0022"}',
    "NaN": r'{"id":"z","text":"%s","n":NaN,"n":"\u0022"}',
    "deep": '{"id":"z","text":"%s","o":' + '{"a":' * 600 + '1,"b":1,"b":2' + "}" * 600 + "}",
    "long number": r'{"id":"z","text":"%s","n":1,"n":' + "9" * 300 + r',"q":"\u0022"}',
}
ONCE = {
    "quotes": r'{"id":"z","text":"%s","n":"\u0022\"\\","o":{"n":"\\\""}}',
    "backslashes": r'{"id":"z","text":"%s","n":"\\\\\\","\\":"\\\"","\"":1}',
    "within": r'{"id":"z","text":"%s","o":{"id":"\"","text":"\\"},"l":[{"id":1},{"id":2}]}',
    "case": '{"id":"z","text":"%s","ID":1,"Text":2}',
    "deep": '{"id":"z","text":"%s","o":' + '{"a":' * 600 + r'"\u0022"' + "}" * 600 + "}",
}
SHAPES: dict[str, Callable[[str], str]] = {
    "a.jsonl": lambda row: f'{{"id":"a","text":"{NEAR}"}}\n{row}\n{{"id":"c","text":"x y"}}\n',
    "a.json": lambda row: f'[{{"id":"a","text":"{NEAR}"}},\n{row}, {{"id":"c","text":"x y"}}]',
}


def read(path: Path) -> tuple[list[str], list[nd.RecordError]]:
    """The ids that are read, and the errors."""
    errors: list[nd.RecordError] = []
    return [document.id for document in nd.read(path, on_error=errors.append)], errors


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("row", TWICE)
def test_a_key_twice_is_refused(row: str, name: str, tmp_path: Path) -> None:
    (path := tmp_path / name).write_text(SHAPES[name](TWICE[row] % NEAR))
    ids, errors = read(path)
    assert ids == ["a", "c"]
    assert ["twice" in error.reason for error in errors] == [True]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("row", ONCE)
def test_keys_that_differ_are_read(row: str, name: str, tmp_path: Path) -> None:
    (path := tmp_path / name).write_text(SHAPES[name](ONCE[row] % NEAR))
    assert read(path) == (["a", "z", "c"], [])


def test_pairs_and_answers_have_no_key_twice(tmp_path: Path) -> None:
    """Files of known pairs and of answers are refused as sources are."""
    row = r'"id":"a","other_id":"b","id":"c","note":"\u0022\u0022","answer":"same"'
    (path := tmp_path / "known.jsonl").write_text(f"{{{row}}}\n")
    (source := tmp_path / "a.jsonl").write_text(SHAPES["a.jsonl"](ONCE["case"] % NEAR))
    with refusal(nd.SourceError, "line-invalid", "line 1"):
        nd.duplicates(source, answers=path)
    with refusal(nd.SourceError, "line-invalid", "line 1"):
        nd.tune(source, known=path)


KEYS = st.sampled_from(["a", '"', "\\", "", "é", 'a"b'])
SCALARS = st.one_of(st.integers(0, 9), st.booleans(), KEYS, st.none())
PARTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(st.tuples(KEYS, inner), max_size=3).map(tuple)
    ),
)


def spell(part: Any, draw: Callable[[Any], Any]) -> str:
    """Write JSON, in which an object is a tuple of pairs, with some quotes as escapes."""
    if isinstance(part, tuple):
        pairs = (f"{spell(key, draw)}:{spell(value, draw)}" for key, value in part)
        return f"{{{','.join(pairs)}}}"
    if isinstance(part, list):
        return f"[{','.join(spell(each, draw) for each in part)}]"
    written = json.dumps(part)
    is_odd = isinstance(part, str) and draw(st.booleans())
    return '"' + "".join(f"\\u{ord(sign):04x}" for sign in part) + '"' if is_odd else written


def has_twice(part: Any) -> bool:
    """Tell whether a tuple of pairs, or any within a part, has a key twice."""
    if isinstance(part, list):
        return any(map(has_twice, part))
    if not isinstance(part, tuple):
        return False
    keys = [key for key, _ in part]
    return len(set(keys)) < len(keys) or any(has_twice(value) for _, value in part)


@settings(max_examples=sized(usual=150, full=3_000))
@given(parts=st.lists(st.tuples(KEYS, PARTS), max_size=4).map(tuple), data=st.data())
def test_keys_are_told_apart_exactly(
    parts: Any, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the values are, a record is read if and only if no key comes twice."""
    row = f'{{"id":"z","text":"x","o":{spell(parts, data.draw)}}}'
    path = tmp_path_factory.mktemp("keys") / "a.jsonl"
    path.write_text(SHAPES["a.jsonl"](row))
    assert ("z" not in read(path)[0]) == has_twice(parts)
