"""How fast raw text becomes signatures and band keys: this package beside its peers.

    python benchmarks/speed.py [--documents 20000] [--rounds 5] [--seconds 1.0]

Each contender runs in a fresh process, the contenders take turns (A B C A B C …), and medians
over the rounds are compared. Results go to speed.md and speed.json beside this script.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import contenders, results
from lib.corpus import corpus, sentences

OURS, MEGABYTE = "neardup_solr", 2**20
LENGTHS = (50, 200, 1_000, 5_000, 20_000)  # words
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_BOTH = _LETTERS + _LETTERS.upper()
# The same documents letter by letter in other scripts, blanks kept.
SCRIPTS: dict[str, Callable[[str], str]] = {
    "ASCII": str,
    "ASCII and one dash": lambda text: text + " –",
    "accented Latin (vowels)": lambda text: text.translate(
        str.maketrans("aeiouyAEIOUY", "áèîöůýÁÈÎÖŮÝ")
    ),
    "Cyrillic": lambda text: text.translate(
        str.maketrans(_BOTH, "абцдефгхийклмнопярстувжьызАБЦДЕФГХИЙКЛМНОПЯРСТУВЖЬЫЗ")
    ),
    "Han": lambda text: text.translate(
        {ord(letter): 0x4E00 + 37 * at for at, letter in enumerate(_BOTH)}
    ),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One contender on one file of texts, on so many cores."""

    name: str
    contender: str
    texts: Path
    count: int
    cores: int


def main() -> None:
    """Measure everything, print it and keep it."""
    options = _options()
    conditions = results.conditions()
    with tempfile.TemporaryDirectory() as folder:
        measure = _Measure(Path(folder), options.rounds, options.seconds)
        texts = corpus(options.documents, options.seed).documents
        plain = corpus(options.documents, options.seed, ascii_only=True).documents
        found = {
            "conditions": conditions,
            "documents": options.documents,
            "rounds": options.rounds,
            "one core": measure.peers(texts, 1),
            "all cores": measure.peers(texts, os.cpu_count() or 1),
            "scaling": measure.scaling(texts),
            "scripts": measure.scripts(plain),
            "lengths": measure.lengths(options.documents * 200),
        }
    results.keep("speed", found, list(_sections(found)))


class _Measure:
    """Runs jobs in turns; keeps the texts in a folder."""

    def __init__(self, folder: Path, rounds: int, seconds: float) -> None:
        self.folder, self.rounds, self.seconds = folder, rounds, seconds

    def peers(self, texts: Sequence[str], cores: int) -> dict[str, Any]:
        """Every contender on the same texts."""
        path = self._write("peers", texts)
        names = [name for name in contenders.CONTENDERS if cores > 1 or "process" not in name]
        return self._run([Job(name, name, path, len(texts), cores) for name in names])

    def scaling(self, texts: Sequence[str]) -> dict[str, Any]:
        """The kernel on one core, two, four … and all."""
        path, most = self._write("scaling", texts), os.cpu_count() or 1
        steps = sorted({most, *(2**power for power in range(8) if 2**power < most)})
        return self._run([Job(str(cores), OURS, path, len(texts), cores) for cores in steps])

    def scripts(self, texts: Sequence[str]) -> dict[str, Any]:
        """The kernel on one core, on the same documents in several scripts."""
        jobs = []
        for name, turn in SCRIPTS.items():
            path = self._write(name.replace(" ", "_"), [turn(text) for text in texts])
            jobs.append(Job(name, OURS, path, len(texts), 1))
        return self._run(jobs)

    def lengths(self, words: int) -> dict[str, Any]:
        """The kernel on one core, on that many words in texts of several lengths."""
        stream = _ascii_words(words)
        jobs = []
        for length in LENGTHS:
            starts = range(0, len(stream) - length + 1, length)
            texts = [" ".join(stream[at : at + length]) for at in starts]
            path = self._write(f"words_{length}", texts)
            jobs.append(Job(str(length), OURS, path, len(texts), 1))
        return self._run(jobs)

    def _write(self, name: str, texts: Sequence[str]) -> Path:
        path = self.folder / name
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(f"{text}\n" for text in texts)
        return path

    def _run(self, jobs: Sequence[Job]) -> dict[str, Any]:
        runs: dict[str, list[dict[str, float]]] = {job.name: [] for job in jobs}
        for _ in range(self.rounds):
            for job in jobs:
                runs[job.name].append(_once(job, self.seconds))
                print(job.name, runs[job.name][-1], file=sys.stderr, flush=True)
        return {job.name: _summary(runs[job.name], job.count) for job in jobs}


def _once(job: Job, seconds: float) -> dict[str, float]:
    """One run of a job in a fresh process."""
    script = Path(contenders.__file__)
    words = [job.contender, str(job.texts), str(job.cores), str(seconds)]
    threads = {"RAYON_NUM_THREADS": str(job.cores)}
    done = subprocess.run(
        [sys.executable, str(script), *words],
        env=os.environ | threads, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _summary(runs: Sequence[dict[str, float]], count: int) -> dict[str, Any]:
    each = sorted(run["seconds"] / count * 1e6 for run in runs)
    return {
        "us": statistics.median(each),
        "us_low": each[0],
        "us_high": each[-1],
        "processor_us": statistics.median(run["processor"] for run in runs) / count * 1e6,
        "megabytes": statistics.median(run["peak"] - run["base"] for run in runs) / MEGABYTE,
        "count": count,
    }


def _ascii_words(count: int) -> list[str]:
    plain = [one for one in sentences() if one.isascii()]
    stream = [word for one in plain for word in one.split()]
    return (stream * (count // len(stream) + 1))[:count]


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for where in ("one core", "all cores"):
        yield f"From raw text, {found['documents']:,} documents, {where}", _peers(found[where])
    yield from _kernel_alone(found)


def _kernel_alone(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """By the clock for scaling; by the processor where one core works: others disturb it less."""
    one = found["scaling"]["1"]["us"]
    rows = [
        [int(cores), run["us"], one / run["us"] / int(cores)]
        for cores, run in found["scaling"].items()
    ]
    yield "Scaling", results.table(["cores", "µs a document", "of linear"], rows)
    plain = found["scripts"]["ASCII"]["processor_us"]
    rows = [
        [name, run["processor_us"], plain / run["processor_us"]]
        for name, run in found["scripts"].items()
    ]
    heads = ["script", "processor µs a document", "speed against ASCII"]
    yield "Beyond ASCII, one core", results.table(heads, rows)
    rows = [
        [int(words), run["processor_us"], run["processor_us"] / int(words) * 1000]
        for words, run in found["lengths"].items()
    ]
    heads = ["words", "processor µs a text", "ns a word"]
    yield "Length of the text, one core", results.table(heads, rows)


def _peers(runs: dict[str, Any]) -> str:
    ours, busy = runs[OURS]["us"], runs[OURS]["processor_us"]
    rows = [
        [
            name, 1e6 / run["us"], run["us"], f"{run['us_low']:.3g}–{run['us_high']:.3g}",
            run["us"] / ours, run["processor_us"], run["processor_us"] / busy, run["megabytes"],
        ]
        for name, run in runs.items()
    ]  # fmt: skip
    heads = [
        "", "documents/s", "µs a document", "lowest–highest", "× ours", "processor µs", "× ours",
        "peak MB",
    ]  # fmt: skip
    return results.table(heads, rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="signatures per second, beside the peers")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0, help="at least, in each run")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
