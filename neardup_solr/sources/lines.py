"""Lines `id text`, or lines that are nothing but texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final

import numpy as np

from neardup_solr.errors import RecordError
from neardup_solr.records import Run
from neardup_solr.sizes import SIZES
from neardup_solr.sources.blocks import (
    blocks_of_lines,
    encode_block,
    is_worth,
    map_blocks,
    number_runs,
    read_ahead,
    split_lines,
)
from neardup_solr.sources.column import number_them
from neardup_solr.sources.document import decode_raw, make_document, make_run, unusable
from neardup_solr.sources.formats import MOST_LINES, are_enough, whole_lines
from neardup_solr.sources.part import ID, NUMBERED, TEXT, Piece, Record, SourcePart, SourceTable
from neardup_solr.sources.reading import ROW, Reading
from neardup_solr.sources.values import Unusable, decode
from neardup_solr.text.packed import make_room

MOST_OF_LINES: Final = 1_000  # that tell whether they begin with ids


def open_lines(part: SourcePart) -> SourceTable:
    """Open lines `id text`: the id goes up to the first white space, blank lines are passed over.

    If records are numbered, a line is nothing but text.
    """
    if part.reading.guess != "none" and part.reading.has_ids:
        part = _with_ids(part)
    reading = part.reading
    # Room for the id before a text that is just within the limit.
    room = reading.room(more=1024)
    return SourceTable(
        format="lines", reading=reading,
        contents=TextLines(part, blocks_of_lines(part, room), reading, room),
        is_text=True, names=(ID, TEXT) if reading.has_ids else (TEXT,),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextLines:
    """Lines of a part, in blocks of whole lines, or None for one that is longer than `room`."""

    part: SourcePart
    blocks: Iterator[bytes | None]
    reading: Reading
    room: int

    @property
    def _where(self) -> str:
        return f"{self.part.name}, line "

    def documents(self) -> Iterator[Piece]:
        """Make documents of the lines, many at once if these are alike."""
        blocks = map_blocks(self.part, self._read_run, self.blocks)
        return number_runs(blocks, partial(split_lines, limit=self.room), self._make)

    def _make(self, first: int, raws: Sequence[bytes | None]) -> Iterator[Record]:
        """Make a document of each line by itself."""
        for number, raw in enumerate(raws, first):
            yield from _of_line(f"{self._where}{number}", raw, self.reading)

    def _read_run(self, numbered: tuple[int, bytes | None]) -> Run | None:
        """Make a run of the lines in a block, None if any of them needs a closer look."""
        from neardup_solr.kernel.text_lines import NEWLINE, scan_lines

        number, block = numbered
        if block is None or len(block) > self.room or not is_worth(scan_lines, number):
            return None
        codes = encode_block(block)
        most = int(np.count_nonzero(codes == NEWLINE))
        ids, texts = make_room(len(codes), most), make_room(len(codes), most)
        count = scan_lines(
            codes, self.reading.has_ids, ids.data, ids.bounds, texts.data, texts.bounds
        )
        if count < 0:
            return None
        taken = ids.trim(count) if self.reading.has_ids else ()
        columns = [texts.trim(count)]
        return make_run(self._where, range(count), taken, columns, reading=self.reading)

    def records(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, empty ones for those that are too long."""
        lists = (split_lines(block, self.room) for block in self.blocks)
        for number, raw in enumerate(chain.from_iterable(lists), 1):
            if not _is_blank(raw, self.reading):
                yield number, raw or b""

    def record_lists(self) -> Iterator[list[bytes]]:
        """Read the lines of a block at a time."""
        for block in self.blocks:
            raws = split_lines(block, self.room)
            yield [raw or b"" for raw in raws if not _is_blank(raw, self.reading)]

    def parse(self, record: bytes) -> Sequence[str]:
        """Split a line into its id and its text."""
        text = record.decode("utf-8", self.reading.on_invalid)
        if not self.reading.has_ids:
            return [text.rstrip("\r")]
        id, *rest = id_and_text(text, self.reading)
        return [id, rest[0] if rest else ""]


def _is_blank(raw: bytes | None, reading: Reading) -> bool:
    try:
        return not decode(raw, reading).strip()
    except Unusable:
        return False


def _of_line(position: str, raw: bytes | None, reading: Reading) -> Iterator[Record]:
    """Make a document of a line, unless it is blank."""
    try:
        parts = id_and_text(decode(raw, reading), reading)
    except Unusable as problem:
        yield unusable(position, problem)
        return
    if parts:
        record = make_document(position, parts[0], "".join(parts[1:]), reading=reading)
        if type(record) is RecordError:
            record.record = decode_raw(raw)
        yield record


def id_and_text(line: str, reading: Reading) -> list[str]:
    """Split a line into id and text: nothing if it is blank, an id alone if it has no text."""
    if reading.has_ids:
        parts = line.rstrip("\r").split(None, 1)
        # Before a tab stands a column, if an empty column; blanks may only align the ids.
        return ["", line.strip()] if parts and line.startswith("\t") else parts
    return [NUMBERED, line.rstrip("\r")] if line.strip() else []


def _with_ids(part: SourcePart) -> SourcePart:
    """Tell whether lines begin with ids, in a notice. If not, they are numbered.

    Raises SourceError if they have to begin with ids.
    """
    reading = replace(part.reading, guess="none")
    is_file = part.is_file()

    def shows_ids(head: bytes) -> bool:
        most = max(SIZES.read_block, reading.room())
        return head.count(b"\n") >= MOST_LINES or len(head) > most

    head, part = read_ahead(part, shows_ids if is_file else are_enough)
    lines = whole_lines(head).decode("utf-8", "replace").split("\n")[:MOST_OF_LINES]
    if lines_have_ids(lines):
        part.on_notice(f"{part.name}: the first word of each line is its id")
        return replace(part, reading=reading)
    if part.reading.guess == "refuse":
        reason = "the first words of its lines do not look like ids"
        step = f"set `id` to id if they are{number_them(part.reading)}"
        raise part.error(reason, step, code="header-invalid")
    line = "the first words of its lines do not look like ids, so the lines are numbered from 1"
    part.on_notice(f"{part.name}: {line}")
    return replace(part, reading=replace(reading, id=ROW))


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
