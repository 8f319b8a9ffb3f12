"""The documents that are compared: ids, signatures and texts of one source, or of two sides."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.candidates import ONE_GROUP
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.measures import Flat, choose_measure, read_measure
from neardup_solr.memory import Column, Lists, Rows, Spill, Strings, release_unused
from neardup_solr.minhash import sign
from neardup_solr.progress import LOG, Failures, ignore
from neardup_solr.records import AnyId
from neardup_solr.settings import Settings, settings_of
from neardup_solr.sources import is_collection
from neardup_solr.sources.record import plain
from neardup_solr.templates import Common, find_common
from neardup_solr.text.packed import Packed, size_of
from neardup_solr.threads import prefetch, thread_pool

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.solr.documents import CollectionState
    from neardup_solr.verbs.duplicates import Options
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

    Compared: TypeAlias = sources.SourceLike | Collection
else:
    Compared = Any

_Key: TypeAlias = str | tuple[str, ...]
READING = "reading"
AT_ONCE = 20_000  # texts that are read at once
SAMPLED = 50_000  # documents, for what many have in common
LOOKED_AT = 1_000  # documents whose numbers of words choose the measure, about
PAGE = 500  # documents that are requested at once
FIRST, MOST = 100, 10_000  # or while others are worked on: the first ones, and at most
CHARACTERS = 1 << 24  # that those have, about
THREADS = os.cpu_count() or 1  # that compare


@dataclass(slots=True, kw_only=True)
class RecordOrder:
    """Which records of a source are documents, in its order.

    `are_documents` has 1 for each record that makes a document, `have_words` 1 for each document
    that has words; `positions` and `reasons` are those of the records that make none.
    """

    are_documents: bytearray = field(default_factory=bytearray)
    have_words: bytearray = field(default_factory=bytearray)
    positions: Strings
    reasons: Strings

    def fail(self, error: RecordError) -> None:
        """Note a record that makes no document."""
        self.are_documents.append(0)
        self.positions.extend([error.position])
        self.reasons.extend([error.reason])

    def numbers(self) -> NDArray[np.intp]:
        """The numbers of the records of all rows, from 1 on."""
        documents = np.flatnonzero(np.frombuffer(self.are_documents, np.uint8))
        return 1 + documents[: len(self.have_words)][np.frombuffer(self.have_words, np.bool_)]


@dataclass(slots=True, kw_only=True)
class Input:
    """The documents of one source that have words: ids and texts by row, and what was left out.

    `unsigned` documents have text but no signature; `repeated` records had an id that others have;
    `dead` rows do not count beside those. `state` is the state of a collection when it was read,
    `order` that of the records of a source, `words` how many words each of its documents has;
    `are_whole` tells whether all ids are given back as whole numbers, `digest` the texts of a
    source, if there is a checkpoint.
    """

    ids: Column[Any]
    texts: Callable[[Sequence[int]], Sequence[str | None]]
    values: Callable[[Sequence[int], Sequence[str]], Mapping[str, list[Any]]]
    documents: int = 0
    failures: Failures = field(default_factory=lambda: Failures(ignore))
    unsigned: int = 0
    is_cut: bool = False
    repeated: int = 0
    dead: list[int] = field(default_factory=list)
    collection: Collection | None = None
    state: CollectionState | None = None
    order: RecordOrder | None = None
    words: Rows | None = None
    are_whole: Callable[[], bool] = lambda: False
    digest: bytes = b""


@dataclass(slots=True)
class Groups:
    """Numbers of documents by row, equal for those that have equal values in all `fields`.

    `alone` documents lack one of the values: each has a number of its own, and so is compared with
    nothing.
    """

    fields: Sequence[str]
    rows: Rows
    alone: int = 0
    _numbers: dict[tuple[_Key, ...], int] = field(default_factory=dict)

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Number the next documents. `columns` has their values of each field."""
        numbers = [self._number(values) for values in zip(*columns, strict=True)]
        self.rows.append(np.array(numbers, dtype=np.uint32)[:, None])

    def table(self) -> NDArray[np.uint32]:
        """The numbers of all documents.

        Raises SettingsError if none has all values.
        """
        table = self.rows.table()[:, 0]
        if len(table) and self.alone == len(table):
            reason = f"no document has a value of {' and '.join(self.fields)}"
            raise SettingsError(reason, "check the names in `same`")
        return table

    def _number(self, values: Sequence[Any]) -> int:
        new = len(self._numbers) + self.alone
        keys = tuple(_key(plain(value)) for value in values)
        if not all(keys):
            self.alone += 1
            return new
        return self._numbers.setdefault(keys, new)


def _key(value: Any) -> _Key:
    """Make a key of a value, or of several in any order, that is "" or () for none.

    A field of Solr that takes several values may have one.
    """
    if not isinstance(value, list):
        return _as_text(value)
    texts = sorted({_as_text(each) for each in value} - {""})
    return texts[0] if len(texts) == 1 else tuple(texts)


def _as_text(value: Any) -> str:
    """A value as a text, "" for none: 2024 is a text in CSV, a number in JSON, in pandas 2024.0."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value, default=str).decode()


def fitting_parts(count: int, read: Callable[[], tuple[int, int]]) -> Iterator[slice]:
    """Split so many texts into parts to read at once, by the length of those before.

    `read` gives how many have been read by then, and how many characters they have.
    """
    at = 0
    while at < count:
        done, characters = read()
        fitting = CHARACTERS * done // max(characters, 1) if done else FIRST
        last = min(at + max(1, min(MOST, fitting)), count)
        yield slice(at, last)
        at = last


@dataclass(slots=True, kw_only=True)
class Gathered:
    """All that is compared, by row: the rows of the second side come after those of the first.

    `options` are what was asked, `spill` holds what does not fit into memory, `previous` is an
    earlier run, if runs are remembered. What is read is added to `rows` (signatures), `sets` (the
    shingles of each document, None if they are not wanted), `numbers` (of groups, if there are
    such) and `sides`.

    Only documents of the same of `groups` are compared; it is empty if all are. The rows that are
    `dead`, because another record of their id counts, have groups of their own.
    """

    options: Options
    spill: Spill
    settings: Settings
    rows: Rows
    sets: Lists | None = None
    numbers: Groups | None = None
    previous: PreviousRun | None = None
    sides: list[Input] = field(default_factory=list)
    signatures: NDArray[np.uint32] = field(default_factory=lambda: np.empty((0, 0), np.uint32))
    groups: NDArray[np.uint32] = field(default_factory=lambda: ONE_GROUP)
    common: Common | None = None
    dead: list[int] = field(default_factory=list)
    _forms: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.signatures)

    @property
    def remembering(self) -> PreviousRun | None:
        """The earlier run, if this one can be remembered."""
        return self.previous if self.previous is not None and self.previous.is_kept else None

    @property
    def may_change(self) -> bool:
        """True if others may change the texts meanwhile, as those of a collection."""
        return any(side.collection is not None for side in self.sides)

    @property
    def bounds(self) -> list[int]:
        """The first row of each side, and the number of all rows."""
        return list(accumulate((len(side.ids) for side in self.sides), initial=0))

    def by_side(self, rows: Sequence[int]) -> Iterator[tuple[Input, list[int]]]:
        """Split ascending rows by their sides, in which they begin at 0."""
        for side, first, last in zip(self.sides, self.bounds, self.bounds[1:], strict=False):
            yield side, [row - first for row in rows if first <= row < last]

    def ids(self, rows: Sequence[int]) -> list[AnyId]:
        """The ids of rows, in ascending order."""
        return [id for side, own in self.by_side(rows) for id in side.ids.take(own)]

    def texts(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows, in ascending order, or None if a document is no longer there."""
        if len(self.sides) == 1:
            return self.sides[0].texts(rows)
        return [text for side, own in self.by_side(rows) for text in side.texts(own)]

    def normalize(self, texts: Sequence[str | None]) -> Packed:
        """Make the normal forms of texts, "" for one that is no longer there."""
        known = [text or "" for text in texts]
        return sign.normal_forms(known, self.settings.normalization, threads=THREADS)

    def compared(self, rows: Sequence[int]) -> Sequence[str | None]:
        """The texts of rows as they are compared: without what is `common`."""
        texts = self.texts(rows)
        if self.common is None:
            return texts
        rest = self.common.strip(self.normalize(texts))
        return [text and form for text, form in zip(texts, rest, strict=True)]

    def leave_out_common(self, share: float | None) -> None:
        """Find what many documents have in common, and sign all of them anew without it."""
        living = self.living()
        some = living[np.linspace(0, len(living) - 1, min(len(living), SAMPLED)).astype(np.int64)]
        texts = (
            self.texts(some[at : at + AT_ONCE].tolist()) for at in range(0, len(some), AT_ONCE)
        )
        forms = [form for part in texts for form in self.normalize(part)]
        self.common = find_common(forms, share)
        rows = self.spill.rows(self.settings.hashes, np.uint32)
        for at in range(0, len(self), AT_ONCE):
            rest = [text or "" for text in self.compared(range(at, min(at + AT_ONCE, len(self))))]
            signed = sign.sign(rest, self.settings, threads=THREADS, keep_keys=False)
            rows.append(signed.signatures)
        self.signatures = rows.table()
        runs = "words" if self.common.size == 1 else f"runs of {self.common.size} words"
        LOG.warning("compared without %s that %.2g %% of the documents or more share: %d",
                    runs, 100 * self.common.share, len(self.common.hashes))  # fmt: skip

    def living(self) -> NDArray[np.intp]:
        """The rows that count, in ascending order."""
        return np.delete(np.arange(len(self)), self.dead)

    def fits(self, most: int) -> bool:
        """Tell whether texts that count have at most `most` characters, reading few of them."""
        total, rows = 0, self.living()
        for at in range(0, len(rows), PAGE):
            texts = self.compared(rows[at : at + PAGE].tolist())
            total += sum(len(text or "") for text in texts)
            if total > most:
                return False
        return True

    def forms(self) -> list[str]:
        """Normalise the texts of all documents once, "" for one that is no longer there."""
        for at in range(len(self._forms), len(self), AT_ONCE):
            texts = self.compared(range(at, min(at + AT_ONCE, len(self))))
            self._forms.extend(self.normalize(texts))
        return self._forms

    def read_sets(self, tell: Callable[[int], None]) -> Flat:
        """Read the shingles of all documents, if they were not kept while these were signed.

        `tell` gets how many are done.
        """
        if self.sets is not None:
            return self.sets.flat()
        from neardup_solr.measures.sets import hash_sets

        sets, every, characters = self.spill.lists(), range(len(self)), 0
        parts = (every[part] for part in fitting_parts(len(self), lambda: (len(sets), characters)))
        with thread_pool(1) as reader:
            for texts in prefetch(reader, self.compared, parts):
                forms = self.normalize(texts)
                sets.extend(hash_sets(forms, self.settings))
                characters += size_of(forms)
                tell(len(sets))
        return sets.flat()

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows, in ascending order, or None if there is no value."""
        if not fields:
            return {}
        found = [side.values(own, fields) for side, own in self.by_side(rows)]
        return {name: [value for side in found for value in side[name]] for name in fields}


def gather(options: Options, spill: Spill, previous: PreviousRun | None = None) -> Gathered:
    """Read one source, or two sides, and sign those that are not collections.

    The stored settings of a collection apply to both sides.

    Raises SettingsError if two collections have different settings.
    """
    stored = [_read_settings(each) for each in options.given if is_collection(each)]
    # Not by their fields: those that are read are there, and others do not shape signatures.
    if len({replace(each, fields=frozenset()) for each in stored}) == 2:
        shown = " and ".join(f"[{each.fingerprint}]" for each in stored)
        reason = f"the two collections were indexed with different settings, {shown}"
        raise SettingsError(reason, "index one of them again with the settings of the other")
    settings = stored[0] if stored else settings_of(options.settings)
    if stored:
        options.settle(*read_measure(settings))
    gathered = Gathered(
        options=options,
        spill=spill,
        settings=settings,
        rows=spill.rows(settings.hashes, np.uint32),
        sets=spill.lists()
        if options.needs_sets and not (stored or options.without_common)
        else None,
        numbers=Groups(options.same, spill.rows(1, np.uint32)) if options.same else None,
        previous=previous,
    )
    if previous is not None:
        previous.open(settings, " ".join(_describe(each, options) for each in options.given))
    for each, reading in zip(options.given, options.readings, strict=False):
        if is_collection(each):
            from neardup_solr.verbs.duplicates.from_solr import read_collection

            side = read_collection(each, gathered)
        else:
            from neardup_solr.verbs.duplicates.from_source import sign_source

            side = sign_source(each, reading, gathered)
        gathered.dead += [sum(len(one.ids) for one in gathered.sides) + row for row in side.dead]
        gathered.sides.append(side)
    words = [side.words.table()[:, 0] for side in gathered.sides if side.words is not None]
    if words:
        every = np.concatenate(words)
        options.settle(*choose_measure(settings, every[:: len(every) // LOOKED_AT or 1].tolist()))
    if previous is not None:
        previous.require_rememberable()
    release_unused()
    gathered.signatures = gathered.rows.table()
    if gathered.remembering is not None:
        gathered.remembering.settle(gathered.dead)
    if gathered.numbers is not None:
        gathered.groups = gathered.numbers.table()
    if dead := gathered.dead:
        groups = gathered.groups.copy()
        groups = groups if len(groups) else np.zeros(len(gathered), dtype=np.uint32)
        groups[dead] = int(groups.max()) + 1 + np.arange(len(dead), dtype=np.uint32)
        gathered.groups = groups
    if options.without_common:
        share = options.without_common
        gathered.leave_out_common(None if share is True else share)
    return gathered


def _describe(given: Compared, options: Options) -> str:
    """Describe what is compared of a collection or of a source: anything else is another work."""
    if is_collection(given):
        filters = f" {options.fq!r}" if options.fq else ""
        return given.identity + filters
    return f"a source, on repeat {options.on_repeat}"


def _read_settings(collection: Collection) -> Settings:
    if not collection.commit_if_allowed():
        LOG.warning("%s: this user may not commit; only what is committed is read", collection.url)
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings
