"""The guard on invented sources whose truth is known: what it asks about, what is lost unasked.

    python benchmarks/guard.py [--seeds 3]

`guard_sources` has the sources by which the guard was tuned, `guard_other_sources` others of other
families, that were written afterwards, and `guard_small_sources` those in which gaps were found
then: of small clusters, and of tables. `guard_values` has texts that differ in a value, as sizes
and verdicts do, in files of two texts, too, and copies that look like them. Each is compared for
each rule of the document that is kept, at the measure that it names, and by each measure, but for
tables. A removal is wrong if the document that is kept for it is another thing. Sources with more
than 2 % of wrong removals have to be asked about, and those that have only copies have not.
Results go to guard.md and guard.json.
"""

from __future__ import annotations

import argparse
import logging
import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from guard_other_sources import SHOWN
from guard_small_sources import SMALL
from guard_sources import TUNING
from guard_values import VALUES
from lib import results
from lib.sources import Source

import neardup_solr as nd

RULES = ("first", "longest", "shortest", "oldest:created")
MEASURES = ("words", "jaccard", "containment", "estimate", "records")
WRONG = 0.02  # of what is removed, from which somebody has to be asked
FAMILIES = {
    "Sources of the tuning": TUNING,
    "Other sources": SHOWN,
    "Small clusters and tables": SMALL,
    "Values": VALUES,
}
HEAD = ["source", "documents", "removed", "wrong, %", "asked", "runs"]


def judge(source: Source, **how: Any) -> tuple[int, int, bool]:
    """Count what is removed, and what of it is wrong, and tell whether it is asked about."""
    seconds = random.Random(len(source.rows)).choices(range(10**8), k=len(source.rows))
    times = [f"{datetime(2020, 1, 1) + timedelta(seconds=each)}" for each in seconds]
    records = ({"text": each} if isinstance(each, str) else each for each, _ in source.rows)
    rows = [{"id": f"{at}", **record, "created": time}
            for at, (record, time) in enumerate(zip(records, times, strict=True))]  # fmt: skip
    found = nd.duplicates(rows, keep="created", **{**source.options, **how})
    things = [thing for _, thing in source.rows]
    removed = found.removed.values()
    wrong = sum(things[int(each.id)] != things[int(each.duplicate_of)] for each in removed)
    return len(removed), wrong, bool(found.doubt)


def measure(
    families: list[Callable[[random.Random], Source]], ways: list[dict[str, Any]], seeds: int
) -> tuple[list[list[Any]], Counter[str]]:
    """Make a row of each family, and count the runs of all by how they end."""
    rows, counts = [], Counter[str]()
    for make in families:
        runs = []
        for seed in range(1, seeds + 1):
            source = make(random.Random(seed))
            is_table = isinstance(source.rows[0][0], dict)
            runs += [judge(source, **how) for how in ways if not (is_table and "measure" in how)]
        if not runs:
            continue
        for removed, wrong, is_asked in runs:
            is_wrong = wrong > WRONG * removed
            kind = "wrong" if is_wrong else "copies" if source.are_copies else "harmless"
            counts[f"{kind}, {'asked' if is_asked else 'unasked'}"] += bool(removed)
        removed, wrong = (sum(run[at] for run in runs) for at in (0, 1))
        asked = sum(is_asked for *_, is_asked in runs)
        rows.append(
            [
                source.name,
                len(source.rows),
                removed,
                100 * wrong / max(removed, 1),
                asked,
                len(runs),
            ]
        )
        print(*rows[-1], flush=True)
    return rows, counts


def main() -> None:
    """Measure all, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    logging.getLogger("neardup_solr").setLevel(logging.ERROR)
    rules = [{"canonical": rule} for rule in RULES]
    measures = [{"measure": name, "min_similarity": None} for name in MEASURES]
    sections: dict[str, Any] = {}
    totals = []
    for title, families in FAMILIES.items():
        for ways, name in ((rules, "each rule"), (measures, "each measure")):
            rows, counts = measure(families, ways, options.seeds)
            sections[f"{title}, {name}"] = [HEAD, *rows]
            totals.append([f"{title}, {name}", *(counts[each] for each in ENDS)])
    tables = {"Runs": [["sources", *ENDS], *totals], **sections}
    results.keep(
        "guard",
        {"conditions": results.conditions(), "seeds": options.seeds, **tables},
        [(title, results.table(head, rows)) for title, (head, *rows) in tables.items()],
    )


ENDS = ("wrong, asked", "wrong, unasked", "copies, asked", "copies, unasked", "harmless, asked")

if __name__ == "__main__":
    main()
