"""The gate with passages: recall of reuse by kind, seconds beside the gate without, bytes.

    python benchmarks/gate_passages.py [--articles 2000] [--rounds 3] [--seeds N]

Articles with planted edited versions, excerpts, quotations and scans, of which lib/reuse.py tells.
Half of the originals are in Solr, with all fields; the others come to the gate, then what was
planted. Both gates decide about the same documents in turns. A pair is wrong if nothing was planted
in it and it has no menu or formula in common. Results go to gate_passages.md and
gate_passages.json.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter, defaultdict
from typing import Any

import psutil
from lib import results
from lib.reuse import NOISE, RATES, Collection, plant
from lib.reuse_families import articles
from lib.solr import running_solr

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.testing import SIZES
from neardup_solr.verbs.gate.seed_index import collect_sparse

Figures = dict[str, Any]
SIDES = ("in Solr", "new")


def make_collection(count: int) -> tuple[Collection, set[str]]:
    """Make articles with planted reuse, and choose the originals that are in Solr."""
    each = max(count // 50, 30)
    added = 3 * each + len(RATES) * len(NOISE) * (each // 3)
    collection = plant(articles(count - added), each)
    planted = {each.id for each in collection.planted}
    originals = [id for id in collection.texts if id not in planted]
    return collection, set(random.Random(1).sample(originals, len(originals) // 2))


def decide(
    documents: list[nd.Document], stored: nd.Collection, passages: bool
) -> tuple[list[nd.Decision], list[float]]:
    """Decide about documents: decisions, and ms of each by the clock, of this process, of Solr."""
    server = psutil.Process(embedded.start().pid)

    def read_clocks() -> list[float]:
        times = server.cpu_times()
        return [time.perf_counter(), time.process_time(), times.user + times.system]

    before = read_clocks()
    decisions = list(nd.gate(documents, stored, passages=passages))
    taken = zip(read_clocks(), before, strict=True)
    return decisions, [1_000 * (after - first) / len(documents) for after, first in taken]


def judge(collection: Collection, decisions: list[nd.Decision], stored: set[str]) -> Figures:
    """Compare the passages of decisions with those planted."""
    told = {each.id: {passage.other_id: passage.relation for passage in each.passages}
            for each in decisions}  # fmt: skip
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    relations: dict[str, Counter[str]] = defaultdict(Counter)
    for planted in collection.planted:
        side = SIDES[planted.source_id not in stored]
        kinds[planted.kind][side] += 1
        if (relation := told[planted.id].get(planted.source_id)) is not None:
            kinds[planted.kind][f"{side}, told"] += 1
            relations[planted.kind][relation] += 1
    pairs = {frozenset((each.id, each.source_id)) for each in collection.planted}
    others = [(id, other) for id, some in told.items() for other in some
              if frozenset((id, other)) not in pairs]  # fmt: skip
    commons = collection.commons or {}
    wrong = sum(not commons[one] & commons[other] for one, other in others)
    actions = {kind: Counter[str]() for kind in kinds}
    by_id = {each.id: each.action for each in decisions}
    for planted in collection.planted:
        actions[planted.kind][by_id[planted.id]] += 1
    return {"kinds": kinds, "relations": relations, "actions": actions, "others": len(others),
            "wrong": wrong}  # fmt: skip


def measure(count: int, rounds: int) -> Figures:
    """Let the gate decide about the new documents, with passages and without."""
    collection, stored = make_collection(count)
    documents = [nd.Document(id=id, text=text) for id, text in collection.texts.items()]
    inside = [each for each in documents if each.id in stored]
    coming = [each for each in documents if each.id not in stored]
    planted = {each.id for each in collection.planted}
    coming.sort(key=lambda each: each.id in planted)  # originals first
    taken: dict[bool, list[list[float]]] = {False: [], True: []}
    with running_solr() as url:
        target = nd.connect(url, "reuse")
        nd.init(target)
        nd.index(inside, target, settings={"fields": "all"})
        decide(coming[:100], target, True)  # compiled, and Solr is warm
        for _ in range(rounds):
            for passages in (False, True):
                decisions, clocks = decide(coming, target, passages)
                taken[passages].append(clocks)
    seeds = len(collect_sparse([each.text for each in coming])[0])
    figures = judge(collection, decisions, stored)
    names = {False: "without", True: "with"}
    return figures | {
        "stored": len(inside), "new": len(coming), "bytes": 16 * seeds / len(coming),
        "ms": {names[key]: [min(column) for column in zip(*some, strict=True)]
               for key, some in taken.items()},
    }  # fmt: skip


def main() -> None:
    """Measure everything, print it and keep it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--articles", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, help="that are kept of the run; writes nothing")
    options = parser.parse_args()
    conditions = results.conditions()
    if options.seeds:
        SIZES.gate_seeds = options.seeds
    run = measure(options.articles, options.rounds)
    rows: list[list[object]] = [
        [kind, *(f"{counts[f'{side}, told']} of {counts[side]}" for side in SIDES),
         *(", ".join(f"{n} {name}" for name, n in run[part][kind].most_common())
           for part in ("relations", "actions"))]
        for kind, counts in run["kinds"].items()
    ]  # fmt: skip
    heads = ["planted", *(f"source {side}" for side in SIDES), "relations", "actions"]
    cost = [[name, *clocks] for name, clocks in run["ms"].items()]
    columns = ["passages", "ms a document", "processor ms, this process", "processor ms, Solr"]
    other = (
        f"{run['others']:,} other pairs were told, of which {run['wrong']:,} have nothing in common"
        f" that is known. The seeds of a document take {run['bytes']:,.0f} bytes."
    )
    parts = [
        (f"Told, of {run['new']:,} new documents; {run['stored']:,} are in Solr",
         results.table(heads, rows) + "\n\n" + other),
        ("The gate, in batches of 50",
         results.table(columns, cost)),
    ]  # fmt: skip
    if options.seeds:
        print("\n\n".join(f"## {heading}\n\n{body}" for heading, body in parts))
    else:
        results.keep("gate_passages", {"conditions": conditions, **run}, parts)


if __name__ == "__main__":
    main()
