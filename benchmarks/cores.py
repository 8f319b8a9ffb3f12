"""The same work on one core and on several, beside an earlier commit, and where the time goes.

    python benchmarks/cores.py [COMMIT] [--documents 300000] [--rounds 5] [--cores 1 2] [--only W]

Documents of 200 words, as JSON lines (also in gzip), CSV and Parquet (row groups of 20,000): pairs
by estimate and by words, signatures, and an index with all fields, up to where documents would be
posted to Solr, which is not there. Each run is a process of its own, bound to so many cores, in
which all is compiled before; the versions and the numbers of cores take turns; medians. The main
thread's share is its processor time over that of the process on one core: what cannot be spread
over cores.
Every number of cores and format has to give the same pairs. Then the command compares 800 documents
from a shell, with bytecode and machine code written before: what a small run pays for its start.
`--only index` measures the works again whose names hold that, and keeps the others. Results go to
cores.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import growing

GROUP = 20_000  # documents in a row group
FEW = 800  # documents of a run from a shell
STARTS = 9  # rounds of it
WORKS = (
    *((f"{format}, by {measure}", suffix, measure)
      for measure in ("estimate", "words")
      for format, suffix in (("JSON lines", ".jsonl"), ("CSV", ".csv"), ("Parquet", ".parquet"))),
    ("JSON lines in gzip, by estimate", ".jsonl.gz", "estimate"),
    ("JSON lines, signatures", ".jsonl", "signatures"),
    *((f"{format}, index", suffix, "index")
      for format, suffix in (("JSON lines", ".jsonl"), ("CSV", ".csv"), ("Parquet", ".parquet"))),
)  # fmt: skip
RUN = """
import hashlib, json, os, shutil, sys, time
import neardup_solr as nd
path, measure, cores, output, taker = sys.argv[1:]
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:int(cores)])
nd.duplicates([(str(n), f"some words {n}") for n in range(99)], by="bands")
if measure == "index":
    exec(taker)
stages = []
def note(progress):
    if not stages or stages[-1][0] != progress.stage:
        stages.append((progress.stage, time.perf_counter()))
clocks = time.perf_counter, time.process_time, time.thread_time
began = [clock() for clock in clocks]
if measure == "signatures":
    nd.signatures(path, output, on_progress=note)
    digest = hashlib.md5(open(output, "rb").read()).hexdigest()
elif measure == "index":
    nd.index(path, solr, job=f"{output}.job", on_progress=note)
    digest = hashlib.md5(repr(sorted(posted.items())).encode()).hexdigest()
else:
    report = nd.duplicates(path, measure=measure, on_progress=note)
seconds, processor, main = (clock() - start for clock, start in zip(clocks, began))
if measure == "index":
    shutil.rmtree(f"{output}.job", ignore_errors=True)
elif measure != "signatures":
    pairs = sorted((pair.id, pair.other_id, round(pair.similarity, 9)) for pair in report.pairs)
    digest = hashlib.md5(repr(pairs).encode()).hexdigest()
stages.append(("end", began[0] + seconds))
spent = {}
for (stage, first), (_, last) in zip(stages, stages[1:]):
    spent[stage] = spent.get(stage, 0) + last - first
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"seconds": seconds, "processor": processor, "main": main, "digest": digest,
                  "MB": int(status["VmHWM"].split()[0]) / 1024, "stages": spent}))
"""
# Instead of Solr: each document is taken, and found.
TAKER = """
from types import SimpleNamespace
from neardup_solr.solr.collection import Collection, open_collection
posted = {}
def take(self, documents, ids):
    if isinstance(documents, list):  # as earlier versions give them
        body = b"[" + b",".join(documents) + b"]"
    else:
        from neardup_solr.text.json_list import write_list
        body = write_list(documents)
    posted[ids[0]] = len(ids), len(body)
    return SimpleNamespace(versions=dict.fromkeys(ids, 1), refused=())
Collection.take = take
Collection.seen = lambda self, ids, _: len(ids)
Collection.choose_settings = lambda *_: nd.Settings()
Collection.count = lambda *_, **__: 0
Collection.commit = Collection.require_fields = Collection.require_placed = lambda *_: None
solr = open_collection("http://127.0.0.1:1/solr", "taker")
solr.session.nodes.is_cloud = False
type(solr.session.outages).until_ready = lambda _: None
"""


def main() -> None:
    """Write the corpus, run each work on each number of cores by turns, and keep everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("commit", nargs="?", help="an earlier version to run beside this one")
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, os.cpu_count() or 1])
    parser.add_argument("--only", default="", help="a part of the names of the works to measure")
    options = parser.parse_args()
    here = Path(__file__).parents[1]
    kept: dict[str, Any] = {"conditions": results.conditions(), "options": vars(options)}
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        versions = {"now": here}
        if options.commit:
            versions["before"] = Path(folder) / "before"
            subprocess.run(["git", "clone", "-q", here, versions["before"]], check=True)
            subprocess.run(
                ["git", "-C", versions["before"], "checkout", "-q", options.commit], check=True
            )
        path = Path(folder) / "documents"
        write_corpus(options.documents, path)
        kept["runs"] = [*list_earlier(options.only), *run_all(path, versions, options)]
        with path.with_suffix(".jsonl").open() as lines:
            (few := Path(folder) / "few.jsonl").write_text("".join(islice(lines, FEW)))
        kept["starts"] = list(run_from_shell(few, versions))
    check_digests(kept["runs"])
    heading = f"{options.documents:,} documents, medians of {options.rounds}"
    results.keep("cores", kept, [
        (heading, tabulate_cores(kept["runs"], options.cores)),
        (f"Stages on {max(options.cores)} cores, s", tabulate_stages(kept["runs"], options.cores)),
        *([(f"Beside {options.commit}", tabulate_versions(kept["runs"], options.cores))]
          if options.commit else []),
        (f"{FEW} documents from a shell, medians of {STARTS}", tabulate_starts(kept["starts"])),
    ])  # fmt: skip


def write_corpus(count: int, path: Path) -> None:
    """Write the documents in each format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    documents = enumerate(growing(count))
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with (
        path.with_suffix(".jsonl").open("w", encoding="utf-8") as lines,
        path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as table,
        pq.ParquetWriter(path.with_suffix(".parquet"), schema) as parquet,
    ):
        rows = csv.writer(table)
        rows.writerow(["id", "text"])
        while part := list(islice(documents, GROUP)):
            records = [{"id": f"d{at}", "text": text} for at, text in part]
            lines.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
            rows.writerows(record.values() for record in records)
            parquet.write_table(pa.Table.from_pylist(records, schema=schema))
    with (
        path.with_suffix(".jsonl").open("rb") as plain,
        gzip.open(path.with_suffix(".jsonl.gz"), "wb", 6) as packed,
    ):
        shutil.copyfileobj(plain, packed)


def list_earlier(only: str) -> list[dict[str, Any]]:
    """List the runs of the results that are there which are not measured again."""
    path = results.BENCHMARKS / "cores.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if only and path.exists() else []
    return [run for run in runs if only not in run["work"]]


def run_all(
    path: Path, versions: dict[str, Path], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Run every work on every number of cores, of each version by turns."""
    for _ in range(options.rounds):
        for name, suffix, measure in WORKS:
            for cores in options.cores if options.only in name else ():
                for version, folder in versions.items():
                    env = os.environ | {"PYTHONPATH": str(folder)}
                    words = [
                        sys.executable,
                        "-c",
                        RUN,
                        str(path.with_suffix(suffix)),
                        measure,
                        str(cores),
                        str(path.with_suffix(".signed.parquet")),
                        TAKER,
                    ]
                    done = subprocess.run(
                        words, env=env, cwd=folder, stdout=subprocess.PIPE, check=version == "now"
                    )
                    if done.returncode:  # an earlier version may lack the work
                        continue
                    run = {"work": name, "cores": cores, "version": version}
                    run |= json.loads(done.stdout)
                    print(run, flush=True)
                    yield run


def run_from_shell(path: Path, versions: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """Run the command by each measure, of each version by turns. A first round writes all code."""
    usual = {name: value for name, value in os.environ.items() if "BYTECODE" not in name}
    for at in range(-1, STARTS):
        for measure in ("estimate", "words"):
            for version, folder in versions.items():
                words = ["-m", "neardup_solr", "duplicates", str(path), "--measure", measure]
                began = time.perf_counter()
                subprocess.run(
                    [sys.executable, *words], env=usual | {"PYTHONPATH": str(folder)}, cwd=folder,
                    check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                seconds = time.perf_counter() - began
                if at >= 0:
                    yield {"measure": measure, "version": version, "seconds": seconds}


def check_digests(runs: list[dict[str, Any]]) -> None:
    """Require the same pairs of each measure, and the same signatures, in all runs of a version.

    An earlier one may have had other normal forms.
    """
    for version in {run["version"] for run in runs}:
        for measure in ("estimate", "words", "signatures", "index"):
            digests = {
                run["digest"]
                for run in runs
                if run["version"] == version and run["work"].endswith(measure)
            }
            assert len(digests) <= 1, f"{measure}: the results differ"


def list_works(runs: list[dict[str, Any]], version: str) -> list[str]:
    """List the works that a version has done, in their order."""
    done = {run["work"] for run in runs if run["version"] == version}
    return [name for name, *_ in WORKS if name in done]


def median(runs: list[dict[str, Any]], name: str, **of: object) -> float:
    """Compute the median of a figure over some runs."""
    chosen = [run for run in runs if all(run[key] == value for key, value in of.items())]
    return float(statistics.median(run[name] for run in chosen))


def tabulate_cores(runs: list[dict[str, Any]], cores: list[int]) -> str:
    """Tabulate the wall time by number of cores, and the main thread's share of the work."""
    rows = []
    for name in list_works(runs, "now"):
        walls = [median(runs, "seconds", work=name, cores=count, version="now") for count in cores]
        on_one = {"work": name, "cores": min(cores), "version": "now"}
        share = median(runs, "main", work=name, cores=max(cores), version="now") / median(
            runs, "processor", **on_one
        )
        memory = median(runs, "MB", work=name, cores=max(cores), version="now")
        rows.append([name, *walls, walls[0] / walls[-1], share, memory])
    heads = ["work", *(f"{count} core{'s' * (count > 1)}, s" for count in cores),
             "times as fast", "main thread's share", "MB"]  # fmt: skip
    return results.table(heads, rows)


def tabulate_stages(runs: list[dict[str, Any]], cores: list[int]) -> str:
    """Tabulate how long each stage takes."""
    own = [run for run in runs if run["cores"] == max(cores) and run["version"] == "now"]
    stages = list(dict.fromkeys(stage for run in own for stage in run["stages"]))
    rows = [
        [name, *(statistics.median(run["stages"].get(stage, 0.0) for run in own
                                   if run["work"] == name) for stage in stages)]
        for name in list_works(own, "now")
    ]  # fmt: skip
    return results.table(["work", *stages], rows)


def tabulate_versions(runs: list[dict[str, Any]], cores: list[int]) -> str:
    """Tabulate wall and processor time of the earlier version and of this one."""
    rows = []
    for name in list_works(runs, "before"):
        for count in cores:
            row: list[object] = [name, count]
            for figure in ("seconds", "processor"):
                before, now = (
                    median(runs, figure, work=name, cores=count, version=version)
                    for version in ("before", "now")
                )
                row += [before, now, now / before]
            rows.append(row)
    heads = ["work", "cores", "before, s", "now, s", "ratio",
             "before, processor s", "now, processor s", "ratio"]  # fmt: skip
    return results.table(heads, rows)


def tabulate_starts(runs: list[dict[str, Any]]) -> str:
    """Tabulate the wall time of the command, beside that of the earlier version if it was run."""
    versions = sorted({run["version"] for run in runs})
    rows = [
        [measure, *(median(runs, "seconds", measure=measure, version=each) for each in versions)]
        for measure in ("estimate", "words")
    ]
    return results.table(["measure", *(f"{version}, s" for version in versions)], rows)


if __name__ == "__main__":
    main()
