"""The command for new documents: gate."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import neardup_solr as nd
from neardup_solr.argument_types import OneOrMore
from neardup_solr.arguments import list_text_columns
from neardup_solr.checks import listed
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE, REFUSED
from neardup_solr.cli.typed import Typed
from neardup_solr.settings import SEED_CAP

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.records import Passage
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.gate.decision import Decision

    Decided = Iterator[Decision | nd.RecordError]

# What becomes of a record, as an action and as a word.
OUTCOMES = {"allow": "allowed", "tag": "tagged", "hold": "held", "reject": "rejected",
        "failed": "failed"}  # fmt: skip
TABLE: dict[str, dict[str, Any]] = {
    "id": {"overflow": "fold"},
    "action": {"no_wrap": True},
    "reason": {"overflow": "fold"},
}


def gate(
    typed: Typed,
    *,
    id: str | None = None,
    text: OneOrMore | None = None,
    held: Path | None = None,
    strict: bool = False,
    output: Path | None = None,
    format: RowFormat | None = None,
) -> int:
    """Decide which new documents to accept.

    Each document is allowed, tagged, held or rejected.
    """
    from neardup_solr.reports.row_table import check_output
    from neardup_solr.verbs.gate import held as held_file

    as_rows = show.choose_format(format)
    may_hold = typed["hold"] is not None or typed["exact"] == "hold"
    if typed["index"] and held is None and may_hold:
        reason = "--index needs --held FILE if documents can be held: they would be lost otherwise"
        raise click.BadParameter(reason)
    if held is not None:
        held_file.check_held(held)
    if output is not None:
        check_output(output)
    target = typed.connect(create=typed["index"])
    typed = typed.replace(source=replace(typed["source"], id=id, text=text))
    show.say_if_typed(typed.paths, "documents")
    counts = Counter[str]()
    with (
        show.watch() as watching,
        nd.gate(collection=target, **watching, **typed.arguments) as decisions,
    ):
        show.compile_kernel()
        show.say_gaps(decisions.gaps)
        decided: Decided = decisions.with_failed()
        if held is not None:
            decided = held_file.keep_held(decided, held, *_choose_columns(typed["source"], target))
        try:
            with show.say_if_interrupted(show.UNSURE if typed["index"] else ""):
                _put_out(_count(decided, counts), output, as_rows, passages=typed["passages"])
        except BrokenPipeError:
            total = sum(counts[name] for name in OUTCOMES if name != "failed")
            made = show.counted(total, "decision")
            show.warn(f"neardup: the output was closed after {made}; no more were made.")
            raise
    if output is not None:
        show.say(f"Wrote {output}.")
    counts["repeated"] = decisions.repeated
    _say_counts(counts, held, is_indexed=typed["index"])
    if decisions.hot:
        show.say(
            f"{show.counted(decisions.hot, 'run')} of letters"
            f" {'is' if decisions.hot == 1 else 'are'} in more than {SEED_CAP} of the new documents"
            " each: passages with these are looked for in a few of them only."
        )
    if decisions.answered is not None:
        show.say(f"{decisions.answered}.")
    if counts["failed"]:
        return INCOMPLETE
    return REFUSED if strict and counts["hold"] + counts["reject"] else 0


def _count(decided: Decided, counts: Counter[str]) -> Decided:
    """Count decisions as they pass."""
    for decision in decided:
        if isinstance(decision, nd.RecordError):
            counts["failed"] += 1
        else:
            counts[decision.action] += 1
            counts["incomplete"] += not decision.complete
            counts["replaced"] += decision.replaces
        yield decision


def _choose_columns(source: nd.Source, target: Collection) -> tuple[str, tuple[str, ...]]:
    """Choose the columns of id and text in a file of held documents, which the gate reads again.

    For a collection of somebody else's they are those of the source.
    """
    from neardup_solr.sources.reading import ROW

    if target.names.is_plain:
        return "id", ("text",)
    id = source.id if source.id not in (None, ROW) else "id"
    return id, list_text_columns(source) or listed(target.names.columns)


def _put_out(decided: Decided, output: Path | None, as_rows: str | None, *, passages: bool) -> None:
    from neardup_solr.verbs.gate.decision_rows import format_decisions, write_decisions

    if output is not None:
        write_decisions(decided, output, passages=passages)
    elif as_rows is not None:
        # The first is made before, so that no header is printed before an error.
        decided = chain(list(islice(decided, 1)), decided)
        for line in format_decisions(decided, as_rows, passages=passages):
            show.print_rows(iter((line,)))
            sys.stdout.flush()  # whoever sent the document may wait for its decision
    else:
        others = (
            (each.id, each.action, each.reason, *([_describe(each.passages)] if passages else ()))
            for each in decided
            if not isinstance(each, nd.RecordError) and (each.action != "allow" or each.passages)
        )
        columns = TABLE | ({"passages": {"overflow": "fold"}} if passages else {})
        show.print_table(columns, others, "-o decisions.tsv")


def _describe(passages: Sequence[Passage]) -> str:
    """Describe the longest passage, and say how many others there are."""
    if not passages:
        return ""
    longest = max(passages, key=lambda each: each.words)
    more = f", and {len(passages) - 1:,} more" if len(passages) > 1 else ""
    return f"{longest.relation} {longest.other_id}: {show.counted(longest.words, 'word')}{more}"


def _say_counts(counts: Counter[str], held: Path | None, *, is_indexed: bool) -> None:
    total = show.counted(sum(counts[name] for name in OUTCOMES), "record")
    parts = " + ".join(f"{counts[name]:,} {word}" for name, word in OUTCOMES.items())
    show.say(f"Read {total} = {parts}.")
    if counts["replaced"]:
        show.say(f"{counts['replaced']:,} of them replaced a document with the same id.")
    elif counts["repeated"]:
        repeat = show.counted(counts["repeated"], "record repeats", "records repeat")
        show.say(f"{repeat} an id: of those that are allowed or tagged, the last is indexed.")
    if counts["hold"] and (held or is_indexed):
        place = f"in {held}" if held else "not saved; to save them, name a file with --held"
        show.say(f"Held documents are {place}.")
    if counts["incomplete"]:
        shared = "Compared only with the closest documents, as too many share a band"
        show.warn(f"{shared}: {show.counted(counts['incomplete'], 'record')}.")
