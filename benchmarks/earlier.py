"""The report of a file beside that of an earlier commit: the same work, one after the other.

    python benchmarks/earlier.py COMMIT [--documents 1000000] [--rounds 3] [--memory 2G]

Documents of 200 words, as JSON lines and as Parquet; their pairs by estimate and by words. Each run
is a process of its own, in which all is compiled before; medians. Results go to earlier.md and
.json beside this script.
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
WORKS = (
    ("JSON lines, by estimate", ".jsonl", "estimate"),
    ("Parquet, by estimate", ".parquet", "estimate"),
    ("JSON lines, by words", ".jsonl", "words"),
)
RUN = """
import json, sys, time
import neardup_solr as nd
path, measure, memory = sys.argv[1:]
nd.duplicates(path, measure=measure, by="bands", limit=1000)  # everything is compiled now
began = time.perf_counter()
found = nd.duplicates(path, measure=measure, memory=memory or None)
told = {"seconds": time.perf_counter() - began}
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
        found["works"] = [
            _measured(path.with_suffix(suffix), measure, (before, here), options)
            for _, suffix, measure in WORKS
        ]
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


def _measured(
    path: Path, measure: str, versions: tuple[Path, Path], options: argparse.Namespace
) -> list[dict[str, float]]:
    """The medians of the version before and of this one; both find the same pairs."""
    runs: list[list[dict[str, Any]]] = [[], []]
    for _ in range(options.rounds):
        for at, version in enumerate(versions):
            told = _run(version, path, measure, options.memory if at else "")
            print(f"{path.suffix} {measure} {('before', 'now')[at]}: {told}", flush=True)
            runs[at].append(told)
    pairs = {one["digest"] for each in runs for one in each}
    assert len(pairs) == 1, "both versions have to find the same pairs"
    return [
        {name: statistics.median(one[name] for one in each) for name in ("seconds", "MB", "pairs")}
        for each in runs
    ]


def _run(version: Path, path: Path, measure: str, memory: str) -> dict[str, Any]:
    env = os.environ | {"PYTHONPATH": str(version), "PYTHONHASHSEED": "0"}
    words = [sys.executable, "-c", RUN, str(path), measure, memory]
    done = subprocess.run(words, env=env, cwd=version, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def _table(works: list[list[dict[str, float]]]) -> str:
    rows = [
        [name, before["seconds"], now["seconds"], before["seconds"] / now["seconds"],
         before["MB"], now["MB"], int(now["pairs"])]
        for (name, *_), (before, now) in zip(WORKS, works, strict=True)
    ]  # fmt: skip
    heads = ["work", "before, s", "now, s", "times as fast", "before, MB", "now, MB", "pairs"]
    return results.table(heads, rows)


if __name__ == "__main__":
    main()
