# ruff: noqa: E501, RUF001, SIM905  (texts in several languages, as lists of words)
"""Twenty more invented sources, of other families, written after the guard was tuned: guard.py."""

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
    filled,
    misread,
    others,
    prose,
    source,
)

R = random.Random
MONTHS = ("January February March April May June July August September October November"
          " December").split()  # fmt: skip


# Templates.


def obituaries(rng: R) -> Source:
    """Obituaries of one kind, long, some with a word changed."""
    form = (
        "It is with great sadness that the family of {n} {s} announces that {n} fell asleep in"
        " {c} in the early hours of {d} after a short illness. The service will be held in the"
        " old church by the river. The family asks for gifts to the {w} society in place of"
        " flowers, and thanks the nurses of the infirmary for their patience and kindness"
    )
    texts = filled(
        rng,
        form,
        rng.choice([4, 12, 45]),
        n=lambda: rng.choice(NAMES),
        s=lambda: f"{rng.choice(NAMES)}son",
        c=lambda: rng.choice(CITIES),
        d=lambda: rng.choice(DAYS),
        w=lambda: rng.choice("choir lifeboat garden".split()),
    )
    return source(
        "obituaries", rng, apart([edited(rng, text, 0.01) for text in texts]), are_copies=False
    )


def weather(rng: R) -> Source:
    """Forecasts of four kinds, in a frame, with numbers and without."""
    frame = "Coastal forecast for {c} issued by the harbour master on {d}: {b} Small boats should listen to the next bulletin before leaving the shelter of the pier"
    bodies = [
        "winds {w}, freshening later, visibility good.",
        "winds {w}, easing by night, rain at times, visibility moderate.",
        "fog banks near the coast, winds {w} and light, visibility poor.",
        "gale warning, winds {w}, sea very rough, visibility moderate or poor.",
    ]
    winds = "northerly southerly easterly westerly variable".split()
    texts: list[str] = []
    for body in bodies:
        texts += filled(
            rng,
            frame.replace("{b}", body),
            rng.randint(6, 30),
            c=lambda: rng.choice(CITIES),
            d=lambda: rng.choice(DAYS),
            w=lambda: rng.choice(winds),
        )
    return source("forecasts of four kinds", rng, apart(texts), are_copies=False)


def products(rng: R) -> Source:
    """A catalogue in which each product comes in colours and sizes."""
    things = "shirt coat scarf blanket curtain cushion towel apron jacket skirt".split()
    rows: list[Row] = []
    for at, thing in enumerate(things):
        form = f"{thing} of washed linen, {rng.choice(NAMES)} collection, woven in {rng.choice(CITIES)}, colour {{k}}, size {{z}}, with a hem sewn by hand"
        rows += apart(
            filled(
                rng,
                form,
                rng.randint(2, 12),
                k=lambda: rng.choice("blue red green white black".split()),
                z=lambda: rng.choice("small medium large".split()),
            ),
            100 * at,
        )
    return source("products in colours and sizes", rng, rows, are_copies=False)


def russian_calls(rng: R) -> Source:
    """Calls for tenders in Russian, among other texts."""
    form = "Администрация города {c} объявляет открытый конкурс на {w} моста через реку, заявки принимаются до {d} в здании школы, ответственный {n}, справки по телефону дежурного"
    texts = filled(
        rng,
        form,
        rng.randint(7, 80),
        c=lambda: rng.choice("Тверь Псков Омск Пермь Томск Курск".split()),
        w=lambda: rng.choice("ремонт покраску осмотр охрану".split()),
        d=lambda: rng.choice("понедельника вторника среды четверга пятницы".split()),
        n=lambda: rng.choice("Иванов Петров Сидоров Орлов Котов Зуев".split()),
    )
    return source(
        "Russian calls for tenders",
        rng,
        apart(texts) + others(rng, 80, 1000, "ru"),
        are_copies=False,
    )


def minutes(rng: R) -> Source:
    """Minutes with a long frame and a body of their own, compared by shingles."""
    head, foot = prose(rng, 45), prose(rng, 35)
    texts = [f"{head} {prose(rng, 18)} {foot}" for _ in range(rng.choice([8, 25, 120]))]
    return source("minutes in one frame", rng, apart(texts), are_copies=False, measure="jaccard")


def mail_footers(rng: R) -> Source:
    """Short mails, each with the same long footer, beside copies."""
    foot = prose(rng, 40)
    rows = apart(
        [f"{prose(rng, rng.randint(5, 12))} {foot}" for _ in range(rng.choice([10, 60]))], 500
    )
    rows += list(copies(rng, [2] * 30, lambda t: edited(rng, t, 0.05), lambda: prose(rng, 60)))
    return source("mails with one footer", rng, rows, are_copies=False)


def greek_receipts(rng: R) -> Source:
    """Greek receipts of two kinds."""
    first = "Απόδειξη του καταστήματος {c}: ο πελάτης {n} πλήρωσε για {w} και παρέλαβε τα πράγματα την {d} το πρωί από την κεντρική αποθήκη του λιμανιού"
    second = "Επιστροφή του καταστήματος {c}: ο πελάτης {n} έφερε πίσω {w} και πήρε τα χρήματα την {d} το πρωί από την κεντρική αποθήκη του λιμανιού"
    texts: list[str] = []
    for form in (first, second):
        texts += filled(
            rng,
            form,
            rng.randint(5, 20),
            c=lambda: rng.choice("Κέρκυρας Βόλου Πάτρας Χανίων Ρόδου".split()),
            n=lambda: rng.choice("Νίκος Μαρία Ελένη Γιώργος Σοφία Πέτρος Άννα".split()),
            w=lambda: rng.choice("ξύλα χαλκό μάρμαρο βαμβάκι ψωμί".split()),
            d=lambda: rng.choice("Δευτέρα Τρίτη Τετάρτη Πέμπτη".split()),
        )
    return source("Greek receipts of two kinds", rng, apart(texts), are_copies=False)


# Digests, chains and series.


def newsletters(rng: R) -> Source:
    """Newsletters that quote articles in full, among copies."""
    rows: list[Row] = []
    for at in range(4):
        articles = [prose(rng, rng.randint(60, 90)) for _ in range(rng.randint(3, 6))]
        rows += apart([" ".join([prose(rng, 10), *articles]), *articles], 100 * at)
    rows += list(
        copies(
            rng,
            [rng.randint(2, 3) for _ in range(30)],
            lambda t: edited(rng, t, 0.04),
            lambda: prose(rng, 70),
            5000,
        )
    )
    return source(
        "newsletters that quote articles", rng, rows, are_copies=False, measure="containment"
    )


def walks(rng: R) -> Source:
    """Texts that lose their first sentence and gain another, step by step."""
    rows: list[Row] = []
    for at in range(rng.randint(2, 4)):
        sentences = [prose(rng, 12) for _ in range(24)]
        rows += [
            (" ".join(sentences[start : start + 6]), 100 * at + start // 3) for start in range(18)
        ]
    rows += list(
        copies(rng, [2] * 30, lambda t: edited(rng, t, 0.05), lambda: prose(rng, 60), 5000)
    )
    return source("texts that walk away", rng, rows, are_copies=False)


def bulletins(rng: R) -> Source:
    """A bulletin each month, that keeps most of its words."""
    body = prose(rng, 40)
    texts = [
        f"Bulletin of the rowing club for {month} {year}: {body} The next race is in {rng.choice(CITIES)}"
        for year in range(2001, 2001 + rng.randint(1, 8))
        for month in MONTHS
    ]
    return source("monthly bulletins", rng, apart(texts), are_copies=False)


def timetables(rng: R) -> Source:
    """Timetables of lines, which differ in numbers."""
    rows = apart(
        [
            f"Line {line} leaves the station at {hour}:{line % 6}5 and stops at the bridge, the market and the school, every {20 + line % 3} minutes until the evening"
            for line in range(1, rng.randint(10, 30))
            for hour in (6, 7)
        ]
    )
    return source("timetables", rng, rows, are_copies=False, measure="words")


# Copies.


def press_releases(rng: R) -> Source:
    """Releases that papers shorten, and put a line of their own before."""

    def change(text: str) -> str:
        sentences = text.split(". ")
        kept = sentences[: max(4, len(sentences) - rng.randint(0, 3))]
        return f"{rng.choice(CITIES)} ({rng.choice(NAMES)}). {edited(rng, '. '.join(kept), 0.02)}"

    rows = list(
        copies(rng, [rng.randint(1, 6) for _ in range(50)], change, lambda: prose(rng, 120))
    )
    return source("shortened press releases", rng, rows, are_copies=True)


def recipes(rng: R) -> Source:
    """Recipes in German that were typed again, with synonyms."""
    synonyms = {
        "und": "sowie",
        "nicht": "nie",
        "auch": "ebenfalls",
        "wenn": "falls",
        "immer": "stets",
        "oder": "bzw.",
    }

    def change(text: str) -> str:
        return " ".join(
            synonyms.get(w, w) if rng.random() < 0.5 else w
            for w in edited(rng, text, 0.02, "de").split()
        )

    rows = list(
        copies(rng, [rng.randint(1, 4) for _ in range(60)], change, lambda: prose(rng, 80, "de"))
    )
    return source("German recipes with synonyms", rng, rows, are_copies=True)


def petitions(rng: R) -> Source:
    """A petition of which hundreds sent a copy, some with a sentence of their own."""
    text = prose(rng, 90)
    rows: list[Row] = []
    for _ in range(rng.choice([40, 150, 380])):
        words = text.split()
        at = rng.randrange(len(words))
        own = prose(rng, rng.randint(3, 12)) if rng.random() < 0.5 else ""
        rows.append((edited(rng, " ".join([*words[:at], own, *words[at:]]), 0.02), 1))
    return source("a petition that many sent", rng, rows + others(rng, 150, 10), are_copies=True)


def chinese_news(rng: R) -> Source:
    """Chinese news that were copied with slips."""
    rows = list(
        copies(
            rng,
            [rng.randint(1, 4) for _ in range(40)],
            lambda t: edited(rng, t, 0.03, "zh"),
            lambda: prose(rng, 90, "zh"),
        )
    )
    return source("Chinese news", rng, rows, are_copies=True)


def forum(rng: R) -> Source:
    """Posts that are quoted in the next post, with a word of thanks."""
    rows = list(
        copies(
            rng,
            [rng.choice([1, 2, 2, 3]) for _ in range(70)],
            lambda t: f"{t} {rng.choice(['Thanks', 'Same here', 'I agree', 'Bumping this'])}",
            lambda: prose(rng, rng.randint(15, 60)),
        )
    )
    return source("posts with thanks", rng, rows, are_copies=True)


def catalogue_cards(rng: R) -> Source:
    """Cards of books that two libraries have typed, with other abbreviations."""

    def make() -> str:
        title = prose(rng, rng.randint(4, 9)).replace(".", "")
        return f"{rng.choice(NAMES)}sen, {rng.choice(NAMES)}: {title}. {rng.choice(CITIES)}, {rng.randint(1850, 1990)}. {rng.randint(90, 600)} pages"

    def change(text: str) -> str:
        text = text.replace("pages", "p.") if rng.random() < 0.5 else text
        text = text.replace(": ", " - ", 1) if rng.random() < 0.5 else text
        return misread(rng, text, 0.01) if rng.random() < 0.3 else text

    rows = list(copies(rng, [rng.choice([1, 1, 2, 3]) for _ in range(120)], change, make))
    return source("cards of books", rng, rows, are_copies=True)


def rough_scans(rng: R) -> Source:
    """Pages that were scanned badly, compared by words."""
    rows = list(
        copies(
            rng,
            [rng.randint(1, 5) for _ in range(40)],
            lambda t: misread(rng, t, 0.05),
            lambda: prose(rng, 150),
        )
    )
    return source("rough scans", rng, rows, are_copies=True)


def drafts(rng: R) -> Source:
    """Drafts of texts, each made from the one before, compared by shingles."""
    rows: list[Row] = []
    for thing in range(25):
        text = prose(rng, 100)
        for _ in range(rng.randint(1, 6)):
            rows.append((text, thing))
            text = edited(rng, text, 0.03)
    return source("drafts", rng, rows, are_copies=True, measure="jaccard")


def listings(rng: R) -> Source:
    """Flats that agents list again, with another agent's name at the end."""
    rows = list(
        copies(
            rng,
            [rng.choice([1, 1, 2, 3, 4]) for _ in range(80)],
            lambda t: f"{edited(rng, t.rsplit(' Agent', 1)[0], 0.02)} Agent {rng.choice(NAMES)}",
            lambda: (
                f"Flat in {rng.choice(CITIES)}, {rng.randint(1, 5)} rooms, {rng.randint(30, 140)} square metres: {prose(rng, 25)} Agent {rng.choice(NAMES)}"
            ),
        )
    )
    return source("flats that are listed again", rng, rows, are_copies=True)


SHOWN: list[Callable[[R], Source]] = [
    obituaries, weather, products, russian_calls, minutes, mail_footers, greek_receipts, newsletters,
    walks, bulletins, timetables, press_releases, recipes, petitions, chinese_news, forum,
    catalogue_cards, rough_scans, drafts, listings,
]  # fmt: skip
