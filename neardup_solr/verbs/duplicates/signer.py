"""Signing of batches of documents, several at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup_solr.cores import count_cores
from neardup_solr.measures import Flat
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.settings import Settings
from neardup_solr.verbs.document_batches import DocumentBatch

SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDocuments:
    """A batch with what is computed of it, by document, `text_hashes` and `sets` if needed."""

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
