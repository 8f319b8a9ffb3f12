# ruff: noqa: E501, SIM905  (texts in several languages, as lists of words)
"""Invented sources of small clusters and of tables, in which gaps of the guard were found."""

from __future__ import annotations

import random
from collections.abc import Callable

from lib.sources import (
    CITIES,
    DAYS,
    NAMES,
    Row,
    Source,
    apart,
    copies,
    edited,
    others,
    prose,
    source,
)

R = random.Random


# Templates whose clusters have two texts.


def cabins(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(rng.choice([12, 40])):
        before, after = prose(rng, rng.randint(12, 20)), prose(rng, rng.randint(12, 20))
        rows += apart([f"{before} {each} class {after}" for each in ("first", "second")], 2 * at)
    rows += others(rng, 100, 1000)
    return source("cabins in two classes", rng, rows, are_copies=False)


def two_coats(rng: R) -> Source:
    """Each coat has its own words, and comes for two kinds of people, in two colours."""
    rows: list[Row] = []
    for at in range(rng.choice([15, 50])):
        words = prose(rng, 30).split()
        place, other = sorted(rng.sample(range(3, 27), 2))
        texts = []
        for kind, colour in (("men", "black"), ("women", "white")):
            text = list(words)
            text.insert(other, colour)
            text.insert(place, kind)
            texts.append(" ".join(text))
        rows += apart(texts, 2 * at)
    rows += list(copies(rng, [2] * 20, lambda t: edited(rng, t, 0.06), lambda: prose(rng, 50), 500))
    return source("coats for men and for women", rng, rows, are_copies=False)


def chinese_wards(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(rng.choice([12, 30])):
        before, after = prose(rng, 30, "zh"), prose(rng, 30, "zh")
        rows += apart([f"{before}{each}方代表{after}" for each in ("甲", "乙")], 2 * at)
    rows += others(rng, 40, 1000, "zh", 60)
    return source("Chinese contracts of two parties", rng, rows, are_copies=False)


def verdicts(rng: R) -> Source:
    """Cases that are decided in one way or the other, in words of their own."""
    rows: list[Row] = []
    for at in range(rng.choice([10, 30])):
        facts = prose(rng, 35)
        ends = rng.choice([("granted", "refused"), ("sold", "rented"), ("open", "closed")])
        rows += apart([f"{facts} So it is {end} on {rng.choice(DAYS)}." for end in ends], 2 * at)
    return source("verdicts in two ways", rng, rows, are_copies=False)


# Small digests.


def pages_of_two(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(rng.choice([8, 25])):
        notices = [prose(rng, rng.randint(30, 36)) for _ in range(2)]
        rows += apart([" ".join(notices), *notices], 100 * at)
    return source(
        "pages of two notices", rng, rows + others(rng, 40, 5000), are_copies=False,
        measure="estimate", min_similarity=0.4,
    )  # fmt: skip


def issues_of_three(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(rng.choice([5, 20])):
        parts = [prose(rng, rng.randint(25, 60), "ru") for _ in range(3)]
        rows += apart([" ".join(parts), *parts], 100 * at)
    rows += list(
        copies(rng, [2] * 20, lambda t: edited(rng, t, 0.05, "ru"), lambda: prose(rng, 60, "ru"), 5000)
    )  # fmt: skip
    return source(
        "Russian issues of three parts", rng, rows, are_copies=False,
        measure="estimate", min_similarity=0.3,
    )  # fmt: skip


# Tables.


def _table(rng: R, count: int) -> list[dict[str, str]]:
    streets = "Harbour Street,Mill Lane,Station Road,North Quay,Bridge Alley,Garden Row".split(",")
    return [
        {
            "name": f"{rng.choice(NAMES)} {rng.choice(NAMES)}son",
            "street": f"{rng.randint(1, 99)} {rng.choice(streets)}",
            "city": rng.choice(CITIES),
        }
        for _ in range(count)
    ]


def rare_flags(rng: R) -> Source:
    """Members of whom few have a flag; a member and a child of the same name are two."""
    rows: list[Row] = []
    for at, row in enumerate(_table(rng, 300)):
        rows.append(({**row, "kind": "adult"}, 2 * at))
        if at < rng.choice([5, 8]):
            rows.append(({**row, "kind": "child"}, 2 * at + 1))
    return source("members and their children", rng, rows, are_copies=False)


def remarks(rng: R) -> Source:
    """Branches that only a column tells apart, which is almost empty."""
    rows: list[Row] = []
    for at, row in enumerate(_table(rng, 300)):
        rows.append(({**row, "branch": ""}, 2 * at))
        if at < 7:
            rows.append(({**row, "branch": rng.choice(["north", "south", "annex"])}, 2 * at + 1))
    return source("branches of firms", rng, rows, are_copies=False)


def evenings(rng: R) -> Source:
    """Evenings that few columns tell apart, among people who are entered once."""
    rows: list[Row] = []
    for at, row in enumerate(_table(rng, 200)):
        again = rng.randint(6, 10) if at < 3 else 1
        for evening in range(again):
            seat = f"K{rng.randint(1, 10**6)}"
            rows.append(({**row, "seat": seat}, 100 * at + evening))
    return source("seats of few people", rng, rows, are_copies=False)


# Copies.


def entered_twice(rng: R) -> Source:
    rows: list[Row] = []
    for at, row in enumerate(_table(rng, 300)):
        for _ in range(2 if at < 40 else 1):
            rows.append(({**row, "serial": f"{rng.randrange(10**7)}"}, at))
    return source("people entered twice", rng, rows, are_copies=True)


def syndicated(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(150):
        title = prose(rng, 9)
        for paper in rng.sample(CITIES, rng.choice([1, 1, 1, 2])):
            rows.append(
                (
                    {
                        "title": title,
                        "url": f"https://{paper.lower()}.example/{rng.randrange(10**6)}",
                    },
                    at,
                )
            )
    return source("titles of several papers", rng, rows, are_copies=True)


def respelled(
    rng: R, text: str, forms: list[tuple[str, str]], count: Callable[[], int], at: int
) -> list[Row]:
    """Make two copies of a text, thing `at`, with either form of some words in its places."""
    first, second = text.split(), text.split()
    for place in rng.sample(range(len(first)), count()):
        first[place], second[place] = rng.choice(forms)
    return [(" ".join(first), at), (" ".join(second), at)]


def spellings(rng: R) -> Source:
    """Pairs of which one is in the spelling of another country."""
    forms = [
        ("colour", "color"),
        ("harbour", "harbor"),
        ("centre", "center"),
        ("grey", "gray"),
        ("programme", "program"),
    ]
    rows: list[Row] = []
    for at in range(60):
        rows += respelled(rng, prose(rng, 50), forms, lambda: 3, at)
    return source("British and American spellings", rng, rows, are_copies=True)


def abbreviations(rng: R) -> Source:
    forms = [
        ("Street", "St."),
        ("Road", "Rd."),
        ("Doctor", "Dr."),
        ("and", "&"),
        ("September", "Sept."),
        ("Company", "Co."),
    ]
    rows: list[Row] = []
    for at in range(80):
        rows += respelled(rng, prose(rng, rng.randint(18, 40)), forms, lambda: 2, at)
    return source("abbreviated notices", rng, rows, are_copies=True)


def synonyms(rng: R) -> Source:
    """Pairs that differ in one synonym of a short list."""
    forms = [
        ("big", "large"),
        ("begin", "start"),
        ("buy", "purchase"),
        ("road", "street"),
        ("sea", "ocean"),
        ("often", "frequently"),
        ("nearly", "almost"),
        ("home", "house"),
    ]
    rows: list[Row] = []
    for at in range(60):
        rows += respelled(rng, prose(rng, 40), forms, lambda: rng.randint(1, 3), at)
    return source("pairs with a synonym", rng, rows, are_copies=True)


def bylines(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(60):
        text = prose(rng, 60)
        rows += [
            (f"By {n}, correspondent. {text}", at) for n in rng.sample(NAMES, rng.choice([1, 2]))
        ]
    return source("articles under two bylines", rng, rows, are_copies=True)


def halves(rng: R) -> Source:
    def change(text: str) -> str:
        words = text.split()
        return " ".join(words[: int(len(words) * rng.uniform(0.55, 0.9))])

    rows = list(copies(rng, [rng.randint(1, 3) for _ in range(60)], change, lambda: prose(rng, 80)))
    return source(
        "articles cut at the end", rng, rows, are_copies=True, measure="estimate", min_similarity=0.4
    )  # fmt: skip


SMALL: list[Callable[[R], Source]] = [
    cabins,
    two_coats,
    chinese_wards,
    verdicts,
    pages_of_two,
    issues_of_three,
    rare_flags,
    remarks,
    evenings,
    entered_twice,
    syndicated,
    spellings,
    abbreviations,
    synonyms,
    bylines,
    halves,
]
