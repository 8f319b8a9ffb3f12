"""Moments: dates, with or without a time of day, as numbers in their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from neardup_solr.measures.date_parser import read_date
from neardup_solr.regex import regex

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_COUNT = regex(r"(1\d{9})(\d{3})?(?:\.\d*)?")  # of seconds or milliseconds since 1970
_NUMBERS = regex(r"\s*(\d{1,2})[-/.] ?(\d{1,2})[-/.] ?\d{4}(?!\d).*")
_CLOCK = regex(r"[T ](\d{1,2}):(\d\d)(?::(\d\d))?(?:[.,]\d+)? ?(?:([AaPp])\.?[Mm]\.?)?")


def read_moments(values: Sequence[Any]) -> list[int | None]:
    """Read each value as a moment, in microseconds since 1970, or None for what is no date.

    A value is a text in any notation of `read_date`, with a time or without, a date of Python, or
    a number of seconds or milliseconds; of a list the newest counts. Without a zone, a time is in
    UTC. Whether the month comes before the day is told by all values.
    """
    lists = [value if isinstance(value, list | tuple) else [value] for value in values]
    month_first = _has_month_first(str(value) for each in lists for value in each)
    read = {}  # each text once
    moments: list[int | None] = []
    for each in lists:
        for value in each:
            if (key := (type(value), str(value))) not in read:
                read[key] = _read_moment(value, month_first=month_first)
        of_value = (read[type(value), str(value)] for value in each)
        moments.append(max((moment for moment in of_value if moment is not None), default=None))
    return moments


def _has_month_first(texts: Iterable[str]) -> bool:
    """Tell whether numbers are rather month and day, by those that can be one of them alone."""
    pairs = [(int(match[1]), int(match[2])) for match in map(_NUMBERS.fullmatch, texts) if match]
    return sum(second > 12 for _, second in pairs) > sum(first > 12 for first, _ in pairs)


def _read_moment(value: Any, *, month_first: bool) -> int | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        value = _parse(str(value).strip(), month_first=month_first)
    if value is None or value != value:  # NaT of pandas is a datetime
        return None
    if value.tzinfo is None:
        value = value.replace(tzinfo=UTC)
    return int((value - _EPOCH) // _MICROSECOND)


def _parse(text: str, *, month_first: bool) -> datetime | None:
    """Parse a moment as it is written, None if it is none."""
    if count := _COUNT.fullmatch(text):
        return _EPOCH + timedelta(seconds=int(count[1]), milliseconds=int(count[2] or 0))
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        day = read_date(text, month_first=month_first)
    if day is None:
        return None
    hour = minute = second = 0
    if clock := _CLOCK.search(text):
        hour, minute, second = (int(part or 0) for part in clock.groups()[:3])
        hour = hour % 12 + 12 * (clock[4] in "Pp") if clock[4] else hour
    is_clock = hour < 24 and minute < 60 and second < 60
    whole_day = datetime(day[0], day[1] or 1, day[2] or 1, tzinfo=UTC)
    return whole_day + is_clock * timedelta(hours=hour, minutes=minute, seconds=second)
