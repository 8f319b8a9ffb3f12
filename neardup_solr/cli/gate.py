"""The command for new documents: gate."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.choices import Action
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import MAX_DOC_BYTES, in_seconds

if TYPE_CHECKING:
    from neardup_solr.progress import OnError
    from neardup_solr.verbs.gate.policy import Decision

KEPT_OUT = 3  # the exit code of --strict


def gate(
    source: options.SourceArgument,
    tag: Annotated[
        float | None,
        typer.Option(
            help="Tag what is at least this similar (default if none of the three is given:"
            " 0.5; containment 0.8, aligned 0.75).",
            rich_help_panel=options.COUNTS,
        ),
    ] = None,
    hold: Annotated[
        float | None,
        typer.Option(
            help="Hold back what is at least this similar.", rich_help_panel=options.COUNTS
        ),
    ] = None,
    reject: Annotated[
        float | None,
        typer.Option(help="Reject what is at least this similar.", rich_help_panel=options.COUNTS),
    ] = None,
    exact: Annotated[
        Action,
        typer.Option(
            help="At least this action for the same text.", rich_help_panel=options.COUNTS
        ),
    ] = "reject",
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    fq: options.FilterOption = None,
    index: Annotated[
        bool, typer.Option("--index", help="Index what is allowed or tagged.")
    ] = False,
    held: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Add held documents to this .jsonl file, unless it already has them.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 if one is held or rejected.")
    ] = False,
    batch: Annotated[
        int,
        typer.Option(
            help="Documents that one query asks about.",
            min=1,
            max=1000,
            rich_help_panel=options.WORK,
        ),
    ] = 50,
    patience: options.PatienceOption = "5m",
    output: options.OutputOption = None,
    format: options.FormatOption = None,
    id_field: options.IdFieldOption = None,
    text_field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the text (repeatable, or a,b: they are joined) [default: the text"
            " fields of the collection; text for one of ours].",
            rich_help_panel=options.READ,
        ),
    ] = None,
    keep: options.KeepOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    max_doc_bytes: options.MaxDocBytesOption = MAX_DOC_BYTES,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Decide which new documents may come in.

    Each is allowed, tagged, held or rejected.
    """
    from neardup_solr.files import check_apart
    from neardup_solr.reports import rows
    from neardup_solr.verbs.gate import write as faces
    from neardup_solr.verbs.gate.policy import Policy

    as_rows = options.rows_format(format)
    policy = Policy(
        reject=reject, hold=hold, tag=tag, exact=exact, measure=measure, max_distance=max_distance
    )
    if index and held is None and policy.can("hold"):
        raise typer.BadParameter(
            "--index needs --held FILE if documents can be held: they would be lost otherwise"
        )
    if held is not None:
        faces.check_held(held)
    if output is not None:
        rows.check_output(output)
    for path in source:
        check_apart({"SOURCE": Path(path), "--held": held, "-o": output})
    reading = options.reading(id_field, text_field, source_format, delimiter, encoding, lossy)
    seconds = in_seconds(patience, "patience")
    target = options.connect(solr, collection, create=index, patience=seconds)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    with progress.watching() as watching:
        watched = _Counted(tell=watching.on_error)
        decided: Iterator[Decision] = nd.gate(
            source,
            target,
            tag=tag,
            hold=hold,
            reject=reject,
            exact=exact,
            measure=measure,
            max_distance=max_distance,
            fq=fq or (),
            index=index,
            batch=batch,
            max_doc_bytes=max_doc_bytes,
            patience=seconds,
            keep=None if keep is None else options.names(keep),
            on_error=watched.on_error,
            on_progress=watching.on_progress,
            **reading | {"text": options.names(text_field)},
        )
        if held is not None:
            decided = faces.keeping_held(decided, held)
        try:
            _put_out(watched.counting(decided), output, as_rows)
        except BrokenPipeError:
            decisions = show.counted(watched.counts.total(), "decision")
            show.say(f"neardup: the output was closed after {decisions}; no more were made.")
            raise
        except KeyboardInterrupt:
            if index:
                show.say(
                    "What was sent may not be durable; it is safe to run the same command again."
                )
            raise
    if output is not None:
        show.say(f"Wrote {output}.")
    _say_counts(watched, held)
    if watched.failed:
        raise typer.Exit(1)
    if strict and watched.counts["hold"] + watched.counts["reject"]:
        raise typer.Exit(KEPT_OUT)


def _put_out(decided: Iterable[Decision], output: Path | None, as_rows: str | None) -> None:
    from neardup_solr.verbs.gate import write as faces

    if output is not None:
        faces.write_decisions(decided, output)
    elif as_rows is not None:
        for line in faces.format_decisions(_begun(decided), as_rows):
            show.print_rows(iter((line,)))
            sys.stdout.flush()  # whoever sent the document may wait for its decision
    else:
        _print_table(decided)


def _begun(decided: Iterable[Decision]) -> Iterator[Decision]:
    """The same decisions, the first of them made: no header is printed before an error."""
    coming = iter(decided)
    first = list(islice(coming, 1))
    return chain(first, coming)


def _print_table(decided: Iterable[Decision], *, most: int = show.MOST_ROWS) -> None:
    """The decisions other than allow; only the first if there are many."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", overflow="fold")
    table.add_column("action", no_wrap=True)
    table.add_column("reason", overflow="fold")
    others = 0
    for decision in decided:
        if decision.action == "allow":
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

    def counting(self, decided: Iterable[Decision]) -> Iterator[Decision]:
        """The same decisions, counted."""
        for decision in decided:
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
