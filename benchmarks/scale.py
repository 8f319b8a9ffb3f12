"""A cost model by stage: fitted to growing sizes, it predicts the next one before that is run.

    python benchmarks/scale.py [PART ...] [--files 100000 250000 500000 1000000 2000000]
        [--solr 50000 100000 200000 400000] [--spark 100000 200000 400000 800000]

    files   a file of JSON lines, its report by words: seconds by stage, and memory
    solr    into the embedded Solr, and its report by words: seconds, CPU, network, disk
    spark   Spark in local mode, pairs by words: seconds, CPU, bytes that it shuffles

Each amount grows with the documents, with documents x ln(documents), or with the candidate pairs,
whose number is a power of the documents; some have a base, too. All sizes but the last are fitted.
Results go to scale.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from lib import results
from lib.corpus import corpus
from lib.solr import running_solr
from lib.wholes import Task, work, write_jsonl

import neardup_solr as nd
from neardup_solr.embedded import lifecycle

MILLION = 1_000_000
DOCUMENTS, LOG, PAIRS = "a million documents", "a million × ln(documents)", "a million candidates"
CANDIDATES = "candidate pairs"
Amounts = dict[str, float]


@dataclass(frozen=True, slots=True)
class Law:
    """What an amount grows with, and whether some of it is there without any documents."""

    by: str
    has_base: bool = False


LAWS = {
    "files": {
        "reading and signing, s": Law(DOCUMENTS),
        "joining, s": Law(LOG),
        "comparing, s": Law(PAIRS),
        "grouping, s": Law(DOCUMENTS),
        "memory, MB": Law(DOCUMENTS, has_base=True),
        "file, MB": Law(DOCUMENTS),
    },
    "solr": {
        "indexing, s": Law(DOCUMENTS),
        "indexing, CPU s of the client": Law(DOCUMENTS),
        "indexing, CPU s of Solr": Law(DOCUMENTS),
        "indexing, MB sent": Law(DOCUMENTS),
        "index, MB on disk": Law(DOCUMENTS),
        "report, s": Law(DOCUMENTS),
        "report, CPU s": Law(DOCUMENTS),
        "report, MB received": Law(DOCUMENTS),
    },
    "spark": {
        "pairs, s": Law(DOCUMENTS, has_base=True),
        "pairs, CPU s": Law(DOCUMENTS, has_base=True),
        "shuffled, MB": Law(DOCUMENTS),
    },
}
SIZES = {
    "files": [100_000, 250_000, 500_000, 1_000_000, 2_000_000],
    "solr": [50_000, 100_000, 200_000, 400_000],
    "spark": [100_000, 200_000, 400_000, 800_000],
}


def main() -> None:
    """For each part: measure all sizes but one, predict that, measure it, and keep everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", default=list(LAWS))
    for part, sizes in SIZES.items():
        parser.add_argument(f"--{part}", type=int, nargs="+", default=sizes)
    options = vars(parser.parse_args())
    if unknown := set(options["parts"]) - set(LAWS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}: take {', '.join(LAWS)}")
    kept = results.BENCHMARKS / "scale.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {"parts": {}}
    found["conditions"] = results.conditions()
    for part in options["parts"]:
        sizes = sorted(options[part])
        if len(sizes) < 3:
            parser.error("a model needs three sizes or more")
        found["parts"][part] = _part(part, sizes)
        results.keep("scale", found, list(_sections(found)))


def _part(part: str, sizes: Sequence[int]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:

        def run(count: int) -> Amounts:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                return pool.apply(MEASURED[part], [count, folder])

        known = [run(count) for count in sizes[:-1]]
        model = fitted(LAWS[part], sizes[:-1], known)
        predicted = prediction(model, sizes[-1])
        print(f"{part}, {sizes[-1]:,} documents, predicted: {predicted}", flush=True)
        return {
            "sizes": sizes,
            "runs": [*known, run(sizes[-1])],
            "model": model,
            "predicted": predicted,
        }


# What is measured of so many documents, each time in a process of its own.


def _files(count: int, folder: str) -> Amounts:
    path = Path(folder) / f"{count}.jsonl"
    write_jsonl(path, count)
    size = path.stat().st_size
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # without what the corpus takes
        task = Task(name="growth", documents=count, cores=os.cpu_count() or 1, folder=folder)
        told = pool.apply(work, [task])
    path.unlink()
    stages = told["stages"]
    return {
        "reading and signing, s": stages["reading"],
        "joining, s": stages["joining"],
        "comparing, s": stages["comparing"],
        "grouping, s": stages["grouping"],
        "memory, MB": told["megabytes"]["anonymous"],
        "file, MB": size / 1e6,
        CANDIDATES: told["candidates"],
    }


def _solr(count: int, folder: str) -> Amounts:
    path = Path(folder) / f"{count}.jsonl"
    write_jsonl(path, count)
    with running_solr("2g") as base:
        solr = nd.connect(base, "scale")
        nd.init(solr)
        server = lifecycle.running()
        assert server is not None
        java = psutil.Process(server.pid)
        nd.index([("warm", "a few words to begin with")], solr)
        with Spent(java) as indexing:
            nd.index(path, solr)
        on_disk = lifecycle.size_on_disk(lifecycle.data())
        with Spent(java) as report:
            found = nd.duplicates(solr)
    path.unlink()
    return {
        "indexing, s": indexing.seconds,
        "indexing, CPU s of the client": indexing.own,
        "indexing, CPU s of Solr": indexing.other,
        "indexing, MB sent": indexing.network,
        "index, MB on disk": on_disk / 1e6,
        "report, s": report.seconds,
        "report, CPU s": report.own + report.other,
        "report, MB received": report.network,
        CANDIDATES: found.candidates,
    }


def _spark(count: int, folder: str) -> Amounts:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from neardup_solr import spark

    path, log = Path(folder) / f"{count}.parquet", Path(folder) / f"log-{count}"
    log.mkdir()
    ids = [f"d{number}" for number in range(count)]
    table = pa.table({"id": ids, "text": corpus(count, 1).documents})
    pq.write_table(table, path, row_group_size=20_000)
    del table
    session = spark.local(
        memory="6g", spark_eventLog_enabled=True, spark_eventLog_dir=log.as_uri(),
        spark_eventLog_compress=False, spark_eventLog_rolling_enabled=False,
    )  # fmt: skip
    frame = session.read.parquet(str(path))
    spark.pairs(frame.limit(2_000)).count()  # its workers start, and load the kernel
    before = _shuffled(log)
    with Spent() as spent:
        pairs = spark.pairs(frame).count()
    session.stop()
    path.unlink()
    return {
        "pairs, s": spent.seconds,
        "pairs, CPU s": spent.own,
        "shuffled, MB": (_shuffled(log) - before) / 1e6,
        CANDIDATES: pairs,
    }


def _shuffled(log: Path) -> int:
    """The bytes that tasks have written for others, by Spark's log of events."""
    total = 0
    for path in log.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            if '"SparkListenerTaskEnd"' in line:
                metrics = json.loads(line).get("Task Metrics") or {}
                written = metrics.get("Shuffle Write Metrics") or {}
                total += written.get("Shuffle Bytes Written", 0)
    return total


MEASURED: dict[str, Callable[[int, str], Amounts]] = {
    "files": _files,
    "solr": _solr,
    "spark": _spark,
}


class Spent:
    """What a block takes: seconds, CPU of this process and its children, and of another one.

    `network` are the megabytes that went over the loopback device, whoever sent them.
    """

    def __init__(self, other: psutil.Process | None = None) -> None:
        self._other = other
        self.seconds = self.own = self.other = self.network = 0.0

    def __enter__(self) -> Spent:
        self._before = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        after = self._now()
        self.seconds, self.own, self.other, self.network = (
            end - start for end, start in zip(after, self._before, strict=True)
        )

    def _now(self) -> tuple[float, float, float, float]:
        me = psutil.Process()
        own = [me, *(one for one in me.children(recursive=True) if one != self._other)]
        sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent / 1e6
        other = _cpu(self._other) if self._other else 0.0
        return time.perf_counter(), sum(map(_cpu, own)), other, sent


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


# The model.


def fitted(laws: dict[str, Law], sizes: Sequence[int], runs: Sequence[Amounts]) -> dict[str, Any]:
    """Base and rate of each amount, and the power by which candidate pairs grow."""
    logs = [math.log(size) for size in sizes]
    power, start = statistics.linear_regression(logs, [math.log(run[CANDIDATES]) for run in runs])
    model: dict[str, Any] = {"power": power, "factor": math.exp(start), "amounts": {}}
    for name, law in laws.items():
        units = [_units(law, size, run[CANDIDATES]) for size, run in zip(sizes, runs, strict=True)]
        values = [run[name] for run in runs]
        if law.has_base:
            rate, base = statistics.linear_regression(units, values)
        else:
            base = 0.0
            rates = [value / unit for value, unit in zip(values, units, strict=True)]
            rate = statistics.geometric_mean(rates)
        model["amounts"][name] = {"by": law.by, "base": base, "rate": rate}
    return model


def prediction(model: dict[str, Any], size: int) -> Amounts:
    """The amounts of so many documents."""
    candidates = model["factor"] * size ** model["power"]
    told = {CANDIDATES: candidates}
    for name, amount in model["amounts"].items():
        units = _units(Law(amount["by"]), size, candidates)
        told[name] = amount["base"] + amount["rate"] * units
    return told


def _units(law: Law, size: int, candidates: float) -> float:
    if law.by == PAIRS:
        return candidates / MILLION
    return size / MILLION * (math.log(size) if law.by == LOG else 1)


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part, of in found["parts"].items():
        heads = ["", *(f"{size:,}" for size in of["sizes"]), "predicted", "off", "grows by"]
        rows: list[list[object]] = []
        for name in [*LAWS[part], CANDIDATES]:
            values = [run[name] for run in of["runs"]]
            told = of["predicted"][name]
            rows.append([name, *values, told, f"{told / values[-1] - 1:+.0%}", _law(of, name)])
        seconds = [name for name in LAWS[part] if name.endswith(", s")]
        told, last = (
            sum(one[name] for name in seconds) for one in (of["predicted"], of["runs"][-1])
        )
        text = f"All seconds: {told:.1f} predicted, {last:.1f} taken, {told / last - 1:+.0%}."
        yield part, f"{results.table(heads, rows)}\n\n{text}"


def _law(of: dict[str, Any], name: str) -> str:
    if name == CANDIDATES:
        return f"{of['model']['factor']:.3g} × documents^{of['model']['power']:.2f}"
    amount = of["model"]["amounts"][name]
    base = f"{amount['base']:.3g} + " if amount["base"] else ""
    return f"{base}{amount['rate']:.3g} for {amount['by']}"


if __name__ == "__main__":
    main()
