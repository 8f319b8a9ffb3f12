"""A random sample of a collection, as signatures: of a core's documents, or of a source's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from neardup_solr import sources
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.minhash import sign, signature
from neardup_solr.minhash.signature import Signature
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Solr
from neardup_solr.sources import Reading

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a sample is drawn: `size` documents at random, the same ones for the same `seed`.

    `reading` says how a file is read; `on_error` is told of each record that cannot be used.

    Raises SettingsError where it would have fewer than two documents.
    """

    size: int = 5_000
    seed: int = 1
    reading: Reading = field(default_factory=Reading)
    on_error: Callable[[RecordError], None] = field(default=lambda error: None)

    def __post_init__(self) -> None:
        if self.size < 2:
            raise SettingsError(f"a sample of {self.size} has no pairs", "sample 2 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A sample: its ids, of how many documents, and signatures by id, empty where no word is."""

    ids: list[str]
    documents: int
    signatures: Mapping[str, Signature]


def from_solr(solr: Solr, sampling: Sampling, wanted: Set[str]) -> Sample:
    """Draw from a core's stored signatures; those of the wanted ids are read as well."""
    ids, documents = _reservoir(solr.ids(), sampling)
    stored = solr.stored(list(dict.fromkeys([*ids, *sorted(wanted)])), ["signature"])
    signatures = {row["id"]: signature.decode(row.get("signature", "")) for row in stored}
    return Sample(
        ids=[id for id in ids if id in signatures], documents=documents, signatures=signatures
    )


def from_source(
    source: str | Path | Iterable[Document],
    settings: Settings,
    sampling: Sampling,
    wanted: Set[str],
) -> Sample:
    """Draw from a source that is signed under these settings, and sign the wanted ids as well.

    Raises SourceError where it cannot be read as a whole.
    """
    if isinstance(source, str | Path):
        source = sources.read(source, reading=sampling.reading, on_error=sampling.on_error)
    kept: dict[str, Document] = {}
    sampled, documents = _reservoir(_usable(source, sampling, wanted, kept), sampling)
    texts = {document.id: document.text for document in (*sampled, *kept.values())}
    signed = sign.sign(list(texts.values()), settings)
    empty = np.empty(0, dtype=np.uint32)
    signatures = {
        id: row if words else empty
        for id, row, words in zip(texts, signed.signatures, signed.words, strict=True)
    }
    return Sample(
        ids=[document.id for document in sampled], documents=documents, signatures=signatures
    )


def _usable(
    documents: Iterable[Document], sampling: Sampling, wanted: Set[str], kept: dict[str, Document]
) -> Iterator[Document]:
    """Documents that can be indexed, each id once; the wanted ones are kept as well."""
    seen = set()
    for document in signature.usable(documents, sampling.on_error):
        if document.id not in seen:
            seen.add(document.id)
            if document.id in wanted:
                kept[document.id] = document
            yield document


def _reservoir(items: Iterable[T], sampling: Sampling) -> tuple[list[T], int]:
    """A random sample of a stream, and how long that was (Vitter 1985, algorithm R)."""
    draw = random.Random(sampling.seed)
    sample: list[T] = []
    count = 0
    for count, item in enumerate(items, start=1):
        if count <= sampling.size:
            sample.append(item)
        elif (place := draw.randrange(count)) < sampling.size:
            sample[place] = item
    return sample, count
