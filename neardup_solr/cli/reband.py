"""The command reband."""

from __future__ import annotations

from typing import Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show


def reband(
    bands: Annotated[int, typer.Option(help="LSH bands.", min=1)],
    band_rows: Annotated[int, typer.Option(help="Rows of a band.", min=1)],
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Give a collection other bands, from its stored signatures.

    No text is read, and nothing else is changed.
    """
    target = options.connect(solr, collection)
    show.compile_kernel()
    with progress.resumable():
        changed = nd.reband(target, bands=bands, rows=band_rows)
    documents = show.counted(changed, "document")
    show.say(f"{documents} of {target.url} changed to {bands} bands of {band_rows} rows.")
