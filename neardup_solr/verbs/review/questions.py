"""The questions of a review: their order, and who is asked which."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.answers import DIFFERENT, JUDGEMENTS, SAME, UNSURE
from neardup_solr.argument_types import Judgement
from neardup_solr.measures.logistic import FEWEST, are_telling
from neardup_solr.records import Duplicate

STEP = 0.01  # within which pairs come at random
LEASE = 600.0  # seconds for which a pair is a single reader's
TURNS = 3  # of so many questions, the last is about a pair that is drawn at random


class Tally(NamedTuple):
    """Numbers of judged pairs, and of those that are left."""

    same: int
    different: int
    unsure: int
    left: int

    def __str__(self) -> str:
        return f"{self.same:,} same, {self.different:,} different, {self.unsure:,} unsure"


def advise(tally: Tally, threshold: float, reach: float, unexpected: int = 0) -> str:
    """Say what to do if the answers teach nothing, "" if they do, or if no others can be had.

    `reach` is how far below the threshold pairs are asked about, `unexpected` how many of those
    below it are the same.
    """
    *counts, left = tally
    total, most = sum(counts), max(counts)
    is_early = total < (FEWEST if left else 1)
    if is_early or are_telling(tally.same, tally.different, unexpected):
        return ""
    word, wider = JUDGEMENTS[counts.index(most)], min(threshold, max(2 * reach, reach + 0.2))
    if word == SAME and wider <= reach + 0.01:
        return ""  # pairs that are not alike at all were asked about: the guesses are right
    step = {
        SAME: f"`reach` {wider:.2g}",
        DIFFERENT: f"`min_similarity` {(1 + threshold) / 2:.2g}",
        UNSURE: "more columns in `keep`",
    }[word]
    why = {SAME: "about less similar pairs, too", DIFFERENT: "about more similar pairs first"}
    rest = ", which leaves too few others" if most < total else ""
    lesson = f'{most:,} of {total:,} answers are "{word}"{rest}, so nothing was learned'
    return f"{lesson}; to be asked {why.get(word, 'with more details')}, start again with {step}"


class Questions:
    """The pairs of a result to ask about, each to one reader at a time.

    Those near the `threshold` come first, and each third is drawn at random. A pair that is
    `judged`, or `follows` from others, is settled. `claim` keeps a pair from other processes, and
    returns False if one of them has it, until `release`. Not safe for several threads.
    """

    def __init__(
        self, pairs: Sequence[Duplicate], threshold: float, *,
        follows: Callable[[int], bool] = lambda _: False,
        claim: Callable[[int], bool] = lambda _: True,
        release: Callable[[int], object] = lambda _: None,
    ) -> None:  # fmt: skip
        self.pairs, self.follows, self.claim, self.release = pairs, follows, claim, release
        self.judged: dict[int, Judgement] = {}  # by the number of the pair
        self._skipped: dict[int, None] = {}
        self._leases: dict[int, tuple[str, float]] = {}
        similarities = np.array([pair.similarity for pair in pairs])
        self._order: Sequence[int] = order_questions(similarities, threshold)
        self._sure = np.abs(similarities - threshold)
        self._prepared: tuple[Sequence[int], NDArray[np.float64]] | None = None
        self.begin()

    def begin(self) -> None:
        """Ask about all pairs that are not settled by now, in their order, skipped ones last."""
        others = (number for number in self._order if number not in self._skipped)
        self._waiting = deque([*others, *self._skipped])
        self._drawn = deque(np.random.default_rng(1).permutation(len(self.pairs)).tolist())

    def prepare(self, probabilities: NDArray[np.float64] | None) -> None:
        """Ask from now on about the pairs that a model is in doubt about.

        `probabilities` are those of each pair to be the same, None if it has learnt nothing. This
        may be called in another thread.
        """
        if probabilities is not None:
            self._prepared = order_questions(probabilities, 0.5), np.abs(probabilities - 0.5)

    def are_same(self) -> dict[int, bool]:
        """Map each pair that was judged the same, or different, to True or False."""
        return {number: word == "same" for number, word in self.judged.items() if word != "unsure"}

    def count_unexpected(self, threshold: float) -> int:
        """Count the pairs below the threshold that were judged the same."""
        return sum(self.pairs[number].similarity < threshold
                   for number, word in self.judged.items() if word == SAME)  # fmt: skip

    def is_settled(self, number: int) -> bool:
        """Return True if a pair was judged, or if what was judged decides it."""
        return number in self.judged or self.follows(number)

    def is_held(self, number: int, reader: str) -> bool:
        """Return True if a reader is asked about a pair."""
        return self._leases.get(number, ("", 0.0))[0] == reader

    def next(
        self, reader: str, now: float, *, renews: bool = True, first: Iterable[int] = ()
    ) -> int | None:  # fmt: skip
        """Choose the next pair for a reader. Return None if nobody needs to be asked any more.

        It is the same pair until it is settled or skipped, so that a page can be loaded again. A
        page that only looks, and not its reader, does not renew the time for which it is kept. Open
        pairs among the `first` ones come before all others.
        """
        if self._prepared is not None:
            (self._order, self._sure), self._prepared = self._prepared, None
            self.begin()
        for number, (holder, since) in list(self._leases.items()):
            if number in self.judged or (holder == reader and self.follows(number)):
                self.leave(number)
            elif holder == reader:
                return self.hold(number, reader, now if renews else since)
            elif now - since > LEASE:
                self.leave(number)
                self._waiting.appendleft(number)
        for number in first:
            if self._is_free(number) and self._take(number):
                return self.hold(number, reader, now)
        elsewhere: list[int] = []
        try:
            for number in self._list_next(len(self.judged) % TURNS == TURNS - 1):
                elsewhere.append(number)
                if self._take(number):
                    return self.hold(elsewhere.pop(), reader, now)
            return None
        finally:  # also if a claim fails, or no reader of this process would be asked about it
            self._waiting.extendleft(reversed(elsewhere))

    def _is_free(self, number: int) -> bool:
        """Return True if a pair is open, and nobody of this process is asked about it."""
        return not (number in self._leases or self.is_settled(number))

    def _take(self, number: int) -> bool:
        """Keep a pair from other processes, and return True if none of them settled it before."""
        is_open = self.claim(number) and not self.is_settled(number)
        if not is_open:
            self.release(number)
        return is_open

    def _list_next(self, is_drawn: bool) -> Iterator[int]:
        """Take the pairs that nobody is asked about from the queues."""
        for queue in (self._drawn, self._waiting)[not is_drawn :]:
            while queue:
                number = queue.popleft()
                is_for_later = queue is self._drawn and number in self._skipped
                if not is_for_later and self._is_free(number):
                    yield number

    def hold(self, number: int, reader: str, now: float) -> int:
        """Keep a pair for a reader, who gets no other one meanwhile."""
        self.put_back(reader, number)
        self._leases[number] = reader, now
        return number

    def put_back(self, reader: str, number: int | None = None) -> None:
        """Ask a reader later about what is asked now, unless it is the pair of this number."""
        for other in [other for other in self._leases if self.is_held(other, reader)]:
            if other != number:
                self.leave(other)
                self._waiting.appendleft(other)

    def order(self, numbers: Iterable[int]) -> list[int]:
        """Order pairs by how sure the program is of them, without those that were skipped."""
        wanted = (number for number in numbers if number not in self._skipped)
        return sorted(wanted, key=self._sure.__getitem__)

    def leave(self, number: int) -> None:
        """Let a pair go."""
        self._leases.pop(number, None)
        self.release(number)

    def skip(self, number: int) -> None:
        """Ask about a pair again when all others have been asked about."""
        self.leave(number)
        self._skipped.pop(number, None)
        self._skipped[number] = None
        others = (other for other in self._waiting if other != number)  # where a drawn one still is
        self._waiting = deque([*others, number])

    def tally(self, most: int | None = None) -> Tally:
        """Count the answers, and the pairs that are left, up to `most` of these."""
        counts = Counter(self.judged.values())
        left = (1 for number in range(len(self.pairs)) if not self.is_settled(number))
        return Tally(counts[SAME], counts[DIFFERENT], counts[UNSURE], sum(islice(left, most)))


def order_questions(similarities: NDArray[np.float64], threshold: float) -> list[int]:
    """Order pairs by how much an answer helps: by their distance from the threshold.

    Pairs that are equally near are in random order.
    """
    distances = np.rint(np.abs(similarities - threshold) / STEP)
    by_chance = np.random.default_rng(1).random(len(distances))
    order: list[int] = np.lexsort((by_chance, distances)).tolist()
    return order
