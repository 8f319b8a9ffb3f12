"""Word-level Levenshtein distances of many pairs, in compiled code.

64 words of a text at a time go along the words of the other, as the bits of a number (Myers 1999;
Hyyrö 2003), and only as far from the diagonal as a distance that counts can lead (Ukkonen 1985).
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner

I64, U8, U32, U64 = np.int64, np.uint8, np.uint32, np.uint64
N0, N1 = U64(0), U64(1)
ALL = U64(0xFFFFFFFFFFFFFFFF)
BLOCK = 64  # words of the first text that are compared at once
SLOTS = 16  # the fewest
MARKS = 8  # for each slot


@compiled("uint64[] int64[] uint32[,] int64[] int64[]")
def compute_distances(words, bounds, pairs, allowed, distances):
    """Fill `distances` (int64, pairs) with the distances of pairs, or allowed + 1 if it is more.

    Text t is words[bounds[t]:bounds[t + 1]] (uint64); `allowed` (int64, pairs) is the
    largest distance that counts.
    """
    longest = I64(1)
    for pair in range(len(pairs)):
        for side in range(2):
            number = pairs[pair, side]
            longest = max(longest, bounds[number + 1] - bounds[number])
    slots = I64(SLOTS)
    while slots < 2 * longest:
        slots *= 2
    keys = np.empty(slots, dtype=np.uint64)
    codes = np.empty(slots, dtype=np.uint32)
    marks = np.empty(MARKS * slots, dtype=np.uint8)
    marks[:] = U8(0)
    rows = np.empty(longest, dtype=np.uint32)
    columns = np.empty(longest, dtype=np.uint32)
    bits = np.empty(longest + 1, dtype=np.uint64)
    carried = np.empty(longest, dtype=np.int8)
    bits[:] = N0
    mask, coded, marked = I64(0), I64(-1), I64(-1)  # the texts that have codes, and marks
    for pair in range(len(pairs)):
        first, most = I64(pairs[pair, 0]), I64(allowed[pair])
        text, other_text = (
            _cut_text(words, bounds, first),
            _cut_text(words, bounds, I64(pairs[pair, 1])),
        )
        distances[pair] = most + 1
        if abs(len(text) - len(other_text)) > most:
            continue
        begin, tail = _count_equal_ends(text, other_text)
        height, width = len(text) - begin - tail, len(other_text) - begin - tail
        if height == 0 or width == 0:
            distances[pair] = max(height, width)
            continue
        if first != marked:
            if marked >= 0:
                _mark(_cut_text(words, bounds, marked), marks, U8(0))
            _mark(text, marks, U8(1))
            marked = first
        middle = other_text[begin : begin + width]
        if max(height, width) - _count_marked(middle, marks) > most:
            continue
        if first != coded:
            coded, mask = first, _encode_words(text, keys, codes, rows)
        for column in range(width):
            columns[column] = codes[_find_slot(middle[column], keys, codes, mask)]
        part = rows[begin : begin + height]
        distances[pair] = _compute_distance(part, columns[:width], most, bits, carried)


@inner
def _cut_text(words, bounds, number):
    return words[bounds[number] : bounds[number + 1]]


@inner
def _count_equal_ends(first, second):
    """Count the equal words at the beginning of two texts, and of the others those at the end."""
    most = min(len(first), len(second))
    begin = I64(0)
    while begin < most and first[begin] == second[begin]:
        begin += 1
    tail = I64(0)
    while tail < most - begin and first[len(first) - 1 - tail] == second[len(second) - 1 - tail]:
        tail += 1
    return begin, tail


@inner
def _mark(words, marks, mark):
    """Set the marks of all words of a text."""
    mask = U64(len(marks) - 1)
    for at in range(len(words)):
        marks[words[at] & mask] = mark


@inner
def _count_marked(words, marks):
    """Count the marked words: those that the marked text has, and a few others."""
    mask, count = U64(len(marks) - 1), I64(0)
    for at in range(len(words)):
        count += I64(marks[words[at] & mask])
    return count


@inner
def _encode_words(words, keys, codes, rows):
    """Give each word of a text a code from 1 on, and return the mask of the slots."""
    slots = I64(SLOTS)
    while slots < 2 * len(words):
        slots *= 2
    mask = slots - 1
    codes[:slots] = U32(0)
    count = U32(0)
    for at in range(len(words)):
        slot = _find_slot(words[at], keys, codes, mask)
        if not codes[slot]:
            count += U32(1)
            keys[slot], codes[slot] = words[at], count
        rows[at] = codes[slot]
    return mask


@inner
def _find_slot(word, keys, codes, mask):
    slot = I64(word & U64(mask))
    while codes[slot] and keys[slot] != word:
        slot = (slot + 1) & mask
    return slot


@inner
def _compute_distance(rows, columns, most, bits, carried):
    """Compute the distance of two texts of codes, or most + 1 if it is more.

    `carried` has the step from each cell of the row above a block to the next cell. A cell beyond
    the diagonals that count is taken for more than it is, which leads nowhere.
    """
    height, width = len(rows), len(columns)
    aside = (most - abs(width - height)) // 2
    lowest, highest = min(width - height, 0) - aside, max(width - height, 0) + aside
    carried[:width] = 1
    score, top = most + 1, I64(0)  # top: the value above and before the first column of a block
    for above in range(0, height, BLOCK):
        below = min(above + BLOCK, height)
        first, last = max(above + lowest, 0), min(below + highest, width)
        for row in range(above, below):
            bits[rows[row]] |= N1 << U64(row - above)
        score, least, following = _advance_block(
            columns, first, last, below, height, top + below - above, U64(below - above - 1),
            max(below + lowest, 0), bits, carried,
        )  # fmt: skip
        for row in range(above, below):
            bits[rows[row]] = N0
        if least > most:
            return most + 1
        top = I64(following if below + lowest > 0 else below)
    return min(score, most + 1)


@inner
def _advance_block(
    columns, first, last, below, height, score, lowest_bit, next_first, bits, carried
):
    """Go along the columns with a block of rows.

    Gives the value in its lowest row at the end, the least that any path through that row can
    end with, and the value before the first column of the next block.
    """
    up, down = ALL, N0  # which steps down the column are +1, and which -1
    left = height - below - len(columns)  # of rows more than of columns, from column 0 on
    least = score + abs(left + first)
    following = score
    for column in range(first, last):
        equal = bits[columns[column]]
        step = carried[column]
        plus, minus = U64(step > 0), U64(step < 0)
        vertical = equal | down
        equal |= minus
        horizontal = (((equal & up) + up) ^ up) | equal
        higher = down | ~(horizontal | up)
        lower = up & horizontal
        step = np.int8(higher >> lowest_bit & N1) - np.int8(lower >> lowest_bit & N1)
        carried[column] = step
        score += I64(step)
        higher, lower = higher << N1 | plus, lower << N1 | minus
        up, down = lower | ~(vertical | higher), higher & vertical
        least = min(least, score + abs(left + column + 1))
        if column + 1 == next_first:
            following = score
    return score, least, following
