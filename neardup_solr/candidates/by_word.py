"""Candidate pairs of short records: all that share a rare word, or simply all pairs.

Bands of word shingles miss many pairs of short records, as one changed word changes three of some
eight shingles. But two records of the same thing usually share a rare word: a name, a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import Candidates
from neardup_solr.errors import SettingsError
from neardup_solr.measures.aligned import aligned_words

WORD_CAP = 50  # records that one word makes candidates of each other
MOST_PAIRS = 20_000_000  # if nothing selects them
_AT_ONCE = 1 << 22  # pairs in one block

Sides = NDArray[np.bool_] | NDArray[np.uint8]
_Rows = NDArray[np.int64]
_Joined = NDArray[np.uint64]  # two numbers of 32 bits in one
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def word_candidates(
    forms: Sequence[str], *, sides: Sides | None = None, cap: int = WORD_CAP
) -> Candidates:
    """The pairs of normal forms that share a word, as aligned, that at most `cap` of them have.

    A word of more records is hot: it makes candidates only together with the next word, if
    that is hot too and at most `cap` records have the two in a row; `hot_keys` counts hot words
    and hot pairs of words. `sides` (records) says which of two collections a record is of: then
    pairs are of one record of each, and words count in both together.

    Near-linear: a word, or pair of words, of n ≤ cap records makes n (n - 1) / 2 pairs.
    """
    words, rows = _numbered(forms)
    posted = _posted(words, rows)
    is_hot = _sizes(posted)[words] > cap
    in_a_row = is_hot[:-1] & is_hot[1:] & (rows[:-1] == rows[1:])
    both = _joined(words[:-1], words[1:])[in_a_row]
    neighbours = _posted(np.unique(both, return_inverse=True)[1], rows[:-1][in_a_row])
    blocks = [block for keys in (posted, neighbours) for block in _blocks(keys, sides, cap)]
    pairs = np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *blocks]))
    hot = sum(int(np.count_nonzero(_sizes(keys) > cap)) for keys in (posted, neighbours))
    return Candidates(pairs=np.stack(_halves(pairs), axis=1).astype(np.uint32), hot_keys=hot)


def all_candidates(count: int, sides: Sides | None = None) -> Candidates:
    """Every pair of `count` records, or of records of different `sides`, as candidates.

    Raises SettingsError beyond 20 million pairs.
    """
    others = 0 if sides is None else int(np.count_nonzero(sides))
    pairs = count * (count - 1) // 2 if sides is None else others * (count - others)
    if pairs > MOST_PAIRS:
        raise SettingsError(
            f"{count:,} records make {pairs:,} pairs, more than the {MOST_PAIRS:,} allowed",
            "compare only those that share a rare word, or an LSH band",
        )
    if sides is None:
        found = np.stack(np.triu_indices(count, 1), axis=1)
    else:
        grid = np.meshgrid(np.flatnonzero(sides == 0), np.flatnonzero(sides), indexing="ij")
        found = np.sort(np.stack(grid, axis=-1).reshape(-1, 2), axis=1)
    return Candidates(pairs=found.astype(np.uint32), hot_keys=0)


def _numbered(forms: Sequence[str]) -> tuple[_Rows, _Rows]:
    """The words of all forms, as numbers in the order of their first use, and their rows."""
    known: dict[str, int] = {}
    sizes = np.zeros(len(forms), dtype=np.int64)
    numbers: list[int] = []
    for row, form in enumerate(forms):
        words = aligned_words(form)
        sizes[row] = len(words)
        numbers.extend(known.setdefault(word, len(known)) for word in words)
    return np.array(numbers, dtype=np.int64), np.repeat(np.arange(len(forms)), sizes)


def _posted(keys: _Rows, rows: _Rows) -> _Joined:
    """Each key with each row that has it, once, in order; keys are numbered from 0."""
    return np.unique(_joined(keys, rows))


def _sizes(posted: _Joined) -> _Rows:
    """How many rows each key has."""
    return np.bincount(_halves(posted)[0].astype(np.int64))


def _blocks(posted: _Joined, sides: Sides | None, cap: int) -> Iterator[_Joined]:
    """The pairs of rows that share a key of at most `cap` rows, those of keys of one size at once.

    A pair is there once a key.
    """
    rows, sizes = _halves(posted)[1].astype(np.int64), _sizes(posted)
    begins = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[(sizes > 1) & (sizes <= cap)]).tolist():
        one, other = np.triu_indices(size, 1)
        of_size = begins[sizes == size]
        step = max(1, _AT_ONCE // len(one))
        for at in range(0, len(of_size), step):
            members = rows[of_size[at : at + step, np.newaxis] + np.arange(size)]
            firsts, seconds = members[:, one].ravel(), members[:, other].ravel()
            wanted = slice(None) if sides is None else sides[firsts] != sides[seconds]
            yield np.unique(_joined(firsts[wanted], seconds[wanted]))


def _joined(high: _Rows, low: _Rows) -> _Joined:
    return high.astype(np.uint64) << _HALF | low.astype(np.uint64)


def _halves(joined: _Joined) -> tuple[_Joined, _Joined]:
    return joined >> _HALF, joined & _LOW
