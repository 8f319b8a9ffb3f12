"""Thousands, decimals, fractions, versions, prices and telephones of a text, written alike."""

from __future__ import annotations

import re

from neardup_solr.regex import regex
from neardup_solr.text.links import POINT

MONEY = regex(
    r"(?=\d)(?:(?<![\d.,])"
    r"(?:(?<=[$€£¥₹₽])|(?<=[$€£¥₹₽] )|(?<=\beur )|(?<=\busd )|(?<=\bchf )|(?<=\bgbp ))"
    r"(\d+)(?:\.(\d{1,2}))?(?![\w]|[.,]\d)"
    r"|(?<![\w.,])(\d+)(?:\.(\d{1,2}))?(?=\s?(?:[$€£¥₹₽]|(?:eur|usd|chf|gbp)\b)))",
    re.I,
)
_MORE = r"\d|[^\W\d_](?![^\W\d_])"  # of a number; other letters are a unit
GROUPS = regex(
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
FRACTION = regex(r"(?<![\w.,:/-])(?:(\d{1,3})\s)?(\d{1,2})/(2|3|4|8)(?![\d.,:/-]|\w{3})")
PARTS = regex(r"\d++(?:[.:]\d++)++")
_RUN_DIGITS = 7  # from which digits are compared without what separates them
_LAST_DIGITS = 9  # of a telephone, with or without the code of its country
_LOCAL = regex(r"\(\d+\)[ \d/-]+|\d{3}[ /.-]\d{3}[ /.-]\d{4}")
_YEARS = regex(r"[12]\d{3}[-/][12]\d{3}")


def write_whole(match: re.Match[str]) -> str:
    """Write thousands and decimals, but no telephones and other runs of numbers."""
    whole = match["whole"]
    are_numbers = match["point"] == " " and not match["cents"] and " 000" not in whole
    return match[0] if match["run"] is not None or are_numbers else write_groups(match)


def join_parts(match: re.Match[str]) -> str:
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


def write_fraction(match: re.Match[str]) -> str:
    """Write a fraction below 1, and a whole number before it, as a decimal, but for thirds."""
    whole, over, under = match[1] or "0", int(match[2]), int(match[3])
    if not 0 < over < under or under == 3:
        return match[0]
    return whole + f"{over / under:g}"[1:]


def join_fraction(match: re.Match[str]) -> str:
    """Join the parts of a fraction below 1 as those of a decimal, and thirds by themselves."""
    whole, over, under = match.groups()
    if 0 < int(over) < int(under) == 3:
        return f"{whole + ' ' if whole else ''}{over}{POINT * 2}{under}"
    return write_fraction(match)


def write_groups(match: re.Match[str]) -> str:
    """Write thousands, decimals and telephones without what separates their digits."""
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
    before, after = " " if run[0] == "(" else "", " " if run[-1] == ")" else ""
    return f"{before}{digits}{'x' if check else ''}{after}"


def write_money(match: re.Match[str]) -> str:
    """Write a price as a number with cents."""
    whole, cents, other_whole, other_cents = match.groups()
    return f"{whole or other_whole}.{cents or other_cents or '':0<2}"
