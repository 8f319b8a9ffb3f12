"""Spark in local mode beside `duplicates`: the same file, the same pairs, how long each takes.

    python benchmarks/spark.py [--documents 100000 200000 400000] [--cores 2]

A Parquet file of so many documents, each with as many near-duplicates in every size; `duplicates`
and `spark.pairs` read it and compare by estimate and by words. Each size runs in a process of its
own; the start of Spark, and a first, small run in which its workers start and load the kernel, are
told apart. Results go to spark.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import growing

import neardup_solr as nd
from neardup_solr.argument_types import MeasureName

MEASURES: tuple[MeasureName, ...] = ("estimate", "words")


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, nargs="+", default=[100_000, 200_000, 400_000])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(_measured(options.one, options.cores)))
        return
    found: dict[str, Any] = {"conditions": results.conditions(), "cores": options.cores, "runs": []}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        for count in options.documents:
            path = Path(folder) / f"{count}.parquet"
            _write(path, count)
            command = [sys.executable, __file__, "--one", str(path), "--cores", str(options.cores)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found["runs"].append({"documents": count, **json.loads(said.splitlines()[-1])})
    results.keep("spark", found, list(_sections(found)))


def _write(path: Path, count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = list(growing(count))
    ids = [f"d{number}" for number in range(count)]
    pq.write_table(pa.table({"id": ids, "text": texts}), path, row_group_size=20_000)


def _measured(path: Path, cores: int) -> dict[str, Any]:
    """The seconds of each way, whose pairs have to be equal."""
    from neardup_solr import spark

    seconds: dict[str, float] = {}
    pairs: dict[str, Any] = {}
    nd.duplicates([("1", "some words"), ("2", "some words")])  # loads the kernel
    for measure in MEASURES:
        started = time.perf_counter()
        alone = nd.duplicates(path, by="bands", measure=measure)
        seconds[f"duplicates, {measure}"] = time.perf_counter() - started
        pairs[measure] = {(one.id, one.other_id, one.distance) for one in alone.pairs}
    started = time.perf_counter()
    session = spark.local(cores, memory="6g")
    session.range(1).count()
    seconds["Spark starts"] = time.perf_counter() - started
    started = time.perf_counter()
    frame = session.read.parquet(str(path))
    spark.pairs(frame.limit(2_000)).count()
    seconds["its workers start"] = time.perf_counter() - started
    for measure in MEASURES:
        started = time.perf_counter()
        near = spark.pairs(frame, measure=measure).collect()
        seconds[f"Spark, {measure}"] = time.perf_counter() - started
        assert {(row.id, row.other_id, row.distance) for row in near} == pairs[measure]
    return {"seconds": seconds, "pairs": {name: len(found) for name, found in pairs.items()}}


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    heads = ["documents", "measure", "pairs", "duplicates, s", "Spark, s", "ratio"]
    rows: list[list[object]] = []
    for run in found["runs"]:
        for measure in MEASURES:
            alone = run["seconds"][f"duplicates, {measure}"]
            there = run["seconds"][f"Spark, {measure}"]
            rows.append([
                f"{run['documents']:,}", measure, f"{run['pairs'][measure]:,}", f"{alone:.1f}",
                f"{there:.1f}", f"{there / alone:.2f}",
            ])  # fmt: skip
    yield f"Equal pairs, local[{found['cores']}]", results.table(heads, rows)
    starts: list[list[object]] = [
        [f"{run['documents']:,}", f"{run['seconds']['Spark starts']:.1f}",
         f"{run['seconds']['its workers start']:.1f}"]
        for run in found["runs"]
    ]  # fmt: skip
    heads = ["documents", "Spark starts, s", "its workers start, s"]
    yield "Beside that, once a session", results.table(heads, starts)


if __name__ == "__main__":
    main()
