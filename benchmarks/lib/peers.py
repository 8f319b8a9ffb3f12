"""Raw texts to pairs of near-duplicates by this package and its peers; a part of duplicates.py.

Candidates of all texts in memory: word shingles of three, 126 hashes or more, 42 bands of 3, every
document asked for. Of a file of JSON lines: near-duplicates by the estimate, as the commands of
the peers that read files find them; `$FASTDEDUP` is the path of that program (its repository:
wapplewhite4/fastdedup, `cargo build --release`). Each run is a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lib import results
from lib.collection import licences
from lib.contenders import BANDS, ROWS, SEED, _shingles
from lib.corpus import corpus
from lib.wholes import LEAST, Task, _gaoya, _ours, held

PROGRAM = "FASTDEDUP"
LONG = 20  # seconds; what takes longer is run once, and left out of larger sizes
WARM = 200  # texts of a first, untimed run
CORPORA: dict[str, Callable[[int], Sequence[str]]] = {
    "generated": lambda count: corpus(count, 1, boilerplate=False).documents,
    "licences": lambda count: licences(1).texts[:count],
}


def ours(texts: Sequence[str], cores: int) -> int:
    """Count the candidates of this package."""
    return len(_ours(list(texts), cores))


def gaoya(texts: Sequence[str], cores: int) -> int:
    """Count the candidates of gaoya."""
    return len(_gaoya(list(texts), cores))


def rensa(texts: Sequence[str], cores: int) -> int:
    """Count the candidates of rensa: signatures of shingles joined in Python, and its index."""
    from rensa import RMinHash, RMinHashLSH

    made = RMinHash.from_token_sets(list(map(_shingles, texts)), num_perm=BANDS * ROWS, seed=SEED)
    index = RMinHashLSH(threshold=LEAST, num_perm=BANDS * ROWS, num_bands=BANDS)
    index.insert_pairs(list(enumerate(made)))
    return _count(enumerate(index.query_all(made)))


def datasketch(texts: Sequence[str], cores: int) -> int:
    """Count the candidates of datasketch, which has one thread."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    tokens = ([piece.encode() for piece in _shingles(text)] for text in texts)
    made = list(MinHash.generator(tokens, num_perm=BANDS * ROWS, seed=SEED))
    with index.insertion_session() as session:
        for number, signature in enumerate(made):
            session.insert(number, signature)
    return _count((number, index.query(signature)) for number, signature in enumerate(made))


def _count(found: Iterator[tuple[int, Sequence[int]]]) -> int:
    """Count the pairs of a document and a later one."""
    return sum(other > number for number, others in found for other in others)


def ours_of_file(path: Path, cores: int) -> int:
    """Count the documents of a file that this package would remove."""
    import neardup_solr

    few = [(str(at), f"some words of a text {at % 2}") for at in range(WARM)]
    neardup_solr.duplicates(few, by="bands", measure="estimate", min_similarity=LEAST)

    def count_removed() -> int:
        found = neardup_solr.duplicates(path, measure="estimate", min_similarity=LEAST)
        return sum(len(cluster.members) - 1 for cluster in found.clusters)

    return _timed(count_removed)


_spent: dict[str, float] = {}


def _timed(work: Callable[[], int]) -> int:
    """Do work, and note its seconds by the clock and by the processors."""
    started, busy = time.perf_counter(), _processor()
    count = work()
    _spent["seconds"] = time.perf_counter() - started
    _spent["processor"] = _processor() - busy
    return count


def _processor() -> float:
    """Seconds of work on all cores, by this process and by those that it started."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def fastdedup(path: Path, cores: int) -> int:
    """Count the documents of a file that fastdedup removes."""
    words = [os.environ[PROGRAM], "fuzzy-dedup", "--json", "-i", str(path), "-o",
             str(path.with_suffix(".unique.jsonl")), "--word-shingles", "--shingle-size", "3",
             "--num-hashes", str(BANDS * ROWS), "--bands", str(BANDS),
             "--rows-per-band", str(ROWS), "-t", str(LEAST)]  # fmt: skip
    _timed(lambda: subprocess.run(words, stdout=subprocess.PIPE, check=True).returncode)
    return _count_lines(path) - _count_lines(path.with_suffix(".unique.jsonl"))


def _count_lines(path: Path) -> int:
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


IN_MEMORY = {"neardup_solr": ours, "gaoya": gaoya, "rensa": rensa, "datasketch": datasketch}
OF_FILES = {"neardup_solr, file": ours_of_file, "fastdedup, file": fastdedup}


def work(task: Task) -> dict[str, Any]:
    """Do the work of a contender on the texts of a file of JSON lines in the task's folder."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: task.cores])
    path = Path(task.folder) / "texts.jsonl"
    if task.name in IN_MEMORY:
        with path.open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
        count_pairs = IN_MEMORY[task.name]
        count_pairs(texts[:WARM], task.cores)  # compiled code is read from its cache
        count = _timed(lambda: count_pairs(texts, task.cores))
    else:
        count = OF_FILES[task.name](path, task.cores)
    return {**_spent, "found": count, "megabytes": {"resident": held("VmHWM") / 2**20}}


def measured(
    sizes: Sequence[int], rounds: int, perform: Callable[[Task], dict[str, Any]]
) -> dict[str, Any]:
    """Run every contender on every corpus by turns, on all cores."""
    runs = []
    for name, most in (("generated", max(sizes)), ("licences", 10_008)):
        slow = set[str]()
        for count in sorted({min(size, most) for size in sizes}):
            with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
                _write(CORPORA[name](count), Path(folder) / "texts.jsonl")
                taken = _run_all(count, folder, rounds, slow, perform)
            slow |= {each for each, done in taken.items() if done[0]["seconds"] > LONG}
            runs.append({"corpus": name, "documents": count, "taken": taken})
    return {"runs": runs}


def _write(texts: Sequence[str], path: Path) -> None:
    with path.open("w", encoding="utf-8") as lines:
        for number, text in enumerate(texts):
            record = {"id": f"d{number}", "text": text}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")


def _run_all(
    count: int, folder: str, rounds: int, slow: set[str], perform: Callable[[Task], dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Run each contender on the same file, by turns."""
    contenders = [each for each in (*IN_MEMORY, *OF_FILES) if each not in slow]
    if PROGRAM not in os.environ:
        contenders.remove("fastdedup, file")
    taken: dict[str, list[dict[str, Any]]] = {each: [] for each in contenders}
    for _ in range(rounds):
        for name, earlier in taken.items():
            if not earlier or earlier[0]["seconds"] < LONG:
                cores = os.cpu_count() or 1
                earlier.append(
                    perform(Task(name=name, documents=count, cores=cores, folder=folder))
                )
    return taken


def sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Tabulate medians, beside those of this package on the same work."""
    rows = []
    for run in found["runs"]:
        medians = {
            name: {figure: statistics.median(one[figure] for one in taken)
                   for figure in ("seconds", "processor", "found")}
            for name, taken in run["taken"].items()
        }  # fmt: skip
        for name, figures in medians.items():
            own = medians["neardup_solr, file" if name.endswith("file") else "neardup_solr"]
            rows.append(
                [run["corpus"], run["documents"], name, figures["seconds"],
                 figures["seconds"] / own["seconds"], figures["processor"],
                 figures["processor"] / own["processor"], int(figures["found"])]
            )  # fmt: skip
    heads = ["corpus", "documents", "", "seconds", "× ours", "processor s", "× ours",
             "pairs, or removed"]  # fmt: skip
    yield "Raw texts to pairs, all cores", results.table(heads, rows)
