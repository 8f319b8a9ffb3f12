"""Splink, dedupe and goldenmatch as beside.py runs them: on one table, in a process of its own.

    python benchmarks/lib/linkers.py splink FOLDER SECONDS

reads a.csv and, of two sources, b.csv, and writes the pairs of ids that the tool finds to
pairs.json, within so many seconds of the processor and 12 GiB of memory. truth.json has the known
pairs, from which the questions of dedupe are answered. Nothing of this package is imported, so that
an environment of the tools alone will do.
"""

from __future__ import annotations

import csv
import json
import random
import re
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import chain, combinations
from pathlib import Path
from typing import Any

Side = list[dict[str, str]]
IdPair = tuple[str, str]

ANSWERS = 30
THRESHOLD = 0.5
MEMORY = 12 << 30
MOST_PAIRS = 500_000  # of a rule by which records are compared
BEGIN = 5  # letters, of names and texts
FEW = 0.05  # a column that is filled less often says little; one with fewer values is a category
LONG = 100  # characters, of descriptions


def read_sides(folder: Path) -> list[Side]:
    """Read the sources: ids in `id`, other values in small letters."""
    sides = []
    for path in sorted(folder.glob("[ab].csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        (id_name,) = (name for name in rows[0] if name.lower() == "id")
        names = [name for name in rows[0] if name != id_name]
        sides.append([
            {"id": row[id_name], **{name: " ".join(row[name].lower().split()) for name in names}}
            for row in rows
        ])  # fmt: skip
    return sides


def guess_kinds(sides: list[Side]) -> dict[str, str]:
    """Guess the kinds of the columns that all sources have, as a user sees them.

    Left out is what a user leaves out: columns that are nearly empty or have one value, numbers of
    rows, and a text that repeats all other columns.
    """
    rows = [row for side in sides for row in side]
    names = [name for name in sides[0][0] if name != "id" and name in sides[-1][0]]
    kinds = {name: _guess_kind([row[name] for row in rows]) for name in names}
    kinds = {name: kind for name, kind in kinds.items() if kind}
    others = [name for name, kind in kinds.items() if kind in ("name", "number", "text")]

    def repeats(name: str) -> bool:
        held = sum(all(row[other] in row[name] for other in others) for row in rows)
        return kinds[name] == "text" and len(others) > 2 and held > len(rows) / 2

    return {name: kind for name, kind in kinds.items() if not repeats(name)}


def _guess_kind(values: Sequence[str]) -> str:
    filled = [value for value in values if value]
    distinct = len(set(filled))

    def are(pattern: str) -> bool:
        return sum(bool(re.fullmatch(pattern, value)) for value in filled) > 0.8 * len(filled)

    if len(filled) < FEW * len(values) or distinct < 2:
        return ""
    if are(r"\d{4}-\d\d-\d\d"):
        return "date"
    if are(r"\S+@\S+"):
        return "email"
    if distinct < FEW * len(filled):
        return "category"
    if are("[^a-z]+"):
        return "number" if distinct < len(filled) else ""
    return "name" if sum(len(value.split()) for value in filled) <= 3 * len(filled) else "text"


def count_pairs(sides: list[Side], *names: str, letters: int | None = None) -> int:
    """Count the pairs of records with equal values, or equal first letters."""
    counts = []
    for side in sides:
        values = (tuple(row[name][:letters] for name in names) for row in side)
        counts.append(Counter(each for each in values if all(each)))
    if len(counts) > 1:
        return sum(count * counts[1][each] for each, count in counts[0].items())
    return sum(count * (count - 1) // 2 for count in counts[0].values())


def run_splink(folder: Path) -> Iterable[IdPair]:
    """Run Splink with a first model in the way of its tutorial."""
    import pyarrow as pa
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    sides = read_sides(folder)
    kinds = guess_kinds(sides)
    comparisons: dict[str, Callable[[str], Any]] = {
        "date": lambda name: cl.DateOfBirthComparison(name, input_is_string=True),
        "email": cl.EmailComparison,
        "category": lambda name: cl.ExactMatch(name).configure(term_frequency_adjustments=True),
        "number": cl.LevenshteinAtThresholds,
        "name": lambda name: cl.NameComparison(name).configure(term_frequency_adjustments=True),
        "text": lambda name: cl.JaroWinklerAtThresholds(name, [0.95, 0.88, 0.7]),
    }
    # By what records are compared: the column and the pairs of each rule.
    telling = [name for name, kind in kinds.items() if kind != "category"]
    rules = [(count_pairs(sides, name), name, block_on(name)) for name in telling]
    rules += [(count_pairs(sides, name, letters=BEGIN), name,
               block_on(f'substr("{name}", 1, {BEGIN})'))
              for name in telling if kinds[name] in ("name", "text")]  # fmt: skip
    rules = sorted((rule for rule in rules if 0 < rule[0] <= MOST_PAIRS), key=lambda rule: rule[0])
    records, all_pairs = sum(map(len, sides)), len(sides[0]) * len(sides[-1]) // (3 - len(sides))
    compared: list[Any] = ["1 = 1"] if all_pairs <= MOST_PAIRS else [rule for *_, rule in rules]
    settings = SettingsCreator(
        link_type="link_only" if len(sides) > 1 else "dedupe_only",
        unique_id_column_name="id",
        comparisons=[comparisons[kind](name) for name, kind in kinds.items()],
        blocking_rules_to_generate_predictions=compared,
    )
    database = DuckDBAPI()
    names = ["source_a", "source_b"][: len(sides)]
    rows = [[{name: row[name] or None for name in ("id", *kinds)} for row in side]
            for side in sides]  # fmt: skip
    tables = [database.register(pa.Table.from_pylist(side), dataset_display_name=name)
              for name, side in zip(names, rows, strict=True)]  # fmt: skip
    linker = Linker(tables, settings, log_level="ERROR")
    # Records with two equal values are nearly certain: the most common of such rules.
    both = sorted((count_pairs(sides, *pair), pair) for pair in combinations(telling, 2))
    certain: list[Any] = [block_on(*pair) for count, pair in both if 0 < count <= records]
    if certain:
        linker.training.estimate_probability_two_random_records_match(certain[-3:], recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    enough = [rule for rule in rules if rule[0] >= records / 4]
    trained: set[str] = set()
    for _, name, rule in enough if len(kinds) > 1 else [(0, "", "1 = 1")]:
        if name not in trained and len(trained) < 2:
            try:
                linker.training.estimate_parameters_using_expectation_maximisation(rule)
            except ValueError:  # a probability of 0, which Splink refuses: another rule
                continue
            trained.add(name)
    links = linker.inference.predict(threshold_match_probability=THRESHOLD)
    if len(sides) == 1:
        return [(link["id_l"], link["id_r"]) for link in links.as_record_list()]
    clusters = linker.clustering.cluster_using_single_best_links(
        links, duplicate_free_datasets=names, threshold_match_probability=THRESHOLD
    )
    members = defaultdict[str, list[str]](list)
    for row in sorted(clusters.as_record_list(), key=lambda row: row["source_dataset"]):
        members[row["cluster_id"]].append(row["id"])
    return [(ids[0], ids[1]) for ids in members.values() if len(ids) == 2]


def run_dedupe(folder: Path) -> Iterable[IdPair]:
    """Train dedupe by the answers of somebody who is always right, and let it find the pairs."""
    import dedupe
    import numpy as np
    from dedupe import variables

    random.seed(1)
    np.random.seed(1)
    known = set(map(tuple, json.loads((folder / "truth.json").read_text("utf-8"))))
    sides = read_sides(folder)
    kinds = guess_kinds(sides)
    rows = [row for side in sides for row in side]
    fields: list[Any] = []
    for name, kind in kinds.items():
        values = [row[name] for row in rows if row[name]]
        missing = len(values) < len(rows)
        if kind != "text" or sum(map(len, values)) <= LONG * len(values):
            fields.append(variables.String(name, has_missing=missing))
        if kind == "text":
            fields.append(variables.Text(name, corpus=values, has_missing=missing))
    data = [{row["id"]: {name: row[name] or None for name in kinds} for row in side}
            for side in sides]  # fmt: skip
    ids = {id(record): number for side in data for number, record in side.items()}
    linker = (dedupe.RecordLink if len(sides) > 1 else dedupe.Dedupe)(fields, num_cores=1)
    linker.prepare_training(*data)
    for _ in range(ANSWERS):
        (pair,) = linker.uncertain_pairs()
        first, second = (ids[id(record)] for record in pair)
        same = bool({(first, second), (second, first)} & known)
        linker.mark_pairs({"match": [pair] * same, "distinct": [pair] * (not same)})
    linker.train()
    if len(sides) > 1:
        return [ends for ends, _ in linker.join(*data, threshold=THRESHOLD)]
    clusters = linker.partition(data[0], threshold=THRESHOLD)
    return chain.from_iterable(combinations(members, 2) for members, _ in clusters)


def run_goldenmatch(folder: Path) -> Iterable[IdPair]:
    """Run goldenmatch without a setting."""
    import goldenmatch
    from pyarrow import csv as tables

    sides = [tables.read_csv(path) for path in sorted(folder.glob("[ab].csv"))]
    (id_name,) = (name for name in sides[0].column_names if name.lower() == "id")
    if len(sides) > 1:
        matched = goldenmatch.match_df(*sides).matched
        return zip(matched[f"target_{id_name}"], matched[f"ref_{id_name}"], strict=True)
    ids = sides[0][id_name].to_pylist()
    clusters = goldenmatch.dedupe_df(*sides).clusters.values()
    return chain.from_iterable(
        combinations([ids[row] for row in cluster["members"]], 2) for cluster in clusters
    )


TOOLS = {"splink": run_splink, "dedupe": run_dedupe, "goldenmatch": run_goldenmatch}


def main() -> None:
    """Run a tool, and write the pairs that it finds."""
    tool, folder, seconds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 60))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    pairs = sorted({(str(first), str(second)) for first, second in TOOLS[tool](folder)})
    answer = {"version": version(tool), "pairs": pairs}
    (folder / "pairs.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
