"""Excerpts of longer texts: how many are found, by each way to find candidates, and how fast.

    python benchmarks/excerpts.py [--rounds 5] [--solr]

Articles of 250 to 500 words, and excerpts of 50 consecutive words from some of them, verbatim and
with 5 % of the words replaced: 1,800 + 100 documents, 2,600 + 100 and 15,000 + 500, and these with
boilerplate: up to three sentences of a common pool in each article, and the same foot of 25 words
in all of them, from which excerpts take their words as well. `duplicates` compares them by
containment, with candidates by bands and by shingles in turns, and fewer than 5,000 documents also
by words. The seconds are those of the clock; the ratio of shingles to bands is also given for the
time of the processor, which other programs disturb less. Results go to excerpts.md and .json.

With --solr the largest ones are compared in a collection of the embedded Solr instead, whose texts
candidates by shingles read; results go to excerpts_solr.md and .json.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib import results
from lib.corpus import POOL, sentences
from lib.drafts import some
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr.argument_types import Way
from neardup_solr.verbs.duplicates.request import Compared

SIZES = ((1_800, 100), (2_600, 100), (15_000, 500))
WORDS, MOST_WORDS, EXCERPT, FOOT = 250, 500, 50, 25
CHANGED = (0.0, 0.05)  # of the words of an excerpt
WAYS: tuple[Way, ...] = ("bands", "shingles", "words")
SLOW, FEW = "words", 5_000  # is measured once, up to so many documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Documents by id, and the excerpts among them with the articles that they are from."""

    documents: dict[str, str]
    truth: dict[str, str]


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--solr", action="store_true", help="of a collection in Solr")
    options = parser.parse_args()
    found: dict[str, Any] = {"conditions": results.conditions(), **vars(options)}
    if options.solr:
        found["runs"] = _of_collection(options.rounds)
        results.keep("excerpts_solr", found, [_section(found["runs"])])
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.jsonl"
        found["runs"] = [
            _of_file(file, articles, excerpts, share, boilerplate, options.rounds)
            for boilerplate in (False, True)
            for articles, excerpts in SIZES
            for share in CHANGED
        ]
    results.keep("excerpts", found, [_section(found["runs"])])


def made(articles: int, excerpts: int, share: float, *, boilerplate: bool, seed: int = 1) -> Texts:
    """Articles a0, a1, … and excerpts e0, e1, …, of whose words that share is replaced."""
    rng, source = random.Random(seed), sentences()
    pool, foot = some(POOL, source, rng), " ".join(some(5, source, rng)).split()[:FOOT]
    documents = {}
    for number in range(articles):
        words, most = list[str](), WORDS + int(rng.random() * (MOST_WORDS - WORDS))
        while len(words) < most:
            words += some(1, source, rng)[0].split()
        if boilerplate:
            for _ in range(int(rng.random() * 4)):
                words += pool[int(len(pool) ** rng.random()) - 1].split()
            words += foot
        documents[f"a{number}"] = " ".join(words)
    truth = {}
    for number in range(excerpts):
        article = f"a{int(rng.random() * articles)}"
        words = documents[article].split()
        first = int(rng.random() * (len(words) - EXCERPT + 1))
        taken = words[first : first + EXCERPT]
        # 2.5 words of 50: two and three in turns.
        for place in rng.sample(range(EXCERPT), int(share * EXCERPT + number % 2 / 2)):
            taken[place] = f"changed{number}"
        truth[f"e{number}"] = article
        documents[f"e{number}"] = " ".join(taken)
    return Texts(documents=documents, truth=truth)


def _of_file(
    file: Path, articles: int, excerpts: int, share: float, boilerplate: bool, rounds: int
) -> dict[str, Any]:
    texts = made(articles, excerpts, share, boilerplate=boilerplate)
    with file.open("w", encoding="utf-8") as lines:
        for id, text in texts.documents.items():
            lines.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
    return {
        "articles": articles,
        "excerpts": excerpts,
        "changed": share,
        "boilerplate": boilerplate,
        "runs": _in_turns(file, texts, rounds),
    }


def _of_collection(rounds: int) -> list[dict[str, Any]]:
    articles, excerpts = SIZES[-1]
    found = []
    with running_solr() as base:
        for boilerplate in (False, True):
            texts = made(articles, excerpts, CHANGED[-1], boilerplate=boilerplate)
            solr = nd.connect(base, f"excerpts_{boilerplate:d}")
            nd.init(solr)
            nd.index([{"id": id, "text": text} for id, text in texts.documents.items()], solr)
            found.append(
                {
                    "articles": articles,
                    "excerpts": excerpts,
                    "changed": CHANGED[-1],
                    "boilerplate": boilerplate,
                    "runs": _in_turns(solr, texts, rounds),
                }
            )
    return found


def _in_turns(source: Compared, texts: Texts, rounds: int) -> dict[str, Any]:
    """Each way: excerpts that are found, candidates, pairs, and the median of its seconds."""
    ways = [way for way in WAYS if way != SLOW or len(texts.documents) <= FEW]
    taken: dict[Way, list[tuple[float, float]]] = {way: [] for way in ways}
    runs: dict[str, Any] = {}
    nd.duplicates(source, measure="containment", by="shingles")  # so that all is in memory
    for number in range(rounds):
        for way in (way for way in ways if way != SLOW or number == 0):
            gc.collect()
            started = time.perf_counter(), time.process_time()
            found = nd.duplicates(source, measure="containment", by=way)
            ended = time.perf_counter(), time.process_time()
            taken[way].append((ended[0] - started[0], ended[1] - started[1]))
            pairs = {(pair.id, pair.other_id) for pair in found.pairs}
            runs[way] = {
                "found": sum((article, id) in pairs for id, article in texts.truth.items()),
                "candidates": found.candidates,
                "hot": found.hot_keys,
                "pairs": len(found.pairs),
            }
    for way, times in taken.items():
        seconds, processor = (statistics.median(column) for column in zip(*times, strict=True))
        runs[way] |= {"seconds": seconds, "processor": processor}
    print(runs, file=sys.stderr, flush=True)
    return runs


def _section(runs: Sequence[dict[str, Any]]) -> tuple[str, str]:
    heads = ["articles", "excerpts", "words changed", "boilerplate", *WAYS,
             *(f"{way}, s" for way in WAYS), "shingles / bands", "by the processor",
             *(f"{way}, candidates" for way in WAYS)]  # fmt: skip
    rows = [_row(run) for run in runs]
    return "Excerpts found, by how candidates are", results.table(heads, rows)


def _row(run: dict[str, Any]) -> Sequence[object]:
    runs = run["runs"]

    def each(what: str) -> list[object]:
        return [runs[way][what] if way in runs else "" for way in WAYS]

    bands, shingles = runs["bands"], runs["shingles"]
    return [
        run["articles"], run["excerpts"], f"{100 * run['changed']:g} %",
        "yes" if run["boilerplate"] else "no", *each("found"), *each("seconds"),
        shingles["seconds"] / bands["seconds"], shingles["processor"] / bands["processor"],
        *each("candidates"),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
