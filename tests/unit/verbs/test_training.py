"""Models that learn from answers: tune --answers, duplicates --model."""

import json
import logging
import random
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.types import Training
from tests.command import neardup
from tests.refusals import refusal
from tests.unit.measures.test_fields import people

FIELDS: dict[str, nd.types.FieldKind] = {
    "name": "text",
    "street": "text",
    "zip": "exact",
    "born": "date",
}


@pytest.fixture(scope="module")
def records() -> tuple[list[dict[str, Any]], set[tuple[int, int]]]:
    """Invented people, and the pairs that are the same, by their places."""
    rows, same = people(150, 40)
    named = [{"id": f"p{at}", **dict(zip(FIELDS, row, strict=True))} for at, row in enumerate(rows)]
    return named, same


def write_answers(path: Path, pairs: list[tuple[str, str, str]]) -> Path:
    """Write answers, each two ids and a word."""
    keys = ("id", "other_id", "answer")
    lines = (json.dumps(dict(zip(keys, pair, strict=True))) for pair in pairs)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def judge(records: tuple[list[dict[str, Any]], set[tuple[int, int]]]) -> list[tuple[str, str, str]]:
    """Answers about the pairs nearest to the threshold by their fields, at most 12 below."""
    rows, same = records
    truth = {frozenset((f"p{one}", f"p{other}")) for one, other in same}
    found = nd.duplicates(rows, fields=FIELDS, min_similarity=0.001)
    in_order = sorted(found.pairs, key=lambda pair: pair.similarity)
    above = sum(pair.similarity >= 0.5 for pair in in_order)
    nearest = in_order[max(len(in_order) - above - 12, 0) :][:24]
    words = ("different", "same")
    return [
        (str(one.id), str(one.other_id), words[frozenset((one.id, one.other_id)) in truth])
        for one in nearest
    ]


def test_a_model_of_answers_finds_pairs(records: Any, tmp_path: Path) -> None:
    """It says what it learnt, and `duplicates` finds by it what people would."""
    rows, same = records
    answers = write_answers(tmp_path / "a.jsonl", judge(records))
    path = tmp_path / "model.json"
    training = nd.tune(rows, answers=answers, fields=FIELDS, output=path)
    assert not training.is_default
    assert training.model.same + training.model.different == 24
    assert {one.name for one in training.influences} >= {"name", "zip", "words"}
    by_name = {one.name: one for one in training.influences}
    assert by_name["name"].equal > 0 > by_name["name"].different
    found = nd.duplicates(rows, model=path)
    assert found.measure == "model"
    assert {pair.measure for pair in found.pairs} == {"model"}
    truth = {frozenset((f"p{one}", f"p{other}")) for one, other in same}
    pairs = {frozenset((pair.id, pair.other_id)) for pair in found.pairs}
    assert 2 * len(pairs & truth) / (len(pairs) + len(truth)) > 0.95
    assert found == nd.duplicates(rows, model=path)
    assert all(pair.similarity >= 0.5 for pair in found.pairs)
    fewer = nd.duplicates(rows, model=path, min_similarity=0.996)
    assert len(fewer.pairs) < len(found.pairs)


def test_answers_and_a_model_together(records: Any, tmp_path: Path) -> None:
    """What was judged is obeyed, whatever the model says."""
    rows, same = records
    judged = judge(records)
    one, other = sorted(same)[0]
    judged.append((f"p{one}", f"p{other}", "different"))
    answers = write_answers(tmp_path / "a.jsonl", judged)
    path = tmp_path / "model.json"
    nd.tune(rows, answers=answers, fields=FIELDS, output=path)
    found = nd.duplicates(rows, model=path, answers=answers)
    pairs = {frozenset((pair.id, pair.other_id)) for pair in found.pairs}
    assert {frozenset(pair[:2]) for pair in judged if pair[2] == "same"} <= pairs
    assert not {frozenset(pair[:2]) for pair in judged if pair[2] == "different"} & pairs


@pytest.mark.parametrize("words", [["same"] * 3, ["same"] * 12, ["different"] * 11 + ["same"], []])
def test_too_few_answers_leave_the_default(records: Any, tmp_path: Path, words: list[str]) -> None:
    """Below ten answers, or if all are as expected, the model finds what the default does."""
    rows, _ = records
    pairs = [pair[:2] for pair in reversed(judge(records))]
    asked = [(*pair, word) for pair, word in zip(pairs, words, strict=False)]
    answers = write_answers(tmp_path / "a.jsonl", asked)
    path = tmp_path / "model.json"
    training = nd.tune(rows, answers=answers, fields=FIELDS, output=path)
    assert training.is_default
    by_model, by_fields = nd.duplicates(rows, model=path), nd.duplicates(rows, fields=FIELDS)
    assert [one.id for one in by_model.pairs] == [one.id for one in by_fields.pairs]


def test_answers_of_the_same_alone_teach_what_the_default_misses(tmp_path: Path) -> None:
    """All answers say that pairs below the threshold are the same, so more such pairs are found."""
    draw, rows, same = random.Random(3), list[dict[str, str]](), list[tuple[str, str, str]]()
    syllables = [f"{one}{two}" for one in "bdfgklmnprst" for two in "aeiou"]
    for at in range(200):
        name, town, other_town = ("".join(draw.sample(syllables, 3)) for _ in range(3))
        mail = f"{name}@{town}.example"
        other = (
            (name, town, mail[1:]) if at % 4 else (name[:-2], other_town, f"{name}@{other_town}")
        )
        for side, values in (("a", (name, town, mail)), ("b", other)):
            row = dict(zip(("name", "town", "mail"), values, strict=True))
            rows.append({"id": f"{side}{at}", **row})
        same.append((f"a{at}", f"b{at}", "same"))
    fields: dict[str, nd.types.FieldKind] = {"name": "text", "town": "text", "mail": "text"}
    before = {pair.id for pair in nd.duplicates(rows, fields=fields).pairs}
    missed = [pair for pair in same if pair[0] not in before]
    assert len(missed) >= 24
    answers = write_answers(tmp_path / "a.jsonl", missed[:12])
    training = nd.tune(rows, answers=answers, fields=fields, output=tmp_path / "m.json")
    assert not training.is_default
    after = {
        (pair.id, pair.other_id) for pair in nd.duplicates(rows, model=tmp_path / "m.json").pairs
    }
    others = {(id, other) for id, other, _ in missed[12:]}
    assert len(after & others) > len(others) / 2
    assert len(after & {(id, other) for id, other, _ in same}) > 0.9 * len(after)


def test_texts_without_fields(tmp_path: Path) -> None:
    """Answers that say that a number is not a slip teach a model of whole texts."""
    rows = [{"id": f"{at}{own}", "text": f"flat {at} of the old mill by the green river bank {own}"}
            for at in range(30) for own in ("", " for sale")]  # fmt: skip
    asked = [(f"{at}", f"{at} for sale", "same") for at in range(8)]
    asked += [(f"{at}", f"{at + 1}", "different") for at in range(8)]
    answers = write_answers(tmp_path / "a.jsonl", asked)
    training = nd.tune(rows, answers=answers, measure="words", output=tmp_path / "m.json")
    assert not training.is_default
    assert training.model.names == ("aligned", "words", "jaccard", "containment")
    plain = nd.duplicates(rows, measure="words")
    found = nd.duplicates(rows, model=tmp_path / "m.json")
    assert 30 <= len(found.pairs) < len(plain.pairs)


@pytest.mark.parametrize(
    ("given", "reason"),
    [({"model": "m.json", "fields": "name"}, "its own measure and fields"),
     ({"model": "m.json", "measure": "jaccard"}, "its own measure and fields"),
     ({"model": "m.json", "remember": "r"}, "cannot be combined with `model`"),
     ({"model": "m.json", "max_distance": 2}, "no distance"),
     ({"measure": "model"}, "`model` is missing"),
     ({"model": "gone.json"}, "cannot be read"),
     ({"model": "a.jsonl"}, "not a neardup model")],
)  # fmt: skip
def test_what_does_not_go_with_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], reason: str
) -> None:
    """One line says what is wrong before any work."""
    monkeypatch.chdir(tmp_path)
    write_answers(tmp_path / "a.jsonl", [("1", "2", "same")])
    texts = [{"id": "1", "text": "one two three"}, {"id": "2", "text": "one two four"}]
    nd.tune(texts, answers="a.jsonl", output="m.json")
    with pytest.raises(nd.NeardupError, match=reason):
        nd.duplicates(texts, **given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [({"fields": "name"}, "require `answers`"), ({"output": "m.json"}, "require `answers`"),
     ({"answers": "a.jsonl", "known": [("1", "2")]}, "omit one of them"),
     ({"answers": "a.jsonl", "measure": "estimate"}, "not estimates"),
     ({"answers": "gone.jsonl"}, "cannot be read"),
     ({"answers": "a.jsonl", "output": "a.jsonl"}, "a.jsonl"),
     ({"answers": "a.jsonl", "output": "away/m.json"}, "folder does not exist")],
)  # fmt: skip
def test_what_tune_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], reason: str
) -> None:
    """One line says what is wrong, and no file is changed."""
    monkeypatch.chdir(tmp_path)
    before = write_answers(tmp_path / "a.jsonl", [("1", "2", "same")]).read_text()
    texts = [{"id": "1", "text": "one two three"}, {"id": "2", "text": "one two four"}]
    with pytest.raises(nd.NeardupError, match=reason):
        nd.tune(texts, **given)
    assert Path("a.jsonl").read_text() == before


def test_answers_about_what_is_gone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Answers that cannot be used are told, and those about unlike texts teach nothing."""
    texts = [{"id": "1", "text": "one two three"}, {"id": "2", "text": "one two four"},
             {"id": "3", "text": "no common word"}]  # fmt: skip
    asked = [("1", "2", "same"), ("1", "3", "different"), ("1", "9", "same")]
    with caplog.at_level(logging.WARNING):
        training: Training = nd.tune(texts, answers=write_answers(tmp_path / "a.jsonl", asked))
    assert "documents are missing" in caplog.text
    assert (training.unlike, training.model.same) == (1, 1)


def test_the_command_says_what_it_learnt(records: Any, tmp_path: Path) -> None:
    """It prints weights, right answers, and what to do next; --format json prints all."""
    rows, _ = records
    source = tmp_path / "people.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = write_answers(tmp_path / "a.jsonl", judge(records))
    path = tmp_path / "model.json"
    words = ["tune", source, "--answers", answers, "--field", "name,street,zip:exact,born:date"]
    told = neardup(*map(str, words), "-o", str(path))
    assert told.returncode == 0
    for said in ("24 answers", "without an answer", "cross-validation", f"--model {path}", "zip"):
        assert said in told.stdout
    known = json.loads(neardup(*map(str, words), "--format", "json").stdout)
    assert known["intercept"] == json.loads(path.read_text())["intercept"]
    assert known["right"] <= 24
    found = neardup("duplicates", str(source), "--model", str(path))
    assert found.returncode == 0
    assert len(found.stdout.splitlines()) == 1 + len(nd.duplicates(rows, model=path).pairs)
    fields = json.loads(path.read_text())["fields"]
    assert {name: field["kind"] for name, field in fields.items()} == FIELDS
    few = neardup(*map(str, [*words[:3], write_answers(tmp_path / "b", []), *words[4:]]))
    assert "Too few answers" in few.stdout


def test_explain_says_what_the_model_adds(records: Any, tmp_path: Path) -> None:
    """Each measure and field adds to the odds, and the sum is the probability of the pair."""
    rows, _ = records
    path = tmp_path / "model.json"
    nd.tune(rows, answers=write_answers(tmp_path / "a.jsonl", judge(records)), fields=FIELDS,
            output=path)  # fmt: skip
    pair = nd.duplicates(rows, model=path).pairs[0]
    facts = nd.explain(rows, pair.id, pair.other_id, model=path).facts
    assert facts.measure == "model"
    assert facts.probability == pytest.approx(pair.similarity, abs=1e-4)
    odds = sum(one.bits for one in facts.evidence)
    assert 1 / (1 + 2**-odds) == pytest.approx(pair.similarity, abs=1e-4)
    assert {one.field for one in facts.evidence} >= {"name", "zip", "aligned", "fields"}
    source = tmp_path / "people.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for ids in ((pair.id, pair.other_id), ("p0", "p1")):
        told = neardup("explain", *map(str, ids), "--source", str(source), "--model", str(path))
        assert told.returncode == 0
        assert "probability" in told.stdout
        assert "--field" not in told.stdout


def test_commands_without_a_model_say_which_have_one() -> None:
    """A line names those that compare by a model."""
    told = neardup("search", "a.csv", "--model", "m.json")
    assert told.returncode == 2
    assert "duplicates, report, evaluate, gate, serve and explain accept a model" in told.stderr
    given: dict[str, Any] = {"model": "m.json", "id": 1}
    with refusal(nd.ArgumentError, "argument-unknown", "explain"):
        nd.search(None, **given)  # type: ignore[arg-type]


def test_a_model_of_texts_reads_the_column_that_it_learnt_from(tmp_path: Path) -> None:
    """The command that was printed runs as it is, also if no column is called text."""
    source, path = tmp_path / "flats.csv", tmp_path / "m.json"
    lines = [f'{at}{own},"flat {at} of the old mill by the green river bank {own}"'
             for at in range(30) for own in ("", " for sale")]  # fmt: skip
    source.write_text("\n".join(["id,offer", *lines]))
    asked = [(f"{at}", f"{at} for sale", "same") for at in range(8)]
    asked += [(f"{at}", f"{at + 1}", "different") for at in range(8)]
    answers = write_answers(tmp_path / "a.jsonl", asked)
    words = ("tune", str(source), "--measure", "words", "--answers", str(answers), "-o", str(path))
    assert neardup(*words).returncode == 0
    result = neardup("duplicates", str(source), "--model", str(path), "--format", "csv")
    assert result.returncode == 0
    assert "8,8 for sale," in result.stdout
