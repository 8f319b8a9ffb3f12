# ruff: noqa: E501, SIM905  (texts in several languages, as lists of words)
"""Invented sources whose texts differ in a value of a few: sizes, days, verdicts; and copies."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lib.sources import (
    CITIES,
    DAYS,
    NAMES,
    Row,
    Source,
    apart,
    copies,
    edited,
    misread,
    prose,
    source,
)

R = random.Random
Family = Callable[[R], Source]


def values(
    name: str, of: Sequence[str], *, words: int, sizes: Sequence[int], each: Sequence[int],
    language: str = "en", form: str = "{} {}",
) -> Family:  # fmt: skip
    """A source of texts of their own, each of which comes with some of a few values."""

    def make(rng: R) -> Source:
        rows: list[Row] = []
        for at in range(rng.choice(sizes)):
            text = prose(rng, words, language).rstrip(".。")
            rows += apart(
                [form.format(text, value) for value in rng.sample(of, rng.choice(each))], 100 * at
            )
        return source(name, rng, rows, are_copies=False)

    return make


def same(name: str, change: Callable[[R, str], str], make: Callable[[R], str], sizes: Sequence[int]) -> Family:  # fmt: skip
    """A source of copies, with a change."""

    def family(rng: R) -> Source:
        several = [rng.choice([2, 2, 3]) for _ in range(rng.choice(sizes))]
        rows = list(copies(rng, several, lambda text: change(rng, text), lambda: make(rng)))
        return source(name, rng, rows, are_copies=True)

    return family


def cases(rng: R) -> Source:
    """Cases whose texts differ in a verdict and a court at once."""
    rows: list[Row] = []
    for at in range(rng.choice([8, 20])):
        facts = prose(rng, 30)
        ends = rng.choice([("upheld", "dismissed"), ("guilty", "acquitted")])
        courts = rng.sample("Orla Senn Varna Lindau Porto".split(), 2)
        rows += apart(
            [
                f"{facts} The court of {c} finds: {end}."
                for c, end in zip(courts, ends, strict=True)
            ],
            2 * at,
        )
    return source("verdicts of two courts", rng, rows, are_copies=False)


def variants(rng: R) -> Source:
    """Songs, and for some a recording of another kind, with its own album and length."""
    kinds = rng.choice([["live"], ["live", "remix", "acoustic"], ["live at Porto", "live at Graz"]])
    rows: list[Row] = []
    for at in range(rng.choice([12, 40, 120])):
        title, artist = (
            prose(rng, rng.randint(2, 4)).rstrip("."),
            f"{rng.choice(NAMES)} {rng.choice(NAMES)}son",
        )
        titles = [title, f"{title} ({rng.choice(kinds)})"]
        if rng.random() < 0.4:
            titles = [title, misread(rng, title, 0.1)]
        songs = [
            {
                "title": each,
                "artist": artist,
                "album": prose(rng, 2),
                "length": f"{rng.randint(2, 6)}:{rng.randint(10, 59)}",
            }
            for each in titles
        ]
        if "(" not in titles[1]:
            songs[1] |= {name: songs[0][name] for name in ("album", "length")}
        rows += [
            (song, 2 * at + (number if "(" in titles[1] else 0))
            for number, song in enumerate(songs)
        ]
    return source("recordings of songs", rng, rows, are_copies=False)


def households(rng: R) -> Source:
    """People of one household each."""
    rows: list[Row] = []
    for at in range(rng.choice([1, 3, 9])):
        home = f"{rng.choice(NAMES)}son, {rng.randint(1, 99)} Harbour Street, {rng.choice(CITIES)}, tel {rng.randrange(10**6)}"
        rows += apart([f"{name} {home}" for name in rng.sample(NAMES, rng.choice([2, 3]))], 10 * at)
    return source("people of one household", rng, rows, are_copies=False)


def seats(rng: R) -> Source:
    """Tickets for a few evenings, each with a row and a seat."""
    rows: list[Row] = []
    for at in range(rng.choice([1, 4])):
        evening = f"Ticket for {rng.choice(NAMES)} and friends on {rng.choice(DAYS)} in the old town hall of {rng.choice(CITIES)}"
        rows += apart(
            [
                f"{evening}, Row {rng.randint(1, 9)} Seat {seat}"
                for seat in range(1, rng.randint(3, 6))
            ],
            100 * at,
        )
    return source("tickets with seats", rng, rows, are_copies=False)


def _address(rng: R) -> str:
    return f"{rng.choice(NAMES)} {rng.choice(NAMES)}son, {rng.randint(1, 99)} {rng.choice(CITIES)} Street, {rng.choice(CITIES)}"


def _reordered(rng: R, text: str) -> str:
    first, _, rest = text.partition(" ")
    last, _, rest = rest.partition(", ")
    return f"{last}, {first}, {rest}" if rng.random() < 0.7 else text.replace("Street", "St.")


def _titled(rng: R) -> str:
    return prose(rng, rng.randint(5, 9)).rstrip(".")


TONES = "red blue green black white grey".split()
WRONG: list[Family] = [
    values("sizes of products", "S M L".split(), words=12, sizes=[12, 30], each=[3], form="{}, size {}"),
    values("some sizes of products", "XS S M L XL".split(), words=16, sizes=[15, 40], each=[2, 3, 4], form="{}, size {}"),
    values("colours in the middle of a text", TONES[:3], words=14, sizes=[12, 30], each=[2, 3], form="{0}, in {1}, {0}"),
    values("courses on two days", DAYS[:2], words=7, sizes=[1, 2], each=[2]),
    values("one product in a few colours", TONES, words=5, sizes=[1], each=[2, 3, 4]),
    values("branches of a firm", "North South East West".split(), words=6, sizes=[1, 4], each=[2, 3], form="{}, branch {}"),
    values("Russian sizes", "малый средний большой".split(), words=14, sizes=[10, 25], each=[3], language="ru", form="{}, размер {}"),
    values("Greek colours", "κόκκινο μπλε πράσινο".split(), words=14, sizes=[10, 25], each=[2, 3], language="el", form="{}, χρώμα {}"),
    values("movements of works", "Allegro Andante Scherzo Finale".split(), words=8, sizes=[1, 6, 20], each=[2, 3, 4], form="{}: {}"),
    values("doses", "5 10 20 50".split(), words=9, sizes=[1, 2, 8], each=[2, 3], form="{} {} mg"),
    values("versions of programs", "1.0 1.5 2.0 3.1".split(), words=8, sizes=[1, 2, 8], each=[2, 3], form="{} version {}"),
    values("tickets of two classes", ["first class", "extra second class"], words=25, sizes=[12, 30], each=[2], form="{0} {1} {0}"),
    values("things with a word more", ["", "(used)"], words=8, sizes=[8, 30], each=[2]),
    values("editions of books", ["", "large print", "audiobook"], words=5, sizes=[12, 40], each=[2], form="{0} {1} Lindau Press"),
    values("rules with a not", ["", "nicht"], words=9, sizes=[10, 30], each=[2], language="de", form="{0} {1} {0}"),
    values("Chinese recordings", ["", "现场版"], words=16, sizes=[10, 30], each=[2], language="zh", form="{}{}"),
    cases, households, seats, variants,
]  # fmt: skip
COPIES: list[Family] = [
    same("titles with slips", lambda rng, t: misread(rng, t, 0.05), _titled, [1, 3, 30]),
    same("a few addresses", lambda rng, t: misread(rng, t, 0.04), _address, [1, 2, 4]),
    same("reordered names", _reordered, _address, [1, 3, 40]),
    same("short titles with a word more or less", lambda rng, t: f"{t} {rng.choice(NAMES)}" if rng.random() < 0.5 else t.rsplit(" ", 1)[0], _titled, [1, 3, 30]),
    same("reposts on other days", lambda rng, t: f"{t.rsplit(' Posted', 1)[0]} Posted on {rng.choice(DAYS)}.", lambda rng: f"{prose(rng, 40)} Posted on {rng.choice(DAYS)}.", [2, 20, 60]),
    same("reposts in other years", lambda rng, t: f"{edited(rng, t.rsplit(' Posted', 1)[0], 0.03)} Posted on {rng.randint(1, 28)} May.", lambda rng: f"{prose(rng, 40)} Posted on {rng.randint(1, 28)} May.", [2, 20, 60]),
    same("a few edited articles", lambda rng, t: edited(rng, t, 0.05), lambda rng: prose(rng, 60), [1, 2, 5]),
    same("short texts with edits", lambda rng, t: edited(rng, t, 0.08), lambda rng: prose(rng, 14), [3, 10, 40]),
    same("cut Russian articles", lambda rng, t: t[: int(len(t) * rng.uniform(0.7, 1))], lambda rng: prose(rng, 50, "ru"), [1, 4, 30]),
    same("pages with a frame of some", lambda rng, t: f"{t} All rights reserved. {rng.choice(NAMES)} Media.", lambda rng: prose(rng, 60), [2, 30]),
    same("titles with an article or a slip", lambda rng, t: f"the {t}" if rng.random() < 0.3 else edited(rng, t, 0.15), _titled, [10, 40]),
    same("agencies before the text", lambda rng, t: f"{rng.choice('Reuters AP AFP dpa'.split())} {edited(rng, t.split(' ', 1)[1], 0.03)}", lambda rng: f"{rng.choice('Reuters AP AFP dpa'.split())} {prose(rng, 60)}", [2, 10, 40]),
]  # fmt: skip
VALUES = WRONG + COPIES
