"""duplicates: what in a whole collection is a near-duplicate of what, verified and clustered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup_solr.edges import sources
from neardup_solr.edges.client import Solr
from neardup_solr.edges.sources import Reading
from neardup_solr.pure import bands, normalize, signature, signing, verification
from neardup_solr.pure.candidates import CAP, Pairs, band_candidates, components
from neardup_solr.pure.config import Settings
from neardup_solr.pure.errors import RecordError, SettingsError
from neardup_solr.pure.ids import natural
from neardup_solr.pure.model import Document, Duplicate
from neardup_solr.pure.signing import Signed
from neardup_solr.pure.similarity import Limits
from neardup_solr.verbs.settings import stored_settings

MEASURES = ("words", "estimate")
NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verifying:
    """What makes a candidate pair a near-duplicate.

    `measure` is "words" (word-level Levenshtein distance and similarity) or "estimate" (Jaccard
    similarity of the shingles, from the signatures; no text is needed); `limits` bound it; a
    band key of more than `cap` documents is chained instead of paired.

    Raises SettingsError where a value cannot be.
    """

    measure: str = "words"
    limits: Limits = field(default=NO_LIMITS)
    cap: int = CAP

    def __post_init__(self) -> None:
        if self.measure not in MEASURES:
            reason = f"--measure {self.measure} is not known"
            raise SettingsError(reason, f"choose {' or '.join(MEASURES)}")
        if self.measure == "estimate" and self.limits.max_distance is not None:
            raise SettingsError("an estimate has no distance", "give --min-similarity instead")
        if self.cap < 2:
            raise SettingsError(f"a cap of {self.cap} cannot be", "give 2 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates:
    """The near-duplicate pairs of a collection, with what stands behind them.

    `clusters` counts the groups of documents that verified pairs connect; `candidates` the pairs
    that were compared; `hot_keys` the band keys of more documents than the cap.
    """

    pairs: tuple[Duplicate, ...]
    documents: int
    clusters: int
    candidates: int
    hot_keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Collection:
    """Documents that have words: ids, signatures and band hashes by row, and how to get forms."""

    ids: list[str]
    signatures: NDArray[np.uint32]
    keys: NDArray[np.uint64]
    documents: int
    forms: Callable[[Sequence[int]], dict[int, str]]


DEFAULT = Verifying()
DEFAULT_SETTINGS = Settings()
DEFAULT_READING = Reading()


def duplicates(
    source: str | Path | Iterable[Document] | Solr,
    *,
    verifying: Verifying = DEFAULT,
    settings: Settings = DEFAULT_SETTINGS,
    reading: Reading = DEFAULT_READING,
    on_error: Callable[[RecordError], None] = lambda error: None,
) -> Duplicates:
    """All near-duplicate pairs of a collection in Solr, or of a source without any Solr.

    Candidates are all documents that share an LSH band. Of a collection the stored signatures are
    read, and its own settings hold; a source is signed under `settings`. Pairs are in the order
    of their clusters, then of their ids; a cluster is named by its first id in natural order.

    Raises SettingsError where a collection lacks the signatures, SourceError where a source
    cannot be read as a whole, SolrError where Solr does not answer.
    """
    collection = (
        _stored(source)
        if isinstance(source, Solr)
        else _signed(source, settings, reading, on_error)
    )
    found = band_candidates(collection.keys, cap=verifying.cap)
    pairs, distances, similarities = _verified(collection, found.pairs, verifying)
    rows = _rows(collection.ids, pairs, distances, similarities, verifying.measure)
    return Duplicates(
        pairs=tuple(rows),
        documents=collection.documents,
        clusters=len({row.cluster for row in rows}),
        candidates=len(found.pairs),
        hot_keys=found.hot_keys,
    )


def _verified(
    collection: _Collection, pairs: Pairs, verifying: Verifying
) -> tuple[Pairs, NDArray[np.int64], NDArray[np.float64]]:
    """The pairs within the limits, with distances (-1: none) and similarities."""
    limits = verifying.limits
    if verifying.measure == "estimate":
        similarities = verification.estimated(collection.signatures, pairs)
        distances = np.full(len(pairs), -1, dtype=np.int64)
        kept = similarities >= limits.least_similarity()
    else:
        wanted = np.unique(pairs).tolist()
        by_row = collection.forms(wanted)
        forms = [by_row.get(row, "") for row in range(len(collection.ids))]
        distances, similarities = verification.word_distances(
            forms, pairs, limits=limits, threads=_threads()
        )
        there = np.array([row in by_row for row in range(len(forms))], dtype=np.bool_)
        kept = (distances >= 0) & there[pairs].all(axis=1)
    return pairs[kept], distances[kept], similarities[kept]


def _rows(
    ids: list[str],
    pairs: Pairs,
    distances: NDArray[np.int64],
    similarities: NDArray[np.float64],
    measure: str,
) -> list[Duplicate]:
    # Rows are in natural order of their ids, so the first of a component has the first id.
    clusters = components(len(ids), pairs)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], clusters[pairs[:, 0]]))
    columns = (column[order].tolist() for column in (pairs, distances, similarities))
    return [
        Duplicate(
            id=ids[one],
            other_id=ids[other],
            similarity=similarity,
            distance=None if distance < 0 else distance,
            measure=measure,
            cluster=ids[clusters[one]],
        )
        for (one, other), distance, similarity in zip(*columns, strict=True)
    ]


def _signed(
    source: str | Path | Iterable[Document],
    settings: Settings,
    reading: Reading,
    on_error: Callable[[RecordError], None],
) -> _Collection:
    if isinstance(source, str | Path):
        source = sources.read(source, reading=reading, on_error=on_error)
    texts = {document.id: document.text for document in signature.usable(source, on_error)}
    ids = sorted(texts, key=natural)
    signed = signing.sign([texts[id] for id in ids], settings, threads=_threads())
    return _with_words(ids, signed, lambda row_ids: {id: texts[id] for id in row_ids})


def _stored(solr: Solr) -> _Collection:
    solr.commit()
    settings = stored_settings(solr)
    if settings is None:
        reason = f"the collection {solr.core!r} has no documents"
        raise SettingsError(reason, "index some: neardup index FILE")
    if not {"signature", "content"} <= settings.fields:
        reason = "the collection was indexed without signature or content"
        raise SettingsError(reason, "index it into another core with those fields")
    rows = {row["id"]: row.get("signature", "") for row in solr.export(["id", "signature"])}
    ids = sorted(rows, key=natural)
    decoded = [signature.decode(rows[id]) for id in ids]
    words = np.array([len(values) > 0 for values in decoded], dtype=np.int64)
    table = np.zeros((len(ids), settings.hashes), dtype=np.uint32)
    for row, values in zip(table, decoded, strict=True):
        row[: len(values)] = values
    keys = bands.hash_bands(table, settings.bands, settings.rows)
    return _with_words(
        ids,
        Signed(words=words, signatures=table, keys=keys, normal=[]),
        solr.texts,
    )


def _with_words(
    ids: list[str], signed: Signed, texts: Callable[[Sequence[str]], dict[str, str]]
) -> _Collection:
    """The documents that have a word; the others resemble nothing."""
    rows = np.flatnonzero(signed.words > 0)
    kept = [ids[row] for row in rows.tolist()]

    def forms(wanted: Sequence[int]) -> dict[int, str]:
        found = texts([kept[row] for row in wanted])
        return {row: normalize.normalize(found[kept[row]]) for row in wanted if kept[row] in found}

    return _Collection(
        ids=kept,
        signatures=signed.signatures[rows],
        keys=signed.keys[rows],
        documents=len(ids),
        forms=forms,
    )


def _threads() -> int:
    return os.cpu_count() or 1
