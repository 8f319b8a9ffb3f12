"""SolrCloud beside a Solr of its own: indexing, searches and exports of the same documents.

    python benchmarks/cloud.py [--documents 100000] [--asked 1000] [--shards 2]

An embedded Solr and an embedded SolrCloud, of as many nodes as there are shards, each in a
temporary folder on this machine. Both get the same documents, are asked in turns, and exported in
turns. Results go to cloud.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import corpus
from lib.solr import BANDS_ONLY, FIELDS, running_solr

import neardup_solr as nd
from neardup_solr.embedded.layout import Layout, find_layout
from neardup_solr.solr.collection import Collection
from tests.solr import nodes as cloud

ROUNDS = 5  # exports
WARMING = 200  # searches before anything is measured


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=1_000)
    parser.add_argument("--shards", type=int, default=2)
    options = parser.parse_args()
    texts = corpus(options.documents + options.asked, 1).documents
    documents = [nd.Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]
    old, asked = documents[: options.documents], texts[options.documents :]
    gc.freeze()
    found: dict[str, Any] = {"conditions": results.conditions(), **vars(options)}
    with running_cloud(options.shards) as address, running_solr() as base:
        alone = nd.connect(base, "alone")
        nd.init(alone)
        parted = nd.connect(address, "parted")
        nd.init(parted, shards=options.shards)
        _index(parted, old[:5_000])  # warm both
        _index(alone, old[:5_000])
        found["indexing"] = {
            "a Solr of its own": _index(alone, old),
            "the cloud": _index(parted, old),
        }
        found["searching"] = _search({"alone": alone, "cloud": parted}, asked)
        found["exporting"] = _export({"alone": alone, "cloud": parted})
    results.keep("cloud", found, list(_sections(found)))


@contextmanager
def running_cloud(nodes: int) -> Iterator[str]:
    """The address of an embedded SolrCloud in a temporary folder."""
    jars = find_layout().jars.parent
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        (Path(folder) / jars.name).symlink_to(jars)
        place = Layout(home=Path(folder))
        try:
            yield cloud.start(place, nodes, "1g", print).url
        finally:
            cloud.stop(place, nodes, timeout=5)


def _index(solr: Collection, documents: Sequence[nd.Document]) -> float:
    """Documents a second."""
    started = time.perf_counter()
    nd.index(documents, solr, settings=FIELDS[BANDS_ONLY])
    return len(documents) / (time.perf_counter() - started)


def _search(of: dict[str, Collection], asked: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each search by bands; all are asked the same, in turns."""
    taken: dict[str, list[float]] = {name: [] for name in of}
    for at, text in enumerate(asked):
        matched = []
        for name, solr in of.items():
            started = time.perf_counter()
            found = nd.search(solr, text=text, by="bands")
            if at >= WARMING:
                taken[name].append(1000 * (time.perf_counter() - started))
            matched.append([(one.id, one.distance) for one in found])
        assert matched[0] == matched[1]
    return taken


def _export(of: dict[str, Collection]) -> dict[str, list[float]]:
    """Documents a second of exports of id and signature, in turns."""
    rates: dict[str, list[float]] = {name: [] for name in of}
    for _ in range(ROUNDS):
        for name, solr in of.items():
            started = time.perf_counter()
            count = sum(map(len, solr.exported(["id", "signature"])))
            rates[name].append(count / (time.perf_counter() - started))
    return rates


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    shown = f"{found['documents']:,} documents, {found['shards']} shards"
    own = found["indexing"]["a Solr of its own"]
    rows: list[list[object]] = [
        [name, f"{rate:,.0f}", f"{rate / own:.2f}"] for name, rate in found["indexing"].items()
    ]
    yield f"Indexing, {shown}", results.table(["into", "documents/s", "ratio"], rows)
    lines: list[list[object]] = []
    for name, times in found["searching"].items():
        cut = statistics.quantiles(times, n=20)
        lines.append([name, f"{statistics.median(times):.1f}", f"{cut[18]:.1f}"])
    yield f"Search by bands, {shown}, ms", results.table(["", "p50", "p95"], lines)
    exports: list[list[object]] = [
        [name, f"{statistics.median(rates):,.0f}"] for name, rates in found["exporting"].items()
    ]
    yield f"Export of id and signature, {shown}", results.table(["", "documents/s"], exports)


if __name__ == "__main__":
    main()
