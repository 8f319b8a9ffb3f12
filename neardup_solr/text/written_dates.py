"""Dates and times in texts, in any order or with the name of their month, written alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from neardup_solr.regex import regex

_NAMES = (
    "january jan januar jänner januari janvier enero ene gennaio gen janeiro января stycznia",
    "february feb februar februari febr février févr fév febrero febbraio fevereiro февраля lutego",
    "march mar märz mär mrz mars marzo março maart mrt марта marca",
    "april apr avril avr abril abr aprile апреля kwietnia",
    "may mai mayo maggio mag maio mei maj мая maja",
    "june jun juni juin junio giugno giu junho июня czerwca",
    "july jul juli juillet juil julio luglio lug julho июля lipca",
    "august aug août agosto ago augustus augusti августа sierpnia",
    "september sept sep septembre septiembre settembre set setembro сентября września",
    "october oct oktober okt octobre octubre ottobre ott outubro октября października",
    "november nov novembre noviembre novembro ноября listopada",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro декабря grudnia",
)
_MONTHS = {name: at for at, names in enumerate(_NAMES, start=1) for name in names.split()}
_DAY = r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_OF = r"(?:\s*-\s*|,?\s+(?:of\s+|de\s+|del\s+)?)"
_MONTH = r"\b([^\W\d_]{3,11})\b\.?"
_LAST = r"(?![^\W_]|[.,/-]\d)"
DATE = regex(
    r"(?<![^\W_])(?<!\d[.,/-])(?:"
    rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:[t ]00:00(?::00(?:\.0+)?)?z?|t(?=\d)|{_LAST})"
    rf"|(\d{{1,2}})([-/.]) ?(\d{{1,2}})\6 ?(\d{{4}}){_LAST}"
    r"|(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]"
    r")"
)
DAY_FIRST = regex(rf"(?<![^\W_]){_DAY}{_OF}{_MONTH}(?:{_OF}(\d{{4}})\b)?")
MONTH_FIRST = regex(rf"{_MONTH}\s+{_DAY}(?![^\W_])(?:,?\s+(\d{{4}})\b)?")
TIME = regex(
    r"(?<![\w.,:])([01]?\d|2[0-3])"
    r"(?:[:.h]([0-5]\d)(?::00)?\s*(?:uhr\b|([ap])\.?m\b\.?)|\s*([ap])\.?m\b\.?|:([0-5]\d)(?::00)?z?)"
    r"(?![\w]|[.:]\d)",
    re.I,
)
_SLASHED = regex(r"(?<![\w/])(\d{1,2})/ ?(\d{1,2})/ ?\d{4}(?![\w/])")


def are_day_first(texts: Iterable[str]) -> bool:
    """Tell whether the day comes first in most dates with slashes of which one can tell."""
    balance = 0
    for text in texts:
        if "/" in text:
            for first, second in _SLASHED.findall(text):
                balance += (int(first) > 12) - (int(second) > 12)
    return balance > 0


def write_date(match: re.Match[str]) -> str:
    return _write_ordered_date(match, is_day_first=False)


def write_date_day_first(match: re.Match[str]) -> str:
    return _write_ordered_date(match, is_day_first=True)


def _write_ordered_date(match: re.Match[str], *, is_day_first: bool) -> str:
    """Write a date as a word. Of one with slashes that may be either, the caller knows the order.

    The day is first in those with points and hyphens.
    """
    year, _, month, day, first, sign, second, last, *named = match.groups()
    if last is None:
        return _make_date(*map(int, named if year is None else (year, month, day)))
    low, high = sorted((int(first), int(second)))
    is_month_first = sign == "/" and not is_day_first
    month, day = (int(first), int(second)) if is_month_first else (int(second), int(first))
    return _make_date(int(last), *((low, high) if high > 12 else (month, day)))


def write_day_first(match: re.Match[str]) -> str:
    return _write_named_date(match[0], match[1], match[2], match[3])


def write_month_first(match: re.Match[str]) -> str:
    return _write_named_date(match[0], match[2], match[1], match[3])


def _write_named_date(written: str, day: str, name: str, year: str | None) -> str:
    month = _MONTHS.get(name)
    if month is None or not 1 <= int(day) <= 31:
        return written
    return _make_date(int(year or 0), month, int(day))


def _make_date(year: int, month: int, day: int) -> str:
    """Write a date as a word."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return f"{year}-{month}-{day}"
    return f" d{year:04}{month:02}{day:02} "


def show_date(number: str) -> str:
    if re.fullmatch(r"d\d{8}", number):
        return f"{number[1:5]}-{number[5:7]}-{number[7:]}".removeprefix("0000-")
    return number


def write_time(match: re.Match[str]) -> str:
    hour, first, of_first, alone, second = match.groups()
    half = of_first or alone
    hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    return f"{hours}:{first or second or '00'} "


def write_named_day(match: re.Match[str]) -> str:
    return match[0] if match[3] is None else write_day_first(match)


def write_named_month(match: re.Match[str]) -> str:
    return match[0] if match[3] is None else write_month_first(match)
