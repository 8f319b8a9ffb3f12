"""The pairs that people are asked about, and how much their answers tell."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Judgement
from neardup_solr.measures import floor
from neardup_solr.records import AnyId, Cluster, Duplicate, key_of
from neardup_solr.verbs.evaluate.answers import Share

WIDTH = 0.05  # of a stratum of similarity
STEP = 0.01  # pairs that are so near to each other are asked about at random
DRAWS = 2_000  # of what the pairs that nobody judged may be
LEASE = 600.0  # seconds for which nobody else is asked about a pair
TURNS = 3  # of so many questions, one is about a pair that is drawn at random
DISAGREEING = 2.0  # how much nearer a pair counts that two measures decide otherwise


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

    Those from `first` on are at the threshold or above, which is a border. `drawn` are all pairs
    stratum by stratum, in each of which they are in random order, and `places` are where they are
    in that order. What the first ones are, the whole stratum is about.
    """

    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]
    first: int
    drawn: NDArray[np.intp]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, similarities: NDArray[np.float64], threshold: float) -> Strata:
        """Divide pairs by their similarities."""
        strata = np.floor((similarities - threshold) / WIDTH + 1e-9).astype(np.int64)
        names, numbers, sizes = np.unique(strata, return_inverse=True, return_counts=True)
        drawn = np.lexsort((np.random.default_rng(1).random(len(numbers)), numbers))
        return cls(numbers, sizes, int(np.searchsorted(names, 0)), drawn, drawn.argsort())

    @property
    def ends(self) -> NDArray[np.int64]:
        """Ends of the strata in `drawn`."""
        return self.sizes.cumsum()

    def find_open(self, judged: Iterable[int]) -> NDArray[np.int64]:
        """Find where the first pair of each stratum that nobody judged is in `drawn`."""
        is_open = np.ones(len(self.drawn) + 1, dtype=np.bool_)
        is_open[self.places[np.fromiter(judged, np.intp)]] = False
        places = np.flatnonzero(is_open)
        return np.minimum(places[np.searchsorted(places, self.ends - self.sizes)], self.ends)


@dataclass(slots=True, kw_only=True)
class Questions:
    """The pairs of a result to ask about, the most helpful first, each to one reader at a time.

    A pair helps most near the `threshold`, and more so if documents of it hold a large cluster
    together, or another measure, whose similarities are `others`, decides it otherwise. Not safe
    for several threads.
    """

    pairs: Sequence[Duplicate]
    clusters: Sequence[Cluster]  # at the threshold
    threshold: float
    others: NDArray[np.float64] | None = None
    judged: dict[int, Judgement] = field(default_factory=dict)  # by the number of the pair
    disagreeing: list[bool] = field(init=False)
    _weights: NDArray[np.float64] = field(init=False)
    _strata: Strata = field(init=False)
    _prepared: deque[int] | None = None
    _waiting: deque[int] = field(init=False)
    _skipped: dict[int, None] = field(default_factory=dict)
    _leases: dict[int, tuple[str, float]] = field(default_factory=dict)
    _history: dict[str, list[list[int]]] = field(default_factory=dict)  # what was judged at once

    def __post_init__(self) -> None:
        similarities = np.array([pair.similarity for pair in self.pairs])
        disagreeing = find_disagreeing(similarities, self.others, self.threshold)
        self.disagreeing = disagreeing.tolist()
        self._strata = Strata.of(similarities, self.threshold)
        self._weights = weigh_bridges(self.pairs, self.clusters)
        weights = np.maximum(self._weights, np.where(disagreeing, DISAGREEING, 1.0))
        self._waiting = deque(order_questions(similarities, self.threshold, weights))

    def prepare(self, probabilities: NDArray[np.float64]) -> None:
        """Ask from now on about the pairs that a model is in doubt about.

        `probabilities` are those of each pair to be the same. This may be called in another thread.
        """
        self._prepared = deque(order_questions(probabilities, 0.5, self._weights))

    def are_same(self) -> dict[int, bool]:
        """Map each pair that was judged the same, or different, to True or False."""
        return {number: one == "same" for number, one in self.judged.items() if one != "unsure"}

    def next(self, reader: str, now: float) -> int | None:
        """Choose the next pair for a reader. Return None if nobody needs to be asked any more.

        It is the same one until it is judged or skipped, so that a page can be loaded again.
        """
        if self._prepared is not None:
            self._waiting, self._prepared = self._prepared, None
            if self._skipped:
                others = (number for number in self._waiting if number not in self._skipped)
                self._waiting = deque([*others, *self._skipped])
        mine = [number for number, (whose, _) in self._leases.items() if whose == reader]
        for number in mine:
            if number not in self.judged:
                self._leases[number] = reader, now
                return number
        for number, (_, since) in list(self._leases.items()):
            if now - since > LEASE:
                del self._leases[number]
                self._waiting.appendleft(number)
        if len(self.judged) % TURNS == TURNS - 1:
            self._waiting.extendleft(self._draw())
        while self._waiting:
            number = self._waiting.popleft()
            if number not in self.judged and number not in self._leases:
                self._leases[number] = reader, now
                return number
        return None

    def _draw(self) -> list[int]:
        """Draw any pair of the stratum that leaves most open how good the threshold is."""
        same, different = count_drawn(self._strata, self.are_same())
        total = same + different + 1.0
        spread = np.sqrt((same + 0.5) * (different + 0.5) / (total + 1.0)) / total
        places = self._strata.find_open([*self.judged, *self._leases, *self._skipped])
        most = int(np.argmax(spread * (self._strata.ends - places)))
        return list(map(int, self._strata.drawn[places[most] : self._strata.ends[most]][:1]))

    def judge(self, reader: str, numbers: list[int], judgement: Judgement) -> None:
        """Note an answer about a pair, or several at once, after it is kept."""
        for number in numbers:
            self.judged[number] = judgement
            self._leases.pop(number, None)
        self._history.setdefault(reader, []).append(numbers)

    def skip(self, reader: str, number: int) -> None:
        """Ask about a pair again when all others have been asked about."""
        if self._leases.get(number, ("", 0.0))[0] == reader:
            del self._leases[number]
            self._waiting.append(number)
            self._skipped[number] = None

    def back(self, reader: str, now: float) -> int | None:
        """Go back to what a reader judged last, which is asked about once more."""
        for number in [n for n, (whose, _) in self._leases.items() if whose == reader]:
            del self._leases[number]
            self._waiting.appendleft(number)
        history = self._history.get(reader)
        if not history:
            return self.next(reader, now)
        numbers = history.pop()
        for number in numbers:
            self.judged.pop(number, None)
        self._waiting.extendleft(reversed(numbers[1:]))
        self._leases[numbers[0]] = reader, now
        return numbers[0]

    def tally(self) -> Tally:
        """Count the answers, and estimate precision and recall at the threshold."""
        given = list(self.judged.values())
        estimates = estimate(self._strata, self.are_same())
        return Tally(
            given.count("same"),
            given.count("different"),
            given.count("unsure"),
            len(self.pairs) - len(given),
            *estimates,
        )


def find_disagreeing(
    similarities: NDArray[np.float64], others: NDArray[np.float64] | None, threshold: float
) -> NDArray[np.bool_]:
    """Find the pairs that another measure decides otherwise.

    It calls as many pairs the same, those of which it has the largest similarities: thresholds of
    two measures do not mean the same on all collections.
    """
    is_near = similarities >= floor(threshold)
    if others is None:
        return np.zeros(len(similarities), dtype=np.bool_)
    ranked = np.argsort(-others, kind="stable")
    is_near_too = np.zeros(len(similarities), dtype=np.bool_)
    is_near_too[ranked[: np.count_nonzero(is_near)]] = True
    disagreeing: NDArray[np.bool_] = is_near != is_near_too
    return disagreeing


def weigh_bridges(pairs: Sequence[Duplicate], clusters: Iterable[Cluster]) -> NDArray[np.float64]:
    """Weigh pairs by the clusters that they hold together, shape (pairs,).

    A pair of a document without which a cluster would fall apart weighs the more, the larger the
    cluster is; others weigh 1.
    """
    weights: dict[AnyId, float] = {}
    for cluster in clusters:
        at_bridge = set(cluster.bridges)
        for one in cluster.members:
            if one.id in at_bridge:
                weights[key_of(one.id, one.side)] = math.log2(len(cluster.members))
    ends = ([key_of(id, side) for side, id in pair.ends] for pair in pairs)
    return np.array([max(1.0, *(weights.get(key, 1.0) for key in two)) for two in ends])


def order_questions(
    similarities: NDArray[np.float64], threshold: float, weights: NDArray[np.float64]
) -> list[int]:
    """Order pairs by how much an answer helps: by their distance from the threshold.

    A pair counts as so many times nearer as its weight is. Pairs that are equally near are in
    random order.
    """
    distances = np.rint(np.abs(similarities - threshold) / weights / STEP)
    by_chance = np.random.default_rng(1).random(len(distances))
    order: list[int] = np.lexsort((by_chance, distances)).tolist()
    return order


def count_drawn(strata: Strata, are_same: Mapping[int, bool]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the pairs of each stratum that are the same, and different, of the first ones drawn."""
    judged = np.fromiter(are_same, np.intp, len(are_same))
    answers = np.fromiter(are_same.values(), np.float64, len(are_same))
    numbers = strata.numbers[judged]
    is_drawn = strata.places[judged] < strata.find_open(are_same)[numbers]
    same = np.bincount(numbers, answers * is_drawn, len(strata.sizes))
    return same, np.bincount(numbers, (1.0 - answers) * is_drawn, len(strata.sizes))


def estimate(strata: Strata, are_same: Mapping[int, bool]) -> tuple[Share, Share]:
    """Estimate precision and recall of a threshold from answers about some pairs.

    The pairs that were drawn at random tell what the others are like; those that were chosen,
    because they are not like the rest, are only known. The share of the same on either side of
    the threshold has the posterior of Jeffreys's prior, Beta(same + 1/2, different + 1/2), that of
    a stratum Beta(same + middle, different + 1 - middle) by its own pairs, with a middle between a
    half and the share of its side.
    """
    same, different = count_drawn(strata, are_same)
    draw, shares = np.random.default_rng(1), np.empty((DRAWS, len(same)))
    for side in (slice(strata.first), slice(strata.first, None)):
        all_same, all_different = same[side].sum() + 0.5, different[side].sum() + 0.5
        middle = (draw.beta(all_same, all_different, (DRAWS, 1)) + 0.5) / 2
        shares[:, side] = draw.beta(same[side] + middle, different[side] + 1.0 - middle)
    judged = strata.numbers[np.fromiter(are_same, np.int64, len(are_same))]
    known = np.bincount(judged, np.fromiter(are_same.values(), np.float64), len(strata.sizes))
    others = np.bincount(judged, minlength=len(strata.sizes)) - known
    right = np.clip(strata.sizes * shares, known, strata.sizes - others)
    found = right[:, strata.first :].sum(axis=1)
    precision = found / max(strata.sizes[strata.first :].sum(), 1)
    recall = found / np.maximum(right.sum(axis=1), 1e-9)
    return _summarize(precision), _summarize(recall)


def _summarize(draws: NDArray[np.float64]) -> Share:
    low, value, high = np.quantile(draws, (0.025, 0.5, 0.975)).tolist()
    return Share(value=value, low=low, high=high)
