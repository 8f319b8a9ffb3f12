"""Lines of a file, decompressed and converted to UTF-8 in bounded memory, and CSV and TSV."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from neardup_solr.errors import RecordError, counted
from neardup_solr.records import NOTHING
from neardup_solr.sources import magic, record
from neardup_solr.sources.record import Opened, Piece, Reading, Record, SourceTable, Unusable
from neardup_solr.variables import read_number

BLOCK: Final = 2**18
MOST_HEAD: Final = 2**22  # bytes in which a first line should end
_LINE_END: Final = re.compile(rb"\r(?!\r*(?:\n|\Z))|\n")

# What .xz may take to be decompressed: xz -9 takes 65 MiB.
XZ_MEMORY: Final = 2**27

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

# Quotes, dashes and € in cp1252; control characters, which no text has, in latin-1.
ONLY_CP1252: Final = re.compile(rb"[\x80-\x9f]")

# Encodings with byte order marks: that of UTF-32 begins with that of UTF-16.
MARKED: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be", "utf-8")

# What cannot be decoded becomes this, which is invalid UTF-8: an error of that record only.
UNDECODABLE: Final = "\udcff"
codecs.register_error("neardup_undecodable", lambda error: (UNDECODABLE, _end(error)))


def _end(error: UnicodeError) -> int:
    assert isinstance(error, UnicodeDecodeError)
    return error.end


def lists_of_lines(source: Opened, limit: int) -> Iterator[list[bytes | None]]:
    """Read lines in UTF-8 without their newlines, as many at a time as come in a block.

    None stands for a line of more than `limit` bytes. Raises as `blocks_of_lines` does.
    """
    return (split_lines(block, limit) for block in blocks_of_lines(source, limit))


def split_lines(block: bytes | None, limit: int) -> list[bytes | None]:
    """Split a block of whole lines, with None for one of more than `limit` bytes."""
    if block is None:
        return [None]
    lines: list[bytes | None] = [*block.removesuffix(b"\n").split(b"\n")]
    if limit < BLOCK:
        return [line if line is None or len(line) <= limit else None for line in lines]
    return lines


def blocks_of_lines(source: Opened, limit: int) -> Iterator[bytes | None]:
    """Read blocks of whole lines in UTF-8. The last line of all may lack its newline.

    None stands for a line that is longer than a block and than `limit` bytes, which is skipped and
    not held. Raises SourceError as `blocks` does, and if the source is empty, and RecordError for a
    line of a pipe or a device that does not end.
    """
    held, size = bytearray(), 0  # of the line that has begun
    most = most_passed_over(source, limit)
    for block in _not_empty(source):
        first, last = block.find(b"\n") + 1, block.rfind(b"\n") + 1
        size += first - 1 if first else len(block)
        if size > limit:
            held.clear()
        if not first:
            if size > most:
                raise without_end(source, most)
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


def most_passed_over(source: Opened, limit: int) -> float:
    """Count the bytes of a record after which reading ends: a pipe or a device might never end."""
    try:
        state = os.fstat(sys.stdin.fileno()) if source.path is None else source.path.stat()
    except (OSError, ValueError, AttributeError):  # of a standard input that is none, or closed
        return math.inf
    return math.inf if stat.S_ISREG(state.st_mode) else MOST_TIMES * limit


def without_end(source: Opened, most: float) -> RecordError:
    """Make the error for a record of more bytes than are passed over."""
    reason = f"{record.too_large(int(most))}, and its end was not reached: reading stops here"
    return RecordError(f"{source.name}, last record", reason)


def find_encoding(source: Opened, head: bytes) -> tuple[str, bytes]:
    """Find the encoding of a source, and the byte order mark that it begins with, if any."""
    named = source.reading.encoding
    for encoding in MARKED:
        mark = "\ufeff".encode(encoding)
        if head.startswith(mark) and (named is None or named.startswith(encoding[:6])):
            return encoding, mark
    return named or "utf-8", b""


def read_beginning(source: Opened) -> bytes:
    """Read the first bytes of a file, decompressed, and none of a pipe."""
    if source.path is None or not source.path.is_file():
        return b""

    def has_line(head: bytes) -> bool:
        return len(head) > MOST_BYTES and (b"\n" in head or b"\r" in head or len(head) > MOST_HEAD)

    with _open(source) as file:
        return _read_head(_plain(replace(source, on_progress=None), file), has_line)[0]


def is_of_excel(source: Opened) -> bool:
    """Tell whether a file begins as those for Excel do, or is not UTF-8."""
    head = read_beginning(source)
    return find_encoding(source, head) != ("utf-8", b"") or b"sep=" in head[:5].lower()


def with_writing(source: Opened, table: SourceTable) -> SourceTable:
    """Note how a file of text is written: its encoding, byte order mark and line ends."""
    head = read_beginning(source) if table.is_text else b""
    encoding, mark = find_encoding(source, head)
    newline = "\r" if _ends_with_return(head.decode(encoding, "ignore").encode()) else "\n"
    above = (codecs.BOM_UTF8 if mark else b"") + table.above
    return replace(table, encoding=encoding, newline=newline, above=above)


def _not_empty(source: Opened) -> Iterator[bytes]:
    stream = blocks(source)
    first = next(stream, None)
    if first is None:
        raise source.error("is empty", "check that it was written, and that it is the right file")
    return chain([first], stream)


def begun(source: Opened, is_enough: Callable[[bytes], bool]) -> tuple[bytes, Opened]:
    """Read as much of a source as is enough, and return it with the source to read from its start.

    Raises SourceError if it is empty, and what `blocks` raises.
    """
    stream = _not_empty(source)
    head, stream = _read_head(stream, is_enough)
    return head, replace(source, begun=chain([head], stream))


def _read_head(
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
            due = size + size // 4 if size > BLOCK else 0  # a large head is looked at seldom
    except RecordError as error:
        stream = fail(error)
    return b"".join(parts), stream


def fail(error: RecordError) -> Iterator[Any]:
    """Raise the error of a damaged source, once what stands before it was read."""
    raise error
    yield


def blocks(source: Opened) -> Iterator[bytes]:
    """Read the contents in blocks, decompressed and converted to UTF-8, with usual line ends.

    Raises SourceError if the source cannot be opened or is not compressed as its name says,
    RecordError if it ends too early or is damaged further on.
    """
    if source.begun is not None:
        yield from source.begun
        return
    with _open(source) as file:
        yield from _clean(source, _recode(source, _plain(source, file)))


@contextmanager
def _open(source: Opened) -> Iterator[BinaryIO]:
    if source.path is None and sys.stdin is None:
        raise source.error("standard input is closed", "give a file, or pipe something into it")
    try:
        with nullcontext(sys.stdin.buffer) if source.path is None else source.path.open("rb") as it:
            yield it
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise source.error(reason, "check the path and its permissions") from error


def _plain(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    """Decompress blocks, and report the number of bytes read after each.

    Raises SourceError once they are far more than what was read.
    """
    suffix = source.path.suffix.lower() if source.path else ""
    kind, decompress = DECOMPRESSORS.get(suffix, ("", _as_it_is))
    is_file, end, size = file.seekable(), f"{source.name}, at its end", 0
    most = _most_growth() if kind and is_file else 0.0
    try:
        for block in filter(None, decompress(source, file)):
            size += len(block)
            if most and size > GROWS_FROM and size > most * file.tell():
                raise source.error(
                    f"expands to more than {most:,g} times its size: possibly a decompression bomb",
                    f"to allow this, set the environment variable {MAX_GROWTH}=0",
                )
            if source.on_progress and is_file:
                source.on_progress(file.tell())
            yield block
    except EOFError as error:
        raise RecordError(end, f"the file ends too early (truncated {kind})") from error
    except (zlib.error, gzip.BadGzipFile, _Damaged) as error:
        if not size:
            step = "give it the suffix of its format, or compress it again"
            reason = f"is not {kind} despite its suffix, or is damaged ({error})"
            raise source.error(reason, step) from error
        raise RecordError(end, f"the {kind} data is damaged from here on ({error})") from error


def _most_growth() -> float:
    """Read how many times its size a source may grow when decompressed, 0 for any."""
    step = f"set it to a number, such as {USUAL_GROWTH:g}, or 0 for no limit"
    return read_number(MAX_GROWTH, USUAL_GROWTH, step, float)


class _Damaged(Exception):
    """An error of Zstandard, bzip2 or xz, for code that does not import the library."""


def _as_it_is(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    # read1 gives what a pipe has, rather than waiting for a full block.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    while block := read(BLOCK):
        yield block


def _gunzip(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    return _as_it_is(source, cast(BinaryIO, gzip.GzipFile(fileobj=file)))


def _unzstd(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    zstandard = source.require("Zstandard", "zstandard")
    return _decompress(zstandard.ZstdDecompressor().decompressobj, file, ZSTD_PIECE)


def _unbz2(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    from bz2 import BZ2Decompressor

    return _decompress(BZ2Decompressor, file, BLOCK, BLOCK)


def _unxz(source: Opened, file: BinaryIO) -> Iterator[bytes]:
    from lzma import LZMADecompressor

    return _decompress(lambda: LZMADecompressor(memlimit=XZ_MEMORY), file, BLOCK, BLOCK)


def _decompress(make: Callable[[], Any], file: BinaryIO, size: int, *most: int) -> Iterator[bytes]:
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


DECOMPRESSORS: Final[dict[str, tuple[str, Callable[[Opened, BinaryIO], Iterator[bytes]]]]] = {
    ".gz": ("gzip", _gunzip),
    ".zst": ("zstd", _unzstd),
    ".bz2": ("bzip2", _unbz2),
    ".xz": ("xz", _unxz),
}


def suffix_of(path: Path) -> str:
    """Return the suffix of a name, without that of a compression behind it."""
    name = path.name.lower()
    for suffix in DECOMPRESSORS:
        name = name.removesuffix(suffix)
    return Path(name).suffix


def _recode(source: Opened, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Make UTF-8 from the named encoding, or from that of a byte order mark, without the mark."""
    is_file = source.path is not None and source.path.is_file()
    least = magic.BEGINNING if is_file else len(codecs.BOM_UTF32)
    head, stream = _read_head(stream, lambda head: len(head) >= least)
    encoding, mark = refuse_what_is_no_text(source, head)
    stream = chain([head[len(mark) :]], stream)
    return stream if encoding == "utf-8" else _from_encoding(source, encoding, stream)


def refuse_what_is_no_text(source: Opened, head: bytes) -> tuple[str, bytes]:
    """Raise SourceError if a file is no text, or else find its encoding as `find_encoding` does."""
    encoding, mark = find_encoding(source, head)
    _refuse_kind(source, head)
    if encoding == "utf-8" and not mark:
        _refuse_unmarked(source, head)
    _refuse_binary(source, head[len(mark) :], encoding)
    return encoding, mark


def find_kind(source: Opened, head: bytes) -> magic.Kind | None:
    """Tell what a file is by its first bytes, None if it may be a text like any other."""
    path = source.path
    is_plain = path is not None and path.suffix.lower() not in DECOMPRESSORS and path.is_file()
    return magic.find_kind(head, path if is_plain else None)


def _refuse_kind(source: Opened, head: bytes) -> None:
    """Refuse what is no text, and mark-up unless it is read as such, or that is asked for."""
    kind = find_kind(source, head)
    if kind is not None and not (kind.is_text and (kind.format or source.reading.source_format)):
        raise source.error(f"is {kind.words}, not text", kind.next_step)


def _refuse_unmarked(source: Opened, head: bytes) -> None:
    """Refuse UTF-16 and UTF-32 without a byte order mark."""
    for order in MARKED[:4] if b"\0" in head[:4] else ():
        is_likely = [*map(bool, head[:4])] == [*map(bool, "aa".encode(order)[:4])]
        if is_likely and magic.is_written(head[:4_096].decode(order, "replace")):  # RFC 4627, 3
            reason = f"is {order[:6].upper()} without a byte order mark"
            raise source.error(reason, f"it appears to be {order}: set `encoding` to {order}")


def _refuse_binary(source: Opened, head: bytes, encoding: str) -> None:
    """Refuse what is no text in any encoding, unless what is lost is to be replaced."""
    if source.reading.lossy:
        return
    if "\n".encode(encoding) == b"\n":
        is_odd = magic.is_binary(head)
    else:
        try:
            text = head[: magic.BEGINNING].decode(encoding, "replace")
        except UnicodeError:  # of a codec that replaces nothing: whoever reads on tells
            return
        is_wide = len(" ".encode(encoding)) > 1
        is_odd = magic.is_binary(text.encode("utf-8", "replace"))
        is_odd = is_odd or (is_wide and not magic.is_written(text))
    if is_odd:
        reason = "is not text: it has NUL bytes or other control characters"
        raise source.error(reason, "give the text that it was made from, or leave it out")


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
        name = (source.reading.encoding or encoding[:6]).upper()
        if is_first:
            step = "check `encoding`: files from Excel usually use cp1252"
            raise source.error(f"is not {name} ({error})", step) from error
        reason = f"the file ends too early (half a {name} character)"
        raise RecordError(f"{source.name}, at its end", reason) from error


def _clean(source: Opened, stream: Iterator[bytes]) -> Iterator[bytes]:
    """Make newlines of the carriage returns of old Macs, and pass over NUL bytes at the end.

    Lines end with carriage returns if a header does, or if there are no newlines. NUL bytes behind
    the last line are room that was left by a crash, of which a notice tells; others stay.
    """

    def has_first_line(head: bytes) -> bool:
        has_end = b"\n" in head or (b"\r" in head and _LINE_END.search(head) is not None)
        return has_end or len(head) > MOST_HEAD

    first, stream = _read_head(stream, has_first_line)
    is_of_mac = _ends_with_return(first) and (source.format in WITH_DELIMITER or b"\n" not in first)
    last, size = b"\n", 0
    for block in chain([first], stream):
        if is_of_mac:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        text = block.rstrip(b"\0")
        if text or size > GROWS_FROM:  # a device might never end
            yield from _nuls(size)
            yield text
            last, size = text[-1:], 0
        size += len(block) - len(text)
    if size and (last == b"\n" or source.format in ("json", "jsonl")):
        line = f"skipping {size:,} NUL bytes after its last line (typical after a crash)"
        source.on_notice(f"{source.name}: {line}")
    else:
        yield from _nuls(size)


def _ends_with_return(text: bytes) -> bool:
    """Tell whether the first line ends with a carriage return alone, as on old Macs."""
    end = _LINE_END.search(text) if b"\r" in text else None
    return end is not None and end[0] == b"\r"


def _nuls(size: int) -> Iterator[bytes]:
    return (bytes(min(BLOCK, size - at)) for at in range(0, size, BLOCK))


def _latin(source: Opened, stream: Iterable[bytes]) -> Iterator[bytes]:
    """Pass blocks of latin-1 on, with a notice if they look like cp1252."""
    is_told = False
    for block in stream:
        if not is_told and ONLY_CP1252.search(block):
            is_told = True
            line = "this looks like cp1252: characters such as € would be lost"
            source.on_notice(f"{source.name}: {line}; set its encoding to cp1252")
        yield block


# The csv module holds a quoted field at four bytes a character, and a quote that is never closed
# makes a field of the rest of the file. Longer texts can be given as JSONL or Parquet.
MAX_QUOTED_BYTES: Final = 2**25

WITH_DELIMITER: Final = ("csv", "tsv")
DELIMITERS: Final = (",", ";", "\t", "|")  # that are recognized without being named

# The first lines tell the format of standard input, and if lines have ids.
MOST_LINES: Final = 5
MOST_OF_LINES: Final = 1_000  # that tell whether they begin with ids
MOST_BYTES: Final = 2**16
# A line above the header by which Excel knows the delimiter.
SEPARATOR: Final = re.compile(r'"?sep=([^"\r\n])[",;\t| \r]*', re.IGNORECASE)

BLANK: Final = (b"", b"\r")

Row = list[str] | Unusable
Tidy = Callable[[str], str]


def open_lines(source: Opened) -> SourceTable:
    """Open lines `id text`: the id goes up to the first white space, blank lines are passed over.

    If records are numbered, a line is nothing but text.
    """
    if source.reading.guess != "none" and source.reading.has_ids:
        source = _with_ids(source)
    reading = source.reading
    where = f"{source.name}, line "
    # Room for the id before a text that is just within the limit.
    lists = lists_of_lines(source, reading.max_doc_bytes + 1024)

    def documents() -> Iterator[Piece]:
        first = 1
        for raws in lists:
            numbers = range(first, first + len(raws))
            first += len(raws)
            rows = [id_and_text(line, reading) for line in _texts(raws)]
            if set(map(len, rows)) == {2}:
                ids, texts = zip(*rows, strict=True)
                ids = ids if reading.has_ids else ()
                if piece := record.run(where, numbers, ids, texts, reading=reading):
                    yield piece
                    continue
            for number, raw in zip(numbers, raws, strict=True):
                yield from _of_line(f"{where}{number}", raw, reading)

    def parse(line: bytes) -> Sequence[str]:
        text = line.decode("utf-8", reading.on_invalid)
        if not reading.has_ids:
            return [text.rstrip("\r")]
        id, *rest = id_and_text(text, reading)
        return [id, rest[0] if rest else ""]

    return SourceTable(
        format="lines",
        reading=reading,
        documents=documents,
        records=(
            (number, raw or b"")
            for number, raw in enumerate(chain.from_iterable(lists), 1)
            if not _is_blank(raw, reading)
        ),
        parse=parse,
        is_text=True,
        names=(record.ID, record.TEXT) if reading.has_ids else (record.TEXT,),
    )


def _texts(raws: Sequence[bytes | None]) -> list[str]:
    """Decode lines, or none if any is too long or not UTF-8."""
    written = _join(raws)
    try:
        return [] if written is None or b"\0" in written else written.decode().split("\n")
    except UnicodeDecodeError:
        return []


def _is_blank(raw: bytes | None, reading: Reading) -> bool:
    try:
        return not record.decode(raw, reading).strip()
    except Unusable:
        return False


def _of_line(position: str, raw: bytes | None, reading: Reading) -> Iterator[Record]:
    """Make a document of a line, unless it is blank."""
    try:
        parts = id_and_text(record.decode(raw, reading), reading)
    except Unusable as problem:
        yield record.unusable(position, problem)
        return
    if parts:
        made = record.record(position, parts[0], "".join(parts[1:]), reading=reading)
        if type(made) is RecordError:
            made.record = record.decode_raw(raw)
        yield made


def id_and_text(line: str, reading: Reading) -> list[str]:
    """Split a line into id and text: nothing if it is blank, an id alone if it has no text."""
    if reading.has_ids:
        parts = line.rstrip("\r").split(None, 1)
        # Before a tab stands a column, if an empty column; blanks may only align the ids.
        return ["", line.strip()] if parts and line.startswith("\t") else parts
    return [record.NUMBERED, line.rstrip("\r")] if line.strip() else []


def _with_ids(source: Opened) -> Opened:
    """Tell whether lines begin with ids, in a notice. If not, they are numbered.

    Raises SourceError if they have to begin with ids.
    """
    reading = replace(source.reading, guess="none")
    is_file = source.path is not None and source.path.is_file()

    def shows_ids(head: bytes) -> bool:
        return head.count(b"\n") >= MOST_LINES or len(head) > max(BLOCK, reading.max_doc_bytes)

    head, source = begun(source, shows_ids if is_file else are_enough)
    lines = _whole_lines(head).decode("utf-8", "replace").split("\n")[:MOST_OF_LINES]
    if lines_have_ids(lines):
        source.on_notice(f"{source.name}: the first word of each line is its id")
        return replace(source, reading=reading)
    if source.reading.guess == "refuse":
        reason = "the first words of its lines do not look like ids"
        step = f"set `id` to id if they are{record.number_them(source.reading)}"
        raise source.error(reason, step)
    line = "the first words of its lines do not look like ids, so the lines are numbered from 1"
    source.on_notice(f"{source.name}: {line}")
    return replace(source, reading=replace(reading, id=record.ROW))


def lines_have_ids(lines: Iterable[str]) -> bool:
    """Tell whether the first words of lines look like ids.

    No two are the same, and a tab follows each, or each has a digit.
    """
    lines = [line.strip() for line in lines if line.strip()]
    words = [line.split(None, 1)[0] for line in lines]
    if len(set(words)) < len(words):
        return False
    has_tabs = all(line.startswith(f"{word}\t") for line, word in zip(lines, words, strict=True))
    return has_tabs or all(any(map(str.isdigit, word)) for word in words)


def open_csv(source: Opened) -> SourceTable:
    """Open values separated by commas, or by tabs, with a header.

    A quoted field may hold commas and newlines. TSV is quoted as spreadsheets do, or not at all.
    """
    _allow_long_fields()
    reading = source.reading
    feed = _Feed(lists_of_lines(source, reading.max_doc_bytes + 64 * 1024))
    above, sep = _pass_over(source, feed)
    delimiter = sep or choose_delimiter(source, feed.held[0] if feed.held else None)
    feed.tidy = _choose_tidy(source, _texts(feed.held[: 1 + record.ROWS_BELOW]), delimiter)
    header, size = _row(feed, 0, delimiter, reading) if feed.held else ([], 0)
    if isinstance(header, Unusable):
        step = "check `encoding` and `source_format`"
        step = record.step_for([record.unusable("", header)], step)
        raise source.error(f"its header cannot be read: {header}", step)
    head = _join(feed.held[:size]) or b""
    feed.drop(size)
    for each in (reading.delimiter,) if reading.delimiter else DELIMITERS:
        below = _texts(feed.held[: record.ROWS_BELOW])
        lines_above = feed.number - 1 - (sep is not None)
        rows = enumerate((fields(line, each) for line in below), lines_above)
        record.check_header(source, header, rows)
    width, where = len(header), f"{source.name}, line "
    reading = record.choose_id(source, header, reading)

    def fit(row: Any, raw: bytes) -> Any:
        """Make a row as wide as the header by quotes behind backslashes, or by empty cells."""
        if isinstance(row, Unusable) or len(row) == width:
            return row
        text = raw.decode("utf-8", "replace") if b'"' in raw else ""
        mended = [fields(text, delimiter)] if text and "\n" not in text else []
        mended += [fields(_double_quotes(text), delimiter)] if '\\"' in text else []
        row = next((each for each in mended if len(each) == width), row)
        is_odd = len(row) < len(record.strip_end(header)) or any(row[width:])
        return row if is_odd else [*row, *[""] * width][:width]

    def documents() -> Iterator[Piece]:
        columns = record.find_columns(source, header, reading)
        for block in _blocks(source, feed, header, delimiter):
            rows, is_even = block.rows, _are_even(block.rows, width)
            if not is_even:
                rows = list(map(fit, rows, block.raws()))
                is_even = _are_even(rows, width)
            if is_even and reading.is_in_runs:
                ids = [] if columns.id is None else [row[columns.id] for row in rows]
                texts = [row[columns.text[0]] for row in rows]
                if piece := record.run(where, block.numbers, ids, texts, reading=reading):
                    yield piece
                    continue
            for number, row in zip(block.numbers, rows, strict=True):
                yield _of_row(f"{where}{number}", row, columns, reading, delimiter)

    def records() -> Iterator[tuple[int, bytes]]:
        for block in _blocks(source, feed, header, delimiter):
            for number, row, raw in zip(block.numbers, block.rows, block.raws(), strict=True):
                if (fitting := fit(row, raw)) is not row:
                    raw = csv_line(fitting, delimiter).encode() + raw[len(raw.rstrip(b"\r")) :]
                yield number, raw

    def parse(raw: bytes) -> list[str]:
        lines = _Feed([raw.split(b"\n")], feed.tidy)
        row: Row = _row(lines, 0, delimiter, reading)[0] if lines.has(0) else []
        if isinstance(row, Unusable):
            raise row
        return row

    return SourceTable(
        format=source.format or "csv",
        reading=reading,
        documents=documents,
        records=records(),
        parse=parse,
        is_text=True,
        above=above,
        head=head,
        delimiter=delimiter,
        names=header,
    )


def _allow_long_fields() -> None:
    """Raise the limit of a field, which holds for the whole process: no other reader fails."""
    csv.field_size_limit(max(csv.field_size_limit(), MAX_QUOTED_BYTES))


def _are_even(rows: Sequence[Any], width: int) -> bool:
    """Tell whether these are several rows, each with as many fields."""
    return len(rows) > 1 and set(map(len, rows)) == {width}


class _Feed:
    """Lines that are read as far as rows need them: `number` is that of the first that is held."""

    def __init__(self, lists: Iterable[Sequence[bytes | None]], tidy: Tidy = str) -> None:
        self._lists = iter(lists)
        self.tidy = tidy  # makes double quotes next to the delimiters of what stands there
        self.held: list[bytes | None] = []
        self.number = 1

    def has(self, at: int) -> bool:
        """Tell whether line `at` can be read, counted from the first that is held."""
        while at >= len(self.held) and (more := next(self._lists, None)):
            self.held += more
        return at < len(self.held)

    def drop(self, count: int) -> None:
        """Let the first lines go."""
        del self.held[:count]
        self.number += count


class _Block(NamedTuple):
    """Rows, and the lines that they are written in: row n begins in line `begins[n]` of them."""

    number: int  # of the first line
    lines: list[bytes | None]
    begins: Sequence[int]
    rows: Sequence[Any]

    @property
    def numbers(self) -> list[int]:
        """The number of the line in which each row begins."""
        return [self.number + at for at in self.begins]

    def raws(self) -> Iterator[bytes]:
        """Yield each row as it is written, empty if it is too long, without blank lines behind."""
        for begin, end in pairwise([*self.begins, len(self.lines)]):
            while self.lines[end - 1] in BLANK and end > begin + 1:
                end -= 1
            yield _join(self.lines[begin:end]) or b""


def _without_blanks(delimiter: str, text: str) -> str:
    """Write quotes next to the delimiters, where blanks stand between."""
    if '"' not in text:
        return text
    blanks, mark = "[ \xa0]+" if delimiter == "\t" else "[ \t\xa0]+", re.escape(delimiter)
    text = re.sub(f'(^|{mark}){blanks}(?=")', r"\1", text)
    return re.sub(f'(?<="){blanks}(?={mark}|\r?$)', "", text)


def _with_double_quotes(quotes: str, delimiter: str, text: str) -> str:
    """Write fields in other quotes, as these are at both ends of a field, in double quotes."""
    begin, end, mark = quotes[0], quotes[-1], re.escape(delimiter)
    text = re.sub(f"(^|{mark})[ \xa0]*{begin}", "\\1\0", text.replace('"', '""'))
    text = re.sub(f"{end}[ \xa0]*(?={mark}|\r?$)", "\0", text)
    return (
        text.replace(2 * end, end).replace("\0", '"') if begin == end else text.replace("\0", '"')
    )


QUOTES: Final = {"'": "single quotes", "“”": "curly quotes", "«»": "guillemets", "„“": "quotes"}


def _choose_tidy(source: Opened, texts: Sequence[str], delimiter: str) -> Tidy:
    """Choose how quotes are made usual, if more of the first rows are as wide as the header then.

    Blanks may stand beside quotes; all quotes may be single or curly ones.
    """
    tidies: dict[str, Tidy] = {"": str}
    if any(re.search(f'(?:^|{re.escape(delimiter)})[ \t\xa0]+"', text) for text in texts):
        tidies["blanks"] = partial(_without_blanks, delimiter)
    for quotes, name in QUOTES.items():
        if sum(f"{delimiter}{quotes[0]}" in text.replace(" ", "") for text in texts) > 1:
            tidies[name] = partial(_with_double_quotes, quotes, delimiter)
    if len(tidies) == 1:
        return str
    counts = {name: _count_even(map(tidy, texts), delimiter) for name, tidy in tidies.items()}
    best = max(counts, key=lambda name: counts[name])
    if best and best != "blanks":
        source.on_notice(f"{source.name}: its fields are in {best}, and are read that way")
    return tidies[best]


def _count_even(texts: Iterable[str], delimiter: str) -> float:
    """Count the rows with as many fields as the first, as a share. The last may be cut off.

    Less than any share if they cannot be parsed, as with a lone carriage return.
    """
    parsed = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter)
    try:
        rows = [row for row in parsed if row]
    except csv.Error:
        return -1.0
    even = sum(len(record.strip_end(row)) == len(record.strip_end(rows[0])) for row in rows[1:])
    has_marks = sum(cell.strip()[:1] in "\"'“„«" for row in rows for cell in row if cell.strip())
    return even / max(1, len(rows) - 1) - has_marks / 10_000


def _plain_names(row: Sequence[str]) -> list[str]:
    """List the names of a header for comparison, without empty ones at its end."""
    return [name.strip('\ufeff" ').casefold() for name in record.strip_end(row)]


def _double_quotes(text: str) -> str:
    """Write quotes after a backslash as CSV has them."""
    return re.sub(r'\\[\\"]', lambda pair: pair[0].replace(r"\"", '""'), text)


def csv_line(cells: Iterable[object], delimiter: str = ",") -> str:
    """Write a row of CSV, without the end of its line."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter).writerow(cells)
    return line.getvalue().removesuffix("\r\n")


def _pass_over(source: Opened, feed: _Feed) -> tuple[bytes, str | None]:
    """Pass over the line sep= of Excel, titles, and blank lines, which are returned.

    Also returns the delimiter, if the first line names one.
    """
    count, delimiter = source.reading.skip_rows, None
    first = (feed.held[0] or b"").decode("utf-8", "replace") if feed.has(0) else ""
    if line := SEPARATOR.fullmatch(first):
        count, delimiter = count + 1, source.reading.delimiter or line[1]
    while feed.has(count) and feed.held[count] in BLANK:
        count += 1
    comments = count
    while feed.has(comments) and (feed.held[comments] or b"").startswith((b"#", b"\r")):
        comments += 1
    names = (feed.held[comments] or b"").decode("utf-8", "replace") if feed.has(comments) else ""
    of_first = (feed.held[count] or b"").decode("utf-8", "replace") if feed.has(count) else ""
    if comments > count and _has_header(names, source) and not _has_header(of_first, source):
        lines = counted(comments - count, "line")
        source.on_notice(f"{source.name}: skipping {lines} that begin with # above the header")
        count = comments
    above = b"".join((line or b"") + b"\n" for line in feed.held[:count])
    feed.drop(count)
    return above, delimiter


def _has_header(line: str, source: Opened) -> bool:
    """Tell whether a line has the names of the columns that are needed, by a usual delimiter."""
    delimiters = (source.reading.delimiter, *DELIMITERS)
    return any(
        record.has_columns(fields(line, each), source.reading) for each in delimiters if each
    )


def _blocks(source: Opened, feed: _Feed, header: Sequence[str], delimiter: str) -> Iterator[_Block]:
    """Read rows but those that repeat the header, as in files that were joined: a notice tells.

    Raises SourceError if its columns are in another order there.
    """
    names, repeated = _plain_names(header), list[int]()
    cases = {case(name) for name in header for case in (str, str.lower, str.upper, str.title)}
    firsts = {mark + name for name in cases for mark in ("", "\ufeff", '\ufeff"')}
    for block in _all_blocks(feed, source.reading, delimiter):
        rows, lines = block.rows, block.lines
        if isinstance(rows[0], list) and not firsts.isdisjoint([row[0] for row in rows]):
            for at, row in zip(block.begins, map(_plain_names, rows), strict=True):
                if row == names:
                    lines[at] = b""
                    repeated.append(block.number + at)
                elif sorted(row) == sorted(names):
                    reason = f"line {block.number + at} repeats its header in a different order"
                    raise source.error(reason, "give the original files instead")
            keeps = [lines[begin] for begin in block.begins]
            begins, rows = [*compress(block.begins, keeps)], [*compress(rows, keeps)]
            block = block._replace(begins=begins, rows=rows)
        yield block
    if repeated:
        joined = f"repeated in line {record.shown(repeated)}, as in files that were joined"
        source.on_notice(f"{source.name}: the header is {joined}")


def _all_blocks(feed: _Feed, reading: Reading, delimiter: str) -> Iterator[_Block]:
    """Read rows, as many as are at hand, or a single row if any of these is odd."""
    while feed.has(0):
        end = len(feed.held)
        texts = _texts(feed.held)
        texts = texts if feed.tidy is str else [*map(feed.tidy, texts)]
        begins, rows, at = _split(texts, delimiter)
        if rows:
            yield _Block(feed.number, feed.held[:at], begins, rows)
        # A row that goes on in the next block, or what a stray quote would swallow.
        while at < end:
            size = 1
            if feed.held[at] not in BLANK:
                row, size = _row(feed, at, delimiter, reading)
                yield _Block(feed.number + at, feed.held[at : at + size], [0], [row])
            at += size
        feed.drop(at)


def _split(texts: Sequence[str], delimiter: str) -> tuple[list[int], list[list[str]], int]:
    """Split lines into rows up to one that is odd, or not whole.

    Returns the places where the rows begin, the rows, and the number of their lines.
    """
    if not any('"' in text for text in texts):
        begins = [at for at, text in enumerate(texts) if text not in ("", "\r")]
        return begins, [texts[at].rstrip("\r").split(delimiter) for at in begins], len(texts)
    rows, begins, line = [], [], 0
    if delimiter != "\t":  # in which a quote may be a character like others
        reader = csv.reader((f"{text}\n" for text in texts), delimiter=delimiter, strict=True)
        with suppress(csv.Error):
            for row in reader:
                if row:  # not of a blank line
                    rows.append(row)
                    begins.append(line)
                line = reader.line_num
    return begins, rows, line


def _row(feed: _Feed, at: int, delimiter: str, reading: Reading) -> tuple[Row, int]:
    """Read the row that begins at a line, or why it cannot be read, and count its lines."""
    row: Row | None = None
    size = 1
    if b'"' in (feed.held[at] or b"") or feed.tidy is not str:
        row, size = _quoted_row(feed, at, delimiter, reading)
    if isinstance(row, Unusable) and delimiter != "\t":
        return row, 1
    # Many write quotes into TSV as they are: lines between two of them only look like one row.
    if isinstance(row, Unusable) or (
        row and delimiter == "\t" and size > 1 and "\t" in "".join(row)
    ):
        row, size = None, 1
    try:
        text = record.decode(_join(feed.held[at : at + size]), reading)
    except Unusable as problem:
        return problem, size
    return text.rstrip("\r").split(delimiter) if row is None else row, size


def _quoted_row(feed: _Feed, at: int, delimiter: str, reading: Reading) -> tuple[Row, int]:
    """Read a row with quotes in quotes as CSV has them, or else behind a backslash."""
    problem = None
    for mend in (str, _double_quotes):
        lines = map(mend, _continue_row(feed, at, reading))
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            return next(reader), reader.line_num
        except csv.Error as error:
            fault = "never closed" if "end of data" in str(error) else "not doubled within quotes"
            problem = problem or Unusable(f"malformed quoting (a quote is {fault})", feed.held[at])
        except Unusable as error:
            problem = problem or error
        if not any(rb"\"" in (line or b"") for line in feed.held[at : at + reader.line_num]):
            break
    assert problem
    return problem, 1


def _continue_row(feed: _Feed, at: int, reading: Reading) -> Iterator[str]:
    """Yield the lines of a quoted row, as many as the csv module asks for."""
    on_invalid = "replace" if reading.lossy else "surrogateescape"
    first, size = at, 0
    while feed.has(at):
        raw = feed.held[at] or b""
        # Each line that is held costs its objects, too: many short ones must not add up.
        size += len(raw) + 100
        if size > MAX_QUOTED_BYTES:
            reason = record.too_large(MAX_QUOTED_BYTES)
            reason += " in quotes, or a quote that is never closed"
            raise Unusable(reason, feed.held[first])
        yield feed.tidy(raw.decode("utf-8", on_invalid)) + "\n"
        at += 1


def _join(lines: Sequence[bytes | None]) -> bytes | None:
    """Join the lines of a row as they are written, or None if any was too long to be held."""
    return None if None in lines else b"\n".join(cast("Sequence[bytes]", lines))


def _of_row(
    position: str, row: Row, columns: record.Columns, reading: Reading, delimiter: str
) -> Record:
    if isinstance(row, Unusable):
        return record.unusable(position, row)
    if len(row) == len(columns.names):
        texts = tuple(row[at] for at in columns.text)
        text = texts if len(texts) > 1 else texts[0]
        kept = {name: row[at] for name, at in columns.keep if row[at]} if columns.keep else NOTHING
        made = record.record(position, columns.id_of(row), text, reading=reading, kept=kept)
        if type(made) is RecordError:
            made.record = record.as_columns(columns.names, row)
        return made
    reason = f"{counted(len(row), 'field')}, but the header has {len(columns.names)}"
    reason += ", and line endings are mixed" if any("\r" in cell for cell in row) else ""
    return RecordError(position, reason, record=record.decode_raw(csv_line(row, delimiter)))


def choose_delimiter(source: Opened, first: bytes | None) -> str:
    """Choose what separates the columns: the usual, unless only another makes them fit.

    Raises SourceError if what makes them fit is not the named one, or seldom a delimiter.
    """
    reading, named = source.reading, source.reading.delimiter
    usual: str = named or ("\t" if source.format == "tsv" else ",")
    header = (first or b"").decode("utf-8", "replace").rstrip("\r")
    names = fields(header, usual)
    others = [each for each in DELIMITERS if each != usual and len(fields(header, each)) > 1]
    odd: dict[str, None] = dict.fromkeys([*others, *re.findall(r"[^\w \"'.,;\t|-]", header)])
    fitting = [each for each in odd if record.has_columns(fields(header, each), reading)]
    if record.has_columns(names, reading) or len(fitting or others) != 1:
        return usual
    if not fitting:
        return others[0] if len(names) == 1 and not named else usual  # the error shows the columns
    line = f"its columns are separated by {fitting[0]!r}"
    if named or fitting[0] not in DELIMITERS:
        raise source.error(line, f"set `delimiter` to {fitting[0]}")
    source.on_notice(f"{source.name}: {line}, and are read that way")
    return fitting[0]


def fields(line: str, delimiter: str) -> list[str]:
    """Split a line of a table."""
    line = _without_blanks(delimiter, line)
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def are_enough(head: bytes) -> bool:
    """Tell whether these bytes show the format. If someone types, the answer should come soon."""
    lines = _first_lines(head[: head.rfind(b"\n") + 1])
    if len(lines) >= MOST_LINES or len(head) > MOST_HEAD:
        return True
    if len(lines) > 1 and len(head) >= MOST_BYTES:
        return True
    return bool(lines) and (_is_json(head) or _is_plain(lines[0]))


def _whole_lines(head: bytes) -> bytes:
    """Take the lines of a large beginning that are not cut off, or the first one as it is."""
    return head[: head.rfind(b"\n") + 1] or head if len(head) >= MOST_BYTES else head


def recognize(source: Opened) -> Opened:
    """Recognize the format of standard input by its first lines, which a notice tells.

    Raises SourceError if it looks like a table without the columns that are needed.
    """
    head, source = begun(source, are_enough)
    reading, lines = source.reading, _first_lines(_whole_lines(head)) or [""]
    fitting = [each for each in DELIMITERS if record.has_columns(fields(lines[0], each), reading)]
    kind = magic.find_kind(head)
    if kind is not None and kind.format and kind.is_text:
        source.on_notice(f"{source.name} looks like {kind.words} and is read as such")
        return replace(source, format=kind.format)
    if _is_json(head):
        format = "json"
    elif reading.delimiter or reading.skip_rows or SEPARATOR.fullmatch(lines[0]):
        return replace(source, format="csv")
    elif len(fitting) == 1:
        format = "tsv" if fitting[0] == "\t" else "csv"
        source = replace(source, reading=replace(reading, delimiter=fitting[0]))
    else:
        _refuse_table(source, lines)
        return replace(source, format="lines")
    if reading.delimiter is None:
        name = format.upper()
        source.on_notice(f"{source.name} looks like {name} and is read as such")
    return replace(source, format=format)


def find_delimiter(source: Opened, head: bytes) -> str | None:
    """Find what separates the columns if the first line of a text has the names that are needed."""
    text = magic.decode_beginning(head) or ""
    first = text.partition("\n")[0].rstrip("\r")
    reading = replace(source.reading, guess="none")
    fitting = [each for each in DELIMITERS if record.has_columns(fields(first, each), reading)]
    return fitting[0] if len(fitting) == 1 and reading.has_ids else None


def _refuse_table(source: Opened, lines: Sequence[str]) -> None:
    """Raise SourceError if lines look like a table: its columns are not those that are needed."""
    reading = source.reading
    likely = next((each for each in DELIMITERS if _is_table(lines, each)), None)
    if likely:
        columns = record.shown(fields(lines[0], likely))
        missing = " or ".join(map(repr, (reading.id, *reading.text)))
        reason = f"looks like a table with the columns {columns}, without {missing}"
        step = "if each line holds an id and a text, set `source_format` to lines"
        raise source.error(reason, f"name the right columns with `id` and `text`; {step}")


def _first_lines(head: bytes) -> list[str]:
    lines = head.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][:MOST_LINES]


def _is_json(head: bytes) -> bool:
    squeezed = b"".join(head[:1_000].split())
    return squeezed.startswith((b'{"', b"[{", b"[]", b"{}"))


def _is_plain(line: str) -> bool:
    """Tell whether a line begins with an id and a blank, and is no header of a table."""
    first = line.split(None, 1)[0]
    return first != line.rstrip() and "\t" not in line and not any(map(first.count, DELIMITERS))


def _is_table(lines: Sequence[str], delimiter: str) -> bool:
    """Tell whether all lines have as many fields, and the first has names without blanks.

    Two fields with a tab between them are an id and a text, not a table.
    """
    _allow_long_fields()
    rows = list(csv.reader((f"{line}\n" for line in lines), delimiter=delimiter))
    is_open = delimiter != "\t" and "".join(lines).count('"') % 2 == 1  # a field goes on
    counts = {len(row) for row in (rows[:-1] if is_open else rows)}
    least = 3 if delimiter == "\t" else 2
    words = fields(lines[0], delimiter)
    return (
        len(rows) > 1
        and len(counts) == 1
        and min(counts) >= least
        and not any(" " in word for word in words)
    )
