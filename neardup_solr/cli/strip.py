"""The command strip."""

from __future__ import annotations

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import in_seconds


def strip(
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    query: options.QueriesOption = None,
    rate: options.RateOption = 0,
    threads: options.ThreadsOption = 2,
    batch: options.BatchOption = 1000,
    patience: options.PatienceOption = "5m",
) -> None:
    """Remove our fields from all documents again.

    Marks are removed too; nothing else is changed.
    """
    seconds = in_seconds(patience, "patience")
    target = options.connect(solr, collection, patience=seconds)
    with progress.watching() as watching, progress.resumable():
        done = nd.strip(
            target,
            query=query or (),
            rate=rate,
            threads=threads,
            batch=batch,
            patience=seconds,
            on_error=watching.on_error,
            on_progress=watching.on_progress,
        )
    failed = f", {done.failed:,} failed" if done.failed else ""
    show.say(f"{show.counted(done.stripped, 'document')} stripped{failed} ({done.seconds:.1f} s).")
    if done.failed:
        raise typer.Exit(1)
