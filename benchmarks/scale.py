"""A cost model of `duplicates` by stage, which predicts the next size before it is run.

    python benchmarks/scale.py [--documents 100000 200000 400000 800000]

Files of the corpus go through the report by words, each size in a process of its own. All sizes but
the last are fitted: reading (with signing) and grouping in proportion to the documents, joining to
documents × log(documents), comparing to the candidate pairs, whose number grows by a power of the
documents; memory as a base and a part for each document. The prediction for the last size stands
beside what it took. Results go to scale.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lib import results
from lib.wholes import Task, work, write_jsonl

MILLION = 1_000_000
Run = dict[str, Any]


def main() -> None:
    """Measure all sizes but one, predict that, measure it, and keep everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[100_000, 200_000, 400_000, 800_000]
    )
    counts = sorted(parser.parse_args().documents)
    if len(counts) < 3:
        parser.error("a model needs three sizes or more")
    found: dict[str, Any] = {"conditions": results.conditions()}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        known = [_run(count, folder) for count in counts[:-1]]
        model = fitted(known)
        predicted = prediction(model, counts[-1])
        runs = [*known, _run(counts[-1], folder)]
    found |= {"runs": runs, "model": model, "predicted": predicted}
    results.keep("scale", found, list(_sections(found)))


def _run(count: int, folder: str) -> Run:
    path = Path(folder) / f"{count}.jsonl"
    write_jsonl(path, count)
    task = Task(name="growth", documents=count, cores=os.cpu_count() or 1, folder=folder)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found: Run = pool.apply(work, [task])
    found["bytes"] = path.stat().st_size
    path.unlink()
    return found


def fitted(runs: Sequence[Run]) -> dict[str, float]:
    """The model of runs: seconds a million documents (or pairs), bytes, and how pairs grow."""

    def mean(values: Iterator[float]) -> float:
        return math.exp(statistics.fmean(map(math.log, values)))

    counts = [math.log(run["documents"]) for run in runs]
    slope, start = statistics.linear_regression(
        counts, [math.log(run["candidates"]) for run in runs]
    )
    per_document, base = statistics.linear_regression(
        [run["documents"] for run in runs], [run["megabytes"]["anonymous"] for run in runs]
    )
    stage = {name: [run["stages"][name] for run in runs] for name in runs[0]["stages"]}
    sizes = [run["documents"] / MILLION for run in runs]
    return {
        "reading": mean(s / n for s, n in zip(stage["reading"], sizes, strict=True)),
        "joining": mean(
            s / (n * c) for s, n, c in zip(stage["joining"], sizes, counts, strict=True)
        ),
        "comparing": mean(
            s / run["candidates"] * MILLION for s, run in zip(stage["comparing"], runs, strict=True)
        ),
        "grouping": mean(s / n for s, n in zip(stage["grouping"], sizes, strict=True)),
        "pairs_power": slope,
        "pairs_factor": math.exp(start),
        "base_megabytes": base,
        "megabytes": per_document * MILLION,
        "bytes": mean(run["bytes"] / n for run, n in zip(runs, sizes, strict=True)),
    }


def prediction(model: dict[str, float], count: int) -> dict[str, float]:
    """What so many documents take, stage by stage, in seconds; and megabytes of memory."""
    size = count / MILLION
    candidates = model["pairs_factor"] * count ** model["pairs_power"]
    seconds = {
        "reading": model["reading"] * size,
        "joining": model["joining"] * size * math.log(count),
        "comparing": model["comparing"] * candidates / MILLION,
        "grouping": model["grouping"] * size,
    }
    memory = model["base_megabytes"] + model["megabytes"] * size
    return {**seconds, "seconds": sum(seconds.values()), "candidates": candidates, "MB": memory}


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stages = ("reading", "joining", "comparing", "grouping")
    heads = ["documents", "seconds", *stages, "candidates", "MB"]
    rows: list[list[object]] = [
        [f"{run['documents']:,}", run["seconds"], *(run["stages"][name] for name in stages),
         run["candidates"], run["megabytes"]["anonymous"]]
        for run in found["runs"]
    ]  # fmt: skip
    told = found["predicted"]
    last = found["runs"][-1]
    rows.append([f"{last['documents']:,}, predicted", told["seconds"],
                 *(told[name] for name in stages), told["candidates"], told["MB"]])  # fmt: skip
    off = told["seconds"] / last["seconds"] - 1
    memory = told["MB"] / last["megabytes"]["anonymous"] - 1
    said = f"The prediction is {off:+.0%} off in seconds, {memory:+.0%} in memory."
    yield "By words, from JSON lines", f"{results.table(heads, rows)}\n\n{said}"
    model = found["model"]
    lines: list[list[object]] = [
        ["reading and signing", "a million documents", model["reading"]],
        ["joining", "a million documents × ln(documents)", model["joining"]],
        ["comparing", "a million candidate pairs", model["comparing"]],
        ["grouping", "a million documents", model["grouping"]],
    ]
    pairs = f"{model['pairs_factor']:.3g} × documents^{model['pairs_power']:.2f}"
    memory_said = f"{model['base_megabytes']:.0f} MB and {model['megabytes']:.0f} a million"
    text = f"Candidate pairs: {pairs}. Memory: {memory_said} documents."
    yield "The model, seconds", f"{results.table(['stage', 'for', 's'], lines)}\n\n{text}"


if __name__ == "__main__":
    main()
