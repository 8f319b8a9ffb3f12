"""Values as libraries give them, made Python's own, or as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

import orjson

from neardup_solr import records
from neardup_solr.errors import RecordError
from neardup_solr.records import NOTHING
from neardup_solr.sources.record import (
    MOST_CARRIED,
    Columns,
    Piece,
    Reading,
    Record,
    Unusable,
    as_text,
    decode,
    record,
    run,
)
from neardup_solr.text.packed import Packed

# What JSON does not have is refused, rather than written as an object.
_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
# What stands for a missing value in pandas, by the names of the types: it need not be imported.
MISSING: Final = frozenset({"NAType", "NaTType"})


def from_columns(
    where: str, first: int, parts: Sequence[Sequence[Any]], asked: Columns, reading: Reading
) -> Iterator[Piece]:
    """Make documents of rows, numbered from `first` on. `parts` has their values by column."""
    texts = parts[asked.text[0]]
    ids = () if asked.id is None else list(parts[asked.id])
    numbers = range(first, first + len(texts))
    is_run = len(texts) > 0 and reading.is_in_runs
    found = run(where, numbers, ids, texts, reading=reading) if is_run else None
    if found is not None and (isinstance(texts, Packed) or all(map(_is_unicode, texts))):
        yield found
        return
    for number, row in zip(numbers, zip(*parts, strict=True), strict=True):
        yield from_row(f"{where}{number}", row, asked, reading)


def _is_unicode(text: str) -> bool:
    """Tell whether a text has no lone surrogates."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def from_row(position: str, row: Sequence[Any], asked: Columns, reading: Reading) -> Record:
    """The document in a row of values as a library gives them."""
    try:
        id, text = asked.id_of(row), row[asked.text[0]]
        if type(id) is not str or not id.isascii():
            id = value(id, reading)
        if len(asked.text) > 1:
            text = tuple(value(row[at], reading) for at in asked.text)
        elif type(text) is not str or not text.isascii():
            text = value(text, reading)
        kept = _kept(row, asked, reading) if asked.keep else NOTHING
        made = record(position, id, text, reading=reading, kept=kept)
    except Unusable as problem:
        made = RecordError(position, str(problem))
    if type(made) is RecordError:
        made.record = as_columns(asked.names, row)
    return made


def _kept(row: Sequence[Any], asked: Columns, reading: Reading) -> dict[str, Any]:
    found = ((name, kept_value(name, row[at], reading)) for name, at in asked.keep)
    return {name: each for name, each in found if each is not None}


def value(given: Any, reading: Reading) -> Any:
    """Make Python's own of an id or a text of a library, or raise Unusable."""
    found = unbox(given)
    if type(found) is bytes:
        return decode(found, reading)
    if type(found) is list or type(found) is tuple:  # a tuple stands for several columns later
        return [value(part, reading) for part in found]
    if type(found) is str and not found.isascii():
        try:
            found.encode()
        except UnicodeEncodeError as error:
            reason = f"a lone surrogate (U+{ord(found[error.start]):04X}) is no character"
            raise Unusable(f"invalid Unicode: {reason}") from error
    return found


def kept_value(name: str, given: Any, reading: Reading) -> Any:
    """Make a value to keep as JSON has it, or raise Unusable if it has no such form."""
    found = plain(decode(given, reading) if type(given) is bytes else given)
    if found is None or type(found) is bool:
        return found
    try:
        orjson.dumps(found, option=_STRICT)
    except TypeError as error:  # orjson's own: an unknown type, a lone surrogate, over 64 bits
        raise Unusable(f"the column {name!r} cannot be kept as JSON ({error})") from error
    return found


def unbox(value: Any) -> Any:
    """Make Python's own of a value of a library, and None of a missing one, such as NaN.

    Dates are left as they are, and so is what Python has no equivalent for.
    """
    kind = type(value)
    if kind is str or value is None or kind is int or kind is bool or kind is list or kind is bytes:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if kind.__name__ in MISSING:
        return None
    if isinstance(value, str):  # numpy.str_, or an enum
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if hasattr(value, "as_py"):  # a scalar of Arrow
        return unbox(value.as_py())
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # a scalar or an array of numpy
        return _of_numpy(value)
    return value


def _of_numpy(value: Any) -> Any:
    if value.dtype.kind not in "mM":
        return unbox(value.tolist())
    if getattr(value, "shape", ()):
        return [_of_numpy(part) for part in value]
    text = str(value)  # in ISO form; `tolist` would give a number of nanoseconds
    return None if text == "NaT" else text


def plain(value: Any) -> Any:
    """A value as JSON has it: dates in ISO form, decimals as text, NaN as None.

    What has no such form is left as it is.
    """
    value = unbox(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, list | tuple | set | frozenset):  # tuples are the entries of a map
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return str(value) if isinstance(value, timedelta | UUID | PurePath) else value


def as_columns(names: Iterable[object], row: Iterable[Any]) -> dict[str, Any] | None:
    """Make a dict of a row, or None if it is too long to be carried along."""
    columns = {str(name): each for name, each in zip(names, row, strict=False) if name is not None}
    if records.characters(columns) > MOST_CARRIED:
        return None
    try:
        return {name: _as_json(each) for name, each in columns.items()}
    except RecursionError:  # a list in a list, and so on a thousand times
        return None


def _as_json(value: Any) -> Any:
    return as_text(value) if type(value) is bytes else plain(value)
