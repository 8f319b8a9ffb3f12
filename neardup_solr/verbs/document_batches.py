"""Batches of the documents of a source, which are signed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.errors import RecordError
from neardup_solr.progress import Failures
from neardup_solr.records import NOTHING, Document, Number, Run, list_rows
from neardup_solr.sources.part import Piece
from neardup_solr.text.packed import size_of

AT_ONCE = 20_000  # documents that are signed at once, about
SIGNED = 1 << 23  # characters of their texts


@dataclass(slots=True, kw_only=True)
class DocumentBatch:
    """Documents that are signed at once, column by column, in parts.

    Their kept values are a mapping a document in a part of single ones, or a mapping of columns.
    """

    ids: list[Sequence[str]] = field(default_factory=list)
    are_numbers: bytearray = field(default_factory=bytearray)
    texts: list[Sequence[str]] = field(default_factory=list)
    kept: list[list[Mapping[str, Any]] | Mapping[str, Sequence[Any]]] = field(default_factory=list)
    _open: tuple[list[Any], ...] | None = None  # the last part, if more may come to it

    def __len__(self) -> int:
        return len(self.are_numbers)

    def add(self, piece: Document | Run) -> int:
        """Add what follows, and return the number of its characters."""
        if isinstance(piece, Run):
            self.are_numbers += bytes([piece.are_numbers]) * len(piece)
            self._add_part(piece.ids, piece.texts, piece.kept)
            self._open = None
            return size_of(piece.texts)
        self.are_numbers.append(type(piece.id) is Number)
        if self._open is None:
            self._open = [], [], []
            self._add_part(*self._open)
        for part, value in zip(self._open, (piece.id, piece.text, piece.kept), strict=True):
            part.append(value)
        return len(piece.text)

    def _add_part(self, ids: Sequence[str], texts: Sequence[str], kept: Any) -> None:
        self.ids.append(ids)
        self.texts.append(texts)
        self.kept.append(kept)

    def values(self, name: str) -> list[Any]:
        """List the kept values of a column, None for each document that lacks it."""
        values: list[Any] = []
        for ids, kept in zip(self.ids, self.kept, strict=True):
            if isinstance(kept, list):
                values += [row.get(name) for row in kept]
            else:
                values += kept[name] if name in kept else [None] * len(ids)
        return values

    def list_kept(self) -> list[Mapping[str, Any]]:
        """List the kept values of each document by name, or nothing if none has any."""
        rows: list[Mapping[str, Any]] = []
        for ids, kept in zip(self.ids, self.kept, strict=True):
            rows += kept if isinstance(kept, list) else list_rows(kept) or [NOTHING] * len(ids)
        return rows if any(rows) else []


def cut_runs(pieces: Iterable[Piece], documents: int) -> Iterator[Piece]:
    """Cut runs so that batches of so many documents can be made of what they are cut to."""
    count = 0
    for piece in pieces:
        if not isinstance(piece, Run):
            count += isinstance(piece, Document)
            yield piece
            continue
        first = 0
        while first < len(piece):
            last = min(len(piece), first + documents - count % documents)
            yield piece.part(first, last)
            count += last - first
            first = last


def make_batches(
    pieces: Iterable[Piece], failures: Failures, are_documents: bytearray | None = None, *,
    most: int = AT_ONCE, most_text: float = SIGNED,
) -> Iterator[DocumentBatch]:  # fmt: skip
    """Collect documents to batches, and note which records make none.

    A batch ends with the piece by which it has so many documents, or more text.
    """
    batch, characters = DocumentBatch(), 0
    for piece in pieces:
        if isinstance(piece, RecordError):
            if are_documents is not None:
                are_documents.append(0)
            failures.add(piece)
            continue
        size = len(piece) if isinstance(piece, Run) else 1
        if are_documents is not None:
            are_documents.extend(b"\1" * size)
        characters += batch.add(piece)
        if len(batch) >= most or characters > most_text:
            yield batch
            batch, characters = DocumentBatch(), 0
    if len(batch):
        yield batch
