"""Records merged into one for each cluster: how many of their values are right, and if any is lost.

    python benchmarks/merge.py [--records 3000] [--large 100000]

Invented lists with known truth: members of clubs, who have moved, by whom the rules were tried,
and books of several catalogues, which were measured when the rules were done. Of each
value that is right in any record of a cluster, the merged record has it, or not; the truth is that
of the thing that the kept record stands for. What stands in a record, and neither in the merged
file nor in that of the values, is lost. A larger list of members is merged beside --unique, for the
time. Results go to merge.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from lib import results

import neardup_solr as nd
from neardup_solr.types import FieldKind

Row = dict[str, str]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FIRST = """
Anna Marta Lena Sofia Clara Ida Greta Nora Elsa Frida Jonas Otto Karl Emil Hugo Anton
Oskar Paul Max Felix Bruno Dmitri Aylin Mehmet Fatima Omar Chen Mei Ravi Priya Tom Kate
Liam Emma Noah Olivia
"""
LAST = """
Linsen Weber Holm Dahl Keller Rossi Orlov Braun Vogel Hahn Krause Berg Winter Sommer
Fuchs Adler Engel Huber Lang Roth Stein Wolf Kaya Demir Khan Singh Li Wang Moreau Dubois
Costa Silva Novak Kowalski Larsen Nielsen Virtanen Jansen Visser Murphy
"""
STREETS = """
Mill Castle Station Church Harbor Garden Forest River Market School Bridge Tower Park
Meadow Hill
"""
CITIES = {
    "Bonn": "53111", "Köln": "50667", "Ulm": "89073", "Trier": "54290", "Hamburg": "20095",
    "Kiel": "24103", "Jena": "07743", "Halle": "06108", "Essen": "45127", "Worms": "67547",
    "Lübeck": "23552", "Gera": "07545", "Fulda": "36037", "Passau": "94032",
}  # fmt: skip
WORDS = """
history theory birds rivers night garden winter language number light music iron silence
memory glass stone border island forest machine market letter voyage shadow mountain
harbor evening summer mirror
"""
PUBLISHERS = ("Birch Press", "Northern Books", "Verlag am Kai", "Quay & Sons", "Three Lamps")
NEWEST = ("*:newest", "newest kept")  # ways for lists with a date of the last change
LANGUAGES = ("English", "German", "French", "Dutch", "Polish")


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A kind of list: what makes a thing, and what makes a record of it, with the rules to try."""

    name: str
    make: Callable[[Random], Row]
    enter: Callable[[Random, Row], Row]
    fields: Mapping[str, FieldKind]
    rules: Mapping[str, str]


def slip(rng: Random, text: str) -> str:
    """Make a slip in a text: a letter or a digit more, fewer, another, or two in another order."""
    at = rng.randrange(max(1, len(text) - 1))
    sign = rng.choice("0123456789" if text[at].isdigit() else LETTERS)
    return rng.choice(
        [
            text[:at] + sign + text[at:],
            text[:at] + text[at + 1 :],
            text[:at] + sign + text[at + 1 :],
            text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
        ]
    )


def spoil(rng: Random, row: Row, missing: Mapping[str, float], slips: float) -> Row:
    """Leave values of a record out, write them in other case, and make slips in them."""
    spoilt = {}
    for name, value in row.items():
        if rng.random() < missing.get(name, 0):
            value = rng.choice(["", "", "", "n/a", "-"])
        elif value and rng.random() < slips:
            value = slip(rng, value)
        elif rng.random() < 0.05:
            value = rng.choice([value.upper(), value.lower(), f" {value}"])
        spoilt[name] = value
    return spoilt


def make_address(rng: Random) -> Row:
    """Make an address and its telephone."""
    city = rng.choice([*CITIES])
    kind = rng.choice(["Road", "Lane", "Street"])
    street = f"{rng.randrange(1, 120)} {rng.choice(STREETS.split())} {kind}"
    phone = f"0{rng.randrange(200, 999)} {rng.randrange(10_000, 9_999_999)}"
    return {"street": street, "zip": CITIES[city], "city": city, "phone": phone}


def make_member(rng: Random) -> Row:
    """Make a person. Two in five have moved; `before` names what was so until the year `moved`."""
    first, last = rng.choice(FIRST.split()), rng.choice(LAST.split())
    person = {"first": first, "last": last}
    person["born"] = (
        f"{rng.randrange(1935, 2006)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    )
    person |= make_address(rng)
    person["mail"] = f"{first}.{last}{rng.randrange(1, 99)}@example.org".lower()
    if rng.random() < 0.4:
        person |= {f"before {name}": value for name, value in make_address(rng).items()}
        person["moved"] = str(rng.randrange(2016, 2024))
    return person


def enter_member(rng: Random, person: Row) -> Row:
    """Enter a person in some year, with the address of that time."""
    year = rng.randrange(2012, 2026)
    row = {name: value for name, value in person.items() if " " not in name and name != "moved"}
    if "moved" in person and year < int(person["moved"]):
        row |= {name: person[f"before {name}"] for name in ("street", "zip", "city", "phone")}
    missing = {"born": 0.25, "street": 0.15, "zip": 0.15, "city": 0.1, "phone": 0.35, "mail": 0.35}
    row = spoil(rng, row, missing, 0.03)
    return row | {"updated": f"{year}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"}


def make_book(rng: Random) -> Row:
    """Make a book, with a subtitle and up to three authors."""
    count = rng.choice([1, 1, 1, 2, 3])
    names = [(rng.choice(LAST.split()), rng.choice(FIRST.split())) for _ in range(count)]
    authors = [f"{last}, {first}" for last, first in names]
    title = " ".join(["The", *rng.sample(WORDS.split(), 2), "of", *rng.sample(WORDS.split(), 1)])
    subtitle = " ".join(["A", *rng.sample(WORDS.split(), 1), "in", *rng.sample(WORDS.split(), 2)])
    return {
        "title": f"{title}: {subtitle}",
        "authors": " & ".join(authors),
        "year": str(rng.randrange(1950, 2025)),
        "publisher": rng.choice(PUBLISHERS),
        "isbn": f"978{rng.randrange(10**9, 10**10)}",
        "pages": str(rng.randrange(60, 900)),
        "language": rng.choice(LANGUAGES),
    }


def enter_book(rng: Random, book: Row) -> Row:
    """Enter a book in a catalogue: some leave the subtitle out, or all authors but the first."""
    row = dict(book)
    if rng.random() < 0.4:
        row["title"] = row["title"].partition(":")[0]
    if rng.random() < 0.3:
        row["authors"] = row["authors"].partition(" & ")[0]
    missing = {"year": 0.1, "publisher": 0.3, "isbn": 0.4, "pages": 0.3, "language": 0.4}
    return spoil(rng, row, missing, 0.03)


MEMBERS = Family(
    name="members of clubs",
    make=make_member,
    enter=enter_member,
    fields={"first": "text", "last": "text", "born": "date", "street": "text", "city": "text",
            "phone": "exact", "mail": "text"},
    rules={"*": "frequent", "street": "newest", "zip": "newest", "city": "newest",
           "phone": "newest"},
)  # fmt: skip
BOOKS = Family(
    name="books of catalogues",
    make=make_book,
    enter=enter_book,
    fields={"title": "text", "authors": "text", "year": "number", "isbn": "exact",
            "publisher": "text"},
    rules={"*": "frequent", "title": "longest", "authors": "longest"},
)  # fmt: skip


def make_list(family: Family, count: int, seed: int) -> tuple[list[Row], list[Row]]:
    """Make so many records of things, one to six of each, and for each record its thing."""
    rng = Random(seed)
    entered: list[tuple[Row, Row]] = []
    while len(entered) < count:
        thing = family.make(rng)
        entered += [
            (family.enter(rng, thing), thing) for _ in range(rng.choice([1, 1, 2, 3, 4, 6]))
        ]
    rng.shuffle(entered)
    numbered = enumerate(entered[:count], 1)
    rows = [{"id": str(at), **row} for at, (row, _) in numbered]
    return rows, [thing for _, thing in entered[:count]]


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def read_csv(path: Path) -> list[Row]:
    """Read a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=3_000)
    parser.add_argument("--large", type=int, default=100_000)
    options = parser.parse_args()
    measured: dict[str, Any] = {"conditions": results.conditions(), "records": options.records}
    with tempfile.TemporaryDirectory() as folder:
        families = ((MEMBERS, 1), (BOOKS, 2))
        measured["families"] = [
            each
            for family, seed in families
            for each in measure(Path(folder), family, options.records, seed)
        ]
        measured["large"] = measure_time(Path(folder), options.large)
    results.keep("merge", measured, list(make_sections(measured)))


def measure(folder: Path, family: Family, count: int, seed: int) -> list[dict[str, Any]]:
    """Merge a list by each way, in the clusters that are found and in those of the truth."""
    rows, things = make_list(family, count, seed)
    for row, thing in zip(rows, things, strict=True):
        row["key"] = f"thing {id(thing)}"
    source = folder / "in.csv"
    write_csv(source, rows)
    found: dict[str, dict[str, Any]] = {
        "as they are found": {"fields": family.fields},
        "as they are in truth": {"text": "key", "measure": "words", "min_similarity": 1.0},
    }
    figures = []
    for clusters, arguments in found.items():
        has_dates = "updated" in rows[0]
        results_of = {
            canonical: nd.duplicates(source, canonical=canonical, **arguments)
            for canonical in ("first", *["newest"] * has_dates)
        }
        ways = {
            way: measure_way(folder, rows, things, results_of, way, family)
            for way in ("unique", "no rule", "*:frequent", *NEWEST * has_dates, "rules by column")
        }
        name = f"{family.name}, clusters {clusters}"
        figures.append({"name": name, "rules": dict(family.rules), "ways": ways})
    return figures


def measure_way(
    folder: Path, rows: Sequence[Row], things: Sequence[Row],
    results_of: Mapping[str, nd.Duplicates], way: str, family: Family,
) -> dict[str, Any]:  # fmt: skip
    """Merge a list by a way, and compare it with the truth."""
    found = results_of["newest" if way == "newest kept" else "first"]
    output, values = folder / "out.csv", folder / "out.values.csv"
    if way == "unique":
        found.write_unique(output, yes=True)
        return judge(rows, things, found, read_csv(output), [])
    rule = {way[:1]: way[2:]} if way[:1] == "*" else {}
    found.merge(family.rules if way == "rules by column" else rule, yes=True).write(output)
    return judge(rows, things, found, read_csv(output), read_csv(values))


def judge(
    rows: Sequence[Row], things: Sequence[Row], found: nd.Duplicates, merged: Sequence[Row],
    values: Sequence[Row],
) -> dict[str, Any]:  # fmt: skip
    """Count the values that are right where any record has the right one, and those lost."""
    members: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        each = found.removed.get(row["id"])
        members.setdefault(row["id"] if each is None else each.duplicate_of, []).append(at)
    right, any_right = Counter[str](), Counter[str]()
    for record in merged:
        group, thing = members[record["id"]], things[int(record["id"]) - 1]
        for name in thing.keys() & record.keys() if len(group) > 1 else ():
            true = equal(thing[name])
            if any(equal(rows[at][name]) == true for at in group):
                any_right[name] += 1
                right[name] += equal(record[name]) == true
    kept = {(row["id"], name, cell) for row in merged for name, cell in row.items()}
    kept |= {(row["from_id"], row["column"], row["value"]) for row in values}
    stands = {(name, cell) for _, name, cell in kept}
    cells = [(row["id"], name, cell) for row in rows for name, cell in row.items() if cell.strip()]
    cells = [each for each in cells if each[1] != "id"]
    mixed = sum(len({id(things[at]) for at in group}) > 1 for group in members.values())
    return {
        "columns": {name: right[name] / any_right[name] for name in sorted(any_right)},
        "right": right.total() / any_right.total(),
        "of": any_right.total(),
        "lost": sum((name, cell) not in stands for _, name, cell in cells),
        "without record": sum(each not in kept for each in cells),
        "clusters": sum(len(group) > 1 for group in members.values()),
        "mixed": mixed,
    }


def equal(value: str) -> str:
    """Write a value without case and blanks."""
    return " ".join(value.split()).casefold()


def measure_time(folder: Path, count: int) -> dict[str, Any]:
    """Measure the seconds of --unique and of a merge of a list, each three times, by processor."""
    rows, things = make_list(MEMBERS, count, 3)
    for row, thing in zip(rows, things, strict=True):  # so that the comparison is quick
        row["text"] = " ".join(thing.values())
    source = folder / "large.csv"
    write_csv(source, rows)
    found = nd.duplicates(source, measure="estimate", min_similarity=0.8)
    taken: dict[str, list[float]] = {"unique": [], "merge": []}
    for _ in range(3):
        start = time.process_time()
        found.write_unique(folder / "large-unique.csv", yes=True)
        between = time.process_time()
        merged = found.merge({"*": "frequent"}, yes=True)
        merged.write(folder / "large-merged.csv")
        taken["unique"].append(between - start)
        taken["merge"].append(time.process_time() - between)
    return {
        "records": count,
        "merged": merged.merged,
        **{way: statistics.median(seconds) for way, seconds in taken.items()},
    }


def make_sections(measured: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Make the sections of the page."""
    for family in measured["families"]:
        columns = list(family["ways"]["unique"]["columns"])
        heads = ["way", "right", "lost", *columns]
        rows = [
            [way, each["right"], each["lost"], *(each["columns"][name] for name in columns)]
            for way, each in family["ways"].items()
        ]
        first = family["ways"]["unique"]
        rules = ", ".join(f"{name}:{rule}" for name, rule in family["rules"].items())
        yield (
            f"{measured['records']:,} {family['name']}",
            f"{results.table(heads, rows)}\n\nRules by column: {rules}. Right: the merged value is"
            " that of the truth, but for case and blanks, where any record of the cluster has it"
            f" ({first['of']:,} values without a rule). Of {first['clusters']:,} clusters,"
            f" {first['mixed']:,} have records of two things. Lost: values of records that stand"
            " nowhere in what is written.",
        )
    large = measured["large"]
    yield (
        f"{large['records']:,} records, {large['merged']:,} of them in clusters",
        f"Seconds of the processor: {large['unique']:.1f} for --unique, {large['merge']:.1f} for"
        " a merge by *:frequent with its file of values.",
    )


if __name__ == "__main__":
    main()
