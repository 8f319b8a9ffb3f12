"""Soft alignment of the words of records, in compiled code, as `measures.alignment` describes it.

First whole records: equal words, runs of words that a word joins or spells, then words that stand
for each other. Then how far a word stands for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import compiled, inner

BITS = np.uint32(31)  # a letter is in 1 of 32 sets, by its lowest bits
PAIRS, FOURS, EIGHTS = np.uint32(0x55555555), np.uint32(0x33333333), np.uint32(0x0F0F0F0F)


class Vocabulary(NamedTuple):
    """Word w has letters[bounds[w]:bounds[w + 1]] (code points) and a weight.

    Bits of `sets` (uint32) are its letters: words of different sets have other letters. `numeric`
    is 0 unless it is a number: then, how often its weight counts among numbers that are alone.
    """

    letters: Any
    bounds: Any
    sets: Any
    weights: Any
    numeric: Any


VOCABULARY = Vocabulary, "uint32[] int64[] uint32[] float64[] float64[]"


class Rules(NamedTuple):
    """The constants of measures/aligned.py. Acronyms have `fewest` to `most` letters.

    If more than `crowd` words of both records have no equal, no others stand for each other.
    Records of which less than the share `numbers` of the numbers agree are `unlike` by that factor,
    and those of `telling` words are as similar as their containment times `contained`. If records
    are of `few` words, they are `unlike`, too, if both have a word alone or hardly any is equal.
    Numbers are joined to numbers of `shortest` digits or more.
    """

    abbreviated: float
    initial: float
    slips: float
    longest: int
    fewest: int
    most: int
    crowd: int
    numbers: float
    unlike: float
    contained: float
    telling: int
    few: int
    shortest: int


RULES = Rules, f"float64 float64 float64{' int64' * 4} float64 float64 float64 int64 int64 int64"


class Records(NamedTuple):
    """Record r has words[bounds[r]:bounds[r + 1]]. `order` sorts them, as places in the record."""

    words: Any
    order: Any
    bounds: Any


RECORDS = Records, "int64[] int64[] int64[]"


class Side(NamedTuple):
    """A record while it is aligned: its words, their order, and which are taken."""

    words: Any
    order: Any
    taken: Any


def pack_records(
    named: Sequence[str],
    numbers: NDArray[np.int64],
    bounds: NDArray[np.int64],
    weight: Callable[[str], float],
    numeric: Callable[[str], float],
) -> tuple[Records, Vocabulary]:
    """Pack records and the vocabulary of their words, by what functions tell of a word.

    Record r has the words `named` by numbers[bounds[r]:bounds[r + 1]].
    """
    used = np.flatnonzero(np.bincount(numbers, minlength=len(named))).tolist()
    used.sort(key=named.__getitem__)
    places = np.zeros(len(named), dtype=np.int64)
    places[used] = np.arange(len(used))
    words, flat = [named[number] for number in used], places[numbers]
    of_record = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((flat, of_record)) - bounds[of_record]
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    word_bounds = np.cumsum([0, *map(len, words)])
    sets = np.bitwise_or.reduceat(np.uint32(1) << (letters & BITS), word_bounds[:-1])
    vocabulary = Vocabulary(
        letters=letters,
        bounds=word_bounds,
        sets=sets,
        weights=np.array([weight(word) for word in words], dtype=np.float64),
        numeric=np.array([numeric(word) for word in words], dtype=np.float64),
    )
    return Records(words=flat, order=order, bounds=bounds), vocabulary


@compiled(RECORDS, VOCABULARY, RULES, "int64[,] float64[]")
def align_pairs(records, vocabulary, rules, pairs, similarities):
    """Fill `similarities` (float64, pairs) with the similarity of each pair of record numbers."""
    longest = 1
    for record in range(len(records.bounds) - 1):
        longest = max(longest, records.bounds[record + 1] - records.bounds[record])
    taken = np.empty((2, longest), dtype=np.bool_)
    table = np.empty((3, rules.longest + 1), dtype=np.int64)
    for pair in range(len(pairs)):
        first = _open_side(records, pairs[pair, 0], taken[0])
        second = _open_side(records, pairs[pair, 1], taken[1])
        if _comes_later(first.words, second.words):
            first, second = second, first
        similarities[pair] = _compute_similarity(first, second, vocabulary, rules, table)


@inner
def _open_side(records, record, taken):
    begin, end = records.bounds[record], records.bounds[record + 1]
    taken[: end - begin] = False
    return Side(records.words[begin:end], records.order[begin:end], taken[: end - begin])


@inner
def _comes_later(first, second):
    for at in range(min(len(first), len(second))):
        if first[at] != second[at]:
            return first[at] > second[at]
    return len(first) > len(second)


@inner
def _compute_similarity(first, second, vocabulary, rules, table):
    """Compute the mean of Dice and containment of the aligned weight."""
    if len(first.words) == 0 or len(second.words) == 0:
        return 1.0 if len(first.words) == len(second.words) else 0.0
    fewest = min(len(first.words), len(second.words))
    both, agreeing, equal = _take_equal(first, second, vocabulary)
    aligned, other_aligned = both, both
    if fewest - equal <= rules.crowd:
        both, aligned, other_aligned = _take_others(first, second, vocabulary, rules, table, both)
    weight, numbers = _add_alone(first, vocabulary, aligned)
    other_weight, other_numbers = _add_alone(second, vocabulary, other_aligned)
    similarity = (2.0 * both / (weight + other_weight) + both / min(weight, other_weight)) / 2.0
    if fewest >= rules.telling:
        similarity = max(similarity, rules.contained * both / min(weight, other_weight))
    differ = weight > aligned and other_weight > other_aligned
    differ |= equal == 0 and similarity <= rules.abbreviated + 1e-9
    if (fewest <= rules.few and differ) or agreeing < rules.numbers * (
        agreeing + min(numbers, other_numbers)
    ):
        similarity *= rules.unlike
    return similarity


@inner
def _add_alone(side, vocabulary, total):
    """Add the words that stand alone to a weight, and weigh the numbers among them."""
    numbers = 0.0
    for at in range(len(side.words)):
        if not side.taken[at]:
            weight = vocabulary.weights[side.words[at]]
            total += weight
            numbers += weight * vocabulary.numeric[side.words[at]]
    return total, numbers


@inner
def _weigh(first, second, different):
    """Weigh a word on its side: the smaller weight, and the different part of the rest."""
    weight = min(first, second)
    return weight + different * (first - weight)


@inner
def _take_equal(first, second, vocabulary):
    """Take equal words by a merge of both orders: their weight, that of numbers, and how many."""
    total, numbers, count = 0.0, 0.0, 0
    at, other = 0, 0
    while at < len(first.order) and other < len(second.order):
        word, other_word = first.words[first.order[at]], second.words[second.order[other]]
        if word == other_word:
            first.taken[first.order[at]] = True
            second.taken[second.order[other]] = True
            total += vocabulary.weights[word]
            numbers += vocabulary.weights[word] * (vocabulary.numeric[word] > 0.0)
            count += 1
        at += word <= other_word
        other += other_word <= word
    return total, numbers, count


@inner
def _take_others(first, second, vocabulary, rules, table, both):
    """Take words that stand for each other without being equal, and add them to all weights."""
    total, other_total = both, both
    for spell in (False, True):
        both, total, other_total = _take_runs(
            first, second, vocabulary, rules, spell, both, total, other_total
        )
        both, other_total, total = _take_runs(
            second, first, vocabulary, rules, spell, both, other_total, total
        )
    gains, similarities, edges = _find_edges(first, second, vocabulary, rules, table)
    for edge in np.argsort(-gains, kind="mergesort"):
        at, place = edges[edge]
        if not (first.taken[at] or second.taken[place]):
            first.taken[at] = second.taken[place] = True
            weight = vocabulary.weights[first.words[at]]
            other_weight = vocabulary.weights[second.words[place]]
            different = 1.0 - similarities[edge]
            total += _weigh(weight, other_weight, different)
            other_total += _weigh(other_weight, weight, different)
            both += gains[edge]
    return both, total, other_total


@inner
def _take_runs(first, second, vocabulary, rules, spell, both, side_total, other_total):
    """Take neighbours of `first` with the word of `second` that they are joined, or spell."""
    for place in range(len(second.words)):
        if second.taken[place]:
            continue
        word = second.words[place]
        size = vocabulary.bounds[word + 1] - vocabulary.bounds[word] if spell else 2
        begin = -1
        if not spell:
            begin = _find_joined(first, word, vocabulary, rules)
        elif rules.fewest <= size <= rules.most and vocabulary.numeric[word] == 0.0:
            begin = _find_spelled(first, word, size, vocabulary)
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
        side_total += _weigh(total, weight, 1.0 - similarity)
        other_total += _weigh(weight, total, 1.0 - similarity)
    return both, side_total, other_total


@inner
def _find_joined(side, word, vocabulary, rules):
    """Find the place of two neighbours that are not taken and make up the word, or -1."""
    bounds, letters = vocabulary.bounds, vocabulary.letters
    begin, size = bounds[word], bounds[word + 1] - bounds[word]
    for at in range(len(side.words) - 1):
        left, right = side.words[at], side.words[at + 1]
        cut = bounds[left + 1] - bounds[left]
        if cut + bounds[right + 1] - bounds[right] != size or side.taken[at] or side.taken[at + 1]:
            continue
        if size < rules.shortest and vocabulary.numeric[left] * vocabulary.numeric[right] > 0.0:
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


@inner
def _find_spelled(side, word, size, vocabulary):
    """Find the place of neighbours that are not taken and begin with the word's letters, or -1."""
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


@inner
def _find_edges(first, second, vocabulary, rules, table):
    """Find words that stand for each other: weight times similarity, similarity, places."""
    gains, similarities = np.empty(16, dtype=np.float64), np.empty(16, dtype=np.float64)
    edges = np.empty((16, 2), dtype=np.int64)
    filled = 0
    for at in range(len(first.words)):
        if first.taken[at] or vocabulary.numeric[first.words[at]] > 0.0:
            continue
        for place in range(len(second.words)):
            word, other = first.words[at], second.words[place]
            # Handing arrays over takes longer than this look at the letters, which few words pass.
            if second.taken[place] or not _may_stand(
                vocabulary.bounds[word + 1] - vocabulary.bounds[word],
                vocabulary.bounds[other + 1] - vocabulary.bounds[other],
                vocabulary.sets[word],
                vocabulary.sets[other],
                rules,
            ):
                continue
            similarity = _compare_words(word, other, vocabulary, rules, table)
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


@inner
def _may_stand(size, other_size, letters, other_letters, rules):
    """Return True if sizes and letters allow that a word stands for the other."""
    longer, difference = max(size, other_size), abs(size - other_size)
    if longer > rules.longest:
        return False
    shared = letters & other_letters
    if shared == (letters if size < other_size else other_letters):
        return True  # the shorter word may be an abbreviation
    most = int(longer * rules.slips)
    return difference <= most and _count_bits(letters ^ other_letters) <= 2 * most


@inner
def _compare_words(short, long, vocabulary, rules, table):
    """Compute how far a word stands for another. Neither is too long, `short` has no digit."""
    bounds, letters = vocabulary.bounds, vocabulary.letters
    if vocabulary.numeric[long] > 0.0:
        return 0.0
    if bounds[short + 1] - bounds[short] > bounds[long + 1] - bounds[long]:
        short, long = long, short
    begin, size = bounds[short], bounds[short + 1] - bounds[short]
    other, other_size = bounds[long], bounds[long + 1] - bounds[long]
    if letters[begin] == letters[other]:
        same = 0
        while same < size and letters[begin + same] == letters[other + same]:
            same += 1
        if same == size:
            return rules.abbreviated if size > 1 else rules.initial
        if size > 1 and letters[begin + size - 1] == letters[other + other_size - 1]:
            for at in range(other + same, other + other_size):
                if same < size and letters[at] == letters[begin + same]:
                    same += 1
            if same == size:
                return rules.abbreviated
    most = int(other_size * rules.slips)
    if other_size - size > most:
        return 0.0
    slips = _count_slips(
        letters[begin : begin + size], letters[other : other + other_size], most, table
    )
    return 1.0 - slips / other_size if slips <= most else 0.0


@inner
def _count_bits(letters):
    """Count the set bits."""
    letters = np.uint32(letters - ((letters >> np.uint32(1)) & PAIRS))
    letters = np.uint32((letters & FOURS) + ((letters >> np.uint32(2)) & FOURS))
    letters = np.uint32((letters + (letters >> np.uint32(4))) & EIGHTS)
    letters = np.uint32(letters + (letters >> np.uint32(8)))
    return np.int64(letters + (letters >> np.uint32(16))) & 63


@inner
def _count_slips(first, second, most, table):
    """Compute the optimal string alignment distance (Boytsov 2011, 2.1), or more than `most`."""
    before, last, row = table[0], table[1], table[2]
    for at in range(len(second) + 1):
        last[at] = at
    for at in range(1, len(first) + 1):
        row[0] = least = at
        for place in range(1, len(second) + 1):
            differ = first[at - 1] != second[place - 1]
            cost = min(last[place - 1] + differ, last[place] + 1, row[place - 1] + 1)
            if at > 1 and place > 1 and differ:
                swapped = first[at - 1] == second[place - 2] and first[at - 2] == second[place - 1]
                if swapped:
                    cost = min(cost, before[place - 2] + 1)
            row[place] = cost
            least = min(least, cost)
        if least > most:
            return most + 1
        before, last, row = last, row, before
    return last[len(second)]
