"""Compression: files are opened and decompressed block by block, and bombs are refused."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from neardup_solr.errors import RecordError
from neardup_solr.progress import run_ahead
from neardup_solr.sizes import SIZES
from neardup_solr.sources.part import SourcePart
from neardup_solr.variables import read_number

MOST_BYTES: Final = 2**16  # of a beginning, if a line ends in them
MOST_HEAD: Final = 2**22  # in which a first line should end
FIRST_READ: Final = 2**14  # bytes of a file that are read first, as most are small
# What .xz may take to be decompressed: xz -9 takes 65 MiB.
XZ_MEMORY: Final = 2**27
# A Zstandard frame can grow 32,000 times, and the decompressor does not limit what it gives for
# a piece: small pieces bound it to 32 MiB.
ZSTD_PIECE: Final = 2**10
# gzip lets what is all the same grow 1,032 times, Zstandard 32,000 times. Texts grow 3 to 10 times,
# many copies of a page some 100 times.
MAX_GROWTH: Final = "NEARDUP_MAX_GROWTH"
USUAL_GROWTH: Final = 1_000.0
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}


def read_head(
    stream: Iterator[bytes], is_enough: Callable[[bytes], bool]
) -> tuple[bytes, Iterator[bytes]]:
    """Read as much of a stream as is enough, and return it with the rest, or its damage."""
    parts, size, due = list[bytes](), 0, 0
    try:
        for block in stream:
            parts.append(block)
            size += len(block)
            if size < due:
                continue
            parts = [b"".join(parts)]
            if is_enough(parts[0]):
                break
            # A large head is looked at seldom.
            due = size + size // 4 if size > SIZES.read_block else 0
    except RecordError as error:
        stream = fail(error)
    return b"".join(parts), stream


def at_least(size: int) -> Callable[[bytes], bool]:
    """Make a function that tells whether a beginning has so many bytes."""
    return lambda head: len(head) >= size


def fail(error: RecordError) -> Iterator[Any]:
    """Raise the error of a damaged source, once what stands before it was read."""
    raise error
    yield


def read_beginning(part: SourcePart) -> bytes:
    """Read the first bytes of a file, decompressed, and none of a pipe."""
    if part.path is None or not part.path.is_file():
        return b""

    def has_line(head: bytes) -> bool:
        return len(head) > MOST_BYTES and (b"\n" in head or b"\r" in head or len(head) > MOST_HEAD)

    with closing(decompress(replace(part, on_progress=None))) as blocks:
        return read_head(blocks, has_line)[0]


def decompress(part: SourcePart) -> Generator[bytes]:
    """Read a file or standard input in decompressed blocks, and report the bytes read after each.

    The first blocks of a compressed file are decompressed when they are asked for, the others ahead
    by a thread of their own. Raises SourceError if it cannot be opened, or once the blocks are far
    more than what was read; RecordError if it is damaged further on.
    """
    with _open(part) as file:
        blocks = _decompress(part, file)
        if part.path is None or _kind_of(part) == "" or not file.seekable():
            yield from blocks
        else:
            yield from run_ahead(_join_blocks(blocks), few=SIZES.read_alone)


@contextmanager
def _open(part: SourcePart) -> Iterator[BinaryIO]:
    if part.path is None and sys.stdin is None:
        reason = "standard input is closed"
        raise part.error(reason, "give a file, or pipe something into it", code="file-missing")
    try:
        with nullcontext(sys.stdin.buffer) if part.path is None else part.path.open("rb") as it:
            yield it
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        step = "check the path and its permissions"
        raise part.error(reason, step, code="file-unreadable") from error


def is_compressed(path: Path) -> bool:
    """Tell whether the suffix of a file says that it is compressed."""
    return path.suffix.lower() in COMPRESSIONS


def _kind_of(part: SourcePart) -> str:
    return COMPRESSIONS.get(part.path.suffix.lower(), "") if part.path else ""


def _join_blocks(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Join blocks until they are as large as those of other files, or end, or are damaged."""
    held, size = list[bytes](), 0
    try:
        for block in blocks:
            held.append(block)
            size += len(block)
            if size >= SIZES.read_block:
                yield b"".join(held)
                held, size = [], 0
    except RecordError as error:
        blocks = fail(error)
    if held:
        yield b"".join(held)
    yield from blocks


def _decompress(part: SourcePart, file: BinaryIO) -> Iterator[bytes]:
    kind = _kind_of(part)
    is_file, end, size = file.seekable(), f"{part.name}, at its end", 0
    most = _most_growth() if kind and is_file else 0.0
    try:
        for block in filter(None, _decompress_as(kind, part, file)):
            size += len(block)
            if most and size > SIZES.any_growth and size > most * file.tell():
                raise part.error(
                    f"expands to more than {most:,g} times its size: possibly a decompression bomb",
                    f"to allow this, set the environment variable {MAX_GROWTH}=0",
                    code="expands-too-much",
                )
            if part.on_progress and is_file:
                part.on_progress(file.tell())
            yield block
    except EOFError as error:
        reason = f"the file ends too early (truncated {kind})"
        raise RecordError(end, reason, code="file-damaged") from error
    except (zlib.error, gzip.BadGzipFile, _Damaged) as error:
        if not size:
            step = "give it the suffix of its format, or compress it again"
            reason = f"is not {kind} despite its suffix, or is damaged ({error})"
            raise part.error(reason, step, code="file-damaged") from error
        reason = f"the {kind} data is damaged from here on ({error})"
        raise RecordError(end, reason, code="file-damaged") from error


def _most_growth() -> float:
    """Read how many times its size a source may grow when decompressed, 0 for any."""
    step = f"set it to a number, such as {USUAL_GROWTH:g}, or 0 for no limit"
    return read_number(MAX_GROWTH, USUAL_GROWTH, step, float)


class _Damaged(Exception):
    """An error of Zstandard, bzip2 or xz, for code that does not import the library."""


def _decompress_as(kind: str, part: SourcePart, file: BinaryIO) -> Iterator[bytes]:
    """Decompress blocks of a kind, "" if they are not compressed."""
    if kind == "gzip":
        return _read_plain(cast(BinaryIO, gzip.GzipFile(fileobj=file)))
    if kind == "zstd":
        zstandard = part.require("Zstandard", "zstandard")
        return _decompress_pieces(zstandard.ZstdDecompressor().decompressobj, file, ZSTD_PIECE)
    if kind == "bzip2":
        from bz2 import BZ2Decompressor

        return _decompress_pieces(BZ2Decompressor, file, SIZES.read_block, SIZES.read_block)
    if kind == "xz":
        from lzma import LZMADecompressor

        make = partial(LZMADecompressor, memlimit=XZ_MEMORY)
        return _decompress_pieces(make, file, SIZES.read_block, SIZES.read_block)
    return _read_plain(file)


def _read_plain(file: BinaryIO) -> Iterator[bytes]:
    # read1 gives what a pipe has, rather than waiting for a full block.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    size = min(FIRST_READ, SIZES.read_block)  # room for a whole block takes 40 microseconds
    while block := read(size):
        yield block
        size = min(2 * size, SIZES.read_block)


def _decompress_pieces(
    make: Callable[[], Any], file: BinaryIO, size: int, *most: int
) -> Iterator[bytes]:
    """Decompress the streams of a file, which NUL bytes may follow, in pieces of some size."""
    stream = None
    while piece := file.read(size):
        while piece or not getattr(stream, "needs_input", True):
            if stream is None and not (piece := piece.lstrip(b"\0")):
                break
            stream = stream or make()
            try:
                block = stream.decompress(piece, *most)
            except Exception as error:  # each library has its own
                raise _Damaged(error) from error
            yield block
            piece = stream.unused_data if stream.eof else b""
            stream = None if stream.eof else stream
    if stream is not None:
        raise EOFError
