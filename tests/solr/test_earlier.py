"""Collections that an earlier version made are searched, marked and checked as by that version.

The files in `earlier/` were written by the code of November 2026, before its folders were named by
what a thing is about. They hold every stored and docValues field of two collections, and what the
commands of that version printed about them:

- `documents.jsonl` and `answers.jsonl`: listings of the demo and invented texts in many scripts,
  indexed with `--keep city --fields +profile_hash`;
- `their_documents.jsonl`, `their_schema.jsonl` (what `init --prefix nd_` added) and
  `their_answers.jsonl`: the same invented texts in the shop of `foreign.py`, annotated with other
  settings (`--kind chars --family xor` and so on).

Both were marked with `duplicates --mark`, by bands, as that version did without `--by`. Since then
positional names have become `--collection`, and few documents are all compared without `--by`:
`words_of_today` says so in the words of now. They are posted here by plain requests. A difference
means that users would have to index again: new code is wrong, not these files.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests import command
from tests.solr import IS_OLDER, TOLD, foreign

TIMEOUT = 60
FOLDER = Path(__file__).parent / "earlier"
ANY_NAME = "CORE"  # stands for the collection's name in the files
MARKS = ("neardup_cluster", "neardup_canonical", "neardup_rank")
PREFIX = "nd_"
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    """The lines of a file in `earlier/`."""
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


OURS, THEIRS = rows("documents.jsonl"), rows("their_documents.jsonl")
UNMARKED = [{name: row[name] for name in row if name not in MARKS} for row in OURS]


def post(url: str, rows: Any) -> None:
    """Post JSON to Solr, without any code of the package."""
    answer = requests.post(url, json=rows, timeout=TIMEOUT)
    assert answer.status_code == 200, answer.text


def stored(solr: nd.Collection, key: str = "id") -> list[Row]:
    """Every field of every document but Solr's own, as in the files."""
    asked = {"q": "*:*", "defType": "lucene", "fl": "*", "rows": 10_000, "sort": f"{key} asc"}
    answer = requests.post(f"{solr.url}/select", data=asked, timeout=TIMEOUT)
    assert answer.status_code == 200, answer.text
    found = answer.json()["response"]["docs"]
    return [{n: row[n] for n in row if n not in ("_version_", "_root_")} for row in found]


# What is said in other words today. `aligned` compares numbers such as 1,000 and 3.14 as a whole.
SAID_TODAY = {
    '"other_id":"mixed-1","similarity":0.9855': '"other_id":"mixed-1","similarity":0.9857',
    '"other_id":"mixed-2","similarity":0.9532': '"other_id":"mixed-2","similarity":0.9444',
    '"other_id":"mixed-2","similarity":0.9621': '"other_id":"mixed-2","similarity":0.9553',
    f"paste the XML that neardup init -c {ANY_NAME} prints, then reload": (
        "nothing to do: all neardup fields exist"
    ),
}


COMPARED = re.compile(r"[\d,]+ (?=pairs compared)")
# What is said besides: copies, hints, and that scripts without blanks are compared as whole words.
TOLD_BESIDES = re.compile(
    r" \d+ (is an exact copy|are exact copies);|Incomplete: .*scripts without spaces.*\n"
    r"|About \d+ pairs differ only in numbers: .*\n|bands miss most excerpts .*\n"
)


def words_of_today(words: list[str]) -> list[str]:
    """The words of an earlier command in those of today, which ask for the same."""
    command, *others = words
    if command in ("doctor", "lint"):
        return [command, "--collection", *others]
    if command == "duplicates" and "--by" not in others:
        return words_of_today([*words, "--by", "words" if "aligned" in others else "bands"])
    gone = ("--canonical", "price:desc") if "price:desc" in words else ("--later-only",)
    return [word for word in words if word not in gone]


def neardup(solr: nd.Collection, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command, ANY_NAME in its words being the collection's name."""
    named = [solr.name if word == ANY_NAME else word for word in words]
    return command.neardup(*named, env={"NEARDUP_SOLR_URL": solr.base})


def done(solr: nd.Collection, *words: str) -> str:
    """As `neardup`, for a command that has to succeed; what it told of itself."""
    result = neardup(solr, *words)
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.fixture
def ours(solr: nd.Collection) -> nd.Collection:
    """The earlier collection, in a core of this test."""
    post(f"{solr.url}/update?commit=true", OURS)
    return solr


@pytest.fixture
def theirs(home: Path) -> Iterator[nd.Collection]:
    """The earlier annotated collection, in a core of this test."""
    yield from _theirs()


@pytest.fixture(scope="module")
def both(solr_url: str, home: Path) -> Iterator[dict[str, nd.Collection]]:
    """The two collections for tests that only read, by the file of their answers."""
    with fresh_core(solr_url) as core:
        post(f"{core.url}/update?commit=true", OURS)
        for shop in _theirs():
            yield {"answers.jsonl": core, "their_answers.jsonl": shop}


def _theirs() -> Iterator[nd.Collection]:
    with foreign.collection() as shop:
        for row in rows("their_schema.jsonl"):
            post(f"{shop.url}/schema", row)
        post(f"{shop.url}/update?commit=true", THEIRS)
        yield shop


@pytest.mark.parametrize(
    ("file", "earlier"),
    [
        pytest.param(file, row, id=f"{file.removesuffix('.jsonl')}: {shlex.join(row['words'])}")
        for file in ("answers.jsonl", "their_answers.jsonl")
        for row in rows(file)
    ],
)
def test_commands_answer_as_the_earlier_ones(
    both: dict[str, nd.Collection], file: str, earlier: Row
) -> None:
    """search, report, duplicates, explain, lint and doctor, by every field and measure."""
    if IS_OLDER and earlier["words"][0] in ("doctor", "lint"):
        pytest.skip(TOLD)
    solr = both[file]
    result = neardup(solr, *words_of_today(earlier["words"]))
    place = solr.place.replace(solr.name, ANY_NAME)
    expected = earlier["out"].replace(f"neardup init {ANY_NAME}", f"neardup init -c {ANY_NAME}")
    for before, now in SAID_TODAY.items():
        expected = expected.replace(before, now)
    expected = expected.replace(f"-c {ANY_NAME}", place)
    found = re.sub(r'.*"rule":"(blanks|copy)".*\n', "", result.stdout).replace(solr.name, ANY_NAME)
    found = re.sub(r',"relation":("[a-z ]+"|null)', "", found)  # a new column
    if "explain" in earlier["words"] and "json" in earlier["words"]:  # three keys are new
        now, before = json.loads(found), json.loads(expected)
        assert {key: now[key] for key in before} == before
        assert now.keys() - before.keys() == {"measure", "passages", "shared_words"}
    else:
        assert found == expected
    assert result.returncode == earlier["code"]
    if "err" in earlier:  # counts and settings, and what the candidates have in common
        said = re.sub(r" with a (band|rare word) in common compared", " compared", result.stderr)
        said = TOLD_BESIDES.sub("", said).replace(solr.name, ANY_NAME)
        # Texts that are equal are compared once.
        assert COMPARED.sub("", said) == COMPARED.sub("", earlier["err"])


def test_indexing_again_writes_the_same_fields(ours: nd.Collection, tmp_path: Path) -> None:
    """With the settings that are stored, which other ones do not get past."""
    source = tmp_path / "source.jsonl"
    kept = ({**row, "city": row.get("city", [])} for row in OURS)
    lines = [{"id": row["id"], "text": row["content"], "city": row["city"]} for row in kept]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    again = ("index", str(source), "--keep", "city", "-c", ANY_NAME)
    refused = neardup(ours, *again, "--shingle-size", "4")
    assert refused.returncode == 3
    assert stored(ours) == OURS
    done(ours, *again)
    assert stored(ours) == UNMARKED
    done(ours, "delete", "--query", "*:*", "--yes", "-c", ANY_NAME)
    done(ours, *again, "--fields", "+profile_hash")
    # Now there are other settings, by which only texts of some scripts and signs have other fields.
    for row, before in zip(stored(ours), UNMARKED, strict=True):
        settings = before["signature_settings"], row["signature_settings"]
        assert [one[:2] for one in settings] == ["n1", "n2"]
        if row["md5_hash"] == before["md5_hash"]:  # the normal form is as it was
            assert row == before | {"signature_settings": settings[1]}


def test_annotating_again_writes_the_same_fields(theirs: nd.Collection) -> None:
    """Nothing is stale; computed anew, all of it, every field is as it was."""
    assert "0 annotated + 44 unchanged" in done(theirs, "annotate", "-c", ANY_NAME)
    assert stored(theirs, "sku") == THEIRS
    assert "= 44 annotated" in done(theirs, "annotate", "-c", ANY_NAME, "--which", "all")
    assert stored(theirs, "sku") == THEIRS


def test_marks_are_the_same_and_are_undone(ours: nd.Collection, theirs: nd.Collection) -> None:
    """Marking again changes nothing; undone and marked once more, the same marks are there."""
    for solr, marked, key in ((ours, OURS, "id"), (theirs, THEIRS, "sku")):
        done(solr, "duplicates", "--by", "bands", "--mark", "-c", ANY_NAME)
        assert stored(solr, key) == marked
        done(solr, "duplicates", "--undo", "-c", ANY_NAME)
        left = {name.removeprefix(PREFIX) for row in stored(solr, key) for name in row}
        assert left.isdisjoint(MARKS)
        done(solr, "duplicates", "--by", "bands", "--mark", "-c", ANY_NAME)
        assert stored(solr, key) == marked


def test_what_was_added_is_taken_out(theirs: nd.Collection) -> None:
    """The fields out of the documents, then out of the schema: what is left is theirs."""
    done(theirs, "strip", "-c", ANY_NAME)
    bare = [{name: row[name] for name in row if not name.startswith(PREFIX)} for row in THEIRS]
    assert stored(theirs, "sku") == bare
    done(theirs, "init", "-c", ANY_NAME, "--remove")
    schema = requests.get(f"{theirs.url}/schema", timeout=TIMEOUT).json()["schema"]
    added = [one["name"] for row in rows("their_schema.jsonl") for one in row.values()]
    there = {one["name"] for part in ("fields", "fieldTypes") for one in schema[part]}
    assert added
    assert there.isdisjoint(added)
