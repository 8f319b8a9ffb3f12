"""The documents of a source, signed while they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.clusters import ARRIVAL, LENGTH
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.measures.arrays import Flat
from neardup_solr.minhash import entries, sign
from neardup_solr.minhash.sign import Signed
from neardup_solr.progress import Failures, Progress
from neardup_solr.records import AnyId, Document, Number, Run
from neardup_solr.resources import prefetch, thread_pool
from neardup_solr.settings import Settings
from neardup_solr.sources.record import Piece, came_before
from neardup_solr.spill import Lists, Rows, Strings
from neardup_solr.text.packed import Packed, size_of
from neardup_solr.verbs.duplicates.inputs import READING, Ids, Input, Intake, RecordOrder, threads

AT_ONCE = 20_000  # documents that are signed at once,
CHARACTERS = 1 << 23  # or so many that their texts have more characters than this
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one

Usable: TypeAlias = Document | Run


def of_source(
    source: sources.SourceLike,
    rows: Rows,
    settings: Settings,
    intake: Intake,
    sets: Lists | None = None,
) -> Input:
    """The documents of a source that have words. Their signatures are added to `rows`.

    So are their shingles to `sets`, if these are wanted.
    """
    tell, limit = intake.options.watching.on_progress, intake.options.limit
    ids, words = intake.spill.strings(), intake.spill.rows(1, np.int64)
    columns: dict[str, list[Any]] = {name: [] for name in intake.reading.keep}
    texts = _Texts(source, intake, ids)
    named, is_in_memory = Ids(ids), sources.paths_of(source) is None
    order = RecordOrder(positions=intake.spill.strings(), reasons=intake.spill.strings())
    side = Input(
        ids=named,
        texts=texts.of,
        values=_values(words, columns),
        failures=Failures(intake.options.watching.on_error),
        order=order,
        has_changed=texts.has_changed,
    )

    digest = None if intake.options.checkpoint is None else hashlib.blake2b()
    remembering = intake.remembering

    signers = min(SIGNERS, threads())
    threads_each = -(-threads() // signers)

    def signed(batch: _Batch) -> tuple[_Batch, Signed, Flat | None]:
        made = sign.sign_parts(
            batch.texts,
            settings,
            threads=threads_each,
            keep_normal=sets is not None,
            keep_keys=False,
        )
        if sets is None:
            return batch, made, None
        from neardup_solr.measures.sets import hash_sets

        return batch, made, hash_sets(made.normal, settings)

    hashes: list[NDArray[np.int64]] = []  # of all ids
    with_words: list[NDArray[np.bool_]] = []
    usable = _usable(_checked(source, intake), side.failures, order)
    batches = _batches(_limited(usable, limit, side))
    with thread_pool(signers) as pool:
        for batch, made, own_sets in prefetch(pool, signed, batches, at_once=signers):
            is_there = made.words > 0
            there = is_there.tolist()
            order.have_words.extend(is_there.tobytes())
            hashes.append(np.fromiter(map(hash, batch.ids), np.int64, len(batch.ids)))
            with_words.append(is_there)
            side.documents += len(batch.ids)
            of_rows = list(compress(batch.ids, there))
            ids.extend(of_rows)
            if is_in_memory:
                named.are_numbers.extend(compress(batch.are_numbers, there))
            # If all have words, without a copy, which takes a tenth as long as signing.
            rows.append(made.signatures if is_there.all() else made.signatures[is_there])
            words.append(made.words[is_there][:, None])
            texts.add(batch, is_there)
            if sets is not None and own_sets is not None:
                ends = own_sets.bounds[1:][is_there]  # the sets of the others are empty
                sets.extend(own_sets._replace(bounds=np.concatenate([[0], ends])))
            if digest is not None or remembering is not None:
                contents = np.concatenate([sign.hash_texts(part) for part in batch.texts])
                if digest is not None:
                    digest.update(contents.data)
                if remembering is not None:
                    from neardup_solr.verbs.duplicates.previous_run import DocumentKeys

                    keys = DocumentKeys.of(sign.hash_texts(batch.ids), contents=contents)
                    remembering.add(keys.only(is_there))
            for name, column in columns.items():
                column.extend(kept.get(name) for kept in compress(batch.kept, there))
            if intake.groups is not None:
                first = len(ids) - there.count(True)
                intake.groups.add([columns[name][first:] for name in intake.groups.fields])
            tell(Progress(READING, side.documents, limit))
    if digest is not None:
        side.digest = digest.digest()
    if hashes:
        _note_repeats(side, intake, np.concatenate(hashes), np.concatenate(with_words))
    return side


def _checked(source: sources.SourceLike, intake: Intake) -> Iterator[Piece]:
    """What a source holds, with an error in place of each record that cannot be used."""
    found = (
        (entries.refusal(piece) or piece) if isinstance(piece, Document) else piece
        for piece in sources.pieces(source, reading=intake.reading)
    )
    return _each_id_once(found) if intake.options.on_repeat == "fail" else found


def _each_id_once(found: Iterator[Piece]) -> Iterator[Piece]:
    """The same, with an error in place of each record whose id came before."""
    seen: set[str] = set()
    for piece in found:
        if isinstance(piece, RecordError):
            yield piece
            continue
        ids = [piece.id] if isinstance(piece, Document) else piece.ids
        if len(set(ids)) == len(ids) and seen.isdisjoint(ids):
            yield piece
        elif isinstance(piece, Document):
            yield came_before(piece)
        else:
            for at, one in enumerate(piece.documents()):
                yield came_before(one) if one.id in seen else piece.part(at, at + 1)
                seen.add(one.id)
        seen.update(ids)


def _usable(found: Iterator[Piece], failures: Failures, order: RecordOrder) -> Iterator[Usable]:
    """The documents that can be used. The others are counted, and the order of all is noted."""
    for piece in found:
        if isinstance(piece, RecordError):
            order.fail(piece)
            failures.add(piece)
        else:
            order.are_documents.extend(b"\1" * (len(piece) if isinstance(piece, Run) else 1))
            yield piece


def _limited(usable: Iterator[Usable], limit: int | None, side: Input) -> Iterator[Usable]:
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
                yield found.part(0, left)
            return
        yield found
        left -= size


@dataclass(slots=True, kw_only=True)
class _Batch:
    """Documents that are signed at once, column by column; texts and their places in parts.

    A place is the byte where a line begins, and its size.
    """

    ids: list[str] = field(default_factory=list)
    are_numbers: bytearray = field(default_factory=bytearray)
    texts: list[list[str] | Packed] = field(default_factory=lambda: [[]])
    kept: list[Mapping[str, Any]] = field(default_factory=list)
    places: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, found: Usable) -> int:
        """Add what follows; gives the number of its characters."""
        if isinstance(found, Document):
            self.ids.append(found.id)
            self.are_numbers.append(type(found.id) is Number)
            self.kept.append(found.kept)
            self._add_texts([found.text])
            return len(found.text)
        self.ids += found.ids
        self.are_numbers += bytes([found.are_numbers]) * len(found)
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

    def __init__(self, source: sources.SourceLike, intake: Intake, ids: Strings) -> None:
        self._are_wanted, self._ids = intake.needs_texts, ids
        self._held, self._places = intake.spill.strings(), intake.spill.rows(2, np.int64)
        self._again = sources.again(source, intake.reading) if intake.needs_texts else None
        if self._again is not None:
            intake.spill.held(self._again.file)

    def add(self, batch: _Batch, is_there: NDArray[np.bool_]) -> None:
        """Add those of further documents that are there."""
        if self._again is not None:
            self._places.append(np.concatenate(batch.places)[is_there])
        elif self._are_wanted:
            self._held.extend(list(compress(chain(*batch.texts), is_there.tolist())))

    def has_changed(self) -> bool:
        """Tell whether a file that is read again has been written to since."""
        return self._again is not None and self._again.has_changed()

    def of(self, rows: Sequence[int]) -> Sequence[str]:
        """The texts of rows. Raises SourceError if a file that is read again has them no more."""
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


def _note_repeats(
    side: Input, intake: Intake, hashes: NDArray[np.int64], with_words: NDArray[np.bool_]
) -> None:
    """Note which records share their ids, and which of these count, by hashes of all ids."""
    ordered = np.sort(hashes)
    # Not by `np.unique`, which imports masked arrays without need.
    side.repeated = int(np.count_nonzero(ordered[1:] == ordered[:-1]))
    if not side.repeated:
        return
    counts = intake.options.on_repeat
    if counts != "keep":
        side.documents -= side.repeated
        side.dead = _repeated(
            side.ids, hashes[with_words], last_counts=intake.options.on_repeat == "last"
        )
        return
    assert isinstance(side.ids, Ids)
    assert side.order is not None
    are_shared = np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]])[with_words]
    side.ids.tell_apart(are_shared, side.order.numbers(), ordered)
    if intake.remembering is not None:
        rows = np.flatnonzero(are_shared)
        names = sign.hash_texts([side.ids[row] for row in rows.tolist()])
        intake.remembering.rename(rows, names)


def _repeated(ids: Sequence[AnyId], hashes: NDArray[np.int64], *, last_counts: bool) -> list[int]:
    """The rows whose id, of which there are hashes, others have; without that which counts."""
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [
        row if last_counts else later for row, later in pairs if str(ids[row]) == str(ids[later])
    ]
