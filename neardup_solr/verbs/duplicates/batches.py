"""Batches of the documents of a source, which are read, signed and kept at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.cores import count_cores
from neardup_solr.errors import RecordError
from neardup_solr.measures import Flat
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.progress import Failures
from neardup_solr.records import Document, Number, Run
from neardup_solr.settings import Settings
from neardup_solr.sources.part import Piece
from neardup_solr.text.packed import size_of
from neardup_solr.verbs.duplicates.parts import AT_ONCE

SIGNED = 1 << 23  # characters of texts that are signed at once, about
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one


@dataclass(slots=True, kw_only=True)
class DocumentBatch:
    """Documents that are signed at once, column by column, with texts in parts."""

    ids: list[Sequence[str]] = field(default_factory=list)
    are_numbers: bytearray = field(default_factory=bytearray)
    texts: list[Sequence[str]] = field(default_factory=list)
    kept: list[Mapping[str, Any]] = field(default_factory=list)
    _open: tuple[list[str], list[str]] | None = None  # the last part, if more may come to it

    def __len__(self) -> int:
        return len(self.are_numbers)

    def add(self, piece: Document | Run) -> int:
        """Add what follows, and return the number of its characters."""
        if isinstance(piece, Run):
            self.are_numbers += bytes([piece.are_numbers]) * len(piece)
            self._add_part(piece.ids, piece.texts)
            self._open = None
            return size_of(piece.texts)
        self.are_numbers.append(type(piece.id) is Number)
        self.kept.append(piece.kept)
        if self._open is None:
            self._open = list[str](), list[str]()
            self._add_part(*self._open)
        for part, value in zip(self._open, (piece.id, piece.text), strict=True):
            part.append(value)
        return len(piece.text)

    def _add_part(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.ids.append(ids)
        self.texts.append(texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDocuments:
    """A batch with what is computed of it, by document; `text_hashes` and `sets` if needed."""

    batch: DocumentBatch
    words: NDArray[np.int64]
    signatures: NDArray[np.uint32]
    sets: Flat | None
    id_hashes: NDArray[np.uint64]
    text_hashes: NDArray[np.uint64] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSigner:
    """Signs batches, so many at once that no core waits for the end of one."""

    settings: Settings
    keeps_sets: bool
    hashes_texts: bool
    threads: int = field(default_factory=count_cores)

    @property
    def at_once(self) -> int:
        """The number of batches that are signed at the same time."""
        return min(SIGNERS, self.threads)

    def sign(self, batch: DocumentBatch) -> SignedDocuments:
        """Sign the texts of a batch, and hash what tells its documents apart."""
        signed = sign.sign_parts(
            batch.texts, self.settings, threads=-(-self.threads // self.at_once),
            keep_normal=self.keeps_sets, keep_keys=False,
        )  # fmt: skip
        sets = None
        if self.keeps_sets:
            from neardup_solr.measures.text_hashes import hash_sets

            sets = hash_sets(signed.normal, self.settings)
        return SignedDocuments(
            batch=batch,
            words=signed.words,
            signatures=signed.signatures,
            sets=sets,
            id_hashes=_hash_parts(batch.ids),
            text_hashes=_hash_parts(batch.texts) if self.hashes_texts else None,
        )


def _hash_parts(parts: Sequence[Sequence[str]]) -> NDArray[np.uint64]:
    return np.concatenate([hash_texts(part) for part in parts])


def make_batches(
    pieces: Iterable[Piece], are_documents: bytearray, failures: Failures
) -> Iterator[DocumentBatch]:
    """Collect documents to batches, and note which records make none."""
    batch, characters = DocumentBatch(), 0
    for piece in pieces:
        if isinstance(piece, RecordError):
            are_documents.append(0)
            failures.add(piece)
            continue
        size = len(piece) if isinstance(piece, Run) else 1
        are_documents.extend(b"\1" * size)
        characters += batch.add(piece)
        if len(batch) >= AT_ONCE or characters > SIGNED:
            yield batch
            batch, characters = DocumentBatch(), 0
    if len(batch):
        yield batch
