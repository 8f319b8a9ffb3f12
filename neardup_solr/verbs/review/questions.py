"""The pairs that people are asked about, in turn, and the doubts of a model about them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.arguments import Judgement
from neardup_solr.measures.aligned import frequencies
from neardup_solr.measures.fields import make_column
from neardup_solr.measures.model import Features, RecordMatcher, learn, make_default, predict
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId, Duplicate, key_of
from neardup_solr.verbs.duplicates import Duplicates
from neardup_solr.verbs.duplicates.read import THREADS

STEP = 0.01  # pairs that are so near to each other are asked about at random
LEASE = 600.0  # seconds for which nobody else is asked about a pair
TURNS = 3  # of so many questions, one is about a pair that is drawn at random
MOST_CHARACTERS = 50_000_000  # of all pairs, which the model's measures compare in ten seconds
FEWEST = 2  # answers of either kind that a model needs


class Tally(NamedTuple):
    """Numbers of judged pairs, and of those that are left."""

    same: int
    different: int
    unsure: int
    left: int


@dataclass(slots=True, kw_only=True)
class Questions:
    """The pairs of a result to ask about, each to one reader at a time.

    Those near the `threshold` come first, and each third is drawn at random. Not safe for several
    threads.
    """

    pairs: Sequence[Duplicate]
    threshold: float
    judged: dict[int, Judgement] = field(default_factory=dict)  # by the number of the pair
    _prepared: deque[int] | None = None
    _waiting: deque[int] = field(init=False)
    _drawn: deque[int] = field(init=False)
    _skipped: dict[int, None] = field(default_factory=dict)
    _leases: dict[int, tuple[str, float]] = field(default_factory=dict)
    _history: dict[str, list[list[int]]] = field(default_factory=dict)  # what was judged at once

    def __post_init__(self) -> None:
        similarities = np.array([pair.similarity for pair in self.pairs])
        self._waiting = deque(order_questions(similarities, self.threshold))
        self._drawn = deque(np.random.default_rng(1).permutation(len(self.pairs)).tolist())

    def prepare(self, probabilities: NDArray[np.float64]) -> None:
        """Ask from now on about the pairs that a model is in doubt about.

        `probabilities` are those of each pair to be the same. This may be called in another thread.
        """
        self._prepared = deque(order_questions(probabilities, 0.5))

    def are_same(self) -> dict[int, bool]:
        """Map each pair that was judged the same, or different, to True or False."""
        return {number: word == "same" for number, word in self.judged.items() if word != "unsure"}

    def next(self, reader: str, now: float) -> int | None:
        """Choose the next pair for a reader. Return None if nobody needs to be asked any more.

        It is the same one until it is judged or skipped, so that a page can be loaded again.
        """
        if self._prepared is not None:
            self._waiting, self._prepared = self._prepared, None
            if self._skipped:
                others = (number for number in self._waiting if number not in self._skipped)
                self._waiting = deque([*others, *self._skipped])
        for number, (holder, since) in list(self._leases.items()):
            if holder == reader and number not in self.judged:
                return self._lease(number, reader, now)
            if now - since > LEASE:
                del self._leases[number]
                self._waiting.appendleft(number)
        is_drawn = len(self.judged) % TURNS == TURNS - 1
        for queue in (self._drawn, self._waiting)[not is_drawn :]:
            while queue:
                number = queue.popleft()
                is_for_later = queue is self._drawn and number in self._skipped
                if not is_for_later and number not in self.judged and number not in self._leases:
                    return self._lease(number, reader, now)
        return None

    def _lease(self, number: int, reader: str, now: float) -> int:
        self._leases[number] = reader, now
        return number

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
        for number, (holder, _) in list(self._leases.items()):
            if holder == reader:
                del self._leases[number]
                self._waiting.appendleft(number)
        history = self._history.get(reader)
        if not history:
            return self.next(reader, now)
        numbers = history.pop()
        for number in numbers:
            self.judged.pop(number, None)
        self._waiting.extendleft(reversed(numbers[1:]))
        return self._lease(numbers[0], reader, now)

    def tally(self) -> Tally:
        """Count the answers."""
        counts = Counter(self.judged.values())
        left = len(self.pairs) - len(self.judged)
        return Tally(counts["same"], counts["different"], counts["unsure"], left)


def order_questions(similarities: NDArray[np.float64], threshold: float) -> list[int]:
    """Order pairs by how much an answer helps: by their distance from the threshold.

    Pairs that are equally near are in random order.
    """
    distances = np.rint(np.abs(similarities - threshold) / STEP)
    by_chance = np.random.default_rng(1).random(len(distances))
    order: list[int] = np.lexsort((by_chance, distances)).tolist()
    return order


class Learner:
    """A model of the answers about the pairs of a result, which tells what is in doubt.

    `features` are None if to compare the pairs by all measures would take long.
    """

    def __init__(self, result: Duplicates) -> None:
        weights = result.weights
        self.kinds = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
        self.size = len(result.pairs)
        self.features = self._compare(result)
        self.measure = result.measure

    def _compare(self, result: Duplicates) -> Features | None:
        """Compare the pairs by all measures, and by the fields of the result."""
        rows: dict[AnyId, int] = {}
        ends = [key_of(id, side) for pair in result.pairs for side, id in pair.ends]
        pairs = np.array([rows.setdefault(key, len(rows)) for key in ends], np.uint32)
        texts, normalization = (
            [result.texts.get(key, "") for key in rows],
            (result.settings.normalization),
        )
        forms = sign.normal_forms(texts, normalization, threads=THREADS)
        sizes = np.array([len(form) for form in forms])
        if result.measure == "estimate" or sizes[pairs].sum() > MOST_CHARACTERS:
            return None
        matcher = RecordMatcher(
            columns=[make_column(name, kind, [result.kept.get(key, {}).get(name) for key in rows])
                     for name, kind in self.kinds.items()],
            forms=forms,
            frequencies=result.frequencies or frequencies(forms, normalization),
            settings=result.settings,
            threads=THREADS,
            weights=result.weights,
        )  # fmt: skip
        return matcher.compare(pairs.reshape(-1, 2), result.measure)

    def predict(self, are_same: Mapping[int, bool]) -> NDArray[np.float64] | None:
        """Compute the probability of each pair to be the same, None if answers are too few.

        `are_same` are the answers, by the number of the pair. A pair that is not alike at all has
        the probability 0.
        """
        if self.features is None:
            return None
        rows, values = self.features
        judged = np.intersect1d(rows, np.fromiter(are_same, np.intp, len(are_same)))
        answers = np.array([are_same[number] for number in judged.tolist()], dtype=np.bool_)
        if min(np.count_nonzero(answers), np.count_nonzero(~answers)) < FEWEST:
            return None
        guesses = predict(values, make_default(self.measure, self.kinds).weights)
        fit = learn(values, guesses, np.searchsorted(rows, judged), answers)
        probabilities = np.zeros(self.size)
        probabilities[rows] = predict(values, fit.weights)
        return probabilities
