"""One side of what is compared: its documents, and how they come to be known."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr import sources
from neardup_solr.arguments import require, require_positive
from neardup_solr.choices import OnRepeatOrKeep
from neardup_solr.errors import RecordError, SettingsError
from neardup_solr.progress import SILENT, Failures, Watching, unheard
from neardup_solr.records import AnyId
from neardup_solr.settings import Settings
from neardup_solr.sources import Reading
from neardup_solr.sources.values import plain
from neardup_solr.spill import Rows, Spill, Strings

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection, State
    from neardup_solr.verbs.duplicates.previous_run import PreviousRun

    Compared: TypeAlias = sources.Source | Collection
else:
    Compared = Any

_Key: TypeAlias = str | tuple[str, ...]
READING = "reading"
TWICE = "compare the first one with itself, then what is left of it with the other"


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


@dataclass(slots=True, kw_only=True)
class Order:
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


class Ids(Sequence[AnyId]):
    """Ids by row; the number of its record comes to an id that others have, if all are kept.

    `are_numbers` has 1 for each row whose id is given back as a whole number, or is empty.
    """

    def __init__(self, given: Strings) -> None:
        self._given = given
        self.are_numbers = bytearray()
        self._are_shared: NDArray[np.bool_] | None = None
        self._numbers = np.empty(0, dtype=np.intp)
        self._taken: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._given)

    def __getitem__(self, row: Any) -> Any:
        if self._are_shared is None or not self._are_shared[row]:
            given = self._given[row]
            return int(given) if self.are_numbers and self.are_numbers[row] else given
        return self._taken.get(row) or f"{self._given[row]}@row{self._numbers[row]}"

    @property
    def are_whole(self) -> bool:
        """Whether all ids are given back as whole numbers."""
        return self._are_shared is None and 0 not in self.are_numbers and bool(self.are_numbers)

    def tell_apart(
        self, are_shared: NDArray[np.bool_], numbers: NDArray[np.intp], hashes: NDArray[np.int64]
    ) -> None:
        """Give rows whose ids are shared the `numbers` of their records; `hashes` are of all ids.

        The number comes twice if an id of the source looks like that already.
        """
        self._are_shared, self._numbers = are_shared, numbers
        rows = np.flatnonzero(are_shared)
        while len(rows):
            names = [self[row] for row in rows.tolist()]
            taken = np.isin(np.fromiter(map(hash, names), np.int64, len(names)), hashes)
            rows = rows[taken]
            for row, name in zip(rows.tolist(), compress(names, taken.tolist()), strict=True):
                self._taken[row] = f"{name}@row{numbers[row]}"


@dataclass(slots=True, kw_only=True)
class Side:
    """The documents of one source that have words: ids and texts by row, and what was left out.

    `unsigned` documents have text but no signature; `repeated` records had an id that others have;
    `dead` rows do not count beside those. `state` is the state of a collection when it was read,
    `order` that of the records of a source;
    `has_changed` tells whether a file has been written to since; `digest` tells the texts of a
    source, if there is a checkpoint.
    """

    ids: Sequence[AnyId]
    texts: Callable[[Sequence[int]], Sequence[str | None]]
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
    has_changed: Callable[[], bool] = lambda: False
    digest: bytes = b""


@dataclass(slots=True)
class Groups:
    """Numbers of documents by row, equal for those that have equal values in all `fields`.

    `alone` documents lack one of the values: each has a number of its own, and so is compared with
    nothing.
    """

    fields: tuple[str, ...]
    rows: Rows
    alone: int = 0
    _numbers: dict[tuple[_Key, ...], int] = field(default_factory=dict)

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Number the next documents; `columns` has their values of each field."""
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
    """A value, or several in any order, as what is equal for equal ones; "" or () for none.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """How sources are read, with what settings, and what is kept of them.

    `fq` are filters for the documents of collections, `groups` numbers documents by their values if
    only those with equal ones are compared, `previous` is an earlier run, if runs are remembered.
    `has_sets` says that the shingles of all documents are kept.
    """

    spill: Spill
    settings: Settings
    reading: Reading
    working: Working
    has_texts: bool
    on_repeat: OnRepeatOrKeep = "keep"
    fq: tuple[str, ...] = ()
    groups: Groups | None = None
    has_sets: bool = False
    previous: PreviousRun | None = None

    @property
    def remembering(self) -> PreviousRun | None:
        """The earlier run, if this one can be remembered."""
        return self.previous if self.previous is not None and self.previous.is_kept else None
