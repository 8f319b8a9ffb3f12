"""Guess by which columns the records of a table are compared, from the values of some of them.

Values tell, as columns are named in all languages; a name is a hint if it says id, note, stock or
when a record was entered. The order of the records tells nothing: they may be sorted by any column.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple, cast

import numpy as np

from neardup_solr import sources
from neardup_solr.arguments import Source, join_names, listed
from neardup_solr.errors import ArgumentError, DataError, RecordError, SourceError
from neardup_solr.measures.columns import MISSING, FieldColumn, FieldKind, make_column, parse_fields
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import Document, as_text
from neardup_solr.sources.record import ROW, is_like_id, matches, plain
from neardup_solr.sources.record import shown as shown_names
from neardup_solr.sources.sides import name_of, pair_columns
from neardup_solr.text.normalize import normalize

FEW = 20  # records, of which nothing is left out: chance makes values equal, or all unlike
FEWEST_ROWS = 5  # records that may be numbered: of fewer, chance makes it look so
FEWEST_SERIAL, FEWEST_CODES = 3, 12  # records whose first column is of ids, by its values
MOST_FIELDS = 16
MOST_SHOWN = 12  # of the columns that are left out
FILLED = 0.05  # of the records, which have a value at least
MOST = 0.95  # of the values, which stand for all
CONSTANT = 0.97  # of the values, which are all the same
PROSE, LONG_PROSE = 200, 400  # bytes of a value by the median
NOTE = 30  # the same, of a column that is named like notes
BESIDE_PROSE = 3  # columns at most, with which records are texts anyway
TITLE = 12  # bytes
SENTENCE, STATUS = 6, 3.5  # words of a text, and bits of a column that says little beside it
DISTINCT = 0.5  # of the values, at least, of what tells records apart
SHORT, CATEGORIES = 4, 50  # characters of a value, and values, that are categories
MONTHS = 0.5  # of dates, at least, with a month: others may be years
SPAN = 20  # years, within which records are entered
SECONDS = 12  # different ones at least, of a clock: a plan has few
FIRST_YEAR, LAST_YEAR = 1800, 2050  # as whole numbers
WIDE = 4  # more digits than small amounts have large ones

ONE_VALUE, UNIQUE, NUMBERS = "one value", "unique in each record", "row numbers"

_NUMBER = re.compile(
    r"(?P<before>(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|BRL|MXN|RUB|TRY|ZAR|KRW|SEK|NOK|DKK|PLN|CZK"
    r"|HUF)|[^\w\s.,(/-])?\s?[-+]?"
    r"(?:\d{1,3}(?:[.,'\u2019 \u00a0\u202f]\d{3})+|\d+)(?P<rest>[.,]\d+)?(?:[eE][-+]?\d+)?"
    r"(?P<behind>\s?(?:[^\W\d]{1,3}|[^\w\s.,:()/-]))?"
)
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_CODE = re.compile(r"[!-~]*\d[!-~]*|[^@\s]+@[^@\s]+\.\w+|\w+://\S+|(?=.*\d)(?!.*[^\W\d_]{4}).+")
_TOKEN = re.compile(r"\S+")
_RANGE = re.compile(r"\D?\d+\D?\s*[-\u2010-\u2015]+\s*\D?\d+\D?")  # of pages
_CLOCK = re.compile(r".*\d[T ](?!00?:00(?::00(?:\.0*)?)?(?:[Z+]|$))\d{1,2}:\d\d.*")
_SECONDS = re.compile(r".*\d[T ]\d{1,2}:\d\d:(\d\d(?:\.\d+)?).*")
_TIME = re.compile(r"(?:\D?\d{1,2}[:.h]\d\d(?::\d\d)?\s?(?:[AaPp]\.?[Mm]\.?)?\D?){1,2}")  # of day
_MOMENT = re.compile(r".*(?<!\d)(?:19|20)\d\d(?!\d).*|1\d{9}(?:\d{3})?(?:\.\d+)?")
_ENTRY = re.compile(  # of a record: when it was made or changed, or came to whoever has it
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
_NOTE = re.compile(
    r"note|comment|remark|remarq|bemerk|notiz|anmerk|observa|komment|備考|备注|примеч"
)
_COUNTER = re.compile(  # of things that come and go, unless it is the number of an article
    r"(?<![^\W\d_])(?:(?:(?:in_?)?stock|inventory|on.?hand|sold|views|visits|clicks|likes|downloads"
    r"|followers|balance|lagerbestand|bestand|existencias|inventario|estoque|giacenza|voorraad)"
    r"(?![a-z])(?!.*(?:no|nr|num|number|nummer|code|id|to)$)|在庫|库存|остаток)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """Columns that were chosen: the id if none is named, and either fields or texts.

    `left_out` has the reason for each other column; `more` of them tell less than the fields.
    `beside` are those of them that no other column repeats.
    """

    id: str | None
    fields: dict[str, FieldKind] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    more: int = 0
    beside: tuple[str, ...] = ()

    @property
    def spelled(self) -> list[str]:
        """The fields as `parse_fields` reads them."""
        kinds = self.fields.items()
        return [name if kind == "text" and ":" not in name else f"{name}:{kind}"
                for name, kind in kinds]  # fmt: skip

    def describe_left_out(self) -> str:
        """Describe in a line what is not compared, "" if all is."""
        shown = [f"{name} ({why})" for name, why in self.left_out.items()]
        more = self.more + len(shown[MOST_SHOWN:])
        shown = shown[:MOST_SHOWN] + ([f"{more:,} more"] if more else [])
        return f"Left out: {', '.join(shown)}." if shown else ""


# Reads named columns of all records, each with the number of its side.
Read = Callable[[Sequence[str]], Iterable[tuple[int, Mapping[str, Any]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
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
        return all(len(np.unique(side)) == len(side) for side in sides)

    def are_numbers_of_rows(self) -> bool:
        """Tell whether values are whole numbers that leave few out."""
        return all(text.isdecimal() for text in self.texts) and self.are_serial(1.1)

    def are_serial(self, most: float) -> bool:
        """Tell whether numbers behind the same beginning span `most` times the rows of a side."""
        ends = zip(min(self.texts), max(self.texts), strict=False)
        alike = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], ends))
        begin = len(alike.rstrip("0123456789"))
        for side in self.sides:
            rest = [text[begin:] for text in side if text]
            if not rest or not all(end.isdecimal() and len(end) < 19 for end in rest):
                return False
            if np.ptp(np.array(rest, dtype=np.int64)) >= most * len(rest):
                return False
        return True


def guess_columns(
    sides: Sequence[Sequence[Mapping[str, Any]]],
    *,
    id: str | None = None,
    named: Sequence[str] = (),
    read: Read | None = None,
) -> Guess | None:
    """Choose columns by the values of some records, or None without a column to compare.

    `sides` are the records of a source, or of two, with values as JSON has them. `id` is the
    column of the ids, if it is named; else a column named "id" is, or a unique column that looks
    like ids and is not `named` to be compared. `read` reads columns of all records, if these are
    more: none is left out as a constant, or as unique, that only some of them show to be so.
    """
    names = dict.fromkeys(name for side in sides for row in side for name in row)
    columns = {
        name: _look(name, [[as_text(row.get(name)).strip() for row in side] for side in sides])
        for name in names
    }
    ids = [[*columns][at] for at in matches(id or "id", columns)]
    reasons = _find_reasons(columns, ids, read)
    if id is None and not ids:
        free = {name: each for name, each in columns.items() if not matches(name, named)}
        ids = [ROW if len(columns) == 1 else _choose_id(free, reasons)]
        id = ids[0]
    others = {name: each for name, each in columns.items() if name not in ids}
    kept = {name: each for name, each in others.items() if name not in reasons}
    kept = kept or {name: each for name, each in others.items() if each.texts}  # all are equal
    if not kept:
        return None
    left_out = {name: why for name, why in reasons.items() if name in others and name not in kept}
    joined = _find_joined([*kept.values()]) if _count(columns) >= FEW else {}
    left_out |= joined
    kept = {name: each for name, each in kept.items() if name not in joined}
    fields = {name: _choose_kind(each) for name, each in kept.items()}
    nested = {name for side in sides for row in side for name in kept if _is_nested(row.get(name))}
    texts, notes = _choose_texts(kept, fields)

    def list_beside(*compared: str) -> tuple[str, ...]:
        """List what tells records apart that are equal in what is compared, unless it is prose."""
        if sum(others[name].size for name in compared) >= PROSE and texts:
            return ()
        rest = (name for name in others if name not in compared and name not in joined)
        return tuple(sorted(rest, key=lambda name: -others[name].distinct)[:MOST_FIELDS])

    if texts and not nested:
        left_out |= {name: "not part of the text" for name in kept if name not in texts}
        return Guess(id=id, texts=texts, left_out=left_out, beside=list_beside(*texts))
    left_out |= dict.fromkeys(notes, "free text")
    fields = {name: kind for name, kind in fields.items() if name not in notes}
    telling = sorted(fields, key=lambda name: -kept[name].bits)[:MOST_FIELDS]
    more = len(fields) - len(telling)
    fields = {name: kind for name, kind in fields.items() if name in telling}
    beside = list_beside(*fields)
    if len(fields) == 1 and (nested or ROW in ids or kept[telling[0]].distinct >= DISTINCT):
        # Objects alone are no text.
        if nested:
            return None
        return Guess(id=id, texts=tuple(fields), left_out=left_out, beside=beside)
    return Guess(id=id, fields=fields, left_out=left_out, more=more, beside=beside)


def _is_nested(value: object) -> bool:
    """Tell whether a value cannot be a text."""
    several = value if isinstance(value, list) else [value]
    return any(isinstance(part, Mapping | list) for part in several)


def _look(name: str, sides: Sequence[list[str]]) -> _Values:
    texts = [*chain.from_iterable(sides)]
    words = [frozenset(normalize(text).split()) for text in texts]
    texts = [*filter(None, texts)]
    column = make_column(name, "exact", texts)
    return _Values(name=name, sides=tuple(sides), texts=texts, words=words, column=column)


def _count(columns: Mapping[str, _Values]) -> int:
    """Count the records that were looked at."""
    return max((sum(map(len, each.sides)) for each in columns.values()), default=0)


def _find_reasons(
    columns: Mapping[str, _Values], ids: Sequence[str], read: Read | None
) -> dict[str, str]:
    """Find the columns that cannot tell duplicates, with the reason for each."""
    reasons = {name: "no value" for name, each in columns.items() if not each.texts}
    if (records := _count(columns)) < FEW:
        rows = (name for name, each in columns.items() if each.texts and each.are_numbers_of_rows())
        return reasons | dict.fromkeys(rows if records >= FEWEST_ROWS else (), NUMBERS)
    for name, each in columns.items():
        if name not in ids and name not in reasons and (why := _find_reason(each)):
            reasons[name] = why
    doubtful = {name: why for name, why in reasons.items() if why in (ONE_VALUE, UNIQUE, NUMBERS)}
    if read is not None and doubtful:
        for name in _refute(read, doubtful):
            del reasons[name]
    return reasons


def _find_reason(each: _Values) -> str:
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
    if not _are_unique_codes(each):
        return ""
    if each.are_numbers_of_rows():
        return NUMBERS
    return "" if _is_amount(each) or each.distinct < 1 else UNIQUE


def _are_entries(each: _Values) -> bool:
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


def _are_unique_codes(each: _Values) -> bool:
    """Tell whether values are codes, each of one record, that say nothing but which one it is.

    Times and years say when, and addresses where to write.
    """
    if not each.is_unique() or each.share(_CODE) < MOST or each.share(_TOKEN) < MOST:
        return False
    if "@" in each.texts[0] or each.share(_TIME) >= MOST or _read_dates(each) is not None:
        return False
    are_years = (len(text) == 4 and text.isdecimal() for text in each.texts)
    return not (all(are_years) and all(FIRST_YEAR <= int(t) <= LAST_YEAR for t in each.texts))


def _number_rows(each: _Values) -> bool:
    """Tell whether values only number the rows of a side."""
    return bool(each.texts) and _are_unique_codes(each) and each.are_numbers_of_rows()


def _refute(read: Read, reasons: Mapping[str, str]) -> set[str]:
    """Find the columns of which not all records are as the reason says."""
    seen = {name: set[int]() for name, why in reasons.items() if why != ONE_VALUE}
    counts = {name: Counter[str]() for name, why in reasons.items() if why == ONE_VALUE}
    refuted: set[str] = set()
    for side, row in read([*reasons]):
        for name in {*reasons} - refuted:
            key = normalize(as_text(row.get(name))).replace(" ", "")
            if not key:
                continue
            if name in counts:
                counts[name][key] += 1
                is_refuted = len(counts[name]) > CATEGORIES
            else:
                number = hash((side if reasons[name] == NUMBERS else 0, key))
                is_refuted = number in seen[name]
                seen[name].add(number)
            if is_refuted:
                refuted.add(name)
        if len(refuted) == len(reasons):
            break
    return refuted | {
        name
        for name, count in counts.items()
        if max(count.values(), default=0) < CONSTANT * count.total()
    }


def _choose_id(columns: Mapping[str, _Values], reasons: Mapping[str, str]) -> str:
    """Choose the column of the ids: unique in all records, and named so or the first.

    Of few records, chance makes many columns unique: the first is of ids if its numbers leave few
    out, or if there are more records.
    """
    records = _count(columns)
    unique = [
        name
        for name, each in columns.items()
        if each.filled == each.share(_TOKEN) == 1 and each.is_unique()
        and (records < FEW or reasons.get(name) in (UNIQUE, NUMBERS))
    ]  # fmt: skip
    first = [name for name in [*columns][:1] if name in unique]
    if first and records < FEW:
        each = columns[first[0]]
        is_code = _are_unique_codes(each) and not _is_amount(each)
        is_serial = records >= FEWEST_SERIAL and each.are_serial(2.0)
        first = first if is_code and (is_serial or records >= FEWEST_CODES) else []
    return next(iter([name for name in unique if is_like_id(name)] + first), ROW)


def _read_dates(each: _Values, least: float = MOST) -> Any:
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


def _is_amount(each: _Values) -> bool:
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


def _choose_kind(each: _Values) -> FieldKind:
    """Choose how the values of a column are compared."""
    if _read_dates(each, MONTHS) is not None:
        return "date" if each.share(_CLOCK) <= 0.5 else "exact"
    if _is_amount(each):
        return "number"
    lengths = {len(text) for text in each.texts}
    if each.share(_MAIL) >= MOST:  # a slip in an address is near it
        return "text"
    if each.share(_CODE) >= MOST:
        is_range = each.share(_RANGE) >= 0.5 and len(lengths) > 2
        return "text" if is_range or (each.is_unique() and each.share(_TOKEN) < 1) else "exact"
    are_few = len(each.column.values) <= min(CATEGORIES, max(2, len(each.texts) // 20))
    return "exact" if are_few and max(lengths) <= SHORT else "text"


def _choose_texts(
    kept: Mapping[str, _Values], kinds: Mapping[str, FieldKind]
) -> tuple[tuple[str, ...], list[str]]:
    """Choose the columns of a text if records are texts, and those that are notes beside fields."""
    texts = {name: each for name, each in kept.items() if kinds[name] == "text"}
    notes = [
        name for name, each in texts.items() if _NOTE.search(name.lower()) and each.size > NOTE
    ]
    prose = [name for name, each in texts.items() if name not in notes and each.size >= PROSE]
    titles = [
        name
        for name, each in texts.items()
        if name not in notes and each.size >= TITLE and each.distinct >= DISTINCT
    ]
    sentences = [
        name for name, each in texts.items() if each.size >= PROSE or each.length >= SENTENCE
    ]
    others = [each for name, each in kept.items() if name not in sentences]
    says_all = len(sentences) == 1 and kept[sentences[0]].distinct >= DISTINCT
    if says_all and len(others) <= BESIDE_PROSE and all(each.bits <= STATUS for each in others):
        return tuple(sentences), []
    beside = len(kept) - len({*titles, *prose, *notes})
    is_long = any(kept[name].size >= LONG_PROSE and kept[name].filled > 0.5 for name in prose)
    rest = [each for name, each in kept.items() if name not in (*prose, *notes)]
    # Without a name, a number or the like, only the prose tells records apart.
    is_apart = len(rest) > 1 and any(each.distinct >= DISTINCT for each in rest)
    if prose and (not beside or (is_long and beside <= BESIDE_PROSE) or not is_apart):
        return tuple(name for name in kept if name in titles or name in prose), []
    return (), prose + notes if is_apart else []


def _find_joined(columns: Sequence[_Values]) -> dict[str, str]:
    """Find columns that repeat what others hold: a single column, or several joined."""
    words = {each.name: each.words for each in columns}
    counts = [Counter(chain.from_iterable(row)) for row in zip(*words.values(), strict=True)]
    joined: dict[str, str] = {}
    for each in sorted(columns, key=lambda each: each.size)[::-1]:  # the later of two equal ones
        if each.distinct < DISTINCT:  # few values are alike by chance
            continue
        rows = words[each.name]
        filled = [at for at, row in enumerate(rows) if row]
        most = MOST * len(filled)
        repeated = [counts[at][word] > 1 for at in filled for word in rows[at]]
        if sum(repeated) < MOST * max(len(repeated), 1):
            continue
        held = {
            name: sum(bool(other[at]) and other[at] <= rows[at] for at in filled)
            for name, other in words.items()
            if name != each.name and name not in joined
        }
        parts = [name for name, count in held.items() if count >= most / 2]
        same = [part for part in parts if sum(words[part][at] == rows[at] for at in filled) >= most]
        if same or len(parts) > 1:
            joined[each.name] = f"same as {same[0]}" if same else f"{', '.join(parts[:3])} … joined"
            for at in filled:
                counts[at].subtract(rows[at])
    return joined


ROWS = 1_000  # that are looked at
FOR_TEXTS = ("remember", "without_common", "max_distance")


class Chosen(NamedTuple):
    """Arguments for a source that was looked at, and a line on what is left out, or "".

    `beside` are the columns that are left out, but may tell copies apart.
    """

    name: str
    arguments: dict[str, Any]
    left_out: str
    beside: tuple[str, ...] = ()

    def lines(self, spell: Callable[[Mapping[str, Any]], str]) -> list[str]:
        """Describe the choice in a line or two, with the arguments spelled to be repeated."""
        is_table = "fields" in self.arguments
        use = "its columns are compared" if is_table else "other columns are read as text"
        chosen = f"text, so {use}"
        if self.arguments.keys() == {"id"}:
            is_row = self.arguments["id"] == ROW
            chosen = f"id, so {'its records are numbered' if is_row else 'another column is used'}"
            if "=" in self.arguments["id"]:
                chosen = "of ids in common with the other source, so each has its own"
        has = "have" if self.name.endswith(" more") else "has"
        line = f"{self.name} {has} no column {chosen}, as with {spell(self.arguments)}"
        return [line, *filter(None, [self.left_out])]


def fill_in(inputs: Mapping[str, Any], *, by_fields: bool = True) -> dict[str, Any]:
    """Choose columns as `choose_columns`, log which, and return these arguments, {} for none.

    The argument `beside` has those that may tell copies apart.
    """
    chosen = choose_columns(inputs, by_fields=by_fields)
    if chosen is None:
        return {}
    for line in chosen.lines(_spell):
        LOG.warning("%s", line)
    return chosen.arguments | {"beside": chosen.beside}


def choose_columns(inputs: Mapping[str, Any], *, by_fields: bool = True) -> Chosen | None:
    """Choose the id, and fields or a text, by the arguments of a verb.

    None if the source is a collection, or it has columns id and text; the id is chosen for a text
    and for fields that are named, too. Two sides are compared by columns that both have. If a
    measure of texts is named, or not `by_fields`, the columns are joined to one. Whoever reads the
    source reports what is wrong with it.

    Raises DataError if fields are chosen and another argument is for texts, or if two sides
    have no columns in common that could be compared; SourceError if one of two sides cannot be
    read, or if two files are no table, but could be two sides.
    """
    try:
        chosen = _look_at_rows(inputs, by_fields)
    except UnpairedError:
        raise
    except (ArgumentError, SourceError, RecordError, TypeError) as error:
        if isinstance(error, SourceError) and inputs.get("against") is not None:
            raise  # or what was not chosen would be missing in the other side
        return None
    if inputs.get("against") is None and "against" in inputs:
        _refuse_apart(inputs, chosen, by_fields)
    if chosen is not None and "fields" in chosen.arguments:
        is_of_texts = inputs.get("max_distance") is not None or inputs.get("by") == "shingles"
        for argument in _list_for_texts(inputs):
            _refuse_fields(argument, chosen, chooses_measure=is_of_texts)
    return chosen


def _list_for_texts(inputs: Mapping[str, Any]) -> list[str]:
    """List the arguments that are for texts alone."""
    names = [f"`{name}`" for name in FOR_TEXTS if inputs.get(name) not in (None, False)]
    return names + ["`by` shingles"] * (inputs.get("by") == "shingles")


def _refuse_apart(inputs: Mapping[str, Any], chosen: Chosen | None, by_fields: bool) -> None:
    """Refuse two files with other columns as a table, if they could be compared with each other.

    Whoever reads them reports what else is wrong.
    """
    named = {**inputs, **(chosen.arguments if chosen else {})}
    text = named["text"] if named["fields"] is None else (*parse_fields(named["fields"]),)
    source, reading = sources.reading_of(named["source"], "number", id=named["id"], text=text)
    paths = sources.paths_of(source) or ()
    if len(paths) != 2:
        return
    try:
        sources.require_columns(source, reading=reading)
        return
    except (ArgumentError, SourceError) as error:
        if getattr(error, "source", None) != os.fspath(paths[1]):
            return
        refused = cast(SourceError, error)
    first, second = (
        replace(named["source"], source=path) if isinstance(named["source"], Source) else path
        for path in paths
    )
    step = f"to compare it with {os.fspath(paths[0])}, name it with `against`"
    try:
        _look_at_rows({**inputs, "source": first, "against": second}, by_fields)
    except UnpairedError as error:
        step = f"{step}, and {error.next_step}"
    except (ArgumentError, SourceError, RecordError, TypeError):
        return
    raise SourceError(refused.source, refused.reason, step)


class UnpairedError(DataError):
    """Columns of two sources have other names in either."""


def _refuse_fields(argument: str, chosen: Chosen, *, chooses_measure: bool) -> None:
    """Raise the error that an argument is for texts, and which text there could be instead."""
    names = join_names(parse_fields(chosen.arguments["fields"]))
    step = f"omit it, or join the columns to a text with `text` {names!r}"
    if not chooses_measure and argument == "`remember`":  # short texts would be compared as records
        step = f"{step} `measure` words"
    reason = (
        f"{argument} is for texts, but the columns of {chosen.name} are compared, as none is text"
    )
    raise DataError(reason, step)


def _look_at_rows(inputs: Mapping[str, Any], by_fields: bool) -> Chosen | None:
    compared = [inputs[name] for name in ("source", "against") if inputs.get(name) is not None]
    first = inputs["source"] if isinstance(inputs["source"], Source) else Source(())
    id, text = inputs["id"] or first.id, listed(first.text or inputs["text"])
    if any(map(sources.is_collection, compared)):
        return None
    read = [
        sources.reading_of(
            side, "none", id=id and name_of(id, at), text=[name_of(each, at) for each in text]
        )
        for at, side in enumerate(compared)
    ]
    names = [sources.column_names(side, reading=reading) for side, reading in read]
    for at, (side, reading) in enumerate(read):
        if len(read) == 1 or names[at]:
            continue
        if all(os.path.isfile(path) for path in sources.paths_of(side) or [""]):
            next(sources.pieces(side, reading=reading, on_notice=ignore), None)  # or it is refused
        if isinstance(side, Sized) and not len(side):
            other = inputs[("against", "source")[at]]  # [] has no columns to choose
            return _look_at_rows({**inputs, "source": other, "against": None}, by_fields)
    has_fields = inputs["fields"] is not None or inputs.get("model") is not None
    has_ids = id is not None or all(
        matches(reading.id, each) for (_, reading), each in zip(read, names, strict=True)
    )
    is_named = text != ("text",)
    if len(names) > 1 and all(names):
        _check_names(inputs, text if is_named else (), read, names)
    has_compared = has_fields or is_named or any(matches("text", each) for each in names)
    if not (names and all(names)) or (has_ids and has_compared):
        return None
    like_ids = [name for each in names for name in each if is_like_id(str(name))]
    if is_named and not (has_fields or like_ids):  # whoever reads the source numbers its records
        return None

    shown = {name.strip(): None for name in names[0] if isinstance(name, str) and name.strip()}
    keys = [{name: [each[at] for at in matches(name, each)] for name in shown} for each in names]
    common = [name for name in shown if all(len(each[name]) == 1 for each in keys)]
    every = [sources.read_rows(side, reading=reading, most=ROWS) for side, reading in read]
    sides = [
        [{name: plain(row.get(each[name][0])) for name in common} for row in rows]
        for rows, each in zip(every, keys, strict=True)
    ]

    def read_again(wanted: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        rows = [row for side in sides for row in side]
        whole = (name for name in common if all(isinstance(row[name], str | int) for row in rows))
        texts = tuple({*wanted, *islice(whole, 1)})  # with which each record has a text
        for number, (side, reading) in enumerate(read):
            by_row = replace(reading, id=ROW, text=texts, keep=tuple(wanted))
            for record in sources.records(side, reading=by_row, on_notice=ignore):
                if isinstance(record, Document):
                    yield number, record.kept

    paths = sources.paths_of(read[0][0])
    name = type(read[0][0]).__name__ if paths is None else sources.shown_name(paths)
    if not any(sides):  # no records, which is reported when they are read
        return Chosen(name, {"text": tuple(common)}, "") if common and not has_compared else None
    compared_columns = () if inputs["fields"] is None else (*parse_fields(inputs["fields"]),)
    guess = guess_columns(sides, id=id, named=(*compared_columns, *text))
    if guess and guess.fields and any(len(rows) >= ROWS for rows in sides):  # long texts: once
        guess = guess_columns(sides, id=id, named=(*compared_columns, *text), read=read_again)
    is_for_texts = inputs.get("measure", "fields") not in ("auto", "fields")
    alike: dict[str, str] = {}
    if len(every) > 1 and not has_compared:
        argument = "text" if is_for_texts or _list_for_texts(inputs) else "fields"
        alike = _require_telling(argument, guess, sides, read, every, common)
    if guess is None and not has_compared:
        _require_rows(read, every)
        return None
    chosen_id = None if guess is None else guess.id
    if len(every) > 1 and id is None and not has_ids and chosen_id in (None, ROW):
        chosen_id = _choose_ids(every, (*compared_columns, *text))
    arguments: dict[str, Any] = {} if chosen_id is None else {"id": chosen_id}
    if has_compared:
        is_numbered = chosen_id == ROW and not (has_fields or (is_named and like_ids))
        return Chosen(name, arguments, "") if arguments and not is_numbered else None
    assert guess is not None
    if guess.texts or is_for_texts or not by_fields:
        arguments["text"] = guess.texts or tuple(guess.fields)
    else:
        arguments["fields"] = guess.spelled
    twice = {each: "appears twice" for each in shown if any(len(side[each]) > 1 for side in keys)}
    of_ids = arguments.get("id", "id").split("=")
    for other in (str(each) for each in chain(*names[: len(names) * (len(names) > 1)])):
        if not matches(other, (*common, *of_ids)):
            twice[other] = alike.get(other, "only in one source")
    left_out = replace(guess, left_out=guess.left_out | twice).describe_left_out()
    return Chosen(name, arguments, left_out, guess.beside)


def _check_names(
    inputs: Mapping[str, Any], text: Sequence[str], read: Sequence[tuple[Any, Any]],
    names: Sequence[Sequence[object]],
) -> None:  # fmt: skip
    """Refuse a column that is named once and is in one of two sources alone."""
    kinds = {} if inputs["fields"] is None else parse_fields(inputs["fields"])
    both = all(matches("text", each) for each in names)
    is_open = not (text or kinds or inputs.get("model") or both)
    sides = (inputs["source"], inputs["against"])
    has_own = any(isinstance(side, Source) and side.text is not None for side in sides)
    wanted = {"text": () if has_own else text or ("text",) * is_open, "fields": tuple(kinds),
              "same": listed(inputs.get("same") or ())}  # fmt: skip
    for argument, columns in wanted.items():
        for column in columns:
            lacking = [not matches(name_of(column, at), each) for at, each in enumerate(names)]
            if sum(lacking) == 1 and "." not in column and name_of(column, 0) == column:
                rows = [
                    sources.read_rows(side, reading=reading, most=ROWS) for side, reading in read
                ]
                raise _refuse_unpaired(argument, read, rows, [column], lacking.index(True))


def _require_telling(
    argument: str, guess: Guess | None, sides: Sequence[Any], read: Sequence[tuple[Any, Any]],
    rows: Sequence[Any], common: Sequence[str],
) -> dict[str, str]:  # fmt: skip
    """Refuse two sources if little that tells records apart is in both, and each has other columns.

    Return the other columns that look alike, with how they are paired.
    """
    compared = () if guess is None else (*guess.fields, *guess.texts)
    columns = [_look(name, [[as_text(row[name]).strip() for row in side] for side in sides])
               for name in compared]  # fmt: skip
    columns = [column for column in columns if not _number_rows(column)]
    are_telling = any(column.distinct >= DISTINCT / 2 for column in columns)
    ids = () if guess is None else (guess.id or "id",)
    first, second = ([{str(name): value for name, value in row.items()
                       if not matches(str(name), (*common, *ids)) and not is_like_id(str(name))}
                      for row in side] for side in rows)  # fmt: skip
    pairs = pair_columns(first, second)
    others = [_look(name, [[as_text(row.get(name)).strip() for row in first]]) for name, _ in pairs]
    words, other_words = (sum(column.length for column in each) for each in (columns, others))
    if (any(first) and any(second) and not are_telling) or (pairs and other_words >= words):
        raise _refuse_unpaired(argument, read, rows, [], None)
    return {
        name: f"to compare it, name {one}={other}" for one, other in pairs for name in (one, other)
    }


def _require_rows(read: Sequence[tuple[Any, Any]], rows: Sequence[Any]) -> None:
    """Refuse one of two sides that has columns, but no rows, by SourceError."""
    for (side, _), own in zip(read, rows, strict=True) if len(rows) > 1 else ():
        if not own:
            step = "check that it is complete, and the right one"
            raise SourceError(_name_side(side), "has columns, but no rows", step)


def _refuse_unpaired(
    argument: str, read: Sequence[tuple[Any, Any]], rows: Sequence[Any], wanted: Sequence[str],
    lacking: int | None,
) -> UnpairedError:  # fmt: skip
    """Make the error that two sources name their columns differently, with what may be pairs.

    Raises SourceError if one of them has columns, but no rows.
    """
    _require_rows(read, rows)
    ids = [{name for name in side[0] if is_like_id(str(name))} if side else set() for side in rows]
    for side, own in zip(rows, ids, strict=True):  # and what only numbers its rows
        texts = {name: [as_text(row.get(name)).strip() for row in side] for name in side[0]}
        own |= {name for name, values in texts.items() if name not in wanted
                and _number_rows(_look(str(name), [values]))}  # fmt: skip
    free = [[{str(name): value for name, value in row.items() if name not in own} for row in side]
            for side, own in zip(rows, ids, strict=True)]  # fmt: skip
    pairs = pair_columns(free[0], free[1], wanted)
    if not pairs:
        columns = [[*dict.fromkeys(name for row in side for name in row)] or ["…"] for side in free]
        places = [[name for name in each if name in wanted] or each for each in columns]
        pairs = [(places[0][0], places[1][0])]
    spelled = []
    for one, other in pairs:
        sides = zip(free, (one, other), strict=True)
        values = [[as_text(row.get(name)).strip() for row in side] for side, name in sides]
        kind = _choose_kind(_look(one, values))
        suffix = f":{kind}" if argument == "fields" and kind != "text" else ""
        spelled.append(f"{one}{suffix}" if one == other else f"{one}={other}{suffix}")
    labels = [_name_side(side) for side, _ in read]
    has = [f"{label} has {shown_names(each)}" for label, each in zip(
        labels, ([*side[0]] if side else [] for side in rows), strict=True)]  # fmt: skip
    if lacking is not None:
        has[lacking] += f", but no column {wanted[0]!r}"
    reason = ", ".join(has) + (": too little is in both" if lacking is None else "")
    return UnpairedError(reason, f"pair the columns with `{argument}` {join_names(spelled)!r}")


def _name_side(source: Any) -> str:
    paths = sources.paths_of(source)
    return type(source).__name__ if paths is None else sources.shown_name(paths)


def _choose_ids(rows: Sequence[Any], named: Sequence[str]) -> str:
    """Choose the column of the ids of each of two sides that have none in common."""
    ids = []
    for at, side in enumerate(rows):
        values = [{str(name): plain(value) for name, value in row.items()} for row in side]
        columns = [*dict.fromkeys(name for row in values for name in row)]
        guess = guess_columns([values], named=[name_of(each, at) for each in named])
        usual = [columns[place] for place in matches("id", columns)]
        ids.append(usual[0] if usual else ROW if guess is None or guess.id is None else guess.id)
    return ids[0] if ids[0] == ids[1] else "=".join(ids)


def _spell(arguments: Mapping[str, Any]) -> str:
    """Spell arguments as they are written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
