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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lib import collection, families, oneperm, results
from lib.collection import Collection
from lib.corpus import Dice
from lib.families import HASHES, TRIALS, Signatures, standard_error
from numba import njit
from numpy.typing import NDArray

from neardup_solr.argument_types import Family
from neardup_solr.minhash.sign import hash_bands, sign
from neardup_solr.settings import Settings

BANDS, ROWS = 42, 3
EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # the last bucket is 1 itself


@dataclass(frozen=True, slots=True)
class Seeded:
    """What one seed gave, by bucket: `recall`, mean `error` of estimates, mean `square` of it."""

    recall: NDArray[np.float64]
    error: NDArray[np.float64]
    square: NDArray[np.float64]


def of_family(family: Family) -> Callable[[Collection, int], tuple[Signatures, NDArray[np.uint64]]]:
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
        return made, hash_bands(made, BANDS, ROWS)

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
    found["random sets"] = families.random_sets()
    found["folding"] = families.folding()
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
    recall_error = standard_error(recall)
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
        "bias_error": standard_error(error),
        "deviation": (square / binomial) ** 0.5 if binomial else None,
    }


def _bucket_name(number: int) -> str:
    if number == len(EDGES):
        return "all"
    return "1" if EDGES[number] == 1.0 else f"{EDGES[number]:.1f}–{EDGES[number + 1]:.1f}"


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
