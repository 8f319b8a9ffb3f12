"""F1 of `duplicates` without any option on tables without a column `text`: columns by looking.

    python benchmarks/columns.py [--sets stroke ...] [--more FOLDER]

The folder has haematology/ and FEBRL's dataset1.csv and dataset2.csv. Known pairs of one source are
closed. Results go to columns.md and columns.json.
"""

from __future__ import annotations

import argparse
import csv
import logging
import time
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import DATA

import neardup_solr as nd

GOALS = {"restaurants": 0.95, "dblp_acm": 0.96, "cytology": 0.99, "stroke": 0.99}
Known = set[tuple[str, str]]


def close(pairs: Iterable[tuple[str, str]]) -> Known:
    """All pairs of the clusters that these pairs make."""
    cluster: dict[str, set[str]] = {}
    for one, other in pairs:
        joined = cluster.get(one, {one}) | cluster.get(other, {other})
        cluster |= dict.fromkeys(joined, joined)
    groups = {id(members): members for members in cluster.values()}.values()
    return {pair for members in groups for pair in combinations(sorted(members), 2)}


def _rows(path: Path, **given: Any) -> list[list[str]]:
    with path.open(newline="", **given) as file:
        return list(csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def _clusters(path: Path) -> Known:
    return {pair for (ids,) in _rows(path)[1:] for pair in combinations(sorted(ids.split(";")), 2)}


def _restaurants(folder: Path) -> tuple[list[dict[str, str]], Known]:
    """The table without its column `cluster`, which is what has to be found."""
    head, *rows = _rows(DATA / "restaurants/records.csv")
    without = [{k: v for k, v in zip(head, row, strict=True) if k != "cluster"} for row in rows]
    gold = _rows(DATA / "restaurants/gold_pairs.tsv")[1:]
    return without, close((one, other) for one, other in gold)


def _publications() -> list[tuple[str, str]]:
    path = DATA / "dblp_acm/DBLP-ACM_perfectMapping.csv"
    return [(one, other) for one, other in _rows(path, encoding="latin-1")[1:]]


def _one_file(folder: Path) -> tuple[list[dict[str, str]], Known]:
    found = []
    for name in ("DBLP2", "ACM"):
        head, *rows = _rows(DATA / f"dblp_acm/{name}.csv", encoding="latin-1")
        head[0] = "id"  # behind the mark of the one file
        found += [dict(zip(head, row, strict=True)) for row in rows]
    return found, close(_publications())


def _people(name: str) -> Callable[[Path], tuple[Any, Known]]:
    def load(folder: Path) -> tuple[Any, Known]:
        ids = [row[0] for row in _rows(folder / f"{name}.csv")[1:]]
        groups: dict[str, list[str]] = {}
        for id in ids:
            groups.setdefault(id.split("-")[1], []).append(id)
        return folder / f"{name}.csv", {
            pair for own in groups.values() for pair in combinations(sorted(own), 2)
        }

    return load


def _bibliography(name: str) -> Callable[[Path], tuple[Any, Known]]:
    path = DATA / "bibliographies" / name
    known = path.with_name(f"{name}.merged_record_ids.csv")
    return lambda _: (path.with_name(f"{name}.records_pre_merged.csv"), _clusters(known))


def _haematology(folder: Path) -> tuple[Any, Known]:
    own = folder / "haematology"
    return own / "records_pre_merged.csv", _clusters(own / "merged_record_ids.csv")


SETS: dict[str, Callable[[Path], tuple[Any, Known]]] = {
    "restaurants": _restaurants,
    "dblp_acm": lambda _: (DATA / "dblp_acm/DBLP2.csv", set(_publications())),
    "dblp_acm in one file": _one_file,
    "cytology": _bibliography("cytology_screening"),
    "stroke": _bibliography("stroke"),
    "haematology": _haematology,
    "people, 1,000": _people("dataset1"),
    "people, 5,000": _people("dataset2"),
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--more", type=Path, default=DATA, help="folder of the last sets")
    asked = parser.parse_args()
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("neardup_solr").addHandler(handler)
    rows: list[list[Any]] = []
    measured: dict[str, dict[str, Any]] = {}
    for name in asked.sets:
        source, known = SETS[name](asked.more)
        given: dict[str, Any] = {}
        if name == "dblp_acm":
            against = nd.Source(DATA / "dblp_acm/ACM.csv", encoding="latin-1")
            source, given = nd.Source(source, encoding="latin-1"), {"against": against}
        lines.clear()
        started = time.perf_counter()
        found = nd.duplicates(source, **given)
        pairs = {(str(pair.id), str(pair.other_id)) for pair in found.pairs}
        if "against" not in given:
            pairs = {(min(pair), max(pair)) for pair in pairs}
        right = len(pairs & known)
        precision, recall = right / max(len(pairs), 1), right / len(known)
        f1 = 2 * right / (len(pairs) + len(known))
        rows.append([name, GOALS.get(name, "–"), f"{f1:.3f}", f"{precision:.3f}", f"{recall:.3f}"])
        path = source.source if isinstance(source, nd.Source) else source
        folder = f"{path.parent}/" if isinstance(path, Path) else "/"
        said = [line.replace(folder, "") for line in lines]
        measured[name] = {"f1": f1, "precision": precision, "recall": recall, "said": said,
                          "seconds": time.perf_counter() - started}  # fmt: skip
        print(rows[-1], *said, sep="\n  ", flush=True)
    mean = sum(one["f1"] for one in measured.values()) / len(measured)
    print("mean", mean)
    chosen = "\n\n".join(" ".join([f"{name}:", *one["said"]]) for name, one in measured.items())
    heads = ["set", "goal", "F1", "precision", "recall"]
    results.keep(
        "columns",
        {"conditions": results.conditions(), "sets": measured},
        [("F1, no option at all", results.table(heads, rows)),
         ("What was chosen", chosen)],
    )  # fmt: skip


if __name__ == "__main__":
    main()
