"""Our bands beside the MinHashes that Solr itself computes: recall, load, index bytes, latency.

    python benchmarks/native.py [--documents 20000] [--queries 500]

The same documents go into one core for each way, on the embedded Solr in a temporary folder; the
same queries go to all of them, in turns. A query is the text of a document; what has to be found
is the other one of a planted pair, whose exact similarity (Jaccard of word 3-shingles) is known.
Results go to native.md and .json beside this script.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import shutil
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from lib import corpus, results
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr.embedded.layout import find_layout
from neardup_solr.minhash import make_entry
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import choose_fields
from neardup_solr.solr import admin, collection, query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.responses import answer

BUCKETS = (0.3, 0.5, 0.7, 0.9, 1.01)  # of the exact similarity
OURS = Settings(fields=choose_fields("content,content_bands"))
TEXT_ONLY = Settings(fields=choose_fields("content"))
LOOKED_AT = 101  # hits that a search fetches
SHORT_WORDS = (12, 25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """Attributes of Solr's filters, and what {!min_hash} is asked with; none for our bands."""

    shingle: int = 3
    hashes: int = 1
    buckets: int = 126
    asked: str = ""

    @property
    def bands(self) -> int:
        """The bands that are asked for, an incomplete last one included."""
        if not self.asked:
            return OURS.bands
        similarity, rate = (float(part.partition("=")[2]) for part in self.asked.split())
        count = self.hashes * self.buckets
        return math.ceil(count / rows_of(count, similarity, rate))


def rows_of(count: int, similarity: float, rate: float) -> int:
    """The rows that {!min_hash} gives a band (MinHashQParser.computeBandSize of Solr 9.10.1)."""
    for bands in range(1, count + 1):
        rows = count // bands
        if 1.0 - (1.0 - similarity**rows) ** bands > rate:
            return rows
    return 1


NATIVE = {"property.neardup.native": "content"}  # the source of the copyField
LIKE_OURS = "sim=0.5 tp=0.9"
WAYS = {
    "our bands, 42 of 3": Way(),
    "native: 126 buckets": Way(asked=LIKE_OURS),
    "128 buckets": Way(buckets=128, asked=LIKE_OURS),
    "126 hashes, no buckets": Way(hashes=126, buckets=1, asked=LIKE_OURS),
    "reference guide: 5-shingles, 512 buckets": Way(shingle=5, buckets=512, asked="sim=0.5 tp=0.5"),
}


@dataclass(frozen=True, slots=True)
class Texts:
    """Documents, and of some of them (positions) the near-duplicate and its exact similarity."""

    documents: list[str]
    pairs: list[tuple[int, int, float]]


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(description="our bands beside Solr's own MinHashes")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args()
    made = {
        "about 200 words": _long(options.documents),
        "12 to 25 words": _short(options.documents),
    }
    found: dict[str, Any] = {"conditions": results.conditions(), "documents": options.documents}
    with running_solr(heap="1g") as base:
        _filled(base, "warm", WAYS["native: 126 buckets"], made["about 200 words"].documents[:5000])
        for name, texts in made.items():
            found[name] = _compared(base, texts, options.queries)
    results.keep("native", found, list(_sections(found, list(made))))


def _long(count: int) -> Texts:
    made = corpus.corpus(count, seed=1)
    return Texts(made.documents, [(p.first, p.second, p.similarity) for p in made.planted])


def _short(count: int) -> Texts:
    """Sentences, a tenth of them with a copy in which one to three words are others."""
    least, most = SHORT_WORDS
    fitting = [one for one in corpus.sentences() if least <= len(one.split()) <= most]
    rng = random.Random(1)
    texts = rng.sample(fitting, count - count // 10)
    pairs = []
    for first in rng.sample(range(len(texts)), count // 10):
        words = texts[first].split()
        for _ in range(rng.randint(1, 3)):
            words[rng.randrange(len(words))] = rng.choice(fitting).split()[0]
        texts.append(" ".join(words))
        pairs.append((first, len(texts) - 1, corpus.jaccard(texts[first], texts[-1])))
    return Texts(texts, pairs)


def _compared(base: str, texts: Texts, queries: int) -> dict[str, Any]:
    """Everything of all ways; cores exist one beside the other while they are asked."""
    bare, cost = _filled(base, "bare", None, texts.documents)
    found: dict[str, Any] = {"text only": cost}
    admin.drop(bare)
    cores: dict[str, Collection] = {}
    for number, (name, way) in enumerate(WAYS.items()):
        cores[name], taken = _filled(base, f"way{number}", way, texts.documents)
        found[name] = taken | {"bytes": (taken["size"] - cost["size"]) / len(texts.documents)}
    for name, solr in cores.items():
        found[name] |= _recall(solr, WAYS[name], texts)
    for name, latency in _latencies(cores, texts, queries).items():
        found[name] |= latency
    for solr in cores.values():
        admin.drop(solr)
    return found


def _filled(
    base: str, core: str, way: Way | None, texts: Sequence[str]
) -> tuple[Collection, dict[str, float]]:
    """A core with these documents: documents a second, and its bytes when merged into one."""
    solr = collection.open_collection(base, core)
    params = {"action": "CREATE", "name": core, "configSet": admin.CONFIGSET}
    if way is not None and way.asked:
        params |= {"configSet": _configset(core, way), **NATIVE}
    answer(solr.session.get(f"{base}/admin/cores", params=params))
    documents = [nd.Document(id=str(at), text=text) for at, text in enumerate(texts)]
    started = time.perf_counter()
    nd.index(documents, solr, settings=TEXT_ONLY if way is None or way.asked else OURS)
    rate = len(texts) / (time.perf_counter() - started)
    answer(solr.session.post(f"{solr.url}/update", json={"optimize": {"maxSegments": 1}}))
    status = answer(solr.session.get(f"{base}/admin/cores", params={"core": core}))
    size = status["status"][core]["index"]["sizeInBytes"]
    return solr, {"documents_per_second": rate, "size": size}


def _configset(name: str, way: Way) -> str:
    """Another configset of that name, with other attributes of the two filters."""
    conf = find_layout().configset
    made = conf.parents[1] / name / "conf"
    shutil.rmtree(made.parent, ignore_errors=True)
    shutil.copytree(conf, made)
    schema = made / "managed-schema.xml"
    text = schema.read_text(encoding="utf-8")
    for attribute, value in (
        ("minShingleSize", way.shingle), ("maxShingleSize", way.shingle),
        ("hashCount", way.hashes), ("bucketCount", way.buckets),
    ):  # fmt: skip
        text, changed = re.subn(rf'{attribute}="\d+"', f'{attribute}="{value}"', text)
        assert changed == 1, attribute
    schema.write_text(text, encoding="utf-8")
    return name


def _asked(way: Way, text: str) -> query.Request:
    """The request of a text; that of our bands takes the signature along."""
    if not way.asked:
        entry = make_entry(nd.Document(id="q", text=text), OURS)
        terms = query.Terms(field="content_bands", values=entry.bands)
        return query.any_of(terms, filters=[], params={})
    asked = f"{{!min_hash field=content_native {way.asked} v=$text}}"
    return {"query": asked, "sort": "score desc,id asc", "params": {"text": text}}


def _found(solr: Collection, way: Way, text: str, limit: int) -> tuple[int, dict[str, float]]:
    """How many documents a text finds, and the best of them with the bands that they share."""
    params = {"fields": ["id", "score"], "limit": limit}
    request = solr.names.request(_asked(way, text) | params)
    body = answer(solr.session.post(f"{solr.url}/select", json=request))["response"]
    return body["numFound"], {one["id"]: one["score"] for one in body["docs"]}


def _recall(solr: Collection, way: Way, texts: Texts) -> dict[str, Any]:
    """Of the planted pairs by similarity the part found, candidates of a query, bands of a text."""
    hit: list[tuple[float, bool]] = []
    counts: list[int] = []
    own: list[float] = []
    for first, second, similarity in texts.pairs:
        count, scores = _found(solr, way, texts.documents[first], len(texts.documents))
        hit.append((similarity, str(second) in scores))
        counts.append(count - 1)
        own.append(scores[str(first)])
    parts = {}
    for low, high in pairwise(BUCKETS):
        within = [is_found for similarity, is_found in hit if low <= similarity < high]
        parts[f"{low:g}"] = [statistics.mean(within) if within else None, len(within)]
    return {
        "recall": parts,
        "candidates": statistics.mean(counts),
        "candidates_p95": float(np.percentile(counts, 95)),
        "bands_that_match": max(own),
    }


def _latencies(
    cores: dict[str, Collection], texts: Texts, queries: int
) -> dict[str, dict[str, float]]:
    """From a text to the ids of its best hits, in milliseconds; the ways take turns."""
    chosen = random.Random(2).choices(texts.documents, k=queries + 50)
    taken: dict[str, list[float]] = {name: [] for name in cores}
    for number, text in enumerate(chosen):
        order = list(cores) if number % 2 else list(cores)[::-1]
        for name in order:
            started = time.perf_counter()
            _found(cores[name], WAYS[name], text, LOOKED_AT)
            taken[name].append((time.perf_counter() - started) * 1e3)
    return {
        name: {"p50_ms": statistics.median(ms[50:]), "p95_ms": float(np.percentile(ms[50:], 95))}
        for name, ms in taken.items()
    }


def _sections(found: dict[str, Any], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    heads = [
        "way", *(f"found of {low:g}–{min(high, 1):g}" for low, high in _bounds()), "candidates",
        "p95", "documents/s", "bytes a document", "p50 ms", "p95 ms", "bands", "of them dead",
    ]  # fmt: skip
    for name in names:
        here = found[name]
        rows = [_row(way, here[way]) for way in WAYS]
        counts = [f"{count:,}" for _, count in here[next(iter(WAYS))]["recall"].values()]
        said = (
            f"Planted pairs, from left to right: {', '.join(counts)}. Text only:"
            f" {here['text only']['documents_per_second']:,.0f} documents/s."
        )
        yield (
            f"{found['documents']:,} documents of {name}",
            f"{results.table(heads, rows)}\n\n{said}",
        )


def _bounds() -> list[tuple[float, float]]:
    return list(pairwise(BUCKETS))


def _row(name: str, way: dict[str, Any]) -> list[object]:
    parts = [share for share, _ in way["recall"].values()]
    return [
        name, *("–" if share is None else f"{share:.1%}" for share in parts),
        way["candidates"], way["candidates_p95"], way["documents_per_second"], way["bytes"],
        way["p50_ms"], way["p95_ms"], WAYS[name].bands,
        WAYS[name].bands - int(way["bands_that_match"]),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
