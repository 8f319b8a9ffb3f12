"""What is compared: ids, signatures and texts of one source, or of two sides."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.arguments import require, require_positive
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH
from neardup_solr.errors import RecordError, SettingsError, SolrAnswerError
from neardup_solr.minhash import entries, sign, signature
from neardup_solr.progress import SILENT, Failures, Progress, Watching, unheard
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.answers import LOG_AGAIN
from neardup_solr.solr.collection import Collection, State
from neardup_solr.sources import Reading
from neardup_solr.spill import Rows, Spill, Strings
from neardup_solr.verbs.annotate import guard

Compared: TypeAlias = sources.Source | Collection
READING = "reading"
AT_ONCE = 20_000  # documents of a source that are signed at once
PAGES = 4  # pages of texts that are requested at the same time
PAGE = 500  # documents in one of them


def threads() -> int:
    """The number of threads that compare."""
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """How the work is done, and who is told of it: arguments of `duplicates`, checked.

    Raises ArgumentError if a value is out of range.
    """

    memory: int | None = None
    spill: Path | None = None
    limit: int | None = None
    checkpoint: Path | None = None
    keep_texts: bool = False
    watching: Watching = SILENT

    def __post_init__(self) -> None:
        require_positive(limit=self.limit)
        if self.memory is not None:
            reason = f"`memory` cannot be {self.memory:,}, which is less than 1 MB"
            require(self.memory >= 1 << 20, reason, 'give more, such as "64M"')


@dataclass(slots=True)
class Order:
    """Which records of a source are documents, in its order.

    `are_documents` has 1 for each record that makes a document, `have_words` 1 for each document
    that has words.
    """

    are_documents: bytearray = field(default_factory=bytearray)
    have_words: bytearray = field(default_factory=bytearray)

    def noted(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The same documents; each is noted when it is read."""
        for document in documents:
            self.are_documents.append(1)
            yield document


@dataclass(slots=True, kw_only=True)
class Side:
    """The documents of one source that have words: ids and texts by row, and what was left out.

    `unsigned` documents have text but no signature; `repeated` ones came again later. `state` is
    the state of a collection when it was read, `order` the order of a source if it is needed.
    """

    ids: Strings
    texts: Callable[[Sequence[int]], list[str | None]]
    values: Callable[[Sequence[int], Sequence[str]], Mapping[str, list[Any]]]
    documents: int = 0
    failures: Failures = field(default_factory=lambda: Failures(unheard))
    unsigned: int = 0
    is_cut: bool = False
    repeated: int = 0
    dead: list[int] = field(default_factory=list)
    collection: Collection | None = None
    state: State | None = None
    order: Order | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """All that is compared, by row: the rows of the second side come after those of the first."""

    settings: Settings
    signatures: NDArray[np.uint32]
    sides: tuple[Side, ...]
    _forms: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def may_change(self) -> bool:
        """Whether others may change the texts meanwhile, as those of a collection."""
        return any(side.collection is not None for side in self.sides)

    @property
    def bounds(self) -> list[int]:
        """The first row of each side, and the number of all rows."""
        return list(accumulate((len(side.ids) for side in self.sides), initial=0))

    def side_of(self) -> NDArray[np.uint8]:
        """The side of each row: 0 or 1."""
        sizes = [len(side.ids) for side in self.sides]
        return np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)

    def ids(self, rows: Sequence[int]) -> list[str]:
        """The ids of rows."""
        end = self.bounds[1]  # of the first side
        own, others = self.sides[0].ids, self.sides[-1].ids
        return [own[row] if row < end else others[row - end] for row in rows]

    def texts(self, rows: Sequence[int]) -> list[str | None]:
        """The texts of rows, in ascending order; None if a document is no longer there."""
        return [
            text
            for side, first, last in zip(self.sides, self.bounds[:-1], self.bounds[1:], strict=True)
            for text in side.texts([row - first for row in rows if first <= row < last])
        ]

    def fits(self, most: int) -> bool:
        """Whether all texts together have at most `most` characters; reads no more than needed."""
        total = 0
        for at in range(0, len(self), PAGE):
            texts = self.texts(range(at, min(at + PAGE, len(self))))
            total += sum(len(text or "") for text in texts)
            if total > most:
                return False
        return True

    def forms(self) -> list[str]:
        """The normal forms of all documents, read once; "" if one is no longer there."""
        for at in range(len(self._forms), len(self), AT_ONCE):
            texts = self.texts(range(at, min(at + AT_ONCE, len(self))))
            self._forms.extend(sign.normal_forms([text or "" for text in texts]))
        return self._forms

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order; None if there is no value."""
        found: dict[str, list[Any]] = {name: [] for name in fields}
        for side, first, last in zip(self.sides, self.bounds[:-1], self.bounds[1:], strict=True):
            own = side.values([row - first for row in rows if first <= row < last], fields)
            for name in fields:
                found[name].extend(own[name])
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """How sources are read, with what settings, and what is kept of them."""

    spill: Spill
    settings: Settings
    reading: Reading
    working: Working
    has_texts: bool
    has_order: bool = False


def gather(given: Sequence[Compared], intake: Intake) -> Gathered:
    """Read one source, or two sides; a side that is not a collection is signed.

    The stored settings of a collection apply to both sides.

    Raises SettingsError if two collections have different settings.
    """
    stored = [_settings_of(each) for each in given if isinstance(each, Collection)]
    if len(stored) == 2 and stored[0] != stored[1]:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings, {shown}"
        raise SettingsError(reason, "index one of them again with the settings of the other")
    settings = stored[0] if stored else intake.settings
    rows = intake.spill.rows(settings.hashes, np.uint32)
    sides = tuple(
        _of_solr(each, rows, settings, intake)
        if isinstance(each, Collection)
        else _of_source(each, rows, settings, intake)
        for each in given
    )
    return Gathered(settings=settings, signatures=rows.table(), sides=sides)


def _settings_of(collection: Collection) -> Settings:
    collection.commit()
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings


def _of_solr(collection: Collection, rows: Rows, settings: Settings, intake: Intake) -> Side:
    working = intake.working
    state = collection.state()
    side = Side(
        ids=intake.spill.strings(),
        texts=lambda wanted: _texts_of(collection, [side.ids[row] for row in wanted]),
        values=lambda wanted, fields: _values_of(
            collection, [side.ids[row] for row in wanted], fields
        ),
        collection=collection,
        state=state,
    )
    total = state.documents if working.limit is None else min(working.limit, state.documents)
    side.unsigned = guard.count_missing(collection, schema.described(collection))
    for block in collection.exported(["id", "signature"]):
        left = total - side.documents
        side.is_cut = side.is_cut or len(block) > left
        signed = [found for found in block[:left] if found.get("signature")]
        side.ids.extend([found["id"] for found in signed])
        rows.append(signature.decode_all([found["signature"] for found in signed], settings))
        side.documents += min(len(block), left)
        working.watching.on_progress(Progress(READING, side.documents, total))
    if side.documents != total and collection.state() == state:
        reason = f"the export has {side.documents:,} of its {total:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN)
    return side


def _texts_of(collection: Collection, ids: Sequence[str]) -> list[str | None]:
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with ThreadPoolExecutor(PAGES) as pool:
        found = {
            id: text for texts in pool.map(collection.texts, pages) for id, text in texts.items()
        }
    return [found.get(id) for id in ids]


def _values_of(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, list[Any]]:
    found = {document["id"]: document for document in collection.stored(ids, fields)}
    return {name: [found.get(id, {}).get(name) for id in ids] for name in fields}


def _of_source(source: sources.Source, rows: Rows, settings: Settings, intake: Intake) -> Side:
    spill, working = intake.spill, intake.working
    kept_texts, words = spill.strings(), spill.rows(1, np.int64)
    columns: dict[str, list[Any]] = {name: [] for name in intake.reading.keep}

    def values(wanted: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        lengths = words.table()[:, 0]
        known: dict[str, Callable[[int], Any]] = {
            LENGTH: lambda row: int(lengths[row]),
            ARRIVAL: lambda row: row,
        }
        of_column = {name: column.__getitem__ for name, column in columns.items()}
        missing = [name for name in fields if name not in known and name not in of_column]
        if missing:
            reason = f"the source's column {missing[0]!r} is not kept"
            raise SettingsError(reason, f"add {missing[0]!r} to `keep`")
        return {name: [(of_column | known)[name](row) for row in wanted] for name in fields}

    side = Side(
        ids=spill.strings(),
        texts=lambda wanted: [kept_texts[row] for row in wanted],
        values=values,
        failures=Failures(working.watching.on_error),
    )

    def fail(error: RecordError) -> None:
        if side.order is not None:
            side.order.are_documents.append(0)
        side.failures.add(error)

    documents = sources.documents(source, reading=intake.reading, on_error=fail)
    usable = entries.usable(documents, fail)
    if intake.has_order:
        side.order = Order()
        usable = side.order.noted(usable)
    hashes: list[NDArray[np.int64]] = []
    for batch in _batches(usable, working.limit):
        signed = sign.sign([one.text for one in batch], settings, threads=threads())
        is_there = signed.words > 0
        if side.order is not None:
            side.order.have_words.extend(is_there.tobytes())
        there = [one for one, is_one in zip(batch, is_there.tolist(), strict=True) if is_one]
        side.ids.extend([one.id for one in there])
        hashes.append(np.fromiter((hash(one.id) for one in batch), np.int64, len(batch)))
        rows.append(signed.signatures[is_there])
        words.append(signed.words[is_there][:, None])
        if intake.has_texts:
            kept_texts.extend([one.text for one in there])
        for name, column in columns.items():
            column.extend(one.kept.get(name) for one in there)
        side.documents += len(batch)
        working.watching.on_progress(Progress(READING, side.documents, working.limit))
    side.is_cut = working.limit is not None and next(usable, None) is not None
    side.dead = _repeated(side.ids)
    if hashes:  # not by `np.unique`, which imports masked arrays without need
        distinct = 1 + int(np.count_nonzero(np.diff(np.sort(np.concatenate(hashes)))))
        side.repeated, side.documents = side.documents - distinct, distinct
    return side


def _batches(usable: Iterator[Document], limit: int | None) -> Iterator[list[Document]]:
    wanted = usable if limit is None else islice(usable, limit)
    while batch := list(islice(wanted, AT_ONCE)):
        yield batch


def _repeated(ids: Strings) -> list[int]:
    """The rows whose id comes again later; the last record of an id counts."""
    hashes = np.fromiter((hash(id) for id in ids), np.int64, len(ids))
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [row for row, later in pairs if ids[row] == ids[later]]
