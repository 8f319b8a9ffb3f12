"""Whole-collection reports: how long, in how much memory, and what is found.

    python benchmarks/duplicates.py PART [--documents N ...] [--rounds 3] [--memory 2048]

| part | question |
|---|---|
| solr | candidates out of Solr beside a plain export of the same fields; the whole report |
| file | raw texts to candidate pairs beside gaoya, on one core and on all; the luck of hashes |
| peers | raw texts to pairs beside gaoya, rensa, datasketch, fastdedup, on two corpora |
| verify | millions of pairs compared by words, their texts fetched from Solr |
| again | a marked collection with one new document in a hundred: what is new, beside all of it |
| growth | a file through the report, stage by stage, from 100,000 to 800,000 documents |
| large | ten million synthetic signatures in bounded memory |
| page | report pages over the findings among ten million documents, in a browser |
| licences | what the cap on hot bands costs in large families of texts |

Each part leaves duplicates_PART.md and .json beside this script. The runs of `file`, `growth` and
`large` are fresh processes each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import draws, hotbands, pages, peers, results, served
from lib.wholes import MEGABYTE, Task, plot, work, write_jsonl

LARGE_MEMORY = 2048  # megabytes
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "growth.png"
Sections = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Part:
    """How a part is measured and shown, and the documents it is given by default."""

    measured: Callable[[argparse.Namespace], dict[str, Any]]
    sections: Callable[[dict[str, Any]], Sections]
    documents: tuple[int, ...]


def main() -> None:
    """Measure one part, print it and keep it."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    part = PARTS[options.part]
    options.documents = options.documents or part.documents
    found = {"conditions": results.conditions(), "documents": list(options.documents)}
    found |= part.measured(options)
    results.keep(f"duplicates_{options.part}", found, list(part.sections(found)))


def _perform(task: Task, way: Callable[[Task], dict[str, Any]] = work) -> dict[str, Any]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(way, [task])
    print(task, found, file=sys.stderr, flush=True)
    return found


def _file(options: argparse.Namespace) -> dict[str, Any]:
    cores = sorted({1, os.cpu_count() or 1})
    runs = []
    for count in options.documents:
        for core in cores:
            taken = {
                name: [
                    _perform(Task(name=name, documents=count, cores=core))
                    for _ in range(options.rounds)
                ]
                for name in ("neardup_solr", "gaoya")
            }
            runs.append({"documents": count, "cores": core, "taken": taken})
    drawn = [_perform(Task(name="draws", documents=count)) for count in options.documents]
    return {"runs": runs, "draws": drawn}


def _file_sections(found: dict[str, Any]) -> Sections:
    rows = []
    for run in found["runs"]:
        taken = run["taken"]
        seconds = {name: statistics.median(one["seconds"] for one in taken[name]) for name in taken}
        for name in taken:
            one = taken[name][0]
            rows.append(
                [
                    run["documents"], run["cores"], name, seconds[name],
                    seconds[name] / seconds["neardup_solr"], one["pairs"],
                    *(f"{one['recall'][least]:.5f}" for least in ("0.5", "0.8")),
                    f"{one['expected']['0.5']:.5f}", one["megabytes"]["resident"],
                ]
            )  # fmt: skip
    heads = ["documents", "cores", "", "seconds", "× ours", "pairs", "recall ≥ 0.5", "≥ 0.8",
             "S-curve ≥ 0.5", "MB, texts included"]  # fmt: skip
    yield "Raw texts to candidate pairs", results.table(heads, rows)
    yield from draws.section(found["draws"])


def _growth(options: argparse.Namespace) -> dict[str, Any]:
    runs = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for count in options.documents:
            write_jsonl(Path(folder) / f"{count}.jsonl", count)
            runs.append(_perform(_task("growth", count, options, folder)))
    if len(runs) > 2:
        plot(runs, IMAGE)
    return {"runs": runs}


def _large(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        counts = options.documents
        options.memory = options.memory or LARGE_MEMORY
        return {"runs": [_perform(_task("large", one, options, folder)) for one in counts]}


def _pages(options: argparse.Namespace) -> dict[str, Any]:
    runs = []
    for count in options.documents:
        for kind in pages.KINDS:
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                run = _perform(_task(kind, count, options, folder), pages.work)
                opened = pages.opened(Path(folder), options.rounds)
            runs.append(run | {"documents": count, "opened": opened})
    return {"runs": runs}


def _task(name: str, count: int, options: argparse.Namespace, folder: str) -> Task:
    memory = options.memory * MEGABYTE if options.memory else None
    cores = os.cpu_count() or 1
    return Task(name=name, documents=count, cores=cores, memory=memory, folder=folder)


def _staged_sections(found: dict[str, Any]) -> Sections:
    stages = list(found["runs"][0]["stages"])
    facts = [name for name in ("candidates", "pairs", "clusters", "hot keys", "recall", "expected")
             if name in found["runs"][0]]  # fmt: skip
    rows = [
        [
            run["documents"], run["seconds"], *(run["stages"].get(name, 0.0) for name in stages),
            run["megabytes"]["anonymous"], run["megabytes"]["resident"],
            *(run[name] for name in facts),
        ]
        for run in found["runs"]
    ]  # fmt: skip
    heads = ["documents", "seconds", *stages, "MB without files", "MB", *facts]
    yield "Seconds and memory", results.table(heads, rows)


PARTS = {
    "solr": Part(served.beside_export, served.export_sections, (400_000,)),
    "file": Part(_file, _file_sections, (40_000, 400_000)),
    "peers": Part(
        lambda options: peers.measured(
            options.documents, options.rounds, lambda task: _perform(task, peers.work)
        ),
        peers.sections,
        (800, 10_000, 300_000),
    ),
    "verify": Part(served.verified, served.verified_sections, (400_000,)),
    "again": Part(served.again, served.again_sections, (400_000,)),
    "growth": Part(_growth, _staged_sections, (100_000, 200_000, 400_000, 800_000)),
    "large": Part(_large, _staged_sections, (10_000_000,)),
    "page": Part(_pages, pages.sections, (10_000_000,)),
    "licences": Part(lambda options: hotbands.measured(), hotbands.sections, (10_008,)),
}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="measurements of the whole-collection report")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--documents", type=int, nargs="+", help="instead of the part's own")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, help="megabytes for growth and large (2,048)")
    parser.add_argument("--folder", help="for files; the system's for temporary ones by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()
