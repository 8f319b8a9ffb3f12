"""Columns of `duplicates` that may be large, and how much memory (`--memory`) it may take.

Large ones are in files without a name: the system keeps in memory what is looked at of them, as
long as nothing else needs the room.
"""

from __future__ import annotations

import os
import sys
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.checks import require
from neardup_solr.errors import SourceError
from neardup_solr.files import read_at
from neardup_solr.measures import Flat
from neardup_solr.sizes import SIZES
from neardup_solr.text.packed import SPARE, Packed
from neardup_solr.units import in_bytes
from neardup_solr.variables import read_number

_T = TypeVar("_T")
MEMORY = "NEARDUP_MEMORY"
_AT_ONCE = 10_000  # rows
_SHARE = 4  # the keys of a search for candidates may hold this part of the memory
_PAIR = 16  # bytes of a candidate, with what is needed for it meanwhile
_UNKNOWN = 4 << 30  # bytes, if the machine does not tell


def release_unused() -> None:
    """Give back the memory that pyarrow holds for further batches, if it has read any.

    Call it once those that were read are gone: what they free later would be held again.
    """
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()


class Spill:
    """Columns, of which large ones are in temporary files. Closing frees them.

    The files have no name, so that nothing is left of them whatever happens. `memory` is in bytes
    (None: $NEARDUP_MEMORY, or half of the machine's).
    """

    def __init__(self, *, memory: int | None = None) -> None:
        step = "set it to a size of 1M or more, such as 4G"
        parse = partial(parse_memory, name=MEMORY)
        self.memory = memory or read_number(MEMORY, _machine() // 2, step, parse)
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    @property
    def share(self) -> int:
        """Bytes that the keys of a search may hold in memory."""
        return self.memory // _SHARE

    @property
    def most_pairs(self) -> int:
        """Candidates that may be held at a time."""
        return self.memory // _PAIR

    def rows(self, width: int, dtype: type[np.generic], most: int = 0) -> Rows:
        """A table whose rows have `width` values, in memory up to `most` bytes, if it says more."""
        return Rows(self, width, np.dtype(dtype), max(most, SIZES.held_column))

    def lists(self) -> Lists:
        """Lists of values of texts."""
        return Lists(self)

    def strings(self) -> Strings:
        """A list of strings."""
        return Strings(self)

    def file(self) -> IO[bytes]:
        """Make a new file without a name, or raise SourceError."""
        try:
            import tempfile  # seldom needed

            self._files.append(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 - by __exit__
        except OSError as error:
            raise _no_room(error) from None
        return self._files[-1]

    def keep(self, file: IO[bytes]) -> None:
        """Leave a file open when the others are closed."""
        self._files.remove(file)

    def write(self, file: IO[bytes], content: bytes | memoryview) -> None:
        """Append to a file. Raises SourceError if the disk is full."""
        left = memoryview(content).cast("B") if len(content) else b""
        try:
            file.seek(0, os.SEEK_END)
            while len(left):
                left = left[file.write(left) :]
        except OSError as error:
            raise _no_room(error) from None


class Rows:
    """A table that grows by blocks of rows, in memory up to a size, then in a file.

    If the disk has no room, the table may take the share of the memory.
    """

    def __init__(self, spill: Spill, width: int, dtype: np.dtype[Any], most: int) -> None:
        self._spill, self._row = spill, width * dtype.itemsize
        self._most = min(most, spill.share)
        self._table = np.empty((0, width), dtype=dtype)
        self._file: IO[bytes] | None = None
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, block: NDArray[Any]) -> None:
        """Add rows, shape (rows, width)."""
        first, self._rows = self._rows, self._rows + len(block)
        if self._rows * self._row > self._most:
            try:
                self._write(first, block)
                return
            except SourceError:
                if self._rows * self._row > self._spill.share:
                    raise
                self._return_to_memory(first)
        if self._rows > len(self._table):
            room = max(self._rows, min(17 * self._rows // 16, self._most // self._row))
            self._table.resize((room, self._table.shape[1]), refcheck=False)
        self._table[first : self._rows] = block

    def _write(self, first: int, block: NDArray[Any]) -> None:
        """Write rows to the file, after the `first` ones, which move there with them."""
        if self._file is None:
            file = self._spill.file()
            self._spill.write(file, self._table[:first].data)
            self._file, self._table = file, self._table[:0].copy()
        self._spill.write(self._file, np.ascontiguousarray(block, self._table.dtype).data)

    def _return_to_memory(self, first: int) -> None:
        """Hold the `first` rows in memory again, as the disk has no room for more."""
        self._most = self._spill.share
        if self._file is not None:
            content = self.read(0, first)
            table = np.frombuffer(content, self._table.dtype).reshape(first, self._table.shape[1])
            self._table, self._file = table.copy(), None

    def keep(self) -> None:
        """Keep the rows readable for as long as there is this object, not as the spill."""
        if self._file is not None:
            self._spill.keep(self._file)
            weakref.finalize(self, self._file.close)

    def read(self, first: int, last: int) -> bytes:
        """Read rows as bytes. Those of a file do not stay in memory."""
        if self._file is None:
            return self._table[first:last].tobytes()
        return read_at(self._file, first * self._row, (last - first) * self._row)

    def table(self) -> NDArray[Any]:
        """Give all rows, shape (rows, width). Those of a file that are looked at come to memory."""
        if self._file is not None and len(self._table) < self._rows:
            mapped = np.memmap(self._file, self._table.dtype, "r")
            self._table = np.asarray(mapped).reshape(self._rows, -1)
        return self._table[: self._rows]


class Lists:
    """Lists of values, one of each text, that grow by some at a time."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._values: Rows | None = None
        self._ends = spill.rows(1, np.int64)
        self._ends.append(np.zeros((1, 1), dtype=np.int64))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def extend(self, lists: Flat) -> None:
        """Add lists."""
        if self._values is None:
            self._values = self._spill.rows(1, lists.values.dtype.type)
        before = len(self._values)
        self._values.append(lists.values[:, None])
        self._ends.append(before + (lists.bounds[1:] - lists.bounds[0])[:, None])

    def flat(self) -> Flat:
        """Give all lists. Those values that are looked at come into memory."""
        values = np.empty(0, np.uint64) if self._values is None else self._values.table()[:, 0]
        return Flat(values, self._ends.table()[:, 0])


class Column(Sequence[_T]):
    """Values by row. Many are taken at once, as one by one takes ten times as long."""

    @abstractmethod
    def take(self, rows: Sequence[int]) -> list[_T]:
        """Take the values of rows."""

    def __getitem__(self, row: Any) -> Any:
        return self.take([row])[0]

    def __iter__(self) -> Iterator[_T]:
        for first in range(0, len(self), _AT_ONCE):
            yield from self.take(range(first, min(first + _AT_ONCE, len(self))))


class Strings(Column[str]):
    """A list of strings that grows, with lone surrogates as they are."""

    def __init__(self, spill: Spill) -> None:
        self._bytes = spill.rows(1, np.uint8)
        self._ends = spill.rows(1, np.int64)
        self._ends.append(np.zeros((1, 1), dtype=np.int64))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def keep(self) -> None:
        """Keep the strings readable for as long as there is this object, not as the spill."""
        self._bytes.keep()
        self._ends.keep()

    def take(self, rows: Sequence[int]) -> list[str]:
        """Take the strings of rows."""
        at, ends = np.asarray(rows, dtype=np.intp), self._ends.table()[:, 0]
        places = zip(ends[at].tolist(), ends[at + 1].tolist(), strict=True)
        content = self._bytes.table().data.cast("B") if len(self._bytes) else memoryview(b"")
        return [str(content[first:last], "utf-8", "surrogatepass") for first, last in places]

    def pack(self, rows: Sequence[int]) -> Packed:
        """Take the strings of rows as UTF-8, those that follow each other at once."""
        at, ends = np.asarray(rows, dtype=np.intp), self._ends.table()[:, 0]
        runs = np.split(at, 1 + np.flatnonzero(at[1:] != at[:-1] + 1)) if len(at) else []
        parts = [self._bytes.read(int(ends[run[0]]), int(ends[run[-1] + 1])) for run in runs]
        bounds = np.zeros(len(at) + 1, dtype=np.uint64)
        np.cumsum(ends[at + 1] - ends[at], out=bounds[1:])
        return Packed(np.frombuffer(b"".join((*parts, bytes(SPARE))), np.uint8), bounds)

    def extend(self, strings: Sequence[str]) -> None:
        """Add strings."""
        if isinstance(strings, Packed):
            bounds = strings.bounds.astype(np.int64)
            content: Any = strings.data[bounds[0] : bounds[-1]]
            sizes = np.diff(bounds)
        else:
            joined = "".join(strings)
            parts: Sequence[str | bytes] = strings
            if not joined.isascii():  # a character may be several bytes
                parts = [string.encode("utf-8", "surrogatepass") for string in strings]
            sizes = np.fromiter(map(len, parts), np.int64, len(parts))
            content = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
        self._ends.append(len(self._bytes) + np.cumsum(sizes)[:, None])
        self._bytes.append(content[:, None])


def _no_room(error: OSError) -> SourceError:
    reason = f"cannot hold what does not fit in memory ({error.strerror})"
    step = "set $TMPDIR to a larger disk"
    import tempfile

    return SourceError(tempfile.tempdir or "$TMPDIR", reason, step, code="disk-full")


def parse_memory(memory: int | str, name: str) -> int:
    """Parse a number of bytes, such as "4G". Raises ArgumentError below 1 MB."""
    size = in_bytes(memory, name)
    reason = f"`{name}` cannot be {size:,}, which is less than 1 MB"
    require(size >= 1 << 20, reason, 'set it to more, such as "64M"', code="argument-out-of-range")
    return size


def _machine() -> int:
    """The bytes of memory of this machine."""
    if not hasattr(os, "sysconf"):  # Windows
        return _UNKNOWN
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):  # not everywhere
        return _UNKNOWN
