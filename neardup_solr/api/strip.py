"""The function `nd.strip`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore
from neardup_solr.checks import listed

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import OnError, OnProgress, StripSummary


@public
def strip(
    collection: Collection,
    *,
    query: OneOrMore = (),
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> StripSummary:
    """Remove the neardup fields, including marks, from the documents of a collection.

    Example: `nd.strip(books, query="title:bread").stripped`

    Other fields stay as they are. After an interruption, run the same call again.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    from neardup_solr.verbs.annotate.rate_limit import RateLimit
    from neardup_solr.verbs.annotate.stripping import strip_fields

    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    return strip_fields(
        collection, query=listed(query), pace=pace, patience=patience,
        on_error=on_error, on_progress=on_progress,
    )  # fmt: skip
