"""The report of a file beside that of an earlier commit: the same work, one after the other.

    python benchmarks/earlier.py COMMIT [--documents 1000000] [--rounds 3] [--memory 2G]

Documents of 200 words, as JSON lines and as Parquet, in row groups of 20,000 and in a single one;
their pairs by estimate and by words. Each run is a process of its own, in which all is compiled
before; medians. On a busy machine compare processor time. Results go to earlier.md and .json beside
this script.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import growing

GROUP = 20_000  # documents in a row group
ONE_GROUP = ".one.parquet"
WORKS = (
    ("JSON lines, by estimate", ".jsonl", "estimate"),
    ("Parquet, by estimate", ".parquet", "estimate"),
    ("JSON lines, by words", ".jsonl", "words"),
    ("Parquet, by words", ".parquet", "words"),
    ("Parquet in one row group, by words", ONE_GROUP, "words"),
)
RUN = """
import json, os, sys, time
import neardup_solr as nd
path, measure, memory = sys.argv[1:]
nd.duplicates([(str(n), f"some words {n}") for n in range(99)], measure=measure, by="bands")
began, busy = time.perf_counter(), time.process_time()
os.environ["NEARDUP_MEMORY"] = memory
found = nd.duplicates(path, measure=measure)
told = {"seconds": time.perf_counter() - began, "processor": time.process_time() - busy}
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
told["MB"] = int(status["VmHWM"].split()[0]) / 1024
pairs = sorted((pair.id, pair.other_id, round(pair.similarity, 9)) for pair in found.pairs)
print(json.dumps(told | {"pairs": len(pairs), "digest": hash(tuple(pairs))}))
"""


def main() -> None:
    """Write the corpus, run both versions on it alternately, and keep everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("commit")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="", help="of this version (default: its own)")
    options = parser.parse_args()
    here = Path(__file__).parents[1]
    found: dict[str, Any] = {"conditions": results.conditions(), "options": vars(options)}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "clone", "-q", here, before], check=True)
        subprocess.run(["git", "-C", before, "checkout", "-q", options.commit], check=True)
        path = Path(folder) / "documents"
        _write(options.documents, path)
        found["works"] = _measured(path, (before, here), options)
    results.keep("earlier", found, [(f"{options.documents:,} documents", _table(found["works"]))])


def _write(count: int, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    documents = enumerate(growing(count))
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with (
        path.with_suffix(".jsonl").open("w", encoding="utf-8") as lines,
        pq.ParquetWriter(path.with_suffix(".parquet"), schema) as parquet,
    ):
        while rows := list(islice(documents, GROUP)):
            records = [{"id": f"d{at}", "text": text} for at, text in rows]
            lines.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            parquet.write_table(pa.Table.from_pylist(records, schema=schema))
    whole = pq.read_table(path.with_suffix(".parquet"))
    pq.write_table(whole, path.with_suffix(ONE_GROUP), row_group_size=count)


def _measured(
    path: Path, versions: tuple[Path, Path], options: argparse.Namespace
) -> list[list[dict[str, float]]]:
    """Medians of each work, of the version before and of this one.

    Each version finds the same pairs in each format. Their numbers may differ: this one writes
    other normal forms than 81edde1.
    """
    runs: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for _ in range(options.rounds):
        for at, (name, suffix, measure) in enumerate(WORKS):
            for which, version in enumerate(versions):
                memory = options.memory if which else ""
                told = _run(version, path.with_suffix(suffix), measure, memory)
                print(f"{name}, {('before', 'now')[which]}: {told}", flush=True)
                runs.setdefault((at, which), []).append(told)
    for _, _, measure in WORKS:
        own = [at for at, work in enumerate(WORKS) if work[2] == measure]
        for which in range(2):
            pairs = {one["digest"] for at in own for one in runs[at, which]}
            assert len(pairs) == 1, "each format has to give the same pairs"
    names = ("seconds", "processor", "MB", "pairs")
    return [
        [
            {name: statistics.median(one[name] for one in runs[at, which]) for name in names}
            for which in range(2)
        ]
        for at in range(len(WORKS))
    ]


def _run(version: Path, path: Path, measure: str, memory: str) -> dict[str, Any]:
    env = os.environ | {"PYTHONPATH": str(version), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-c", RUN, str(path), measure, memory]
    done = subprocess.run(words, env=env, cwd=version, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _table(works: list[list[dict[str, float]]]) -> str:
    rows = [
        [name, before["seconds"], now["seconds"], before["processor"], now["processor"],
         before["processor"] / now["processor"], before["MB"], now["MB"],
         int(before["pairs"]), int(now["pairs"])]
        for (name, *_), (before, now) in zip(WORKS, works, strict=True)
    ]  # fmt: skip
    heads = ["work", "before, s", "now, s", "before, processor s", "now, processor s",
             "times as fast (processor)", "before, MB", "now, MB",
             "pairs before", "pairs now"]  # fmt: skip
    return results.table(heads, rows)


if __name__ == "__main__":
    main()
