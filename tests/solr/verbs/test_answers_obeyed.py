"""Random answers about documents of a real Solr: no verb breaks one."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

import neardup_solr as nd
from tests.faults.tiers import sized
from tests.refusals import refusal
from tests.unit.verbs.test_duplicates_answers import FOX, choose, corpus, group_same, make, rows

WORDS = ("same", "different", "different", "unsure")
ACTIONS = get_args(nd.types.Action)  # in rising order
SEEDS = range(sized(usual=4, full=40))


def write(path: Path, answers: Sequence[nd.types.Answer]) -> None:
    """Write a file of answers."""
    path.write_bytes(b"".join(answer.to_line() for answer in answers))


def hash_text(text: str) -> str:
    """The hash of a text of small letters and single blanks, as an answer has it."""
    return hashlib.md5(text.encode()).hexdigest()


def draw(
    rng: random.Random, path: Path, texts: Mapping[str, str], count: int
) -> list[nd.types.Answer]:
    """Random answers in a file, in any order of its lines, many of them about near-duplicates."""
    near = [(pair.id, pair.other_id) for pair in nd.duplicates(rows(texts)).pairs]
    pairs = [rng.choice(near) if rng.random() < 0.6 else rng.sample([*texts], 2)
             for _ in range(count)]  # fmt: skip
    answers = make([(one, other, rng.choice(WORDS)) for one, other in pairs], texts)
    write(path, rng.sample(answers, len(answers)))
    return answers


class Oracle:
    """What answers that hold say of two documents, the slow way."""

    def __init__(self, held: Sequence[nd.types.Answer]) -> None:
        self.groups = group_same(held)
        self.different = [one for one in held if one.answer == "different"]

    def same(self, id: str) -> set[str]:
        """The documents that are the same as one."""
        return self.groups.get(id, {id}) - {id}

    def are_different(self, one: str, other: str) -> bool:
        """Whether two are different, by an answer or by what follows from several."""
        own, others = self.groups.get(one, {one}), self.groups.get(other, {other})
        return any(
            (said.id in own and said.other_id in others)
            or (said.id in others and said.other_id in own)
            for said in self.different
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_decision_of_gate_breaks_an_answer(
    solr: nd.Collection, tmp_path: Path, seed: int
) -> None:
    """Whatever the batches: what is different is not near, and what is the same is a repeat."""
    rng = random.Random(seed)
    texts, path = corpus(rng, 80), tmp_path / "answers.jsonl"
    answers = draw(rng, path, texts, (10, 100, 1_000)[seed % 3])
    old, new = rows(texts)[::2], rows(texts)[1::2]
    rng.shuffle(new)
    changed = {
        row["id"]: hash_text(row["text"]) for row in rng.sample(old + new, 12 * (seed % 4 > 0))
    }
    for row in old + new:
        row["text"] += " more" * (row["id"] in changed)
    there = {row["id"] for row in old}
    # Another text of a document that comes is another document.
    known = [
        replace(one, id=one.id + "@old" * (one.id in changed),
                other_id=one.other_id + "@old" * (one.other_id in changed))
        for one in answers if not {one.id, one.other_id} & there & changed.keys()
    ]  # fmt: skip
    held, aside = choose(known)
    oracle = Oracle(held)
    nd.index(old, solr)
    policy: dict[str, Any] = {"answers": path, "exact": rng.choice(("reject", "hold", "tag")),
                              "measure": rng.choice(("words", "jaccard", "estimate"))}  # fmt: skip
    found = []
    for batch, index in ((1, False), (7, False), (50, False), (7, True)):
        decisions = nd.gate(new, solr, batch=batch, index=index, **policy)
        found.append([(one.id, one.action, one.reason, one.matches) for one in decisions])
        assert decisions.answered is not None
        assert len(decisions.answered.set_aside) == len(aside)
        assert all({*one.hashes} & changed.keys() for one in decisions.answered.changed)
        assert {*decisions.answered.obeyed} <= {*held}
    assert found == [found[0]] * 4
    for id, action, _, matches in found[0]:
        met = {match.id for match in matches}
        assert not any(oracle.are_different(id, other) for other in met)
        same = oracle.same(id) & there
        assert same <= met or len(matches) == 100
        if same:
            assert ACTIONS.index(action) >= ACTIONS.index(policy["exact"])
        if action in ("allow", "tag"):
            there.add(id)


def test_gate_does_not_obey_answers_about_other_texts(
    solr: nd.Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An answer about a text that has changed since, on either side, is told and does nothing."""
    path = tmp_path / "answers.jsonl"
    said = [("1", "5", "different"), ("4", "2", "same"), ("4", "1", "same"), ("8", "1", "same")]
    write(path, make(said, FOX))
    now = FOX | {"2": f"{FOX['2']} today", "5": f"{FOX['5']} today"}
    nd.index([row for row in rows(now) if row["id"] in "12"], solr)
    decisions = nd.gate([row for row in rows(now) if row["id"] in "345"], solr, answers=path)
    actions = {one.id: (one.action, [match.id for match in one.matches]) for one in decisions}
    assert actions["5"][1][:1] == ["1"]
    assert actions["4"] == ("reject", ["1"])
    assert decisions.answered is not None
    assert {one.pair[:2] for one in decisions.answered.changed} == {("1", "5"), ("2", "4")}
    assert str(decisions.answered) == "1 answer applied, 2 about other texts"
    assert "because the texts have changed since then: answer again" in caplog.text


@pytest.mark.parametrize("seed", SEEDS)
def test_no_report_and_no_mark_breaks_an_answer(
    solr: nd.Collection, tmp_path: Path, seed: int
) -> None:
    """They agree with duplicates, in a remembered run too, and after texts have changed."""
    rng = random.Random(seed)
    texts, path = corpus(rng, 80), tmp_path / "answers.jsonl"
    answers = draw(rng, path, texts, (10, 100, 1_000)[seed % 3])
    nd.index(rows(texts), solr)
    asked: dict[str, Any] = {"answers": path, "remember": tmp_path / "remembered"}
    for _ in range(2):
        fits = [one for one in answers if one.fits({id: hash_text(texts[id]) for id in texts})]
        held, aside = choose(fits)
        found = nd.duplicates(solr, by="bands", **asked)
        nd.mark(solr, found, yes=True)
        marks = {row["id"]: row.get("neardup_cluster", -int(row["id"]) - 1)
                 for row in solr.stored([*texts], ["neardup_cluster"])}  # fmt: skip
        made = nd.report(solr, by="bands", answers=path)
        assert made.answered is not None
        assert list(made.answered.set_aside) == aside
        assert {(pair.id, pair.other_id, pair.answer, pair.similarity) for pair in made.pairs} == {
            (pair.id, pair.other_id, pair.answer, pair.similarity) for pair in found.pairs
        }
        for one in held:
            is_one = marks[one.id] == marks[one.other_id]
            assert is_one or one.answer != "same"
            assert not (is_one and one.answer == "different")
        for id in rng.sample([*texts], 5):
            matches = {match.id for match in nd.search(solr, id=id, by="bands", answers=path)}
            pairs = [{pair.id, pair.other_id} for pair in made.pairs]
            assert matches == {other for pair in pairs if id in pair for other in pair - {id}}
        for id in rng.sample([*texts], 8):
            texts[id] += " more"
        nd.index(rows(texts), solr)


def test_a_report_of_some_documents_adds_only_pairs_of_these(
    solr: nd.Collection, tmp_path: Path
) -> None:
    """Pairs that are the same are added if one is reported, and the other may be found."""
    path = tmp_path / "answers.jsonl"
    write(path, make([("4", "1", "same"), ("3", "2", "different")], FOX))
    nd.index([row | {"kind": "new" if row["id"] > "3" else "old"} for row in rows(FOX)], solr,
             keep="kind")  # fmt: skip
    for asked, pairs in (
        ({"from_id": "4"}, {("1", "4"), ("1", "5"), ("2", "5"), ("3", "5")}),
        ({"from_id": "4", "later_only": True}, set()),
        ({"fq": "kind:old"}, {("1", "4"), ("1", "2"), ("1", "3"), ("1", "5"), ("2", "5"),
                              ("3", "5")}),
        ({"from_id": "2", "to_id": "3"}, {("1", "2"), ("1", "3"), ("2", "5"), ("3", "5")}),
    ):  # fmt: skip
        made = nd.report(solr, answers=path, measure="words", min_similarity=0.5, **asked)
        assert {(pair.id, pair.other_id) for pair in made.pairs} == pairs
    made.write(tmp_path / "pairs.csv")
    made = nd.report(solr, answers=path, min_similarity=0.5)
    made.write(tmp_path / "pairs.csv")
    assert (
        (tmp_path / "pairs.csv").read_text().startswith("id,other_id,distance,similarity,answer\n")
    )
    assert nd.Answers(path).add(tmp_path / "pairs.csv").known == 1
    assert [match.id for match in nd.search(solr, id="4", answers=path)] == ["1"]
    with refusal(nd.ArgumentError, "arguments-conflict", "`text`", "`id`"):
        nd.search(solr, text="a fox", answers=path)
