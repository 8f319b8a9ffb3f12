"""What it costs to look in each batch for what its update would lose: annotate with and without.

    python benchmarks/losses.py [--documents 10000] [--rounds 6]

The same documents are annotated (`which="all"`) in turns with the look at each batch and without
it, in one process: in a schema with nested documents and copied texts, in one like it whose update
chain makes all updates atomic, and in a plain one. A ratio is the median of the times with the
look, by that of the times without it. Results go to losses.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import pysolr
from lib import results
from lib.corpus import corpus
from lib.solr import running_solr

sys.path.insert(0, str(Path(__file__).parents[1]))

from neardup_solr import annotate
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core
from neardup_solr.verbs.losses import LossCheck
from tests.solr import theirs

TRIMMING = '<processor class="solr.TrimFieldUpdateProcessorFactory"/>'
PAGE = 1_000


def main() -> None:
    """Measure each schema, print the ratios and keep them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    found: dict[str, Any] = {"conditions": results.conditions(), **vars(options), "schemas": {}}
    with running_solr() as base:
        places = {
            "nested, with copies": theirs.collection(),
            "the same, atomic updates": theirs.collection(processors=TRIMMING),
            "plain": fresh_core(base),
        }
        for name, place in places.items():
            with place as solr:
                _fill(solr, options.documents, is_plain=name == "plain")
                found["schemas"][name] = _compare(solr, options.rounds)
    heads = ["schema", "documents", "without, s", "with, s", "ratio"]
    rows = [
        [name, options.documents, each["without"], each["with"], each["ratio"]]
        for name, each in found["schemas"].items()
    ]
    results.keep("losses", found, [("annotate, by whether each batch is looked at",
                                    results.table(heads, rows))])  # fmt: skip


def _fill(solr: Collection, count: int, *, is_plain: bool) -> None:
    """Put documents of the corpus into a collection, without our fields."""
    texts = corpus(count, seed=1).documents
    made: list[dict[str, Any]] = theirs.documents(count)
    if is_plain:
        made = [{"id": f"d{at}", "content": text} for at, text in enumerate(texts)]
    for document, text in zip(made, texts, strict=True):
        if "body" in document:
            document["body"] = [text]
    plain = pysolr.Solr(solr.url, timeout=600)
    for at in range(0, count, PAGE):
        plain.add(made[at : at + PAGE])
    plain.commit()


def _compare(solr: Collection, rounds: int) -> dict[str, Any]:
    """Annotate all documents again and again, every other time without the look."""
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    annotate(solr)  # kernels are compiled, caches filled
    for turn in range(2 * rounds):
        name = "with" if turn % 2 else "without"
        with nullcontext() if name == "with" else _unlooked():
            began = time.monotonic()
            annotate(solr, which="all")
            seconds[name].append(time.monotonic() - began)
    middle = {name: median(each) for name, each in seconds.items()}
    return middle | {"ratio": middle["with"] / middle["without"], "seconds": seconds}


@contextmanager
def _unlooked() -> Iterator[None]:
    """Look neither at the schema nor at the documents of a batch."""
    documents = patch.object(LossCheck, "require_none", _versions_of)
    with documents, patch.object(schema, "read_layout", lambda _: b""):
        yield


def _versions_of(check: LossCheck, orders: Any) -> dict[str, int]:
    return {order.id: order.version for order in orders}


if __name__ == "__main__":
    main()
