"""Records whose fields are compared apart: files, DataFrames, two sides, refusals."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import neardup_solr as nd
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.types import Way
from tests.command import neardup
from tests.refusals import refusal
from tests.unit.measures.test_fields import KINDS, people

FIELDS: dict[str, nd.types.FieldKind] = {**KINDS}


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
    found = nd.duplicates(
        tmp_path / "people.csv",
        fields=FIELDS,
        text=["name", "zip"],
        checkpoint=tmp_path / "unfinished",
    )
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
    with refusal(SettingsError, "field-empty", "name", "nme"):
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


# Equal in their kind: two notations of each value, and the value of another record.
NOTATIONS: dict[str, tuple[str, str, str]] = {
    "isbn:exact": ("978-0-306-40615-7", "9780306406157", "9781402894626"),
    "phone:exact": ("+43 (1) 310/475-98 07", "+4313104759807", "+4366012345"),
    "iban:exact": (
        "DE89 3704 0044 0532 0130 00",
        "DE89370400440532013000",
        "DE12500105170648489890",
    ),
    "born:date": ("1845-02-14", "14.02.1845", "1901-03-04"),
    "price:number": ("1,000.0", "1000", "7"),
    "weight:number": ("2,50 kg", "2.5", "80"),
    "title:text": ("OÁK-Tree; its bark", "oák tree its bark", "Elm"),
}


@pytest.mark.parametrize("by", [None, "words", "bands"])
@pytest.mark.parametrize("field", NOTATIONS)
@pytest.mark.parametrize("name", ["", "Ash"])
def test_records_equal_in_all_fields_are_a_pair(field: str, name: str, by: Any) -> None:
    """However unlike their notations are, alone or beside a name, among many or few."""
    column, values = field.partition(":")[0], NOTATIONS[field]
    rows = [{"name": name, column: value} for value in values]
    rows += [{"name": name and f"B{one}", column: values[2]} for one in range(2)]
    fields = ["name", field] if name else [field]
    found = nd.duplicates(rows, fields=fields, by=by, min_similarity=0.9)
    assert (1, 2) in ids_of(found)
    assert not {(1, 3), (2, 3)} & ids_of(found)
    explained = nd.explain(rows, 1, 2, fields=fields)
    assert explained.facts.is_near
    against = nd.duplicates(rows[:1], against=rows[1:], fields=fields, by=by)
    assert ids_of(against) == {(1, 1)}


def test_records_that_lack_the_same_values_are_a_pair() -> None:
    """Copies of a record that lacks a value are copies, but not those without any value."""
    rows = [{"name": "Ash", "zip": ""}] * 2 + [{"name": "", "zip": ""}] * 2
    assert ids_of(nd.duplicates(rows, fields=["name", "zip:exact"])) == {(1, 2)}


def test_equal_records_are_candidates_among_many() -> None:
    """They share no rare word: the pair is found by its values."""
    draw = random.Random(7)
    trees, numbers = ("Ash", "Oak", "Elm"), range(10**12, 10**13)
    rows = [{"title": draw.choice(trees), "isbn": str(draw.choice(numbers))} for _ in range(2_500)]
    rows[10]["title"] = rows[2_000]["title"] = "Ash"
    rows[10]["isbn"], rows[2_000]["isbn"], _ = NOTATIONS["isbn:exact"]
    ways: tuple[Way, ...] = ("words", "bands")
    for by in ways:
        found = nd.duplicates(rows, fields=["title", "isbn:exact"], by=by)
        assert (11, 2_001) in ids_of(found)


def test_equal_records_are_explained_and_written_once(tmp_path: Path) -> None:
    """The command finds the pair, says why, and keeps one of the two."""
    path, unique = tmp_path / "trees.csv", tmp_path / "unique.csv"
    path.write_text("title,isbn\nAsh,978-0-306-40615-7\nAsh,9780306406157\n")
    fields = ["--field", "title", "--field", "isbn:exact"]
    ran = neardup("duplicates", str(path), *fields, "--unique", str(unique))
    assert ran.returncode == 0
    assert unique.read_text() == "title,isbn\nAsh,978-0-306-40615-7\n"
    ran = neardup("explain", "1", "2", "--source", str(path), *fields)
    assert "beyond the limits" not in ran.stdout


def list_shops(draw: random.Random) -> list[dict[str, str]]:
    """List 300 shops of two countries, then the first 100 again with a letter missing."""
    parts = ["ba", "ko", "ri", "ten", "lan", "mor", "vis", "gel", "tu", "par", "shi", "don", "fal"]
    kinds = ("Store", "Shop", "Market", "Bakery", "Books")
    names = [
        " ".join(
            ["".join(draw.choices(parts, k=3)).title() for _ in range(2)] + [draw.choice(kinds)]
        )
        for _ in range(300)
    ]
    for name in names[:100]:
        at = draw.randrange(1, len(name) - 8)
        names.append(name[:at] + name[at + 1 :])
    countries = [draw.choice(("Norway", "Sweden")) for _ in range(300)]
    both = zip(names, countries + countries[:100], strict=True)
    return [{"id": f"{at:03}", "name": name, "country": place}
            for at, (name, place) in enumerate(both)]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_name_tells_beside_what_says_little(seed: int, share: float) -> None:
    """Slips in names are found, whatever share of the records has a country, too."""
    draw = random.Random(seed)
    rows = list_shops(draw)
    for row in rows:
        row["country"] *= draw.random() < share
    pairs = {(pair.id, pair.other_id) for pair in nd.duplicates(rows).pairs}
    known = {(f"{at:03}", f"{at + 300:03}") for at in range(100)}
    assert len(pairs & known) >= 95
    assert len(pairs - known) <= 5
