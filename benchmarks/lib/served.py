"""Whole-collection reports of a collection in Solr; parts of duplicates.py."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import requests

import neardup_solr
from lib import results
from lib.corpus import corpus
from lib.solr import BANDS_ONLY, FIELDS, running_solr
from lib.wholes import Peak
from neardup_solr import Document
from neardup_solr.argument_types import MeasureName
from neardup_solr.candidates import Candidates
from neardup_solr.measures.pairs import Pairs
from neardup_solr.memory import Spill
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core
from neardup_solr.verbs.duplicates.candidate_pairs import find_candidates
from neardup_solr.verbs.duplicates.comparison import Comparison
from neardup_solr.verbs.duplicates.corpus import read_corpus
from neardup_solr.verbs.duplicates.plan import make_plan
from neardup_solr.verbs.duplicates.request import DuplicatesRequest
from neardup_solr.verbs.duplicates.result import Duplicates
from neardup_solr.verbs.mark import Marks

PAIRS_A_DOCUMENT = 17.5  # 7 million pairs of 400,000 documents
Sections = Iterator[tuple[str, str]]


@contextmanager
def _collection(count: int) -> Iterator[Collection]:
    """The corpus in a core of its own."""
    with _served(_documents(count)) as solr:
        yield solr


def _documents(count: int) -> list[Document]:
    texts = corpus(count, 1).documents
    return [Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]


@contextmanager
def _served(documents: Sequence[Document]) -> Iterator[Collection]:
    """Documents in a core of their own."""
    with running_solr() as base, fresh_core(base) as solr:
        neardup_solr.index(documents, solr, settings=FIELDS[BANDS_ONLY])
        count = len(documents)
        assert solr.count() == count, f"{solr.count()} of {count} arrived"
        yield solr


def _candidates(solr: Collection, spill: Spill) -> tuple[Comparison, Candidates]:
    """What `duplicates` does before it compares."""
    plan = make_plan(DuplicatesRequest(solr))
    documents = read_corpus(plan, spill)
    return Comparison.of(plan, documents), find_candidates(plan, documents, "bands")


def _plain(solr: Collection) -> dict[str, Any]:
    params = {"q": "*:*", "sort": "id asc", "fl": "id,signature"}
    size = 0
    with requests.get(f"{solr.url}/export", params=params, stream=True, timeout=600) as answer:
        answer.raise_for_status()
        for piece in answer.iter_content(1 << 16):
            size += len(piece)
    return {"bytes": size}


def _joined(solr: Collection) -> dict[str, Any]:
    with Spill() as spill:
        found = _candidates(solr, spill)[1]
    return {"candidates": len(found.pairs), "hot keys": found.hot_keys}


def _whole(measure: MeasureName) -> Callable[[Collection], dict[str, Any]]:
    def whole(solr: Collection) -> dict[str, Any]:
        found = neardup_solr.duplicates(solr, by="bands", measure=measure)
        assert found.complete, found.gaps
        return {"pairs": len(found.pairs), "clusters": len(found.clusters)}

    return whole


_WAYS: dict[str, Callable[[Collection], dict[str, Any]]] = {
    "plain export": _plain,
    "candidates": _joined,
    "duplicates, estimate": _whole("estimate"),
    "duplicates, words": _whole("words"),
}


def beside_export(options: argparse.Namespace) -> dict[str, Any]:
    """Medians of the plain export, of all candidates, and of the whole report, in turns."""
    seconds: dict[str, list[float]] = {name: [] for name in _WAYS}
    facts: dict[str, Any] = {}
    with _collection(options.documents[0]) as solr:
        for way in _WAYS.values():  # compiled code, Java's and ours; files in the system's cache
            way(solr)
        for number in range(options.rounds):
            for name in list(_WAYS)[:: 1 if number % 2 == 0 else -1]:
                started = time.perf_counter()
                facts[name] = _WAYS[name](solr)
                seconds[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(runs) for name, runs in seconds.items()}
    return {"seconds": seconds, "medians": medians, "facts": facts}


def export_sections(found: dict[str, Any]) -> Sections:
    """The table of `beside_export`."""
    plain = found["medians"]["plain export"]
    rows = [
        [name, median, median / plain, _listed(found["facts"][name])]
        for name, median in found["medians"].items()
    ]
    heads = ["", "seconds", "× plain export", ""]
    yield f"{found['documents'][0]:,} documents in Solr", results.table(heads, rows)


def _listed(facts: dict[str, Any]) -> str:
    return ", ".join(f"{value:,} {name}" for name, value in facts.items())


def verified(options: argparse.Namespace) -> dict[str, Any]:
    """The candidates and random pairs, so many a document, compared by words."""
    count = options.documents[0]
    peak = Peak()
    with _collection(count) as solr, Spill() as spill:
        comparison, found = _candidates(solr, spill)
        pairs = _filled(found.pairs, count, round(PAIRS_A_DOCUMENT * count))
        comparison.verify(pairs[:1000])
        with peak.watched():
            started = time.perf_counter()
            near = comparison.verify(pairs)
            seconds = time.perf_counter() - started
    return {
        "candidates": len(found.pairs),
        "compared": len(pairs),
        "verified": len(near.pairs),
        "seconds": seconds,
        "megabytes": peak.megabytes(),
    }


def _filled(pairs: Pairs, documents: int, wanted: int) -> Pairs:
    """The candidates, and random pairs within windows of 2,000 documents up to `wanted` in all.

    Candidates come ordered by component, so that a text is fetched about once; random pairs over
    all documents are one component, and would fetch every text again for each block of pairs.
    """
    lacking = max(0, wanted - len(pairs))
    rng = np.random.default_rng(1)
    first = rng.integers(0, documents, lacking)
    start = first - first % 2000
    second = np.minimum(start + rng.integers(0, 2000, lacking), documents - 1)
    drawn = np.sort(np.stack([first, second], axis=1), axis=1).astype(np.uint32)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    return np.unique(np.concatenate([pairs, drawn]), axis=0)


def verified_sections(found: dict[str, Any]) -> Sections:
    """The table of `verified`."""
    heads = ["candidates", "compared", "near-duplicates", "seconds", "MB", "MB without files"]
    size = found["megabytes"]
    row = [found["candidates"], found["compared"], found["verified"], found["seconds"],
           size["resident"], size["anonymous"]]  # fmt: skip
    title = f"{found['documents'][0]:,} documents, pairs compared by words, texts from Solr"
    yield title, results.table(heads, [row])


NEW = 100  # one document in so many is new each time


def again(options: argparse.Namespace) -> dict[str, Any]:
    """A marked collection gets some new documents: what is new, and all of it again, marks too."""
    count = options.documents[0]
    new = count // NEW
    documents = _documents(count + new * options.rounds)
    runs = []
    with tempfile.TemporaryDirectory() as folder, _served(documents[:count]) as solr:
        known = Path(folder) / "known"
        started = time.perf_counter()
        first = _marked(solr, remember=known)
        took = {"first": time.perf_counter() - started, "file": known.stat().st_size}
        for at in range(count, len(documents), new):
            neardup_solr.index(documents[at : at + new], solr, settings=FIELDS[BANDS_ONLY])
            started = time.perf_counter()
            found, made = _marked(solr, remember=known)
            between = time.perf_counter()
            full, marks = _marked(solr)
            ended = time.perf_counter()
            assert (found.pairs, found.clusters) == (full.pairs, full.clusters)
            assert (marks.marked, marks.cleared, found.complete) == (0, 0, True)
            since = found.since
            assert since is not None
            assert since.reason == ""
            runs.append(
                {
                    "seconds": between - started, "full": ended - between,
                    "candidates": found.candidates, "reused": since.reused, "came": since.came,
                    "changed": since.changed, "pairs": len(found.pairs), "marked": made.marked,
                }
            )  # fmt: skip
    return {"first": took, "marked": first[1].marked, "runs": runs}


def _marked(solr: Collection, remember: Path | None = None) -> tuple[Duplicates, Marks]:
    found = neardup_solr.duplicates(solr, by="bands", remember=remember)
    return found, neardup_solr.mark(solr, found)


def again_sections(found: dict[str, Any]) -> Sections:
    """The table of `again`."""
    columns = ["came", "changed", "candidates", "reused", "pairs", "marked", "seconds", "full"]
    rows = [
        [*(run[name] for name in columns), run["seconds"] / run["full"]] for run in found["runs"]
    ]
    count, first = found["documents"][0], found["first"]
    title = f"{count:,} documents in Solr, marked, then some new ones, time after time"
    heads = [*columns[:-1], "seconds of a full run", "share"]
    share = statistics.median(run["seconds"] / run["full"] for run in found["runs"])
    told = (
        f"First run, with {found['marked']:,} documents marked: {first['first']:.1f} s; it is"
        f" remembered in {first['file'] / 1e6:.0f} MB. Median share: {share:.3f}. Pairs, clusters"
        " and marks were those of the full run each time."
    )
    yield title, f"{results.table(heads, rows)}\n\n{told}"
