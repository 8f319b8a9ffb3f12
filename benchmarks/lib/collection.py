"""Texts with pairs of known similarity: exact word 3-shingle Jaccard, planted and drawn."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lib.corpus import DATA, Dice, corpus
from neardup_solr.text.normalize import normalize
from neardup_solr.text.shingles import word_shingles

SAMPLED = 300_000  # pairs drawn at random beside the known ones


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts and pairs of them (int64, pairs × 2) with their exact `similarity`.

    The shingles of text d are numbers, ascending: shingles[bounds[d]:bounds[d + 1]].
    """

    name: str
    texts: list[str]
    shingles: NDArray[np.int64]
    bounds: NDArray[np.int64]
    pairs: NDArray[np.int64]
    similarity: NDArray[np.float64]


def generated(documents: int, seed: int) -> Collection:
    """The corpus of corpus.py: planted pairs, siblings, and pairs drawn at random.

    So that there are pairs of every similarity, one document in ten gets a partner that begins
    like it and goes on like another one.
    """
    made = corpus(documents, seed)
    known = [(pair.first, pair.second) for pair in made.planted]
    texts, mixed = made.documents, documents // 10
    shares, others = Dice(seed).fractions(mixed).tolist(), Dice(seed).below(documents, mixed)
    for first, (share, other) in enumerate(zip(shares, others.tolist(), strict=True)):
        known.append((first, len(texts)))
        texts.append(_mixed(texts[first], texts[other], 0.1 + 0.6 * share))
    return _collection("generated corpus", texts, known, seed)


def _mixed(first: str, other: str, share: float) -> str:
    begin, end = first.split(), other.split()
    return " ".join(begin[: round(share * len(begin))] + end[round(share * len(end)) :])


def licences(seed: int) -> Collection:
    """10,008 licence texts: their pairs of 0.8 and more, and pairs drawn at random."""
    folder = DATA / "licences"
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    place = {record["id"]: at for at, record in enumerate(records)}
    with gzip.open(folder / "jaccard3_pairs_ge_0.8.tsv.gz", "rt", encoding="utf-8") as rows:
        reader = csv.DictReader(rows, delimiter="\t")
        known = [(place[row["id1"]], place[row["id2"]]) for row in reader]
    return _collection("licences", [record["text"] for record in records], known, seed)


def _collection(
    name: str, texts: list[str], known: Sequence[tuple[int, int]], seed: int
) -> Collection:
    shingles, bounds = _numbered(texts)
    drawn = Dice(seed).below(len(texts), 2 * SAMPLED).reshape(-1, 2)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    pairs = np.unique(np.sort(np.vstack((np.array(known), drawn)), axis=1), axis=0)
    similarity = _jaccard(shingles, bounds, pairs)
    return Collection(name, texts, shingles, bounds, pairs, similarity)


def _numbered(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    numbers: dict[str, int] = {}
    parts, bounds = [], [0]
    for text in texts:
        pieces = word_shingles(normalize(text), 3)
        parts.append(sorted(numbers.setdefault(piece, len(numbers)) for piece in pieces))
        bounds.append(bounds[-1] + len(pieces))
    flat = np.fromiter((number for part in parts for number in part), np.int64, bounds[-1])
    return flat, np.array(bounds, dtype=np.int64)


@njit(nogil=True, cache=True)
def _jaccard(shingles: Any, bounds: Any, pairs: Any) -> Any:
    found = np.empty(len(pairs), dtype=np.float64)
    for at in range(len(pairs)):
        one, other = pairs[at]
        i, j, common = bounds[one], bounds[other], 0
        while i < bounds[one + 1] and j < bounds[other + 1]:
            left, right = shingles[i], shingles[j]
            common += left == right
            i += left <= right
            j += right <= left
        both = bounds[one + 1] - bounds[one] + bounds[other + 1] - bounds[other]
        found[at] = common / (both - common)
    return found
