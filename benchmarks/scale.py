"""A cost model by stage: fitted to growing sizes, it predicts the next one before that is run.

    python benchmarks/scale.py [PART ...] [--files 250000 500000 1000000 2000000]
        [--solr 40000 80000 160000 320000] [--spark 100000 200000 400000 800000]

    files   a file of JSON lines, its report by words: seconds by stage, and memory
    solr    into the embedded Solr, and its report by words: seconds, CPU, network, disk
    spark   Spark in local mode, pairs by words: seconds, CPU, bytes that it shuffles

Documents have 200 words, and as many near-duplicates in each size. Each amount grows with the
documents, with documents × ln(documents), or with a power of the documents, as candidate pairs do;
some have a base, too. All sizes but the last are fitted.
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
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
from lib import results
from lib.corpus import growing
from lib.solr import running_solr
from lib.wholes import Task, work

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded.layout import find_layout

MILLION = 1_000_000
GROUP = 20_000  # documents in a row group
DOCUMENTS, LOG, POWER = "a million documents", "a million × ln(documents)", "a power of documents"
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
        "texts, s": Law(DOCUMENTS),
        "comparing, s": Law(POWER),
        "grouping, s": Law(DOCUMENTS),
        "memory, MB": Law(DOCUMENTS, has_base=True),
        "file, MB": Law(DOCUMENTS),
        CANDIDATES: Law(POWER),
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
        CANDIDATES: Law(POWER),
    },
    "spark": {
        "pairs, s": Law(DOCUMENTS, has_base=True),
        "pairs, CPU s": Law(DOCUMENTS, has_base=True),
        "shuffled, MB": Law(DOCUMENTS),
    },
}
SUFFIXES = {"files": ".jsonl", "solr": ".jsonl", "spark": ".parquet"}
SIZES = {
    "files": [250_000, 500_000, 1_000_000, 2_000_000],
    "solr": [40_000, 80_000, 160_000, 320_000],
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
            path = Path(folder) / f"{count}{SUFFIXES[part]}"
            found: Amounts = {}
            for work in (_write, MEASURED[part]):  # each without the memory that the other takes
                with multiprocessing.get_context("spawn").Pool(1) as pool:
                    found = pool.apply(work, [count, path])
            path.unlink()
            return found

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


def _write(count: int, path: Path) -> Amounts:
    """A corpus that grows at a fixed rate of near-duplicates, as JSON lines or Parquet."""
    documents = enumerate(growing(count))
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.schema([("id", pa.string()), ("text", pa.string())])
        with pq.ParquetWriter(path, schema) as parquet:
            while rows := list(islice(documents, GROUP)):
                columns = [[f"d{at}" for at, _ in rows], [text for _, text in rows]]
                parquet.write_table(pa.table(columns, schema=schema))
        return {}
    with path.open("w", encoding="utf-8") as lines:
        for at, text in documents:
            lines.write(json.dumps({"id": f"d{at}", "text": text}, ensure_ascii=False) + "\n")
    return {}


def _files(count: int, path: Path) -> Amounts:
    task = Task(name="growth", documents=count, cores=os.cpu_count() or 1, folder=str(path.parent))
    told = work(task)
    stages = told["stages"]
    return {
        "reading and signing, s": stages["reading"],
        "joining, s": stages["joining"],
        "texts, s": stages["texts"],
        "comparing, s": stages["comparing"],
        "grouping, s": stages["grouping"],
        "memory, MB": told["megabytes"]["anonymous"],
        "file, MB": path.stat().st_size / 1e6,
        CANDIDATES: told["candidates"],
    }


def _solr(_: int, path: Path) -> Amounts:
    with running_solr("2g") as base:
        solr = nd.connect(base, "scale")
        nd.init(solr)
        server = embedded.running()
        assert server is not None
        java = psutil.Process(server.pid)
        nd.index([("warm", "a few words to begin with")], solr)
        with Spent(java) as indexing:
            nd.index(path, solr)
        on_disk = sum(path.stat().st_size for path in find_layout().cores.rglob("*"))
        with Spent(java) as report:
            found = nd.duplicates(solr)
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


def _spark(_: int, path: Path) -> Amounts:
    from neardup_solr import spark

    log = path.with_suffix("")
    log.mkdir()
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


MEASURED: dict[str, Callable[[int, Path], Amounts]] = {
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
    """How each amount grows: its base, its rate by a unit, and the power of documents."""
    model: dict[str, Any] = {}
    for name, law in laws.items():
        values = [run[name] for run in runs]
        units = [_units(law, size) for size in sizes]
        base, power = 0.0, 1.0
        if law.by == POWER:
            logs = list(map(math.log, units))
            power, start = statistics.linear_regression(logs, list(map(math.log, values)))
            rate = math.exp(start)
        elif law.has_base:
            rate, base = statistics.linear_regression(units, values)
        else:
            rates = [value / unit for value, unit in zip(values, units, strict=True)]
            rate = statistics.geometric_mean(rates)
        model[name] = {"by": law.by, "base": base, "rate": rate, "power": power}
    return model


def prediction(model: dict[str, Any], size: int) -> Amounts:
    """The amounts of so many documents."""
    return {
        name: one["base"] + one["rate"] * _units(Law(one["by"]), size) ** one["power"]
        for name, one in model.items()
    }


def _units(law: Law, size: int) -> float:
    return size / MILLION * (math.log(size) if law.by == LOG else 1)


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part, of in found["parts"].items():
        heads = ["", *(f"{size:,}" for size in of["sizes"]), "predicted", "off", "grows by"]
        rows: list[list[object]] = []
        for name in LAWS[part]:
            values = [run[name] for run in of["runs"]]
            told = of["predicted"][name]
            law = _law(of["model"][name])
            rows.append([name, *values, told, f"{told / values[-1] - 1:+.0%}", law])
        seconds = [name for name in LAWS[part] if name.endswith(", s")]
        told, last = (
            sum(one[name] for name in seconds) for one in (of["predicted"], of["runs"][-1])
        )
        text = f"All seconds: {told:.1f} predicted, {last:.1f} taken, {told / last - 1:+.0%}."
        yield part, f"{results.table(heads, rows)}\n\n{text}"


def _law(one: dict[str, Any]) -> str:
    if one["by"] == POWER:
        return f"{one['rate']:.3g} × millions^{one['power']:.2f}"
    base = f"{one['base']:.3g} + " if one["base"] else ""
    return f"{base}{one['rate']:.3g} for {one['by']}"


if __name__ == "__main__":
    main()
