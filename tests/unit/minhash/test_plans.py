"""Estimates by signatures, their intervals, what bands cost, and those that meet a demand."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup_solr import Settings, signature
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.minhash import band_plans
from neardup_solr.minhash.band_plans import Demand
from neardup_solr.minhash.sign import fold, hash_bands
from neardup_solr.verbs.tune.sample import draw_sample
from tests.refusals import refusal

SETTINGS = Settings()
EMPTY = np.empty(0, dtype=np.uint32)


def agreeing(equal: int, hashes: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Two signatures that agree in their first so many positions."""
    one = np.arange(hashes, dtype=np.uint32)
    return one, np.where(one < equal, one, one + 1).astype(np.uint32)


def random_sets(
    similarity: float, size: int, pairs: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Signatures of pairs of random sets whose union has `size` members, the same share common."""
    draw = np.random.default_rng(7)
    common = round(similarity * size)
    middle = common + (size - common) // 2
    ones, others = [], []
    for _ in range(pairs):
        members = draw.integers(0, 2**32, size, dtype=np.uint32)
        ones.append(fold(members[:middle], SETTINGS))
        rest = np.concatenate((members[:common], members[middle:]))
        others.append(fold(rest, SETTINGS))
    return np.stack(ones), np.stack(others)


def binomial(hashes: int, similarity: float) -> NDArray[np.float64]:
    """The chance of 0, 1, ... agreeing positions of independent ones."""
    ways = [math.comb(hashes, k) for k in range(hashes + 1)]
    return np.array(
        [way * similarity**k * (1 - similarity) ** (hashes - k) for k, way in enumerate(ways)]
    )


@pytest.mark.parametrize(
    ("equal", "hashes", "low", "high"),
    [  # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval_of_published_tables(
    equal: int, hashes: int, low: float, high: float
) -> None:
    """The interval is the one that the literature gives for such a share."""
    found = signature.estimate_jaccard(*agreeing(equal, hashes))
    assert float(found.value) == equal / hashes
    assert float(found.low) == pytest.approx(low, abs=5e-5)
    assert float(found.high) == pytest.approx(high, abs=5e-5)


def test_one_with_many() -> None:
    """Shapes broadcast: one signature is compared with each row."""
    one, other = agreeing(32, 128)
    found = signature.estimate_jaccard(one, np.stack([one, other]))
    assert found.value.tolist() == [1.0, 0.25]
    assert found.high[0] == 1.0
    assert found.low.shape == (2,)


def test_empty_signatures_resemble_nothing() -> None:
    """The empty set has similarity 0 with everything, itself included."""
    full = agreeing(0, 128)[0]
    for pair in ((EMPTY, full), (full, EMPTY), (EMPTY, EMPTY)):
        similar = signature.estimate_jaccard(*pair)
        assert [float(v) for v in (similar.value, similar.low, similar.high)] == [0, 0, 0]


def test_signatures_of_different_length_are_refused() -> None:
    """Positions of other settings say nothing about each other."""
    with refusal(SettingsError, "settings-differ", "128", "64"):
        signature.estimate_jaccard(agreeing(0, 128)[0], agreeing(0, 64)[0])


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_impossible_levels_are_refused(level: float) -> None:
    """A level of confidence lies between 0 and 1."""
    with pytest.raises(ArgumentError, match="`level` cannot be"):
        signature.estimate_jaccard(*agreeing(3, 4), level=level)


@given(equal=st.integers(0, 64), level=st.floats(0.01, 0.999), more=st.floats(0.0001, 0.0009))
def test_intervals_hold_their_value_and_widen_with_the_level(
    equal: int, level: float, more: float
) -> None:
    """0 <= low <= value <= high <= 1, and a surer interval is no narrower."""
    narrow = signature.estimate_jaccard(*agreeing(equal, 64), level=level)
    wide = signature.estimate_jaccard(*agreeing(equal, 64), level=level + more)
    assert 0 <= wide.low <= narrow.low <= narrow.value <= narrow.high <= wide.high <= 1


@pytest.mark.parametrize("similarity", [0.05, 0.3, 0.5, 0.9])
def test_intervals_hold_the_truth_as_often_as_they_say(similarity: float) -> None:
    """Of 1,000 pairs of random sets, 95 % intervals hold the true similarity for about 95 %."""
    found = signature.estimate_jaccard(*random_sets(similarity, 200, 1_000))
    held = ((found.low <= similarity) & (similarity <= found.high)).mean()
    assert 0.93 <= held <= 0.98  # four standard errors are 2.8 %
    assert found.value.mean() == pytest.approx(similarity, abs=4 * 0.045 / math.sqrt(1_000))


def test_what_does_not_go_together_is_refused() -> None:
    """Shapes that do not pair up."""
    one, other = (np.stack([each] * 3) for each in agreeing(1, 2))
    with refusal(ArgumentError, "argument-invalid", "(3,)", "(2,)"):
        signature.estimate_jaccard(one, other[:2])


@pytest.mark.parametrize(("documents", "hashes"), [(2, 1), (5, 7), (300, 16), (513, 300)])
def test_agreements_of_all_pairs(documents: int, hashes: int) -> None:
    """Every pair is counted once, whatever falls on the edges of blocks and of a byte."""
    signatures = np.random.default_rng(1).integers(0, 3, (documents, hashes), dtype=np.uint32)
    signatures[-1] = signatures[0]  # one pair agrees everywhere: 300 do not fit a byte
    slow = np.zeros(hashes + 1, dtype=np.int64)
    for one, other in combinations(signatures, 2):
        slow[(one == other).sum()] += 1
    assert band_plans.count_agreements(signatures).tolist() == slow.tolist()


@pytest.mark.parametrize("similarity", [0.001, 0.01, 0.1, 0.27, 0.5, 0.9, 1.0])
@pytest.mark.parametrize(("hashes", "count", "rows"), [(128, 42, 3), (128, 7, 1), (60, 12, 5)])
def test_chances_are_unbiased(hashes: int, count: int, rows: int, similarity: float) -> None:
    """Their mean over what signatures of a similarity show is P(s), where P of the estimate is
    four times too much at s = 0.01."""
    mean = float(binomial(hashes, similarity) @ band_plans.compute_chances(hashes, count, rows))
    assert mean == pytest.approx(float(band_plans.curve(similarity, count, rows)), rel=1e-9)


def test_the_curve_of_estimates_is_biased() -> None:
    """What the unbiased chances are for: P of the estimated similarity misleads near 0."""
    naive = band_plans.curve(np.arange(129) / 128, 42, 3)
    mean = float(binomial(128, 0.01) @ naive)
    assert mean / float(band_plans.curve(0.01, 42, 3)) == pytest.approx(3.9, abs=0.1)


@pytest.mark.parametrize("similarity", [0.01, 0.1, 0.2, 0.4])
def test_chances_of_long_signatures_are_close(similarity: float) -> None:
    """Where the exact table would take too long, the mean is within 1 % of P(s)."""
    hashes = band_plans._EXACT + 1
    counted = np.random.default_rng(5).binomial(hashes, similarity, 400_000)
    mean = band_plans.compute_chances(hashes, 42, 3)[counted].mean()
    assert mean == pytest.approx(float(band_plans.curve(similarity, 42, 3)), rel=0.02)


def test_expected_candidates_are_those_that_bands_give() -> None:
    """For a collection that is its own sample, they agree with counting shared bands."""
    signatures = np.concatenate(random_sets(0.25, 200, 600))
    plan = band_plans.plan(42, 3, band_plans.Demand())
    keys = hash_bands(signatures, 42, 3)
    shared = sum(int((keys[at + 1 :] == keys[at]).any(axis=1).sum()) for at in range(len(keys)))
    expected = band_plans.expect_candidates(
        band_plans.count_agreements(signatures).tolist(), 1_200, plan
    )
    assert 250 < shared < 350  # P(0.25) is 0.49
    assert expected == pytest.approx(2 * shared / 1_200, rel=0.1)


def test_candidates_grow_with_the_collection() -> None:
    """A sample stands for a collection: ten times the documents, ten times the candidates."""
    plan = band_plans.plan(2, 1, band_plans.Demand())
    assert band_plans.expect_candidates([0, 0, 5], 101, plan) == pytest.approx(100)
    assert band_plans.expect_candidates([5, 0, 0], 101, plan) == 0
    assert band_plans.expect_candidates([1, 0, 1], 11, plan) == pytest.approx(5)


@given(st.lists(st.integers(0, 1_000), min_size=2, max_size=200), st.integers(1, 50))
def test_histograms_lose_no_pair(agreements: list[int], bins: int) -> None:
    """Every pair is in one bin; there are no more bins than hashes."""
    counts = band_plans.make_histogram(agreements, bins)
    assert counts.sum() == sum(agreements)
    assert len(counts) == min(bins, len(agreements) - 1)


def test_histogram_of_a_few_pairs() -> None:
    """The last bin holds the equal ones too."""
    assert band_plans.make_histogram([1, 2, 4, 8, 16], 2).tolist() == [3, 28]


@pytest.mark.parametrize(("similarity", "chance"), [(0.5, 0.996), (0.05, 0.005), (0, 0), (1, 1)])
def test_worked_example_of_the_curve(similarity: float, chance: float) -> None:
    """42 bands of 3 rows: 0.5 is found with 99.6 %, 0.05 with 0.5 %."""
    assert band_plans.curve(similarity, 42, 3) == pytest.approx(chance, abs=5e-4)


def test_worked_example() -> None:
    """42 bands of 3 rows catch 99.6 % of the pairs at 0.5, and pass 0.5 % of those at 0.05."""
    plan = band_plans.plan(42, 3, Demand(catch=0.5, avoid=0.05))
    assert plan.caught == pytest.approx(0.996, abs=5e-4)
    assert plan.load == pytest.approx(0.005, abs=5e-4)
    assert plan.threshold == pytest.approx(0.2539, abs=5e-5)


@given(st.floats(0, 1), st.integers(1, 300), st.integers(1, 30))
def test_the_curve_is_that_of_bands(similarity: float, count: int, rows: int) -> None:
    """The stable formula agrees with the plain one."""
    stable = float(band_plans.curve(similarity, count, rows))
    assert stable == pytest.approx(1 - (1 - similarity**rows) ** count, abs=1e-12)


@given(st.floats(0.001, 0.999), st.integers(1, 1_000), st.integers(1, 40))
def test_roots_are_those_of_the_closed_form(chance: float, count: int, rows: int) -> None:
    """Bisection finds what solving P(s) = chance for s gives."""
    closed = (-math.expm1(math.log1p(-chance) / count)) ** (1 / rows)
    assert band_plans.similarity_at(chance, count, rows) == pytest.approx(closed, rel=1e-9)


def brute_force(demand: Demand, hashes: int) -> tuple[int, int] | None:
    """The cheapest bands and rows that meet a demand, by trying all.

    A plan that meets it to the last digit, such as 0.9 caught by three rows of one against a miss
    of 0.001, is left to how numbers are rounded: such demands are not tried.
    """
    for count in range(1, hashes + 1):
        for rows in range(1, hashes // count + 1):
            plan = band_plans.plan(count, rows, demand)
            assume(abs(1 - plan.caught - demand.miss) > 1e-12)
            assume(abs(plan.load - demand.load) > 1e-12)
            if 1 - plan.caught <= demand.miss and plan.load <= demand.load:
                return count, rows
    return None


@given(
    st.floats(0.2, 1), st.floats(0, 0.6), st.floats(0.001, 0.3), st.floats(0.0005, 0.3),
    st.integers(1, 40),
)  # fmt: skip
def test_solve_finds_the_cheapest(
    catch: float, avoid: float, miss: float, load: float, hashes: int
) -> None:
    """It finds what trying all bands and rows finds, and refuses where that finds none."""
    assume(catch > avoid)
    demand = Demand(catch=catch, avoid=avoid, miss=miss, load=load)
    try:
        plan = band_plans.solve(demand, hashes)
        found = plan.bands, plan.rows
    except SettingsError:
        found = None
    assert found == brute_force(demand, hashes)


def test_default_demand_within_default_hashes() -> None:
    """99 % of the pairs at 0.5 and less than 0.1 % at 0.03 take 105 of 128 hashes."""
    plan = band_plans.solve(Demand(), 128)
    assert (plan.bands, plan.rows, plan.hashes) == (35, 3, 105)


@pytest.mark.parametrize(
    ("demand", "hashes", "says"),
    [
        (Demand(avoid=0.1), 128, ["pass 3.44 %", "34.4 times", "1,758 hashes", "`avoid` to 0.03"]),
        (Demand(catch=0.2), 16, ["miss at least 2.81 %", "2.81 times", "set `catch` to 0.251"]),
        (Demand(catch=0.5, avoid=0.49), 128, ["98.7 %", "set `avoid` to 0.03"]),
        (
            Demand(catch=0.9, avoid=0.001, load=1e-6),
            2,
            ["(2 × 1)", "12 hashes", "`load` to 0.0022"],
        ),
    ],
)
def test_an_unmet_demand_says_what_would_do(demand: Demand, hashes: int, says: list[str]) -> None:
    """The error names the part that fails, by how much, and what to ask for instead."""
    with pytest.raises(SettingsError) as caught:
        band_plans.solve(demand, hashes)
    assert [words for words in says if words not in str(caught.value)] == []


def test_what_an_unmet_demand_advises_does() -> None:
    """Each of the values that an error advises meets the demand."""
    band_plans.solve(Demand(avoid=0.1), 1_758)
    band_plans.solve(Demand(avoid=0.03), 128)
    band_plans.solve(Demand(catch=0.251, load=0.5), 16)
    band_plans.solve(Demand(catch=0.9, avoid=0.001, load=1e-6), 12)
    band_plans.solve(Demand(catch=0.9, avoid=0.001, load=0.0022), 2)
    with pytest.raises(SettingsError):
        band_plans.solve(Demand(avoid=0.1), 1_757)


@pytest.mark.parametrize(
    "values",
    [
        {"catch": 0.0}, {"catch": 1.1}, {"catch": math.nan}, {"avoid": 1.0}, {"avoid": -0.1},
        {"miss": 0.0}, {"miss": 1.0}, {"load": 0.0}, {"load": 2.0}, {"catch": 0.3, "avoid": 0.3},
        {"catch": 0.1, "avoid": 0.3},
    ],
)  # fmt: skip
def test_impossible_demands_are_refused(values: dict[str, float]) -> None:
    """Shares lie in 0..1, and what is caught lies above what is passed over."""
    with pytest.raises(SettingsError):
        Demand(**values)


def test_every_item_is_drawn_as_often() -> None:
    """Of 20 items, 5 of them in each of 2,000 samples: each about 500 times."""
    counts = np.zeros(20)
    for seed in range(2_000):
        drawn, total = draw_sample(range(20), 5, seed)
        counts[drawn] += 1
        assert (len(set(drawn)), total) == (5, 20)
    assert np.abs(counts - 500).max() < 4.5 * math.sqrt(2_000 * 0.25 * 0.75)
