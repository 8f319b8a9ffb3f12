"""The documents of a source, signed while they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.arguments import OnRepeatOrKeep
from neardup_solr.clusters import ARRIVAL, LENGTH
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.measures import Flat
from neardup_solr.memory import Column, Rows, Strings
from neardup_solr.minhash import sign
from neardup_solr.minhash.sign import Signed
from neardup_solr.progress import Failures, Progress
from neardup_solr.records import AnyId, Document, Number, Run, check_documents
from neardup_solr.sources import Reading
from neardup_solr.sources.record import Piece, came_before
from neardup_solr.text.packed import Packed, size_of
from neardup_solr.threads import prefetch, thread_pool
from neardup_solr.verbs.duplicates.inputs import READING, THREADS, Gathered, Input, RecordOrder

AT_ONCE = 20_000  # documents that are signed at once,
CHARACTERS = 1 << 23  # or so many that their texts have more characters than this
SIGNERS = 2  # batches that are signed at the same time, so that no core waits for the end of one

Usable: TypeAlias = Document | Run


class Ids(Column[AnyId]):
    """Ids by row, with the number of its record for one that others have, if all are kept.

    `are_numbers` has 1 for each row whose id is given back as a whole number, or is empty.
    """

    def __init__(self, given: Strings) -> None:
        self.given = given  # without numbers of records
        self.are_numbers = bytearray()
        self._are_shared: NDArray[np.bool_] | None = None
        self._numbers = np.empty(0, dtype=np.intp)
        self._taken: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.given)

    def extend(self, ids: Iterable[str]) -> None:
        """Add ids."""
        self.given.extend(list(ids))

    def take(self, rows: Sequence[int]) -> list[AnyId]:
        """Take the ids of rows."""
        given = self.given.take(rows)
        found: list[AnyId] = [*given]
        if self.are_numbers:
            own = zip(rows, given, strict=True)
            found = [int(id) if self.are_numbers[row] else id for row, id in own]
        if self._are_shared is not None:
            for at in np.flatnonzero(self._are_shared[rows]).tolist():
                row = rows[at]
                found[at] = self._taken.get(row) or f"{given[at]}@row{self._numbers[row]}"
        return found

    @property
    def are_whole(self) -> bool:
        """True if all ids are given back as whole numbers."""
        return self._are_shared is None and 0 not in self.are_numbers and bool(self.are_numbers)

    def tell_apart(
        self, are_shared: NDArray[np.bool_], numbers: NDArray[np.intp], hashes: NDArray[np.int64]
    ) -> None:
        """Give rows whose ids are shared the `numbers` of their records. `hashes` are of all ids.

        The number comes twice if an id of the source looks like that already.
        """
        self._are_shared, self._numbers = are_shared, numbers
        rows = np.flatnonzero(are_shared)
        while len(rows):
            names = self.take(rows.tolist())
            taken = np.isin(np.fromiter(map(hash, names), np.int64, len(names)), hashes)
            rows = rows[taken]
            for row, name in zip(rows.tolist(), compress(names, taken.tolist()), strict=True):
                self._taken[row] = f"{name}@row{numbers[row]}"


def sign_source(source: sources.SourceLike, reading: Reading, gathered: Gathered) -> Input:
    """Sign the documents of a source that have words, and add the signatures to `gathered`."""
    options, spill, settings = gathered.options, gathered.spill, gathered.settings
    ids, words, sets = Ids(spill.strings()), spill.rows(1, np.int64), gathered.sets
    columns: dict[str, list[Any]] = {name: [] for name in reading.keep}
    texts, are_wanted = spill.strings(), options.reads_texts or bool(options.texts)
    order = RecordOrder(positions=spill.strings(), reasons=spill.strings())
    side = Input(
        ids=ids,
        texts=texts.pack,
        values=partial(_read_values, words, columns),
        failures=Failures(options.watching.on_error),
        order=order,
        words=words,
        are_whole=lambda: ids.are_whole,
    )
    digest = hashlib.blake2b() if options.checkpoint is not None else None
    remembering, is_in_memory = gathered.remembering, sources.paths_of(source) is None
    signers = min(SIGNERS, THREADS)

    def sign_batch(batch: _Batch) -> tuple[_Batch, Signed, Flat | None]:
        signed = sign.sign_parts(
            batch.texts,
            settings,
            threads=-(-THREADS // signers),
            keep_normal=sets is not None,
            keep_keys=False,
        )
        if sets is None:
            return batch, signed, None
        from neardup_solr.measures.sets import hash_sets

        return batch, signed, hash_sets(signed.normal, settings)

    hashes: list[NDArray[np.int64]] = []  # of all ids
    with_words: list[NDArray[np.bool_]] = []
    usable = _note_usable(_check(source, reading, options.on_repeat), side)
    batches = _batches(_limit(usable, options.limit, side))
    with thread_pool(signers) as pool:
        for batch, signed, own_sets in prefetch(pool, sign_batch, batches, at_once=signers):
            is_there = signed.words > 0
            there = is_there.tolist()
            order.have_words.extend(is_there.tobytes())
            hashes.append(np.fromiter(map(hash, batch.ids), np.int64, len(batch.ids)))
            with_words.append(is_there)
            side.documents += len(batch.ids)
            ids.extend(compress(batch.ids, there))
            if is_in_memory:
                ids.are_numbers.extend(compress(batch.are_numbers, there))
            # If all have words, without a copy, which takes a tenth as long as signing.
            gathered.rows.append(
                signed.signatures if is_there.all() else signed.signatures[is_there]
            )
            words.append(signed.words[is_there][:, None])
            if are_wanted:
                batch.add_to(texts, is_there)
            if sets is not None and own_sets is not None:
                ends = own_sets.bounds[1:][is_there]  # the sets of the others are empty
                sets.extend(own_sets._replace(bounds=np.concatenate([[0], ends])))
            if digest is not None or remembering is not None:
                contents = np.concatenate([sign.hash_texts(part) for part in batch.texts])
                if digest is not None:
                    digest.update(contents.data)
                if remembering is not None:
                    remembering.add(sign.hash_texts(batch.ids)[is_there], contents[is_there])
            for name, column in columns.items():
                column.extend(kept.get(name) for kept in compress(batch.kept, there))
            if gathered.numbers is not None:
                first = len(ids) - sum(there)
                gathered.numbers.add([columns[name][first:] for name in options.same])
            options.watching.on_progress(Progress(READING, side.documents, options.limit))
    side.digest = digest.digest() if digest is not None else b""
    if hashes:
        _note_repeats(side, ids, gathered, np.concatenate(hashes), np.concatenate(with_words))
    return side


def _check(
    source: sources.SourceLike, reading: Reading, on_repeat: OnRepeatOrKeep
) -> Iterator[Piece]:
    """Read a source, with an error in place of each record that cannot be used."""
    found = check_documents(sources.pieces(source, reading=reading))
    return _fail_repeated(found) if on_repeat == "fail" else found


def _fail_repeated(found: Iterator[Piece]) -> Iterator[Piece]:
    """Put an error in place of each record whose id came before."""
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


def _note_usable(found: Iterator[Piece], side: Input) -> Iterator[Usable]:
    """Yield the documents that can be used, count the others, and note the order of all."""
    assert side.order is not None
    for piece in found:
        if isinstance(piece, RecordError):
            side.order.fail(piece)
            side.failures.add(piece)
        else:
            side.order.are_documents.extend(b"\1" * (len(piece) if isinstance(piece, Run) else 1))
            yield piece


def _limit(usable: Iterator[Usable], limit: int | None, side: Input) -> Iterator[Usable]:
    """Yield the first documents, and note in `side` if there are more."""
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
    """Documents that are signed at once, column by column, with texts in parts."""

    ids: list[str] = field(default_factory=list)
    are_numbers: bytearray = field(default_factory=bytearray)
    texts: list[list[str] | Packed] = field(default_factory=lambda: [[]])
    kept: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, found: Usable) -> int:
        """Add what follows, and return the number of its characters."""
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
        return size_of(found.texts)

    def add_to(self, texts: Strings, is_there: NDArray[np.bool_]) -> None:
        """Add the texts of the documents that are there."""
        for part in self.texts:
            own, is_there = is_there[: len(part)], is_there[len(part) :]
            texts.extend(part if own.all() else list(compress(part, own.tolist())))

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


def _read_values(
    words: Rows, columns: Mapping[str, list[Any]], rows: Sequence[int], fields: Sequence[str]
) -> dict[str, list[Any]]:
    """Read the values of fields by row: of kept columns, and what is known of any text."""
    found: dict[str, list[Any]] = {}
    for name in fields:
        if name == LENGTH:
            found[name] = words.table()[rows, 0].tolist()
        elif name == ARRIVAL:
            found[name] = list(rows)
        elif name in columns:
            found[name] = [columns[name][row] for row in rows]
        else:
            reason = f"the source's column {name!r} is not kept"
            raise SettingsError(reason, f"add {name!r} to `keep`")
    return found


def _note_repeats(
    side: Input,
    ids: Ids,
    gathered: Gathered,
    hashes: NDArray[np.int64],
    with_words: NDArray[np.bool_],
) -> None:
    """Note which records share their ids, and which of these count, by hashes of all ids."""
    ordered = np.sort(hashes)
    # Not by `np.unique`, which imports masked arrays without need.
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    side.repeated = len(shared)
    if not side.repeated:
        return
    counts = gathered.options.on_repeat
    if counts != "keep":
        side.documents -= side.repeated
        side.dead = _find_dead(ids, hashes[with_words], last_counts=counts == "last")
        return
    assert side.order is not None
    are_shared = np.isin(hashes, shared)[with_words]
    ids.tell_apart(are_shared, side.order.numbers(), ordered)
    if gathered.remembering is not None:
        rows = np.flatnonzero(are_shared)
        names = sign.hash_texts(list(map(str, ids.take(rows.tolist()))))
        gathered.remembering.rename(rows, names)


def _find_dead(ids: Ids, hashes: NDArray[np.int64], *, last_counts: bool) -> list[int]:
    """Find the rows whose id, of which there are hashes, others have, but for that which counts."""
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
    pairs = ((int(order[at]), int(order[at + 1])) for at in same.tolist())
    return [
        row if last_counts else later for row, later in pairs if str(ids[row]) == str(ids[later])
    ]
