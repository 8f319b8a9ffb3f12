"""The command doctor."""

from __future__ import annotations

from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import lint, options, show


def doctor(
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    sample: Annotated[int, typer.Option(help="Documents to compute anew.", min=0)] = 1000,
    format: options.FormatOption = None,
) -> None:
    """Check the fields of a collection, and the state of its server.

    The fields have to match the texts; a sample is computed anew.

    The exit code is 3 if something has to be done.
    """
    as_rows = options.rows_format(format)
    found = nd.doctor(options.connect(solr, collection), sample=sample)
    lint.print_findings(found.findings, as_rows)
    for fingerprint, count in found.settings.items():
        show.say(f"{show.counted(count, 'document')} with [{fingerprint}].")
    documents = show.counted(found.documents, "document")
    problems = show.counted(len(found.problems), "problem")
    show.say(f"{documents}, {found.missing:,} missing, {found.sampled:,} sampled: {problems}.")
    if found.problems:
        raise typer.Exit(lint.DANGEROUS)
