"""Words of many texts, each word listed once, and the texts as lists of their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup_solr.measures.frequencies import write_number
from neardup_solr.measures.pairs import join_halves, split_halves
from neardup_solr.minhash.sign import hash_packed
from neardup_solr.text.packed import pack

_ARE_GAPS = np.zeros(256, np.bool_)
_ARE_GAPS[[*b" -"]] = True


class WordLists(NamedTuple):
    """Words as they are aligned: text t has those of numbers[bounds[t]:bounds[t + 1]], in order.

    `words` are numbered by their first use.
    """

    words: list[str]
    numbers: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @property
    def texts(self) -> NDArray[np.int64]:
        """The text of each number."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def take(self, texts: NDArray[Any]) -> WordLists:
        """Take some texts, in this order, with the words of all."""
        sizes = np.diff(self.bounds)[texts]
        bounds = np.append(0, np.cumsum(sizes))
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[texts] - bounds[:-1], sizes)
        return WordLists(self.words, self.numbers[places], bounds)

    def count_texts(self, times: NDArray[Any] | None = None) -> dict[str, int]:
        """Count the texts that have each word, text t so many `times` as times[t]."""
        each = np.sort(join_halves(self.texts, self.numbers))
        texts, numbers = split_halves(each[np.append(np.True_, each[1:] != each[:-1])[: len(each)]])
        counts = np.bincount(
            numbers.astype(np.int64), None if times is None else times[texts], len(self.words)
        )
        counted = zip(self.words, counts.astype(np.int64).tolist(), strict=True)
        return {word: count for word, count in counted if count}


def number_lists(lists: Sequence[Sequence[str]]) -> WordLists:
    """Number the words of lists."""
    numbered: dict[str, int] = {}
    numbers = [numbered.setdefault(word, len(numbered)) for words in lists for word in words]
    bounds = np.cumsum([0, *map(len, lists)])
    return WordLists([*numbered], np.array(numbers, dtype=np.int64), bounds)


def list_words(forms: Sequence[str]) -> WordLists:
    """List the words of normal forms as `split_words` does, but each different one once.

    Words are told apart by hashes of 64 bits.
    """
    packed = pack(forms)
    begin, bounds = int(packed.bounds[0]), packed.bounds.astype(np.int64)
    data = packed.data[begin : int(bounds[-1])]
    is_gap = np.ones(len(data) + 2, np.bool_)
    is_gap[1:-1] = _ARE_GAPS[data]
    is_bound = np.zeros(len(data) + 1, np.bool_)
    is_bound[bounds - begin] = True
    starts = begin + np.flatnonzero(~is_gap[1:-1] & (is_gap[:-2] | is_bound[:-1]))
    ends = begin + 1 + np.flatnonzero(~is_gap[1:-1] & (is_gap[2:] | is_bound[1:]))
    edges = np.stack([starts, ends], axis=1).ravel().astype(np.uint64)
    hashes = hash_packed(packed.data, edges)[::2]  # of words, not of what is between them
    order = np.argsort(hashes)
    hashes = hashes[order]
    is_first = np.append(np.True_, hashes[1:] != hashes[:-1])[: len(hashes)]
    firsts = np.minimum.reduceat(order, np.flatnonzero(is_first)) if len(order) else order
    by_use = np.argsort(firsts)
    places = np.empty(len(firsts), np.int64)
    places[by_use] = np.arange(len(firsts))
    firsts = firsts[by_use]
    numbered: dict[str, int] = {}
    whole = data.tobytes()
    spans = map(slice, (starts[firsts] - begin).tolist(), (ends[firsts] - begin).tolist())
    each: Iterator[str] = (whole[span].decode() for span in spans)
    if whole.isascii():  # decoded at once
        each = map(whole.decode().__getitem__, spans)
    # Words that are written as the same number are one.
    same = np.array(
        [numbered.setdefault(write_number(word), len(numbered)) for word in each], np.int64
    )
    numbers = np.empty(len(order), np.int64)
    numbers[order] = same[places[np.cumsum(is_first) - 1]]
    return WordLists([*numbered], numbers, np.searchsorted(starts, bounds))
