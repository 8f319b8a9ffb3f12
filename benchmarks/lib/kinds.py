"""Tables with known pairs, by kind: those of the test data, and those that `made` generates."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path

from lib.corpus import DATA

Row = dict[str, str]
IdPair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Records of a source, or of two, with the pairs of ids that are the same thing.

    Tables of a `family` are about the same sort of thing: a model that is tried on one of them
    learns from none. Ids are unique over both sides.
    """

    name: str
    family: str
    sides: tuple[list[Row], ...]
    pairs: frozenset[IdPair]


def sort_pairs(pairs: Iterable[IdPair]) -> frozenset[IdPair]:
    """Sort the ids of each pair of a single source."""
    return frozenset((min(pair), max(pair)) for pair in pairs)


def compute_figures(table: Table, pairs: Iterable[IdPair]) -> dict[str, float]:
    """Compute F1, precision and recall of pairs of ids."""
    answer = frozenset(pairs) if len(table.sides) > 1 else sort_pairs(pairs)
    right = len(answer & table.pairs)
    return {
        "f1": 2 * right / max(len(answer) + len(table.pairs), 1),
        "precision": right / max(len(answer), 1),
        "recall": right / max(len(table.pairs), 1),
    }


def read_rows(path: Path, *, encoding: str = "utf-8-sig") -> list[Row]:
    """Read the records of a CSV file."""
    with path.open(newline="", encoding=encoding) as file:
        return [dict(row) for row in csv.DictReader(file)]


def _read_pairs(path: Path) -> list[IdPair]:
    lines = path.read_text("utf-8").splitlines()
    return [(first, second) for first, second in (line.split("\t") for line in lines if line)]


def make_units(name: str, family: str, a: list[Row], b: list[Row], pairs: Iterable[IdPair]) -> (
    list[Table]
):  # fmt: skip
    """Make the unit of two sources, and that of both in one file, columns united."""
    names = list(dict.fromkeys(column for row in (*a[:1], *b[:1]) for column in row))
    united = [{column: row.get(column, "") for column in names} for row in (*a, *b)]
    return [
        Table(name=f"{name}:two", family=family, sides=(a, b), pairs=frozenset(pairs)),
        Table(name=f"{name}:one", family=family, sides=(united,), pairs=sort_pairs(pairs)),
    ]


FAMILIES = {
    "abt_buy": "products", "notebooks": "products", "imdb_tmdb": "films", "cddb": "music",
    "itunes_amazon": "music", "cora": "publications", "fake_1000": "people",
    "affiliations": "organisations",
}  # fmt: skip


def _read_kind(name: str) -> list[Table]:
    folder = DATA / "kinds" / name
    pairs = _read_pairs(folder / "truth.tsv")
    if (folder / "a.csv").exists():
        a, b = (read_rows(folder / f"{side}.csv") for side in "ab")
        return make_units(name, FAMILIES[name], a, b, pairs)
    rows = read_rows(folder / "one.csv")
    return [
        Table(name=f"{name}:one", family=FAMILIES[name], sides=(rows,), pairs=sort_pairs(pairs))
    ]


def _read_dblp_acm() -> list[Table]:
    folder = DATA / "dblp_acm"
    a, b = (
        [{("id" if "id" in key else key): value for key, value in row.items() if key}
         for row in read_rows(folder / f"{name}.csv", encoding="latin-1")]
        for name in ("DBLP2", "ACM")
    )  # fmt: skip
    with (folder / "DBLP-ACM_perfectMapping.csv").open(newline="", encoding="latin-1") as file:
        pairs = [(first, second) for first, second in list(csv.reader(file))[1:]]
    return make_units("dblp_acm", "publications", a, b, pairs)


def _read_restaurants() -> list[Table]:
    folder = DATA / "restaurants"
    rows = [{key: value for key, value in row.items() if key != "cluster"}
            for row in read_rows(folder / "records.csv")]  # fmt: skip
    pairs = _read_pairs(folder / "gold_pairs.tsv")[1:]
    guides = {True: [row for row in rows if int(row["id"]) <= 533],
              False: [row for row in rows if int(row["id"]) > 533]}  # fmt: skip
    return make_units("restaurants", "places", guides[True], guides[False], pairs)


def _read_bibliography(name: str) -> list[Table]:
    folder = DATA / "bibliographies"
    rows = read_rows(folder / f"{name}.records_pre_merged.csv")
    merged = read_rows(folder / f"{name}.merged_record_ids.csv")
    pairs = frozenset(
        pair for row in merged for pair in combinations(sorted(row["merged_ids"].split(";")), 2)
    )
    return [Table(name=f"{name}:one", family="publications", sides=(rows,), pairs=pairs)]


SETS: dict[str, Callable[[], list[Table]]] = {
    **{name: partial(_read_kind, name) for name in FAMILIES},
    "dblp_acm": _read_dblp_acm,
    "restaurants": _read_restaurants,
    "cytology": lambda: _read_bibliography("cytology_screening"),
    "stroke": lambda: _read_bibliography("stroke"),
}


def read_tables() -> list[Table]:
    """Read all tables of the test data."""
    return [table for read in SETS.values() for table in read()]
