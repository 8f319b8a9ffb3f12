"""Short records with known pairs: restaurants, publications, bibliographies, invented listings.

The data is looked for in `$NEARDUP_DATA`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lib.corpus import DATA
from neardup_solr import demo
from neardup_solr.text.normalize import normalize


@dataclass(frozen=True, slots=True)
class Linkage:
    """Normal forms; the side of each (None: one file); which of `pairs` are known; how many are."""

    forms: list[str]
    sides: NDArray[np.uint8] | None
    pairs: NDArray[np.uint32]
    is_known: NDArray[np.bool_]
    known: int


def linkage(forms: list[str], sides: Sequence[int] | None, known: set[tuple[int, int]]) -> Linkage:
    """All pairs of a collection, the known ones marked."""
    rows = np.arange(len(forms))
    side = rows if sides is None else np.array(sides)
    pairs = np.argwhere(side[:, np.newaxis] < side).astype(np.uint32)
    joined = pairs[:, 0].astype(np.int64) * len(forms) + pairs[:, 1]
    is_known = np.isin(joined, [one * len(forms) + other for one, other in known])
    return Linkage(
        forms, None if sides is None else np.array(sides, np.uint8), pairs, is_known, len(known)
    )


def restaurants() -> Linkage:
    """Fodor's and Zagat's guides: name, address and city."""
    lines = (DATA / "restaurants/addresses_verbatim.txt").read_text(encoding="utf-8").splitlines()
    split = [line.split(" ", 1) for line in lines]
    row = {id: number for number, (id, _) in enumerate(split)}
    known = _rows(DATA / "restaurants/gold_pairs.tsv", delimiter="\t")[1:]
    forms = [normalize(text) for _, text in split]
    return linkage(forms, [int(id) > 533 for id, _ in split], {(row[a], row[b]) for a, b in known})


def publications() -> Linkage:
    """DBLP and ACM: title, authors, venue and year."""
    forms: list[str] = []
    sides: list[int] = []
    row: dict[tuple[int, str], int] = {}
    for side, name in enumerate(("DBLP2", "ACM")):
        for id, *fields in _rows(DATA / f"dblp_acm/{name}.csv", encoding="latin-1")[1:]:
            row[side, id] = len(forms)
            forms.append(normalize(" ".join(fields)))
            sides.append(side)
    known = _rows(DATA / "dblp_acm/DBLP-ACM_perfectMapping.csv", encoding="latin-1")[1:]
    return linkage(forms, sides, {(row[0, one], row[1, other]) for one, other in known})


def bibliography(name: str) -> Linkage:
    """Bibliographic records of one file, all fields; clusters as all their pairs."""
    head, *rows = _rows(DATA / f"bibliographies/{name}.records_pre_merged.csv")
    kept = [at for at, field in enumerate(head) if field not in ("ID", "ENTRYTYPE")]
    row = {fields[0]: number for number, fields in enumerate(rows)}
    clusters = _rows(DATA / f"bibliographies/{name}.merged_record_ids.csv")[1:]
    numbers = (sorted(row[id] for id in ids.split(";")) for (ids,) in clusters)
    known = {pair for cluster in numbers for pair in combinations(cluster, 2)}
    return linkage([normalize(" ".join(fields[at] for at in kept)) for fields in rows], None, known)


def listings() -> Linkage:
    """The demo's invented listings."""
    rows = _rows(demo.listings(), delimiter="\t")[1:]
    row = {fields[0]: number for number, fields in enumerate(rows)}
    known = _rows(demo.pairs(), delimiter="\t")[1:]
    pairs = {(min(row[a], row[b]), max(row[a], row[b])) for a, b in known}
    return linkage([normalize(fields[1]) for fields in rows], None, pairs)


def _rows(path: Path, *, delimiter: str = ",", encoding: str = "utf-8") -> list[list[str]]:
    with path.open(encoding=encoding, newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


SETS: dict[str, Callable[[], Linkage]] = {
    "restaurants": restaurants,
    "dblp_acm": publications,
    "cytology": lambda: bibliography("cytology_screening"),
    "stroke": lambda: bibliography("stroke"),
    "demo": listings,
}
