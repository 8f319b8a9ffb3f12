"""Traits of a column by its values: codes, dates, amounts, times of entry, categories."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any

import numpy as np

from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import ArgumentError
from neardup_solr.measures.columns import MISSING, FieldColumn, FieldKind, make_column
from neardup_solr.regex import regex
from neardup_solr.text.normalize import normalize

FEW = 20  # records, of which nothing is left out: chance makes values equal, or all unlike
FILLED = 0.05  # of the records, which have a value at least
MOST = 0.95  # of the values, which stand for all
CONSTANT = 0.97  # of the values, which are all the same
DISTINCT = 0.5  # of the values, at least, of what tells records apart
SHORT, CATEGORIES = 4, 50  # characters of a value, and values, that are categories
MONTHS = 0.5  # of dates, at least, with a month: others may be years
SPAN = 20  # years, within which records are entered
SECONDS = 12  # different ones at least, of a clock: a plan has few
FIRST_YEAR, LAST_YEAR = 1800, 2050  # as whole numbers
WIDE = 4  # more digits than small amounts have large ones
ONE_VALUE, UNIQUE, NUMBERS = "one value", "unique in each record", "row numbers"
_NUMBER = regex(
    r"(?P<before>(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|BRL|MXN|RUB|TRY|ZAR|KRW|SEK|NOK|DKK|PLN|CZK"
    r"|HUF)|[^\w\s.,(/-])?\s?[-+]?"
    r"(?:\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3})+|\d+)"
    r"(?P<rest>[.,](?:\d+|[-\u2013]+))?(?:[eE][-+]?\d+)?"
    r"(?P<behind>\s?(?:[^\W\d]{1,3}|[^\w\s.,:()/-]))?"
)
_MAIL = regex(r"[^@\s]+@[^@\s]+\.\w+")
_CODE = regex(r"[!-~]*\d[!-~]*|[^@\s]+@[^@\s]+\.\w+|\w+://\S+|(?=.*\d)(?!.*[^\W\d_]{4}).+")
TOKEN = regex(r"\S+")
_RANGE = regex(r"\D?\d+\D?\s*[-\u2010-\u2015]+\s*\D?\d+\D?")  # of pages
_CLOCK = regex(r".*\d[T ](?!00?:00(?::00(?:\.0*)?)?(?:[Z+]|$))\d{1,2}:\d\d.*")
_SECONDS = regex(r".*\d[T ]\d{1,2}:\d\d:(\d\d(?:\.\d+)?).*")
_TIME = regex(r"(?:\D?\d{1,2}[:.h]\d\d(?::\d\d)?\s?(?:[AaPp]\.?[Mm]\.?)?\D?){1,2}")  # of day
_MOMENT = regex(r".*(?<!\d)(?:19|20)\d\d(?!\d).*|1\d{9}(?:\d{3})?(?:\.\d+)?")
_ENTRY = regex(  # of a record: when it was made or changed, or came to whoever has it
    r"(?<![^\W\d_])(?:"
    r"(?:last|date|time)?_?(?:creat(?:ed|ion)|updated?|modif(?:ied|ication)|changed|edited|inserted"
    r"|imported|loaded|ingest(?:ed|ion)|indexed|scraped?|crawl(?:ed)?|fetch(?:ed)?|retriev(?:ed|al)"
    r"|download(?:ed)?|upload(?:ed)?|synced|extracted|accessed|added|logged)(?:_?(?:at|on|date|time"
    r"|utc|ts))*|(?:first|last)_?seen(?:_?(?:at|on))?|(?:time)?stamp|ts|[mc]time|log_?(?:date|time)"
    r"|erstell\w*|angelegt|erfass\w*|(?:ge)?(?:ä|ae)nder(?:t|ung)\w*|aktualisier\w*|importiert"
    r"|hochgeladen|abgerufen|abruf\w*|zeitstempel"
    r"|cr[ée][ée]e?|cr[ée]ation|modifi(?:ée?|cation)|maj|mise?_à_jour|horodatage|saisie|importée?"
    r"|cread[oa]|creaci[óo]n|modificad[oa]|modificaci[óo]n|actualiza(?:d[oa]|ci[óo]n)|importad[oa]"
    r"|creat[oa]|creazione|modificat[oa]|modifica|aggiorna(?:t[oa]|mento)|inseri(?:t[oa]|mento)"
    r"|criad[oa]|cria[çc][ãa]o|atualiza(?:d[oa]|[çc][ãa]o)|inserid[oa]|aangemaakt|gewijzigd"
    r"|bijgewerkt|toegevoegd|tijdstempel|utworz\w*|zmodyfikow\w*|zaktualizow\w*|dodano|skapad"
    r"|uppdaterad|ändrad|op(?:r|pr)ettet|op(?:d|pd)atere?t|[æe]ndret|oluşturul\w*|güncelle\w*"
    r"|созда\w*|измен[её]?н\w*|обновл\w*|добавлен\w*|загружен\w*|δημιουργ\w*|ενημ[έε]ρω\w*"
    r")(?![^\W\d_])"
    r"|创建|創建|更新|修改|录入|錄入|抓取|爬取|导入时间|时间戳|時間戳|作成日|登録日時|取得日時|変更日"
    r"|タイムスタンプ|생성일|수정일|등록일시|إنشاء|تحديث|تعديل|إدخال|الطابع الزمني|נוצר|עודכן"
)
_COUNTER = regex(  # of things that come and go, unless it is the number of an article
    r"(?<![^\W\d_])(?:(?:(?:in_?)?stock|inventory|on.?hand|sold|views|visits|clicks|likes|downloads"
    r"|followers|balance|lagerbestand|bestand|existencias|inventario|estoque|giacenza|voorraad)"
    r"(?![a-z])(?!.*(?:no|nr|num|number|nummer|code|id|to)$)|在庫|库存|остаток)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnValues:
    """The values of a column as texts, "" for none, by side, and those that are not empty."""

    name: str
    sides: tuple[list[str], ...]
    texts: list[str]
    words: list[frozenset[str]]  # of each record, in the normal form
    column: FieldColumn  # as codes

    @property
    def filled(self) -> float:
        return len(self.texts) / max(sum(map(len, self.sides)), 1)

    @property
    def distinct(self) -> float:
        return len(self.column.values) / max(len(self.texts), 1)

    @property
    def size(self) -> float:
        """The bytes of a value by the median: a Chinese sign, of three, says more than a letter."""
        return float(np.median([len(text.encode("utf-8", "replace")) for text in self.texts]))

    @property
    def length(self) -> float:
        """The different words of a value by the median, in its normal form."""
        return float(np.median([len(words) for words in self.words if words] or [0]))

    @property
    def bits(self) -> float:
        """The entropy of the values in bits, less for those that are missing."""
        shares = self.column.counts / max(len(self.texts), 1)
        return float(-(shares * np.log2(shares)).sum()) * self.filled

    def share(self, pattern: re.Pattern[str]) -> float:
        """Measure the share of the values that are wholly of a form."""
        count = sum(pattern.fullmatch(text) is not None for text in self.texts)
        return count / max(len(self.texts), 1)

    def is_unique(self) -> bool:
        """Tell whether no value comes twice on a side, in whatever notation."""
        ends = np.cumsum([len(side) - side.count("") for side in self.sides])
        sides = np.split(self.column.numbers, ends[:-1])
        return all(len(sort_distinct(side)) == len(side) for side in sides)

    def are_numbers_of_rows(self) -> bool:
        """Tell whether values are whole numbers that leave few out."""
        return all(text.isdecimal() for text in self.texts) and self.are_serial(1.1)

    def are_serial(self, most: float) -> bool:
        """Tell whether numbers behind the same beginning span `most` times the rows of a side."""
        ends = zip(min(self.texts), max(self.texts), strict=False)
        alike = "".join(sign for sign, _ in takewhile(lambda both: both[0] == both[1], ends))
        begin = len(alike.rstrip("0123456789"))
        for side in self.sides:
            rest = [text[begin:] for text in side if text]
            if not rest or not all(end.isdecimal() and len(end) < 19 for end in rest):
                return False
            if np.ptp(np.array(rest, dtype=np.int64)) >= most * len(rest):
                return False
        return True


def look_at(name: str, sides: Sequence[list[str]]) -> ColumnValues:
    texts = [*chain.from_iterable(sides)]
    words = [frozenset(normalize(text).split()) for text in texts]
    texts = [*filter(None, texts)]
    column = make_column(name, "exact", texts)
    return ColumnValues(name=name, sides=tuple(sides), texts=texts, words=words, column=column)


def find_reason(each: ColumnValues) -> str:
    """Find why a column cannot tell duplicates, "" if it can."""
    counts = each.column.counts
    if each.filled < FILLED:
        return "almost empty"
    if not len(counts) or counts.max() >= CONSTANT * counts.sum():
        return ONE_VALUE
    if _are_entries(each):
        return "a timestamp"
    if _COUNTER.search(each.name.lower()) and each.share(_NUMBER) >= MOST:
        return "changes"
    # Codes that are unique are never equal. Titles may be unique, too, and alike.
    if not are_unique_codes(each):
        return ""
    if each.are_numbers_of_rows():
        return NUMBERS
    return "" if is_amount(each) or each.distinct < 1 else UNIQUE


def _are_entries(each: ColumnValues) -> bool:
    """Tell whether values are the times when records were entered or changed.

    Their name says so, or they are of a clock that runs: of many different seconds.
    """
    dates = _read_dates(each)
    if dates is not None and np.ptp(dates @ (365.25, 30.44, 1.0)) > SPAN * 365.25:
        return False
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", each.name).lower().replace(" ", "_")
    if _ENTRY.search(name):
        return dates is not None or each.share(_MOMENT) >= MOST
    seconds = [match[1] for match in map(_SECONDS.fullmatch, each.texts) if match is not None]
    is_clock = len(seconds) > len(each.texts) / 2 and len({*seconds}) > SECONDS
    return dates is not None and is_clock and each.distinct >= MOST


def are_unique_codes(each: ColumnValues) -> bool:
    """Tell whether values are codes, each of one record, that say nothing but which one it is.

    Times and years say when, and addresses where to write.
    """
    if not each.is_unique() or each.share(_CODE) < MOST or each.share(TOKEN) < MOST:
        return False
    if "@" in each.texts[0] or each.share(_TIME) >= MOST or _read_dates(each) is not None:
        return False
    are_years = (len(text) == 4 and text.isdecimal() for text in each.texts)
    return not (all(are_years) and all(FIRST_YEAR <= int(t) <= LAST_YEAR for t in each.texts))


def number_rows(each: ColumnValues) -> bool:
    """Tell whether values only number the rows of a side."""
    return bool(each.texts) and are_unique_codes(each) and each.are_numbers_of_rows()


def _read_dates(each: ColumnValues, least: float = MOST) -> Any:
    """Read year, month and day of each record, or None unless nearly all are dates or years.

    Of all values, `least` are dates of a month.
    """
    try:
        dates = make_column(each.name, "date", each.texts)
    except ArgumentError:
        return None
    parsed = dates.parsed[dates.numbers[dates.numbers != MISSING]]
    years, months, days = parsed.T
    is_date = (months > 0) & (years < 2_200) & ((years > 1_800) | ((days > 0) & (years > 1_000)))
    count = len(each.texts)
    is_enough = len(parsed) >= MOST * count and np.count_nonzero(is_date) >= least * count
    return parsed[is_date] if is_enough else None


def is_amount(each: ColumnValues) -> bool:
    """Tell whether values are measured: they have decimals or units, or are small and very large.

    Other whole numbers are codes, such as those of houses, or years.
    """
    parts = [part for part in map(_NUMBER.fullmatch, each.texts) if part is not None]
    if len(parts) < MOST * len(each.texts) or any(re.match(r"0\d", part[0]) for part in parts):
        return False
    decimals = sum(part["rest"] is not None for part in parts)
    units = sum(bool(part["before"] or part["behind"]) for part in parts)
    if decimals >= len(parts) / 10 or units >= len(parts) / 2:
        return True
    sizes = [len(re.sub(r"\D", "", part[0])) for part in parts]
    return bool(np.ptp(np.quantile(sizes, (0.05, 0.95))) >= WIDE)


def choose_kind(each: ColumnValues) -> FieldKind:
    """Choose how the values of a column are compared."""
    if _read_dates(each, MONTHS) is not None:
        return "date" if each.share(_CLOCK) <= 0.5 else "exact"
    if is_amount(each):
        return "number"
    lengths = {len(text) for text in each.texts}
    if each.share(_MAIL) >= MOST:  # a slip in an address is near it
        return "text"
    if each.share(_CODE) >= MOST:
        is_range = each.share(_RANGE) >= 0.5 and len(lengths) > 2
        return "text" if is_range or (each.is_unique() and each.share(TOKEN) < 1) else "exact"
    are_few = len(each.column.values) <= min(CATEGORIES, max(2, len(each.texts) // 20))
    return "exact" if are_few and max(lengths) <= SHORT else "text"
