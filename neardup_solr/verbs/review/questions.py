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
from neardup_solr.measures.arrays import Pairs
from neardup_solr.measures.fields import RecordMatcher, make_column
from neardup_solr.measures.model import Features, ModelMatcher, learn, make_default, predict
from neardup_solr.minhash import sign
from neardup_solr.records import AnyId, Duplicate, key_of
from neardup_solr.verbs.duplicates import Duplicates
from neardup_solr.verbs.duplicates.inputs import THREADS

STEP = 0.01  # pairs that are so near to each other are asked about at random
LEASE = 600.0  # seconds for which nobody else is asked about a pair
TURNS = 3  # of so many questions, one is about a pair that is drawn at random
MOST_CHARACTERS = 50_000_000  # of all pairs, which the model's measures compare in ten seconds
FEWEST = 2  # answers of either kind that a model needs


class Tally(NamedTuple):
    """How many pairs are judged, and how many are left."""

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
        is_drawn = len(self.judged) % TURNS == TURNS - 1
        for queue in (self._drawn, self._waiting)[not is_drawn :]:
            while queue:
                number = queue.popleft()
                is_for_later = queue is self._drawn and number in self._skipped
                if not is_for_later and number not in self.judged and number not in self._leases:
                    self._leases[number] = reader, now
                    return number
        return None

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


class Texts(NamedTuple):
    """The documents of the pairs of a result, each once: their keys and normal forms."""

    keys: Sequence[AnyId]
    forms: Sequence[str]
    pairs: Pairs


def read_texts(found: Duplicates) -> Texts:
    """Normalise the texts of the pairs of a result."""
    rows: dict[AnyId, int] = {}
    ends = ((key_of(id, side) for side, id in pair.ends) for pair in found.pairs)
    pairs = [[rows.setdefault(key, len(rows)) for key in two] for two in ends]
    contents = [found.texts.get(key, "") for key in rows]
    forms = sign.normal_forms(contents, found.settings.normalization, threads=THREADS)
    return Texts(list(rows), forms, np.array(pairs, np.uint32))


def compare_by_all(found: Duplicates, texts: Texts) -> Features | None:
    """Compute what a model knows of the pairs of a result, None if that would take long."""
    sizes = np.array([len(form) for form in texts.forms])
    if found.measure == "estimate" or sizes[texts.pairs].sum() > MOST_CHARACTERS:
        return None
    weights = found.weights
    fields = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
    columns = [make_column(name, kind, [found.kept.get(key, {}).get(name) for key in texts.keys])
               for name, kind in fields.items()]  # fmt: skip
    records = RecordMatcher(
        columns=columns,
        forms=texts.forms,
        frequencies=found.frequencies or frequencies(texts.forms, found.settings.normalization),
        threads=THREADS,
        weights=weights,
    )
    matcher = ModelMatcher(records=records, settings=found.settings, measure=found.measure)
    return matcher.compare(texts.pairs)


def find_doubts(
    found: Duplicates, features: Features, are_same: Mapping[int, bool]
) -> NDArray[np.float64] | None:
    """Compute the probability of each pair to be the same, by a model of the answers.

    None if they are too few. A pair that is not alike at all has the probability 0.
    """
    asked = np.intersect1d(features.rows, np.fromiter(are_same, np.intp, len(are_same)))
    answers = np.array([are_same[number] for number in asked.tolist()], dtype=np.bool_)
    if min(np.count_nonzero(answers), np.count_nonzero(~answers)) < FEWEST:
        return None
    weights = found.weights
    fields = {} if weights is None else dict(zip(weights.names, weights.kinds, strict=True))
    default = make_default(found.measure, fields)
    guesses = predict(features.values, default.weights)
    fit = learn(features.values, guesses, np.searchsorted(features.rows, asked), answers)
    probabilities = np.zeros(len(found.pairs))
    probabilities[features.rows] = predict(features.values, fit.weights)
    return probabilities
