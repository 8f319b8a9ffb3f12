"""The first minute after `pip install`: how long until a first answer, and in how much memory.

    scripts/build
    python benchmarks/first_minute.py dist/neardup_solr-*.whl [OTHER.whl]

Each wheel gets a new virtual environment; the first one is also measured without the machine code
that it carries, as it is on other processors. 800 documents of about 200 words are compared and
indexed; `aligned` compares the first 12 words of each. Before each command all machine code that
was kept is removed, but "then aligned" finds what the command before it, by words, has kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lib import results
from lib.solr import running_solr
from lib.wholes import MEGABYTE, write_jsonl

from neardup_solr.testing import fresh_core

DOCUMENTS = 800
HEADING = f"{DOCUMENTS} documents, nothing kept before"
# What is measured, the measure that it compares by, and whether what was kept is removed before.
FIRST = [("words", "words", True), ("then aligned", "aligned", False)]
OTHERS = [(name, name, True) for name in ("estimate", "jaccard", "containment", "aligned")]
# The command; whether its process has loaded the compiler, and the most memory that it had, which
# it has to read itself: the system counts that of this script, from before it began, among it.
COMMAND = """
import sys
from neardup_solr.__main__ import main
try:
    main()
finally:
    loaded = "loaded" if "numba" in sys.modules else "no"
    most = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(loaded, most, file=sys.stderr)
"""


def main() -> None:
    """Measure, print and keep the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("wheels", type=Path, nargs="+", metavar="WHEEL")
    measured: dict[str, Any] = {"conditions": results.conditions(), "rows": []}
    with tempfile.TemporaryDirectory(prefix="neardup-") as temporary, running_solr() as address:
        folder = Path(temporary)
        write_jsonl(folder / "documents.jsonl", DOCUMENTS)
        write_records(folder)
        for number, wheel in enumerate(parser.parse_args().wheels):
            venv = install(wheel, folder / str(number))
            name = f"other wheel {number}" if number else "this wheel"
            measured["rows"] += measure(name, venv, folder, address, FIRST + OTHERS * (number == 0))
            if number == 0:
                for carried in venv.glob("lib/*/site-packages/neardup_solr/kernel/x86-64-v3-*"):
                    shutil.rmtree(carried)
                measured["rows"] += measure(
                    "without its machine code", venv, folder, address, FIRST
                )
    results.keep("first_minute", measured, [(HEADING, tabulate(measured["rows"]))])


def tabulate(rows: list[dict[str, Any]]) -> str:
    """Make the table of all commands."""
    ours = {row["command"]: row["seconds"] for row in rows if row["wheel"] == "this wheel"}
    heads = ["wheel", "command", "seconds", "× this wheel", "processor s", "MB", "numba"]
    cells = [
        [row["wheel"], row["command"], row["seconds"], row["seconds"] / ours[row["command"]],
         row["processor"], row["megabytes"], row["numba"]]
        for row in rows
    ]  # fmt: skip
    return results.table(heads, cells)


def write_records(folder: Path) -> None:
    """Write the beginnings of the documents, as short records."""
    lines = (folder / "documents.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    short = [{**record, "text": " ".join(record["text"].split()[:12])} for record in records]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, short)), "utf-8")


def install(wheel: Path, venv: Path) -> Path:
    """Install a wheel in a new environment."""
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([venv / "bin" / "python", "-m", "pip", "install", *quiet, wheel], check=True)
    return venv


def measure(
    name: str, venv: Path, folder: Path, address: str, commands: list[tuple[str, str, bool]]
) -> list[dict[str, Any]]:
    """Run each command once."""
    rows, source = [], str(folder / "documents.jsonl")
    for command, by, is_first in commands:
        compared = str(folder / "records.jsonl") if by == "aligned" else source
        words = ["duplicates", compared, "--measure", by, "-o", str(folder / "pairs.csv")]
        found = run(words, venv, folder, is_first=is_first)
        rows.append({"wheel": name, "command": command, **found})
    with fresh_core(address) as core:
        words = ["index", source, "--solr", core.url]
        rows.append({"wheel": name, "command": "index", **run(words, venv, folder)})
    return rows


def run(words: list[str], venv: Path, folder: Path, *, is_first: bool = True) -> dict[str, Any]:
    """Run a command; tell its seconds and memory, and whether it loaded numba."""
    cache = folder / "cache"
    if is_first:
        shutil.rmtree(cache, ignore_errors=True)
        for kept in venv.glob("lib/*/site-packages/neardup_solr/kernel/__pycache__/neardup-*"):
            shutil.rmtree(kept)
    cache.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)}
    command = [str(venv / "bin" / "python"), "-c", COMMAND, *words]
    began = time.perf_counter()
    with (folder / "said").open("w+") as said:
        child = subprocess.Popen(command, env=environment, cwd=folder, stderr=said, stdout=said)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - began
        said.seek(0)
        text = said.read()
    assert status == 0, text
    loaded, kilobytes = text.splitlines()[-1].split()
    return {
        "seconds": seconds,
        "processor": used.ru_utime + used.ru_stime,
        "megabytes": int(kilobytes) * 1024 / MEGABYTE,
        "numba": loaded,
    }


if __name__ == "__main__":
    main()
