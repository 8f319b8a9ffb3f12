"""How fast documents are indexed: this package beside posting ready-made JSON to the same Solr.

    python benchmarks/indexing.py [--documents 100000] [--rounds 2] [--large 400000]

The embedded Solr runs in a temporary folder; every run gets a fresh core and fresh client
process. "Ready-made" are the very same documents, encoded beforehand, in the same batches and by
as many threads, over plain keep-alive sessions of requests. "Fire-and-forget" encodes and sends as
`index` does, looks at no answer, keeps no checkpoint, and commits once at the end: beside it shows
what safety costs. "Clean" and "bad" are the same documents from a JSONL file with a job; in the bad
file one line in a hundred is malformed, and becomes a dead letter. All take turns, and the order
turns around from round to round. Results go to indexing.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from lib import results
from lib.corpus import corpus
from lib.solr import BANDS_ONLY, FIELDS, running_solr

import neardup_solr
from neardup_solr.minhash import encode_documents
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr import collection
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core

BATCH, THREADS = 500, 2  # as `index` has them by default
BAD_EVERY = 100
Seconds = dict[str, float]


@dataclass(frozen=True, slots=True)
class Task:
    """A run: `work` on `count` documents of the corpus, with these fields, into a core."""

    work: str
    fields: str
    count: int
    base: str
    core: str


def main() -> None:
    """Measure everything, print it and keep it."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": options.documents}
    with running_solr() as base:
        _run(base, "index", BANDS_ONLY, options.documents // 5)  # Java compiles as it runs
        for fields in FIELDS:
            found[fields] = _compare(base, fields, options)
        if options.large:
            found["large"] = _run(base, "index", BANDS_ONLY, options.large)
            found["large"]["documents"] = options.large
    results.keep("indexing", found, list(_sections(found)))


def _compare(base: str, fields: str, options: argparse.Namespace) -> dict[str, Any]:
    """Median documents a second of both ways, and the ratio; the client's own cost."""
    works = ("index", "ready-made", "forget", "clean", "bad")
    taken: dict[str, list[Seconds]] = {work: [] for work in works}
    for number in range(options.rounds):
        for work in list(taken)[:: 1 if number % 2 == 0 else -1]:
            taken[work].append(_run(base, work, fields, options.documents))
    alone = _run(base, "encode", fields, options.documents)
    medians = {work: statistics.median(run["seconds"] for run in taken[work]) for work in taken}
    return {
        "runs": taken,
        "ratio": medians["ready-made"] / medians["index"],
        "safety": medians["forget"] / medians["index"],
        "bad": medians["clean"] / medians["bad"],
        "documents_per_second": {work: options.documents / medians[work] for work in medians},
        "encoding": alone,
    }


def _run(base: str, work: str, fields: str, count: int) -> Seconds:
    """One run in a fresh process, into a fresh core that is dropped afterwards."""
    with fresh_core(base) as solr:
        task = Task(work, fields, count, base, solr.name)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            taken = pool.apply(perform, [task])
        arrived = {"encode": 0, "bad": count - count // BAD_EVERY}.get(work, count)
        assert solr.count() == arrived, f"{solr.count()} of {arrived} arrived"
    print(work, fields, count, taken, file=sys.stderr, flush=True)
    return taken


def perform(task: Task) -> Seconds:
    """Seconds by the clock, and of this process on the processors, that a task takes."""
    texts = corpus(task.count, seed=1).documents
    documents = [Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]
    settings = FIELDS[task.fields]
    encode_documents(documents[:100], settings)  # compiled code is read from its cache
    work = _WORK[task.work](documents, settings, collection.open_collection(task.base, task.core))
    started, busy = time.perf_counter(), time.process_time()
    work()
    return {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - busy,
    }


def _index(documents: list[Document], settings: Settings, solr: Collection) -> Callable[[], object]:
    return lambda: neardup_solr.index(documents, solr, settings=settings)


def _clean(documents: list[Document], settings: Settings, solr: Collection) -> Callable[[], object]:
    return _of_file(documents, settings, solr, bad_every=0)


def _bad(documents: list[Document], settings: Settings, solr: Collection) -> Callable[[], object]:
    return _of_file(documents, settings, solr, bad_every=BAD_EVERY)


def _of_file(
    documents: list[Document], settings: Settings, solr: Collection, *, bad_every: int
) -> Callable[[], object]:
    """Index a JSONL file as a job; every `bad_every`-th line is cut off."""
    folder = Path(tempfile.mkdtemp(prefix="neardup_"))
    path = folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, one in enumerate(documents, 1):
            line = json.dumps({"id": one.id, "text": one.text}, ensure_ascii=False)
            is_bad = bad_every and number % bad_every == 0
            file.write((line[:-2] if is_bad else line) + "\n")

    def work() -> None:
        neardup_solr.index(
            path, solr, settings=settings, job=folder / "job", on_error=lambda _: None
        )
        shutil.rmtree(folder)

    return work


def _ready_made(
    documents: list[Document], settings: Settings, solr: Collection
) -> Callable[[], object]:
    bodies = [
        b"[" + b",".join(encode_documents(batch, settings)) + b"]" for batch in _batches(documents)
    ]
    return lambda: _post_all(bodies, solr.url)


def _post_all(bodies: Sequence[bytes], url: str) -> None:
    """Post bodies by threads, each with a session of its own, and commit."""

    def post(own: Sequence[bytes]) -> None:
        with requests.Session() as session:
            for body in own:
                _posted(session, url, body)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(post, [bodies[at::THREADS] for at in range(THREADS)]))
    with requests.Session() as session:
        _posted(session, url, json.dumps({"commit": {"waitSearcher": True}}).encode())


def _forget(
    documents: list[Document], settings: Settings, solr: Collection
) -> Callable[[], object]:
    url, kind = f"{solr.url}/update", {"Content-Type": "application/json"}

    def work() -> None:
        waiting: deque[Future[requests.Response]] = deque()
        with ThreadPoolExecutor(THREADS) as pool, requests.Session() as session:
            for batch in _batches(documents):
                body = b"[" + b",".join(encode_documents(batch, settings)) + b"]"
                if len(waiting) > THREADS:
                    waiting.popleft().result()
                waiting.append(pool.submit(session.post, url, data=body, headers=kind, timeout=600))
            while waiting:
                waiting.popleft().result()
            _posted(session, solr.url, json.dumps({"commit": {"waitSearcher": True}}).encode())

    return work


def _posted(session: requests.Session, url: str, body: bytes) -> None:
    answer = session.post(
        f"{url}/update", data=body, headers={"Content-Type": "application/json"}, timeout=600
    )
    answer.raise_for_status()
    assert answer.json()["responseHeader"]["status"] == 0


def _encode(
    documents: list[Document], settings: Settings, solr: Collection
) -> Callable[[], object]:
    def work() -> None:
        for batch in _batches(documents):
            encode_documents(batch, settings)

    return work


_WORK: dict[str, Callable[[list[Document], Settings, Collection], Callable[[], object]]] = {
    "index": _index,
    "ready-made": _ready_made,
    "forget": _forget,
    "clean": _clean,
    "bad": _bad,
    "encode": _encode,
}


def _batches(documents: list[Document]) -> Iterator[list[Document]]:
    for at in range(0, len(documents), BATCH):
        yield documents[at : at + BATCH]


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    count = found["documents"]
    rows = []
    for fields in FIELDS:
        run = found[fields]
        speed, alone = run["documents_per_second"], run["encoding"]
        rows.append(
            [
                fields, speed["index"], speed["ready-made"], run["ratio"],
                run["safety"], run["bad"],
                alone["seconds"] / count * 1e6, _processor(run, "index", count),
                _processor(run, "ready-made", count),
            ]
        )  # fmt: skip
    heads = [
        "fields", "index, documents/s", "ready-made JSON, documents/s", "ratio",
        "beside fire-and-forget", "1 % bad beside clean",
        "encoding alone, µs a document", "client's processor µs", "of it when ready-made",
    ]  # fmt: skip
    yield (
        f"{count:,} documents, {THREADS} senders, batches of {BATCH:,}",
        results.table(heads, rows),
    )
    if "large" in found:
        large = found["large"]
        row = [large["documents"], large["seconds"], large["documents"] / large["seconds"]]
        body = results.table(["documents", "seconds", "documents/s"], [row])
        yield f"{BANDS_ONLY}, for orientation", body


def _processor(run: dict[str, Any], work: str, count: int) -> float:
    seconds: float = statistics.median(one["processor"] for one in run["runs"][work])
    return seconds / count * 1e6


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="documents per second into the embedded Solr")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--large", type=int, default=400_000, help="0 leaves that run out")
    return parser.parse_args()


if __name__ == "__main__":
    main()
