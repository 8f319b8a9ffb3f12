"""The first minute after `pip install`: how long until a first answer, and in how much memory.

    scripts/build
    python benchmarks/first_minute.py dist/neardup_solr-*.whl [OTHER.whl]

Each wheel gets a new virtual environment; the first one is also measured without the machine code
that it carries, as it is on other processors. 800 documents of about 200 words are compared by each
measure and indexed; before each command all machine code that was kept is removed. "then words" is
a second command, which finds what the one before it, by another measure, has kept.
"""

from __future__ import annotations

import argparse
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
MEASURES = ("words", "estimate", "jaccard", "containment", "aligned")
# The command, and whether its process has loaded the compiler.
COMMAND = """
import sys
from neardup_solr.__main__ import main
try:
    main()
finally:
    print("loaded" if "numba" in sys.modules else "", file=sys.stderr)
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
        for number, wheel in enumerate(parser.parse_args().wheels):
            venv = install(wheel, folder / str(number))
            name = "this wheel" if number == 0 else str(wheel)
            measured["rows"] += measure(name, venv, folder, address)
            if number == 0:
                for carried in venv.glob("lib/*/site-packages/neardup_solr/kernel/x86-64-v3-*"):
                    shutil.rmtree(carried)
                measured["rows"] += measure("without its machine code", venv, folder, address)
    ours = {
        row["command"]: row["seconds"] for row in measured["rows"] if row["wheel"] == "this wheel"
    }
    heads = ["wheel", "command", "seconds", "× this wheel", "processor s", "MB", "numba"]
    table = [
        [row["wheel"], row["command"], row["seconds"], row["seconds"] / ours[row["command"]],
         row["processor"], row["megabytes"], row["numba"]]
        for row in measured["rows"]
    ]  # fmt: skip
    body = results.table(heads, table)
    results.keep("first_minute", measured, [(f"{DOCUMENTS} documents, nothing kept before", body)])


def install(wheel: Path, venv: Path) -> Path:
    """Install a wheel in a new environment."""
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([venv / "bin" / "python", "-m", "pip", "install", *quiet, wheel], check=True)
    return venv


def measure(name: str, venv: Path, folder: Path, address: str) -> list[dict[str, Any]]:
    """Run each command once, with nothing kept, but for the last of them."""
    rows, source = [], str(folder / "documents.jsonl")
    for by in MEASURES:
        words = ["duplicates", source, "--measure", by, "-o", str(folder / "pairs.csv")]
        rows.append({"wheel": name, "command": by, **run(words, venv, folder)})
    words = ["duplicates", source, "-o", str(folder / "pairs.csv")]
    rows.append(
        {"wheel": name, "command": "then words", **run(words, venv, folder, is_first=False)}
    )
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
    return {
        "seconds": seconds,
        "processor": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss * 1024 / MEGABYTE,
        "numba": text.splitlines()[-1],
    }


if __name__ == "__main__":
    main()
