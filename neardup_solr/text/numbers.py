"""Numbers of a text, written alike: what is the same value in another notation is equal.

Dates in any order or with the name of their month, times, telephones, prices, decimals and
thousands lose what only separates their digits. A link, an address of e-mail, a hash, a UUID and an
id of a computer are no numbers but names: they say which page or message it is, not what it says.

`list_numbers` lists the numbers of a text; `join_numbers` writes a text whose normal form has each
number as one word, and each name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Any

from neardup_solr.text.normalize import words_of

# Letters of a normal form that are in no word: between the parts of a number, and before a name.
POINT, NAME = "\u02d1", "\u02d0"
FEW = 3  # words beside names, up to which a text consists of these

_PART = r"[^\W_]*\d[^\W_]*"  # letters and digits, with a digit
_NUMBER = re.compile(rf"(?<![^\W_])(?:(?<!\S)-(?=\d))?{_PART}(?:[.,:/'-]{_PART})*")
_HYPHENED = re.compile(r"\b([^\W\d_])-(?=\d)")  # B-52 is B52
_UNIT = re.compile(r"(?<=\d)[^\W\d_]{2,}\Z")  # behind a number: 128GB is 128 GB
_ALIKE = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | {"\u2019": "'", "\u2044": "/", "\u066b": ".", "\u066c": ","}
)
_MIXED_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_DIGIT = re.compile(r"\d")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_SIZE = re.compile("x{1,4}[sl]")
# Most texts have none of these, which is soon seen, so that what takes long is not looked for.
_HAS_PARTS = re.compile(
    r"\d(?:[.:,'\u2019]\d| 000\b|\s?[apAP]\.?[mM]\b|/\d\d?(?!\d)|-\d\d?-\d"
    r"|\S{0,2}[\s-]\D{1,14}\d{4}|,?\s\d{4}\b)|\s[.-][$€£¥]?\d|\A[.-][$€£¥]?\d"
    r"|[^\x00-\x7f](?:(?<=\d)|(?<=[\u00bc-\u00be\u2150-\u215e\u2212]))"
)
_HAS_ID = re.compile(r"\d[A-Za-z]")
_HAS_NUMERAL = re.compile(r"\b[ivxlIVXL]+\b")
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

_HAS_LINK = re.compile(
    r"://|@|[wW]{3}\.|\.[A-Za-z]{2,}(?::\d{2,5})?[/?]|10\.\d{4,9}/|[uU][rR][nN]:|[oO][iI]:"
)
_LINK = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,20}://|www\.|mailto:|doi:|urn:|10\.\d{4,9}/)[^\s<>\"]++"
    # example.org/page-12
    r"|(?<![\w.-])(?:[\w-]++\.)+[a-z]{2,}+(?::\d{2,5})?[/?][^\s<>\"]*+",
    re.I,
)
_HEAD = re.compile(r"(?:[a-z][a-z0-9+.-]*:/*)?(?:www\.)?", re.I)  # of a link, that may lack
_MAIL = re.compile(r"(?<![^\s<>(\"])[^\s@<>(\"]++@[\w-]++(?:\.[\w-]++)+|<[^\s@<>]++@[^\s@<>]++>")
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
_NAMED_ID = re.compile(
    r"\b((?:(?:uu|gu|trace|request|session|message)[ _-]?id|id|hash|md5|sha-?\d{0,3}|checksum"
    r"|token)\b\s{0,3}[:=#]?\s{0,3})((?=[\w-]{0,64}\d)[\w-]{1,128})",
    re.I,
)
_MIXED = re.compile(r"\b(?=[a-z]*+\d)(?=\d*+[a-z])[a-z\d]{7,}+\b", re.I)
_HEX = re.compile(r"[0-9a-f]+", re.I)
_CHANGE = re.compile(r"(?<=\d)(?=[a-z])|(?<=[a-z])(?=\d)", re.I)
# A word of letters and digits is a hash or an id if it is so long, or changes so often.
_LONG, _LONG_WITH_CASE, _LONG_TEXT, _CHANGES = 16, 10, 20, 3
_LONG_HASH = 12  # digits of a hash in capitals, as a code of a product may have fewer
_BASE64 = re.compile(r"(?<![\w+/=])(?=[a-z\d+/]*\d)[a-z\d+/]{20,}+={0,2}", re.I)
_KIND = re.compile(r"\d+|[a-z]+|[A-Z]+|[+/]+")
_MIXTURE = 0.45  # runs of capitals, other letters and digits, for each character of such an id

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
    r"(?=\d)(?:(?<![\d.,])"
    r"(?:(?<=[$€£¥₹₽])|(?<=[$€£¥₹₽] )|(?<=\beur )|(?<=\busd )|(?<=\bchf )|(?<=\bgbp ))"
    r"(\d+)(?:\.(\d{1,2}))?(?![\w]|[.,]\d)"
    r"|(?<![\w.,])(\d+)(?:\.(\d{1,2}))?(?=\s?(?:[$€£¥₹₽]|(?:eur|usd|chf|gbp)\b)))",
    re.I,
)
_MORE = r"\d|[^\W\d_](?![^\W\d_])"  # of a number; other letters are a unit
_GROUPS = re.compile(
    r"(?=[\d(+])(?<![^\W_])(?<!\d[.,])(?:"
    # Thousands: 12,500 and 12 500.00, also by twos, as in 1,00,000.
    r"(?P<whole>[1-9]\d{0,2}(?:(?P<point>[ ,.'])\d{3})(?:(?P=point)\d{3})*|\d{1,2}(?:,\d\d)+,\d{3})"
    rf"(?:[.,](?P<cents>\d{{1,2}}))?(?!{_MORE}|[ ,.'/-]\d)"
    # A telephone and other long runs of digits.
    r"|(?P<run>\+?\(?\d(?:\d|[ ()/-](?=[\d(+])|[ )/-]{2}(?=[\d(])|[,;]\s(?=\d))*[\d)]"
    r"|\d+(?:\.\d{2,}){2,})(?P<check>[ -]?x)?(?![^\W_]|[.,]\d)"
    # A decimal, or a list.
    rf"|(?P<decimal>\d+(?:,\d+)+)(?!{_MORE}|[.,]\d)"
    r")",
    re.I,
)
_VERSION = re.compile(r"(?<![^\W_])v\.?\s?(?=\d+\.\d)")  # v3.1 is 3.1
_BARE = re.compile(r"(?<![\w.,:/)])\.(?=\d)")  # .5 is 0.5
_ZEROS = re.compile(r"(?<![\w.,:/-])(\d+)\.0+(?![.:/-]?\d)")  # 5.0 is 5
_FRACTION = re.compile(r"(?<![\w.,:/-])(\d{1,2})/(2|3|4|8)(?![\d.,:/-]|\w{3})")
_PARTS = re.compile(r"\d++(?:[.:]\d++)++")
_NEGATIVE = re.compile(
    r"(?<![^\s(])-(?=[$€£¥]?\d[\d\u02d1]*\s?[°%$€£¥]|[$€£¥]\s?\d)|(?<=[$€£¥])\s?-(?=\d)"
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


def join_numbers(text: str) -> str:
    """Write a text whose normal form has each number as one word: `0.5` is not `0` and `5`.

    Dates with a year, times, prices, decimals, thousands and versions are joined by `POINT`, in the
    notation of `list_numbers`; telephones, ranges and other lists keep their parts. Links, hashes,
    UUIDs and ids become names, if the text has more than `FEW` other words.
    """
    named = _replace_names(text, _write_name, _write_message_id)
    if named != text:
        parts = [part for part in named.split() if not part.startswith(NAME)]
        # Parts may be signs, and scripts without blanks have few, but many are words.
        if len(parts) <= 3 * FEW and len(words_of(" ".join(parts))) <= FEW:
            named = text
    if not _HAS_PARTS.search(named):
        return _read_numerals(named)
    folded = _fold(named).casefold()
    for pattern, write in _WHOLE_NOTATIONS:
        folded = pattern.sub(write, folded)
    return folded


def is_number(word: str) -> bool:
    """Return True for a word of a normal form that has digits, or is a size such as "xl"."""
    return has_digit(word) or (word.startswith("x") and _SIZE.fullmatch(word) is not None)


def has_digit(word: str) -> bool:
    """Return True for a word of a normal form that has digits, unless it is a name."""
    return any(map(str.isdecimal, word)) and not word.startswith(NAME)


def show_word(word: str) -> str:
    """Show a word of what `join_numbers` wrote."""
    shown = word.lstrip(NAME).replace(NAME, ".").replace(POINT * 2, "/").replace(POINT, ".")
    return _show_date(shown)


def _write_alike(text: str) -> str:
    """Write the numbers of a text alike, in digits, without links and ids."""
    folded = _fold(_replace_names(text, _write_nothing, _write_nothing))
    folded = _ALONE.sub(lambda match: _read_roman(match[0]), folded)
    folded = _HYPHENED.sub(r"\1", folded).casefold()
    for pattern, write in _NOTATIONS:
        folded = pattern.sub(write, folded)
    return folded


def _fold(text: str) -> str:
    """Write digits, signs, numerals behind a word such as "part", and accounts alike."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MIXED_FRACTION.sub(" ", text)).translate(_ALIKE)
        text = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)
    return _IBAN.sub(lambda match: match[0].replace(" ", ""), _read_numerals(text))


def _read_numerals(text: str) -> str:
    """Write Roman numerals behind a word such as "part" in digits."""
    if not _HAS_NUMERAL.search(text):
        return text
    return _BEHIND.sub(lambda match: f"{match[1]}{match[2]}{_read_roman(match[3])}", text)


Write = Callable[[str], str]


def _replace_names(text: str, write: Write, write_mail: Write) -> str:
    """Write links and what a computer has named by digits, or addresses of e-mail, anew."""
    if _HAS_LINK.search(text):
        text = _LINK.sub(lambda match: write(match[0]), text)
        text = _MAIL.sub(lambda match: write_mail(match[0]), text) if "@" in text else text
    if not _DIGIT.search(text):
        return text
    if write is not _write_nothing and not _HAS_ID.search(text):
        return text
    text = _NAMED_ID.sub(lambda match: _write_named(match[1], match[2], write), text)
    text = _UUID.sub(lambda match: write(match[0]), text)
    for pattern in (_BASE64, _MIXED):
        text = pattern.sub(lambda match: write(match[0]) if _is_made(match[0]) else match[0], text)
    return text


def _write_named(head: str, name: str, write: Write) -> str:
    """Write an id behind the word that names it. Only digits behind "id" may tell two things."""
    if write is _write_nothing:
        return " "
    return f"{head}{name}" if name.isdigit() or head[:2].lower() == "id" else head + write(name)


def _is_made(word: str) -> bool:
    """Return True for a word of letters and digits that only a computer has made."""
    changes = len(_CHANGE.findall(word))
    mixture = (len(_KIND.findall(word)) - 1) / len(word)
    if changes < _CHANGES:
        return changes > 0 and len(word) >= _LONG_TEXT and mixture >= _MIXTURE
    if word == word.lower() or word == word.upper():
        is_hash = word == word.lower() or len(word) >= _LONG_HASH
        return (is_hash and _HEX.fullmatch(word) is not None) or len(word) >= _LONG
    return len(word) >= _LONG_WITH_CASE and mixture >= _MIXTURE


def _write_nothing(_: str) -> str:
    return " "


def _write_name(name: str) -> str:
    """Write a name as a word of the normal form, whatever its link begins and ends with."""
    parts = "".join(part if part.isalnum() else NAME for part in _HEAD.sub("", name, 1).casefold())
    return f" {NAME}{parts.strip(NAME)} "


def _write_message_id(name: str) -> str:
    """Write the id of a message, which has many digits, but no address of a person."""
    digits = sum(map(str.isdigit, name))
    return _write_name(name) if digits >= (4 if name.startswith("<") else 8) else name


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


def _write_whole(match: re.Match[str]) -> str:
    """Write thousands and decimals, but no telephones and other runs of numbers."""
    whole = match["whole"]
    are_numbers = match["point"] == " " and not match["cents"] and " 000" not in whole
    return match[0] if match["run"] is not None or are_numbers else _write_groups(match)


def _write_named_day(match: re.Match[str]) -> str:
    return match[0] if match[3] is None else _write_day_first(match)


def _write_named_month(match: re.Match[str]) -> str:
    return match[0] if match[3] is None else _write_month_first(match)


def _join_parts(match: re.Match[str]) -> str:
    """Join the parts of a decimal, a version, a time or a ratio, but not of a telephone."""
    number = match[0]
    parts = re.split("[.:]", number)
    rest = match.string[match.end() : match.end() + 3].lstrip(" ")
    if ":" in number:
        are_apart = parts[0] != "1" and any(len(part) > 2 for part in parts[1:])
        return number if are_apart or re.match(r"-\d", rest) else POINT.join(parts)
    is_address = len(parts) == 4 and max(map(int, parts)) < 256
    is_run = len(parts) > 2 and min(map(len, parts)) > 1 and sum(map(len, parts)) >= _RUN_DIGITS
    return number if is_run and not is_address else POINT.join(parts)


def _join_fraction(match: re.Match[str]) -> str:
    over, under = int(match[1]), int(match[2])
    return f"{over}{POINT * 2}{under}" if 0 < over < under else match[0]


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


_NOTATIONS: tuple[tuple[re.Pattern[str], Any], ...] = (
    (_VERSION, ""),
    (_BARE, "0."),
    (_DATE, _write_date),
    (_DAY_FIRST, _write_day_first),
    (_MONTH_FIRST, _write_month_first),
    (_TIME, _write_time),
    (_GROUPS, _write_groups),
    (_MONEY, _write_money),
    (_BETWEEN, r"\1"),
    (_ZEROS, r"\1"),
)
_JOINED = {_DAY_FIRST: _write_named_day, _MONTH_FIRST: _write_named_month, _GROUPS: _write_whole}
_WHOLE_NOTATIONS = (
    *((pattern, _JOINED.get(pattern, write)) for pattern, write in _NOTATIONS),
    (_FRACTION, _join_fraction),
    (_PARTS, _join_parts),
    (_NEGATIVE, POINT),
)


def _read_roman(numeral: str) -> str:
    """Read a Roman numeral as a number in digits."""
    values = [_VALUES[letter] for letter in numeral.upper()]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return str(sum(-value if value < following else value for value, following in pairs))
