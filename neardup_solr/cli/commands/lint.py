"""The command lint: what annotate would lose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import REFUSED, UNTRIED
from neardup_solr.cli.typed import Typed

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.verbs.findings import Finding


def lint(typed: Typed, *, format: RowFormat | None = None) -> int:
    """Check whether a collection can be annotated, without changing it.

    The exit code is 3 if documents would lose data or cannot be written, else 5 if this version of
    Solr is untested.
    """
    target = typed.connect()
    with show.watch():
        result = nd.lint(target, **typed.arguments)
    print_findings(result.findings, show.choose_format(format))
    counts = [
        show.counted(sum(finding.level == level for finding in result.findings), level)
        for level in ("danger", "warning", "note")
    ]
    documents = show.counted(result.documents, "document")
    show.say(f"{target.url} ({documents}): {', '.join(counts)}.")
    if result.dangers:
        return REFUSED
    return UNTRIED if result.is_untried else 0


def print_findings(findings: Sequence[Finding], as_rows: str | None) -> None:
    """Print findings for people, or as rows in one of the formats."""
    from neardup_solr.reports.row_table import RowTable

    findings = [replace(each, remedy=show.in_options(each.remedy)) for each in findings]
    if as_rows is not None:
        columns = ("level", "rule", "about", "reason", "remedy")
        show.print_rows(RowTable(map(asdict, findings), columns).lines(as_rows))
        return
    for finding in findings:
        print(show.printable(f"{finding.level}: {finding.about}: {finding.reason}"))
        print(show.printable(f"    {finding.remedy}"))
