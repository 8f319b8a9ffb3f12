"""Runs that are remembered: the next one compares what is new, and finds what a full run finds."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import Duplicates
from neardup_solr.types import Linkage, MeasureName, Way
from tests.refusals import refusal

WORDS = [f"word{number}" for number in range(400)]


def duplicates(source: Any, *, measure: MeasureName = "words", **arguments: Any) -> Duplicates:
    """Compare by a measure that can be remembered."""
    return nd.duplicates(source, measure=measure, **arguments)


def texts(count: int, seed: int) -> list[str]:
    """Texts of which a third are edited copies of others, some of them several times."""
    rng = random.Random(seed)
    made: list[str] = []
    while len(made) < count:
        words = rng.choices(WORDS, k=40)
        if made and rng.random() < 0.35:
            words = rng.choice(made[-30:]).split()
            for at in rng.sample(range(len(words)), rng.randrange(1, 12)):
                words[at] = rng.choice(WORDS)
        made.append(" ".join(words))
    return made


def documents(made: Sequence[str]) -> list[nd.Document]:
    """Documents of these texts, whose ids do not sort as they come."""
    return [nd.Document(id=f"{n * 7919 % 10007}", text=text) for n, text in enumerate(made)]


def changed(before: Sequence[nd.Document], seed: int) -> list[nd.Document]:
    """Some of them with another text, some gone, some new."""
    rng = random.Random(seed)
    after = []
    for one in before:
        dice = rng.random()
        if dice < 0.05:
            continue
        text = f"{one.text} {rng.choice(WORDS)}" if dice < 0.15 else one.text
        after.append(nd.Document(id=one.id, text=text))
    new = texts(len(before) // 10, seed)
    copies = [rng.choice(before).text + " once more" for _ in range(len(before) // 20)]
    return after + [
        nd.Document(id=f"new {seed} {n}", text=text) for n, text in enumerate([*new, *copies])
    ]


def result(found: Duplicates) -> tuple[Any, ...]:
    """What a user sees of a run, but for what was reused."""
    return (
        found.pairs, found.clusters, found.documents, found.candidates, found.hot_keys,
        found.repeated, found.failed, found.gaps, found.labels, found.removed,
    )  # fmt: skip


def of_again(since: Any) -> Any:
    """What has changed since an earlier run, which was of use."""
    assert since is not None
    assert since.reason == ""
    return since


def counts(since: Any) -> tuple[int, int, int, int]:
    """How many documents came, changed and went, and how many comparisons were reused."""
    return (since.came, since.changed, since.gone, since.reused)


def why_full(found: Duplicates) -> str:
    """Why a run compared everything, and so has nothing to count."""
    assert found.since is not None
    assert counts(found.since) == (0, 0, 0, 0)
    return found.since.reason


@pytest.mark.parametrize("linkage", ["single", "complete"])
@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "estimate"])
@pytest.mark.parametrize("by", ["bands", "all", "words"])
def test_it_finds_what_a_full_run_finds(
    tmp_path: Path, measure: MeasureName, linkage: Linkage, by: Way
) -> None:
    """Run after run on documents that come, change and go; nothing that holds is compared again."""
    working: dict[str, Any] = {"measure": measure, "linkage": linkage, "by": by}
    now = documents(texts(300, seed=1))
    for round in range(3):
        found = duplicates(now, remember=tmp_path / "known", **working)
        full = duplicates(now, **working)
        assert result(found) == result(full)
        assert full.since is None
        assert len(found.pairs) > 10
        if round:
            since = of_again(found.since)
            assert min(since.came, since.changed, since.gone) > 5
            assert since.reused > found.candidates / 4
        now = changed(now, seed=round)


def test_parts_are_remembered_as_one_source(tmp_path: Path) -> None:
    """Another part is what is new."""
    now = documents(texts(300, seed=3))
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for part, some in zip(parts, (now[:280], now[280:]), strict=True):
        part.write_text("id,text\n" + "".join(f"{one.id},{one.text}\n" for one in some))
    first = duplicates(parts[:1], remember=tmp_path / "known")
    again = duplicates(parts, remember=tmp_path / "known")
    assert of_again(again.since).came == 20
    assert of_again(again.since).reused == first.candidates
    assert result(again) == result(duplicates(parts))


def test_the_same_again_compares_nothing(tmp_path: Path) -> None:
    """Not a text is read a second time."""
    now = documents(texts(300, seed=2))
    working: dict[str, Any] = {"by": "bands", "remember": tmp_path / "known", "texts": False}
    first = duplicates(now, **working)
    assert why_full(first) == "there was no earlier run"
    told: list[nd.types.Progress] = []
    again = duplicates(now, **working, on_progress=told.append)
    assert counts(of_again(again.since)) == (0, 0, 0, again.candidates)
    assert again.candidates > 0
    assert "texts" not in {one.stage for one in told}
    assert result(again) == result(first)


def test_hot_bands_and_repeated_ids(tmp_path: Path) -> None:
    """Of more documents than the cap in a band others are chained; ids that repeat stay exact."""
    words = texts(20, seed=3)
    now = documents([word for word in words for _ in range(8)])
    now += [nd.Document(id=now[5].id, text=now[9].text), nd.Document(id="empty", text="")]
    working: dict[str, Any] = {"by": "bands", "cap": 3}
    for seed in range(3):
        found = duplicates(now, remember=tmp_path / "known", **working)
        assert result(found) == result(duplicates(now, **working))
        assert found.hot_keys > 0
        now = [*changed(now, seed), *now[:3]]


BANDS: dict[str, Any] = {"by": "bands", "cap": 12}


def test_each_run_may_be_another(tmp_path: Path) -> None:
    """Another way, cap, linkage, memory or order than the last run had, with keys that are hot."""
    made = texts(1_000, seed=9)
    now = documents([*made, *made[:1] * 14])
    runs: list[dict[str, Any]] = [
        BANDS,
        BANDS | {"linkage": "complete"},
        BANDS,
        {"by": "words"},
        BANDS,
        BANDS | {"cap": 6},
        BANDS,
        BANDS | {"memory": "1M"},
        BANDS | {"memory": "1M"},
        BANDS,
    ]
    for number, working in enumerate(runs):
        found = duplicates(now, remember=tmp_path / "known", **working)
        assert result(found) == result(duplicates(now, **working))
        assert found.hot_keys > 0
        if number:
            assert of_again(found.since).reused > 100
        copies = [nd.Document(id=f"copy {number} {n}", text=made[0]) for n in range(3)]
        now = [*changed(now[:900], number), *now[900:], *copies]
        random.Random(number).shuffle(now)


def test_an_interruption_of_a_join_by_bands(tmp_path: Path) -> None:
    """A run that goes on at a checkpoint knows what it knew when it began."""
    now = documents(texts(400, seed=10))
    known, check = tmp_path / "known", tmp_path / "check"
    working: dict[str, Any] = {"by": "bands", "remember": known, "checkpoint": check}
    duplicates(now, **working)
    now = changed(now, seed=10)

    def stop(told: nd.types.Progress) -> None:
        if told.stage == "writing" or (told.stage == "comparing" and told.done == told.total):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        duplicates(now, **working, on_progress=stop)
    assert check.exists()
    found = duplicates(now, **working)
    assert of_again(found.since).reused > 0
    assert result(found) == result(duplicates(now, by="bands"))


def test_an_appended_file(tmp_path: Path) -> None:
    """The lines that were there are not compared again; a canonical document is chosen anew."""
    path, known = tmp_path / "texts.csv", tmp_path / "known"
    made = texts(200, seed=4)
    lines = [f"{n},{text}\n" for n, text in enumerate(made)]
    path.write_text("id,text\n" + "".join(lines[:150]), encoding="utf-8")
    working: dict[str, Any] = {"by": "bands", "canonical": "longest"}
    duplicates(path, remember=known, **working)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines[150:])
    found = duplicates(path, remember=known, **working)
    since = of_again(found.since)
    assert (since.came, since.changed, since.gone) == (50, 0, 0)
    assert result(found) == result(duplicates(path, **working))


def test_other_settings_start_over(tmp_path: Path) -> None:
    """Other limits, measures or settings: everything is compared, and it says why."""
    now, known = documents(texts(100, seed=5)), tmp_path / "known"
    duplicates(now, remember=known)
    others: tuple[dict[str, Any], ...] = (
        {"min_similarity": 0.7}, {}, {"settings": {"shingle_size": 2}}, {}
    )  # fmt: skip
    for other in others:
        assert "settings" in why_full(duplicates(now, remember=known, **other))
    assert of_again(duplicates(now, remember=known, linkage="complete").since)


def test_nothing_before_and_nothing_now(tmp_path: Path) -> None:
    """A source that is empty at first, or in the end."""
    now, known = documents(texts(60, seed=9)), tmp_path / "known"
    assert duplicates([], remember=known).pairs == ()
    found = duplicates(now, remember=known)
    assert "no documents" in why_full(found)
    empty = duplicates([], remember=known)
    assert of_again(empty.since).gone == 60
    assert (empty.pairs, empty.documents) == ((), 0)


def test_aligned_is_compared_in_full(tmp_path: Path) -> None:
    """Each new document changes the weight of words, so nothing is sure to hold."""
    now = documents(texts(60, seed=6))
    found = duplicates(now, remember=tmp_path / "known", measure="aligned")
    assert "aligned" in why_full(found)
    assert not (tmp_path / "known").exists()


def test_a_damaged_file_starts_over(tmp_path: Path) -> None:
    """One byte of the results is another, or the file is cut short, or nothing is in it."""
    now, known = documents(texts(100, seed=7)), tmp_path / "known"
    full = duplicates(now, remember=known)
    kept = known.read_bytes()
    damaged = bytearray(kept)
    damaged[len(kept) // 2] ^= 1
    for content in (bytes(damaged), kept[: len(kept) // 2], b"", bytes(100)):
        known.write_bytes(content)
        found = duplicates(now, remember=known)
        assert why_full(found) == f"known is {'damaged' if content else 'empty'}"
        assert result(found) == result(full)


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    """A file that is something else is refused before anything is read, and stays."""
    other = tmp_path / "listings.csv"
    other.write_text("id,text\n1,a\n", encoding="utf-8")
    with refusal(nd.SourceError, "file-kind", "listings.csv"):
        duplicates(documents(["a b", "b c"]), remember=other)
    assert other.read_text(encoding="utf-8") == "id,text\n1,a\n"
    with refusal(nd.SourceError, "file-unwritable", "known"):
        duplicates(documents(["a b", "b c"]), remember=tmp_path / "no" / "known")


def test_what_does_not_go_together() -> None:
    """Two sides."""
    now = documents(["a b", "b c"])
    with refusal(nd.ArgumentError, "arguments-conflict", "`remember`", "`against`"):
        duplicates(now, against=now, remember="known")


def test_repeated_ids_are_no_news(tmp_path: Path) -> None:
    """The last record of an id counts: its text is another, or the same as before."""
    known = tmp_path / "known"
    once = documents(texts(60, seed=10))
    again = [nd.Document(id=one.id, text=one.text) for one in once[:3]]
    edited = [nd.Document(id=one.id, text=f"{one.text} and more") for one in once[:3]]
    duplicates(nd.Source(once, on_repeat="last"), remember=known)
    for now, changes in (
        ([*once, *again], 0),
        ([*once, *again], 0),
        ([*once, *edited], 3),
        ([*once, *edited], 0),
        ([*again, *once], 3),
        (once, 0),
    ):
        found = duplicates(nd.Source(now, on_repeat="last"), remember=known)
        since = of_again(found.since)
        assert (since.came, since.changed, since.gone) == (0, changes, 0)
        assert result(found) == result(duplicates(nd.Source(now, on_repeat="last")))
        assert changes or since.reused == found.candidates


def test_records_of_one_id_are_remembered(tmp_path: Path) -> None:
    """All of them are kept, so each is known again by the number of its record."""
    known = tmp_path / "known"
    once = documents(texts(60, seed=10))
    now = [*once, *(nd.Document(id=one.id, text=f"{one.text} and more") for one in once[:3])]
    duplicates(now, remember=known)
    found = duplicates([*now, nd.Document(id="new", text=once[0].text)], remember=known)
    since = of_again(found.since)
    assert (since.came, since.changed, since.gone) == (1, 0, 0)
    assert result(found) == result(duplicates([*now, nd.Document(id="new", text=once[0].text)]))
    assert any("@row" in pair.id for pair in found.pairs)
    last = duplicates(nd.Source(now, on_repeat="last"), remember=known)
    assert "settings, limits or filters have changed" in str(last.since)
    assert result(last) == result(duplicates(nd.Source(now, on_repeat="last")))


def test_what_cannot_be_remembered_costs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder that is gone at the end: the result is there, and it says that it is forgotten."""
    now, known = documents(texts(60, seed=11)), tmp_path / "folder" / "known"
    known.parent.mkdir()

    def take_away(told: nd.types.Progress) -> None:
        if known.parent.exists():
            known.parent.rmdir()

    found = duplicates(now, remember=known, on_progress=take_away)
    assert found.pairs
    assert "the next run" in caplog.text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_devices_pipes_and_folders_are_left_alone(tmp_path: Path) -> None:
    """What is no file is neither replaced nor waited for; nor is a folder's own file read."""
    pipe, folder = tmp_path / "pipe.csv", tmp_path / "texts"
    os.mkfifo(pipe)
    folder.mkdir()
    (folder / "one.txt").write_text("one two three", encoding="utf-8")
    now = documents(texts(10, seed=12))
    for name in ("remember", "checkpoint"):
        named: dict[str, Any] = {name: pipe}
        with refusal(nd.SourceError, "file-kind", "pipe.csv"):
            duplicates(now, **named)
    with refusal(nd.ArgumentError, "paths-conflict", "known"):
        duplicates(folder, remember=folder / "known")
    assert pipe.is_fifo()
    assert [path.name for path in folder.iterdir()] == ["one.txt"]


def test_one_file_for_two_things(tmp_path: Path) -> None:
    """What is kept of a run is not overwritten by what is remembered."""
    one = tmp_path / "pairs.tsv"
    with refusal(nd.SourceError, "paths-conflict", "`remember`", "`checkpoint`"):
        nd.duplicates(documents(["a b", "b c"]), checkpoint=one, remember=one)


def test_an_interruption_and_another_text(tmp_path: Path) -> None:
    """What was compared before an interruption is not taken for a text that was edited since."""
    path, known, kept = tmp_path / "t.csv", tmp_path / "known", tmp_path / "kept"
    made = texts(80, seed=11)
    working: dict[str, Any] = {"by": "all", "remember": known, "checkpoint": kept}

    def write() -> None:
        lines = [f"{n},{text}\n" for n, text in enumerate(made)]
        path.write_text("id,text\n" + "".join(lines), encoding="utf-8")

    def stop(told: nd.types.Progress) -> None:
        if told.stage == "comparing" and told.done == told.total:
            raise KeyboardInterrupt

    write()
    with pytest.raises(KeyboardInterrupt):
        duplicates(path, **working, on_progress=stop)
    assert kept.exists()
    made[3] = made[4]
    write()
    found = duplicates(path, **working)
    assert result(found) == result(duplicates(path, by="all"))
    assert result(duplicates(path, **working)) == result(found)


def test_a_run_that_fails_leaves_the_last_one(tmp_path: Path) -> None:
    """What an earlier run knew is there until a later one is done."""
    now, known = documents(texts(100, seed=8)), tmp_path / "known"
    duplicates(now, remember=known)
    kept = known.read_bytes()

    def stop(told: nd.types.Progress) -> None:
        if told.stage == "joining":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        duplicates(now[:50], by="bands", remember=known, on_progress=stop)
    assert known.read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir()] == ["known"]
