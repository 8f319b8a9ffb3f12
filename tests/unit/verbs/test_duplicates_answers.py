"""Answers of people, obeyed by duplicates: what is different is never one, what is the same is."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import neardup_solr as nd
from neardup_solr.types import Answer, Linkage, MeasureName
from tests.faults.tiers import sized
from tests.unit.verbs.test_answer import md5

BASE = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [f"word{number}" for number in range(200)]
FOX = {
    "1": "the quick brown fox jumps over the lazy dog in the park",
    "2": "the quick brown fox jumps over the lazy dog in the garden",
    "3": "the quick brown fox jumps over the lazy cat in the garden",
    "4": "a text that has nothing to do with any of the others",
    "5": "the quick brown fox jumps over the lazy dog in the park",
}


def rows(texts: Mapping[str, str]) -> list[dict[str, str]]:
    """Records of texts."""
    return [{"id": id, "text": text} for id, text in texts.items()]


def append_answers(path: Path, answers: Sequence[Answer]) -> None:
    """Append answers to a file, as others do meanwhile."""
    with path.open("ab") as file:
        file.writelines(answer.to_line() for answer in answers)


def write(path: Path, *said: tuple[str, str, str], texts: Mapping[str, str] = FOX) -> Path:
    """A file with answers, each newer than the one before it, about these texts."""
    append_answers(path, make(said, texts))
    return path


def make(said: Sequence[tuple[str, str, str]], texts: Mapping[str, str]) -> list[Answer]:
    """Answers about these texts, each newer than the one before it."""
    return [
        Answer(id=one, other_id=other, answer=word, when=BASE + timedelta(minutes=at),  # type: ignore[arg-type]
               hash=md5(texts.get(one, "")), other_hash=md5(texts.get(other, "")))
        for at, (one, other, word) in enumerate(said)
    ]  # fmt: skip


def groups(found: nd.Duplicates) -> list[list[str]]:
    """The ids of each cluster."""
    return [sorted(member.id for member in one.members) for one in found.clusters]


@pytest.mark.parametrize("linkage", ["single", "complete"])
@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "aligned", "estimate"])
def test_answers_are_obeyed_by_every_measure(
    tmp_path: Path, linkage: Linkage, measure: MeasureName
) -> None:
    """Equal texts come apart, and what no measure finds comes together."""
    path = write(tmp_path / "answers.jsonl", ("1", "5", "different"), ("4", "1", "same"))
    found = nd.duplicates(rows(FOX), answers=path, linkage=linkage, measure=measure)
    labels = found.labels
    assert labels["1"] == labels["4"] != labels.get("5")
    assert {("1", "5"), ("4", "5")}.isdisjoint((pair.id, pair.other_id) for pair in found.pairs)
    assert ("1", "4", "same") in {(pair.id, pair.other_id, pair.answer) for pair in found.pairs}
    higher = found.at(1.0)
    assert higher.labels["1"] == higher.labels["4"] != higher.labels.get("5")


def test_a_chain_does_not_bring_together_what_is_different(tmp_path: Path) -> None:
    """The document between two goes with the one that is more similar to it, or comes first."""
    path = write(tmp_path / "answers.jsonl", ("1", "3", "different"))
    found = nd.duplicates(rows(FOX), answers=path)
    assert groups(found) == [["1", "2", "5"]]
    assert [(p.id, p.other_id, p.cluster) for p in found.pairs][-1] == ("3", "5", "")
    assert sorted(found.removed) == ["2", "5"]


def test_without_a_near_duplicate_two_are_the_same(tmp_path: Path) -> None:
    """A pair that was judged same is found, even if it is the only one."""
    texts = {"1": "one two three", "2": "four five six", "3": "seven eight nine"}
    path = write(tmp_path / "answers.jsonl", ("3", "1", "same"), texts=texts)
    (pair,) = nd.duplicates(rows(texts), answers=path).pairs
    assert (pair.id, pair.other_id, pair.similarity, pair.answer) == ("1", "3", 0.0, "same")


def test_contradictions_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The oldest of three answers that contradict each other is set aside, not hidden."""
    path = write(
        tmp_path / "answers.jsonl",
        ("1", "4", "same"), ("4", "3", "same"), ("3", "1", "different"), ("2", "1", "unsure"),
    )  # fmt: skip
    found = nd.duplicates(rows(FOX), answers=path)
    assert found.answered is not None
    assert [one.pair[:2] for one in found.answered.set_aside] == [("1", "4")]
    assert [one.pair[:2] for one in found.answered.unsure] == [("1", "2")]
    assert str(found.answered) == "2 answers applied, 1 set aside"
    assert "1 answer is not applied, because of contradictory newer answers" in caplog.text
    found.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '["Pairs judged by people","2"]' in page
    assert '"2 answers applied, 1 set aside."' in page
    assert found.labels["3"] == found.labels["4"] != found.labels["1"]


def test_answers_about_other_texts_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What was said of a text that has changed, or of a document that is gone, is not obeyed."""
    path = write(
        tmp_path / "answers.jsonl", ("1", "5", "different"), ("8", "2", "same"), ("3", "2", "same")
    )
    texts = FOX | {"5": f"{FOX['5']} today", "3": FOX["3"].upper() + " !"}
    found = nd.duplicates(rows(texts), answers=path)
    assert found.answered is not None
    assert [one.pair[:2] for one in found.answered.changed] == [("1", "5")]
    assert [one.pair[:2] for one in found.answered.gone] == [("2", "8")]
    assert [one.pair[:2] for one in found.answered.obeyed] == [("2", "3")]
    assert "because the texts have changed since then: answer again (such as 1 – 5)" in caplog.text
    assert "because documents are missing or have no words (such as 8 – 2)" in caplog.text
    assert found.labels["1"] == found.labels["5"]


def test_two_sides_may_share_their_ids(tmp_path: Path) -> None:
    """An ordered answer is about its sides; another is about the texts that it was given for."""
    left, right = {"1": FOX["1"], "2": FOX["4"]}, {"1": FOX["4"], "2": FOX["2"]}
    path = tmp_path / "answers.jsonl"
    append_answers(path, [Answer(id="1", other_id="2", answer="different", ordered=True)])
    kinds: dict[str, Any] = {"against": rows(right), "answers": path}
    found = nd.duplicates(rows(left), **kinds)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("2", "1")]
    hashes = {"hash": md5(FOX["4"]), "other_hash": md5(FOX["4"])}
    append_answers(path, [Answer(id="1", other_id="2", answer="different", when=BASE, **hashes)])  # type: ignore[arg-type]
    assert nd.duplicates(rows(left), **kinds).pairs == ()
    append_answers(path, [Answer(id="1", other_id="1", answer="same", when=BASE)])
    found = nd.duplicates(rows(left), **kinds)
    assert sorted(found.removed) == ["1"]
    assert found.to_pandas()["answer"].tolist() == ["same"]


def test_the_best_match_may_be_wrong(tmp_path: Path) -> None:
    """If the most similar of the other side is judged different, the next one counts."""
    left, right = {"a": FOX["1"]}, {"x": FOX["5"], "y": FOX["2"]}
    path = write(tmp_path / "a.jsonl", ("a", "x", "different"), texts={**left, **right})
    found = nd.duplicates(rows(left), against=rows(right), linkage="mutual_best", answers=path)
    assert [(pair.id, pair.other_id) for pair in found.pairs] == [("a", "y")]


def test_the_written_pairs_have_a_column_for_answers(tmp_path: Path) -> None:
    """It is there if answers are asked for, and it has those that are known."""
    path = write(tmp_path / "answers.jsonl", ("1", "2", "same"), ("2", "3", "unsure"))
    found = nd.duplicates(rows(FOX), answers=path)
    found.write(tmp_path / "pairs.csv")
    lines = (tmp_path / "pairs.csv").read_text().splitlines()
    assert lines[0] == "id,other_id,similarity,distance,measure,cluster,relation,answer"
    assert [line.split(",")[-1] for line in lines[1:]] == ["same", "", "", "unsure", "", ""]
    assert found.sample().table["answer"].count("same") == 1
    assert "answer" not in nd.duplicates(rows(FOX)).to_arrow().column_names


def test_a_file_of_answers_is_no_other(tmp_path: Path) -> None:
    """The file is never written over, and a wrong name is told before any work."""
    path = write(tmp_path / "answers.jsonl", ("1", "2", "same"))
    before = path.read_bytes()
    with pytest.raises(nd.SourceError, match="is both"):
        nd.duplicates(rows(FOX), answers=path, remember=path)
    with pytest.raises(nd.SourceError, match="cannot be read"):
        nd.duplicates(rows(FOX), answers=tmp_path / "other.jsonl")
    assert path.read_bytes() == before


def corpus(rng: random.Random, count: int) -> dict[str, str]:
    """Texts of which half are edited copies of others, some of them equal."""
    made: list[str] = []
    while len(made) < count:
        words = rng.choices(WORDS, k=12)
        if made and rng.random() < 0.6:
            words = rng.choice(made[-20:]).split()
            for at in rng.sample(range(len(words)), rng.choice((0, 1, 1, 2, 4))):
                words[at] = rng.choice(WORDS)
        made.append(" ".join(words))
    return {str(number): text for number, text in enumerate(made)}


@settings(max_examples=sized(usual=12, full=200), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.sampled_from([5, 50, 400]),
    linkage=st.sampled_from(["single", "complete"]),
)
@example(seed=1400848, count=50, linkage="single")  # the cluster 0 is no missing cluster
def test_no_cluster_of_two_sides_breaks_an_answer(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, linkage: Linkage
) -> None:
    """The same for two sides whose documents have the same numbers as ids."""
    rng = random.Random(seed)
    texts = [*corpus(rng, 80).values()]
    rng.shuffle(texts)
    left, right = ([{"id": n, "text": t} for n, t in enumerate(texts[at::2])] for at in (0, 1))
    near = [pair.ends for pair in nd.duplicates(left, against=right).pairs]
    answers = []
    for at in range(count):
        (_, one), (_, other) = rng.choice(near) if rng.random() < 0.6 and near else (
            (0, rng.randrange(40)), (1, rng.randrange(40))
        )  # fmt: skip
        answers.append(Answer(
            id=str(one), other_id=str(other), answer=rng.choice(("same", "different", "different")),
            when=BASE + timedelta(minutes=at), hash=md5(texts[2 * one]),
            other_hash=md5(texts[2 * other + 1]), ordered=True,
        ))  # fmt: skip
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    append_answers(path, answers)
    found = nd.duplicates(left, against=right, linkage=linkage, answers=path)
    places = {(m.side, m.id): at for at, one in enumerate(found.clusters) for m in one.members}
    removed = found.removed
    assert found.answered is not None
    assert not found.answered.changed
    for answer in found.answered.obeyed:
        one, other = int(answer.id), int(answer.other_id)
        if answer.answer == "same":
            assert places[0, one] == places[1, other]
            assert one in removed
        else:
            assert places.get((0, one), -1) != places.get((1, other), -2)
            assert one not in removed or removed[one].duplicate_of != other


def choose(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """The answers that hold, the newest first, and those that contradict them: the slow way."""
    held: list[Answer] = []
    aside: list[Answer] = []
    for answer in answers[::-1]:
        if answer.pair in {one.pair for one in [*held, *aside]}:
            continue
        if contradicts([*held, answer]):
            aside.append(answer)
        else:
            held.append(answer)
    return held, aside


def group_same(answers: Sequence[Answer]) -> dict[str, set[str]]:
    """The documents that are the same as each one, by what follows from answers."""
    group: dict[str, set[str]] = {}
    for one in answers:
        if one.answer == "same":
            joined = group.get(one.id, {one.id}) | group.get(one.other_id, {one.other_id})
            group |= dict.fromkeys(joined, joined)
    return group


def contradicts(answers: Sequence[Answer]) -> bool:
    """Tell whether something is the same and different, by what follows from these."""
    group = group_same(answers)
    return any(
        one.answer == "different" and one.other_id in group.get(one.id, {one.id}) for one in answers
    )


def check(found: nd.Duplicates, held: Sequence[Answer]) -> None:
    """No cluster breaks an answer, and no record is removed for one that it differs from."""
    labels, removed = found.labels, found.removed
    group = group_same(held)
    kept = {id: one.duplicate_of for id, one in removed.items()}
    assert not set(kept.values()) & set(kept)
    for one in held:
        ids = (one.id, one.other_id)
        if one.answer == "same":
            assert labels[ids[0]] == labels[ids[1]]
            assert removed.keys() & set(ids)
        elif one.answer == "different":
            assert labels.get(ids[0], ids[0]) != labels.get(ids[1], ids[1])
            assert kept.get(ids[0], ids[0]) != kept.get(ids[1], ids[1])
            for pair in found.pairs:  # nor what follows from it
                one_group, other_group = (group.get(id, {id}) for id in (pair.id, pair.other_id))
                assert not (ids[0] in one_group and ids[1] in other_group)
                assert not (ids[1] in one_group and ids[0] in other_group)


@settings(max_examples=sized(usual=12, full=200), deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.sampled_from([1, 10, 100, 1_000]),
    linkage=st.sampled_from(["single", "complete"]),
    canonical=st.sampled_from(["first", "longest"]),
)
def test_no_cluster_breaks_an_answer(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    count: int,
    linkage: Linkage,
    canonical: str,
) -> None:
    """Up to 1,000 random answers hold: in a first run, a remembered one, and after changes."""
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("answers")
    texts = corpus(rng, 80)
    near = [(pair.id, pair.other_id) for pair in nd.duplicates(rows(texts)).pairs]
    said = []
    for _ in range(count):
        one, other = rng.choice(near) if rng.random() < 0.6 else rng.sample(list(texts), 2)
        said.append((one, other, rng.choice(("same", "different", "different", "unsure"))))
    path = folder / "answers.jsonl"
    answers = make(said, texts)
    append_answers(path, rng.sample(answers, len(answers)))  # in any order of lines
    asked: dict[str, Any] = {
        "answers": path, "linkage": linkage, "canonical": canonical,
        "remember": folder / "remembered",
    }  # fmt: skip
    held, aside = choose(answers)
    for _ in range(2):
        found = nd.duplicates(rows(texts), **asked)
        assert found.answered is not None
        assert list(found.answered.set_aside) == aside
        check(found, held)
        check(found.at(0.9), held)
    after = {
        id: f"{text} more" if rng.random() < 0.1 else text
        for id, text in texts.items()
        if rng.random() < 0.95
    }
    held, aside = choose(
        [one for one in answers if all(
            id in after and md5(after[id]) == hash for id, hash in
            ((one.id, one.hash), (one.other_id, one.other_hash))
        )]
    )  # fmt: skip
    found = nd.duplicates(rows(after), **asked)
    check(found, held)
    full = nd.duplicates(rows(after), **asked | {"remember": None})
    assert (found.pairs, found.clusters) == (full.pairs, full.clusters)
