"""Passages that grow from the seeds of texts, in compiled code.

Two seeds near a diagonal are extended to both sides by the greedy alignment of Zhang, Schwartz,
Wagner and Miller ("A greedy algorithm for aligning DNA sequences", 2000): of each number of edits,
how far it leads on each diagonal. A letter that is equal counts 1 and an edit -2.5 or so; an
alignment ends where it counts most, and is given up where it counts `DROP` less.
"""

from __future__ import annotations

import numpy as np

from neardup_solr.kernel import compiled, inner
from neardup_solr.kernel.fold import BEGINS, CODE
from neardup_solr.kernel.graph import bisect
from neardup_solr.kernel.seeds import RUN

U32 = np.uint32
BORDER = 40  # letters at either end of a passage in which a word of both texts may begin
EDIT, DROP = 6, 160  # in halves of a letter
REACH, DRIFT = 480, 16  # letters: how far the second seed may be, and how far off the diagonal
LEAST_SPAN = 36  # letters that two seeds span
NEAR = 48  # letters off the diagonal of a passage that still are in it
LATEST = 64  # passages of a pair that a seed may be in
BITS = 11  # by which hits are sorted at once
MASK = 511  # of the number of a diagonal; those that are followed at once are fewer
WAITING, TAKEN, DROPPED = 0, 1, 2


@compiled(
    "int64 int64 uint32[] uint32[] uint32[] int64[] uint32[] int64[] int64 int64"
    " uint16[] int64[] float64[] int64[,]"
)
def match_texts(
    first, last, owners, places, groups, ends, members, group_ends, second_side, cap,
    letters, bounds, least, out,
):  # fmt: skip
    """Write the passages that each text from `first` to `last` shares with those after it.

    Seeds are in the order of texts: text d has those from ends[d] to ends[d + 1], with `owners`,
    `places` and `groups`. Group g has the seeds of one hash, `members` from group_ends[g] to
    group_ends[g + 1], in the same order. If it has more than `cap`, the first text is paired with
    all others, and each with the next. Texts are paired with those from `second_side` on, if that
    is not 0. A passage has at least so many letters as `least` says of its first text.

    The columns of `out`: both texts, the first letter and that behind the last of either, edits.
    Returns the number of the text for which `out` had no room, or `last`, and the number of rows.
    """
    room, filled, texts = 1 << 12, 0, len(bounds) - 1
    hits, others = np.empty((room, 3), dtype=U32), np.empty((room, 3), dtype=U32)
    counts = np.empty(1 << BITS, dtype=np.int64)
    waves = np.empty((2, MASK + 1), dtype=np.int64)
    for document in range(first, last):
        after = ends[max(document + 1, second_side)]
        count = 0
        while True:
            count = _list_hits(
                document, after, owners, places, groups, ends, members, group_ends, cap, hits
            )
            if count <= room:
                break
            room = 2 * count
            hits, others = np.empty((room, 3), dtype=U32), np.empty((room, 3), dtype=U32)
        hits, others = _sort_hits(hits, others, count, texts, counts)
        begin, at = filled, 0
        while at < count:
            end = at + 1
            while end < count and hits[end, 0] == hits[at, 0]:
                end += 1
            filled = match_pair(document, hits, at, end, letters, bounds, waves, out, filled)
            if filled < 0:
                return np.int64(document), np.int64(begin)
            at = end
        kept = begin
        at = begin
        while at < filled:
            end = at + 1
            while end < filled and out[end, 1] == out[at, 1]:
                end += 1
            kept = keep_longest(out, at, end, kept, least[document])
            at = end
        filled = kept
    return np.int64(last), np.int64(filled)


@inner
def _list_hits(document, after, owners, places, groups, ends, members, group_ends, cap, hits):
    """List the seeds from `after` on that are those of a text: text, place, other place.

    Returns their number, also if they do not fit.
    """
    count = 0
    for seed in range(ends[document], ends[document + 1]):
        first, stop = group_ends[groups[seed]], group_ends[groups[seed] + 1]
        is_hot = stop - first > cap and owners[members[first]] != document
        begin = bisect(members, first, stop, after)
        for place in range(begin, stop):
            member = members[place]
            if is_hot and owners[member] != owners[members[begin]]:
                break
            if count < len(hits):
                hits[count, 0], hits[count, 1], hits[count, 2] = (
                    owners[member], places[seed], places[member],
                )  # fmt: skip
            count += 1
    return count


@inner
def _sort_hits(hits, others, count, texts, counts):
    """Sort hits by their texts, those of a text in their order, and return both arrays."""
    shift = 0
    while texts >> shift:
        counts[:] = 0
        for at in range(count):
            counts[hits[at, 0] >> U32(shift) & U32((1 << BITS) - 1)] += 1
        total = 0
        for digit in range(1 << BITS):
            counts[digit], total = total, total + counts[digit]
        for at in range(count):
            digit = hits[at, 0] >> U32(shift) & U32((1 << BITS) - 1)
            place = counts[digit]
            others[place, 0], others[place, 1], others[place, 2] = (
                hits[at, 0], hits[at, 1], hits[at, 2],
            )  # fmt: skip
            counts[digit] += 1
        hits, others = others, hits
        shift += BITS
    return hits, others


@inner
def match_pair(document, hits, begin, end, letters, bounds, waves, out, filled):
    """Write what grows from the hits of two texts, -1 if there is no room.

    The last column is the diagonal on which the latest hit of a passage was.
    """
    earliest, text = filled, np.int64(hits[begin, 0])
    first, size = bounds[document], bounds[document + 1] - bounds[document]
    other_first, other_size = bounds[text], bounds[text + 1] - bounds[text]
    for at in range(begin, end):
        place, other = np.int64(hits[at, 1]), np.int64(hits[at, 2])
        if _is_inside(out, max(earliest, filled - LATEST), filled, place, other):
            continue
        if not _has_second(hits, at, end):
            continue
        if filled == len(out):
            return -1
        before, other_before, edits = _extend(
            letters, first + place - 1, other_first + other - 1, place, other, -1, waves
        )
        behind, other_behind, more = _extend(
            letters, first + place, other_first + other, size - place, other_size - other, 1, waves
        )
        out[filled, 0], out[filled, 1] = document, text
        out[filled, 2], out[filled, 3] = place - before, place + behind
        out[filled, 4], out[filled, 5] = other - other_before, other + other_behind
        out[filled, 6], out[filled, 7] = edits + more, other - place
        filled += 1
    return filled


@inner
def _is_inside(out, first, last, place, other):
    """Tell whether a hit is in one of these passages, whose diagonal then is that of the hit."""
    for row in range(last - 1, first - 1, -1):
        is_inside = out[row, 2] <= place < out[row, 3] and out[row, 4] <= other < out[row, 5]
        if is_inside and abs(other - place - out[row, 7]) <= NEAR:
            out[row, 7] = other - place
            return True
    return False


@inner
def _has_second(hits, at, end):
    """Tell whether another hit is near the diagonal of a hit, and spans enough with it."""
    place, diagonal = np.int64(hits[at, 1]), np.int64(hits[at, 2]) - np.int64(hits[at, 1])
    for second in range(at + 1, min(end, at + LATEST)):
        away = np.int64(hits[second, 1]) - place
        if away > REACH:
            break
        drift = abs(np.int64(hits[second, 2]) - np.int64(hits[second, 1]) - diagonal)
        if away + RUN >= LEAST_SPAN and drift <= DRIFT + away // 8:
            return True
    return False


@inner
def _extend(letters, at, other_at, size, other_size, step, waves):
    """Extend an alignment in a direction: how many letters of either side, and edits, it takes.

    `size` letters from `at` on are there. A wave has how far so many edits lead on each diagonal,
    -1 on one that is given up, by its number modulo the wave's length.
    """
    far = 0
    while far < size and far < other_size:
        if (letters[at + step * far] ^ letters[other_at + step * far]) & CODE:
            break
        far += 1
    best, best_far, best_diagonal, best_edits = 2 * far, far, 0, 0
    low, high, edits, current = 0, 0, 0, 0
    waves[0, 0] = far
    while low <= high and high - low < MASK - 2:
        edits += 1
        least, next_low, next_high = best - DROP, high + 2, low - 2
        for diagonal in range(low - 1, high + 2):
            far = -1
            if low < diagonal:  # a letter of this side alone
                before = waves[current, (diagonal - 1) & MASK]
                if before >= 0 and before < size:
                    far = before + 1
            if low <= diagonal <= high:  # another letter
                before = waves[current, diagonal & MASK]
                if before >= max(far, 0) and before < size and before - diagonal < other_size:
                    far = before + 1
            if diagonal < high:  # a letter of the other side alone
                before = waves[current, (diagonal + 1) & MASK]
                if far < before and before - diagonal <= other_size:
                    far = before
            waves[1 - current, diagonal & MASK] = -1
            if far < 0 or 2 * far - diagonal - EDIT * edits < least:
                continue
            while far < size and far - diagonal < other_size:
                other = letters[other_at + step * (far - diagonal)]
                if (letters[at + step * far] ^ other) & CODE:
                    break
                far += 1
            waves[1 - current, diagonal & MASK] = far
            next_low, next_high = min(next_low, diagonal), max(next_high, diagonal)
            if 2 * far - diagonal - EDIT * edits > best:
                best, best_far, best_diagonal, best_edits = (
                    2 * far - diagonal - EDIT * edits, far, diagonal, edits,
                )  # fmt: skip
        low, high, current = next_low, next_high, 1 - current
    return best_far, best_far - best_diagonal, best_edits


@inner
def keep_longest(out, begin, end, kept, least):
    """Keep passages of a pair that have `least` letters, and of two that overlap the longer one."""
    for at in range(begin, end):
        if min(out[at, 3] - out[at, 2], out[at, 5] - out[at, 4]) < least:
            out[at, 7] = DROPPED
        else:
            out[at, 7] = WAITING
    while True:
        longest, length = -1, 0
        for at in range(begin, end):
            if out[at, 7] == WAITING and out[at, 3] - out[at, 2] > length:
                longest, length = at, out[at, 3] - out[at, 2]
        if longest < 0:
            break
        out[longest, 7] = TAKEN
        for at in range(begin, end):
            if out[at, 7] == WAITING and (
                _overlaps(out, at, longest, 2) or _overlaps(out, at, longest, 4)
            ):
                out[at, 7] = DROPPED
    for at in range(begin, end):
        if out[at, 7] == TAKEN:
            for column in range(out.shape[1]):
                out[kept, column] = out[at, column]
            kept += 1
    return kept


@inner
def _overlaps(out, at, longest, side):
    """Tell whether most of a passage is in a longer one, in the columns of a side."""
    shared = min(out[at, side + 1], out[longest, side + 1]) - max(out[at, side], out[longest, side])
    return 2 * shared > out[at, side + 1] - out[at, side]


@compiled("uint16[] int64[] int64[,]")
def round_to_words(letters, bounds, passages):
    """Shorten passages to whole words, and write their number in the last column.

    The ends are those of words in both texts at the same letter if there are such, or else of a
    word in either. A passage without any keeps its letters, and is of a word.
    """
    for at in range(len(passages)):
        row = passages[at]
        start, stop = bounds[row[0]], bounds[row[0] + 1]
        other_start, other_stop = bounds[row[1]], bounds[row[1] + 1]
        first, other_first = _round(
            letters, start + row[2], start + row[3], stop,
            other_start + row[4], other_start + row[5], other_stop, 1,
        )  # fmt: skip
        last, other_last = _round(
            letters, start + row[3], start + row[2], stop,
            other_start + row[5], other_start + row[4], other_stop, -1,
        )  # fmt: skip
        if first < last and other_first < other_last:
            row[2], row[3] = first - start, last - start
            row[4], row[5] = other_first - other_start, other_last - other_start
        words, other_words = np.int64(0), np.int64(0)
        for letter in range(start + row[2], start + row[3]):
            words += np.int64(letters[letter] & BEGINS != 0)
        for letter in range(other_start + row[4], other_start + row[5]):
            other_words += np.int64(letters[letter] & BEGINS != 0)
        row[7] = max(words, other_words, 1)


@inner
def _round(letters, at, end, stop, other_at, other_end, other_stop, step):
    """Find where a word begins or ends in both texts, from an end of a passage on inwards."""
    for away in range(BORDER):
        letter, other = at + step * away, other_at + step * away
        if letter == end or other == other_end:
            break
        if _is_border(letters, letter, stop) and _is_border(letters, other, other_stop):
            return letter, other
    while at != end and not _is_border(letters, at, stop):
        at += step
    while other_at != other_end and not _is_border(letters, other_at, other_stop):
        other_at += step
    return at, other_at


@inner
def _is_border(letters, letter, stop):
    """Tell whether a word begins with a letter, or the text ends before it."""
    return letter == stop or letters[letter] & BEGINS != 0
