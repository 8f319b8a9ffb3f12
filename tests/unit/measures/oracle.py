"""Slow twins of what the kernel computes, to compare it with."""

from collections.abc import Sequence

from neardup_solr.measures.aligned import NUMBERS
from neardup_solr.measures.alignment import ABBREVIATED, CONTAINED, FEW, TELLING, UNLIKE, Aligned


def record_similarity(rows: Sequence[Aligned], numbers: float = 0.0) -> float:
    """Compute the similarity of an alignment, 0..1: the mean of Dice and containment.

    With a share `numbers`, it is `CONTAINED` times the containment or more for records of `TELLING`
    words, and halved if less than this share of the weight of numbers agrees, and for records of
    `FEW` words if both have a word alone, or if no word is equal and it is `ABBREVIATED` or less.
    """
    both = one = other = 0.0
    for row in rows:
        both += row.similarity * row.weight
        one += row.first_weight
        other += row.second_weight
    if not one or not other:
        return float(not rows)
    similarity = (2.0 * both / (one + other) + both / min(one, other)) / 2.0
    sides = ([row.first for row in rows], [row.second for row in rows])
    fewest = min(len(" ".join(filter(None, side)).split()) for side in sides)
    if numbers and fewest >= TELLING:
        similarity = max(similarity, CONTAINED * both / min(one, other))
    is_unlike = not agree_in_numbers(rows, numbers)
    if numbers and fewest <= FEW:
        is_unlike |= all(None in side for side in sides)
        is_unlike |= similarity <= ABBREVIATED + 1e-9 and all(
            one.first != one.second for one in rows
        )
    return similarity * UNLIKE if is_unlike else similarity


def agree_in_numbers(rows: Sequence[Aligned], share: float = NUMBERS) -> bool:
    """Return False if both records have other numbers, and less than this share of them agrees.

    Numbers are words with a digit, by their weight; a number that only one of two has is no
    evidence.
    """
    equal = one = other = 0.0
    for row in rows:
        if any(map(str.isdecimal, row.first or row.second or "")):
            equal += row.weight * (row.first == row.second)
            one += row.weight * (row.second is None)
            other += row.weight * (row.first is None)
    return equal >= share * (equal + min(one, other))
