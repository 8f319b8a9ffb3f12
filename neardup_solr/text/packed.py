"""Texts in a row, as UTF-8 in an array, which takes less memory than strings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.regex import regex

# Bytes that are free behind texts: hashes read up to 8 of them, a last character may need some.
SPARE = 64
_SURROGATE = regex("[\ud800-\udfff]")


class Packed(Sequence[str]):
    """Texts that are decoded when they are read: t is data[bounds[t]:bounds[t + 1]].

    `data` (uint8) is valid UTF-8, `bounds` (uint64) has the ends of texts after the first start.
    """

    __slots__ = ("bounds", "data")

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[np.uint64]) -> None:
        self.data, self.bounds = data, bounds

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            first, last, step = at.indices(len(self))
            if step != 1:
                return [self[text] for text in range(first, last, step)]
            return Packed(self.data, self.bounds[first : max(first, last) + 1])
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        first, last = self.bounds[at % len(self)], self.bounds[at % len(self) + 1]
        return self.data[first:last].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        ends = (self.bounds - self.bounds[0]).tolist()
        whole = self.whole()
        if whole.isascii():  # decoded at once, which takes a third of the time for short texts
            return map(whole.decode().__getitem__, map(slice, ends, ends[1:]))
        return (whole[first:last].decode() for first, last in pairwise(ends))

    def parts(self, size: int) -> Iterator[Packed]:
        """Yield the texts in parts of at most so many bytes, or of a longer text."""
        first = 0
        while first < len(self):
            most = self.bounds[first] + np.uint64(size)
            last = int(np.searchsorted(self.bounds, most, side="right")) - 1
            last = max(first + 1, last)
            yield self[first:last]
            first = last

    def trim(self, count: int) -> Packed:
        """Take the first texts, without the room behind them if that is larger than they are."""
        bounds = self.bounds[: count + 1].copy()
        end = int(bounds[-1]) + SPARE
        return Packed(self.data[:end].copy() if 2 * end < len(self.data) else self.data, bounds)

    def whole(self) -> bytes:
        """The bytes of all texts."""
        return self.data[self.bounds[0] : self.bounds[-1]].tobytes()

    @property
    def longest(self) -> int:
        """The bytes of the longest text."""
        return int(np.diff(self.bounds).max(initial=0))

    @property
    def size(self) -> int:
        """The bytes of all texts."""
        return int(self.bounds[-1] - self.bounds[0])


def pack(texts: Sequence[str]) -> Packed:
    """Pack texts. A lone surrogate becomes a space."""
    if isinstance(texts, Packed):
        return texts
    try:
        encoded = list(map(str.encode, texts))
    except UnicodeEncodeError:
        encoded = [_SURROGATE.sub(" ", text).encode() for text in texts]
    return pack_bytes(encoded)


def pack_bytes(encoded: Sequence[bytes]) -> Packed:
    """Pack texts in UTF-8."""
    bounds = np.zeros(len(encoded) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, encoded), np.uint64, len(encoded)), out=bounds[1:])
    return Packed(np.frombuffer(b"".join((*encoded, bytes(SPARE))), dtype=np.uint8), bounds)


class PackedColumns:
    """Room for so many columns of texts, each of the same size, which compiled code fills."""

    def __init__(self, columns: int, size: int, rows: int) -> None:
        self.size = size
        self.data = np.empty(columns * size + SPARE, np.uint8)
        self.bounds = np.empty((columns, rows + 1), np.uint64)

    def take(self, rows: int) -> list[Packed]:
        """Take the first rows of each column, without the room behind if that is larger."""
        columns = []
        for bounds in self.bounds[:, : rows + 1]:
            first, last = int(bounds[0]), int(bounds[-1])
            texts = self.data[first : last + SPARE]
            texts = texts if 2 * (last - first) > self.size else texts.copy()
            columns.append(Packed(texts, bounds - bounds[0]))
        return columns


def make_room(size: int, count: int) -> Packed:
    """Make room for so many texts, with so many bytes together, which compiled code fills."""
    return Packed(np.empty(size + SPARE, np.uint8), np.empty(count + 1, np.uint64))


def join_packed(parts: Sequence[Packed]) -> Packed:
    """Join the texts of all parts."""
    if len(parts) == 1:
        return parts[0]
    pieces = [part.data[part.bounds[0] : part.bounds[-1]] for part in parts]
    sizes = [np.diff(part.bounds) for part in parts]
    bounds = np.zeros(1 + sum(map(len, sizes)), dtype=np.uint64)
    np.cumsum(np.concatenate([bounds[:0], *sizes]), out=bounds[1:])
    return Packed(np.concatenate([*pieces, np.zeros(SPARE, np.uint8)]), bounds)


def count_fitting(texts: Sequence[str], most: int, size: int) -> int:
    """Count the first texts, up to `most`, that reach a size together, as by `size_of`."""
    if isinstance(texts, Packed):
        end = texts.bounds[0] + np.uint64(max(0, size))
        return min(most, max(1, int(np.searchsorted(texts.bounds, end))))
    sizes = accumulate(map(len, texts[:most]))
    return next((count for count, total in enumerate(sizes, 1) if total >= size), most)


def size_of(texts: Sequence[str]) -> int:
    """Measure texts: their bytes if they are packed, else their characters."""
    return texts.size if isinstance(texts, Packed) else sum(map(len, texts))
