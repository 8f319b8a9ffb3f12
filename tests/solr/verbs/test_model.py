"""Documents of a collection that report and gate compare by a model of people's answers."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.refusals import refusal
from tests.unit.verbs.test_catalogues import TRUE, make_shops
from tests.unit.verbs.test_training import FIELDS, judge, write_answers
from tests.unit.verbs.test_training import records as records


@pytest.fixture(scope="module")
def model(records: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a model of answers about the records."""
    path = tmp_path_factory.mktemp("model") / "model.json"
    answers = write_answers(path.parent / "answers.jsonl", judge(records))
    nd.tune(records[0], answers=answers, fields=FIELDS, output=path)
    return path


@pytest.fixture
def there(solr: nd.Collection, records: Any) -> nd.Collection:
    """The records in a collection, with their fields."""
    nd.index(records[0], solr, text=[*FIELDS], keep=[*FIELDS])
    return solr


def test_report_finds_what_duplicates_does(there: nd.Collection, records: Any, model: Path) -> None:
    """Documents in pages and one by one: about the same probability as among all at once.

    Word frequencies and rare values come from a sample of the collection.
    """
    whole = nd.duplicates(there, model=model, by="bands")
    known = {(pair.id, pair.other_id): pair.similarity for pair in whole.pairs}
    assert len(known) > 20
    born = {row["id"]: row["born"] for row in records[0]}
    of_a_day = {ids: known[ids] for ids in known if born[ids[0]] == born[ids[1]]}
    for same, expected in (((), known), ("born", of_a_day)):
        found = nd.report(there, model=model, by="bands", same=same).pairs
        given = {(pair.id, pair.other_id): pair.similarity for pair in found}
        assert given == pytest.approx(expected, abs=0.02)
    told = neardup(
        "report",
        "--solr",
        there.base,
        "-c",
        there.name,
        "--model",
        str(model),
        "--by",
        "bands",
        "--format",
        "tsv",
    )
    assert told.returncode == 0, told.stderr
    assert len(told.stdout.splitlines()) == 1 + len(known)


def test_report_obeys_answers_beside_a_model(there: nd.Collection, model: Path) -> None:
    """What is the same is there with the probability of the model, however small it is."""
    with refusal(nd.ArgumentError, "arguments-conflict", "distance"):
        nd.report(there, model=model, max_distance=2)
    first = nd.report(there, model=model, by="bands").pairs[0]
    answers = write_answers(model.parent / "more.jsonl", [
        (str(first.id), str(first.other_id), "different"), ("p0", "p1", "same"),
    ])  # fmt: skip
    found = nd.report(there, model=model, by="bands", answers=answers)
    pairs = {(pair.id, pair.other_id): pair for pair in found.pairs}
    assert (first.id, first.other_id) not in pairs
    assert pairs["p0", "p1"].similarity < 0.5


def test_a_gate_decides_by_a_model(there: nd.Collection, records: Any, model: Path) -> None:
    """Fields decide, those of documents that came before too, and are kept with `index`."""
    row = records[0][0]
    copy = row | {"id": "n1", "name": f"{row['name']}e"}
    values = ("quinn abernathy", "harbour lane 7", "9911", "1931-02-03")
    other = {"id": "n2", **dict(zip(FIELDS, values, strict=True))}
    again = other | {"id": "n3", "name": "quin abernathy"}
    bounds: dict[str, Any] = {"model": model, "hold": 0.9}

    def read(*rows: dict[str, Any]) -> nd.Source:
        return nd.Source(rows, text=[*FIELDS])

    actions = [one.action for one in nd.gate(read(copy, other, again), there, **bounds)]
    assert actions == ["hold", "allow", "hold"]
    [decision] = nd.gate(read(other), there, index=True, **bounds)
    assert decision.action == "allow"
    assert there.stored(["n2"], ["zip"])[0]["zip"] == [other["zip"]]
    source = model.parent / "new.jsonl"
    source.write_text(json.dumps(again) + "\n")
    columns = [part for name in FIELDS for part in ("--text-field", name)]
    place = ("--solr", there.base, "-c", there.name)
    told = neardup("gate", str(source), *place, *columns, "--model", str(model),
                   "--hold", "0.9", "--format", "tsv")  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "\thold\t" in told.stdout


def list_similarities(
    rows: list[dict[str, Any]], names: list[str], there: nd.Collection, model: Path
) -> dict[tuple[str, str], float]:
    """List what a gate says of each pair of new rows, and of a new row and one of a collection."""
    decisions = nd.gate(nd.Source(rows, text=names), there, model=model, hold=0.0001)
    return {
        (decision.document.id, match.id): match.similarity
        for decision in decisions
        for match in decision.matches
    }


def test_two_sources_that_come_row_by_row(
    solr: nd.Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A row of the second has the same matches alone and among all; few documents are told."""
    first, second = make_shops()
    answers = write_answers(tmp_path / "answers.jsonl", [])
    names = ["title", "about", "price"]
    for row in (*first, *second):
        row["about"] = row.pop("text about")
    nd.tune(first, answers=answers, against=second, fields=names, output=tmp_path / "m.json")
    found_by = nd.Settings(kind="chars", shingle_size=3, hashes=128, bands=64, rows=2)
    nd.index(nd.Source(first, text=names), solr, keep=names, settings=found_by)
    at_once = list_similarities(second, names, solr, tmp_path / "m.json")
    assert f"{len(first)} documents" in caplog.text
    pairs = {(id, other) for id, other in at_once if other in {row["id"] for row in first}}
    matches = {(other, id) for id, other in pairs if at_once[id, other] >= 0.5}
    assert len(matches & TRUE) > 30
    for row in second[:8]:
        alone = list_similarities([row], names, solr, tmp_path / "m.json")
        known = {pair: at_once[pair] for pair in pairs if pair[0] == row["id"]}
        assert alone == pytest.approx(known, abs=1e-9)


def test_families_that_come_by_two(there: nd.Collection, model: Path) -> None:
    """Others of the family in the same call change nothing about two of its members."""
    draw = random.Random(2)
    syllables = [f"{one}{two}" for one in "bdfgk" for two in "aeiou"]

    def invent() -> str:
        return "".join(draw.sample(syllables, 3))

    rows = []
    for number in range(40):
        street, code, family = f"{number} {invent()} road", str(draw.randrange(10**6)), invent()
        for member in range(5):
            values = (f"{invent()} {family}", street, code, f"19{member + 40}-0{member + 1}-11")
            named = dict(zip(FIELDS, values, strict=True))
            rows.append({"id": f"{number}-{member}", **named})
            if member == 1:  # a slip
                named["name"] = rows[-2]["name"][1:]
                rows[-1] |= named
    at_once = list_similarities(rows, [*FIELDS], there, model)
    for number in range(8):
        two = rows[5 * number : 5 * number + 2]
        pair = (two[1]["id"], two[0]["id"])
        alone = list_similarities(two, [*FIELDS], there, model)
        assert alone[pair] == pytest.approx(at_once[pair], abs=1e-9)


def test_models_that_do_not_fit(solr: nd.Collection, records: Any, model: Path) -> None:
    """A line says what is missing. The first documents of a collection may come by a gate."""
    decisions = [*nd.gate(nd.Source(records[0][:2], text=[*FIELDS]), solr, model=model)]
    assert [one.action for one in decisions] == ["allow"] * 2
    nd.index(records[0], solr, text=[*FIELDS])
    with refusal(nd.SettingsError, "field-missing", "name"):
        nd.report(solr, model=model)
    with refusal(nd.ArgumentError, "arguments-conflict", "`measure`"):
        nd.report(solr, model=model, measure="aligned")
    with refusal(nd.SourceError, "file-kind", "answers.jsonl"):
        nd.report(solr, model=model.parent / "answers.jsonl")
