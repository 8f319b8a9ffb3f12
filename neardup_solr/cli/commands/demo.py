"""The command demo: the other commands on sample listings."""

from __future__ import annotations

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed, connect

DEMO_PAIRS = 8


def demo(typed: Typed, *, address: str | None = None) -> int:
    """Try index, report and evaluate on sample listings."""
    from neardup_solr.demo import CORE, listings, pairs

    target = connect(address, CORE, create=True)
    show.compile_kernel()
    indexed = nd.index(listings(), target, keep=("city", "kind"))
    report = nd.report(target, later_only=True)
    evaluation = nd.evaluate(pairs(), report.pairs)
    show.say_summary(indexed)
    texts = target.texts(show.list_ids(report, most=DEMO_PAIRS))
    rest = f"neardup report {target.place} -o pairs.tsv"
    show.print_report(report, texts, most=DEMO_PAIRS, rest=rest)
    show.say_report(report)
    show.print_evaluation(evaluation, most=3)
    place = target.beside("NAME").place
    steps = {
        f"neardup search {target.place} --id lantern-002": "the near-duplicates of one listing",
        f"neardup report {target.place} --by bands": "all pairs, found by LSH bands",
        f"neardup index FILE {place}": "your own .csv, .tsv, .jsonl, ...",
    }
    width = max(map(len, steps))
    show.say("\n".join(["\nNext:", *(f"  {step:{width}}  {what}" for step, what in steps.items())]))
    return 0
