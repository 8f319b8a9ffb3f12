"""Runs on tables that are remembered: new records are compared by the weights of an earlier run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal
from tests.unit.measures.test_fields import KINDS, people

Row = dict[str, object]
FIELDS: dict[str, nd.types.FieldKind] = {**KINDS}


def table(count: int, doubled: int, seed: int = 1, prefix: str = "p") -> list[Row]:
    """Invented people with ids, those that are there twice among them in any order."""
    rows, _ = people(count, doubled, seed)
    random.Random(seed).shuffle(rows)
    named = (dict(zip(KINDS, row, strict=True)) for row in rows)
    return [{"id": f"{prefix}{at}", **row} for at, row in enumerate(named)]


def ids_of(found: nd.Duplicates) -> set[frozenset[object]]:
    """The pairs of a result, by their ids."""
    return {frozenset((pair.id, pair.other_id)) for pair in found}


@pytest.mark.parametrize("by", ["words", "bands", "all"])
def test_new_records_are_compared_as_a_full_run_compares_them(tmp_path: Path, by: Any) -> None:
    """Some come, some go, some change; the pairs are those of a full run, but for few."""
    how: dict[str, Any] = {"fields": FIELDS, "by": by}
    rows, known = table(1_500, 300), tmp_path / "known"
    first = nd.duplicates(rows[:1_600], remember=known, **how)
    assert first.since is not None
    assert first.since.reason
    rows = rows[100:]
    rows[0] = rows[0] | {"name": "jota jotawick"}
    found, full = nd.duplicates(rows, remember=known, **how), nd.duplicates(rows, **how)
    since = found.since
    assert since is not None
    assert (since.reason, since.came, since.changed, since.gone) == ("", 200, 1, 100)
    assert 0 < since.reused <= len(first)
    assert len(full) > 100
    assert len(ids_of(found) ^ ids_of(full)) <= len(full) / 200
    assert found.weights is not None
    assert first.weights is not None
    assert found.weights.table() == first.weights.table()
    again = nd.duplicates(rows[::-1], remember=known, **how)
    assert ids_of(again) == ids_of(found)
    assert again.since is not None
    assert (again.since.came, again.since.changed, again.since.gone) == (0, 0, 0)


@pytest.mark.parametrize("by", ["words", "bands"])
def test_a_copy_takes_the_place_of_a_record_that_is_gone(tmp_path: Path, by: Any) -> None:
    """Of equal records one is compared for all: its pairs stay if it goes, and a copy has them."""
    rows, known = table(600, 120), tmp_path / "known"
    copies = [row | {"id": f"{row['id']}/copy"} for row in rows]
    with_copies = [*rows, *copies]
    first = nd.duplicates(with_copies, fields=FIELDS, remember=known, by=by)
    left = [*copies, *rows[600:]]
    found = nd.duplicates(left, fields=FIELDS, remember=known, by=by)
    assert found.since is not None
    assert found.since.reason == ""
    kept = {str(row["id"]) for row in left}
    assert ids_of(found) == {pair for pair in ids_of(first) if pair <= kept}


def test_answers_and_linkage_are_applied_anew(tmp_path: Path) -> None:
    """What is remembered is what was compared, before people and rules have their say."""
    rows, known = table(500, 100), tmp_path / "known"
    first = nd.duplicates(rows, fields=FIELDS, remember=known)
    pair = first.pairs[0]
    answers = pd.DataFrame({"id": [pair.id], "other_id": [pair.other_id], "answer": "different"})
    nd.Answers(tmp_path / "a.jsonl").add(answers, rows, text=tuple(FIELDS))
    how: dict[str, Any] = {"fields": FIELDS, "remember": known, "linkage": "complete"}
    found = nd.duplicates(rows, answers=tmp_path / "a.jsonl", **how)
    assert ids_of(first) - ids_of(found) == {frozenset((pair.id, pair.other_id))}
    assert ids_of(nd.duplicates(rows, fields=FIELDS, remember=known)) == ids_of(first)


def test_weights_are_learnt_anew_when_the_table_is_another(tmp_path: Path) -> None:
    """Other fields, and many more records; a result says why."""
    rows, known = table(900, 150), tmp_path / "known"
    nd.duplicates(rows[:600], fields=FIELDS, remember=known)
    others: list[tuple[list[Row], Any]] = [(rows[:600], ["name", "zip:exact"]), (rows, FIELDS)]
    for some, fields in others:
        found = nd.duplicates(some, fields=fields, remember=known)
        assert found.since is not None
        assert found.since.reason
        assert ids_of(found) == ids_of(nd.duplicates(some, fields=fields))
        nd.duplicates(rows[:600], fields=FIELDS, remember=known)
    same = nd.duplicates(rows, fields=FIELDS, remember=tmp_path / "other", same="zip")
    assert same.since is not None
    assert "`same`" in same.since.reason
    assert not (tmp_path / "other").exists()


def test_two_lists_in_a_table_are_not_remembered(tmp_path: Path) -> None:
    """Each has its best match in the other list alone, which new records may change."""
    rows, known = table(600, 120), tmp_path / "known"
    rows += [row | {"id": f"{row['id']}/copy"} for row in rows]
    for _ in range(2):
        found = nd.duplicates(rows, fields=FIELDS, remember=known, by="all")
        assert "two lists" in found.chosen
        assert found.since is not None
        assert "lists" in found.since.reason
    assert not known.exists()


def test_columns_that_were_chosen_are_chosen_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Though the values of more records would choose other ones; a line says which."""
    rows, known = table(800, 150), tmp_path / "known"
    nd.duplicates(rows[:700], remember=known)
    (chosen,) = [line for line in caplog.messages if "as with" in line]
    for row in rows[700:]:
        row["street"] = ""
    caplog.clear()
    found = nd.duplicates(rows, remember=known)
    assert found.since is not None
    assert found.since.reason == ""
    (again,) = [line for line in caplog.messages if "as with" in line]
    assert again.rpartition("fields=")[2] == chosen.rpartition("fields=")[2]


def test_a_line_tells_of_drift(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """If new records lack a value, or have values of another kind, but not if they are alike."""
    rows, known = table(1_200, 250), tmp_path / "known"
    before, new = rows[:1_200], rows[1_200:]
    changes: dict[str, Any] = {
        "": lambda row, at: {},
        "zip": lambda row, at: {"zip": None},
        "street": lambda row, at: {"street": f"ulica {at % 7}q{at} kw{at}"},
    }
    for name, change in changes.items():
        known.unlink(missing_ok=True)
        nd.duplicates(before, fields=FIELDS, remember=known)
        caplog.clear()
        some = [row | change(row, at) for at, row in enumerate(new)]
        found = nd.duplicates([*before, *some], fields=FIELDS, remember=known)
        assert found.since is not None
        assert found.since.reason == ""
        drift = found.since.drift
        assert drift.startswith(f"{name} ") if name else not drift
        assert bool(drift) == any("unlike" in line for line in caplog.messages)


def test_the_command_says_what_was_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a table without a text, too; what was run on texts is no run of fields."""
    monkeypatch.chdir(tmp_path)
    rows = table(300, 60)

    def write(some: list[Row]) -> None:
        lines = [",".join(str(value or "") for value in row.values()) for row in some]
        Path("people.csv").write_text("\n".join([",".join(rows[0]), *lines, ""]))

    write(rows[:340])
    words = ["duplicates", "people.csv", "--remember", "known"]
    assert "there was no earlier run" in neardup(*words).stderr
    write(rows)
    ran = neardup(*words)
    assert "Since the last run: 20 documents added" in ran.stderr
    assert "Everything" in neardup(*words, "--measure", "words", "--text-field", "name").stderr
    assert "Everything" in neardup(*words).stderr


def test_a_model_of_answers_is_not_remembered() -> None:
    """Its weights are in its file."""
    with refusal(nd.ArgumentError, "arguments-conflict", "`remember`", "`model`"):
        nd.duplicates([], model="m.json", remember="known")
