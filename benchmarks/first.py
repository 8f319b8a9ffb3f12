"""F1 of the first command that somebody types: no option at all, on records with known pairs.

    python benchmarks/first.py [--sets stroke ...]

Each set is given to `duplicates` as it is, in each of the ways in `INPUTS`: as one text, all
columns joined. Beside it stand the measures that are not chosen, at their defaults. Then the two
constants of the measure `records`, its threshold and the share of numbers that has to agree, are
chosen anew leaving one set out, by the mean F1 of the others, and judged on that one. Sets that
are not in `$NEARDUP_DATA` are left out. Results go to first.md and first.json.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
from fields import Records, bibliography, publications, restaurants
from lib import results
from lib.corpus import DATA
from lib.records import listings

import neardup_solr as nd
from neardup_solr.candidates import all_candidates
from neardup_solr.candidates.by_word import WORD_DEFAULT, word_candidates
from neardup_solr.measures import aligned
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.frequencies import count_words
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.duplicates.candidate_pairs import choose_way

THREADS = os.cpu_count() or 1
OTHERS = ("words", "jaccard", "aligned")  # measures that are not chosen
LEAST = 0.45  # similarity by aligned, below which nothing is looked at
SHARES = (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
THRESHOLDS = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85)


def haematology() -> Records:
    """Bibliographic records, as those of `fields`."""
    return bibliography("haematology")


def people(number: int) -> Records:
    """Invented people with slips (FEBRL): rec-N-dup-K is rec-N-org."""
    with (DATA / f"febrl/dataset{number}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file, skipinitialspace=True) if row["rec_id"]]
    groups: dict[str, list[int]] = {}
    for at, row in enumerate(rows):
        groups.setdefault(row["rec_id"].split("-")[1], []).append(at)
    known = {pair for rows in groups.values() for pair in combinations(rows, 2)}
    names = [name for name in rows[0] if name != "rec_id"]
    return Records({name: [row[name] or "" for row in rows] for name in names}, None, known)


def demo() -> Records:
    """The demo's invented listings."""
    found = listings()
    known = {(one, other) for one, other in found.pairs[found.is_known].tolist()}
    return Records({"text": found.forms}, None, known)


SETS: dict[str, Callable[[], Records]] = {
    "restaurants": lambda: restaurants("name", "addr", "city", "phone", "cuisine"),
    "restaurants, no phone or cuisine": lambda: restaurants("name", "addr", "city"),
    "dblp_acm": publications,
    "dblp_acm in one file": lambda: publications(one_file=True),
    "cytology": lambda: bibliography("cytology_screening"),
    "stroke": lambda: bibliography("stroke"),
    "haematology": haematology,
    "febrl dataset1": lambda: people(1),
    "febrl dataset2": lambda: people(2),
    "demo": demo,
}


def join_texts(records: Records) -> list[str]:
    """Join the columns of each record."""
    return [" ".join(row) for row in zip(*records.values.values(), strict=True)]


def find_by_text(records: Records, **given: Any) -> nd.Duplicates:
    """Find the duplicates of records as one text each, without any option."""
    rows = [{"id": at, "text": text} for at, text in enumerate(join_texts(records))]
    if records.sides is None:
        return nd.duplicates(rows, **given)
    first, second = ([row for row, of in zip(rows, records.sides, strict=True) if of == side]
                     for side in (0, 1))  # fmt: skip
    return nd.duplicates(first, against=second, **given)


# The ways in which somebody has records: what finds their duplicates.
INPUTS: dict[str, Callable[..., nd.Duplicates]] = {"one text": find_by_text}


def judge(found: nd.Duplicates, known: set[tuple[int, int]]) -> dict[str, float]:
    """Compute precision, recall and F1 of a result."""
    ends = (sorted((int(one.id), int(one.other_id))) for one in found.pairs)
    pairs = {(one, other) for one, other in ends}
    right = len(pairs & known)
    return {"precision": right / max(len(pairs), 1), "recall": right / max(len(known), 1),
            "f1": 2 * right / max(len(pairs) + len(known), 1)}  # fmt: skip


def try_constants(records: Records) -> np.ndarray[Any, Any]:
    """Compute the F1 of `records` for each share and threshold."""
    texts = join_texts(records)
    forms = list(map(normalize, texts))
    joining = WORD_DEFAULT
    if records.sides is not None:
        joining = replace(joining, sides=records.sides)
    way = choose_way(ALIGNED, len(forms), lambda most: sum(map(len, texts)) <= most)
    found = all_candidates(len(forms), joining) if way == "all" else word_candidates(forms, joining)
    known, counts = np.array(sorted(records.known)), count_words(forms)
    pairs = found.pairs
    pairs = pairs[compare_records(forms, pairs, counts, threads=THREADS) >= LEAST]
    is_known = np.isin(pairs[:, 0].astype(np.int64) * len(forms) + pairs[:, 1],
                       known[:, 0] * len(forms) + known[:, 1])  # fmt: skip
    f1s = np.zeros((len(SHARES), len(THRESHOLDS)))
    for at, share in enumerate(SHARES):
        alike = compare_records(forms, pairs, counts, threads=THREADS, numbers=share)
        for place, least in enumerate(THRESHOLDS):
            near = alike >= least - 1e-9
            right, kept = np.count_nonzero(near & is_known), int(np.count_nonzero(near))
            f1s[at, place] = 2 * right / max(kept + len(known), 1)
    return f1s


def leave_one_out(f1s: dict[str, np.ndarray[Any, Any]]) -> list[dict[str, Any]]:
    """Choose the constants by all sets but one, by their mean F1, and judge them on that one."""
    chosen = []
    for name, own in f1s.items():
        mean = np.mean([of for other, of in f1s.items() if other != name], axis=0)
        at, place = np.unravel_index(int(mean.argmax()), mean.shape)
        chosen.append({"set": name, "share": SHARES[at], "threshold": THRESHOLDS[place],
                       "f1": float(own[at, place]), "best": float(own.max())})  # fmt: skip
    return chosen


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    asked = parser.parse_args()
    measured: dict[str, Any] = {"conditions": results.conditions(), "sets": {}}
    rows, f1s = [], {}
    for name in asked.sets:
        try:
            records = SETS[name]()
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        f1s[name] = try_constants(records)
        of: dict[str, Any] = {}
        measured["sets"][name] = of
        for input, find in INPUTS.items():
            found = find(records)
            of[input] = {**judge(found, records.known), "measure": found.measure, "by": found.by}
            others = [judge(find(records, measure=other), records.known)["f1"] for other in OTHERS]
            of[input]["others"] = dict(zip(OTHERS, others, strict=True))
            rows.append([name, input, found.measure, *(f"{of[input][figure]:.3f}"
                         for figure in ("f1", "precision", "recall")),
                         *(f"{f1:.3f}" for f1 in others)])  # fmt: skip
    measured["left_out"] = left_out = leave_one_out(f1s)
    grid = np.mean(list(f1s.values()), axis=0)
    measured["grid"] = [
        {"share": share, "threshold": least, "mean_f1": float(grid[at, place])}
        for (at, share), (place, least) in product(enumerate(SHARES), enumerate(THRESHOLDS))
    ]
    heads = ["set", "input", "measure", "F1", "precision", "recall", *OTHERS]
    sections = [
        ("No option at all", results.table(heads, rows)),
        (
            "The constants of `records`, chosen anew leaving one set out",
            f"The measure has {aligned.NUMBERS:g} and {aligned.RECORDS.default:g}. That numbers"
            " count at all was seen on these sets: this table\nsays nothing about that.\n\n"
            + results.table(
                ["left out", "share", "threshold", "its F1", "best of all"],
                [[one["set"], one["share"], one["threshold"], f"{one['f1']:.3f}",
                  f"{one['best']:.3f}"] for one in left_out],
            ),
        ),
        (
            "Mean F1 of all sets, by share and threshold",
            results.table(
                ["share", *map(str, THRESHOLDS)],
                [[share, *(f"{f1:.3f}" for f1 in of)]
                 for share, of in zip(SHARES, grid, strict=True)],
            ),
        ),
    ]  # fmt: skip
    results.keep("first", measured, sections)


if __name__ == "__main__":
    main()
