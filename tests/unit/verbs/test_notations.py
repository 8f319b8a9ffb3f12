"""Tables without any option, whose values are written in another way in the copies."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta

import pytest

import neardup_solr as nd

FIRST = [
    "Anna",
    "Bert",
    "Carla",
    "Dora",
    "Emil",
    "Fred",
    "Hugo",
    "Ida",
    "Jan",
    "Kira",
    "Lars",
    "Mona",
]
LAST = ["Holm", "Berg", "Lund", "Dahl", "Sand", "Ness", "Hauge", "Strand", "Bakke", "Foss", "Moen"]
MONTHS = "January February March April May June July August September October November December"
MONATE = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"

Write = Callable[[random.Random, str], str]


def write_day(draw: random.Random, day: str) -> str:
    """Write a date in another way, or the year alone."""
    at = date.fromisoformat(day)
    english, german = (names.split()[at.month - 1] for names in (MONTHS, MONATE))
    return draw.choice((f"{at:%d.%m.%Y}", f"{at.day} {english} {at.year}", f"{english} {at.year}",
                        f"{at.day}. {german} {at.year}", f"abt {at.year}"))  # fmt: skip


def write_call(draw: random.Random, number: str) -> str:
    """Write a telephone number with the code of its country."""
    area, line = number[1:].split()
    return draw.choice((f"+49 {area} {line}", f"0049{area}{line}", f"+49 (0){area}/{line}"))


def write_code(draw: random.Random, code: str) -> str:
    """Write a code in groups, or in small letters."""
    groups = [code[at : at + 4] for at in range(0, len(code), 4)]
    return draw.choice((" ".join(groups), "-".join(groups), code.lower()))


def mistype(draw: random.Random, text: str) -> str:
    """Mistake a letter in the middle of a text."""
    at = draw.randrange(2, len(text) // 2)
    return text[:at] + "x" + text[at + 1 :]


KINDS: dict[str, tuple[Callable[[random.Random], str], Write]] = {
    "day": (lambda draw: f"{date(1830, 1, 1) + timedelta(draw.randrange(25_000))}", write_day),
    "telephone": (lambda draw: f"0{draw.randrange(201, 989)} {draw.randrange(10**6, 10**7)}",
                  write_call),
    "account": (lambda draw: f"DE{draw.randrange(10**19, 10**20)}", write_code),
    "number plate": (lambda draw: f"KX{draw.choice('ABCDE')}{draw.randrange(1000, 9999)}",
                     write_code),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_values_in_another_notation(kind: str) -> None:
    """Records with a slip in the name are found by what is equal in another notation."""
    draw, (make, write) = random.Random(5), KINDS[kind]
    rows, known = list[dict[str, str]](), set[tuple[str, str]]()
    for number in range(30):
        name, value = f"{draw.choice(FIRST)} {draw.choice(LAST)}", make(draw)
        rows.append({"id": f"{number}a", "name": name, kind: value})
        if number % 2:
            rows.append({"id": f"{number}b", "name": mistype(draw, name), kind: write(draw, value)})
            known.add((f"{number}a", f"{number}b"))
    pairs = {(str(pair.id), str(pair.other_id)) for pair in nd.duplicates(rows).pairs}
    assert len(pairs & known) >= 14
    assert not pairs - known


def test_slips_in_an_address_of_an_email() -> None:
    """Who mistypes an address is the same; others of the same name and host are not."""
    draw = random.Random(6)
    rows, known = list[dict[str, str]](), set[tuple[str, str]]()
    names = draw.sample([(first, last) for first in FIRST for last in LAST], 60)
    for number, (first, last) in enumerate(names):
        email = f"{first}.{last}{draw.randrange(10, 99)}@mail.org".lower()
        rows.append({"id": f"{number}a", "first": first, "last": last, "email": email})
        if number % 4 < 2:
            again = mistype(draw, email) if number % 2 else email
            rows.append({**rows[-1], "id": f"{number}b", "email": again})
            known.add((f"{number}a", f"{number}b"))
    pairs = {(str(pair.id), str(pair.other_id)) for pair in nd.duplicates(rows).pairs}
    assert len(pairs & known) >= 27
    assert not pairs - known


@pytest.mark.parametrize(
    ("kind", "value", "same", "other"),
    [
        ("exact", "\u0660\u0661\u0662\u0663", "0123", "0124"),
        ("exact", "\u0967\u0968\u0969", "123", "124"),
        ("number", "12,34,567", "1234567", "12,34,999"),
        ("number", "\u20b9 1,00,000.50", "100000.5", "1,00,000"),
    ],
)
def test_digits_of_all_scripts_and_groups(
    kind: nd.types.FieldKind, value: str, same: str, other: str
) -> None:
    """Codes are equal in digits of any script, amounts in the groups of India, but no others."""
    for written, pairs in ((same, 1), (other, 0)):
        rows = [{"id": at, "name": "Ash tree", "value": each}
                for at, each in enumerate((value, written))]  # fmt: skip
        assert len(nd.duplicates(rows, fields={"name": "text", "value": kind})) == pairs
