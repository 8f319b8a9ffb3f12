"""Relations of two texts, by the passages that they share."""

from __future__ import annotations

from typing import Final, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures import floor
from neardup_solr.records import Relation

RELATIONS: Final = get_args(Relation)
COPY, EDITED, PART_OF, CONTAINS, QUOTES, QUOTED_IN, SHARES = range(len(RELATIONS))
WHOLE = 0.8  # of a text, that passages cover if it is part of the other
SMALL = 0.65  # of the whole, that a part covers unless it is in it almost letter by letter
MOST = 0.5  # of both texts, if they are editions of one
SAME, CHANGED = 0.95, 0.01  # of a copy: covered at least, changed letters at most
SPOILT = 3  # shingles, about, that an edited word changes
UNKNOWN = -1  # the relation of texts whose numbers of words are not known


def relate(
    share: NDArray[np.float64], other_share: NDArray[np.float64], changed: NDArray[np.float64]
) -> NDArray[np.int8]:
    """Relate the first text of each pair to the second, as numbers of `RELATIONS`.

    `share` and `other_share` are the parts of the texts that their common passages cover, `changed`
    is the part of letters that differ in these. What may be a quotation is `SHARES`.
    """
    both = np.minimum(share, other_share)
    relations = np.full(len(share), SHARES, dtype=np.int8)
    relations[both >= MOST] = EDITED
    relations[_is_part(share, other_share)] = PART_OF
    relations[_is_part(other_share, share)] = CONTAINS
    relations[(both >= SAME) & (changed <= CHANGED)] = COPY
    return relations


def _is_part(share: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell texts that are parts of others, of which so much is covered, from their editions."""
    is_small = (whole < SMALL) | (share >= SAME)
    is_part: NDArray[np.bool_] = (share >= WHOLE) & (whole < WHOLE) & is_small
    return is_part


def relate_similar(
    measure: str, similarities: NDArray[np.float64], words: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Relate the texts of pairs, as `relate`, by their similarities and numbers of words.

    `words` has shape (pairs, 2), with 0 for a number that is not known.
    """
    sizes = np.maximum(words, 1)
    if measure == "words":
        common = similarities * sizes.max(axis=1)
    elif measure in ("jaccard", "estimate"):
        common = similarities / (1.0 + similarities) * sizes.sum(axis=1)
    else:
        common = similarities * sizes.min(axis=1)
    shares = np.minimum(common[:, None] / sizes, 1.0)
    most = shares.max(axis=1)
    changed = 1.0 - (similarities if measure == "words" else most)
    if measure not in ("words", "passages"):
        changed /= SPOILT
    # What is common covers the shorter text, and edits are within: as passages count it.
    is_whole = most >= floor(WHOLE)
    shares[is_whole] /= most[is_whole, None]
    relations = relate(shares[:, 0], shares[:, 1], changed)
    relations[(words == 0).any(axis=1)] = UNKNOWN
    return relations


class CoveredPairs(NamedTuple):
    """Pairs of texts with passages: their numbers, and the letters that these cover in either.

    `numbers` has the pair of each passage, `texts` and `letters` have shape (pairs, 2).
    """

    numbers: NDArray[np.int64]
    texts: NDArray[np.int64]
    letters: NDArray[np.int64]

    def shares(self, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compute which part of either text is covered, by the letters of all texts."""
        shares: NDArray[np.float64] = self.letters / np.maximum(sizes[self.texts], 1)
        return shares


def cover_pairs(rows: NDArray[np.int64]) -> CoveredPairs:
    """Count the letters that passages cover, as the kernel's rows have them, by pair of texts."""
    are_first = mark_pairs(rows[:, :2])
    numbers, texts = np.cumsum(are_first) - 1, rows[are_first, :2]
    letters = [_cover(numbers, rows[:, at], rows[:, at + 1], len(texts)) for at in (2, 4)]
    return CoveredPairs(numbers, texts, np.stack(letters, axis=1))


def mark_pairs(texts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the first passage of each pair of texts, whose passages are together."""
    return np.asarray(np.diff(texts, axis=0, prepend=-1).any(axis=1))


def _cover(
    groups: NDArray[np.int64], firsts: NDArray[np.int64], lasts: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Count the letters that passages of each of so many groups cover, each letter once."""
    order = np.lexsort((firsts, groups))
    groups, firsts, lasts = groups[order], firsts[order], lasts[order]
    far = int(lasts.max(initial=0)) + 1  # so that passages of the group before end before
    reached = np.maximum.accumulate(lasts + groups * far) - groups * far
    before = np.concatenate([[0], reached[:-1]])
    before[np.flatnonzero(np.diff(groups, prepend=-1))] = 0
    new = np.maximum(lasts - np.maximum(firsts, before), 0)
    return np.bincount(groups, new, count).astype(np.int64)
