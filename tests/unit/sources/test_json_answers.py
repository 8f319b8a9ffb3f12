"""Answers of servers, saved as they came: their records are read, or the message names the path."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import RecordError, SourceError
from tests.reading import Options, noticed, read

ROWS = [{"id": str(n), "text": f'a "{{{n}}}" [b]'} for n in range(3)]
IDS = ["0", "1", "2"]
HITS = [{"_id": row["id"], "_source": {"text": row["text"]}} for row in ROWS]
HEAD = {"status": 0, "params": {"q": "*:*", "fq": ["a", "b"], "json": '{"a": [{"b": 1}]}'}}
FACETS = {"facet_fields": {"docs": ["x", 1]}, "docs": [{"id": "no"}]}
SOLR = {"responseHeader": HEAD, "response": {"numFound": 3, "start": 0, "docs": ROWS}}
CUT = {"responseHeader": HEAD, "response": {"numFound": 1_234, "docs": ROWS}}
GROUPS = {"grouped": {"f": {"matches": 3, "groups": [{"doclist": {"docs": ROWS}}]}}}
SIMPLE = {"grouped": {"f": {"matches": 3, "doclist": {"numFound": 3, "docs": ROWS}}}}
FOUND = r"a\.json: using the records in "
# The object; ids or words of the message; words of the notices, and how it is read.
ANSWERS: dict[str, tuple[Any, list[str] | str, list[str], Options]] = {
    "solr": (SOLR, IDS, [FOUND + "'response.docs'"], {}),
    "facets": (SOLR | {"facet_counts": FACETS}, IDS, [FOUND], {}),
    "few_rows": (CUT, IDS, [FOUND, r"contains 3 of the 1,234 documents found"], {}),
    "no_rows": ({"response": {"numFound": 0, "docs": []}}, [], [FOUND, "no records"], {}),
    "simple_groups": (SIMPLE, IDS, [FOUND + "'grouped.f.doclist.docs'"], {}),
    "groups": (GROUPS, "(query Solr with group.main=true|grouped.f.groups)", [], {}),
    "title": ({"text": "all of it", "items": ROWS}, IDS, [FOUND + "'items'"], {}),
    "features": (
        {"type": "all", "features": [{"type": "one", "properties": row} for row in ROWS]}, IDS,
        [FOUND + "'features'"], {"id": "properties.id", "text": ("type", "properties.text")}),
    "stream": ({"result-set": {"docs": ROWS}}, IDS, [FOUND], {}),
    "hits": ({"hits": {"total": {"value": 3}, "hits": HITS}}, IDS, [FOUND + "'hits.hits'"],
             {"id": "_id", "text": ("_source.text",)}),
    "hits_by_wrong_names": ({"hits": {"hits": HITS}}, "'_id', '_source.text'", [FOUND], {}),
    "data": ({"links": [{"href": "x"}], "data": ROWS}, IDS, [FOUND + "'data'"], {}),
    "results": ({"next": None, "total": 9, "Results": ROWS}, IDS, [FOUND, "9 doc"], {}),
    "nodes": ({"data": {"posts": {"nodes": ROWS}}}, IDS, [FOUND + "'data.posts.nodes'"], {}),
    "unknown": ({"stuff": {"things": ROWS}}, r"stuff\.things(\[\]|\.id)", [], {}),
    "texts": ({"data": ["a", "b"]}, "(one JSON object|available: 'data')", [], {}),
    "error": ({"responseHeader": HEAD, "error": {"msg": "undefined field x", "code": 400}},
              "an error message from a server: undefined field x;", [],
              {"text": ("title",)}),
    "error_of_others": ({"error": {"root_cause": [{"reason": "?"}], "reason": "no index"}},
                        "message from a server: no index;", [], {}),
    "error_by_its_name": ({"error": {"msg": "undefined field x"}}, "(one JSON object|no id)", [],
                          {"text": ("error.msg",)}),
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ANSWERS)
def test_the_records_of_an_answer_are_read(name: str, indent: int | None, tmp_path: Path) -> None:
    """On a line or several, whatever stands around them."""
    answer, expected, notices, options = ANSWERS[name]
    (path := tmp_path / "a.json").write_text(json.dumps(answer, indent=indent) + "\n")
    lines: list[str] = []
    with noticed(lines):
        if isinstance(expected, str):
            with pytest.raises(SourceError, match=expected):
                list(read(path, **options))
        else:
            assert [document.id for document in read(path, **options)] == expected
    assert len(lines) == len(notices)
    assert all(re.search(words, line) for words, line in zip(notices, lines, strict=True))


WHOLE = json.dumps(SOLR, indent=1)


@pytest.mark.parametrize(
    ("content", "ids", "reason"),
    [
        (WHOLE[: WHOLE.index('"id": "2"')], IDS[:2], "the file ends too early"),
        (WHOLE[:-3], IDS, "is cut off, or is followed by text"),
        (WHOLE + "\n" + WHOLE, IDS, "is cut off, or is followed by text"),
        (f"[{json.dumps(ROWS[0])}]\n[]", IDS[:1], "the text after the array is not read"),
        ("".join(json.dumps({**row, "data": ROWS}) + "\n" for row in ROWS), IDS, ""),
        (json.dumps({**ROWS[0], "data": ROWS}), IDS[:1], ""),
    ],
)
def test_what_is_around_the_records(
    content: str, ids: list[str], reason: str, tmp_path: Path
) -> None:
    """An answer that is cut off, or not alone, is told; a record may have a list itself."""
    (path := tmp_path / "a.json").write_text(content)
    errors: list[RecordError] = []
    assert [row.id for row in nd.read(path, id="id", on_error=errors.append)] == ids
    assert [reason in error.reason for error in errors] == [True] * bool(reason)
