"""From a file to its lines: opened, decompressed, converted to UTF-8, in bounded memory."""

from __future__ import annotations

import codecs
import gzip
import math
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import chain
from typing import BinaryIO, Final

from neardup_solr.errors import ArgumentError, RecordError
from neardup_solr.sources.record import Opened, too_large

BLOCK: Final = 2**18

# A Zstandard frame can grow 32,000 times, and the decompressor does not limit what it gives for
# a piece: small pieces bound it to 32 MiB.
ZSTD_PIECE: Final = 2**10

# gzip lets what is all the same grow 1,032 times, Zstandard 32,000 times. Texts grow 3 to 10 times,
# many copies of a page some 100 times.
MAX_GROWTH: Final = "NEARDUP_MAX_GROWTH"
USUAL_GROWTH: Final = 1_000.0
GROWS_FROM: Final = 2**28  # bytes, up to which anything may grow

# How many times its limit a record of a pipe may have: what is too large is passed over, but
# /dev/zero has no end.
MOST_TIMES: Final = 16

NEEDS_FORMATS: Final = 'install it with: pip install "neardup-solr[formats]"'

# Quotes, dashes and € in cp1252; control characters, which no text has, in latin-1.
ONLY_CP1252: Final = re.compile(rb"[\x80-\x9f]")

# How files begin that are taken for text by their suffix.
BINARY: Final = {
    b"PK\x03\x04": "an Excel file (.xlsx) or another ZIP archive",
    b"\xd0\xcf\x11\xe0": "an Excel file of old (.xls) or another one of Office",
    b"PAR1\x15": "a Parquet file",
    b"\x1f\x8b": "compressed by gzip",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
    b"%PDF-": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
}

UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

# What cannot be decoded becomes this, which is invalid UTF-8: an error of that record only.
UNDECODABLE: Final = "\udcff"
codecs.register_error("neardup_undecodable", lambda error: (UNDECODABLE, _end(error)))


def _end(error: UnicodeError) -> int:
    assert isinstance(error, UnicodeDecodeError)
    return error.end


def lists_of_lines(source: Opened, limit: int) -> Iterator[list[bytes | None]]:
    """Read lines in UTF-8 without their newlines, as many at a time as come in a block.

    None stands for a line of more than `limit` bytes, which is skipped and not held. Raises
    SourceError as `blocks` does, and if the source is empty, and RecordError for a line of a pipe
    or a device that does not end.
    """
    held, size = bytearray(), 0  # of the line that has begun
    most = most_passed_over(source, limit)
    for block in _not_empty(source):
        head, newline, rest = block.partition(b"\n")
        size += len(head)
        if size > limit:
            held.clear()
        else:
            held += head
        if newline:
            # Taken in a call, so that this frame does not hold on to a long line.
            yield _take_lines(held, rest, limit, is_long=size > limit)
            size = len(held)
        elif size > most:
            raise without_end(source, most)
    if size:
        yield _take_lines(held, b"", limit, is_long=size > limit)


def _take_lines(held: bytearray, rest: bytes, limit: int, is_long: bool) -> list[bytes | None]:
    """Take the line that is held and those that follow it. The last of these, cut off, is held."""
    first = None if is_long else bytes(held)
    *lines, held[:] = rest.split(b"\n")
    return [first, *(line if len(line) <= limit else None for line in lines)]


def most_passed_over(source: Opened, limit: int) -> float:
    """Count the bytes of a record after which reading ends: a pipe or a device might never end."""
    try:
        state = os.fstat(sys.stdin.fileno()) if source.path is None else source.path.stat()
    except (OSError, ValueError, AttributeError):  # of a standard input that is none, or closed
        return math.inf
    return math.inf if stat.S_ISREG(state.st_mode) else MOST_TIMES * limit


def without_end(source: Opened, most: float) -> RecordError:
    """Make the error for a record of more bytes than are passed over."""
    reason = f"{too_large(int(most))}, and its end has not come: nothing more is read"
    return RecordError(f"{source.name}, last record", reason)


def has_mark(source: Opened) -> bool:
    """Tell whether a file begins with the mark by which spreadsheets know UTF-8."""
    if source.path is None or not source.path.is_file():
        return False
    with source.path.open("rb") as file:
        return file.read(3) == codecs.BOM_UTF8


def _not_empty(source: Opened) -> Iterator[bytes]:
    stream = blocks(source)
    first = next(stream, None)
    if first is None:
        raise source.error("is empty", "check that it was written, and that it is the right one")
    for beginning, kind in BINARY.items():
        if first.startswith(beginning):
            step = "give it the suffix of what it is, or save it as text, such as CSV in UTF-8"
            raise source.error(f"is {kind}, not text", step)
    return chain([first], stream)


def begun(source: Opened, is_enough: Callable[[bytes], bool]) -> tuple[bytes, Opened]:
    """Read as much of a source as is enough, and return it with the source to read from its start.

    Raises SourceError if it is empty, and what `blocks` raises.
    """
    stream = _not_empty(source)
    head = b""
    for block in stream:
        head += block
        if is_enough(head):
            break
    return head, replace(source, begun=chain([head], stream))


def blocks(source: Opened) -> Iterator[bytes]:
    """Read the contents in blocks, decompressed (.gz, .zst) and converted to UTF-8.

    Raises SourceError if the source cannot be opened or is not compressed as its name says,
    RecordError if it ends too early or is damaged further on.
    """
    if source.begun is not None:
        yield from source.begun
        return
    with _open(source) as file:
        yield from _recode(source, _plain(source, file))


@contextmanager
def _open(source: Opened) -> Iterator[BinaryIO]:
    if source.path is None and sys.stdin is None:
        raise source.error("standard input is closed", "give a file, or pipe something into it")
    try:
        with nullcontext(sys.stdin.buffer) if source.path is None else source.path.open("rb") as it:
            yield it
    except OSError as error:
        raise source.error(
            f"cannot be read ({error.strerror or error})", "check the path and its permissions"
        ) from error


def _plain(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    """Decompress blocks, and report the number of bytes read after each."""
    suffix = source.path.suffix.lower() if source.path else ""
    kind, decompress = DECOMPRESSORS.get(suffix, ("", _as_it_is))
    stream = decompress(source, file)
    if kind and file.seekable():
        stream = _limit_growth(source, file, stream)
    tell = source.on_progress if source.on_progress and file.seekable() else None
    is_first, end = True, f"{source.name}, at its end"
    try:
        for block in filter(None, stream):
            is_first = False
            if tell:
                tell(file.tell())
            yield block
    except EOFError as error:
        raise RecordError(end, f"the file ends too early (truncated {kind})") from error
    except (zlib.error, gzip.BadGzipFile, _Damaged) as error:
        if is_first:
            step = "give it the suffix of what it is"
            raise source.error(f"is not {kind}, though its name says so", step) from error
        raise RecordError(end, f"the {kind} data is damaged from here on ({error})") from error


def _limit_growth(source: Opened, file: BinaryIO, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Pass blocks on, but raise SourceError once they are far more than what was read."""
    most = _most_growth()
    size = 0
    for block in stream:
        size += len(block)
        if most and size > GROWS_FROM and size > most * file.tell():
            raise source.error(
                f"grows more than {most:,g} times as it is decompressed, as bombs do",
                f"if it should, lift that limit by the environment variable {MAX_GROWTH}=0",
            )
        yield block


def _most_growth() -> float:
    """Look up how many times its size a source may grow when decompressed, 0 for any."""
    text = os.environ.get(MAX_GROWTH, "")
    try:
        return max(0.0, float(text)) if text else USUAL_GROWTH
    except ValueError:
        step = f"give a number, such as {USUAL_GROWTH:g}, or 0 for no limit"
        raise ArgumentError(f"${MAX_GROWTH} {text!r} is not a number", step) from None


class _Damaged(Exception):
    """Zstandard's error, for code that does not import the library."""


def _as_it_is(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    # read1 gives what a pipe has, rather than waiting for a full block.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while block := read(BLOCK):
        yield block


def _gunzip(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as stream:
        while block := stream.read1(BLOCK):
            yield block


def _unzstd(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise source.error("Zstandard needs the library zstandard", NEEDS_FORMATS) from error
    frame = None
    try:
        while piece := file.read(ZSTD_PIECE):
            while piece:
                frame = frame or zstandard.ZstdDecompressor().decompressobj()
                yield frame.decompress(piece)
                piece = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise _Damaged(error) from error
    if frame is not None:
        raise EOFError


DECOMPRESSORS: Final[dict[str, tuple[str, Callable[[Opened, BinaryIO], Iterator[bytes]]]]] = {
    ".gz": ("gzip", _gunzip),
    ".zst": ("zstd", _unzstd),
}


def _recode(source: Opened, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Make UTF-8 from the named encoding, or from that of a byte order mark, without the mark."""
    if source.reading.encoding is not None:
        return _from_encoding(source, source.reading.encoding, stream)
    head = b""
    for block in stream:
        head += block
        if len(head) >= len(codecs.BOM_UTF8):
            break
    if not head:
        return iter(())
    if head.startswith(UTF16_MARKS):
        return _from_encoding(source, "utf-16", chain([head], stream))
    return chain([head.removeprefix(codecs.BOM_UTF8)], stream)


def _from_encoding(source: Opened, encoding: str, stream: Iterable[bytes]) -> Iterator[bytes]:
    # A lone surrogate of UTF-16 passes through as bytes that are not UTF-8, too.
    lenient = "replace" if source.reading.lossy else "neardup_undecodable"
    on_invalid = "surrogatepass" if encoding.startswith("utf-16") else lenient
    is_first = True
    stream = _latin(source, stream) if encoding == "iso8859-1" else stream
    try:
        for text in codecs.iterdecode(stream, encoding, on_invalid):
            plain = text.removeprefix("\ufeff") if is_first else text
            yield plain.encode("utf-8", "surrogatepass")
            is_first = False
    except UnicodeError as error:
        name = encoding.upper()
        if is_first:
            step = "check what it was written in: from Excel it is mostly `encoding` cp1252"
            raise source.error(f"is not {name} ({error})", step) from error
        raise RecordError(
            f"{source.name}, at its end", f"the file ends too early (half a {name} character)"
        ) from error


def _latin(source: Opened, stream: Iterable[bytes]) -> Iterator[bytes]:
    """Pass blocks of latin-1 on, with a notice if they look like cp1252."""
    is_told = False
    for block in stream:
        if not is_told and ONLY_CP1252.search(block):
            is_told = True
            source.on_notice(
                f"{source.name}: this looks like cp1252: characters such as € would be lost; "
                "give cp1252 as its encoding"
            )
        yield block
