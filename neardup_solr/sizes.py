"""Sizes and times as people write them."""

from __future__ import annotations

from neardup_solr.errors import ArgumentError

UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}
SECONDS = {"s": 1, "m": 60, "h": 3600}
MAX_DOC_BYTES = "10M"  # of text in a document, unless another bound is given


def in_bytes(size: str, name: str | None = None) -> int:
    """The bytes of a size such as 512m, 1.5G or 4GB, in powers of 1024; without a unit, itself.

    Raises ArgumentError, about the argument of that name, if it is not a size.
    """
    number = size.strip().lower().removesuffix("b")
    unit = UNITS.get(number[-1:])
    try:
        return int(float(number if unit is None else number[:-1]) * (unit or 1))
    except (ValueError, OverflowError):
        about = f"{size} is not a size" if name is None else f"`{name}` {size} is not a size"
        raise ArgumentError(about, "give one such as 512M or 4G") from None


def as_bytes(given: int | str, name: str) -> int:
    """The bytes of a size, or of their number; raises ArgumentError as `in_bytes` does."""
    return in_bytes(given, name) if isinstance(given, str) else given


def in_seconds(time: str, name: str) -> float:
    """The seconds of a time such as 90s, 5m or 1h; without a unit, seconds.

    Raises ArgumentError, about the argument of that name, if it is not a time.
    """
    number = time.strip().lower()
    unit = SECONDS.get(number[-1:])
    try:
        seconds = float(number if unit is None else number[:-1]) * (unit or 1)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise ArgumentError(f"`{name}` {time} is not a time", "give one such as 90s or 5m")
    return seconds


def as_seconds(given: float | str, name: str) -> float:
    """The seconds of a time, or of their number; raises ArgumentError as `in_seconds` does."""
    if isinstance(given, str):
        return in_seconds(given, name)
    if given < 0:
        raise ArgumentError(f"`{name}` cannot be {given:g}", "give 0 or more")
    return given


def most_failed(given: str, records: int) -> float:
    """Parse how many records may fail: "20", or a share of them, "0.1%" or "0.001".

    Raises ArgumentError if it is neither.
    """
    try:
        number = float(given.removesuffix("%"))
    except ValueError:
        number = -1.0
    is_share = "%" in given or "." in given
    share = number / 100 if "%" in given else number
    if not number >= 0 or (is_share and share > 1):
        step = "give a number such as 20, or a share such as 0.1%"
        raise ArgumentError(f"`max_failed` cannot be {given!r}", step)
    return share * records if is_share else number


def counted(number: int, what: str, several: str | None = None) -> str:
    """A number of things, in the singular if it is one; `several` if an s does not make them."""
    return f"{number:,} {what if number == 1 else several or f'{what}s'}"


def documents(count: int) -> str:
    """A number of documents in words, such as "1 document" or "2,000 documents"."""
    return counted(count, "document")
