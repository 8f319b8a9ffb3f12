"""Texts as strings of one character a word, equal for equal words, and as bags of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup_solr.pure.candidates import Pairs
from neardup_solr.pure.signing import is_compiled

_SURROGATES = range(0xD800, 0xE000)  # code points that no string should hold
MOST_WORDS = 0x110000 - len(_SURROGATES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """Texts of one character a word; `lengths` counts words, `bags` has each one's sorted."""

    texts: list[str]
    lengths: NDArray[np.int64]
    bags: NDArray[np.uint32]

    def may_be_near(self, pairs: Pairs, allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the texts of each pair can be at most so many words apart.

        Texts are at least as far apart as the longer one has words that the other lacks. Without
        compiled code only the lengths are looked at.
        """
        if not is_compiled():
            lengths = self.lengths[pairs]
            near: NDArray[np.bool_] = lengths.max(axis=1) - lengths.min(axis=1) <= allowed
            return near
        from neardup_solr.pure.kernel import wording

        may_be = np.empty(len(pairs), dtype=np.bool_)
        wording.may_be_near(self.bags, np.cumsum(self.lengths), pairs, allowed, may_be)
        return may_be


def worded(forms: Sequence[str]) -> Worded:
    """Normal forms as characters.

    Words beyond the 1,112,064 characters that there are share theirs: only among that many
    different words, where two of those could be taken for each other.
    """
    numbers, ends = _numbers(forms) if is_compiled() else _numbers_slowly(forms)
    codes = numbers % MOST_WORDS
    codes += (codes >= _SURROGATES.start) * np.uint32(len(_SURROGATES))
    joined = codes.astype("<u4").tobytes().decode("utf-32-le")
    starts = [0, *ends.tolist()]
    texts = [joined[first:last] for first, last in pairwise(starts)]
    bags = codes
    if is_compiled():
        from neardup_solr.pure.kernel import wording

        wording.sort_each(bags, ends)
    return Worded(texts=texts, lengths=np.diff(ends, prepend=0), bags=bags)


def _numbers(forms: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    from neardup_solr.pure.kernel import SPARE, wording

    encoded = [form.encode() for form in forms]
    bounds = np.zeros(len(forms) + 1, dtype=np.uint64)
    np.cumsum([len(form) for form in encoded], out=bounds[1:])
    packed = np.frombuffer(b"".join((*encoded, bytes(SPARE))), dtype=np.uint8)
    # A word and the blank behind it take two bytes at least.
    numbers = np.empty(len(packed) // 2 + len(forms), dtype=np.uint32)
    ends = np.zeros(len(forms), dtype=np.int64)
    wording.number(packed, bounds, numbers, ends)
    return numbers[: int(ends[-1]) if len(ends) else 0], ends


def _numbers_slowly(forms: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    known: dict[str, int] = {}
    split = [form.split() for form in forms]
    flat = [known.setdefault(word, len(known)) for words in split for word in words]
    ends = np.cumsum([len(words) for words in split], dtype=np.int64)
    return np.array(flat, dtype=np.uint32), ends
