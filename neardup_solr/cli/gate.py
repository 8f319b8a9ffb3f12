"""The command for new documents: gate."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.cli.options import Given

if TYPE_CHECKING:
    from neardup_solr.arguments import RowFormat
    from neardup_solr.progress import OnError
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.gate.policy import Decision


def gate(
    given: Given,
    *,
    held: Path | None = None,
    strict: bool = False,
    output: Path | None = None,
    format: RowFormat | None = None,
) -> int:
    """Decide which new documents may come in.

    Each is allowed, tagged, held or rejected.
    """
    from neardup_solr.files import check_apart
    from neardup_solr.reports import rows
    from neardup_solr.verbs.gate import write as faces
    from neardup_solr.verbs.gate.policy import Policy

    as_rows = options.choose_format(format)
    limits = ("reject", "hold", "tag", "exact", "measure", "max_distance")
    policy = Policy(**{name: given[name] for name in limits})
    if given["index"] and held is None and policy.can("hold"):
        raise click.BadParameter(
            "--index needs --held FILE if documents can be held: they would be lost otherwise"
        )
    if held is not None:
        faces.check_held(held)
    if output is not None:
        rows.check_output(output)
    for path in given["source"]:
        check_apart({"SOURCE": Path(path), "--held": held, "-o": output})
    target = given.connect(create=given["index"])
    show.say_if_typed(given["source"], "documents")
    show.compile_kernel()
    with show.watch() as watching:
        watched = _Counted(tell=watching.on_error)
        decisions = nd.gate(
            collection=target,
            on_error=watched.on_error,
            on_progress=watching.on_progress,
            **given,
        )
        show.say_gaps(decisions.gaps)
        decided: Iterator[Decision | nd.RecordError] = decisions.with_failed()
        if held is not None:
            decided = faces.keeping_held(decided, held, *_choose_columns(given, target))
        try:
            _put_out(watched.count(decided), output, as_rows)
        except BrokenPipeError:
            made = show.counted(watched.counts.total(), "decision")
            show.say(f"neardup: the output was closed after {made}; no more were made.")
            raise
        except KeyboardInterrupt:
            if given["index"]:
                show.say(
                    "What was sent may not be durable; it is safe to run the same command again."
                )
            raise
    if output is not None:
        show.say(f"Wrote {output}.")
    _say_counts(watched, held)
    if watched.failed:
        return 1
    return REFUSED if strict and watched.counts["hold"] + watched.counts["reject"] else 0


def _choose_columns(given: Given, target: Collection) -> tuple[str, tuple[str, ...]]:
    """Choose the columns of id and text in a file of held documents, which the gate reads again.

    For a collection of somebody else's they are those of the source.
    """
    from neardup_solr.sources.record import ROW

    if target.names.is_plain:
        return "id", ("text",)
    id = given["id"] if given["id"] not in (None, ROW) else "id"
    return id, tuple(given["text"] or target.names.columns)


def _put_out(
    decided: Iterable[Decision | nd.RecordError], output: Path | None, as_rows: str | None
) -> None:
    from neardup_solr.verbs.gate import write as faces

    if output is not None:
        faces.write_decisions(decided, output)
    elif as_rows is not None:
        for line in faces.format_decisions(_begin(decided), as_rows):
            show.print_rows(iter((line,)))
            sys.stdout.flush()  # whoever sent the document may wait for its decision
    else:
        _print_table(decided)


def _begin(decided: Iterable[Decision | nd.RecordError]) -> Iterator[Decision | nd.RecordError]:
    """Make the first of the decisions, so that no header is printed before an error."""
    coming = iter(decided)
    first = list(islice(coming, 1))
    return chain(first, coming)


def _print_table(
    decided: Iterable[Decision | nd.RecordError], *, most: int = show.MOST_ROWS
) -> None:
    """Print the decisions other than allow, only the first if there are many."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", overflow="fold")
    table.add_column("action", no_wrap=True)
    table.add_column("reason", overflow="fold")
    others = 0
    for decision in decided:
        if isinstance(decision, nd.RecordError) or decision.action == "allow":
            continue
        others += 1
        if others <= most:
            cells = decision.id, decision.action, decision.reason
            table.add_row(*map(show.printable, cells))
    if others:
        Console(markup=False, highlight=False).print(table)
    if others > most:
        show.say(f"... and {others - most:,} more; -o decisions.tsv writes all of them.")


@dataclass(slots=True, kw_only=True)
class _Counted:
    """Counts of what was decided so far, and of what could not be read."""

    tell: OnError | None
    counts: Counter[str] = field(default_factory=Counter)
    failed: int = 0
    incomplete: int = 0
    replaced: int = 0

    def on_error(self, error: nd.RecordError) -> None:
        """Count a record that cannot be read, and tell of it."""
        self.failed += 1
        if self.tell is not None:
            self.tell(error)

    def count(
        self, decided: Iterable[Decision | nd.RecordError]
    ) -> Iterator[Decision | nd.RecordError]:
        """Count decisions as they pass."""
        for decision in decided:
            if not isinstance(decision, nd.RecordError):
                self.counts[decision.action] += 1
                self.incomplete += not decision.complete
                self.replaced += decision.replaces
            yield decision


def _say_counts(watched: _Counted, held: Path | None) -> None:
    counts = watched.counts
    total = counts.total() + watched.failed
    say = [f"{counts['allow']:,} allowed", f"{counts['tag']:,} tagged", f"{counts['hold']:,} held",
           f"{counts['reject']:,} rejected", f"{watched.failed:,} failed"]  # fmt: skip
    show.say(f"Read {show.counted(total, 'record')} = {' + '.join(say)}.")
    if watched.replaced:
        show.say(f"{watched.replaced:,} of them replaced a document of the same id.")
    if held is not None and counts["hold"]:
        show.say(f"Held documents are in {held}.")
    if watched.incomplete:
        show.say(
            f"{watched.incomplete:,} of them share a band with too many documents to compare all:"
            " only those that share most were compared."
        )
