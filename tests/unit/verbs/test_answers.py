"""Answers of people to a sample of pairs, and the precision that they show."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.groups import with_groups
from tests.refusals import refusal

TEXTS = [
    f"the quick brown fox number {number} jumps over the lazy dog {tail}"
    for number in range(6)
    for tail in ("", "today", "again", "and sleeps")
]


def found() -> nd.Duplicates:
    """A result with pairs of several similarities."""
    return nd.duplicates([{"id": str(at), "text": text} for at, text in enumerate(TEXTS)])


def pairs_of(similarities: list[float]) -> nd.Duplicates:
    """A result with pairs of these similarities."""
    pairs = [
        nd.Duplicate(id=f"a{at}", other_id=f"b{at}", similarity=one, distance=None,
                     measure="jaccard", cluster="")
        for at, one in enumerate(similarities)
    ]  # fmt: skip
    return with_groups(found(), pairs, ())


def test_a_sample_has_pairs_of_every_similarity() -> None:
    """Rare borderline pairs are not lost among clear ones."""
    pairs = pairs_of([0.99] * 900 + [0.52] * 5 + [0.77] * 50)
    drawn = pairs.sample(30).table
    similarities = drawn["similarity"]
    assert (similarities.count(0.52), similarities.count(0.77) >= 12) == (5, True)
    assert len({*drawn["id"]}) == 30
    first, again, other = (pairs.sample(30, per="pair", seed=seed).table for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_a_filled_sheet_comes_back(tmp_path: Path, suffix: str) -> None:
    """What people write into the column is the precision, if they answered everything."""
    result = found()
    sheet = result.sample(1_000)
    table = sheet.table | {"answer": ["same", "No"] * (len(sheet.table["id"]) // 2) + ["unsure"]}
    path = tmp_path / f"sheet{suffix}"
    count = len(sheet.table["id"])
    type(sheet)(table={name: column[: count // 2 * 2] for name, column in table.items()}).write(
        path
    )
    judged = nd.evaluate(path, result)
    assert judged.precision == pytest.approx(0.5, abs=0.02)
    assert (judged.known, len(judged.false)) == (count // 2, count // 2)
    assert "answers" in repr(judged)
    assert judged.recall != judged.recall  # nobody was asked about pairs that were not found


def test_the_interval_holds_what_it_promises() -> None:
    """In 95 of 100 samples the true precision lies between the bounds (tried: 1,000 samples)."""
    drawing = random.Random(7)
    result = pairs_of([0.5 + drawing.random() / 2 for _ in range(600)])
    same = {p.id for p in result.pairs if drawing.random() < (p.similarity - 0.4) * 1.6}
    truth, held = len(same) / len(result.pairs), 0
    for seed in range(1_000):
        sheet = result.sample(80, seed=seed)
        judgements = ["same" if id in same else "different" for id in sheet.table["id"]]
        share = nd.evaluate(
            replace(sheet, table=sheet.table | {"answer": judgements}), result
        ).share
        assert share is not None
        held += share.low <= truth <= share.high
    assert 930 <= held <= 985


def test_answers_to_other_pairs_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Answers about pairs that are not in the result do not count, and are not dropped silently."""
    result = found()
    pair = result.pairs[0]
    rows = {"id": [pair.id, "x"], "other_id": [pair.other_id, "y"], "answer": ["same", "same"]}
    frame = pytest.importorskip("pandas").DataFrame(rows)
    assert nd.evaluate(frame, result).known == 1
    assert "answered pairs not in the result, so not counted: 1" in caplog.text
    with refusal(nd.ArgumentError, "no-pairs", "1"):
        nd.evaluate(frame[1:], result)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [(["maybe"], "the answer 'maybe' to 0 – 1 is unknown"),
     (["", ""], "no answer is same or different"),
     (["same", "different"], "0 – 1 is answered both same and different")],
)  # fmt: skip
def test_wrong_answers(answers: list[str], reason: str) -> None:
    """An answer that cannot be used is one line."""
    count = len(answers)
    rows = {"id": ["0"] * count, "other_id": ["1"] * count, "answer": answers}
    frame = pytest.importorskip("pandas").DataFrame(rows)
    with pytest.raises(nd.ArgumentError, match=reason):
        nd.evaluate(frame, found())


def test_a_sweep_is_evaluate_at_each_threshold(tmp_path: Path) -> None:
    """Each point has the figures of the result cut at its threshold."""
    result = found()
    known = [(pair.id, pair.other_id) for pair in result.pairs if pair.similarity > 0.8] + [
        ("0", "no such")
    ]
    sweep = result.sweep(known)
    for point in sweep.points:
        cut = nd.evaluate(known, result.at(point.min_similarity))
        assert (point.found, point.precision, point.recall, point.f1) == pytest.approx(
            (cut.found, cut.precision, cut.recall, cut.f1)
        )
    assert sweep.best.f1 == max(point.f1 or 0 for point in sweep.points)
    assert sweep._repr_html_().startswith("<table")
    for name in ("sweep.tsv", "sweep.csv"):
        sweep.write(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 200
    with pytest.raises(nd.SourceError, match=r"\.jsonl"):
        sweep.write(tmp_path / "sweep.svg")


def test_a_sweep_of_answers_has_intervals() -> None:
    """With answers the precision has bounds, and recall is not made up."""
    result = found()
    sheet = result.sample(20)
    sheet.table["answer"][:] = ["same"] * len(sheet.table["id"])
    sweep = result.sweep(sheet)
    assert set(sweep.columns()) == {"min_similarity", "found", "precision", "low", "high"}
    assert all((p.low or 0) <= p.precision <= (p.high or 0) for p in sweep.points)


@pytest.mark.parametrize("linkage", ["single", "complete"])
@pytest.mark.parametrize("canonical", ["first", "longest"])
def test_a_higher_threshold_is_what_a_new_run_finds(linkage: str, canonical: str) -> None:
    """`at` gives the pairs, clusters and canonical documents of a run with that threshold."""
    rows = [{"id": str(at), "text": text} for at, text in enumerate(TEXTS)]
    how = {"linkage": linkage, "canonical": canonical}
    low = nd.duplicates(rows, min_similarity=0.5, **how)  # type: ignore[arg-type]
    for threshold in (0.5, 0.7, 0.8, 0.9, 1.0):
        cut, new = low.at(threshold), nd.duplicates(rows, min_similarity=threshold, **how)  # type: ignore[arg-type]
        assert cut.pairs == new.pairs
        assert [(c.id, c.canonical, c.pairs, c.diameter, c.bridges, {m.id for m in c.members})
                for c in cut.clusters] == [
            (c.id, c.canonical, c.pairs, c.diameter, c.bridges, {m.id for m in c.members})
            for c in new.clusters]  # fmt: skip
        assert cut.labels == new.labels
    with refusal(nd.ArgumentError, "argument-out-of-range", "`min_similarity`"):
        low.at(0.4)


def test_a_report_is_not_taken_for_known_pairs(tmp_path: Path) -> None:
    """Swapped arguments are refused where they can be told."""
    result, known = found(), [("0", "1")]
    result.write(tmp_path / "pairs.csv")
    reports: tuple[Any, ...] = (result, tmp_path / "pairs.csv", result.to_pandas())
    for report in reports:
        with refusal(nd.ArgumentError, "arguments-conflict", "known"):
            nd.evaluate(report, known)
        assert nd.evaluate(known, report).recall == 1.0


def test_results_show_themselves_in_a_notebook() -> None:
    """A short line as text, a table as HTML, and nothing in it acts."""
    rows = [{"id": "<b>", "text": "a <script> of words"}, {"id": "2", "text": "a <script> of word"}]
    explanation = nd.explain(rows, "<b>", "2")
    evaluation = nd.evaluate([("<b>", "3")], nd.duplicates(rows))
    for shown in (explanation, evaluation):
        assert len(repr(shown)) < 150
        html = shown._repr_html_()
        assert "<table>" in html
        assert "<script>" not in html
        assert "<b>2" not in html
