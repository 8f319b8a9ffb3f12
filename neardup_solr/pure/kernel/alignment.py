"""Soft alignment of the words of short records in compiled code; as in pure/comparing/alignment.py.

Words are numbers in the order of the vocabulary, so that records compare as their lists of words
do. Nothing is computed ahead: the similarity of two words takes nanoseconds where their letters
show at once that they are too different, and most do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from neardup_solr.pure.kernel.words import Vocabulary, letter_sets, may_stand, word_similarity


class Records(NamedTuple):
    """Record r has words[bounds[r]:bounds[r + 1]]; `order` sorts them, as places in the record."""

    words: Any
    order: Any
    bounds: Any


class Side(NamedTuple):
    """A record while it is aligned: its words, their order, and which are taken."""

    words: Any
    order: Any
    taken: Any


def packed(
    lists: Sequence[Sequence[str]],
    weight: Callable[[str], float],
    has_digit: Callable[[str], bool],
) -> tuple[Records, Vocabulary]:
    """Records and vocabulary of lists of words; `weight` and `has_digit` tell of a word."""
    words = sorted({word for record in lists for word in record})
    numbers = {word: number for number, word in enumerate(words)}
    flat = np.array([numbers[word] for record in lists for word in record], dtype=np.int64)
    bounds = np.cumsum([0, *map(len, lists)])
    of_record = np.repeat(np.arange(len(lists)), np.diff(bounds))
    order = np.lexsort((flat, of_record)) - bounds[of_record]
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    word_bounds = np.cumsum([0, *map(len, words)])
    vocabulary = Vocabulary(
        letters=letters,
        bounds=word_bounds,
        sets=letter_sets(letters, word_bounds),
        weights=np.array([weight(word) for word in words], dtype=np.float64),
        numeric=np.array([has_digit(word) for word in words], dtype=np.bool_),
    )
    return Records(words=flat, order=order, bounds=bounds), vocabulary


@njit(nogil=True, cache=True)
def aligned(records, vocabulary, rules, pairs, found):
    """Fill `found` (float64, pairs) with the similarity of each pair of record numbers."""
    longest = 1
    for record in range(len(records.bounds) - 1):
        longest = max(longest, records.bounds[record + 1] - records.bounds[record])
    taken = np.empty((2, longest), dtype=np.bool_)
    table = np.empty((3, rules.longest + 1), dtype=np.int64)
    for pair in range(len(pairs)):
        first = _side(records, pairs[pair, 0], taken[0])
        second = _side(records, pairs[pair, 1], taken[1])
        if _comes_later(first.words, second.words):
            first, second = second, first
        found[pair] = _similarity(first, second, vocabulary, rules, table)


@njit(nogil=True, cache=True)
def _side(records, record, taken):
    begin, end = records.bounds[record], records.bounds[record + 1]
    taken[: end - begin] = False
    return Side(records.words[begin:end], records.order[begin:end], taken[: end - begin])


@njit(nogil=True, cache=True)
def _comes_later(first, second):
    for at in range(min(len(first), len(second))):
        if first[at] != second[at]:
            return first[at] > second[at]
    return len(first) > len(second)


@njit(nogil=True, cache=True)
def _similarity(first, second, vocabulary, rules, table):
    """Dice and containment of the aligned weight, their mean."""
    if len(first.words) == 0 or len(second.words) == 0:
        return 1.0 if len(first.words) == len(second.words) else 0.0
    both = _take_equal(first, second, vocabulary.weights)
    one, other = both, both
    for spell in (False, True):
        both, one, other = _take_runs(first, second, vocabulary, rules, spell, both, one, other)
        both, other, one = _take_runs(second, first, vocabulary, rules, spell, both, other, one)
    gains, similarities, edges = _edges(first, second, vocabulary, rules, table)
    for edge in np.argsort(-gains, kind="mergesort"):
        at, place = edges[edge]
        if not (first.taken[at] or second.taken[place]):
            first.taken[at] = second.taken[place] = True
            weight = vocabulary.weights[first.words[at]]
            other_weight = vocabulary.weights[second.words[place]]
            different = 1.0 - similarities[edge]
            one += _counted(weight, other_weight, different)
            other += _counted(other_weight, weight, different)
            both += gains[edge]
    for at in range(len(first.words)):
        if not first.taken[at]:
            one += vocabulary.weights[first.words[at]]
    for at in range(len(second.words)):
        if not second.taken[at]:
            other += vocabulary.weights[second.words[at]]
    return (2.0 * both / (one + other) + both / min(one, other)) / 2.0


@njit(nogil=True, cache=True)
def _counted(own, other, different):
    """What a word counts on its side: the smaller weight, and of the rest what is different."""
    weight = min(own, other)
    return weight + different * (own - weight)


@njit(nogil=True, cache=True)
def _take_equal(first, second, weights):
    """Take equal words, a merge of both orders; gives their weight."""
    total = 0.0
    at, other = 0, 0
    while at < len(first.order) and other < len(second.order):
        word, other_word = first.words[first.order[at]], second.words[second.order[other]]
        if word == other_word:
            first.taken[first.order[at]] = True
            second.taken[second.order[other]] = True
            total += weights[word]
        at += word <= other_word
        other += other_word <= word
    return total


@njit(nogil=True, cache=True)
def _take_runs(first, second, vocabulary, rules, spell, both, one, other):
    """Take neighbours of `first` with the word of `second` that they are joined, or spell."""
    for place in range(len(second.words)):
        if second.taken[place]:
            continue
        word = second.words[place]
        size = vocabulary.bounds[word + 1] - vocabulary.bounds[word] if spell else 2
        begin = -1
        if not spell:
            begin = _joined(first, word, vocabulary)
        elif rules.fewest <= size <= rules.most and not vocabulary.numeric[word]:
            begin = _spelled(first, word, size, vocabulary)
        if begin < 0:
            continue
        total = 0.0
        for at in range(begin, begin + size):
            total += vocabulary.weights[first.words[at]]
            first.taken[at] = True
        second.taken[place] = True
        weight = vocabulary.weights[word]
        similarity = rules.abbreviated if spell else 1.0
        both += similarity * min(total, weight)
        one += _counted(total, weight, 1.0 - similarity)
        other += _counted(weight, total, 1.0 - similarity)
    return both, one, other


@njit(nogil=True, cache=True)
def _joined(side, word, vocabulary):
    """The place of two neighbours that are not taken and make up the word, or -1."""
    bounds, letters = vocabulary.bounds, vocabulary.letters
    begin, size = bounds[word], bounds[word + 1] - bounds[word]
    for at in range(len(side.words) - 1):
        left, right = side.words[at], side.words[at + 1]
        cut = bounds[left + 1] - bounds[left]
        if cut + bounds[right + 1] - bounds[right] != size or side.taken[at] or side.taken[at + 1]:
            continue
        same = 0
        while same < cut and letters[bounds[left] + same] == letters[begin + same]:
            same += 1
        if same < cut:
            continue
        while same < size and letters[bounds[right] + same - cut] == letters[begin + same]:
            same += 1
        if same == size:
            return at
    return -1


@njit(nogil=True, cache=True)
def _spelled(side, word, size, vocabulary):
    """The place of neighbours that are not taken and begin with the word's letters, or -1."""
    bounds, letters = vocabulary.bounds, vocabulary.letters
    for at in range(len(side.words) - size + 1):
        same = 0
        while same < size and not side.taken[at + same]:
            if letters[bounds[side.words[at + same]]] != letters[bounds[word] + same]:
                break
            same += 1
        if same == size:
            return at
    return -1


@njit(nogil=True, cache=True)
def _edges(first, second, vocabulary, rules, table):
    """Words that stand for each other: weight times similarity, similarity, places."""
    gains, similarities = np.empty(16, dtype=np.float64), np.empty(16, dtype=np.float64)
    edges = np.empty((16, 2), dtype=np.int64)
    filled = 0
    for at in range(len(first.words)):
        if first.taken[at] or vocabulary.numeric[first.words[at]]:
            continue
        for place in range(len(second.words)):
            word, other = first.words[at], second.words[place]
            # Handing arrays over takes longer than this look at the letters, which few words pass.
            if second.taken[place] or not may_stand(
                vocabulary.bounds[word + 1] - vocabulary.bounds[word],
                vocabulary.bounds[other + 1] - vocabulary.bounds[other],
                vocabulary.sets[word],
                vocabulary.sets[other],
                rules,
            ):
                continue
            similarity = word_similarity(word, other, vocabulary, rules, table)
            if similarity == 0.0:
                continue
            if filled == len(gains):
                gains = np.concatenate((gains, gains))
                similarities = np.concatenate((similarities, similarities))
                edges = np.concatenate((edges, edges))
            weight = min(vocabulary.weights[word], vocabulary.weights[other])
            gains[filled], similarities[filled] = similarity * weight, similarity
            edges[filled, 0], edges[filled, 1] = at, place
            filled += 1
    return gains[:filled], similarities[:filled], edges[:filled]
