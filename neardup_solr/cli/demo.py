"""The command demo."""

from __future__ import annotations

from dataclasses import replace

from neardup_solr.cli import options, show

DEMO_PAIRS = 8


def demo(solr: options.SolrOption = None) -> None:
    """See the main job on listings that come with the package."""
    from neardup_solr.verbs.demo import CORE
    from neardup_solr.verbs.demo import demo as run

    target = options.connect(solr, CORE, create=True)
    show.compile_kernel()
    shown = run(target)
    show.say_summary(shown.indexed)
    texts = target.texts(show.ids_of(shown.report, most=DEMO_PAIRS))
    show.print_report(shown.report, texts, most=DEMO_PAIRS)
    show.say_report(shown.report)
    show.print_evaluation(shown.evaluation, most=3)
    own = replace(target, name="NAME").place
    steps = {
        f"neardup search {target.place} --id lantern-002": "the near-duplicates of one listing",
        f"neardup report {target.place} --by bands": "all pairs, found by LSH bands",
        f"neardup index FILE {own}": "your own .csv, .tsv, .jsonl, ...",
    }
    width = max(map(len, steps))
    show.say("\n".join(["\nNext:", *(f"  {step:{width}}  {what}" for step, what in steps.items())]))
