"""Columns that grow: in memory up to a share of it, then in files without a name."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SourceError
from neardup_solr.measures.arrays import Flat

_OBJECT = 57  # bytes of a Python string and of its place in a list, beside its characters
_SHARE = 4  # each column may hold this part of the memory
_GROWS = sys.platform == "linux"  # where memory that is mapped can grow
_LARGE = 1 << 22  # bytes from which it is mapped
_AROUND = 1 << 16  # bytes that come into memory with a row, as the system reads what is around it
_UNKNOWN = 4 << 30  # bytes, if the machine does not tell


class Spill:
    """Holds columns that may not fit into memory; closing it frees everything.

    Each column holds up to a quarter of `memory` bytes (None: half of the machine's), then it
    goes to a file in `folder` (None: the system's for temporary files) that has no name, so that
    nothing is left of it whatever happens.
    """

    def __init__(self, *, memory: int | None = None, folder: Path | None = None) -> None:
        self.memory = memory or _machine() // 2
        self._folder, self._files = folder, ExitStack()
        self._mapped: list[mmap.mmap] = []

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    @property
    def share(self) -> int:
        """Bytes that one column may hold in memory."""
        return self.memory // _SHARE

    @property
    def at_once(self) -> int:
        """How many rows of tables may be looked at, here and there, until they are let go."""
        return max(2, self.share // _AROUND)

    def let_go(self) -> None:
        """Let what was looked at of tables in files leave the memory, if the system can do that."""
        for mapped in self._mapped if hasattr(mmap, "MADV_DONTNEED") else ():
            mapped.madvise(mmap.MADV_DONTNEED)

    def mapped(self, file: IO[bytes]) -> mmap.mmap:
        """The content of a file, of which what is looked at comes into memory."""
        self._mapped.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return self._mapped[-1]

    def rows(self, width: int, dtype: type[np.generic]) -> Rows:
        """A table whose rows have `width` values."""
        return Rows(self, width, np.dtype(dtype))

    def lists(self) -> Lists:
        """Lists of values of texts."""
        return Lists(self)

    def strings(self) -> Strings:
        """A list of strings."""
        return Strings(self)

    def held(self, file: IO[bytes]) -> IO[bytes]:
        """A file that stays open until everything is freed."""
        return self._files.enter_context(file)

    def file(self) -> IO[bytes]:
        """A new file without a name.

        Raises SourceError if none can be made.
        """
        try:
            return self._files.enter_context(tempfile.TemporaryFile(dir=self._folder))
        except OSError as error:
            raise self._no_room(error) from None

    def write(self, file: IO[bytes], content: bytes | memoryview) -> None:
        """Append to a file.

        Raises SourceError if the disk is full.
        """
        try:
            file.seek(0, os.SEEK_END)
            file.write(content)
            file.flush()
        except OSError as error:
            raise self._no_room(error) from None

    def _no_room(self, error: OSError) -> SourceError:
        where = str(self._folder or tempfile.gettempdir())
        reason = f"cannot hold what does not fit into memory ({error.strerror})"
        return SourceError(where, reason, "name a folder with more room with `spill`")


class Rows:
    """A table that grows by blocks of rows."""

    def __init__(self, spill: Spill, width: int, dtype: np.dtype[Any]) -> None:
        self._spill = spill
        self._held = np.empty((0, width), dtype=dtype)
        self._nothing = self._held.copy()
        self._room: mmap.mmap | None = None
        self._row = width * dtype.itemsize  # bytes
        self._mapped: NDArray[Any] | None = None
        self._file: IO[bytes] | None = None
        self._rows = 0

    def append(self, block: NDArray[Any]) -> None:
        """Add rows, shape (rows, width)."""
        first, self._rows = self._rows, self._rows + len(block)
        if self._file is None and self._rows * self._row > self._spill.share:
            self._file = self._spill.file()
            self._spill.write(self._file, self._held[:first].data)
            self._held, self._room = self._nothing, None
        if self._file is not None:
            self._spill.write(self._file, np.ascontiguousarray(block, self._held.dtype).data)
            return
        if self._rows > len(self._held):  # never to more than may be held
            room = min(3 * len(self._held) // 2, self._spill.share // self._row)
            self._grow(max(self._rows, room))
        self._held[first : self._rows] = block

    def _grow(self, rows: int) -> None:
        """Have room for so many rows, in place if the system can."""
        width, held = self._held.shape[1], self._held
        size = rows * self._row
        if not _GROWS or size < _LARGE:
            held.resize((rows, width), refcheck=False)  # which fills what is new with zeros
            return
        if self._room is None:
            self._room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._held = held = self._nothing  # as nothing may look at it while it grows
            self._room.resize(size)
        self._held = np.frombuffer(self._room, held.dtype, rows * width).reshape(rows, width)
        self._held[: len(held)] = held

    def table(self) -> NDArray[Any]:
        """All rows, shape (rows, width); of a file those that are looked at come into memory."""
        if self._file is None:
            return self._held[: self._rows]
        if self._mapped is None or len(self._mapped) < self._rows:
            content = self._spill.mapped(self._file)
            self._mapped = np.frombuffer(content, self._held.dtype).reshape(self._rows, -1)
        return self._mapped


class Lists:
    """Lists of values, one of each text, that grow by some at a time."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._values: Rows | None = None
        self._lengths: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]

    def __len__(self) -> int:
        return sum(map(len, self._lengths)) - 1

    def extend(self, lists: Flat) -> None:
        """Add lists."""
        if self._values is None:
            self._values = self._spill.rows(1, lists.values.dtype.type)
        self._values.append(lists.values[:, None])
        self._lengths.append(lists.lengths)

    def flat(self) -> Flat:
        """All lists; of a file those values that are looked at come into memory."""
        values = self._values
        flat = np.empty(0, np.uint64) if values is None else values.table()[:, 0]
        return Flat(np.asarray(flat), np.cumsum(np.concatenate(self._lengths)))


class Strings(Sequence[str]):
    """A list of strings that grows; lone surrogates are kept."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._held: list[str] = []
        self._file: IO[bytes] | None = None
        self._ends: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._held) if self._file is None else sum(map(len, self._ends)) - 1

    def __getitem__(self, row: Any) -> Any:
        if self._file is None:
            return self._held[row]
        ends = self._joined_ends()
        first, last = int(ends[row]), int(ends[row + 1])
        return read_at(self._file, first, last - first).decode("utf-8", "surrogatepass")

    def extend(self, strings: Sequence[str]) -> None:
        """Add strings."""
        if not strings:
            return
        if self._file is None:
            self._held.extend(strings)
            self._bytes += sum(map(len, strings)) + _OBJECT * len(strings)
            if self._bytes <= self._spill.share:
                return
            self._file, strings = self._spill.file(), self._held
            self._held = []
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        self._ends.append(
            self._ends[-1][-1] + np.cumsum([len(each) for each in encoded], dtype=np.int64)
        )
        self._spill.write(self._file, b"".join(encoded))

    def _joined_ends(self) -> NDArray[np.int64]:
        if len(self._ends) > 1:
            self._ends = [np.concatenate(self._ends)]
        return self._ends[0]


def _machine() -> int:
    """The bytes of memory of this machine."""
    if not hasattr(os, "sysconf"):  # Windows
        return _UNKNOWN
    try:
        return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):  # not everywhere
        return _UNKNOWN


def read_at(file: IO[bytes], begin: int, size: int) -> bytes:
    """Some bytes of a file; fewer if it ends before."""
    if hasattr(os, "pread"):
        found: bytes = os.pread(file.fileno(), size, begin)
        return found
    file.seek(begin)  # Windows
    return file.read(size)
