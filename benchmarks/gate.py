"""The gate, queries by bands, and reports by bands: how long each document takes.

    python benchmarks/gate.py [--documents 40000] [--new 2000] [--asked 4800]
    python benchmarks/gate.py --beside COMMIT [--documents 40000] [--new 2000] [--rounds 3]

A core of so many documents, in the embedded Solr in a temporary folder; new documents of the same
corpus, some of them copies of old ones, go to the gate in batches of several sizes, and its
decisions are held against those that follow from `duplicates`. A hand-written query is the same
{!terms} query over a plain keep-alive session of requests, on bands that are computed beforehand:
with ids alone, with texts, and with texts that are re-ranked as ours are. The ways take turns, and
each asks about documents of its own: Solr keeps the results of such a query by hand, so what one
way has asked would be no work for the next. Results go to gate.md and .json beside this script.

With --beside, one document at a time beside an earlier commit: gate_single.md and .json.
"""

from __future__ import annotations

import argparse
import gc
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np
import orjson
import requests
from lib import results, single
from lib.corpus import corpus
from lib.solr import running_solr
from rapidfuzz.distance import Levenshtein

import neardup_solr as nd
from neardup_solr.minhash import make_entry
from neardup_solr.records import ordered
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import choose_fields
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.report import PAGE, THREADS

FIELDS = Settings(fields=choose_fields("content,content_bands,signature,md5_hash,num_words"))
BOUNDS: dict[str, Any] = {"reject": 0.95, "hold": 0.8, "tag": 0.5}
POLICY = Policy(**BOUNDS)
ROWS = 100  # candidates that a search compares, if it is not told otherwise
BATCHES = (1, 10, 50, 200)
WARMING = 200  # documents, before anything is measured
Pair = tuple[str, str, int | None]


def main() -> None:
    """Measure everything, print it and keep it."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or Solr and its folder would stay
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": options.documents}
    if options.beside:
        found["single"] = single.measured(options, FIELDS, BOUNDS)
        results.keep("gate_single", found, list(single.sections(found)))
        return
    texts = corpus(options.documents + options.new + options.asked, 1).documents
    documents = [nd.Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]
    old, coming = documents[: options.documents], documents[options.documents :]
    new, asked = coming[: options.new], coming[options.new :]
    with running_solr() as base, fresh_core(base) as solr:
        nd.index(old, solr, settings=FIELDS)
        gc.freeze()  # or Python would look through the corpus again and again while others wait
        list(nd.gate(new[:WARMING], solr, **BOUNDS))
        found["gate"] = [_gate(solr, new, batch) for batch in BATCHES]
        found["decisions"] = _decisions(solr, new)
        found["queries"] = _queries(solr, asked)
        found["reports"] = _reports(solr, [one.id for one in old[:: len(old) // 1_000]][:1_000])
    results.keep("gate", found, list(_sections(found)))


def _gate(solr: Collection, new: Sequence[nd.Document], batch: int) -> dict[str, Any]:
    """Milliseconds a document of each batch: those that a batch takes, over its documents."""
    decided = nd.gate(new, solr, **BOUNDS, batch=batch)
    whole = []
    for _ in range(len(new) // batch):
        started = time.perf_counter()
        for _ in range(batch):
            next(decided)
        whole.append((time.perf_counter() - started) * 1e3)
    a_document = [one / batch for one in whole]
    return {
        "batch": batch,
        "a document": _spread(a_document),
        "a batch": _spread(whole),
        "documents/s": 1e3 / statistics.mean(a_document),
    }


def _decisions(solr: Collection, new: Sequence[nd.Document]) -> dict[str, Any]:
    """How many decisions there are of each kind, and how many differ from the whole report's."""
    least = POLICY.limits.min_similarity
    started = time.perf_counter()
    pairs = (
        *nd.duplicates(new, against=solr, min_similarity=least, by="bands").pairs,
        *nd.duplicates(new, settings=FIELDS, min_similarity=least, by="bands").pairs,
    )
    seconds = time.perf_counter() - started
    order = {document.id: number for number, document in enumerate(new)}
    normal = {document.id: normalize(document.text) for document in new}
    near: dict[str, list[nd.Duplicate]] = {id: [] for id in order}
    for pair in pairs:
        later = max(pair.id, pair.other_id, key=lambda id: order.get(id, -1))
        near[later].append(pair)
    texts = solr.texts([pair.other_id for pair in pairs if pair.other_id not in order])
    normal |= {id: normalize(text) for id, text in texts.items()}
    admitted: set[str] = set()
    differing = 0
    counts: Counter[str] = Counter()
    for decision in nd.gate(new, solr, **BOUNDS):
        id = decision.id
        matches = {}
        for pair in near[id]:
            other = pair.other_id if pair.id == id else pair.id
            if other not in order or other in admitted:
                matches[other] = nd.Match(
                    id=other, distance=pair.distance, similarity=pair.similarity,
                    shared=pair.shared, content="",
                )  # fmt: skip
        exact = next((one for other, one in matches.items() if normal[other] == normal[id]), None)
        action, _ = POLICY.judge(list(matches.values()), exact)
        if action in ("allow", "tag"):
            admitted.add(id)
        counts[decision.action] += 1
        differing += (action, matches) != (
            decision.action, {match.id: match for match in decision.matches}
        )  # fmt: skip
    return {"counts": dict(counts), "differing": differing, "seconds of duplicates": seconds}


def _queries(solr: Collection, new: Sequence[nd.Document]) -> dict[str, Any]:
    """Milliseconds of each way, which take turns; no document is asked about twice."""
    session = requests.Session()
    made_entries = [make_entry(document, FIELDS) for document in new]

    def asked(at: int, fields: Sequence[str]) -> Any:
        terms = ",".join(made_entries[at].bands)
        body = {"query": f"{{!terms f=content_bands}}{terms}", "fields": fields, "limit": ROWS}
        sent = orjson.dumps(body)
        headers = {"Content-Type": "application/json"}
        answer = session.post(f"{solr.url}/select", data=sent, headers=headers, timeout=60)
        return orjson.loads(answer.content)["response"]

    def re_ranked(at: int) -> list[tuple[int, str]]:
        own = normalize(new[at].text).split()
        near = []
        for found in asked(at, ["id", "content"])["docs"]:
            other = normalize(found["content"]).split()
            distance = Levenshtein.distance(own, other)
            if distance <= max(len(own), len(other)) // 2:
                near.append((distance, found["id"]))
        return sorted(near)

    ways: dict[str, Callable[[int], Any]] = {
        "{!terms} by hand, ids": lambda at: asked(at, ["id"]),
        "by hand, with texts": lambda at: asked(at, ["id", "content"]),
        "by hand, re-ranked": re_ranked,
        "search(text=…)": lambda at: nd.search(solr, text=new[at].text, by="bands"),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    # Whoever comes first in one round comes last in the next.
    order = list(ways)
    for at in range(0, len(new) - len(order) + 1, len(order)):
        order = order[1:] + order[:1]
        for place, name in enumerate(order, start=at):
            started = time.perf_counter()
            ways[name](place)
            taken[name].append((time.perf_counter() - started) * 1e3)
    hits = [asked(at, ["id"])["numFound"] for at in range(min(500, len(new)))]
    return {
        "ways": {name: _spread(values[WARMING:]) for name, values in taken.items()},
        "hits": {"mean": statistics.mean(hits), "p95": float(np.percentile(hits, 95))},
    }


def _reports(solr: Collection, ids: Sequence[str]) -> dict[str, Any]:
    """Documents a second of each way; the median of three rounds.

    A loop of searches is what one would write; "alone" are the same searches by as many threads as
    `report` has, which asks about many documents "together".
    """
    query = f"{{!terms f=id}}{','.join(ids)}"

    def searched(id: str) -> list[Pair]:
        found = nd.search(solr, id=id, by="bands")
        return [(*ordered(id, match.id), match.distance) for match in found]

    def looped() -> Iterable[Pair]:
        return chain.from_iterable(map(searched, ids))

    def alone() -> Iterable[Pair]:
        with ThreadPoolExecutor(THREADS) as pool:
            return chain.from_iterable(pool.map(searched, ids))

    def together() -> Iterable[Pair]:
        found = nd.report(solr, query=query, by="bands")
        return [(pair.id, pair.other_id, pair.distance) for pair in found.pairs]

    ways = {"looped": looped, "alone": alone, "together": together}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, set[Pair]] = {}
    for _ in range(3):
        for name, way in ways.items():
            started = time.perf_counter()
            found[name] = set(way())
            taken[name].append(time.perf_counter() - started)
    rates = {name: len(ids) / statistics.median(runs) for name, runs in taken.items()}
    return {
        "documents/s": rates,
        "ratios": {name: rates["together"] / rate for name, rate in rates.items()},
        "pairs": {name: len(pairs) for name, pairs in found.items()},
        "differing": len(found["alone"] ^ found["together"])
        + len(found["looped"] ^ found["together"]),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "p50": float(np.percentile(values, 50)),
        "p95": float(np.percentile(values, 95)),
    }


def _sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    count = found["documents"]
    rows = [
        [one["batch"], one["a document"]["p50"], one["a document"]["p95"], one["a batch"]["p95"],
         one["documents/s"]]
        for one in found["gate"]
    ]  # fmt: skip
    heads = ["batch", "ms a document, p50", "p95", "ms a batch, p95", "documents/s"]
    decided = found["decisions"]
    counts = ", ".join(f"{number:,} {action}" for action, number in decided["counts"].items())
    said = f"Decisions: {counts}; {decided['differing']} differ from those of `duplicates`."
    yield f"The gate, {count:,} documents", f"{results.table(heads, rows)}\n\n{said}"
    ways = found["queries"]["ways"]
    first = ways["{!terms} by hand, ids"]
    by_hand = ways["by hand, re-ranked"]
    rows = [
        [name, one["p50"], one["p95"], one["p50"] / first["p50"], one["p50"] / by_hand["p50"]]
        for name, one in ways.items()
    ]
    hits = found["queries"]["hits"]
    yield (
        f"One query by bands, {hits['mean']:.1f} candidates (p95 {hits['p95']:.0f})",
        results.table(["", "ms, p50", "p95", "× ids by hand", "× re-ranked by hand"], rows),
    )
    reports = found["reports"]
    called = {
        "looped": "`search` for one after the other",
        "alone": f"`search` for each, {THREADS} threads",
        "together": f"`report`: {PAGE} at a time, {THREADS} threads",
    }
    rows = [
        [said, reports["documents/s"][name], reports["ratios"][name], reports["pairs"][name]]
        for name, said in called.items()
    ]
    heads = ["", "documents/s", f"{PAGE} at a time beside it", "pairs"]
    said = f"Pairs that differ: {reports['differing']}."
    yield "Reports by bands", f"{results.table(heads, rows)}\n\n{said}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="latency of the gate and of queries by bands")
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--new", type=int, default=2_000)
    parser.add_argument("--asked", type=int, default=4_800)
    parser.add_argument("--beside", metavar="COMMIT", help="only single documents, beside a commit")
    parser.add_argument("--rounds", type=int, default=3, help="of single documents")
    return parser.parse_args()


if __name__ == "__main__":
    main()
