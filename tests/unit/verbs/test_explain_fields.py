"""explain with fields: what each of them adds, which is what duplicates goes by."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from tests.command import neardup
from tests.unit.verbs.test_duplicates_fields import FIELDS, invent

COLUMNS = ("id", *FIELDS)
FEW = [
    dict(zip(COLUMNS, row, strict=True))
    for row in [
        ("1", "Marta Linsen", "12 Mill Road", "1017", "1961-03-04"),
        ("2", "Linsen Marta", "12 Mill Rd.", "1017", ""),
        ("3", "Jonas Weber", "3 Castle Lane", "2210", "1975-11-20"),
        ("4", "Otto Weber", "3 Castle Lane", "2210", "1949-07-07"),
        ("5", "", "", "", "1990-09-15"),
        ("6", "Lena Dahl", "", "", ""),
    ]
]
TYPED = ["--field", "name,street", "--field", "zip:exact", "--field", "born:date"]


def test_the_sum_is_the_probability() -> None:
    """Weights of all fields add up to the odds that duplicates has for the same pair."""
    frame, _ = invent()
    pairs = nd.duplicates(frame, fields=FIELDS, min_similarity=0.01).pairs
    for pair in pairs[:: max(1, len(pairs) // 5)]:
        found = nd.explain(frame, pair.id, pair.other_id, fields=FIELDS, min_similarity=0.01)
        assert found.verdict == "found"
        assert found.facts.measured("fields").similarity == pytest.approx(pair.similarity)
        assert [one.field for one in found.facts.evidence] == ["", *FIELDS]
        bits = sum(one.bits for one in found.facts.evidence)
        if pair.similarity < 1:
            odds = math.log2(pair.similarity / (1 - pair.similarity))
            assert bits == pytest.approx(odds, abs=1e-3)


def test_a_pair_that_is_no_match() -> None:
    """It says what speaks against it; below the floor, and without any value, it says so."""
    asked: dict[str, Any] = {"fields": FIELDS}
    near = nd.explain(FEW, 3, 4, **asked)
    assert near.verdict == "beyond the limits"
    against = {one.field for one in near.facts.evidence if one.bits < 0}
    assert {"born"} <= against
    assert "Their probability of a match is 0." in near.reasons[0]
    apart = nd.explain(FEW, 1, 3, **asked)
    assert "; below 0.4, no pair is a match" in apart.reasons[1]
    nothing = nd.explain(FEW, 5, 6, **asked)
    assert "No field has a value in both documents, so there is no evidence." in nothing.reasons
    assert {one.level for one in nothing.facts.evidence[1:]} == {"missing"}
    wider = nd.explain(FEW, 1, 2, **asked, min_similarity=0.99)
    assert wider.advice == "To find it, widen the limits: --min-similarity 0.89."


def test_repeated_ids() -> None:
    """Of several records of one id the last one counts, or the one whose number is given."""
    rows = [*FEW, FEW[0] | {"name": "Otto Holm"}]
    last = nd.explain(rows, 1, 2, fields=FIELDS).facts
    first = nd.explain(rows, "1@row1", 2, fields=FIELDS).facts
    assert last.first.entry.normal.startswith("otto holm")
    assert first.first.entry.normal.startswith("marta")
    assert first.probability > last.probability


@pytest.mark.parametrize(
    ("one", "how", "error", "said"),
    [
        ("9", {}, SourceError, "no record with words with the id '9'"),
        ("7", {}, RecordError, "are missing or null"),
        ("1", {"measure": "jaccard"}, ArgumentError, "cannot be combined with the measure jaccard"),
        ("1", {"max_distance": 2}, ArgumentError, "has no distance"),
        ("2", {}, ArgumentError, "both ids are '2'"),
    ],
)
def test_what_cannot_be_explained(one: str, how: Any, error: Any, said: str) -> None:
    """What is not there, or does not go together, is one clear message."""
    with pytest.raises(error, match=said):
        nd.explain([*FEW, {"id": "7"}], one, "2", fields=FIELDS, **how)


def test_the_command(tmp_path: Path) -> None:
    """A table has the bits of each field, and of all together."""
    (tmp_path / "few.jsonl").write_text("\n".join(map(json.dumps, FEW)))
    words = ["explain", "1", "2", "--source", str(tmp_path / "few.jsonl"), *TYPED]
    printed = neardup(*words).stdout.splitlines()
    at = next(at for at, line in enumerate(printed) if line.startswith(" field "))
    rows = printed[at + 2 : at + 9]
    names = [line.split()[0] for line in rows]
    assert names == ["at", "name", "street", "zip", "born", "together", "threshold"]
    *bits, threshold = [float(line.split()[-1]) for line in rows]
    assert threshold == 0
    assert bits[0] < 0 < bits[1]  # what speaks against a match at first
    assert sum(bits[:-1]) == pytest.approx(bits[-1], abs=0.3)
    known = json.loads(neardup(*words, "--format", "json").stdout)
    assert [one["field"] for one in known["evidence"]] == ["", *FIELDS]
    wider = neardup(*words, "--min-similarity", "0.99").stdout.splitlines()
    assert wider[-1] == "To find it, widen the limits: --min-similarity 0.89."


def test_hostile_values(tmp_path: Path) -> None:
    """Nothing in a name or a value is markup in a notebook, or moves the cursor of a terminal."""
    name, value = "<b>na\u202eme</b>", "<script>alert(1)</script> \x1b[2J Marta"
    rows = [{"id": id, name: f"{value} {id}"} for id in ("1", "2")]
    page = nd.explain(rows, 1, 2, fields={name: "text"})._repr_html_()
    assert "&lt;b&gt;" in page
    assert not [mark for mark in ("<b>na", "<script", "\u202e", "\x1b") if mark in page]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ["explain", "1", "2", "--source", str(tmp_path / "two.jsonl"), "--field", name]
    printed = neardup(*words).stdout
    assert "na\\u202eme" in printed
    assert not [mark for mark in ("\u202e", "\x1b") if mark in printed]


def test_an_improbable_pair_is_found_by_an_answer(tmp_path: Path) -> None:
    """A threshold as low as its probability would find nearly all pairs."""
    source, answers = tmp_path / "few.jsonl", tmp_path / "answers.jsonl"
    source.write_text("\n".join(map(json.dumps, FEW)))
    said = neardup("explain", "3", "4", "--source", str(source), *TYPED).stdout
    assert "neardup answer 3 4 same --answers FILE" in " ".join(said.split())
    assert "--min-similarity" not in said
    neardup("answer", "3", "4", "same", "--answers", str(answers))
    again = neardup("duplicates", str(source), *TYPED, "--answers", str(answers)).stdout
    assert ["3", "4"] in [line.split("\t")[:2] for line in again.splitlines()]


TEXTS = [
    {"id": 1, "text": "the night ferry to Orla leaves the old pier at nine", "port": "Kiel"},
    {"id": 2, "text": "the night ferry to Orla leaves the old pier at ten", "port": "Kiel"},
    {"id": 3, "text": "the night ferry to Orla leaves the old pier at noon", "port": "Brest"},
    {"id": 4, "text": "a day without any ferry", "port": ""},
]


@pytest.mark.parametrize(
    ("records", "columns", "same"),
    [(TEXTS, {}, "port"),
     (FEW, {"fields": FIELDS}, "zip"),
     ([{**one, "port": one["id"] in "1 2"} for one in FEW], {"fields": FIELDS}, "port")],
    ids=["texts", "fields", "beside"],
)  # fmt: skip
def test_same_and_answers_are_those_of_duplicates(
    records: Any, columns: dict[str, Any], same: str, tmp_path: Path
) -> None:
    """A pair is left out or added by them, and its similarity is as without them."""
    answers = tmp_path / "answers.jsonl"
    text = ["name", "street", "zip", "born"] if columns else "text"
    nd.answer(records, 1, 2, "different", answers=answers, text=text)
    nd.answer(records, 1, 4, "same", answers=answers, text=text)
    for options in ({}, {"same": same}, {"answers": answers}):
        found = nd.duplicates(records, min_similarity=0.3, **columns, **options)
        pairs = {(int(pair.id), int(pair.other_id)): pair.similarity for pair in found.pairs}
        for one, other in [(1, 2), (1, 3), (1, 4)]:
            asked: dict[str, Any] = {**columns, **options, "min_similarity": 0.3}
            explained = nd.explain(records, one, other, **asked)
            assert ((one, other) in pairs) == (explained.verdict == "found"), (options, one, other)
            usual = nd.explain(records, one, other, **columns, min_similarity=0.3)
            assert explained.facts.similarity == usual.facts.similarity
            if (one, other) in pairs:
                assert explained.facts.similarity == pytest.approx(pairs[one, other])
