"""The command lint, and findings as commands print them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show

if TYPE_CHECKING:
    from neardup_solr.verbs.lint.rules import Finding


DANGEROUS, UNTRIED = 3, 5  # exit codes
COLUMNS = ("level", "rule", "about", "reason", "remedy")


def lint(
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    prefix: options.PrefixOption = None,
    text_field: options.TextFieldsOption = None,
    format: options.FormatOption = None,
) -> None:
    """Show what would go wrong with a collection; changes nothing.

    The exit code is 3 if documents would lose something or cannot be written, else 5 if nobody has
    tried this package with a Solr of that version.
    """
    as_rows = options.rows_format(format)
    target = options.connect(solr, collection)
    found = nd.lint(target, text=options.names(text_field), prefix=prefix)
    print_findings(found.findings, as_rows)
    counts = [
        show.counted(sum(one.level == level for one in found.findings), level)
        for level in ("danger", "warning", "note")
    ]
    documents = show.counted(found.documents, "document")
    show.say(f"{target.url} ({documents}): {', '.join(counts)}.")
    if found.dangers or found.is_untried:
        raise typer.Exit(DANGEROUS if found.dangers else UNTRIED)


def print_findings(findings: Sequence[Finding], as_rows: str | None) -> None:
    """Print findings for people, or as rows in one of the formats."""
    from neardup_solr.cli.main import in_options
    from neardup_solr.reports.rows import format_rows

    findings = [replace(one, remedy=in_options(one.remedy, "lint")) for one in findings]
    if as_rows is not None:
        rows = map(asdict, findings)
        show.print_rows(format_rows(rows, COLUMNS, as_rows))
        return
    for one in findings:
        print(show.printable(f"{one.level}: {one.about}: {one.reason}"))
        print(show.printable(f"    {one.remedy}"))
