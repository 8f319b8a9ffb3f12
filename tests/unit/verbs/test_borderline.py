"""What a run says of its threshold: `found.borderline`, the line of the command, and the page's."""

from __future__ import annotations

import csv
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import demo
from neardup_solr.types import MeasureName
from tests.command import neardup

WORDS = [f"word{number}" for number in range(300)]


def listings(most: int) -> list[nd.Document]:
    """The first listings of the demo."""
    with Path(demo.listings()).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))[:most]
    return [nd.Document(id=row["id"], text=row["text"]) for row in rows]


def families(tmp_path: Path) -> Path:
    """A file of texts that each change a third of one of a few, so that their likeness varies."""
    draw = random.Random(3)
    rows = []
    for family in range(6):
        own = draw.sample(WORDS, 30)
        for copy in range(8):
            words = [word if draw.random() < 0.75 else draw.choice(WORDS) for word in own]
            rows.append({"id": f"{family}-{copy}", "text": " ".join(words)})
    path = tmp_path / "families.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "text"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def border(found: nd.Duplicates) -> Any:
    """What a result says of its threshold."""
    assert found.borderline is not None
    return found.borderline


@pytest.mark.parametrize("measure", ["words", "jaccard", "containment", "aligned", "estimate"])
def test_what_other_thresholds_would_find(measure: MeasureName) -> None:
    """The pairs above and below, and the wedges, are those of runs with these thresholds."""
    documents = listings(90)
    found = border(nd.duplicates(documents, measure=measure, by="all"))
    higher, lower = (
        nd.duplicates(documents, measure=measure, by="all", min_similarity=least)
        for least in (found.higher, found.lower)
    )
    assert found.pairs - found.above == len(higher.pairs)
    assert found.below == len(lower.pairs) - found.pairs
    assert found.open_higher == border(higher).open
    assert found.lower < found.min_similarity < found.higher


def test_open_wedges_of_a_run(tmp_path: Path) -> None:
    """They are the chains of two pairs whose ends were compared, but are no pair."""
    found = nd.duplicates(families(tmp_path), by="all", min_similarity=0.55)
    pairs = {frozenset((pair.id, pair.other_id)) for pair in found.pairs}
    ids = sorted({id for pair in pairs for id in pair})
    wedges = [
        (one, middle, other)
        for one in ids for middle in ids for other in ids
        if one < other and {frozenset((one, middle)), frozenset((middle, other))} <= pairs
        and len({one, middle, other}) == 3 and frozenset((one, other)) not in pairs
    ]  # fmt: skip
    assert border(found).open == len(wedges) > 0


def test_many_pairs_below_are_estimated_by_words() -> None:
    """A sample of the pairs that are not near is compared by the lower threshold."""
    documents = listings(404)
    found = border(nd.duplicates(documents, by="all"))
    lower = nd.duplicates(documents, by="all", min_similarity=found.lower)
    assert found.below == pytest.approx(len(lower.pairs) - found.pairs, rel=0.5)


def test_what_is_not_known(tmp_path: Path) -> None:
    """Nothing is said of what was not compared in this run, or not by its similarity alone."""
    path = families(tmp_path)
    assert nd.duplicates(path, max_distance=3).borderline is None
    assert nd.duplicates(path).at(0.7).borderline is None
    across = border(nd.duplicates(path, against=path))
    assert across.open is across.open_higher is None
    assert across.below is not None
    assert "wedge" not in str(across)
    remembered = tmp_path / "run"
    first, again = (
        border(nd.duplicates(path, measure="words", remember=remembered)) for _ in range(2)
    )
    assert first.below is not None
    assert again.below is None
    assert (again.above, again.open) == (first.above, first.open)
    assert " more at " in str(first)
    assert " more at " not in str(again)


def test_fields_have_a_threshold_too() -> None:
    """Pairs are counted by their probability."""
    records = [{"id": str(at), "name": name} for at, name in enumerate(WORDS[:40] * 2)]
    found = nd.duplicates(records, fields={"name": "text"})
    assert border(found).pairs == len(found.pairs) == 40
    assert border(found).open == 0


@pytest.mark.parametrize("least", [0.0, 0.02, 0.98, 1.0])
def test_thresholds_at_the_ends(tmp_path: Path, least: float) -> None:
    """No threshold leaves 0 to 1, and none near 1 is doubtful."""
    found = border(nd.duplicates(families(tmp_path), min_similarity=least))
    assert 0.0 <= found.lower <= least <= found.higher <= 1.0
    assert not least > 0.9 or not found.warning
    assert str(found).startswith(f"{least:g}: ")


def test_when_a_threshold_is_doubtful(tmp_path: Path) -> None:
    """Many open wedges come first, then many pairs just above; few of either are no reason."""

    border_of_run = border(nd.duplicates(families(tmp_path), min_similarity=0.5))

    def warning(pairs: int, above: int, opened: int | None) -> str:
        counts: dict[str, Any] = {"below": 0, "open": opened, "open_higher": opened}
        return str(replace(border_of_run, pairs=pairs, above=above, **counts).warning)

    assert warning(100, 20, 10).startswith("The threshold 0.5 may be too low: in 10 cases")
    assert "(10 at 0.55)" in warning(100, 20, 10)
    for opened in (9, None):
        line = warning(100, 20, opened)
        assert line.startswith("The result depends heavily on the threshold 0.5: 20 of 100")
        assert warning(100, 19, opened) == ""
    assert warning(10, 9, 9) == ""


def test_the_command_warns(tmp_path: Path) -> None:
    """One line, on the terminal and on the page; short records hear of a better measure instead."""
    page = tmp_path / "page.html"

    def run(*words: object) -> str:
        ran = neardup("duplicates", *map(str, words), "-o", str(page))
        assert ran.returncode == 0, ran.stderr
        return ran.stderr

    path, line = (families(tmp_path), "--measure", "words"), "may be too low: "
    assert run(*path, "--min-similarity", 0.5).count(line) == 1
    assert "neardup review asks about such pairs" in run(*path, "--min-similarity", 0.5)
    assert line in page.read_text()
    assert line not in run(*path, "--min-similarity", 0.9)
    assert line not in page.read_text()
    assert "Threshold 0.9: " in page.read_text()
    assert line not in run(demo.listings())
    assert "--measure records" in run(demo.listings())
