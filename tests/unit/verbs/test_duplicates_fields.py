"""Records whose fields are compared apart: files, DataFrames, two sides, refusals."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.verbs.duplicates import find_duplicates, plan
from tests.command import neardup
from tests.unit.measures.test_fields import KINDS, people

FIELDS: dict[str, str] = {**KINDS}


def invent(count: int = 300, doubled: int = 60) -> tuple[pd.DataFrame, set[tuple[int, int]]]:
    """Invented people with ids from 1 on, and the pairs of ids that are the same."""
    rows, known = people(count, doubled)
    frame = pd.DataFrame(rows, columns=list(FIELDS))
    frame.insert(0, "id", range(1, len(rows) + 1))
    return frame, {(one + 1, other + 1) for one, other in known}


def ids_of(found: nd.Duplicates) -> set[tuple[int, int]]:
    """The pairs, by whole numbers."""
    return {(int(pair.id), int(pair.other_id)) for pair in found.pairs}


def test_a_dataframe() -> None:
    """Nearly all pairs are found, each with the probability that both are the same."""
    frame, known = invent()
    found = nd.duplicates(frame, measure="fields", fields=FIELDS)
    assert len(ids_of(found) & known) > 0.93 * len(known)
    assert len(ids_of(found) - known) < 0.07 * len(known)
    assert found.measure == "fields"
    assert found.weights is not None
    assert {weight.field for weight in found.weights.table()} == set(FIELDS)
    assert found.min_similarity == 0.5
    assert all(0.5 <= pair.similarity <= 1 and pair.distance is None for pair in found.pairs)
    stricter = nd.duplicates(frame, fields=FIELDS, min_similarity=1.0)
    assert ids_of(stricter) < ids_of(found)


def test_files_give_what_a_dataframe_gives(tmp_path: Path) -> None:
    """CSV, and JSON lines that lack what is missing, have the same pairs; so has the command."""
    frame, _ = invent()
    expected = ids_of(nd.duplicates(frame, fields=FIELDS))
    frame.to_csv(tmp_path / "people.csv", index=False)
    rows = [
        {name: value for name, value in row.items() if value and value == value}  # NaN in pandas 3
        for row in frame.to_dict(orient="records")
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, rows)))
    named = ["name", "street", "zip:exact", "born:date"]
    assert ids_of(nd.duplicates(tmp_path / "people.csv", fields=named)) == expected
    text = ["name", "street", "zip", "born"]
    assert ids_of(nd.duplicates(rows, fields=named, text=text)) == expected
    assert ids_of(nd.duplicates(tmp_path / "people.jsonl", fields=named)) == expected
    ran = neardup(
        "duplicates", str(tmp_path / "people.csv"), "--field", "name,street", "--field",
        "zip:exact", "--field", "born:date", "--format", "jsonl",
    )  # fmt: skip
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {(int(line["id"]), int(line["other_id"])) for line in lines} == expected


@pytest.mark.parametrize("linkage", ["single", "complete"])
def test_two_sides_and_clusters(linkage: Any) -> None:
    """Pairs across two sides, and clusters whose members are compared by the same weights."""
    frame, known = invent()
    first, second = frame[:300], frame[300:]
    found = nd.duplicates(first, against=second, fields=FIELDS, linkage=linkage)
    assert len(ids_of(found) & known) > 0.9 * len(known)
    for cluster in found.clusters:
        assert all(0 <= member.similarity <= 1 for member in cluster.members)


def test_the_text_of_candidates_may_be_another(tmp_path: Path) -> None:
    """`text` names what candidates come from; a clean file and a page are written as ever."""
    frame, _ = invent()
    frame.to_csv(tmp_path / "people.csv", index=False)
    work = plan(
        source=tmp_path / "people.csv",
        fields=FIELDS,
        text=["name", "zip"],
        checkpoint=tmp_path / "unfinished",
    )
    found = find_duplicates(work)
    found.write(tmp_path / "page.html")
    found.write(tmp_path / "pairs.csv")
    counts = found.write_unique(tmp_path / "clean.csv")
    assert counts.kept == len(frame) - len(found.removed)
    assert "fields" in (tmp_path / "page.html").read_text()
    assert len((tmp_path / "pairs.csv").read_text().splitlines()) == 1 + len(found.pairs)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"measure": "fields"}, "needs the names of the fields"),
        ({"fields": []}, "`fields` is empty"),
        ({"fields": ["name"], "measure": "jaccard"}, "cannot be combined with the measure jaccard"),
        ({"fields": {"name": "texts"}}, "did you mean 'text'"),
        ({"fields": {"name": "date"}}, "the field 'name' has no date"),
        ({"fields": ["name"], "remember": "run"}, "`remember` cannot be combined with `fields`"),
        ({"fields": ["name"], "max_distance": 2}, "has no distance"),
    ],
)
def test_what_cannot_be_compared(how: dict[str, Any], said: str) -> None:
    """What does not go together is one clear message."""
    with pytest.raises(ArgumentError, match=said):
        nd.duplicates(invent(10, 2)[0].assign(text="a"), **how)


def test_records_that_say_little() -> None:
    """Two records, and a column that is empty in all of them, are no fault."""
    rows = [{"id": "1", "name": "Marta Linsen", "zip": ""}, {"id": "2", "name": "marta linsen"}]
    found = nd.duplicates(rows, fields={"name": "text", "zip": "exact"})
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("1", "2")]


@pytest.mark.parametrize(
    ("column", "change", "said"),
    [
        ("born", lambda at, value: value if at % 2 else None, ""),
        ("born", lambda at, value: value if at % 2 else "unknown",
         r"in the field 'born' 1\d\d values are not a date, such as 'unknown': treated as missing"),
        ("born", lambda at, value: value if at else "2001-02-30",
         "in the field 'born' 1 value is not a date, such as '2001-02-30': treated as missing"),
        ("zip", lambda at, value: None, "no record has a value of the field 'zip': check its name"),
    ],
)  # fmt: skip
def test_values_that_are_missing(
    caplog: pytest.LogCaptureFixture, column: str, change: Any, said: str
) -> None:
    """Half or all of a field may be missing, or be no date: a warning, and the others tell."""
    frame, known = invent()
    frame[column] = [change(at, value) for at, value in enumerate(frame[column])]
    found = ids_of(nd.duplicates(frame, fields=FIELDS))
    assert len(found & known) > 0.9 * len(known)
    assert re.search(said, caplog.text) if said else not caplog.text


def test_no_value_at_all() -> None:
    """If no record has a value of any field, their names are wrong."""
    rows = [
        {"id": "1", "body": "one two", "name": ""},
        {"id": "2", "body": "one two", "name": None},
    ]
    with pytest.raises(SettingsError, match="no record has a value in name or nme; check"):
        nd.duplicates(pd.DataFrame(rows).assign(nme=""), fields=["name", "nme"], text="body")
    assert nd.duplicates(pd.DataFrame(rows)[:0], fields=["name"], text="body").pairs == ()


@pytest.mark.parametrize("count", [2, 50])
def test_equal_records(count: int) -> None:
    """Records that are all equal are one cluster, however few or many."""
    row = {"name": "Marta Linsen", "street": "12 Mill Road", "zip": "1017", "born": "1961-03-04"}
    found = nd.duplicates([{"id": str(at), **row} for at in range(count)], fields=FIELDS)
    assert [len(cluster.members) for cluster in found.clusters] == [count]
    assert all(pair.similarity > 0.9 for pair in found.pairs)


def test_progress_and_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done never falls back, and ends with all pairs; little memory changes nothing."""
    frame, _ = invent()
    told: list[nd.types.Progress] = []
    monkeypatch.setenv("NEARDUP_MEMORY", "1M")
    found = nd.duplicates(frame, fields=FIELDS, by="words", on_progress=told.append)
    done = [one.done for one in told if one.stage == "comparing"]
    assert done == sorted(done)
    assert done[-1] == found.candidates
    assert ids_of(found) == ids_of(nd.duplicates(frame, fields=FIELDS, by="words"))
