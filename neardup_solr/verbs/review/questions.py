"""The pairs that people are asked about, and how much their answers tell."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Judgement
from neardup_solr.records import AnyId, Cluster, Duplicate, key_of
from neardup_solr.verbs.evaluate.answers import Share

WIDTH = 0.05  # of a stratum of similarity
STEP = 0.01  # pairs that are so near to each other are asked about at random
DRAWS = 2_000  # of what the pairs that nobody judged may be
LEASE = 600.0  # seconds for which nobody else is asked about a pair


class Tally(NamedTuple):
    """The pairs that are judged, and what they tell of all pairs at the threshold.

    `recall` is that among the pairs that were compared.
    """

    same: int
    different: int
    unsure: int
    left: int
    precision: Share
    recall: Share


class Strata(NamedTuple):
    """Pairs divided by similarity: the number of its stratum for each, and how many each has.

    Those from `first` on are at the threshold or above, which is a border.
    """

    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]
    first: int

    @classmethod
    def of(cls, similarities: NDArray[np.float64], threshold: float) -> Strata:
        """Divide pairs by their similarities."""
        places = np.floor((similarities - threshold) / WIDTH + 1e-9).astype(np.int64)
        names, numbers, sizes = np.unique(places, return_inverse=True, return_counts=True)
        return cls(numbers, sizes, int(np.searchsorted(names, 0)))


@dataclass(slots=True, kw_only=True)
class Questions:
    """The pairs of a result to ask about, the most helpful first, each to one reader at a time.

    A pair helps most near the `threshold`, and more so if documents of it hold a large cluster
    together. Not safe for several threads.
    """

    pairs: Sequence[Duplicate]
    clusters: Sequence[Cluster]  # at the threshold
    threshold: float
    judged: dict[int, Judgement] = field(default_factory=dict)  # by the number of the pair
    _strata: Strata = field(init=False)
    _waiting: deque[int] = field(init=False)
    _leases: dict[int, tuple[str, float]] = field(default_factory=dict)
    _history: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        similarities = np.array([pair.similarity for pair in self.pairs])
        self._strata = Strata.of(similarities, self.threshold)
        self._waiting = deque(order_questions(self.pairs, self.clusters, self.threshold))

    def next(self, reader: str, now: float) -> int | None:
        """Choose the next pair for a reader; None if nobody needs to be asked any more.

        It is the same one until it is judged or skipped, so that a page can be loaded again.
        """
        mine = [number for number, (whose, _) in self._leases.items() if whose == reader]
        for number in mine:
            if number not in self.judged:
                self._leases[number] = reader, now
                return number
        for number, (_, since) in list(self._leases.items()):
            if now - since > LEASE:
                del self._leases[number]
                self._waiting.appendleft(number)
        while self._waiting:
            number = self._waiting.popleft()
            if number not in self.judged:
                self._leases[number] = reader, now
                return number
        return None

    def judge(self, reader: str, number: int, judgement: Judgement) -> None:
        """Note an answer, after it is kept."""
        self.judged[number] = judgement
        self._leases.pop(number, None)
        self._history.setdefault(reader, []).append(number)

    def skip(self, reader: str, number: int) -> None:
        """Ask about a pair again when all others have been asked about."""
        if self._leases.get(number, ("", 0.0))[0] == reader:
            del self._leases[number]
            self._waiting.append(number)

    def back(self, reader: str, now: float) -> int | None:
        """Go back to the pair that a reader judged last, which is asked about once more."""
        for number in [n for n, (whose, _) in self._leases.items() if whose == reader]:
            del self._leases[number]
            self._waiting.appendleft(number)
        history = self._history.get(reader)
        if not history:
            return self.next(reader, now)
        number = history.pop()
        self.judged.pop(number, None)
        self._leases[number] = reader, now
        return number

    def tally(self) -> Tally:
        """Count the answers, and estimate precision and recall at the threshold."""
        given = list(self.judged.values())
        are_same = {n: one == "same" for n, one in self.judged.items() if one != "unsure"}
        estimates = estimate(self._strata, are_same)
        return Tally(
            given.count("same"),
            given.count("different"),
            given.count("unsure"),
            len(self.pairs) - len(given),
            *estimates,
        )


def order_questions(
    pairs: Sequence[Duplicate], clusters: Iterable[Cluster], threshold: float
) -> list[int]:
    """Order pairs by how much an answer helps: by their distance from the threshold.

    A pair of a document without which a cluster would fall apart counts as nearer, the more so the
    larger the cluster. Pairs that are equally near are in random order, so that the first ones of
    a stratum stand for all of it.
    """
    weights: dict[AnyId, float] = {}
    for cluster in clusters:
        at_bridge = set(cluster.bridges)
        for one in cluster.members:
            if one.id in at_bridge:
                weights[key_of(one.id, one.side)] = math.log2(len(cluster.members))
    random = Random(1)

    def distance(pair: Duplicate) -> tuple[int, float]:
        keys = (key_of(pair.id, pair.sides[0]), key_of(pair.other_id, pair.sides[1]))
        weight = max(1.0, *(weights.get(key, 1.0) for key in keys))
        return round(abs(pair.similarity - threshold) / weight / STEP), random.random()

    distances = [distance(pair) for pair in pairs]
    return sorted(range(len(pairs)), key=distances.__getitem__)


def estimate(strata: Strata, are_same: Mapping[int, bool]) -> tuple[Share, Share]:
    """Estimate precision and recall of a threshold from answers about some pairs.

    In each stratum of similarity the share of the same among the pairs that nobody judged has the
    posterior of Jeffreys's prior, Beta(same + 1/2, different + 1/2); those that were judged are
    known.
    """
    judged = strata.numbers[np.fromiter(are_same, np.int64, len(are_same))]
    answers = np.fromiter(are_same.values(), np.float64, len(are_same))
    same = np.bincount(judged, answers, len(strata.sizes))
    asked = np.bincount(judged, minlength=len(strata.sizes))
    shares = np.random.default_rng(1).beta(
        same + 0.5, asked - same + 0.5, (DRAWS, len(strata.sizes))
    )
    right = same + (strata.sizes - asked) * shares
    found = right[:, strata.first :].sum(axis=1)
    precision = found / max(strata.sizes[strata.first :].sum(), 1)
    recall = found / np.maximum(right.sum(axis=1), 1e-9)
    return _summarize(precision), _summarize(recall)


def _summarize(draws: NDArray[np.float64]) -> Share:
    low, value, high = np.quantile(draws, (0.025, 0.5, 0.975)).tolist()
    return Share(value=value, low=low, high=high)
