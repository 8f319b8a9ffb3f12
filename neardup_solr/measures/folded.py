"""Letters of many texts, with their places in these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.kernel import fold
from neardup_solr.minhash.sign import make_tables
from neardup_solr.settings import NORMALIZATION
from neardup_solr.text.letters import list_letters
from neardup_solr.text.packed import pack


class Folded(NamedTuple):
    """Letters of texts: those of text t are letters[bounds[t]:bounds[t + 1]].

    The highest bit of one with which a word begins is 1; `words` counts these. `places` has the
    character of each.
    """

    letters: NDArray[np.uint16]
    places: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    words: NDArray[np.int64]


def fold_texts(texts: Sequence[str]) -> Folded:
    """List the letters of texts, digits included, in the normal form of each."""
    packed = pack(texts)
    letters, places = np.empty(packed.size, np.uint16), np.empty(packed.size, np.uint32)
    bounds, words = np.zeros(len(packed) + 1, np.int64), np.empty(len(packed), np.int64)
    fold.fold_texts(
        packed.data, packed.bounds, make_tables(NORMALIZATION), letters, places, bounds, words
    )
    filled = bounds[-1]
    folded = Folded(letters[:filled], places[:filled], bounds, words)
    left = np.flatnonzero(words < 0).tolist()
    return _insert(folded, {at: list_letters(texts[at]) for at in left}) if left else folded


def _insert(
    folded: Folded, lists: dict[int, tuple[NDArray[np.uint16], NDArray[np.uint32], int]]
) -> Folded:
    """Insert the letters of texts that have none yet."""
    sizes, words = np.diff(folded.bounds), folded.words.copy()
    letters, places = (np.split(column, folded.bounds[1:-1]) for column in folded[:2])
    for at, (codes, where, count) in lists.items():
        letters[at], places[at], sizes[at], words[at] = codes, where, len(codes), count
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Folded(np.concatenate(letters), np.concatenate(places), bounds, words)
