"""The command annotate: the fields of neardup for documents of other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed
from neardup_solr.log import unblocked

if TYPE_CHECKING:
    from neardup_solr.verbs.annotate.summary import AnnotateSummary


@unblocked()
def annotate(typed: Typed) -> int:
    """Add the neardup fields to the documents of a collection.

    All other fields stay unchanged.
    """
    which = typed["which"]
    if typed["into"] is not None and which != "needed":
        raise click.BadParameter(f"--which {which} cannot be combined with --into: leave one out")
    from neardup_solr.solr.unsigned import describe_unspaced

    target = typed.connect()
    show.compile_kernel()
    watched = show.say_log() if typed["follow"] else show.watch()
    with watched as watching, show.say_if_interrupted():
        done = nd.annotate(target, **watching, **typed.arguments)
    _say_annotated(done)
    if typed["mark"]:
        marked = f"Marked {show.counted(done.marked, 'document')} as near-duplicates"
        show.say(f"{marked}, and unmarked {done.cleared:,}.")
    if not typed["follow"]:  # which may have been ended because Solr hangs
        show.say_gaps(describe_unspaced(target))
    return INCOMPLETE if done.failed else 0


def _say_annotated(done: AnnotateSummary) -> None:
    """Say the counts of a run, which add up."""
    counts = {
        "annotated": done.annotated, "unchanged": done.unchanged,
        "without text": done.without_text, "gone": done.gone, "failed": done.failed,
    }  # fmt: skip
    parts = [f"{count:,} {what}" for what, count in counts.items() if count or what == "annotated"]
    rate = done.annotated / done.seconds if done.seconds else 0.0
    read = show.counted(done.read, "document")
    show.say(f"Read {read} = {' + '.join(parts)} ({done.seconds:.1f} s, {rate:,.0f}/s).")
    if done.redone:
        others = show.counted(done.redone, "document")
        show.say(f"{others} changed while being written, and had to be read again.")
    if done.read and done.without_text == done.read:
        show.warn("None of these documents has a text: check --text-field.")
