"""The hash families on random sets: how far off their estimates are, and what folding costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lib import oneperm
from neardup_solr.minhash.sign import sign
from neardup_solr.settings import Settings

HASHES = 128
SIZES, SIMILARITIES, TRIALS = (10, 50, 200, 1_000), (0.2, 0.5, 0.8), 4_000
FEW_HASHES = Settings(shingle_size=1, hashes=4, bands=1, rows=1, signatures=0)
WORDS = 1_000_000_007  # random words are numbers below it
Signatures = NDArray[np.uint32] | NDArray[np.uint64]


def random_sets() -> list[dict[str, Any]]:
    """Bias and deviation of each family's estimates on pairs of random sets of one size."""
    rows = []
    for size in SIZES:
        for similarity in SIMILARITIES:
            common = round(2 * size * similarity / (1 + similarity))
            exact = common / (2 * size - common)
            rows += [
                {"size": size, "similarity": exact, "family": name, **_spread(made, exact)}
                for name, made in _estimates(size, common).items()
            ]
    return rows


def _spread(estimates: NDArray[np.float64], exact: float) -> dict[str, float]:
    binomial = (exact * (1.0 - exact) / HASHES) ** 0.5
    return {
        "bias": float(estimates.mean() - exact),
        "bias_error": standard_error(estimates),
        "deviation": float(((estimates - exact) ** 2).mean() ** 0.5 / binomial),
    }


def _estimates(size: int, common: int) -> dict[str, NDArray[np.float64]]:
    """Estimates of the same pairs of sets by each family."""
    rng = np.random.default_rng(size)
    words = rng.integers(WORDS, size=(TRIALS, 2 * size - common))
    ones, others = words[:, :size], words[:, size - common :]
    sets = np.stack((ones, others), axis=1).reshape(2 * TRIALS, size)
    texts = [" ".join(map(str, numbers)) for numbers in sets.tolist()]
    bounds = np.arange(2 * TRIALS + 1) * size
    made: dict[str, Signatures] = {}
    for family in ("affine", "xor"):
        # Other seeds for other trials: else all would share one draw of the family.
        made[family] = np.vstack([
            sign(texts[at : at + 200], Settings(family=family, shingle_size=1, seed=at)).signatures
            for at in range(0, len(texts), 200)
        ])  # fmt: skip
    hashes = oneperm.rehash(sets.reshape(-1), 1)
    for name, how in (("rotation", oneperm.ROTATION), ("optimal", oneperm.OPTIMAL)):
        made[f"one permutation, {name}"] = oneperm.sketch_many(hashes, bounds, HASHES, how)
    return {name: (both[::2] == both[1::2]).mean(axis=1) for name, both in made.items()}


def folding() -> list[dict[str, float]]:
    """Nanoseconds a shingle that folding its hash takes, of those that the whole kernel takes."""
    return [{"size": size, **_folding_of(size, 4_000_000 // size)} for size in SIZES]


def _folding_of(size: int, count: int) -> dict[str, float]:
    hashes = np.random.default_rng(1).integers(2**32, size=count * size, dtype=np.uint32)
    bounds = np.arange(count + 1) * size
    texts = [" ".join(map(str, part)) for part in hashes.reshape(count, size).tolist()]
    work: dict[str, Callable[[], object]] = {
        "kernel": lambda: sign(texts, Settings(shingle_size=1)),
        "few": lambda: sign(texts, FEW_HASHES),
        "optimal": lambda: oneperm.sketch_many(hashes, bounds, HASHES, oneperm.OPTIMAL),
    }
    took = {name: _least_seconds(one) / (count * size) * 1e9 for name, one in work.items()}
    few = took.pop("few")
    # All else takes as long with few hashes as with many.
    affine = (took["kernel"] - few) * HASHES / (HASHES - FEW_HASHES.hashes)
    return took | {"affine": affine}


def _least_seconds(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def standard_error(values: NDArray[np.float64]) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5)
