"""Tables with new records: a run that remembers the last one beside a full run.

    python benchmarks/remember.py [--records 14000] [--new 1000] [--large 140000]

Invented tables of five kinds, of which 15 in 100 records are others typed again with slips. A first
run remembers all but the new records; then all are compared, by what is remembered and anew. Tables
are files of CSV, and no page is made, as by the command. The time is that of the processor, the
least of three runs. Then new records that are changed, to see whether the line about drift comes,
and that it does not come otherwise. Results go to remember.md and remember.json.
"""

from __future__ import annotations

import argparse
import csv
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lib import results

import neardup_solr as nd
from neardup_solr.types import FieldKind, Progress

SYLLABLES = [
    f"{first}{last}" for first in "bdfghjklmnprstvwz" for last in ("a", "e", "i", "o", "ai", "en")
]
AGAIN = 0.15  # of the records
TIMES = 3  # that both runs are made; the quickest counts
Row = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of table: its fields, and what draws a record of so many."""

    fields: dict[str, FieldKind]
    draw: Callable[[random.Random, int], Callable[[], list[str]]]


def draw_words(draw: random.Random, count: int, power: float) -> Callable[[], str]:
    """Draw invented words, of which the nth comes n ** -power times as often as the first."""
    words = sorted({"".join(draw.choices(SYLLABLES, k=draw.choice((2, 3)))) for _ in range(count)})
    weights = list(accumulate((at + 1) ** -power for at in range(len(words))))
    return lambda: draw.choices(words, cum_weights=weights)[0]


def draw_people(draw: random.Random, count: int) -> Callable[[], list[str]]:
    """Names, addresses, telephones and days of birth."""
    first, last = draw_words(draw, 600, 0.9), draw_words(draw, max(2_000, count // 10), 0.7)
    street, town = draw_words(draw, max(800, count // 20), 0.6), draw_words(draw, 800, 1.0)
    return lambda: [
        f"{first()} {last()}", f"{street()} road {draw.randrange(1, 120)}", town(),
        f"0{draw.randrange(10**8, 10**9)}",
        f"19{draw.randrange(30, 99)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
    ]  # fmt: skip


def draw_products(draw: random.Random, _: int) -> Callable[[], list[str]]:
    """Titles with a model, descriptions and prices."""
    brand, noun, word = (draw_words(draw, *each) for each in ((300, 1.0), (500, 0.8), (700, 0.7)))
    return lambda: [
        f"{brand()} {word()} {noun()} {draw.choice('ABCDEFG')}{draw.randrange(10, 9_999)}",
        f"{word()} {word()} {noun()}", f"{draw.randrange(1, 900)}.{draw.randrange(100):02}",
    ]  # fmt: skip


def draw_papers(draw: random.Random, count: int) -> Callable[[], list[str]]:
    """Titles, authors, venues and years."""
    word, author = draw_words(draw, 4_000, 0.9), draw_words(draw, max(2_000, count // 8), 0.6)
    return lambda: [
        " ".join(word() for _ in range(draw.randrange(5, 10))),
        ", ".join(f"{draw.choice('abcdefgh')}. {author()}" for _ in range(draw.randrange(1, 4))),
        draw.choice(["vldb", "sigmod", "icde", "kdd"]), str(draw.randrange(1990, 2020)),
    ]  # fmt: skip


def draw_firms(draw: random.Random, count: int) -> Callable[[], list[str]]:
    """Names of firms, addresses and codes of towns."""
    name, town = draw_words(draw, max(1_500, count // 10), 0.7), draw_words(draw, 800, 1.0)
    street, form = draw_words(draw, max(500, count // 20), 0.6), ("ltd", "inc", "gmbh", "co")
    return lambda: [
        f"{name()} {draw.choice(['foods', 'steel', 'travel', 'media'])} {draw.choice(form)}",
        f"{street()} street {draw.randrange(1, 90)}", town(), str(draw.randrange(10_000, 99_999)),
    ]  # fmt: skip


def draw_songs(draw: random.Random, count: int) -> Callable[[], list[str]]:
    """Titles, artists, albums, years and lengths."""
    word, artist = draw_words(draw, 3_000, 1.0), draw_words(draw, max(1_000, count // 20), 0.7)
    return lambda: [
        " ".join(word() for _ in range(draw.randrange(1, 5))), artist(), f"{word()} {word()}",
        str(draw.randrange(1960, 2024)), str(draw.randrange(90, 500)),
    ]  # fmt: skip


KINDS = {
    "people": Kind(fields={"name": "text", "street": "text", "town": "text", "phone": "exact",
                           "born": "date"}, draw=draw_people),
    "products": Kind(fields={"title": "text", "about": "text", "price": "number"},
                     draw=draw_products),
    "papers": Kind(fields={"title": "text", "authors": "text", "venue": "text", "year": "number"},
                   draw=draw_papers),
    "firms": Kind(fields={"firm": "text", "street": "text", "town": "text", "zip": "exact"},
                  draw=draw_firms),
    "songs": Kind(fields={"title": "text", "artist": "text", "album": "text", "year": "number",
                          "length": "number"}, draw=draw_songs),
}  # fmt: skip


def slip(text: str, draw: random.Random) -> str:
    """Drop, swap or add a character."""
    if len(text) < 4:
        return text
    at = draw.randrange(1, len(text) - 1)
    changes = (text[at + 1 :], f"{text[at + 1]}{text[at]}{text[at + 2 :]}", f"e{text[at:]}")
    return text[:at] + draw.choice(changes)


def make_table(kind: Kind, count: int, seed: int) -> list[Row]:
    """Make so many records of a kind, some of them typed again, in any order."""
    draw = random.Random(seed)
    make = kind.draw(draw, count)
    values = [make() for _ in range(round(count * (1 - AGAIN)))]
    for at in draw.choices(range(len(values)), k=count - len(values)):
        again = [*values[at]]
        for _ in range(draw.choice((0, 1, 1, 2))):
            field = draw.randrange(len(again))
            again[field] = "" if draw.random() < 0.3 else slip(again[field], draw)
        values.append(again)
    draw.shuffle(values)
    named = (dict(zip(kind.fields, row, strict=True)) for row in values)
    return [{"id": f"r{at}", **row} for at, row in enumerate(named)]


# What happens to new records, by their first and last fields and a source of chance.
CHANGES: dict[str, Callable[[Row, str, str, random.Random], Row]] = {
    "none": lambda row, first, last, draw: row,
    "last column empty": lambda row, first, last, draw: row | {last: ""},
    "first column of other words": lambda row, first, last, draw: row | {
        first: " ".join(f"x{word[::-1]}x" for word in row[first].split())},
    "last column in another format": lambda row, first, last, draw: row | {
        last: row[last].replace("-", ".")[::-1]},
    "slips in all columns": lambda row, first, last, draw: row | {
        name: slip(slip(value, draw), draw) for name, value in row.items() if name != "id"},
}  # fmt: skip


@dataclass
class Clock:
    """Processor time by stage of a run: a stage lasts until the next begins."""

    seconds: dict[str, float]
    stage: str = "reading"
    since: float = 0.0

    def tell(self, progress: Progress) -> None:
        """Take the time of the stage before, if another one begins."""
        if progress.stage != self.stage:
            self.end(progress.stage)

    def end(self, stage: str) -> None:
        """Add the time of the stage, and begin another one."""
        now = time.process_time()
        self.seconds[self.stage] = self.seconds.get(self.stage, 0.0) + now - self.since
        self.stage, self.since = stage, now


def run(
    source: Path | Sequence[Row], kind: Kind, known: Path | None
) -> tuple[nd.Duplicates, dict[str, float]]:
    """Compare records, and measure the processor time by stage."""
    clock = Clock({}, since=time.process_time())
    found = nd.duplicates(
        source, fields=kind.fields, remember=known, texts=False, on_progress=clock.tell
    )
    clock.end("")
    return found, clock.seconds


def write_table(path: Path, rows: Sequence[Row]) -> Path:
    """Write a table as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def compare(name: str, count: int, new: int, folder: Path) -> dict[str, Any]:
    """Compare a table with new records by what is remembered, and anew."""
    kind, known = KINDS[name], folder / name
    rows = make_table(kind, count + new, seed=1)
    run(write_table(folder / "before.csv", rows[:count]), kind, known)
    table = write_table(folder / "now.csv", rows)
    before = known.read_bytes()
    some, of_all = [], []
    for _ in range(TIMES):  # one after the other, as others use the machine, too
        known.write_bytes(before)
        some.append(run(table, kind, known))
        of_all.append(run(table, kind, None))
    (found, stages), (full, stages_of_all) = (
        min(each, key=lambda ran: sum(ran[1].values())) for each in (some, of_all)
    )
    seconds, seconds_of_all = (sum(each.values()) for each in (stages, stages_of_all))
    pairs, all_pairs = ({(pair.id, pair.other_id) for pair in each} for each in (found, full))
    assert found.since is not None
    assert not found.since.reason
    return {
        "kind": name, "records": count, "new": new, "pairs": len(all_pairs),
        "lost": len(all_pairs - pairs), "more": len(pairs - all_pairs), "seconds": seconds,
        "seconds of a full run": seconds_of_all, "share": seconds / seconds_of_all,
        "MB": known.stat().st_size / 1e6, "stages": stages, "stages of a full run": stages_of_all,
    }  # fmt: skip


def look_for_drift(name: str, folder: Path) -> dict[str, Any]:
    """Change new records in several ways, and take down which line comes."""
    kind, known = KINDS[name], folder / f"{name} drift"
    rows = make_table(kind, 3_400, seed=2)
    first, *_, last = kind.fields
    told: dict[str, Any] = {"kind": name}
    for what, change in CHANGES.items():
        known.unlink(missing_ok=True)
        run(rows[:3_000], kind, known)
        new = [change(row, first, last, random.Random(at)) for at, row in enumerate(rows[3_000:])]
        found, _ = run([*rows[:3_000], *new], kind, known)
        assert found.since is not None
        told[what] = found.since.drift.partition(";")[0] or "–"
    return told


def main() -> None:
    """Measure all kinds, and people of a large table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=14_000)
    parser.add_argument("--new", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=140_000)
    options = parser.parse_args()
    found = results.conditions()
    with TemporaryDirectory() as folder:
        place = Path(folder)
        compare("people", 2_500, 100, place)  # which loads the code
        rows = [compare(name, options.records, options.new, place) for name in KINDS]
        large = options.large
        rows.append(compare("people", large, large * options.new // options.records, place))
        drift = [look_for_drift(name, place) for name in KINDS]
    largest = [rows[-1][name] for name in ("stages", "stages of a full run")]
    stages = [[stage, *(each.get(stage, 0.0) for each in largest)] for stage in largest[0]]
    keys = [*rows[0]][:-2], [*drift[0]]
    table, told = (
        [[row[key] for key in of] for row in each]
        for of, each in zip(keys, (rows, drift), strict=True)
    )
    results.keep(
        "remember",
        {"conditions": found, "runs": rows, "drift": drift},
        [("All records, by what is remembered and anew", results.table(keys[0], table)),
         ("Seconds of the largest table by stage",
          results.table(["stage", "remembered", "anew"], stages)),
         ("What is said of 400 new records that are changed", results.table(keys[1], told))],
    )  # fmt: skip


if __name__ == "__main__":
    main()
