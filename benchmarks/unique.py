"""A file without its near-duplicates: what it costs beside the report alone.

    python benchmarks/unique.py [--documents 200000] [--rounds 3]

A corpus is written as JSONL, as CSV and as Parquet. Of each, `neardup duplicates` writes its
report, and in another run the file without its near-duplicates (--unique) and what was removed
(--removed) as well; the two take turns. Times are those of the whole command; beside the time by
the clock stands that of the processor, which other programs disturb less. What is left is compared
once more, to see that no pair is left. Results go to unique.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import corpus

MOST = 1.2  # times the report alone
FORMATS = ("jsonl", "csv", "parquet")


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": options.documents}
    with tempfile.TemporaryDirectory() as folder:
        # By another process: what a command takes at its peak includes what its parent held.
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            sources = pool.apply(_written, (Path(folder), options.documents))
        found["runs"] = [_compared(source, options.rounds) for source in sources]
        found["left"] = _left(Path(folder))
    results.keep("unique", found, list(_sections(found)))


def _written(folder: Path, count: int) -> list[Path]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [folder / f"in.{format}" for format in FORMATS]
    rows = [
        {"id": str(at), "text": text, "length": len(text), "place": f"{at % 97}, {at % 89}"}
        for at, text in enumerate(corpus(count, 1).documents)
    ]
    with paths[0].open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with paths[1].open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    pq.write_table(pa.Table.from_pylist(rows), paths[2])
    return paths


def _compared(source: Path, rounds: int) -> dict[str, Any]:
    suffix = source.suffix
    report = ["-o", "pairs.tsv"]
    files = ["--unique", f"out{suffix}", "--removed", f"removed{suffix}"]
    ways = {"report": report, "unique": [*report, *files]}
    _command(source, ways["unique"])  # so that the file and the code are in memory
    taken: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, words in ways.items():
            taken[way].append(_command(source, words))
    print(source.name, taken, file=sys.stderr, flush=True)
    return {"format": suffix[1:], "megabytes": source.stat().st_size / 2**20, "taken": taken}


def _command(source: Path, words: Sequence[str]) -> dict[str, Any]:
    """What one command takes: seconds by the clock and of the processor, and its peak memory."""
    command = [sys.executable, "-m", "neardup_solr", "duplicates", source.name, *words]
    started = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=source.parent)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(said)
    return {
        "seconds": time.perf_counter() - started,
        "processor": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
        "said": said.strip().splitlines()[-1],
    }


def _left(folder: Path) -> str:
    """What the report says of the file without its near-duplicates."""
    said = _command(folder / "out.jsonl", ["-o", "left.tsv"])["said"]
    pairs = (folder / "left.tsv").read_text(encoding="utf-8").count("\n") - 1
    return f"{pairs:,} pairs: {said}"


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    rows = []
    for run in found["runs"]:
        seconds, processor, memory = (
            [_median(run["taken"][way], what) for way in ("report", "unique")]
            for what in ("seconds", "processor", "megabytes")
        )
        by_clock, by_processor = seconds[1] / seconds[0], processor[1] / processor[0]
        rows.append([run["format"], run["megabytes"], *seconds, by_clock, *processor,
                     by_processor, *memory])  # fmt: skip
    heads = ["format", "MB", "report, s", "and --unique, s", "times", "report, processor s",
             "and --unique, processor s", "times", "report, peak MB",
             "and --unique, peak MB"]  # fmt: skip
    body = results.table(heads, rows)
    said = found["runs"][0]["taken"]["unique"][0]["said"]
    yield (
        f"{found['documents']:,} documents",
        f"{body}\n\nAt most {MOST} times is asked for. {said}",
    )
    yield "Compared once more", found["left"]


def _median(taken: Sequence[dict[str, Any]], what: str) -> float:
    return float(statistics.median(one[what] for one in taken))


if __name__ == "__main__":
    main()
