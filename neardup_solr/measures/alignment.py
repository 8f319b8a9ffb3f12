"""Similarity of short records by an idf-weighted soft alignment of their words.

Each word of a record is aligned with at most one word of the other: equal words first, then
joined words and acronyms, then the most telling of the abbreviations and misspellings. A word
weighs the square of its inverse document frequency, as in the cosine of tf-idf vectors and in
SoftTFIDF (Cohen, Ravikumar, Fienberg 2003, "A comparison of string distance metrics for
name-matching tasks"). With M the aligned weight times similarity, A and B the weight of all words
on either side, the similarity is the mean of Dice's 2M / (A + B) and of the containment
M / min(A, B): the first asks if the records are the same, the second ignores what either lacks.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from neardup_solr.measures import Similarities
from neardup_solr.measures.frequencies import Frequencies, Split, split_words
from neardup_solr.measures.pairs import Pairs, in_parts
from neardup_solr.measures.word_lists import WordLists, number_lists
from neardup_solr.regex import regex
from neardup_solr.text.numbers import has_digit, is_number, show_word

ABBREVIATED = 0.9  # "ave" and "avenue", "blvd" and "boulevard", "nsr" and "north shore road"
INITIAL = 0.7  # "w" and "west": a letter says less
SLIPS = 0.25  # misspelt letters of a word, at most this share of the longer word
CROWD = 100  # words of both texts without an equal; among more, only equal words are aligned
# A record within another, such as one without its abstract, is this similar with so many words.
CONTAINED, TELLING = 0.78, 12
SHORTEST = 5  # digits of a number that is parted, such as that of a telephone
FEW = 3  # words of a record, of which each counts
LONGEST = 64  # letters; longer words are equal or not
ACRONYM = range(2, 5)  # letters
UNLIKE = 0.5  # how far records are alike otherwise, of what their words say
SIZE = 3.0  # words of a single record, as which a size such as "XL" weighs that differs
LETTERS = 8  # that are looked at for two words, about
_MARKS = regex("[\u0300-\u036f]")
_SIZES = "sml"
_SELDOM = "bcdfghjknpqrtvwz"  # other letters that are no words by themselves
# Of such letters in a file, sizes at least, and of these, each of two or more.
_ARE_SIZES, _EACH_SIZE = 0.9, 0.1


class Aligned(NamedTuple):
    """A row of an alignment: words that stand for each other, or a word alone (None).

    Joined words and the words of an acronym stand together with a space between them. `weight` is
    the smaller weight of the two: a rare spelling says no more than the usual spelling. What is
    more on either side counts for it as far as the two are not similar; `first_weight` and
    `second_weight` are what they count on either side in all.
    """

    first: str | None
    second: str | None
    similarity: float
    weight: float
    first_weight: float
    second_weight: float

    def turn(self) -> Aligned:
        """Swap the sides."""
        first, second, similarity, weight, first_weight, second_weight = self
        return Aligned(second, first, similarity, weight, second_weight, first_weight)


def _standing(
    first: str, second: str, similarity: float, first_weight: float, second_weight: float
) -> Aligned:
    """Make a row of words of these weights that stand for each other."""
    weight, different = min(first_weight, second_weight), 1.0 - similarity
    first_weight = weight + different * (first_weight - weight)
    second_weight = weight + different * (second_weight - weight)
    return Aligned(first, second, similarity, weight, first_weight, second_weight)


def compare_records(
    forms: Sequence[str],
    pairs: Pairs,
    frequencies: Frequencies,
    *,
    threads: int = 1,
    numbers: float = 0.0,
    split: Split = split_words,
    lists: WordLists | None = None,
) -> Similarities:
    """Compute the similarity of each pair of normal forms by soft alignment, 0..1.

    It is the mean of Dice and containment. With a share `numbers`, it is `CONTAINED` times the
    containment or more for records of `TELLING` words, and halved if less than this share of the
    weight of numbers agrees, and for records of `FEW` words if both have a word alone, or if no
    word is equal and it is `ABBREVIATED` or less. `split` gives the words of a form, if not the
    `lists` of all.

    `pairs` (pairs × 2) has row numbers of `forms`; shape of the result (pairs,). Symmetric; 1 for
    texts of equal words in any order.
    """
    return prepare_records(
        forms, pairs, frequencies, threads=threads, numbers=numbers, split=split, lists=lists
    )(pairs)


def prepare_records(
    forms: Sequence[str], pairs: Pairs, frequencies: Frequencies, *, threads: int = 1,
    numbers: float = 0.0, split: Split = split_words, lists: WordLists | None = None,
) -> Callable[[Pairs], Similarities]:  # fmt: skip
    """Prepare the records of pairs once, to compare some of them at a time as `compare_records`."""
    from neardup_solr.kernel import align

    if not len(pairs):
        return lambda some: np.empty(len(some), dtype=np.float64)
    needed = np.zeros(len(forms), dtype=np.bool_)
    needed[pairs] = True
    places = np.cumsum(needed) - 1  # of a row, among those that are needed
    rows = np.flatnonzero(needed)
    if lists is None:
        lists = number_lists([split(forms[row]) for row in rows.tolist()])
    else:
        lists = lists.take(rows)
    lengths = np.diff(lists.bounds)
    is_numeric, rarest = _number_test(frequencies.counts), frequencies.weight("")

    def number(word: str) -> float:
        if not is_numeric(word):
            return 0.0
        return 1.0 if has_digit(word) else SIZE * rarest / frequencies.weight(word)

    records, vocabulary = align.pack_records(*lists, frequencies.weight, number)
    rules = align.Rules(ABBREVIATED, INITIAL, SLIPS, LONGEST, ACRONYM.start, ACRONYM.stop - 1,
                        CROWD, numbers, UNLIKE, CONTAINED if numbers else 0.0, TELLING,
                        FEW if numbers else 0, SHORTEST)  # fmt: skip

    def compare(some: Pairs) -> Similarities:
        placed = np.ascontiguousarray(places[some])
        similarities = np.empty(len(some), dtype=np.float64)

        def align_some(part: slice) -> None:
            align.align_pairs(records, vocabulary, rules, placed[part], similarities[part])

        in_parts(align_some, LETTERS * lengths[placed].prod(axis=1), threads)
        return similarities

    return compare


def alignment(first: str, second: str, frequencies: Frequencies) -> list[Aligned]:
    """Align two normal forms: the words that stand for each other, then those that stand alone."""
    rows = _alignment(split_words(first), split_words(second), frequencies)
    return [row._replace(first=_show(row.first), second=_show(row.second)) for row in rows]


def _show(words: str | None) -> str | None:
    return words and " ".join(map(show_word, words.split()))


def stand_ins(
    first: Sequence[str], second: Sequence[str], frequencies: Frequencies
) -> list[list[int]]:
    """Find the words of two normal forms that are the same: two places in each item.

    They stand elsewhere, or are spelt in another way: joined, shortened, as an acronym (which comes
    with each of its words), or without accents. A slip makes another word.
    """
    sides = [_places(words) for words in (first, second)]
    one_side, other_side = ([word for _, word in side] for side in sides)
    places_of_pairs = []
    for row in _alignment(one_side, other_side, frequencies):
        if row.first is None or row.second is None or not _is_same(row.first, row.second):
            continue
        first_places, second_places = (
            [_take(side, word) for word in words.split()]
            for side, words in zip(sides, (row.first, row.second), strict=True)
        )
        places_of_pairs += [[*places] for places in product(first_places, second_places)]
    return sorted(places_of_pairs)


def _is_same(first: str, second: str) -> bool:
    """Return True for aligned words that do not differ by a slip."""
    bare, other = (unicodedata.normalize("NFD", word) for word in (first, second))
    is_run = " " in first or " " in second
    return is_run or _shortness(first, second) > 0 or _MARKS.sub("", bare) == _MARKS.sub("", other)


def _places(words: Sequence[str]) -> list[tuple[int, str]]:
    """List the words as they are aligned, with the place of the word that each is a part of."""
    return [(place, part) for place, word in enumerate(words) for part in split_words(word)]


def _take(side: list[tuple[int, str]], word: str) -> int:
    """Take the first such word out, and give its place."""
    at = next(at for at, (_, each) in enumerate(side) if each == word)
    return side.pop(at)[0]


def word_similarity(first: str, second: str) -> float:
    """Compute how far a word stands for another, 0..1.

    1 for equal words, 0 for other numbers. Else `ABBREVIATED` if the shorter is cut
    off ("ave") or contracted: first letter, last letter and some between, in order ("blvd");
    a single first letter counts `INITIAL`. Else 1 - d / letters of the longer, d letters being
    dropped, added, replaced or swapped (optimal string alignment), if d is at most a quarter.
    """
    if similarity := _shortness(first, second):
        return similarity
    longest = max(len(first), len(second))
    if longest > LONGEST or is_number(first) or is_number(second):
        return 0.0
    most = int(longest * SLIPS)
    slips = OSA.distance(first, second, score_cutoff=most)
    return 1.0 - slips / longest if slips <= most else 0.0


def _shortness(first: str, second: str) -> float:
    """Compute how far a word stands for another that it shortens, or equals, 0 if it does not."""
    if first == second:
        return 1.0
    short, long = sorted((first, second), key=len)
    if len(long) > LONGEST or is_number(first) or is_number(second):
        return 0.0
    if long.startswith(short):
        return ABBREVIATED if len(short) > 1 else INITIAL
    return ABBREVIATED if len(short) > 1 and _is_contraction(short, long) else 0.0


def _is_contraction(short: str, long: str) -> bool:
    rest = iter(long)
    return short[0] == long[0] and short[-1] == long[-1] and all(char in rest for char in short)


def _number_test(counts: Mapping[str, int]) -> Callable[[str], bool]:
    """Make the test of a word for a number, by how many documents have each word.

    "S", "M" and "L" are sizes if hardly any other letter is a word, as of names with initials.
    """
    sizes = [counts.get(letter, 0) for letter in _SIZES]
    letters = sum(sizes) + sum(counts.get(letter, 0) for letter in _SELDOM)
    each = _EACH_SIZE * sum(sizes)
    if sum(sizes) < max(_ARE_SIZES * letters, 1) or sum(size >= each for size in sizes) < 2:
        return is_number
    return lambda word: is_number(word) or word in _SIZES


def _alignment(first: list[str], second: list[str], frequencies: Frequencies) -> list[Aligned]:
    """Make the rows of an alignment. Ties fall the same way whichever text comes first."""
    if first > second:
        return [row.turn() for row in _alignment(second, first, frequencies)]
    weights = {word: frequencies.weight(word) for word in {*first, *second}}
    is_numeric = _number_test(frequencies.counts)
    numbers = {word for word in weights if is_numeric(word)}
    rest, other = dict(enumerate(first)), dict(enumerate(second))
    rows = [_standing(word, word, 1.0, *[weights[word]] * 2) for word in _take_equal(rest, other)]
    if min(len(rest), len(other)) <= CROWD:
        for find, similarity in ((_find_joined, 1.0), (_find_spelled, ABBREVIATED)):
            runs = partial(_take_runs, weights=weights, find=partial(find, numbers=numbers),
                           similarity=similarity)  # fmt: skip
            rows += runs(rest, other)
            rows += [row.turn() for row in runs(other, rest)]
        rows += _take_soft(rest, other, weights, numbers)
    rows += [Aligned(word, None, 0.0, weights[word], weights[word], 0.0) for word in rest.values()]
    rows += [Aligned(None, word, 0.0, weights[word], 0.0, weights[word]) for word in other.values()]
    return rows


def _take_equal(first: dict[int, str], second: dict[int, str]) -> list[str]:
    """Take equal words out of both, the nth with the nth."""
    taken = sorted((Counter(first.values()) & Counter(second.values())).elements())
    for side in (first, second):
        left = Counter(taken)
        for place, word in list(side.items()):
            if left[word]:
                left[word] -= 1
                del side[place]
    return taken


def _take_runs(
    first: dict[int, str],
    second: dict[int, str],
    weights: Mapping[str, float],
    find: Callable[[Mapping[int, str], str], Sequence[int]],
    similarity: float,
) -> Iterator[Aligned]:
    """Take words of the second out with the neighbours of the first that `find` finds for them."""
    for place, word in list(second.items()):
        if run := find(first, word):
            words = [first.pop(at) for at in run]
            del second[place]
            weight = sum(weights[part] for part in words)
            yield _standing(" ".join(words), word, similarity, weight, weights[word])


def _find_joined(words: Mapping[int, str], whole: str, numbers: Set[str]) -> Sequence[int]:
    """Find the places of the first two neighbours that make up the whole: "sea view", "seaview".

    Short numbers do not: "1 4" is not "14".
    """
    pairs = ((at, at + 1) for at in words if at + 1 in words)
    runs = (run for run in pairs if words[run[0]] + words[run[1]] == whole)
    if len(whole) < SHORTEST:
        runs = (run for run in runs if not all(words[at] in numbers for at in run))
    return next(runs, ())


def _find_spelled(words: Mapping[int, str], acronym: str, numbers: Set[str]) -> Sequence[int]:
    """Find the places of the first neighbours with these initials: "north shore road", "nsr"."""
    if len(acronym) not in ACRONYM or acronym in numbers:
        return ()
    runs = (range(at, at + len(acronym)) for at in words)
    return next((run for run in runs if [words.get(at, " ")[0] for at in run] == list(acronym)), ())


def _take_soft(
    first: dict[int, str],
    second: dict[int, str],
    weights: Mapping[str, float],
    numbers: Set[str],
) -> Iterator[Aligned]:
    """Take words that stand for each other out, those of most weight times similarity first."""
    rows = []
    for (place, word), (other_place, other) in product(first.items(), second.items()):
        is_soft = word not in numbers and other not in numbers
        if similarity := word_similarity(word, other) * is_soft:
            row = _standing(word, other, similarity, weights[word], weights[other])
            rows.append((-similarity * row.weight, place, other_place, row))
    for _, place, other_place, row in sorted(rows):
        if place in first and other_place in second:
            del first[place], second[other_place]
            yield row
