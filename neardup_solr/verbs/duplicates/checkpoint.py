"""A file that keeps the finished parts of a long work, so that an interruption costs one part."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from struct import Struct
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import SourceError
from neardup_solr.files import private

Part = tuple[NDArray[Any], ...]
_FRAME = Struct("<QI")  # before each part: its length, and its checksum


class Checkpoint:
    """Parts of `arrays` numpy arrays each, of one piece of work, in a file beside its result.

    `work` describes the work in a line: if the file holds parts of other work, they are deleted.
    """

    def __init__(self, path: Path, work: str, *, arrays: int) -> None:
        self._path, self._arrays = path, arrays
        self._work = work.encode() + b"\n"
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Checkpoint:
        try:
            # Without a buffer, which would try again and again to write what did not fit.
            self._file = open(self._path, "a+b", buffering=0, opener=private)
            self._file.seek(0)
            if self._file.read(len(self._work)) != self._work:
                self._cut(0)
                self._write(self._work)
        except OSError as error:
            self.__exit__()
            raise self._unwritable(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def kept(self) -> Iterator[Part]:
        """Read the finished parts. What is damaged, or half written, is cut off.

        Nothing after such a part is given either.
        """
        assert self._file is not None
        self._file.seek(len(self._work))
        while True:
            whole = self._file.tell()
            length, check = _FRAME.unpack(self._file.read(_FRAME.size).ljust(_FRAME.size, b"\0"))
            body = self._file.read(min(length, self._size()))
            if not body or zlib.crc32(body) != check:
                self._cut(whole)
                return
            stream = BytesIO(body)
            yield tuple(np.load(stream, allow_pickle=False) for _ in range(self._arrays))

    def keep(self, part: Sequence[NDArray[Any]]) -> None:
        """Add a part, on the disk before this returns.

        Raises SourceError if the disk is full; the parts before it are kept.
        """
        stream = BytesIO()
        for array in part:
            np.save(stream, array)
        body = stream.getvalue()
        try:
            self._write(_FRAME.pack(len(body), zlib.crc32(body)) + body)
        except OSError as error:
            raise self._unwritable(error) from None

    def _write(self, added: bytes) -> None:
        """Add bytes at the end, all of them or none."""
        assert self._file is not None
        whole = self._size()
        try:
            while added:
                added = added[self._file.write(added) :]
            os.fsync(self._file.fileno())
        except OSError:
            self._cut(whole)
            raise

    def _size(self) -> int:
        assert self._file is not None
        return os.fstat(self._file.fileno()).st_size

    def _cut(self, size: int) -> None:
        assert self._file is not None
        os.ftruncate(self._file.fileno(), size)

    def _unwritable(self, error: OSError) -> SourceError:
        reason = f"finished parts cannot be kept ({error.strerror})"
        return SourceError(str(self._path), reason, "choose another place for the report")
