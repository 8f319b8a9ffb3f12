"""How fast long texts are indexed by default, beside all the fields that short ones get.

    python benchmarks/indexing_long.py [--documents 100000] [--rounds 1] [--searches 100]

Documents of 200 words into fresh cores of the embedded Solr, the ways in turn. Then some texts, of
which each twentieth word is replaced, are searched: which of their originals are found. Results go
to indexing_long.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

from lib import results
from lib.corpus import growing
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core

WAYS: dict[str, dict[str, Any]] = {
    "shingles and all, as for short texts": {"settings": Settings()},
    "by default": {},
}


def main() -> None:
    """Index by each way in turn, search once by each, and keep everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--searches", type=int, default=100)
    options = parser.parse_args()
    texts = enumerate(growing(options.documents))
    documents = [nd.Document(id=f"d{at}", text=text) for at, text in texts]
    runs: dict[str, list[float]] = {way: [] for way in WAYS}
    searches: dict[str, dict[str, float]] = {}
    found: dict[str, Any] = {"conditions": results.conditions(), "options": vars(options)}
    with running_solr() as base:
        with fresh_core(base) as solr:
            nd.index(documents[: len(documents) // 5], solr)  # Java compiles as it runs
        for turn in range(options.rounds):
            for way, given in WAYS.items():
                with fresh_core(base) as solr:
                    began = time.perf_counter()
                    nd.index(documents, solr, **given)
                    runs[way].append(len(documents) / (time.perf_counter() - began))
                    print(f"{way}: {runs[way][-1]:,.0f} documents/s", flush=True)
                    if turn == 0:
                        searches[way] = _search(solr, documents, options.searches)
    found |= {"runs": runs, "searches": searches}
    results.keep("indexing_long", found, [(f"{options.documents:,} documents", _table(found))])


def _search(solr: Collection, documents: list[nd.Document], count: int) -> dict[str, float]:
    """Search edited texts by the way that is the default: milliseconds, and the share found."""
    found, taken = 0, []
    for one in documents[:: max(1, len(documents) // count)][:count]:
        words = one.text.split()
        words[::20] = ["edited"] * len(words[::20])
        began = time.perf_counter()
        matches = nd.search(solr, text=" ".join(words))
        taken.append(1_000 * (time.perf_counter() - began))
        found += one.id in {match.id for match in matches}
    return {"found": found / len(taken), "ms": statistics.median(taken)}


def _table(found: dict[str, Any]) -> str:
    before = statistics.median(found["runs"][next(iter(WAYS))])
    rows = []
    for way in WAYS:
        rate, told = statistics.median(found["runs"][way]), found["searches"][way]
        rows.append([way, int(rate), rate / before, f"{told['found']:.1%}", told["ms"]])
    return results.table(
        ["fields", "documents/s", "times", "found of edited texts", "ms a search"], rows
    )


if __name__ == "__main__":
    main()
