"""The side of `duplicates` that is a source: its records are read and signed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.clusters.canonical import ARRIVAL, LENGTH
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.memory import Rows, Strings
from neardup_solr.progress import Failures, prefetch, thread_pool
from neardup_solr.records import Document, check_documents
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import DEFAULT_SETTINGS, fit_shingles, settings_of
from neardup_solr.sources.document import came_before, step_for
from neardup_solr.sources.part import Piece
from neardup_solr.sources.reader import SourceReader
from neardup_solr.sources.source import SourceLike
from neardup_solr.sources.values import plain
from neardup_solr.verbs.document_batches import DocumentBatch, make_batches
from neardup_solr.verbs.duplicates.ids import Ids
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.same_fields import make_key
from neardup_solr.verbs.duplicates.side import READING, RowColumns
from neardup_solr.verbs.duplicates.signer import BatchSigner, SignedDocuments

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
    is_for_excel: bool

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
            few = self.texts(range(min(len(self.strings), SAMPLED)))
            advice = "" if damages else step_for(self.failures.first, "", few)
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
    lengths of its first texts. Batches are read, signed and kept at the same time, each in order.
    """
    reading, are_documents = plan.readings[number], bytearray()
    failures = Failures(plan.request.on_error)
    progress = sources.make_progress(READING, source, plan.on_progress)
    opened = sources.open_source(source, reading, on_progress=progress.count_bytes)
    batches = make_batches(read_pieces(opened), failures, are_documents)
    if is_fitted:
        first = list(islice(batches, 1))
        lengths = (len(text) for batch in first for part in batch.texts for text in part)
        changes = plan.request.settings
        settings = settings_of(changes, fit_shingles(changes, DEFAULT_SETTINGS, lengths))
        batches = chain(first, batches)
    rows = _SourceRows(plan, source, number, columns)
    signer = BatchSigner(
        settings=settings,
        keeps_sets=columns.sets is not None,
        hashes_texts=rows.contents is not None,
    )
    with thread_pool(signer.at_once) as signers, thread_pool(1) as keeper:
        signed = prefetch(signers, signer.sign, batches, at_once=signer.at_once)
        for documents in prefetch(keeper, rows.keep, signed):
            progress.report(documents, documents)
    repeated = rows.find_repeated()
    documents, dead = len(rows.have_words), list[int]()
    if len(repeated):
        if (reading.on_repeat or "keep") == "keep":
            rows.tell_apart(repeated, _number_records(are_documents, rows.have_words))
        else:
            documents -= len(repeated)
            dead = rows.find_dead(last_counts=reading.on_repeat == "last")
    return SourceSide(
        settings=settings,
        ids=rows.ids,
        words=rows.words,
        strings=rows.texts,
        kept=rows.kept,
        documents=documents,
        failures=failures,
        repeated=len(repeated),
        dead=dead,
        are_documents=are_documents,
        have_words=rows.have_words,
        contents=rows.contents,
        beside=rows.beside,
        is_for_excel=opened.is_for_excel,
    )


class _SourceRows:
    """The rows of a source: what is kept of its documents that have words, column by column.

    `have_words` has 1 for each document that has words. `hashes` are those of the ids of all.
    """

    def __init__(self, plan: RunPlan, source: SourceLike, number: int, columns: RowColumns) -> None:
        spill, wanted = columns.spill, {*plan.keep, *plan.same, *plan.rule.needs}
        self._plan, self._columns, self._names = plan, columns, plan.names_of(number)
        self._are_in_memory = sources.paths_of(source) is None
        # Unless texts are compared or shown, some are enough to tell templates.
        self._most_texts = math.inf if plan.needs_texts or plan.request.texts else SAMPLED
        self._hashes = [np.empty(0, np.uint64)]
        self.ids, self.words, self.texts = (
            Ids(spill.strings()), spill.rows(1, np.int64), spill.strings()
        )  # fmt: skip
        self.kept: dict[str, list[Any]] = {
            name: [] for name in plan.columns if name not in plan.beside or name in wanted
        }
        self.contents = spill.rows(1, np.uint64) if plan.remember or plan.checkpoint else None
        self.beside = spill.rows(len(plan.beside), np.int64) if plan.beside else None
        self.have_words = bytearray()

    def keep(self, signed: SignedDocuments) -> int:
        """Add a batch, and return the number of the documents by then."""
        batch, has_words = signed.batch, signed.words > 0
        are_used = has_words.tolist()
        self.have_words.extend(has_words.tobytes())
        self._hashes.append(signed.id_hashes)
        self._keep_values(batch, are_used)
        _extend(self.ids.plain, batch.ids, has_words)
        if self._are_in_memory:
            self.ids.are_numbers.extend(compress(batch.are_numbers, are_used))
        # If all have words, without a copy, which takes a tenth as long as signing.
        every = has_words.all()
        self._columns.signatures.append(
            signed.signatures if every else signed.signatures[has_words]
        )
        self.words.append(signed.words[has_words][:, None])
        if len(self.texts) < self._most_texts:
            _extend(self.texts, batch.texts, has_words)
        if self._columns.sets is not None and signed.sets is not None:
            ends = signed.sets.bounds[1:][has_words]  # the sets of the others are empty
            self._columns.sets.extend(signed.sets._replace(bounds=np.concatenate([[0], ends])))
        if self.contents is not None and signed.text_hashes is not None:
            self.contents.append(signed.text_hashes[has_words][:, None])
        return len(self.have_words)

    def _keep_values(self, batch: DocumentBatch, are_used: Sequence[bool]) -> None:
        """Add the values of other columns."""
        plan, values = self._plan, dict[str, list[Any]]()
        for name in {*plan.same, *plan.beside, *self.kept}:
            values[name] = [*compress(batch.values(self._names.get(name, name)), are_used)]
        if self._columns.groups is not None:
            self._columns.groups.add([values[name] for name in plan.same])
        if self.beside is not None:
            left_out = [[hash(make_key(plain(each))) for each in values[name]]
                        for name in plan.beside]  # fmt: skip
            self.beside.append(np.array(left_out, np.int64).T)
        for name, column in self.kept.items():
            column += values[name]

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """Hashes of the ids of all documents."""
        return np.concatenate(self._hashes)

    def find_repeated(self) -> NDArray[np.uint64]:
        """Find the hashes of ids that came before, each as often as it did."""
        ordered: NDArray[np.uint64] = np.sort(self.hashes)
        # Not by `np.unique`, which imports masked arrays without need.
        repeated: NDArray[np.uint64] = ordered[1:][ordered[1:] == ordered[:-1]]
        return repeated

    @property
    def _hashes_by_row(self) -> NDArray[np.uint64]:
        hashes: NDArray[np.uint64] = self.hashes[np.frombuffer(self.have_words, np.bool_)]
        return hashes

    def tell_apart(self, repeated: NDArray[np.uint64], numbers: NDArray[np.intp]) -> None:
        """Give rows whose ids are repeated the `numbers` of their records."""
        self.ids.tell_apart(np.isin(self._hashes_by_row, repeated), numbers, self.hashes)

    def find_dead(self, *, last_counts: bool) -> list[int]:
        """Find the rows whose id others have, but for that which counts."""
        hashes, ids = self._hashes_by_row, self.ids
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
        return [
            row if last_counts else later
            for row, later in pairs
            if str(ids[row]) == str(ids[later])
        ]


def _extend(
    strings: Strings, parts: Sequence[Sequence[str]], are_wanted: NDArray[np.bool_]
) -> None:
    """Add the strings of parts that are wanted."""
    for part in parts:
        of_part, are_wanted = are_wanted[: len(part)], are_wanted[len(part) :]
        strings.extend(part if of_part.all() else list(compress(part, of_part.tolist())))


def read_pieces(opened: SourceReader) -> Iterator[Piece]:
    """Read a source, with an error in place of each record that cannot be used."""
    pieces = check_documents(opened.pieces())
    return _fail_repeated(pieces) if opened.reading.on_repeat == "fail" else pieces


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
