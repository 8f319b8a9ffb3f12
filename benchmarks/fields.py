"""F1 of the measure `fields`, without answers, on records with known pairs.

    python benchmarks/fields.py [--sets stroke ...] [--records 100000]

Candidates are those of `duplicates` with the measure `aligned`: records that share a rare word, or
all pairs of few short ones. They are compared by fields with one default for all sets. Each choice
behind that default is made anew leaving one set out, and shown on that set. Then the cost on
invented records of four fields, beside `aligned` on their joined text. Results go to fields.md and
fields.json.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from lib import results
from lib.corpus import DATA
from numpy.typing import NDArray

from neardup_solr.candidates import all_candidates
from neardup_solr.candidates.by_word import WORD_DEFAULT, word_candidates
from neardup_solr.measures import Similarities, columns, em, lookalikes
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.alignment import compare_records
from neardup_solr.measures.columns import FieldColumn, make_column, parse_fields
from neardup_solr.measures.fields import LEAST_PROBABILITY, match_fields
from neardup_solr.measures.frequencies import count_words
from neardup_solr.measures.levels import compare_fields
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.weights import Weight, learn_weights
from neardup_solr.records import as_text
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.duplicates.candidate_pairs import choose_way

THREADS = os.cpu_count() or 1
# What was measured of others on the same sets: Splink 4.0.17, p >= 0.5, its first sensible model ->
# the one after a look at its errors (dblp_acm in one file); dedupe 3.0.3 with 30 and 100 answers of
# somebody who is always right; bib-dedupe 0.11.0, which is made for bibliographies.
OTHERS = {
    "restaurants": (".865 (best .934)", ".968 / .960", "–"),
    "dblp_acm": (".531 → .707", "–", "–"),
    "cytology": (".963 → .988", "–", ".992"), "stroke": (".985 → .996", "–", ".998"),
}  # fmt: skip
GOALS = {"restaurants": 0.95, "dblp_acm": 0.965, "cytology": 0.99, "stroke": 0.99}
# Choices that were open: below which similarity nothing is a match, in how much of what fields can
# tell lookalikes have to agree, how rare a value is that counts as such.
CHOICES = {"FLOOR": (0.3, 0.4, 0.5), "LOOKALIKES_AGREEING": (0.6, 2 / 3),
           "RARE": (0.0, 1 / 3)}  # fmt: skip
PLACES = {"FLOOR": em, "LOOKALIKES_AGREEING": lookalikes, "RARE": columns}

DRAWS = 20  # of few records

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Records:
    """Values by field, kinds of fields, the side of each record (None: one file), known pairs."""

    values: dict[str, list[str]]
    sides: NDArray[np.uint8] | None
    known: set[Pair]


class Prepared(NamedTuple):
    """What the choices do not change: columns, candidates, which are known, of how many."""

    columns: list[FieldColumn]
    pairs: Pairs
    similarities: Similarities
    is_known: NDArray[np.bool_]
    known: int
    way: str


class Quality(NamedTuple):
    """How good the pairs are that were found."""

    precision: float
    recall: float
    f1: float


def restaurants(*names: str) -> Records:
    """Fodor's and Zagat's guides in one file."""
    rows = _dicts("restaurants/records.csv")
    row = {one["id"]: at for at, one in enumerate(rows)}
    gold = _rows("restaurants/gold_pairs.tsv", delimiter="\t")[1:]
    known = {(row[one], row[other]) for one, other in gold}
    return Records({name: [one[name] for one in rows] for name in names}, None, known)


def publications(*, one_file: bool = False) -> Records:
    """DBLP against ACM, or both in one file."""
    values: dict[str, list[str]] = {name: [] for name in ("title", "authors", "venue", "year")}
    sides: list[int] = []
    row: dict[tuple[int, str], int] = {}
    for side, file in enumerate(("DBLP2", "ACM")):
        for id, *own in _rows(f"dblp_acm/{file}.csv", encoding="latin-1")[1:]:
            row[side, id] = len(sides)
            sides.append(side)
            for column, value in zip(values.values(), own, strict=True):
                column.append(value)
    gold = _rows("dblp_acm/DBLP-ACM_perfectMapping.csv", encoding="latin-1")[1:]
    known = {(row[0, one], row[1, other]) for one, other in gold}
    return Records(values, None if one_file else np.array(sides, dtype=np.uint8), known)


def bibliography(name: str) -> Records:
    """Bibliographic records of one file; clusters as all their pairs."""
    rows = _dicts(f"bibliographies/{name}.records_pre_merged.csv")
    row = {one["ID"]: at for at, one in enumerate(rows)}
    clusters = _rows(f"bibliographies/{name}.merged_record_ids.csv")[1:]
    numbers = (sorted(row[id] for id in ids.split(";")) for (ids,) in clusters)
    known = {pair for cluster in numbers for pair in combinations(cluster, 2)}
    names = [head for head in rows[0] if head not in ("ID", "ENTRYTYPE")]
    return Records({one: [each[one] for each in rows] for one in names}, None, known)


def _rows(path: str, *, delimiter: str = ",", encoding: str = "utf-8") -> list[list[str]]:
    with (DATA / path).open(encoding=encoding, newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def _dicts(path: str) -> list[dict[str, str]]:
    head, *rows = _rows(path)
    return [dict(zip(head, row, strict=True)) for row in rows]


PAPER = ("title", "author", "journal", "year:exact", "volume:exact", "number:exact", "pages")
ADDRESS = ("name", "addr", "city")
SETS: dict[str, tuple[Callable[[], Records], tuple[str, ...]]] = {
    "restaurants": (
        lambda: restaurants(*ADDRESS, "phone", "cuisine"), (*ADDRESS, "phone:exact", "cuisine")
    ),
    "dblp_acm": (publications, ("title", "authors", "venue", "year:exact")),
    "cytology": (lambda: bibliography("cytology_screening"), PAPER),
    "stroke": (lambda: bibliography("stroke"), PAPER),
    "restaurants, no phone or cuisine": (lambda: restaurants(*ADDRESS), ADDRESS),
    "restaurants, no cuisine": (
        lambda: restaurants(*ADDRESS, "phone"), (*ADDRESS, "phone:exact")
    ),
    "dblp_acm in one file": (
        lambda: publications(one_file=True), ("title", "authors", "venue", "year:exact")
    ),
}  # fmt: skip


def join_values(columns: Sequence[Iterable[object]]) -> list[str]:
    """Join the values of each record to a text."""
    return [" ".join(filter(None, map(as_text, row))) for row in zip(*columns, strict=True)]


def compare_whole(texts: Sequence[str], pairs: Pairs) -> Similarities:
    """Compute the similarity of whole records by `aligned`."""
    forms = list(map(normalize, texts))
    return compare_records(forms, pairs, count_words(forms), threads=THREADS)


def prepare(records: Records, named: Sequence[str]) -> Prepared:
    """Find the candidates as `duplicates` does by `aligned`, and compare the whole records."""
    texts = join_values(list(records.values.values()))
    forms = list(map(normalize, texts))
    joining = WORD_DEFAULT if records.sides is None else replace(WORD_DEFAULT, sides=records.sides)
    way = choose_way(ALIGNED, len(forms), lambda most: sum(map(len, texts)) <= most)
    found = all_candidates(len(forms), joining) if way == "all" else word_candidates(forms, joining)
    pairs = found.pairs
    known = np.array([one * len(forms) + other for one, other in records.known])
    return Prepared(
        columns=make_columns(records, named),
        pairs=pairs,
        similarities=compare_whole(texts, pairs),
        is_known=np.isin(pairs[:, 0].astype(np.int64) * len(forms) + pairs[:, 1], known),
        known=len(records.known),
        way=way,
    )


def make_columns(records: Records, named: Sequence[str]) -> list[FieldColumn]:
    """Make the columns of the fields that are named."""
    return [
        make_column(name, kind, records.values[name]) for name, kind in parse_fields(named).items()
    ]


def judge(of: Prepared, found: NDArray[np.bool_]) -> Quality:
    """Compute precision, recall and F1 of the pairs that were found."""
    right = int(np.count_nonzero(of.is_known & found))
    kept = int(np.count_nonzero(found))
    return Quality(right / max(kept, 1), right / of.known, 2 * right / (kept + of.known))


def find_best(of: Prepared) -> float:
    """Find the F1 of the best threshold of `aligned`, by the known pairs."""
    return max(judge(of, of.similarities >= least / 100).f1 for least in range(40, 100))


@contextmanager
def chosen(choice: dict[str, float]) -> Iterator[None]:
    """Let the measure have other constants for a while."""
    usual = {name: getattr(PLACES[name], name) for name in choice}
    try:
        for name, value in choice.items():
            setattr(PLACES[name], name, value)
        yield
    finally:
        for name, value in usual.items():
            setattr(PLACES[name], name, value)


def leave_one_out(sets: dict[str, Prepared]) -> tuple[list[dict[str, Any]], int]:
    """Choose the constants by all sets but one, by their mean F1, and judge them on that one."""
    tried = [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]
    f1s = np.zeros((len(tried), len(sets)))
    for number, of in enumerate(sets.values()):
        named = {column.name: column.kind for column in of.columns}
        for rare in CHOICES["RARE"]:
            with chosen({"RARE": rare}):
                levels = compare_fields(of.columns, of.pairs, threads=THREADS)
            for at, choice in enumerate(tried):
                if choice["RARE"] == rare:
                    with chosen(choice):
                        weights = learn_weights(named, levels, of.similarities)
                    near = (weights.weigh(levels) >= 0) & (of.similarities >= choice["FLOOR"])
                    f1s[at, number] = judge(of, near).f1
    found = []
    for number, name in enumerate(sets):
        best = int(np.delete(f1s, number, axis=1).mean(axis=1).argmax())
        spread = f1s[:, number].min(), f1s[:, number].max()
        found.append({"set": name, "choice": tried[best], "f1": float(f1s[best, number]),
                      "least": float(spread[0]), "most": float(spread[1])})  # fmt: skip
    return found, len(tried)


def invent(records: int) -> Records:
    """Invent records of four fields, a fifth of them changed copies."""
    draw = random.Random(4)
    syllables = ["ba", "lo", "mi", "tar", "ven", "so", "ri", "kel", "du", "na", "po", "gar"]

    def word() -> str:
        return "".join(draw.choices(syllables, k=draw.randint(2, 4)))

    words = [word() for _ in range(30_000)]
    cities = [word() for _ in range(300)]
    rows: list[tuple[str, ...]] = []
    while len(rows) < records:
        if rows and draw.random() < 0.2:
            name, street, city, phone = draw.choice(rows)
            rows.append((f"{name} {draw.choice(words)}", street.replace(" avenue", " ave"), city,
                         phone if draw.random() < 0.8 else ""))  # fmt: skip
            continue
        rows.append((
            " ".join(draw.choices(words, k=3)),
            f"{draw.randrange(1, 999)} {draw.choice(words)} {draw.choice(['street', 'avenue'])}",
            draw.choice(cities),
            f"{draw.randrange(100, 999)}-{draw.randrange(1000, 9999)}",
        ))  # fmt: skip
    names = ("name", "street", "city", "phone")
    return Records(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), None, set())


def measure_few(records: Records, named: Sequence[str]) -> list[dict[str, Any]]:
    """Compare draws of few records: is the probability of what is found the share that is right?

    Every eighth record comes with its known pair, or none does.
    """
    rows, known = len(next(iter(records.values.values()))), sorted(records.known)
    paired = {row for pair in known for row in pair}
    found: list[dict[str, Any]] = []
    for size, share in product((10, 30, 100, 300), (8, 0)):
        pairs, right, total, sure = 0, 0, 0, 0.0
        for seed in range(DRAWS):
            draw = random.Random(seed)
            doubled = draw.sample(known, size // share) if share else []
            chosen = {row for pair in doubled for row in pair}
            others = [row for row in range(rows) if row not in paired]
            own = sorted(chosen | set(draw.sample(others, size - len(chosen))))
            place = {row: at for at, row in enumerate(own)}
            of = prepare(
                Records(
                    {name: [column[row] for row in own] for name, column in records.values.items()},
                    None,
                    {
                        (place[one], place[other])
                        for one, other in known
                        if one in place and other in place
                    },
                ),
                named,
            )
            matches = match_fields(of.columns, of.pairs, of.similarities)
            is_near = matches.probabilities >= LEAST_PROBABILITY
            pairs += int(np.count_nonzero(is_near))
            right += int(np.count_nonzero(is_near & of.is_known))
            total += of.known
            sure += float(matches.probabilities[is_near].sum())
        found.append({"records": size, "known": total, "found": pairs, "right": right,
                      "mean_probability": sure / max(pairs, 1)})  # fmt: skip
    return found


def measure_cost(records: int) -> dict[str, Any]:
    """Measure the processor time of both measures on the same candidates, in turns."""
    invented = invent(records)
    named = ("name", "street", "city", "phone:exact")
    texts = join_values(list(invented.values.values()))
    pairs = word_candidates(list(map(normalize, texts)), WORD_DEFAULT).pairs
    prepare(invent(1000), named)  # compiles
    whole, own = [], []
    for _ in range(3):
        started = time.process_time()
        similarities = compare_whole(texts, pairs)
        whole.append(time.process_time() - started)
        started = time.process_time()
        columns = make_columns(invented, named)
        match_fields(columns, pairs, similarities, threads=THREADS)
        own.append(time.process_time() - started)
    aligned, by_fields = sorted(whole)[1], sorted(own)[1]
    return {"records": records, "candidates": len(pairs), "aligned_seconds": aligned,
            "fields_seconds": by_fields, "ratio": (aligned + by_fields) / aligned}  # fmt: skip


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--records", type=int, default=100_000)
    asked = parser.parse_args()
    measured: dict[str, Any] = {"conditions": results.conditions(), "sets": {}}
    sets, rows, tables = {}, [], []
    for name in asked.sets:
        load, named = SETS[name]
        of = sets[name] = prepare(load(), named)
        started = time.perf_counter()
        matches = match_fields(of.columns, of.pairs, of.similarities, threads=THREADS)
        seconds = time.perf_counter() - started
        quality = judge(of, matches.probabilities >= LEAST_PROBABILITY)
        plain = judge(of, of.similarities >= ALIGNED.default).f1
        best = find_best(of)
        rows.append([name, GOALS.get(name, "–"), _f1(quality.f1), _f1(quality.precision),
                     _f1(quality.recall), _f1(plain), _f1(best), *OTHERS.get(name, "–––"),
                     len(of.pairs), of.known])  # fmt: skip
        measured["sets"][name] = {
            "fields": named, "f1": quality.f1, "precision": quality.precision,
            "recall": quality.recall, "aligned": plain, "aligned_best": best,
            "candidates": len(of.pairs), "way": of.way, "known": of.known, "seconds": seconds,
            "are_matches": matches.weights.are_matches.tolist(),
            "weights": [weight._asdict() for weight in matches.weights.table()],
        }  # fmt: skip
        if name in GOALS:
            tables.append((f"Weights of {name}, in bits", _weights(matches.weights.table())))
    with_goals = {name: of for name, of in sets.items() if name in GOALS}
    left_out, tried = leave_one_out(with_goals) if len(with_goals) > 2 else ([], 0)
    measured["left_out"] = left_out
    measured["few"] = few = {
        name: measure_few(load(), named)
        for name, (load, named) in SETS.items()
        if name in ("restaurants", "stroke") and name in asked.sets
    }
    measured["cost"] = cost = measure_cost(asked.records)
    heads = ["set", "goal", "F1", "precision", "recall", "aligned 0.75", "aligned, best",
             "Splink", "dedupe, 30 / 100 answers", "bib-dedupe", "candidates", "known"]  # fmt: skip
    sections = [
        ("F1 by fields, p ≥ 0.5, one default", results.table(heads, rows)),
        (
            f"The choices, made anew leaving one set out ({tried} combinations)",
            "The default is one of them. The form of the model, its classes and strata, was chosen"
            " with all of these\nsets in sight: this table says nothing about that.\n\n"
            + results.table(
                ["left out", *CHOICES, "its F1", "least of all", "most of all"],
                [[one["set"], *one["choice"].values(), _f1(one["f1"]), _f1(one["least"]),
                  _f1(one["most"])] for one in left_out],
            ),
        ),
        (
            f"Few records, {DRAWS} draws each",
            "Of a list without its pairs, or with the pairs of every eighth record: what is found"
            " in all draws, and how\nsure of it the model is.\n\n"
            + results.table(
                ["set", "records", "known pairs", "found", "right", "mean probability"],
                [[name, *one.values()] for name, rows in few.items() for one in rows],
            ),
        ),
        (
            "Cost",
            f"{cost['records']:,} records of four fields, {cost['candidates']:,} candidates;"
            f" processor time: `aligned` on the joined text {cost['aligned_seconds']:.1f} s, fields"
            f" on top of it {cost['fields_seconds']:.1f} s, together {cost['ratio']:.2f} times"
            " `aligned` alone.",
        ),
        *tables,
    ]  # fmt: skip
    results.keep("fields", measured, sections)


def _f1(value: float) -> str:
    return f"{value:.3f}"


def _weights(table: Sequence[Weight]) -> str:
    rows = [[one.field, one.level, f"{one.m:.3f}", f"{one.u:.3f}", f"{one.bits:+.1f}"]
            for one in table]  # fmt: skip
    return results.table(["field", "level", "m", "u", "bits"], rows)


if __name__ == "__main__":
    main()
