"""Groups of documents that have equal values in the fields `same`: only these are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from neardup_solr.errors import SettingsError
from neardup_solr.memory import Rows
from neardup_solr.sources.values import plain

Key: TypeAlias = str | tuple[str, ...]


@dataclass(slots=True)
class Groups:
    """Numbers of documents by row, equal for those that have equal values in all `fields`.

    `alone` documents lack one of the values: each has a number of its own, and so is compared with
    nothing.
    """

    fields: Sequence[str]
    rows: Rows
    alone: int = 0
    _numbers: dict[tuple[Key, ...], int] = field(default_factory=dict)

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Number the next documents. `columns` has their values of each field."""
        numbers = [self._number_value(values) for values in zip(*columns, strict=True)]
        self.rows.append(np.array(numbers, dtype=np.uint32)[:, None])

    def table(self) -> NDArray[np.uint32]:
        """The numbers of all documents.

        Raises SettingsError if none has all values.
        """
        table = self.rows.table()[:, 0]
        if len(table) and self.alone == len(table):
            reason = f"no document has a value in {' and '.join(self.fields)}"
            raise SettingsError(reason, "check the names in `same`", code="field-empty")
        return table

    def _number_value(self, values: Sequence[Any]) -> int:
        new = len(self._numbers) + self.alone
        keys = tuple(make_key(plain(value)) for value in values)
        if not all(keys):
            self.alone += 1
            return new
        return self._numbers.setdefault(keys, new)


def make_key(value: Any) -> Key:
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
