"""Values as libraries have them, which become Python's, or what JSON has, or texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final, cast
from uuid import UUID

import orjson

from neardup_solr import checks, records
from neardup_solr.regex import regex
from neardup_solr.sources.part import NUMBERED
from neardup_solr.sources.reading import Reading

CHARACTER_BYTES: Final = 4  # of a character in UTF-8
NOT_UTF8: Final = "invalid UTF-8: "  # how the reason begins
HOLDS_NUL: Final = "holds a NUL byte: binary data, or UTF-16 without a byte order mark"
# What JSON does not have is refused, rather than written as an object.
STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
# What stands for a missing value in pandas, by the names of the types: it need not be imported.
MISSING: Final = frozenset({"NAType", "NaTType"})
LOST: Final = regex("[\0\ud800-\udfff]")  # what `lossy` replaces


class Unusable(ValueError):
    """Reason why a value cannot be used, and how its record is written, without the place."""

    def __init__(self, reason: str, raw: bytes | None = None, *, code: str) -> None:
        super().__init__(reason)
        self.raw, self.code = raw, code


def too_large(limit: int) -> str:
    """Write the reason for a record over `limit` bytes."""
    return f"too_large: more than {limit:,} bytes"


def decode(raw: bytes | None, reading: Reading) -> str:
    """Decode a record's UTF-8, or raise Unusable with the offset of the first bad byte.

    None stands for a record that was too large to be held.
    """
    if raw is None:
        raise Unusable(too_large(reading.room()), code="record-too-large")
    if b"\0" in raw and not reading.lossy:
        raise Unusable(HOLDS_NUL, raw, code="encoding")
    try:
        return raw.decode("utf-8", "replace" if reading.lossy else "strict")
    except UnicodeDecodeError as error:
        if reading.encoding:  # it is decoded already; `encodings` marks what could not be
            reason = f"invalid {reading.encoding}: bytes that are not a character"
            raise Unusable(reason, raw, code="encoding") from error
        reason = f"{NOT_UTF8}byte 0x{raw[error.start]:02x} at offset {error.start} of the record"
        raise Unusable(reason, raw, code="encoding") from error


def decode_lines(raws: Sequence[bytes | None]) -> list[str]:
    """Decode lines, or none if any is too long or not UTF-8."""
    written = join_lines(raws)
    try:
        return [] if written is None or b"\0" in written else written.decode().split("\n")
    except UnicodeDecodeError:
        return []


def join_lines(lines: Sequence[bytes | None]) -> bytes | None:
    """Join the lines of a row as they are written, or None if any was too long to be held."""
    return None if None in lines else b"\n".join(cast("Sequence[bytes]", lines))


def read_value(boxed: Any, reading: Reading) -> Any:
    """Make a value of Python of an id or a text of a library, or raise Unusable."""
    plain_value = unbox(boxed)
    if type(plain_value) is bytes:
        return decode(plain_value, reading)
    if type(plain_value) in (list, tuple):  # a tuple stands for several columns later
        return [read_value(part, reading) for part in plain_value]
    if type(plain_value) is str and not plain_value.isascii() and not reading.lossy:
        try:
            plain_value.encode()
        except UnicodeEncodeError as error:
            reason = f"a lone surrogate (U+{ord(plain_value[error.start]):04X}) is not a character"
            raise Unusable(f"invalid Unicode: {reason}", code="encoding") from error
    return plain_value


def read_id(boxed: Any, reading: Reading) -> Any:
    """Make a text or a whole number of an id of a library, if it is one, or raise Unusable."""
    id = read_value(records.as_whole(boxed), reading)
    return str(id) if isinstance(id, UUID) else id


def read_kept(name: str, boxed: Any, reading: Reading) -> Any:
    """Make a value to keep as JSON has it, or raise Unusable if it has no such form."""
    kept = plain(decode(boxed, reading) if type(boxed) is bytes else boxed)
    kept = replace_lost(kept) if reading.lossy else kept
    if kept is None or type(kept) is bool:
        return kept
    try:
        orjson.dumps(kept, option=STRICT)
    except TypeError as error:  # orjson's: an unknown type, a lone surrogate, over 64 bits
        reason = f"the column {name!r} cannot be kept as JSON ({error})"
        raise Unusable(reason, code="value-invalid") from error
    return kept


def unbox(value: Any) -> Any:
    """Make a value of Python of that of a library, and None of what is missing, such as NaN.

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
    """Make what JSON has of a value: dates in ISO form, decimals as text, NaN as None.

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
        return value.decode("utf-8", "backslashreplace")
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    return str(value) if isinstance(value, timedelta | UUID | PurePath) else value


def replace_lost(value: Any) -> Any:
    """Replace NUL and lone surrogates in all texts of a value."""
    if type(value) is str and value is not NUMBERED:
        return LOST.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return type(value)(map(replace_lost, value))
    if isinstance(value, dict):
        return {name: replace_lost(each) for name, each in value.items()}
    return value


def spell(value: object) -> object:
    """Write a number or a date as people do: 2024.0 is 2024, and midnight is no part of a day."""
    if not isinstance(value, int | float | date | Decimal):
        return value
    if value != value:  # NaN, and no time
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, datetime) and value.time() == time.min:
        value = value.date()
    return str(value)


def as_kept(name: str, value: object) -> object:
    """Make what Solr stores of a value: text, numbers, true or false, and flat lists of those.

    Solr would take an object for an order to change the document ({"add": ...}) or for another
    document within it, and store a list within a list as Java prints it: both become their JSON.
    """
    if isinstance(value, dict):
        return _json_text(name, value)
    if isinstance(value, list):
        return [_json_text(name, part) if isinstance(part, dict | list) else part for part in value]
    return value


def _json_text(name: str, value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:  # orjson's, for more than 254 levels
        reason = f"the column {name!r} cannot be kept as JSON ({error})"
        raise Unusable(reason, code="value-invalid") from error


def describe_kind(value: object) -> str:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return f"the number {value}" if len(str(value)) < 40 else "a very long number"
    names = {bool: "true or false", dict: "an object"}
    return names.get(type(value)) or checks.with_article(type(value).__name__)
