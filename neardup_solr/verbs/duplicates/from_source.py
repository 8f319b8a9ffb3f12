"""The side of `duplicates` that is a source: its records are read and signed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH
from neardup_solr.cores import count_cores
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.measures import Flat
from neardup_solr.memory import Rows, Strings
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.progress import Failures, ignore, prefetch, thread_pool
from neardup_solr.records import Document, Number, Run, check_documents
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import DEFAULT_SETTINGS, fit_shingles, settings_of
from neardup_solr.sources.document import came_before, step_for
from neardup_solr.sources.part import Piece
from neardup_solr.sources.reading import Reading
from neardup_solr.sources.source import SourceLike
from neardup_solr.sources.values import plain
from neardup_solr.text.packed import size_of
from neardup_solr.verbs.duplicates.ids import Ids
from neardup_solr.verbs.duplicates.parts import AT_ONCE
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.same_fields import make_key
from neardup_solr.verbs.duplicates.side import READING, RowColumns

SIGNED = 1 << 23  # characters of texts that are signed at once, about
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one
SAMPLED = 50_000  # texts that are kept for templates, if none are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSide:
    """The documents of a source that have words, and the `settings` by which they are signed.

    `are_documents` has 1 for each record that makes a document, `have_words` 1 for each document
    that has words; `kept` are the values of columns.
    """

    settings: Settings
    ids: Ids
    words: Rows
    strings: Strings
    kept: Mapping[str, list[Any]]
    documents: int
    failures: Failures
    repeated: int
    dead: Sequence[int]
    are_documents: bytearray
    have_words: bytearray
    contents: Rows | None
    beside: Rows | None

    @property
    def are_whole(self) -> bool:
        """True if all ids are given back as whole numbers."""
        return self.ids.are_whole

    @property
    def state(self) -> None:
        """None: a source is as it was read."""

    @property
    def readable(self) -> int:
        """The number of rows that have texts."""
        return len(self.strings)

    def texts(self, rows: Sequence[int]) -> Sequence[str]:
        """The texts of rows."""
        return self.strings.pack(rows)

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields by row: of kept columns, and what is known of any text."""
        values: dict[str, list[Any]] = {}
        for name in fields:
            if name == LENGTH:
                values[name] = self.words.table()[rows, 0].tolist()
            elif name == ARRIVAL:
                values[name] = list(rows)
            elif name in self.kept:
                values[name] = [self.kept[name][row] for row in rows]
            else:
                reason = f"the source's column {name!r} is not kept"
                raise SettingsError(reason, f"add {name!r} to `keep`", code="column-missing")
        return values

    def numbers(self) -> NDArray[np.intp]:
        """The numbers of the records of all rows, from 1 on."""
        return _number_records(self.are_documents, self.have_words)

    def find_gaps(self, fq: Sequence[str]) -> Iterator[str]:
        """Say how many records could not be used, if there are such."""
        damages = self.failures.damages
        for damage in damages:
            yield f"{damage}; {damage.next_step}"
        if others := self.failures.count - len(damages):
            advice = "" if damages else step_for(self.failures.first, "")
            unusable = f"records that could not be used: {others:,}"
            yield f"{unusable}{advice and f'; {advice}'}"

    def name_remedy(self) -> str:
        """Say what to do about texts that have changed."""
        return "run this again"


def _number_records(are_documents: bytearray, have_words: bytearray) -> NDArray[np.intp]:
    documents = np.flatnonzero(np.frombuffer(are_documents, np.uint8))
    return 1 + documents[: len(have_words)][np.frombuffer(have_words, np.bool_)]


def read_source(
    plan: RunPlan, source: SourceLike, number: int, settings: Settings, columns: RowColumns, *,
    is_fitted: bool,
) -> SourceSide:  # fmt: skip
    """Sign the documents of a source that have words, and add the signatures to `columns`.

    The source is the side of this `number`. If it `is_fitted`, the `settings` are fitted to the
    lengths of its first texts.
    """
    reading = plan.readings[number]
    spill, sets, names = columns.spill, columns.sets, plan.names_of(number)
    ids, words, texts = Ids(spill.strings()), spill.rows(1, np.int64), spill.strings()
    wanted = {*plan.keep, *plan.same, *plan.rule.needs}
    kept: dict[str, list[Any]] = {
        name: [] for name in plan.columns if name not in plan.beside or name in wanted
    }
    in_memory = sources.paths_of(source) is None
    # Unless texts are compared or shown, some are enough to tell templates.
    kept_texts = math.inf if plan.needs_texts or plan.request.texts else SAMPLED
    contents = spill.rows(1, np.uint64) if plan.remember or plan.checkpoint else None
    beside = spill.rows(len(plan.beside), np.int64) if plan.beside else None
    failures = Failures(plan.request.on_error)
    are_documents, have_words = bytearray(), bytearray()
    threads = count_cores()
    signers = min(SIGNERS, threads)

    def sign_batch(batch: _Batch) -> _SignedBatch:
        signed = sign.sign_parts(
            batch.texts, settings, threads=-(-threads // signers), keep_normal=sets is not None,
            keep_keys=False,
        )  # fmt: skip
        of_batch = None
        if sets is not None:
            from neardup_solr.measures.text_hashes import hash_sets

            of_batch = hash_sets(signed.normal, settings)
        return _SignedBatch(
            batch=batch,
            words=signed.words,
            signatures=signed.signatures,
            sets=of_batch,
            id_hashes=_hash_parts(batch.ids),
            text_hashes=None if contents is None else _hash_parts(batch.texts),
        )

    hashes = [np.empty(0, np.uint64)]  # of all ids
    progress = sources.make_progress(READING, source, plan.on_progress)
    pieces = read_pieces(source, reading, progress.count_bytes)
    batches = _make_batches(pieces, are_documents, failures)
    if is_fitted:
        first = list(islice(batches, 1))
        lengths = (len(text) for batch in first for part in batch.texts for text in part)
        changes = plan.request.settings
        settings = settings_of(changes, fit_shingles(changes, DEFAULT_SETTINGS, lengths))
        batches = chain(first, batches)
    documents = 0
    with thread_pool(signers) as pool:
        for signed in prefetch(pool, sign_batch, batches, at_once=signers):
            batch, has_words = signed.batch, signed.words > 0
            are_used = has_words.tolist()
            have_words.extend(has_words.tobytes())
            documents += len(has_words)
            hashes.append(signed.id_hashes)
            if columns.groups is not None:
                rows = [*compress(batch.kept, are_used)]
                columns.groups.add(
                    [[row.get(names.get(name, name)) for row in rows] for name in plan.same]
                )
            if beside is not None:
                rows = [*compress(batch.kept, are_used)]
                left_out = [hash(make_key(plain(row.get(name))))
                            for row in rows for name in plan.beside]  # fmt: skip
                beside.append(np.array(left_out, np.int64).reshape(len(rows), len(plan.beside)))
            for name, column in kept.items():
                name = names.get(name, name)
                column.extend(row.get(name) for row in compress(batch.kept, are_used))
            _extend(ids.plain, batch.ids, has_words)
            if in_memory:
                ids.are_numbers.extend(compress(batch.are_numbers, are_used))
            # If all have words, without a copy, which takes a tenth as long as signing.
            columns.signatures.append(
                signed.signatures if has_words.all() else signed.signatures[has_words]
            )
            words.append(signed.words[has_words][:, None])
            if len(texts) < kept_texts:
                _extend(texts, batch.texts, has_words)
            if sets is not None and signed.sets is not None:
                ends = signed.sets.bounds[1:][has_words]  # the sets of the others are empty
                sets.extend(signed.sets._replace(bounds=np.concatenate([[0], ends])))
            if contents is not None and signed.text_hashes is not None:
                contents.append(signed.text_hashes[has_words][:, None])
            progress.report(documents, documents)
    of_all = np.concatenate(hashes)
    ordered = np.sort(of_all)
    # Not by `np.unique`, which imports masked arrays without need.
    shared, dead = ordered[1:][ordered[1:] == ordered[:-1]], list[int]()
    if len(shared):
        with_words = of_all[np.frombuffer(have_words, np.bool_)]
        if (reading.on_repeat or "keep") == "keep":
            numbers = _number_records(are_documents, have_words)
            ids.tell_apart(np.isin(with_words, shared), numbers, ordered)
        else:
            documents -= len(shared)
            dead = _find_dead(ids, with_words, last_counts=reading.on_repeat == "last")
    return SourceSide(
        settings=settings,
        ids=ids,
        words=words,
        strings=texts,
        kept=kept,
        documents=documents,
        failures=failures,
        repeated=len(shared),
        dead=dead,
        are_documents=are_documents,
        have_words=have_words,
        contents=contents,
        beside=beside,
    )


def read_pieces(
    source: SourceLike, reading: Reading, on_progress: Callable[[int], None] = ignore
) -> Iterator[Piece]:
    """Read a source, with an error in place of each record that cannot be used."""
    opened = sources.open_source(source, reading, on_progress=on_progress)
    pieces = check_documents(opened.pieces())
    return _fail_repeated(pieces) if reading.on_repeat == "fail" else pieces


def _fail_repeated(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Put an error in place of each record whose id came before."""
    seen: set[str] = set()
    for piece in pieces:
        if isinstance(piece, RecordError):
            yield piece
            continue
        ids = [piece.id] if isinstance(piece, Document) else piece.ids
        if len({*ids}) == len(ids) and seen.isdisjoint(ids):
            yield piece
        else:
            for each in [piece] if isinstance(piece, Document) else piece.documents():
                yield came_before(each) if each.id in seen else each
                seen.add(each.id)
        seen.update(ids)


@dataclass(slots=True, kw_only=True)
class _Batch:
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
class _SignedBatch:
    """A batch with what is computed of it, by document; `text_hashes` and `sets` if needed."""

    batch: _Batch
    words: NDArray[np.int64]
    signatures: NDArray[np.uint32]
    sets: Flat | None
    id_hashes: NDArray[np.uint64]
    text_hashes: NDArray[np.uint64] | None


def _hash_parts(parts: Sequence[Sequence[str]]) -> NDArray[np.uint64]:
    return np.concatenate([hash_texts(part) for part in parts])


def _extend(
    strings: Strings, parts: Sequence[Sequence[str]], are_wanted: NDArray[np.bool_]
) -> None:
    """Add the strings of parts that are wanted."""
    for part in parts:
        of_part, are_wanted = are_wanted[: len(part)], are_wanted[len(part) :]
        strings.extend(part if of_part.all() else list(compress(part, of_part.tolist())))


def _make_batches(
    pieces: Iterable[Piece], are_documents: bytearray, failures: Failures
) -> Iterator[_Batch]:
    """Collect documents to batches, and note which records make none."""
    batch, characters = _Batch(), 0
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
            batch, characters = _Batch(), 0
    if len(batch):
        yield batch


def _find_dead(ids: Ids, hashes: NDArray[np.uint64], *, last_counts: bool) -> list[int]:
    """Find the rows whose id, of which there are hashes, others have, but for that which counts."""
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [
        row if last_counts else later for row, later in pairs if str(ids[row]) == str(ids[later])
    ]
