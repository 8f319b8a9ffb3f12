"""This version beside another checkout: the same work in turns, as ratios.

    python benchmarks/versions.py CHECKOUT [--documents 40000]

Each version runs in a process of its own, the other one's by its own `.venv`, through what is
public: `signatures` of documents in memory (signing, and a Parquet file), `duplicates` of a file by
words, `index` into the same Solr, a search by bands of an open collection; and commands from the
shell, start to end. Warm: what is compiled is compiled before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from lib.corpus import corpus
from lib.results import conditions, keep, table
from lib.solr import running_solr

from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core

HERE = Path(__file__).parents[1]
SMALL = 800  # documents of the commands from the shell
# The arguments are the file of documents, the address of a core, and what to do.
WORK = """
import json, sys, tempfile, time
import neardup_solr as nd

path, core, what = sys.argv[1:]
lines = map(json.loads, open(path, encoding="utf-8"))
documents = [nd.Document(id=one["id"], text=one["text"]) for one in lines]
folder = tempfile.mkdtemp()
solr = nd.connect(core)
if "Criteria" in nd.__all__:  # a version whose options were records
    by_bands, all_by_bands = {"criteria": nd.Criteria(by="bands")}, {}
else:
    by_bands = all_by_bands = {"by": "bands"}
work = {
    "signatures": lambda some: nd.signatures(some, folder + "/a.parquet"),
    "duplicates": lambda some: nd.duplicates(some, **all_by_bands),
    "index": lambda some: nd.index(some, solr),
    "search": lambda some: [nd.search(solr, text=one.text, **by_bands) for one in some],
}[what]
few = documents[:200]
work(few)
wall, cpu = [], []
for _ in range(1 if what == "index" else 3):
    began, busy = time.perf_counter(), time.process_time()
    work({"duplicates": path, "search": documents[:300]}.get(what, documents))
    wall.append(time.perf_counter() - began)
    cpu.append(time.process_time() - busy)
print(json.dumps({"wall": min(wall), "cpu": min(cpu)}))
"""
SHELL = {
    "neardup --help": ["--help"],
    "neardup search --id ID": ["search", "--id", "3", "--max-distance", "3"],
    f"neardup duplicates FILE, {SMALL} documents": ["duplicates", "FILE"],
}


def main() -> None:
    """Run both versions in turns; print and keep the medians and their ratios."""
    parser = argparse.ArgumentParser(description="this version beside another checkout")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument(
        "--work", nargs="+", default=["signatures", "duplicates", "index", "search"]
    )
    asked = parser.parse_args()
    found = conditions()
    with tempfile.TemporaryDirectory() as folder, running_solr("2g") as base:
        large, small = Path(folder) / "large.jsonl", Path(folder) / "small.jsonl"
        write(large, corpus(asked.documents, 5).documents)
        write(small, corpus(SMALL, 6).documents)
        versions = {"now": python(HERE), "before": python(asked.checkout.resolve())}
        rows = []
        for what in asked.work:
            times: dict[str, list[dict[str, float]]] = {name: [] for name in versions}
            for turn in range(asked.rounds):
                for name, own in in_turn(versions, turn):
                    with fresh_core(base) as solr:
                        times[name].append(worked(own, what, large, solr))
            rows.append(row(what, times))
        with fresh_core(base) as solr:
            worked(versions["now"], "index", small, solr)
            solr.commit()
            for what, words in SHELL.items():
                times = {name: [] for name in versions}
                for turn in range(2 * asked.rounds):
                    for name, own in in_turn(versions, turn):
                        times[name].append(called(own, words, small, solr))
                rows.append(row(what, {name: each[1:] for name, each in times.items()}))
    heads = ("work", "now, s", "before, s", "before / now", "cpu: before / now")
    measured = {"conditions": found, "documents": asked.documents, "rows": rows}
    body = table(heads, [[one[head] for head in heads] for one in rows])
    keep("versions", measured, [(f"{asked.documents:,} documents, medians", body)])


def in_turn(versions: dict[str, Path], turn: int) -> list[tuple[str, Path]]:
    """The versions, every other time the other way round: a server grows faster as it runs."""
    return list(versions.items())[:: -1 if turn % 2 else 1]


def write(path: Path, texts: Sequence[str]) -> None:
    """Documents as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for at, text in enumerate(texts):
            file.write(json.dumps({"id": str(at), "text": text}) + "\n")


def python(checkout: Path) -> Path:
    """The Python of a checkout's own environment."""
    return checkout / ".venv" / "bin" / "python"


def worked(own: Path, what: str, path: Path, solr: Collection) -> dict[str, float]:
    """The seconds of one piece of work in a version; a search is of what it has indexed."""
    if what == "search":
        run(own, "-c", WORK, str(path), solr.url, "index")
    found: dict[str, float] = json.loads(run(own, "-c", WORK, str(path), solr.url, what))
    return found


def called(own: Path, words: Sequence[str], path: Path, solr: Collection) -> dict[str, float]:
    """The seconds of a command of a version, from the shell."""
    given = [str(path) if word == "FILE" else word for word in words]
    began, before = time.perf_counter(), os.times()
    run(own, "-m", "neardup_solr", *given, NEARDUP_SOLR_URL=solr.url)
    after = os.times()
    busy = after.children_user + after.children_system
    busy -= before.children_user + before.children_system
    return {"wall": time.perf_counter() - began, "cpu": busy}


def run(own: Path, *words: str, **variables: str) -> str:
    """What a version prints; with byte code, as it is installed for users."""
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    checkout = own.parents[2]
    done = subprocess.run([own, *words], cwd=checkout, env=given | variables, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode())
    return done.stdout.decode()


def row(what: str, times: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """The medians of both versions, and of the ratios turn by turn."""
    turns = list(zip(times["now"], times["before"], strict=True))
    return {
        "work": what,
        "now, s": median(now["wall"] for now, _ in turns),
        "before, s": median(before["wall"] for _, before in turns),
        "before / now": median(before["wall"] / now["wall"] for now, before in turns),
        "cpu: before / now": median(before["cpu"] / now["cpu"] for now, before in turns),
    }


if __name__ == "__main__":
    main()
