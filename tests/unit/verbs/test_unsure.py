"""What records leave open: pairs that may be the same are told, with the fields in doubt."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import neardup_solr as nd

Record = dict[str, str]
Make = Callable[[random.Random], Record]
FIRST = "Anna Bruno Carla Dmitri Elena Farid Greta Hugo Ines Jonas Katja Luis".split()  # noqa: SIM905
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu we xa yo zi".split()  # noqa: SIM905


def word(rng: random.Random, size: int = 3) -> str:
    return "".join(rng.choices(SYLLABLES, k=size)).title()


def digits(rng: random.Random, size: int = 9) -> str:
    return "".join(rng.choices("0123456789", k=size))


def day(rng: random.Random) -> str:
    return f"{rng.randint(1940, 2005)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def person(rng: random.Random) -> Record:
    last = word(rng)
    return {
        "first": rng.choice(FIRST),
        "last": last,
        "street": f"{rng.randint(1, 199)} {word(rng)} Road",
        "city": word(rng, 2),
        "phone": f"0{digits(rng)}",
        "email": f"{last.lower()}@web.org",
        "birth": day(rng),
    }


def song(rng: random.Random) -> Record:
    return {
        "title": " ".join(word(rng, 2) for _ in range(3)),
        "artist": f"{rng.choice(FIRST)} {word(rng)}",
        "album": f"{word(rng)} {word(rng)}",
        "length": f"{rng.randint(2, 6)}:{rng.randint(10, 59)}",
        "released": day(rng),
    }


def slip(rng: random.Random, record: Record) -> Record:
    """A copy with two letters exchanged."""
    name = rng.choice([name for name, value in record.items() if value[:2].isalpha()])
    at = rng.randrange(1, len(record[name]) - 1)
    value = record[name]
    return record | {name: value[:at] + value[at + 1] + value[at] + value[at + 2 :]}


def table(make: Make, change: Callable[[random.Random, Record], Record], share: float) -> list[Any]:
    """Records, most of which come twice: as a copy with a slip, or changed."""
    rng = random.Random(3)
    rows = []
    for _ in range(120):
        record = make(rng)
        rows.append(record)
        if rng.random() < 0.7:
            rows.append(change(rng, record) if rng.random() < share else slip(rng, record))
    return [{"id": f"{at}", **row} for at, row in enumerate(rows)]


def unsure(result: nd.Duplicates) -> str:
    assert result.borderline is not None
    return result.borderline.unsure


CHANGES: dict[str, Callable[[random.Random, Record], Record]] = {
    "moved": lambda rng, old: {name: person(rng)[name] for name in ("street", "city", "phone")},
    "hired": lambda rng, old: {name: person(rng)[name] for name in ("phone", "email", "birth")},
}


@pytest.mark.parametrize("change", CHANGES)
def test_alike_pairs_that_count_as_different_are_told(change: str) -> None:
    """People who changed several values at once may be others; the fields to drop are named."""
    rows = table(person, lambda rng, old: old | CHANGES[change](rng, old), 0.6)
    result = nd.duplicates(rows)
    assert len(result.pairs) < 60
    assert all(name in unsure(result) for name in rows[0] if name != "id")
    same = [name for name in rows[0] if name not in ("id", *CHANGES[change](random.Random(1), {}))]
    assert len(nd.duplicates(rows, fields=same).pairs) > 70


def test_a_column_in_which_pairs_differ_is_told_and_separates_them() -> None:
    """Parents and children of one name and address are not told apart, but by a day of birth."""
    rows = table(person, lambda rng, old: old | {"birth": day(rng)}, 0.6)
    result = nd.duplicates(rows)
    assert "birth" in result.doubt
    birth = {row["id"]: row["birth"] for row in rows}
    separate = nd.duplicates(rows, same=["birth"])
    assert 20 < len(separate.pairs) < len(result.pairs)
    assert all(birth[pair.id] == birth[pair.other_id] for pair in separate.pairs)


@pytest.mark.parametrize("make", [person, song])
def test_copies_with_slips_are_sure(make: Make) -> None:
    result = nd.duplicates(table(make, slip, 0.0))
    assert len(result.pairs) > 70
    assert unsure(result) == result.doubt == ""


def test_recordings_of_other_lengths_are_other_songs() -> None:
    """Songs of an album have much in common, and are most of what is alike."""
    rng = random.Random(5)
    rows, tracks, album = [], [], song(rng)
    for at in range(300):
        album = album if at % 5 else song(rng)
        track = album | {name: song(rng)[name] for name in ("title", "length")}
        copies = [track, slip(rng, track)] if rng.random() < 0.2 else [track]
        rows += copies
        tracks += [at] * len(copies)
    result = nd.duplicates([{"id": f"{at}", **row} for at, row in enumerate(rows)])
    right = [tracks[int(pair.id)] == tracks[int(pair.other_id)] for pair in result.pairs]
    assert len(right) > 30
    assert sum(right) > 0.9 * len(right)


# Firms of few towns, some of them in one house, and twice: street, town, phone, turnover.
FIRMS = """
Av. de France 9;Sion;+41 27 322 65 65;61700.00
Avenue de France 9;Sion;027 322 65 65;61 700,00
Grand-Rue 17;Nyon;022 361 29 10;5 900,00
17 Bridge House, Queen Street;Exeter;01392 211 050;11 300,00
Rue de l'Industrie 30;Fribourg;026 347 10 11;14 400,00
Grand-Rue 7;Nyon;022 361 22 10;5 300,00
Kantonsstrasse 12;Visp;027 946 40 40;27 000,00
Kantonsstrasse 12;Visp;027 946 40 40;34 000,00
Rue de l'Industrie 30;Fribourg;026 347 10 10;25 400,00
av. France 9;Sion;0273226565;61 700,00
17 Bridge House, Queen Street;Exeter;01392 211 095;10 900,00
12, r. de la Gare;Lausanne;+41 21 312 44 55;1200.50
Place St-François 8;Lausanne;021 320 16 16;19 000,00
Place St-François 8;Lausanne;021 320 15 15;21 000,00
"""


def test_a_list_of_columns_is_never_empty() -> None:
    """Pairs may agree in some columns, and in no other one clearly differ."""
    names = ["street", "town", "phone", "turnover"]
    fields = ["street", "town", "phone:exact", "turnover:number"]
    rows = [dict(zip(names, line.split(";"), strict=True)) for line in FIRMS.split("\n")[1:-1]]
    told = unsure(
        nd.duplicates([{"id": str(at)} | row for at, row in enumerate(rows)], fields=fields)
    )
    assert "town" in told
    assert " in ," not in told
    assert " in  " not in told


def make_stamps(rng: random.Random) -> list[Record]:
    """Make the stamps of some series, four of a series."""
    return [
        {"country": country, "year": f"{year}", "motif": motif, "value": value,
         "colour": rng.choice(["red", "blue", "green", "brown"])}
        for country in ("Sweden", "Norway", "Ghana")
        for year in range(1950, 1960)
        for motif in [rng.choice(["ship", "king", "bird", "flower"])]
        for value in ("5", "10", "20", "50")
    ]  # fmt: skip


def test_pairs_that_are_expected_to_be_wrong_are_not_removed_unasked() -> None:
    """The stamps of a series agree in much; the option that is advised keeps copies alone."""
    for seed in range(4):
        rng = random.Random(seed)
        rows = make_stamps(rng)
        rows += [slip(rng, row) for row in rng.sample(rows, 20)]
        result = nd.duplicates(rows, id=":row")
        wrong = sum(rows[int(pair.id) - 1]["value"] != rows[int(pair.other_id) - 1]["value"]
                    for pair in result.pairs)  # fmt: skip
        assert result.doubt or wrong <= 0.1 * len(result.pairs), seed
        if advised := re.search(r"`min_similarity` ([\d.]+)", result.doubt):
            better = nd.duplicates(rows, id=":row", min_similarity=float(advised[1]))
            assert not better.doubt
            assert len(better.removed) < len(result.removed)


def make_phones(rng: random.Random) -> list[Record]:
    """Make variants of models: no two are the same."""
    models = [(word(rng, 2), f"{rng.choice('XSAP')}{number}") for number in range(20)]
    return [
        {"brand": brand, "model": model, "storage": f"{size} GB", "colour": colour,
         "price": f"{rng.randrange(199, 999)}.00"}
        for brand, model in models
        for size in (64, 128, 256)
        for colour in rng.sample(["black", "white", "blue", "green"], 2)
    ]  # fmt: skip


def make_lectures(rng: random.Random) -> list[Record]:
    """Make two lectures a week of some courses."""
    courses = [(f"Introduction to {word(rng)}", f"Prof. {word(rng)}") for _ in range(45)]
    return [
        {"course": course, "lecturer": lecturer, "room": f"{rng.choice('ABC')}{rng.randrange(40)}",
         "day": rng.choice(days), "hour": rng.choice(["8-10", "10-12", "14-16"])}
        for course, lecturer in courses
        for days in (["Mon", "Tue"], ["Thu", "Fri"])
    ]  # fmt: skip


@pytest.mark.parametrize("make", [make_phones, make_lectures])
def test_columns_in_which_records_of_one_thing_agree_by_chance(
    make: Callable[[random.Random], list[Record]],
) -> None:
    """Nothing is removed unasked, and the column that is advised leaves what is equal in it."""
    for seed in range(3):
        rows = make(random.Random(seed))
        result = nd.duplicates(rows, id=":row")
        assert result.doubt or not result.pairs, seed
        if advised := re.search("`same` ([a-z]+)", result.doubt):
            name = advised[1]
            better = nd.duplicates(rows, id=":row", same=name)
            assert len(better.pairs) < 0.1 * len(result.pairs)
            assert all(len({rows[int(id) - 1][name] for id in (pair.id, pair.other_id)}) == 1
                       for pair in better.pairs)  # fmt: skip


def exam(rng: random.Random, key: str) -> Record:
    return {
        "student": key,
        "subject": rng.choice(["Algebra", "Logic", "Statistics", "Optics", "Botany", "History"]),
        "grade": rng.choice(["1.0", "1.3", "1.7", "2.0", "2.3", "3.0", "4.0"]),
        "attempt": rng.choice(["1", "1", "2"]),
    }


def vote(rng: random.Random, key: str) -> Record:
    films = ("Alien", "Heat", "Jaws", "Big", "Brazil", "Gilda", "Rope", "Psycho", "Fargo")
    return {"user": key, "film": rng.choice(films), "stars": rng.choice("12345")}


def receipt(rng: random.Random, key: str) -> Record:
    shop = rng.choice(["North", "Station", "Market", "Harbour"])
    return {"mail": f"{key}@web.org", "shop": shop, "items": rng.choice(["yes", "no"])}


@pytest.mark.parametrize("make", [exam, vote, receipt])
def test_records_of_one_thing_are_no_copies(make: Callable[[random.Random, str], Record]) -> None:
    """Most have their key in common with others, and agree in the rest by chance alone."""
    for seed in range(3):
        rng = random.Random(seed)
        keys = [digits(rng, 7) for _ in range(40)]
        made = [make(rng, rng.choice(keys)) for _ in range(180)]
        rows = [dict(items) for items in dict.fromkeys(tuple(row.items()) for row in made)]
        result = nd.duplicates(rows, id=":row")
        assert len(result.pairs) == 0, seed
        key, other, *_ = rows[0]
        assert key in unsure(result) or "may miss" in unsure(result)
        copies = [rows[0], rows[0] | {other: f"{rows[0][other]} "}]
        assert len(nd.duplicates([*rows, *copies], id=":row").clusters) == 1
        shared = Counter(row[key] for row in rows)
        alone = nd.duplicates(rows, id=":row", fields=[f"{key}:exact"])  # as the line advises
        assert len(alone.clusters) == sum(count > 1 for count in shared.values())
