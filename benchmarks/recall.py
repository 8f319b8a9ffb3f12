"""Which pairs become candidates, and how good the estimates are, against theory.

    python benchmarks/recall.py [--documents 20000] [--seeds 100]

By bucket of exact Jaccard similarity: the share of pairs that share a band, beside the S-curve
1 - (1 - s^3)^42 averaged over the same pairs; the error of the estimate from two signatures. Pairs
of one cluster share texts and so are not independent: everything is done with several seeds of
the hash family, and the standard error is that of the mean over the seeds. Then one-permutation
hashing beside the families of the package, on random sets. Results go to recall.md and .json.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import collection
import numpy as np
import oneperm
import results
from collection import Collection
from corpus import Dice
from numba import njit
from numpy.typing import NDArray

from neardup_solr.pure import bands
from neardup_solr.pure.config import Settings
from neardup_solr.pure.kernel.hashes import _fold_affine  # only to time it alone
from neardup_solr.pure.signature import coefficients
from neardup_solr.pure.signing import sign

HASHES, BANDS, ROWS = 128, 42, 3
EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # the last bucket is 1 itself
SIZES, SIMILARITIES, TRIALS = (10, 50, 200, 1_000), (0.2, 0.5, 0.8), 4_000
WORDS = 1_000_000_007  # random words are numbers below it
Signatures = NDArray[np.uint32] | NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Seeded:
    """What one seed gave, by bucket: `recall`, mean `error` of estimates, mean `square` of it."""

    recall: NDArray[np.float64]
    error: NDArray[np.float64]
    square: NDArray[np.float64]


def of_family(family: str) -> Callable[[Collection, int], tuple[Signatures, NDArray[np.uint64]]]:
    """Signatures and band keys of a collection by one of the package's families."""

    def signed(texts: Collection, seed: int) -> tuple[Signatures, NDArray[np.uint64]]:
        made = sign(texts.texts, Settings(family=family, seed=seed), threads=os.cpu_count() or 1)
        return made.signatures, made.keys

    return signed


def of_one_permutation(
    how: int,
) -> Callable[[Collection, int], tuple[Signatures, NDArray[np.uint64]]]:
    """Signatures and band keys of a collection by one-permutation hashing."""

    def signed(texts: Collection, seed: int) -> tuple[Signatures, NDArray[np.uint64]]:
        hashes = oneperm.rehash(texts.shingles, seed)
        made = oneperm.sketch_many(hashes, texts.bounds, HASHES, how)
        return made, bands.hash_bands(made, BANDS, ROWS)

    return signed


FAMILIES = {
    "affine": of_family("affine"),
    "xor": of_family("xor"),
    "one permutation, rotation": of_one_permutation(oneperm.ROTATION),
    "one permutation, optimal": of_one_permutation(oneperm.OPTIMAL),
}


def main() -> None:
    """Measure everything, print it and keep it."""
    options = _options()
    found: dict[str, Any] = {"conditions": results.conditions(), "seeds": options.seeds}
    for texts in (collection.generated(options.documents, 1), collection.licences(1)):
        found[texts.name] = {
            name: _against_theory(texts, signed, options.seeds) for name, signed in FAMILIES.items()
        }
    found["random sets"] = _random_sets()
    found["folding"] = _folding()
    results.keep("recall", found, list(_sections(found)))


def _against_theory(
    texts: Collection,
    signed: Callable[[Collection, int], tuple[Signatures, NDArray[np.uint64]]],
    seeds: int,
) -> list[dict[str, float]]:
    """A row for each bucket that has pairs, and one for all."""
    bucket = np.digitize(texts.similarity, EDGES) - 1
    runs = [
        _seeded(texts, bucket, *signed(texts, seed))
        for seed in Dice(7).below(2**32, seeds).tolist()
    ]
    rows = []
    for number in [*np.unique(bucket).tolist(), len(EDGES)]:
        inside = texts.similarity[(bucket == number) | (number == len(EDGES))]
        rows.append(_row(number, inside, runs))
    return rows


def _seeded(
    texts: Collection,
    bucket: NDArray[np.int64],
    signatures: Signatures,
    keys: NDArray[np.uint64],
) -> Seeded:
    equal, candidate = _compare(signatures, keys, texts.pairs)
    error = equal / HASHES - texts.similarity
    counts = np.maximum(np.bincount(bucket, minlength=len(EDGES)), 1)

    def means(values: NDArray[np.float64]) -> NDArray[np.float64]:
        by_bucket = np.bincount(bucket, weights=values, minlength=len(EDGES)) / counts
        return np.append(by_bucket, values.mean())

    return Seeded(means(candidate.astype(np.float64)), means(error), means(error**2))


@njit(nogil=True, cache=True)
def _compare(signatures: Any, keys: Any, pairs: Any) -> Any:
    """For each pair the number of equal positions, and whether a band is shared."""
    equal = np.zeros(len(pairs), dtype=np.int64)
    candidate = np.zeros(len(pairs), dtype=np.bool_)
    for at in range(len(pairs)):
        one, other = pairs[at]
        equal[at] = np.sum(signatures[one] == signatures[other])
        candidate[at] = np.any(keys[one] == keys[other])
    return equal, candidate


def _row(number: int, similarity: NDArray[np.float64], runs: Sequence[Seeded]) -> dict[str, Any]:
    chance = 1.0 - (1.0 - similarity**ROWS) ** BANDS
    recall = np.array([run.recall[number] for run in runs])
    error = np.array([run.error[number] for run in runs])
    binomial = float((similarity * (1.0 - similarity)).mean() / HASHES)
    square = float(np.mean([run.square[number] for run in runs]))
    sampling = float(np.sqrt((chance * (1.0 - chance)).sum()) / len(similarity))
    recall_error = _standard_error(recall)
    # Where hardly a pair is ever missed, the seeds may show no spread at all.
    least = max(recall_error, sampling / len(runs) ** 0.5)
    return {
        "bucket": _bucket_name(number),
        "pairs": len(similarity),
        "similarity": float(similarity.mean()),
        "curve": float(chance.mean()),
        "binomial": sampling,
        "recall": float(recall.mean()),
        "recall_error": recall_error,
        "surprise": float(recall.mean() - chance.mean()) / least if least else 0.0,
        "bias": float(error.mean()),
        "bias_error": _standard_error(error),
        "deviation": (square / binomial) ** 0.5 if binomial else None,
    }


def _bucket_name(number: int) -> str:
    if number == len(EDGES):
        return "all"
    return "1" if EDGES[number] == 1.0 else f"{EDGES[number]:.1f}–{EDGES[number + 1]:.1f}"


def _standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5)


def _random_sets() -> list[dict[str, Any]]:
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
        "bias_error": _standard_error(estimates),
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


def _folding() -> list[dict[str, float]]:
    """Nanoseconds a shingle that folding its hash takes, of those that the whole kernel takes."""
    return [{"size": size, **_folding_of(size, 4_000_000 // size)} for size in SIZES]


def _folding_of(size: int, count: int) -> dict[str, float]:
    settings = Settings(shingle_size=1)
    hashes = np.random.default_rng(1).integers(2**32, size=count * size, dtype=np.uint32)
    bounds = np.arange(count + 1) * size
    texts = [" ".join(map(str, part)) for part in hashes.reshape(count, size).tolist()]
    work: dict[str, Callable[[], object]] = {
        "kernel": lambda: sign(texts, settings),
        "affine": lambda: _fold_all(hashes, size, *coefficients(settings)),
        "optimal": lambda: oneperm.sketch_many(hashes, bounds, HASHES, oneperm.OPTIMAL),
    }
    return {name: _least_seconds(one) / (count * size) * 1e9 for name, one in work.items()}


@njit(nogil=True, cache=True)
def _fold_all(hashes: Any, size: int, multiplier: Any, offset: Any) -> Any:
    signature = np.empty(len(multiplier), dtype=np.uint32)
    total = np.uint64(0)
    for at in range(0, len(hashes), size):
        signature[:] = np.uint32(0xFFFFFFFF)
        _fold_affine(hashes[at : at + size], np.uint64(size), multiplier, offset, signature)
        total += np.uint64(signature[0])
    return total


def _least_seconds(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    seeds = found["seeds"]
    yield f"In short, {seeds} seeds", _summary(found)
    for name in ("generated corpus", "licences"):
        for family, rows in found[name].items():
            heading = f"{name}, {family}: {seeds} seeds"
            yield heading, _theory_table(rows)
    heads = ["shingles", "Jaccard", "family", "bias", "± standard error", "deviation / binomial"]
    keys = ["size", "similarity", "family", "bias", "bias_error", "deviation"]
    body = [[row[key] for key in keys] for row in found["random sets"]]
    yield f"Random sets, {TRIALS:,} pairs each", results.table(heads, body)
    heads = [
        "shingles",
        "whole kernel (words as shingles)",
        "of it the affine fold",
        "one permutation instead",
    ]
    body = [
        [row[key] for key in ("size", "kernel", "affine", "optimal")] for row in found["folding"]
    ]
    yield "Nanoseconds a shingle, one core", results.table(heads, body)


def _summary(found: dict[str, Any]) -> str:
    """For each collection and family the worst bucket, and all pairs together."""
    body = []
    for name in ("generated corpus", "licences"):
        for family, rows in found[name].items():
            worst = max((row for row in rows[:-1]), key=lambda row: abs(row["surprise"]))
            away = f"{worst['surprise']:+.1f} s.e. at {worst['bucket']}"
            every = rows[-1]
            bias = f"{every['bias']:+.5f} ± {every['bias_error']:.5f}"
            body.append([name, family, away, bias, every["deviation"]])
    heads = ["", "family", "farthest from the S-curve", "bias", "deviation / binomial"]
    return results.table(heads, body)


def _theory_table(rows: Sequence[dict[str, Any]]) -> str:
    heads = [
        "Jaccard", "pairs", "S-curve", "found", "± s.e. (seeds)", "off by s.e.",
        "binomial error, one seed",
        "estimate's bias", "± s.e.", "deviation / binomial",
    ]  # fmt: skip
    body = [
        [
            row["bucket"], row["pairs"], f"{row['curve']:.5f}", f"{row['recall']:.5f}",
            f"{row['recall_error']:.5f}", f"{row['surprise']:+.1f}", f"{row['binomial']:.5f}",
            f"{row['bias']:+.5f}",
            f"{row['bias_error']:.5f}", row["deviation"] if row["deviation"] else "–",
        ]
        for row in rows
    ]  # fmt: skip
    return results.table(heads, body)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="candidates and estimates against theory")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
