"""The command report: the near-duplicates of each document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.solr.collection import Collection


def report(typed: Typed, *, output: Path | None = None, format: RowFormat | None = None) -> int:
    """Report the near-duplicate pairs of a collection."""
    from neardup_solr.reports.row_table import check_output
    from neardup_solr.reports.rows import pair_rows

    as_rows = show.choose_format(format)
    if output is not None:
        if format not in (None, output.suffix.lower()[1:]):
            raise click.BadParameter(f"--format {format} conflicts with -o {output}: leave one out")
        check_output(output)
    target, result = make_report(typed)
    if output is not None:
        result.write(output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        show.print_report(result, target.texts(show.list_ids(result)))
    else:
        show.print_rows(pair_rows(result.pairs).lines(as_rows))
    show.say_report(result)
    if not result.pairs:
        show.say_if_full_text([typed["query"], *typed["fq"]], target.place)
    return 0


def make_report(typed: Typed) -> tuple[Collection, nd.Report]:
    """Make the report that the options ask for, and return its collection, too."""
    target = typed.connect()
    with show.watch() as watching:
        return target, nd.report(target, on_progress=watching["on_progress"], **typed.arguments)
