"""Sizes, times and shares as people write them: 4G, 90s, 0.1%."""

from __future__ import annotations

import math
from collections.abc import Mapping

from neardup_solr.errors import ArgumentError

UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}
SECONDS = {"s": 1, "m": 60, "h": 3600}


def in_bytes(size: int | str, name: str | None = None) -> int:
    """Parse a size such as 512m, 1.5G or 4GB, in powers of 1024, without a unit in bytes.

    Raises ArgumentError, about the argument of that name, if it is not a size.
    """
    if not isinstance(size, str):
        return size
    try:
        return int(_parse(size.strip().lower().removesuffix("b"), UNITS))
    except (ValueError, OverflowError):
        of = size if name is None else f"`{name}` {size}"
        step = "give one such as 512M or 4G"
        raise ArgumentError(f"{of} is not a valid size", step, code="argument-invalid") from None


def in_seconds(time: float | str, name: str) -> float:
    """Parse a time such as 90s, 5m or 1h, without a unit in seconds.

    Raises ArgumentError, about the argument of that name, if it is not a time.
    """
    if not isinstance(time, str):
        if time < 0:
            reason = f"`{name}` cannot be {time:g}"
            raise ArgumentError(reason, "give 0 or more", code="argument-out-of-range")
        return time
    try:
        seconds = _parse(time, SECONDS)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        reason, step = f"`{name}` {time} is not a valid time", "give one such as 90s or 5m"
        raise ArgumentError(reason, step, code="argument-invalid")
    return seconds


def _parse(text: str, units: Mapping[str, int]) -> float:
    number = text.strip().lower()
    unit = units.get(number[-1:])
    return float(number if unit is None else number[:-1]) * (unit or 1)


def most_failed(limit: str, records: int) -> float:
    """Parse how many records may fail: "20", or a share of them, "0.1%" or "0.001".

    Raises ArgumentError if it is neither.
    """
    try:
        number = float(limit.removesuffix("%"))
    except ValueError:
        number = -1.0
    is_share = "%" in limit or "." in limit
    share = number / 100 if "%" in limit else number
    if not number >= 0 or (is_share and share > 1):
        step = "give a number such as 20, or a share such as 0.1%"
        raise ArgumentError(f"`max_failed` cannot be {limit!r}", step, code="argument-invalid")
    return share * records if is_share else number
