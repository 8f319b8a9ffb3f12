# ruff: noqa: E501, RUF001, SIM905  (texts in several languages, as lists of words)
"""Twenty invented sources by which the guard was tuned, see guard.py."""

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


# Templates.


def two_reminders(rng: R) -> Source:
    first = (
        "Reminder: the {k} class on {d} in the harbour hall starts at ten, please bring a towel, a"
        " bottle of water and your member card, and tell us a day before if you cannot come"
    )
    second = (
        "Reminder: the {k} meeting on {d} in the harbour hall starts at ten, please bring a chair,"
        " a cup of coffee and your member card, and tell us a week before if you cannot come"
    )
    sports, clubs = (
        "yoga boxing judo dance rowing karate tennis pilates".split(),
        "chess garden book film choir".split(),
    )
    rows = apart(
        [first.format(k=k, d=rng.choice(DAYS)) for k in sports]
        + [second.format(k=k, d=rng.choice(DAYS)) for k in clubs]
    )
    return source("two kinds of reminders", rng, rows, are_copies=False)


def one_alert(rng: R) -> Source:
    form = "Warning: the service {s} on host {h} does not answer, last seen at {t}, please restart it and tell the team on call"
    texts = filled(
        rng,
        form,
        rng.choice([3, 5, 9, 30, 200]),
        s=lambda: rng.choice("mail web cache login search queue".split()),
        h=lambda: rng.choice(NAMES).lower(),
        t=lambda: rng.choice(DAYS),
    )
    return source("alerts of one kind", rng, apart(texts), are_copies=False)


def three_letters(rng: R) -> Source:
    frame = "Dear {n}, thank you for your order. {b} We hope to see you again soon in our shop in {c}. Kind regards, the team of the old mill bakery and its friends"
    bodies = [
        "Your parcel has left our house on {d} and should arrive within the week.",
        "Your parcel could not be delivered on {d} and waits at the post office.",
        "Your parcel came back to us on {d} and we will send the money to you.",
    ]
    texts: list[str] = []
    for body in bodies:
        texts += filled(
            rng,
            frame.replace("{b}", body),
            rng.randint(4, 12),
            n=lambda: rng.choice(NAMES),
            c=lambda: rng.choice(CITIES),
            d=lambda: rng.choice(DAYS),
        )
    rows = apart(texts) + others(rng, rng.choice([0, 60]), 1000)
    return source("three kinds of letters", rng, rows, are_copies=False)


def five_notices(rng: R) -> Source:
    frame = "Notice of the harbour office: {b} Questions are answered by {n} at the desk in the main hall between nine and noon, bring your papers"
    bodies = [
        "the berth {w} is closed for repairs until {d}.",
        "the crane {w} is moved to the north pier on {d}.",
        "the ferry {w} does not sail on {d} because of the storm.",
        "the store {w} will be sold to the highest bidder on {d}.",
        "the lamp {w} was stolen on {d} and a reward is offered.",
    ]
    texts: list[str] = []
    for body in bodies:
        texts += filled(
            rng,
            frame.replace("{b}", body),
            rng.randint(5, 40),
            n=lambda: rng.choice(NAMES),
            d=lambda: rng.choice(DAYS),
            w=lambda: rng.choice(CITIES),
        )
    return source("five kinds of notices", rng, apart(texts), are_copies=False)


def templates_among_copies(rng: R) -> Source:
    rows = list(
        copies(
            rng,
            [rng.randint(2, 4) for _ in range(60)],
            lambda t: edited(rng, t, 0.06),
            lambda: prose(rng, 50),
        )
    )
    form = "Job offer: we look for a {j} in {c}, part time or full time, start on {d}, write to {n} and send a letter with your plans"
    rows += apart(
        filled(
            rng,
            form,
            rng.randint(9, 20),
            j=lambda: rng.choice("baker weaver sailor mason miller cooper".split()),
            c=lambda: rng.choice(CITIES),
            d=lambda: rng.choice(DAYS),
            n=lambda: rng.choice(NAMES),
        ),
        1000,
    )
    return source("job offers among copies", rng, rows, are_copies=False)


def noisy_template(rng: R) -> Source:
    form = prose(rng, 20) + " {n} of {c} " + prose(rng, 15) + " on {d} " + prose(rng, 5)
    texts = [
        edited(rng, t, 0.03)
        for t in filled(
            rng,
            form,
            rng.randint(12, 60),
            n=lambda: rng.choice(NAMES),
            c=lambda: rng.choice(CITIES),
            d=lambda: rng.choice(DAYS),
        )
    ]
    return source(
        "a template with slips", rng, apart(texts) + others(rng, 200, 1000), are_copies=False
    )


def german_invoices(rng: R) -> Source:
    form = "Sehr geehrte Frau {n}, für die Lieferung von {w} nach {c} berechnen wir Ihnen den vereinbarten Preis, zahlbar binnen dreißig Tagen auf unser Konto bei der Sparkasse. Mit freundlichen Grüßen, Ihre Mühle am Bach"
    texts = filled(
        rng,
        form,
        rng.randint(6, 100),
        n=lambda: rng.choice(NAMES),
        c=lambda: rng.choice(CITIES),
        w=lambda: rng.choice("Holz Kupfer Marmor Baumwolle Silber Laternen".split()),
    )
    return source(
        "German letters", rng, apart(texts) + others(rng, 100, 1000, "de"), are_copies=False
    )


def chinese_notices(rng: R) -> Source:
    form = "通知：{c}港的{w}船将于{d}开往北岸，请各位乘客提前一小时到达码头，并带好证件和行李，谢谢大家的合作。"
    texts = filled(
        rng,
        form,
        rng.randint(8, 40),
        c=lambda: "".join(rng.choices("东西南北上下", k=2)),
        w=lambda: rng.choice(["红星", "海风", "明月", "白云", "长江", "金山"]),
        d=lambda: rng.choice(["周一", "周二", "周三", "周四", "周五", "周六"]),
    )
    return source(
        "Chinese notices", rng, apart(texts) + others(rng, 30, 1000, "zh", 60), are_copies=False
    )


# Digests, chains and series.


def digest(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(rng.choice([1, 3])):
        notices = [prose(rng, rng.randint(25, 45)) for _ in range(12)]
        rows += apart([" ".join(notices), *notices], 100 * at)
    rows += others(rng, rng.choice([0, 30, 100]), 1000)
    return source(
        "a digest of twelve notices",
        rng,
        rows,
        are_copies=False,
        measure="containment",
        min_similarity=0.8,
    )


def small_digests(rng: R) -> Source:
    rows: list[Row] = []
    for at in range(10):
        notices = [prose(rng, 30) for _ in range(2)]
        rows += apart([" ".join(notices), *notices], 100 * at)
    rows += list(
        copies(rng, [2] * 40, lambda t: edited(rng, t, 0.05), lambda: prose(rng, 60), 5000)
    )
    return source("digests of two notices", rng, rows, are_copies=False)


def chain(rng: R) -> Source:
    texts = [prose(rng, 40)]
    for _ in range(rng.choice([6, 15, 40])):
        texts.append(edited(rng, texts[-1], 0.25))
    # Every fourth text is another thing: the ends have little in common.
    rows = [(text, at // 4) for at, text in enumerate(texts)] + others(rng, 50, 1000)
    return source("a chain", rng, rows, are_copies=False)


def series(rng: R) -> Source:
    form = "The history of the old harbour and its {w} people, part {i}, told by {n} on the radio"
    rows: list[Row] = []
    for at in range(rng.randint(6, 12)):
        n, w = rng.choice(NAMES), rng.choice(["brave", "poor", "quiet", "proud", "busy"])
        rows += apart([form.format(w=w, n=n, i=i) for i in range(1, rng.randint(3, 9))], 100 * at)
    return source("a series of broadcasts", rng, rows, are_copies=False, measure="words")


# Copies.


def reprints(rng: R) -> Source:
    rate = rng.choice([0.02, 0.06, 0.12])
    rows = list(
        copies(
            rng,
            [rng.randint(1, 5) for _ in range(80)],
            lambda t: edited(rng, t, rate),
            lambda: prose(rng, rng.randint(40, 120)),
        )
    )
    return source("reprints with edits", rng, rows, are_copies=True)


def many_reprints(rng: R) -> Source:
    rows = list(
        copies(
            rng,
            [rng.choice([30, 100, 400])],
            lambda t: edited(rng, t, 0.05),
            lambda: prose(rng, 60),
        )
    )
    return source(
        "hundreds of reprints of one text", rng, rows + others(rng, 100, 10), are_copies=True
    )


def mirrors(rng: R) -> Source:
    hosts = [f"mirror {c.lower()}" for c in CITIES]
    rows: list[Row] = []
    for at in range(40):
        text = prose(rng, 120)
        rows += [(f"{rng.choice(hosts)} {text}", at) for _ in range(rng.randint(1, 4))]
    return source("mirrored pages", rng, rows, are_copies=True)


def ads(rng: R) -> Source:
    def change(text: str) -> str:
        return f"{edited(rng, text, 0.04)} Call {rng.choice(NAMES)}"

    rows = list(copies(rng, [rng.randint(1, 6) for _ in range(50)], change, lambda: prose(rng, 25)))
    return source("syndicated ads", rng, rows, are_copies=True)


def scans(rng: R) -> Source:
    rows = list(
        copies(
            rng,
            [rng.randint(1, 4) for _ in range(60)],
            lambda t: misread(rng, t, 0.03),
            lambda: prose(rng, 60),
        )
    )
    return source("scans", rng, rows, are_copies=True)


def records(rng: R) -> Source:
    streets = "Harbour Street,Mill Lane,Station Road,North Quay,Bridge Alley,Garden Row".split(",")
    trades = "painter baker teacher sailor miller weaver doctor farmer".split()

    def make() -> str:
        return f"{rng.choice(NAMES)} {rng.choice(NAMES)}son, {rng.randint(1, 99)} {rng.choice(streets)}, {rng.choice(CITIES)}, {rng.choice(trades)}"

    def change(text: str) -> str:
        kind = rng.randrange(4)
        text = text.replace("Street", "St").replace("Road", "Rd") if kind == 0 else text
        text = text.rsplit(", ", 1)[0] if kind == 1 else text
        text = misread(rng, text, 0.02) if kind == 2 else text
        return text.replace(",", "") if kind == 3 else text

    rows = list(copies(rng, [rng.choice([1, 1, 2, 3]) for _ in range(150)], change, make))
    return source("records of people", rng, rows, are_copies=True)


def russian_reprints(rng: R) -> Source:
    rows = list(
        copies(
            rng,
            [rng.randint(1, 5) for _ in range(40)],
            lambda t: edited(rng, t, 0.07, "ru"),
            lambda: prose(rng, 70, "ru"),
        )
    )
    return source("Russian reprints", rng, rows, are_copies=True)


def versions(rng: R) -> Source:
    rows: list[Row] = []
    for thing in range(30):
        text = prose(rng, 80)
        for _ in range(rng.randint(1, 5)):
            rows.append((text, thing))
            text = edited(rng, text, 0.05)
    return source("versions that follow one another", rng, rows, are_copies=True)


TUNING: list[Callable[[R], Source]] = [
    two_reminders,
    one_alert,
    three_letters,
    five_notices,
    templates_among_copies,
    noisy_template,
    german_invoices,
    chinese_notices,
    digest,
    small_digests,
    chain,
    series,
    reprints,
    many_reprints,
    mirrors,
    ads,
    scans,
    records,
    russian_reprints,
    versions,
]
