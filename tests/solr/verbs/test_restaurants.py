"""The founding case: 864 listings of two restaurant guides, 112 true pairs."""

import csv
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr.testing import fresh_core
from tests.unit.measures.test_words import slow_distance

pytestmark = pytest.mark.data
PUBLISHED = {
    ("3", "536"): 1,
    ("43", "579"): 2,
    ("44", "584"): 2,
    ("60", "605"): 2,
    ("84", "625"): 1,
}


@pytest.fixture(scope="module")
def guides(shared_data: Path) -> Path:
    """The folder of the two guides."""
    return shared_data / "restaurants"


@pytest.fixture(scope="module")
def listings(guides: Path, solr_url: str) -> Iterator[nd.Collection]:
    """A core that holds the listings."""
    with fresh_core(solr_url) as core:
        summary = nd.index(guides / "addresses_verbatim.txt", core)
        assert (summary.read, summary.indexed, summary.repeated, summary.failed) == (864, 864, 0, 0)
        yield core


@pytest.fixture(scope="module")
def exhaustive(guides: Path) -> dict[tuple[str, str], int]:
    """Every pair with the same first word and at most two word edits, by comparing all pairs."""
    lines = (guides / "addresses_verbatim.txt").read_text().splitlines()
    split = (line.partition(" ") for line in lines)
    words = {id: re.findall(r"\w+(?:-\w+)*", text.lower()) for id, _, text in split}
    return {
        (one, other): distance
        for one, other in combinations(words, 2)
        if words[one][0] == words[other][0]
        and (distance := slow_distance(words[one], words[other])) <= 2
    }


def reported(listings: nd.Collection, by: nd.types.By) -> dict[tuple[str, str], int | None]:
    """The example's report: same first word, at most two word edits, later ids only."""
    made = nd.report(listings, by=by, later_only=True, same=("first_word",), max_distance=2)
    assert made.cut == 0
    return {(pair.id, pair.other_id): pair.distance for pair in made.pairs}


def test_shingles_find_just_what_an_exhaustive_comparison_finds(
    listings: nd.Collection, exhaustive: dict[tuple[str, str], int], guides: Path
) -> None:
    """66 pairs, each with its distance, 62 of the 112 true ones."""
    found = reported(listings, "shingles")
    assert found == exhaustive
    assert len(found) == 66
    pairs = [nd.Pair(id=a, other_id=b, distance=d, similarity=0) for (a, b), d in found.items()]
    evaluation = nd.evaluate(guides / "gold_pairs.tsv", pairs)
    assert (evaluation.right, evaluation.known) == (62, 112)


@pytest.mark.parametrize(("by", "right"), [("signatures", 62), ("bands", 57)])
def test_signatures_and_bands_find_what_the_readme_says(
    listings: nd.Collection, guides: Path, by: nd.types.By, right: int
) -> None:
    """The figures of the README, to the pair: signatures are deterministic."""
    with open(guides / "gold_pairs.tsv", encoding="utf-8", newline="") as file:
        truth = {(row[0], row[1]) for row in csv.reader(file, delimiter="\t")}
    assert len(truth & set(reported(listings, by))) == right


def test_published_pairs_have_the_published_distances(listings: nd.Collection) -> None:
    """The example pairs of the founding article come out as published."""
    found = reported(listings, "shingles")
    assert {pair: found[pair] for pair in PUBLISHED} == PUBLISHED


def test_report_of_a_range_is_a_part_of_the_whole(listings: nd.Collection) -> None:
    """Ids 1 to 100 give those pairs whose earlier id lies in that range, in natural order."""
    alike: dict[str, Any] = {"same": ("first_word",), "max_distance": 2}
    part = nd.report(listings, from_id="1", to_id="100", later_only=True, **alike)
    whole = reported(listings, "shingles")
    expected = [pair for pair in whole if int(pair[0]) <= 100]
    assert part.documents == 100
    assert [(pair.id, pair.other_id) for pair in part.pairs] == expected
