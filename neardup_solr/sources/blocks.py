"""Blocks of a text: decompressed, in UTF-8 and with usual line ends, in bounded memory."""

from __future__ import annotations

import codecs
import math
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup_solr.errors import RecordError
from neardup_solr.progress import map_in_order
from neardup_solr.records import Run
from neardup_solr.regex import regex
from neardup_solr.sizes import SIZES
from neardup_solr.sources.compression import (
    MOST_HEAD,
    decompress,
    read_beginning,
    read_head,
)
from neardup_solr.sources.dialect import WITH_DELIMITER
from neardup_solr.sources.encodings import find_encoding, recode
from neardup_solr.sources.part import Piece, SourcePart, SourceTable
from neardup_solr.sources.values import Unusable, too_large

if TYPE_CHECKING:
    from neardup_solr.kernel import Compiled

B = TypeVar("B")
R = TypeVar("R")
_LINE_END: Final = regex(rb"\r(?!\r*(?:\n|\Z))|\n")
# How many times its limit a record of a pipe may have: what is too large is passed over, but
# /dev/zero has no end.
MOST_TIMES: Final = 16


def lists_of_lines(part: SourcePart, limit: int) -> Iterator[list[bytes | None]]:
    """Read lines in UTF-8 without their newlines, as many at a time as come in a block.

    None stands for a line of more than `limit` bytes. Raises as `blocks_of_lines` does.
    """
    return (split_lines(block, limit) for block in blocks_of_lines(part, limit))


def is_worth(scan: Compiled, number: int) -> bool:
    """Tell whether the block of this number is worth to be scanned in compiled code.

    The first ones are not if it would have to be compiled, which takes seconds.
    """
    return number >= SIZES.read_alone or scan.is_stored()


def map_blocks(
    part: SourcePart, work: Callable[[tuple[int, B]], R], blocks: Iterable[B]
) -> Iterator[tuple[B, R]]:
    """Yield each block of a part with what work makes of its number and it, by all cores.

    The blocks of a standard input whose records are passed on at once are not read ahead.
    """
    few = None if part.reading.at_once and part.path is None else SIZES.read_alone
    return ((block, made) for (_, block), made in map_in_order(work, enumerate(blocks), few=few))


def number_runs(
    blocks: Iterable[tuple[B, Run | None]], split: Callable[[B], Sequence[bytes | None]],
    make: Callable[[int, Sequence[bytes | None]], Iterable[Piece]],
) -> Iterator[Piece]:  # fmt: skip
    """Yield the run of each block with its numbers, or what is made of its lines by themselves.

    Lines are numbered from 1 on; `make` gets the number of the first.
    """
    first = 1
    for block, run in blocks:
        if run:
            numbers = range(first, first + len(run))
            yield replace(run, numbers=numbers)
        else:
            raws = split(block)
            numbers = range(first, first + len(raws))
            yield from make(first, raws)
        first = numbers.stop


def encode_block(block: bytes) -> NDArray[np.uint8]:
    """Make an array of a block of whole lines, each with its newline, for compiled code."""
    return np.frombuffer(block if block.endswith(b"\n") else block + b"\n", np.uint8)


def split_lines(block: bytes | None, limit: int) -> list[bytes | None]:
    """Split a block of whole lines, with None for one of more than `limit` bytes."""
    if block is None:
        return [None]
    lines: list[bytes | None] = [*block.removesuffix(b"\n").split(b"\n")]
    if limit < SIZES.read_block:
        return [line if line is None or len(line) <= limit else None for line in lines]
    return lines


def blocks_of_lines(part: SourcePart, limit: int) -> Iterator[bytes | None]:
    """Read blocks of whole lines in UTF-8. The last line of all may lack its newline.

    A block begins where a line begins and ends where one ends, so lines and objects can be taken
    from each without the others.
    None stands for a line that is longer than a block and than `limit` bytes, which is skipped and
    not held. Raises SourceError as `read_blocks` does, and if the source is empty, and RecordError
    for a line of a pipe or a device that does not end.
    """
    held, size = bytearray(), 0  # of the line that has begun
    most = most_passed_over(part, limit)
    for block in _not_empty(part):
        first, last = block.find(b"\n") + 1, block.rfind(b"\n") + 1
        size += first - 1 if first else len(block)
        if size > limit:
            held.clear()
        if not first:
            if size > most:
                raise without_end(part, most)
            held += block if size <= limit else b""
            continue
        if size > limit:
            yield None
        else:
            first = 0
        if first < last:
            yield b"".join((held, memoryview(block)[first:last]))
        held[:] = block[last:]
        size = len(held)
    if size:
        yield None if size > limit else bytes(held)


def most_passed_over(part: SourcePart, limit: int) -> float:
    """Count the bytes of a record after which reading ends: a pipe or a device might never end."""
    try:
        state = os.fstat(sys.stdin.fileno()) if part.path is None else part.path.stat()
    except (OSError, ValueError, AttributeError):  # of a standard input that is none, or closed
        return math.inf
    return math.inf if stat.S_ISREG(state.st_mode) else MOST_TIMES * limit


def without_end(part: SourcePart, most: float) -> RecordError:
    """Make the error for a record of more bytes than are passed over."""
    reason = f"{too_large(int(most))}, and its end was not reached: reading stops here"
    return RecordError(f"{part.name}, last record", reason, code="record-too-large")


def is_of_excel(part: SourcePart) -> bool:
    """Tell whether a file begins as those for Excel do, or is not UTF-8."""
    head = read_beginning(part)
    return find_encoding(part, head) != ("utf-8", b"") or b"sep=" in head[:5].lower()


def with_writing(part: SourcePart, table: SourceTable) -> SourceTable:
    """Note how a file of text is written: its encoding, byte order mark and line ends."""
    head = read_beginning(part) if table.is_text else b""
    encoding, mark = find_encoding(part, head)
    newline = "\r" if _ends_with_return(head.decode(encoding, "ignore").encode()) else "\n"
    above = (codecs.BOM_UTF8 if mark else b"") + table.above
    return replace(table, encoding=encoding, newline=newline, above=above)


def _not_empty(part: SourcePart) -> Iterator[bytes]:
    stream = read_blocks(part)
    first = next(stream, None)
    if first is None:
        step = "check that it was written, and that it is the right file"
        raise part.error("is empty", step, code="file-empty")
    return chain([first], stream)


def read_ahead(part: SourcePart, is_enough: Callable[[bytes], bool]) -> tuple[bytes, SourcePart]:
    """Read as much of a source as is enough, and return it with the source to read from its start.

    Raises SourceError if it is empty, and what `read_blocks` raises.
    """
    stream = _not_empty(part)
    head, stream = read_head(stream, is_enough)
    return head, replace(part, begun=chain([head], stream))


def read_blocks(part: SourcePart) -> Iterator[bytes]:
    """Read the contents in blocks, decompressed and converted to UTF-8, with usual line ends.

    Raises SourceError if the source cannot be opened or is not compressed as its name says,
    RecordError if it ends too early or is damaged further on.
    """
    if part.begun is not None:
        yield from part.begun
        return
    yield from _clean(part, recode(part, decompress(part)))


def _clean(part: SourcePart, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Make newlines of the carriage returns of old Macs, and pass over NUL bytes at the end.

    Lines end with carriage returns if a header does, or if there are no newlines. NUL bytes behind
    the last line are room that was left by a crash, of which a notice tells; others stay.
    """

    def has_first_line(head: bytes) -> bool:
        has_end = b"\n" in head or (b"\r" in head and _LINE_END.search(head) is not None)
        return has_end or len(head) > MOST_HEAD

    first, stream = read_head(stream, has_first_line)
    is_of_mac = _ends_with_return(first) and (part.format in WITH_DELIMITER or b"\n" not in first)
    last, size = b"\n", 0
    for block in chain([first], stream):
        if is_of_mac:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        text = block.rstrip(b"\0")
        if text or size > SIZES.any_growth:  # a device might never end
            yield from _nuls(size)
            yield text
            last, size = text[-1:], 0
        size += len(block) - len(text)
    if size and (last == b"\n" or part.format in ("json", "jsonl")):
        line = f"skipping {size:,} NUL bytes after its last line (typical after a crash)"
        part.on_notice(f"{part.name}: {line}")
    else:
        yield from _nuls(size)


def _ends_with_return(text: bytes) -> bool:
    """Tell whether the first line ends with a carriage return alone, as on old Macs."""
    end = _LINE_END.search(text) if b"\r" in text else None
    return end is not None and end[0] == b"\r"


def _nuls(size: int) -> Iterator[bytes]:
    return (bytes(min(SIZES.read_block, size - at)) for at in range(0, size, SIZES.read_block))


def read_whole(part: SourcePart, most: int) -> bytes:
    """Read all bytes of a file, or raise Unusable if they are more than `most`."""
    parts, count = [], 0
    for block in read_blocks(part):
        count += len(block)
        if count > most:
            raise Unusable(too_large(most), code="record-too-large")
        parts.append(block)
    return b"".join(parts)
