"""One document at a time, this version beside another commit; a part of gate.py.

Each version runs in a process of its own, in turns with the other, on the same documents of the
same core; the answers have to be equal. First with the segments that `index` leaves, then merged.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import requests

import neardup_solr as nd
from lib import results
from lib.corpus import growing
from lib.solr import running_solr
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core

HERE = Path(__file__).parents[2]
SEGMENTS = 10  # after merging
# The arguments are the file of documents, the address of a core, and the bounds of the gate.
WORK = """
import gc, hashlib, json, sys, time
import neardup_solr as nd

path, core, bounds = sys.argv[1:]
records = [json.loads(line) for line in open(path, encoding="utf-8")]
documents = [nd.Document(id=one["id"], text=one["text"]) for one in records]
there = {one["id"]: one["there"] for one in records}
solr, bounds = nd.connect(core), json.loads(bounds)
ways = {
    "search(text=…)": lambda one: nd.search(solr, text=one.text, by="bands"),
    "search(id=…)": lambda one: nd.search(solr, id=there[one.id], by="bands"),
    "gate([document])": lambda one: list(nd.gate([one], solr, **bounds)),
    "gate(documents, batch=1)": lambda one: [next(run)],
}
own = {name: documents[at :: len(ways)] for at, name in enumerate(ways)}
run = nd.gate(iter(own["gate(documents, batch=1)"]), solr, batch=1, **bounds)
warming = len(documents) // len(ways) // 10
gc.freeze()
told = {}
for name, way in ways.items():
    taken, digest = [], hashlib.sha256()
    for at, one in enumerate(own[name]):
        if at == warming:
            busy = time.process_time()
        began = time.perf_counter()
        answer = way(one)
        taken.append((time.perf_counter() - began) * 1e3)
        digest.update(repr(answer).encode())
    busy = (time.process_time() - busy) * 1e3 / (len(taken) - warming)
    told[name] = {"ms": taken[warming:], "processor": busy, "answers": digest.hexdigest()}
print(json.dumps(told))
"""


def measured(options: argparse.Namespace, settings: Settings, bounds: dict[str, Any]) -> Any:
    """The ways of both versions, with as many segments as `index` leaves, and with few."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        path, before = Path(folder) / "new.jsonl", Path(folder) / "before"
        subprocess.run(["git", "clone", "-q", HERE, before], check=True)
        subprocess.run(["git", "-C", before, "checkout", "-q", options.beside], check=True)
        versions = {"before": before, "now": HERE}
        with running_solr() as base, fresh_core(base) as solr:
            _index(solr, options, settings, path)
            found = [_beside(solr, versions, path, bounds, options.rounds)]
            wanted = {"optimize": {"maxSegments": SEGMENTS}}
            requests.post(f"{solr.url}/update", json=wanted, timeout=600).raise_for_status()
            found.append(_beside(solr, versions, path, bounds, options.rounds))
    return found


def _index(solr: Collection, options: argparse.Namespace, settings: Settings, path: Path) -> None:
    """Index all documents but some, which go to a file."""
    count = options.documents + options.new
    texts = [nd.Document(id=f"d{at}", text=text) for at, text in enumerate(growing(count))]
    step = count // options.new
    new = texts[::step][: options.new]
    del texts[: step * options.new : step]
    nd.index(texts, solr, settings=settings)
    with path.open("w", encoding="utf-8") as lines:
        for one, old in zip(new, texts[:: len(texts) // len(new)], strict=False):
            lines.write(json.dumps({"id": one.id, "text": one.text, "there": old.id}) + "\n")


def _beside(
    solr: Collection, versions: dict[str, Path], path: Path, bounds: dict[str, Any], rounds: int
) -> dict[str, Any]:
    """The best of some rounds of each version; the answers of both have to be equal."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in versions}
    loads = []
    for _ in range(rounds):
        for name, version in versions.items():
            loads.append(os.getloadavg()[0])
            runs[name].append(_run(version, [str(path), solr.url, json.dumps(bounds)]))
    ways = list(runs["now"][0])
    answers = {way: {one[way]["answers"] for each in runs.values() for one in each} for way in ways}
    return {
        "segments": _segments(solr),
        "loads": loads,
        "equal": all(len(each) == 1 for each in answers.values()),
        "ways": {way: {name: _best(runs[name], way) for name in versions} for way in ways},
    }


def _run(version: Path, arguments: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", WORK, *arguments],
        env=os.environ | {"PYTHONPATH": str(version)},
        cwd=version,
        stdout=subprocess.PIPE,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _best(runs: Sequence[dict[str, Any]], way: str) -> dict[str, float]:
    taken = [one[way]["ms"] for one in runs]
    return {
        "p50": min(float(np.percentile(ms, 50)) for ms in taken),
        "p95": min(float(np.percentile(ms, 95)) for ms in taken),
        "processor": min(one[way]["processor"] for one in runs),
    }


def _segments(solr: Collection) -> int:
    params = {"action": "STATUS", "core": solr.name, "indexInfo": "true", "wt": "json"}
    told = requests.get(f"{solr.base}/admin/cores", params=params, timeout=60).json()
    return int(told["status"][solr.name]["index"]["segmentCount"])


def sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """A table for each number of segments."""
    for one in found["single"]:
        rows = []
        for way, each in one["ways"].items():
            before, now = each["before"], each["now"]
            rows.append(
                [way, before["p50"], now["p50"], now["p50"] / before["p50"], before["p95"],
                 now["p95"], before["processor"], now["processor"]]
            )  # fmt: skip
        heads = ["", "p50 before, ms", "p50", "×", "p95 before, ms", "p95",
                 "processor before, ms", "processor"]  # fmt: skip
        said = "Answers are equal." if one["equal"] else "ANSWERS DIFFER."
        loads = f"load average {min(one['loads']):.1f} to {max(one['loads']):.1f}"
        title = (
            f"One document at a time, {found['documents']:,} documents, {one['segments']} segments"
        )
        yield title, f"{results.table(heads, rows)}\n\n{said} Best of the runs; {loads}."
