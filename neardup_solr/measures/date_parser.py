"""Dates as people write them: by numbers or with the name of the month, whole or in part."""
# ruff: noqa: RUF001 – names in other scripts are meant

from __future__ import annotations

import datetime
import unicodedata

from neardup_solr.regex import regex

RECENT = 50  # years of two digits below are of this century, as in e-mails (RFC 2822)
LONGEST = 40  # characters
OTHER_WORDS = 3  # beside the month at most, such as a day of the week, "de" or "about"

_DATE = regex(r"(\d{1,4})(?:(?:[-/.] ?| )(\d{1,4})(?:(?:[-/.] ?| )(\d{1,4}))?)?")
_PACKED_DATE = regex(r"(\d{4})(\d{2})(\d{2})")
_TIME = regex(r"[T ]\d{1,2}:.*")
_SIGNS = regex("[年月日년월일] ?")  # of Chinese, Japanese and Korean
_MARKS = regex("[\u0300-\u036f\u0653-\u0655]")
_TOKEN = regex(r"(\d+)|[^\W\d_]+")
# How the names of each month begin, without accents: English, Germanic, Romance, Slavic, Finnish,
# Hungarian, Turkish, Greek, Indonesian, Arabic.
_MONTHS = """jan ene gen sty led tam oca янв сiч ιαν يناير
feb fev fevr lut uno hel sub фев лют φεβ فبراير
mar maa mrt bre мар бер μαρ مارس
apr avr abr avril kwi dub huh nis апр квi απρ ابريل
mai may maj mei mag kve tou маи мая тра μαι مايو
jun juin giu cze cerven cervn kes haz июн чер ιουν يونيو
jul juil lug lip cervenc cervene hei tem июл лип ιουλ يوليو
aug ago aou sie srp elo авг сер αυγ اغسطس
sep set szep wrz zar syy eyl сен вер σεπ سبتمبر
okt oct ott out paz rij lok eki окт жов οκτ اكتوبر
nov lis marras kas ноя лис νοε نوفمبر
dez dec dic des gru pro jou ara дек гру δεκ ديسمبر"""
_BEGINS = {begin: month for month, names in enumerate(_MONTHS.splitlines(), 1)
           for begin in names.split()}  # fmt: skip
_MONTH = regex("|".join(sorted(_BEGINS, key=len, reverse=True)))


def read_date(text: str, *, month_first: bool = False) -> tuple[int, int, int] | None:
    """Read a date as year, month and day, 0 if missing. Return None if it is none.

    The year comes first, or last after day and month, or month and day if only that is a date; if
    `month_first`, it is the other way round.
    """
    if len(text) > LONGEST:
        return None
    text = _TIME.sub("", _SIGNS.sub("-", text)).strip(" -?~[]()")
    match = _PACKED_DATE.fullmatch(text) or _DATE.fullmatch(text)
    if match is None:
        return _read_named(text)
    first, second, third = (int(part or 0) for part in match.groups())
    orders = [(first, second, third), (third, second, first), (third, first, second)]
    if month_first:
        orders[1:] = orders[:0:-1]
    if second and not third:
        orders.append((second, first, 0))
    return next((order for order in orders if _is_date(*order)), None)


def _is_date(year: int, month: int, day: int) -> bool:
    """Tell whether there is such a date, of which month and day may be missing."""
    try:
        datetime.date(year, month or 1, day or 1)
    except ValueError:
        return False
    return year > 99 and (month > 0 or not day)


def _read_named(text: str) -> tuple[int, int, int] | None:
    """Read a date with the name of its month, "12 March 1845", or a year, "about 1845"."""
    form = _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    tokens = [*_TOKEN.finditer(form)]
    numbers = [token[0] for token in tokens if token[1]]
    words = [token[0] for token in tokens if not token[1]]
    months = [_BEGINS[match[0]] for match in map(_MONTH.match, words) if match is not None]
    if len(words) > 1 + OTHER_WORDS or len(months) > 1 or not 0 < len(numbers) < 3:
        return None
    year = next((number for number in numbers if len(number) == 4), "")
    if not months:
        date = (int(year or 0), 0, 0)
        return date if len(words) == len(numbers) == 1 and _is_date(*date) else None
    if not year and len(numbers) == 2 and len(numbers[1]) == 2:
        year = f"{'20' if int(numbers[1]) < RECENT else '19'}{numbers.pop()}"
    elif year:
        numbers.remove(year)
    date = (int(year or 0), months[0], int(numbers[0]) if numbers else 0)
    return date if _is_date(*date) else None
