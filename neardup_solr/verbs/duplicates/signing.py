"""The documents of a source, signed while they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.ahead import ahead
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.minhash import entries, sign
from neardup_solr.minhash.sign import Signed
from neardup_solr.progress import Failures, Progress
from neardup_solr.records import Document, Run
from neardup_solr.settings import Settings
from neardup_solr.spill import Rows, Strings
from neardup_solr.text.packed import Packed, size_of
from neardup_solr.verbs.duplicates import known
from neardup_solr.verbs.duplicates.sides import READING, Intake, Order, Side, threads

AT_ONCE = 20_000  # documents that are signed at once,
CHARACTERS = 1 << 23  # or so many that their texts have more characters than this
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one

Usable: TypeAlias = Document | Run


def of_source(source: sources.Source, rows: Rows, settings: Settings, intake: Intake) -> Side:
    """The documents of a source that have words; their signatures are added to `rows`."""
    tell, limit = intake.working.watching.on_progress, intake.working.limit
    ids, words = intake.spill.strings(), intake.spill.rows(1, np.int64)
    columns: dict[str, list[Any]] = {name: [] for name in intake.reading.keep}
    texts = _Texts(source, intake, ids)
    side = Side(
        ids=ids,
        texts=texts.of,
        values=_values(words, columns),
        failures=Failures(intake.working.watching.on_error),
        order=Order() if intake.has_order else None,
        has_changed=texts.has_changed,
    )

    digest = None if intake.working.checkpoint is None else hashlib.blake2b()
    remembering = intake.remembering

    signers = min(SIGNERS, threads())
    threads_each = -(-threads() // signers)

    def signed(batch: _Batch) -> tuple[_Batch, Signed]:
        return batch, sign.sign_parts(batch.texts, settings, threads=threads_each, keep_keys=False)

    hashes: list[NDArray[np.int64]] = []  # of all ids
    with_words: list[NDArray[np.bool_]] = []
    batches = _batches(_limited(_usable(source, intake, side), limit, side))
    with ThreadPoolExecutor(signers) as pool:
        for batch, made in ahead(pool, signed, batches, at_once=signers):
            is_there = made.words > 0
            there = is_there.tolist()
            if side.order is not None:
                side.order.have_words.extend(is_there.tobytes())
            hashes.append(np.fromiter(map(hash, batch.ids), np.int64, len(batch.ids)))
            with_words.append(is_there)
            side.documents += len(batch.ids)
            ids.extend(list(compress(batch.ids, there)))
            # If all have words, without a copy, which takes a tenth as long as signing.
            rows.append(made.signatures if is_there.all() else made.signatures[is_there])
            words.append(made.words[is_there][:, None])
            texts.add(batch, is_there)
            if digest is not None or remembering is not None:
                contents = np.concatenate([known.hashes(part) for part in batch.texts])
                if digest is not None:
                    digest.update(contents.data)
                if remembering is not None:
                    traces = known.Traces.of(known.hashes(batch.ids), contents=contents)
                    remembering.add(traces.only(is_there))
            for name, column in columns.items():
                column.extend(kept.get(name) for kept in compress(batch.kept, there))
            tell(Progress(READING, side.documents, limit))
    if digest is not None:
        side.digest = digest.digest()
    if hashes:
        hashed = np.concatenate(hashes)
        side.dead = _repeated(ids, hashed[np.concatenate(with_words)])
        # Not by `np.unique`, which imports masked arrays without need.
        distinct = 1 + int(np.count_nonzero(np.diff(np.sort(hashed))))
        side.repeated, side.documents = side.documents - distinct, distinct
    return side


def _usable(source: sources.Source, intake: Intake, side: Side) -> Iterator[Usable]:
    """The documents that can be used; what cannot is counted in `side`, and the order noted."""
    order = side.order.are_documents if side.order is not None else bytearray()

    def fail(error: RecordError) -> None:
        order.append(0)
        side.failures.add(error)

    for found in sources.pieces(source, reading=intake.reading):
        if isinstance(found, Run):
            order.extend(b"\1" * len(found))
            yield found
        elif isinstance(found, RecordError):
            fail(found)
        elif error := entries.refusal(found):
            fail(error)
        else:
            order.append(1)
            yield found


def _limited(usable: Iterator[Usable], limit: int | None, side: Side) -> Iterator[Usable]:
    """The first documents; notes in `side` if there are more."""
    if limit is None:
        yield from usable
        return
    left = limit
    for found in usable:
        size = len(found) if isinstance(found, Run) else 1
        if size > left:
            side.is_cut = True
            if left and isinstance(found, Run):
                yield found.first(left)
            return
        yield found
        left -= size


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents that are signed at once, column by column; texts and their places in parts.

    A place is the byte where a line begins, and its size.
    """

    ids: list[str] = field(default_factory=list)
    texts: list[list[str] | Packed] = field(default_factory=lambda: [[]])
    kept: list[Mapping[str, Any]] = field(default_factory=list)
    places: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, found: Usable) -> int:
        """Add what follows; gives the number of its characters."""
        if isinstance(found, Document):
            self.ids.append(found.id)
            self.kept.append(found.kept)
            self._add_texts([found.text])
            return len(found.text)
        self.ids += found.ids
        if isinstance(found.texts, Packed):
            self.texts.append(found.texts)
        else:
            self._add_texts(found.texts)
        if len(found.begins):
            self.places.append(np.stack([found.begins, found.sizes], axis=1))
        return size_of(found.texts)

    def _add_texts(self, texts: Sequence[str]) -> None:
        last = self.texts[-1]
        if isinstance(last, Packed):
            self.texts.append(list(texts))
        else:
            last.extend(texts)


def _batches(usable: Iterator[Usable]) -> Iterator[_Batch]:
    batch, characters = _Batch(), 0
    for found in usable:
        characters += batch.add(found)
        if len(batch.ids) >= AT_ONCE or characters > CHARACTERS:
            yield batch
            batch, characters = _Batch(), 0
    if batch.ids:
        yield batch


class _Texts:
    """The texts of a side by row: read again where they stand if that is possible, else held."""

    def __init__(self, source: sources.Source, intake: Intake, ids: Strings) -> None:
        self._are_wanted, self._ids = intake.has_texts, ids
        self._held, self._places = intake.spill.strings(), intake.spill.rows(2, np.int64)
        self._again = sources.again(source, intake.reading) if intake.has_texts else None
        if self._again is not None:
            intake.spill.held(self._again.file)

    def add(self, batch: _Batch, is_there: NDArray[np.bool_]) -> None:
        """Add those of further documents that are there."""
        if self._again is not None:
            self._places.append(np.concatenate(batch.places)[is_there])
        elif self._are_wanted:
            self._held.extend(list(compress(chain(*batch.texts), is_there.tolist())))

    def has_changed(self) -> bool:
        """Whether a file that is read again has been written to since."""
        return self._again is not None and self._again.has_changed()

    def of(self, rows: Sequence[int]) -> Sequence[str]:
        """The texts of rows; raises SourceError if a file that is read again has them no more."""
        if self._again is None:
            return [self._held[row] for row in rows]
        places = self._places.table()[rows]
        return self._again.texts([self._ids[row] for row in rows], places)


def _values(
    words: Rows, columns: Mapping[str, list[Any]]
) -> Callable[[Sequence[int], Sequence[str]], dict[str, list[Any]]]:
    """What gives the values of fields by row: of kept columns, and what is known of any text."""

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

    return values


def _repeated(ids: Strings, hashes: NDArray[np.int64]) -> list[int]:
    """The rows whose id, of which there are hashes, comes again later: its last record counts."""
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [row for row, later in pairs if ids[row] == ids[later]]
