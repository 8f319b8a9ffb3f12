"""One record in a hundred is bad, in fifteen ways: each becomes a dead letter with its reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import neardup_solr as nd
from tests.faults.tiers import sized

RECORDS = sized(usual=6_000, full=100_000)
EVERY = 100
LARGEST = 2_000  # bytes of a document
DEEP = "[" * 2_000 + "]" * 2_000

# What stands in the line of record N, who refuses it, and what the reason says.
KINDS: dict[str, tuple[str, str, str]] = {
    "malformed": ('{"id": "x%d", "text": "a', "read", "malformed JSON"),
    "not an object": ('["x%d", "a text"]', "read", "not a JSON object"),
    "no id": ('{"number": "x%d", "text": "a text"}', "read", "no id: 'id' is missing or null"),
    "null as id": ('{"id": null, "text": "text %d"}', "read", "no id: 'id' is missing or null"),
    "empty id": ('{"id": "", "text": "text %d"}', "read|check", "the id is empty"),
    "fraction as id": ('{"id": %d.5, "text": "a text"}', "read", "is the number .*, not text or"),
    "long id": ('{"id": "' + "x" * 600 + '%d", "text": "a"}', "read|check", "more than 512"),
    "no text": ('{"id": "x%d"}', "read", "no text: 'text' is missing or null"),
    "number as text": ('{"id": "x%d", "text": 7}', "read", "the text in 'text' is the number 7"),
    "too large": ('{"id": "x%d", "text": "' + "word " * 800 + '"}', "read", "too_large"),
    "surrogate": ('{"id": "x%d", "text": "a \\ud800"}', "read|check", "surrogate|malformed JSON"),
    "not a number": ('{"id": "x%d", "text": NaN}', "read", "'text' is missing or null"),
    "deep": ('{"id": "x%d", "text": "a", "city": ' + DEEP + "}", "read", "deep|levels|malformed"),
    "no UTF-8": ('{"id": "x%d", "text": "a \udcff"}', "read", "invalid UTF-8"),
    "refused": ('{"id": "x%d", "text": "a", "size_i": "large"}', "solr", "Solr refused it: "),
}  # fmt: skip


def written(path: Path) -> dict[int, str]:
    """Write the file; returns the kind of each bad line by its number, from 1."""
    names = list(KINDS)
    bad: dict[int, str] = {}
    with path.open("w", encoding="utf-8", errors="surrogateescape") as file:
        for number in range(1, RECORDS + 1):
            if number % EVERY == EVERY // 2:
                bad[number] = names[len(bad) % len(names)]
                file.write(KINDS[bad[number]][0] % number + "\n")
            else:
                record = {"id": f"d{number}", "text": f"text {number} of words {number % 7}"}
                file.write(json.dumps(record) + "\n")
    return bad


def test_bad_records_are_dead_letters(tmp_path: Path, solr: nd.Collection, row: Any) -> None:
    """Each stands in the file once, with its line, its stage and its reason; the rest is there."""
    path, job = tmp_path / "records.jsonl", tmp_path / "job"
    bad = written(path)
    source = nd.Source(path, max_doc_bytes=LARGEST)
    done = nd.index(source, solr, keep=["size_i", "city"], job=job)
    assert (done.read, done.failed, done.repeated) == (RECORDS, len(bad), 0)
    assert done.indexed == solr.count() == RECORDS - len(bad)
    letters = nd.dead_letters(job=job)
    lines = [int(re.findall(r"line (\d+)", one.position)[0]) for one in letters]
    assert sorted(lines) == list(bad)
    right = 0
    for line, letter in zip(lines, letters, strict=True):
        _, stage, reason = KINDS[bad[line]]
        told = f"{bad[line]}: {letter.stage}: {letter.reason}"
        is_right = bool(re.fullmatch(stage, letter.stage) and re.search(reason, letter.reason))
        assert is_right, told
        right += is_right
    figure = f"{len(bad):,} bad records of {len(KINDS)} kinds among {RECORDS:,}"
    share = f"{right / len(bad):.1%} with the right reason"
    row("R7", f"{figure}: each is a dead letter once, {share}")
