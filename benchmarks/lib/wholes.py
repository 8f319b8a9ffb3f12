"""Whole-collection reports without a server; parts of duplicates.py, each run in a fresh process.

`work(task)` does one task in this process; it is called in spawned ones, so that peaks of memory
are the task's own.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import neardup_solr
from lib import draws
from lib.contenders import BANDS, HASHES, ROWS
from lib.corpus import corpus
from neardup_solr.candidates import Joining
from neardup_solr.candidates.by_band import band_candidates
from neardup_solr.clusters.components import components
from neardup_solr.measures.pairs import Pairs
from neardup_solr.measures.sets import estimate_pairs
from neardup_solr.memory import Spill
from neardup_solr.minhash.sign import sign
from neardup_solr.settings import Settings

LEAST = 0.5
MEGABYTE = 2**20
COPIES, REPLACED = 0.10, 0.15  # of the synthetic signatures, of the values of a copy
AT_ONCE = 1 << 17  # synthetic signatures


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A piece of work by name, on so many documents and cores, with so many bytes of memory."""

    name: str
    documents: int
    cores: int = 2
    memory: int | None = None
    folder: str = ""


class Peak:
    """The most memory this process held while watched: in all, and of it what is no file's.

    Pages of a memory-mapped file count in all, but the machine takes them back when it needs them.
    """

    def __init__(self) -> None:
        self.anonymous = 0
        self._ended = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Look twenty times a second."""
        watcher = threading.Thread(target=self._watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._ended.set()
            watcher.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            self.anonymous = max(self.anonymous, held("RssAnon"))

    def megabytes(self) -> dict[str, float]:
        """Both peaks."""
        return {"anonymous": self.anonymous / MEGABYTE, "resident": held("VmHWM") / MEGABYTE}


def held(name: str) -> int:
    """Bytes of this process by a name in /proc/self/status (Linux)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition(f"{name}:")[2].split()[0]) * 1024


def work(task: Task) -> dict[str, Any]:
    """What a task gives: seconds, peaks of memory in megabytes, and its own figures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: task.cores])
    peak = Peak()
    with peak.watched():
        found = _WORK[task.name](task)
    return found | {"megabytes": peak.megabytes()}


# From raw texts in memory to all candidate pairs. Without boilerplate, or their number would be a
# matter of which hashes are drawn (`draws`), and no two contenders would do the same work.


def _ours(texts: list[str], cores: int) -> Pairs:
    signed = sign(texts, Settings(), threads=cores)
    return band_candidates(signed.signatures, Settings(), joining=Joining(threads=cores)).pairs


def _gaoya(texts: list[str], cores: int) -> Pairs:
    """gaoya in an index of 42 bands of 3, asked for every document: it hashes each one again.

    A threshold of 0 is asked for, so that it gives candidates as we do.
    """
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=0.0, num_bands=BANDS, band_size=ROWS,
        num_hashes=BANDS * ROWS, analyzer="word", lowercase=True, ngram_range=(3, 3),
        id_container="smallvec",
    )  # fmt: skip
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    found = index.par_bulk_query(texts)
    sizes = np.fromiter(map(len, found), np.int64, len(found))
    others = np.fromiter((other for row in found for other in row), np.uint32, int(sizes.sum()))
    pairs = np.stack([np.repeat(np.arange(len(texts), dtype=np.uint32), sizes), others], axis=1)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _joined(of: Callable[[list[str], int], Pairs]) -> Callable[[Task], dict[str, Any]]:
    def joined(task: Task) -> dict[str, Any]:
        made = corpus(task.documents, 1, boilerplate=False)
        of(made.documents[:200], task.cores)  # compiled code is read from its cache
        started = time.perf_counter()
        pairs = of(made.documents, task.cores)
        seconds = time.perf_counter() - started
        planted = np.array([sorted((one.first, one.second)) for one in made.planted])
        similarity = np.array([one.similarity for one in made.planted])
        is_found = np.isin(_numbers(planted), _numbers(pairs))
        recalls = {str(least): float(is_found[similarity >= least].mean()) for least in (0.5, 0.8)}
        curve = 1.0 - (1.0 - similarity**ROWS) ** BANDS
        expected = {str(least): float(curve[similarity >= least].mean()) for least in (0.5, 0.8)}
        return {"seconds": seconds, "pairs": len(pairs), "recall": recalls, "expected": expected}

    return joined


def _numbers(pairs: NDArray[Any]) -> NDArray[np.uint64]:
    return pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1].astype(np.uint64)


# duplicates of a file, stage by stage.


def write_jsonl(path: Path, count: int) -> None:
    """The corpus as a file of JSON Lines."""
    with path.open("w", encoding="utf-8") as lines:
        for at, text in enumerate(corpus(count, 1).documents):
            lines.write(json.dumps({"id": str(at), "text": text}, ensure_ascii=False) + "\n")


class Stages:
    """Seconds from the end of one stage to the end of the next; the last one is the grouping."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._ends: dict[str, float] = {}

    def tell(self, told: neardup_solr.types.Progress) -> None:
        """Take note of progress."""
        self._ends[told.stage] = time.perf_counter()

    def seconds(self) -> dict[str, float]:
        """Of each stage."""
        ends = self._ends | {"grouping": time.perf_counter()}
        starts = [self._started, *list(ends.values())[:-1]]
        return {name: end - start for (name, end), start in zip(ends.items(), starts, strict=True)}


def _growth(task: Task) -> dict[str, Any]:
    few = [(str(at), f"some words of a text {at % 2}") for at in range(200)]
    neardup_solr.duplicates(few, by="bands")  # compiled code is read from its cache
    stages = Stages()
    tempfile.tempdir = str(task.folder)
    os.environ["NEARDUP_MEMORY"] = str(task.memory or "")
    found = neardup_solr.duplicates(
        Path(task.folder) / f"{task.documents}.jsonl",
        on_progress=stages.tell,
    )
    seconds = stages.seconds()
    return {
        "documents": task.documents,
        "stages": seconds,
        "seconds": sum(seconds.values()),
        "candidates": found.candidates,
        "pairs": len(found.pairs),
        "clusters": len(found.clusters),
        "hot keys": found.hot_keys,
    }


def plot(runs: Sequence[dict[str, Any]], path: Path) -> None:
    """Seconds by stage, stacked, and the peak of memory, over the number of documents."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    documents = [run["documents"] / 1000 for run in runs]
    stages = list(runs[0]["stages"])
    left.stackplot(
        documents, [[run["stages"].get(name, 0.0) for run in runs] for name in stages],
        labels=stages, colors=["#4c78a8", "#9ecae9", "#54a24b", "#f58518", "#ffbf79"],
    )  # fmt: skip
    left.set(title="seconds", ylim=0)
    left.legend(loc="upper left", frameon=False, reverse=True)
    for kind, colour, says in (
        ("resident", "#9ecae9", "with pages of files"),
        ("anonymous", "#4c78a8", "without"),
    ):
        heights = [run["megabytes"][kind] / 1024 for run in runs]
        right.plot(documents, heights, "o-", color=colour, label=says)
    right.set(title="peak memory, GB", ylim=0)
    right.legend(loc="lower right", frameon=False)
    for axes in (left, right):
        axes.set(xlabel="thousands of documents", xlim=(0, 1.03 * documents[-1]))
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


# Millions of synthetic signatures in bounded memory.


def synthetic(count: int, seed: int) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
    """Blocks of random signatures, and for each row its model in the block (-1: it has none)."""
    rng = np.random.default_rng(seed)
    for start in range(0, count, AT_ONCE):
        size = min(AT_ONCE, count - start)
        block = rng.integers(0, 2**32, (size, HASHES), dtype=np.uint32)
        models = np.full(size, -1)
        copies = np.arange(size - round(size * COPIES), size)
        models[copies] = rng.integers(0, copies[0], len(copies))
        is_own = rng.random((len(copies), HASHES), dtype=np.float32) < REPLACED
        block[copies] = np.where(is_own, block[copies], block[models[copies]])
        yield block, np.where(models < 0, -1, models + start)


def _large(task: Task) -> dict[str, Any]:
    settings, seconds, models = Settings(), {}, []
    clock = [time.perf_counter()]

    def took(stage: str) -> None:
        clock.append(time.perf_counter())
        seconds[stage] = clock[-1] - clock[-2]
        peaks[stage] = held("RssAnon") / MEGABYTE

    peaks: dict[str, float] = {}
    tempfile.tempdir = str(task.folder)
    with Spill(memory=task.memory) as spill:
        rows = spill.rows(HASHES, np.uint32)
        for block, model in synthetic(task.documents, 1):
            rows.append(block)
            models.append(model)
        table = rows.table()
        del block
        took("reading")
        joining = Joining(memory=spill.share, threads=task.cores)
        found = band_candidates(table, settings, joining=joining)
        took("joining")
        similarity = estimate_pairs(table, found.pairs)
        pairs = found.pairs[similarity >= LEAST]
        took("estimating")
        labels = components(task.documents, pairs)
        took("components")
    model_of = np.concatenate(models)
    copies = np.flatnonzero(model_of >= 0)
    planted = np.stack([model_of[copies], copies], axis=1)
    recall = np.isin(_numbers(planted), _numbers(found.pairs)).mean()
    share = 1.0 - REPLACED
    return {
        "documents": task.documents,
        "memory": task.memory,
        "stages": seconds,
        "anonymous after": peaks,
        "seconds": sum(seconds.values()),
        "candidates": len(found.pairs),
        "pairs": len(pairs),
        "clusters": int((np.bincount(labels) > 1).sum()),
        "planted": len(planted),
        "recall": float(recall),
        "expected": 1.0 - (1.0 - share**ROWS) ** BANDS,
    }


_WORK: dict[str, Callable[[Task], dict[str, Any]]] = {
    "neardup_solr": _joined(_ours),
    "gaoya": _joined(_gaoya),
    "draws": draws.work,
    "growth": _growth,
    "large": _large,
}
