"""What a cap on hot bands costs: 10,008 licence texts, of which large families are near-duplicates.

A part of duplicates.py: `python benchmarks/duplicates.py licences`.
"""

from __future__ import annotations

import csv
import gzip
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import neardup_solr
from lib import collection, results
from lib.corpus import DATA
from neardup_solr import Document
from neardup_solr.argument_types import Linkage
from neardup_solr.clusters.components import components
from neardup_solr.clusters.linkage import fold_identical, link
from neardup_solr.measures.pairs import Pairs
from neardup_solr.settings import CAP
from neardup_solr.verbs.duplicates.result import Duplicates

LEAST = 0.8
FORMER = 256  # the cap before it was measured
BANDS, ROWS = 42, 3
CAPS = (64, 128, FORMER, 384, 512, CAP, 20_000)
LINKED = (FORMER, CAP, 20_000)  # caps whose clusters are looked at
LINKAGES: tuple[Linkage, ...] = ("single", "complete")


def measured() -> dict[str, Any]:
    """Recall of the known pairs by cap, and the largest clusters beside those of the truth."""
    texts = collection.licences(1)
    documents = [Document(id=str(at), text=text) for at, text in enumerate(texts.texts)]
    is_alike = texts.similarity >= LEAST
    truth, similarity = texts.pairs[is_alike].astype(np.uint32), texts.similarity[is_alike]
    alike = _matrix(len(documents), truth)
    found: dict[str, Any] = {
        "documents": len(documents),
        "in the file": _in_the_file(),
        "by the own normal form": len(truth),
        "expected": float((1.0 - (1.0 - similarity**ROWS) ** BANDS).mean()),
        "caps": [_by_cap(documents, truth, cap) for cap in CAPS],
        "clusters": [_true_clusters(truth, similarity, alike, name) for name in LINKAGES],
    }
    for name in LINKAGES:
        true = _true_labels(truth, similarity, len(documents), name)
        found["clusters"] += [_found_clusters(documents, true, alike, name, cap) for cap in LINKED]
    return found


def sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The tables of what was measured."""
    heads = ["cap", "candidates", "hot keys", "pairs", "recall", "seconds"]
    rows = [[row[head] for head in heads] for row in found["caps"]]
    yield (
        f"{found['by the own normal form']:,} pairs of Jaccard ≥ {LEAST} ({found['in the file']:,}"
        f" in the file, by its own normal form); the S-curve expects {found['expected']:.6f}",
        results.table(heads, rows),
    )
    heads = ["pairs by", "linkage", "clusters", "documents", "co-clustered as in truth",
             "largest", "of its pairs alike", "pairs"]  # fmt: skip
    rows = [[row[head] for head in heads] for row in found["clusters"]]
    yield "Clusters", results.table(heads, rows)


def _in_the_file() -> int:
    path = DATA / "licences" / "jaccard3_pairs_ge_0.8.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return sum(1 for _ in csv.reader(rows, delimiter="\t")) - 1


def _run(documents: list[Document], cap: int, name: Linkage = "single") -> Duplicates:
    return neardup_solr.duplicates(
        documents, by="bands", measure="jaccard", min_similarity=LEAST, cap=cap, linkage=name
    )


def _by_cap(documents: list[Document], truth: Pairs, cap: int) -> dict[str, Any]:
    started = time.perf_counter()
    found = _run(documents, cap)
    pairs = _pairs(found)
    return {
        "cap": cap,
        "candidates": found.candidates,
        "hot keys": found.hot_keys,
        "pairs": len(pairs),
        "recall": f"{_share(truth, pairs, len(documents)):.5f}",
        "seconds": time.perf_counter() - started,
    }


def _pairs(found: Duplicates) -> Pairs:
    rows = [sorted((int(pair.id), int(pair.other_id))) for pair in found.pairs]
    return np.array(rows, dtype=np.uint32).reshape(-1, 2)


def _share(wanted: Pairs, found: Pairs, documents: int) -> float:
    """The share of the pairs that are among those found."""
    return float(np.mean(_matrix(documents, found)[wanted[:, 0], wanted[:, 1]]))


def _matrix(documents: int, pairs: Pairs) -> NDArray[np.bool_]:
    is_pair = np.zeros((documents, documents), dtype=np.bool_)
    is_pair[pairs[:, 0], pairs[:, 1]] = True
    is_pair[pairs[:, 1], pairs[:, 0]] = True
    return is_pair


def _true_labels(
    truth: Pairs, similarity: NDArray[np.float64], documents: int, name: str
) -> NDArray[np.int64]:
    stand_ins = components(documents, truth[similarity >= 1.0])
    nearest = fold_identical(truth, similarity, stand_ins)
    return link(name, documents, *nearest)[stand_ins]


def _true_clusters(
    truth: Pairs, similarity: NDArray[np.float64], alike: NDArray[np.bool_], name: str
) -> dict[str, Any]:
    labels = _true_labels(truth, similarity, len(alike), name)
    return _clusters("truth", name, labels, labels, alike) | {"pairs": len(truth)}


def _found_clusters(
    documents: list[Document],
    true: NDArray[np.int64],
    alike: NDArray[np.bool_],
    name: Linkage,
    cap: int,
) -> dict[str, Any]:
    found = _run(documents, cap, name)
    labels = np.arange(len(documents))
    for cluster in found.clusters:
        rows = [int(member.id) for member in cluster.members]
        labels[rows] = min(rows)
    return _clusters(f"cap {cap:,}", name, labels, true, alike) | {"pairs": len(found.pairs)}


def _clusters(
    by: str,
    name: str,
    labels: NDArray[np.int64],
    true: NDArray[np.int64],
    alike: NDArray[np.bool_],
) -> dict[str, Any]:
    sizes = np.bincount(labels, minlength=len(labels))
    largest = np.flatnonzero(labels == sizes.argmax())
    inside = alike[np.ix_(largest, largest)].sum() / (len(largest) * (len(largest) - 1))
    return {
        "pairs by": by,
        "linkage": name,
        "clusters": int((sizes > 1).sum()),
        "documents": int(sizes[sizes > 1].sum()),
        "co-clustered as in truth": f"{_co_clustered(true, labels):.5f}",
        "largest": len(largest),
        "of its pairs alike": float(inside),
    }


def _co_clustered(true: NDArray[np.int64], labels: NDArray[np.int64]) -> float:
    """The share of the pairs of documents of one true cluster that are of one found cluster."""

    def pairs(of: NDArray[np.int64]) -> int:
        counts = np.unique(of, return_counts=True)[1]
        return int((counts * (counts - 1) // 2).sum())

    return pairs(true * len(labels) + labels) / pairs(true)
