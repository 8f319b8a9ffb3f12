"""Numbers of a text, written alike: what is the same value in another notation is equal.

Dates in any order or with the name of their month, times, telephones, prices, decimals and
thousands lose what only separates their digits. A link, an address of e-mail, a hash, a UUID and an
id of a computer are no numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from neardup_solr.text.normalize import words_of

_PART = r"[^\W_]*\d[^\W_]*"  # letters and digits, with a digit
_NUMBER = re.compile(rf"(?<![^\W_])(?:(?<!\S)-(?=\d))?{_PART}(?:[.,:/'-]{_PART})*")
_HYPHENED = re.compile(r"\b([^\W\d_])-(?=\d)")  # B-52 is B52
_UNIT = re.compile(r"(?<=\d)[^\W\d_]{2,}\Z")  # behind a number: 128GB is 128 GB
_ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | {"\u2019": "'", "\u2044": "/", "\u066b": ".", "\u066c": ","}
)
_MIXED_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
# "Part II" and "vol. ii"; without such a word, "XIV" counts, but no letter that stands alone.
_HEADS = (
    "act appendix article book chapter class episode grade level no number part phase season"
    " section series stage step type unit version vol volume"
    " abschnitt anhang artikel auflage band buch folge kapitel klasse nr staffel stufe teil"
    " chapitre livre niveau partie saison tome acte"
    " capitulo capítulo clase libro parte tomo volumen capitolo volume fase livello"
    " boek deel hoofdstuk часть том глава"
)
_TENS_AND_ONES = r"(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_BEHIND = re.compile(
    rf"\b({'|'.join(_HEADS.split())})(\.?\s+)(?=[IVXL]+\b)({_TENS_AND_ONES})(?<=[IVXL])\b", re.I
)
_ALONE = re.compile(rf"\b(?=[IVX]{{2,}}\b){_TENS_AND_ONES}(?<=[IVX])\b(?!\.\w)")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}

_LINK = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:|doi:|10\.\d{4,9}/)[^\s<>\"]++"
    r"|(?<![^\s<>(\"])[^\s@<>(\"]++@[\w-]++(?:\.[\w-]++)+"
    r"|(?<![\w.-])(?:[\w-]++\.)+[a-z]{2,}+/[^\s<>\"]*+",  # example.org/page-12
    re.I,
)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
_NAMED_ID = re.compile(
    r"\b(?:(?:uu|gu|trace|request|session|message)[ _-]?id|id|hash|md5|sha-?\d{0,3}|checksum|token)"
    r"\b\s{0,3}[:=#]?\s{0,3}(?=[\w-]{0,64}\d)[\w-]{1,128}",
    re.I,
)
_MIXED = re.compile(r"\b(?=[a-z]*+\d)(?=\d*+[a-z])[a-z\d]{7,}+\b", re.I)
_HEX = re.compile(r"[0-9a-f]+", re.I)
_CHANGE = re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)", re.I)
# A word of letters and digits is a hash or an id if it is so long, or changes so often.
_LONG, _LONG_WITH_CASE, _CHANGES = 16, 10, 3

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
_DATE = re.compile(
    r"(?<![^\W_])(?<!\d[.,/-])(?:"
    rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:[t ]00:00(?::00(?:\.0+)?)?z?|t(?=\d)|{_LAST})"
    rf"|(\d{{1,2}})([-/.]) ?(\d{{1,2}})\6 ?(\d{{4}}){_LAST}"
    r"|(\d{4}) ?[年년] ?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일]"
    r")"
)
_DAY_FIRST = re.compile(rf"(?<![^\W_]){_DAY}{_OF}{_MONTH}(?:{_OF}(\d{{4}})\b)?")
_MONTH_FIRST = re.compile(rf"{_MONTH}\s+{_DAY}(?![^\W_])(?:,?\s+(\d{{4}})\b)?")
_TIME = re.compile(
    r"(?<![\w.,:])([01]?\d|2[0-3])"
    r"(?:[:.h]([0-5]\d)(?::00)?\s*(?:uhr\b|([ap])\.?m\b\.?)|\s*([ap])\.?m\b\.?|:([0-5]\d)(?::00)?z?)"
    r"(?![\w]|[.:]\d)",
    re.I,
)
_IBAN = re.compile(r"\b[A-Z]{2}\d\d(?: [A-Z\d]{2,4}){3,8}\b")
_SIGNS = "[$€£¥₹₽]|(?:eur|usd|chf|gbp)"
_MONEY = re.compile(
    r"(?<![\d.,])(?:(?<=[$€£¥₹₽])|(?<=[$€£¥₹₽] )|(?<=\beur )|(?<=\busd )|(?<=\bchf )|(?<=\bgbp ))"
    r"(\d+)(?:\.(\d{1,2}))?(?![\w]|[.,]\d)"
    r"|(?<![\w.,])(\d+)(?:\.(\d{1,2}))?(?=\s?(?:[$€£¥₹₽]|(?:eur|usd|chf|gbp)\b))",
    re.I,
)
_GROUPS = re.compile(
    r"(?<![^\W_])(?<!\d[.,])(?:"
    # Thousands: 12,500 and 12 500.00, also by twos, as in 1,00,000.
    r"(?P<whole>\d{1,3}(?:(?P<point>[ ,.'])\d{3})(?:(?P=point)\d{3})*|\d{1,2}(?:,\d\d)+,\d{3})"
    r"(?:[.,](?P<cents>\d{1,2}))?(?![^\W_]|[ ,.'/-]\d)"
    # A telephone and other long runs of digits.
    r"|(?P<run>\+?\(?\d(?:\d|[ ()/-](?=[\d(+])|[ )/-]{2}(?=[\d(])|[,;]\s(?=\d))*[\d)]"
    r"|\d+(?:\.\d{2,})+)(?P<check>[ -]?x)?(?![^\W_]|[.,]\d)"
    # A decimal, or a list.
    r"|(?P<decimal>\d+(?:,\d+)+)(?![^\W_]|[.,]\d)"
    r")",
    re.I,
)
_BETWEEN = re.compile(r"(?<=\d) ([:/-]) (?=\d)")  # 3 - 5 is 3-5
_RUN_DIGITS = 7  # from which digits are compared without what separates them
_LAST_DIGITS = 9  # of a telephone, with or without the code of its country
_LOCAL = re.compile(r"\(\d+\)[ \d/-]+|\d{3}[ /.-]\d{3}[ /.-]\d{4}")
_YEARS = re.compile(r"[12]\d{3}[-/][12]\d{3}")


def list_numbers(text: str) -> list[str]:
    """List the numbers of a text in order: words with a digit, with their separators.

    Compatible forms are equal (NFKC, digits of all scripts, dashes), letters do not differ by case,
    and a unit of two letters or more behind a number does not count ("128GB" is "128 GB"). Dates,
    times, telephones, prices, decimals and thousands are the same in any usual notation. Roman
    numerals count behind a word such as "part" or "chapter", and in capitals from two letters on:
    "Part II" is "part 2". Links, e-mail addresses, hashes, UUIDs and ids are left out.
    """
    numbers = (_UNIT.sub("", number) for number in _NUMBER.findall(_write_alike(text)))
    return [_show_date(number) for number in numbers]


def differ_in_numbers_alone(first: str, second: str) -> bool:
    """Return True if two texts have other numbers, and otherwise the same words in their order."""
    words, others = Counter(words_of(first)), Counter(words_of(second))
    for word in (words - others) | (others - words):  # seen soonest, and of most pairs
        if len(word) > 1 and word.strip("ivxl") and not any(map(str.isdigit, word)):
            return False
    rest = [[word for word in words_of(_write_alike(text)) if not any(map(str.isdigit, word))]
            for text in (first, second)]  # fmt: skip
    return rest[0] == rest[1] and sorted(list_numbers(first)) != sorted(list_numbers(second))


def _write_alike(text: str) -> str:
    """Write the numbers of a text alike, in digits, without links and ids."""
    text = _UUID.sub(" ", _LINK.sub(" ", text)) if any(map(str.isdigit, text)) else text
    folded = unicodedata.normalize("NFKC", _MIXED_FRACTION.sub(" ", text)).translate(_ALIKE)
    folded = _BEHIND.sub(lambda match: f"{match[1]}{match[2]}{_read_roman(match[3])}", folded)
    folded = _ALONE.sub(lambda match: _read_roman(match[0]), folded)
    if not folded.isascii():
        folded = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), folded)
    folded = _MIXED.sub(_drop_id, _NAMED_ID.sub(" ", folded))
    folded = _IBAN.sub(lambda match: match[0].replace(" ", ""), folded)
    folded = _HYPHENED.sub(r"\1", folded).casefold()
    for pattern, write in _NOTATIONS:
        folded = pattern.sub(write, folded)
    return folded


def _drop_id(match: re.Match[str]) -> str:
    """Drop a word of letters and digits that only a computer has made."""
    word = match[0]
    is_cased = word != word.lower() and word != word.upper()
    changes = len(_CHANGE.findall(word))
    is_hash = changes >= _CHANGES and _HEX.fullmatch(word) is not None
    is_long = len(word) >= (_LONG_WITH_CASE if is_cased else _LONG) and changes >= _CHANGES
    return " " if is_hash or is_long else word


def _write_date(match: re.Match[str]) -> str:
    found = [int(part) for part in match.groups() if part is not None and part.isdigit()]
    year = max(found)
    return _make_date(year, *found[1:]) if found[0] == year else _make_date(year, *found[:2])


def _write_day_first(match: re.Match[str]) -> str:
    return _write_named_date(match[0], match[1], match[2], match[3])


def _write_month_first(match: re.Match[str]) -> str:
    return _write_named_date(match[0], match[2], match[1], match[3])


def _write_named_date(written: str, day: str, name: str, year: str | None) -> str:
    month = _MONTHS.get(name)
    if month is None or not 1 <= int(day) <= 31:
        return written
    return _make_date(int(year or 0), month, int(day))


def _make_date(year: int, month: int, day: int) -> str:
    """Write a date as a word. Day and month are in the order of their size, as nobody knows it."""
    low, high = sorted((month, day))
    if not (1 <= low <= 12 and high <= 31):
        return f"{year}-{month}-{day}"
    return f" d{year:04}{low:02}{high:02} "


def _show_date(number: str) -> str:
    if re.fullmatch(r"d\d{8}", number):
        return f"{number[1:5]}-{number[5:7]}-{number[7:]}".removeprefix("0000-")
    return number


def _write_time(match: re.Match[str]) -> str:
    hour, first, of_first, alone, second = match.groups()
    half = of_first or alone
    hours = int(hour) % 12 + 12 * (half == "p") if half else int(hour)
    return f"{hours}:{first or second or '00'} "


def _write_groups(match: re.Match[str]) -> str:
    if (whole := match["whole"]) is not None:
        cents = match["cents"]
        return re.sub(r"\D", "", whole) + (f".{cents}" if cents else "")
    if (decimal := match["decimal"]) is not None:
        return decimal.replace(",", "." if decimal.count(",") == 1 else ", ")
    run, check = match["run"], match["check"]
    groups = re.findall(r"\d+", run.replace("(0)", ""))
    digits = "".join(groups)
    is_address = "." in run and len(groups) == 4 and max(map(int, groups)) < 256
    is_telephone = run[0] in "+0" or _LOCAL.fullmatch(run) is not None
    if len(digits) < _RUN_DIGITS or is_address or _YEARS.fullmatch(run):
        return match[0]
    if is_telephone and check is None:
        digits = digits.lstrip("0")[-_LAST_DIGITS:]
    return f"{' ' * run.startswith('(')}{digits}{'x' if check else ''}{' ' * run.endswith(')')}"


def _write_money(match: re.Match[str]) -> str:
    whole, cents, _whole, _cents = match.groups()
    return f"{whole or _whole}.{cents or _cents or '':0<2}"


_NOTATIONS = (
    (_DATE, _write_date),
    (_DAY_FIRST, _write_day_first),
    (_MONTH_FIRST, _write_month_first),
    (_TIME, _write_time),
    (_GROUPS, _write_groups),
    (_MONEY, _write_money),
    (_BETWEEN, r"\1"),
)


def _read_roman(numeral: str) -> str:
    """Read a Roman numeral as a number in digits."""
    values = [_VALUES[letter] for letter in numeral.upper()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))
