"""The first records of a source, most of which have to be usable."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from neardup_solr.errors import RecordError
from neardup_solr.records import Document, Run, characters
from neardup_solr.sources.part import SourcePart
from neardup_solr.sources.record_errors import describe_error, step_for
from neardup_solr.sources.table import Piece
from neardup_solr.text.packed import size_of

# What is read first, to see whether the source is of that format at all.
FIRST_RECORDS: Final = 1_000
FIRST_CHARACTERS: Final = 2**24


def notice_if_none(part: SourcePart, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Pass the records on, with a notice if none comes at all."""
    is_empty = True
    for piece in pieces:
        is_empty = False
        yield piece
    if is_empty:
        part.on_notice(f"{part.name} contains no records")


def require_most(part: SourcePart, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError if most of the first are bad."""
    first: deque[Piece] = deque()
    records = size = 0
    for piece in pieces:
        first.append(piece)
        records += len(piece) if isinstance(piece, Run) else 1
        size += _count_characters(piece)
        if records >= FIRST_RECORDS or size > FIRST_CHARACTERS:
            break
    bad = [piece for piece in first if isinstance(piece, RecordError)]
    if 2 * len(bad) > records:
        reason = f"{len(bad)} of the first {records} records cannot be used, the first being "
        step = step_for(bad, step)
        raise part.error(reason + describe_error(bad[0]), step)
    while first:  # each is let go at once, for they may be large
        yield first.popleft()
    yield from pieces


def _count_characters(piece: Piece) -> int:
    if isinstance(piece, RecordError):
        return characters(piece.record)
    return len(piece.text) if isinstance(piece, Document) else size_of(piece.texts)


def require_some(part: SourcePart, pieces: Iterator[Piece], step: str) -> Iterator[Piece]:
    """Pass the records on, but raise SourceError at the end if none of them can be used."""
    first, count = None, 0
    for piece in pieces:
        yield piece
        if not isinstance(piece, RecordError):
            yield from pieces
            return
        first, count = first or piece, count + 1
    if first is not None:
        reason = f"none of its {count:,} records can be used, the first being "
        raise part.error(reason + describe_error(first), step)
