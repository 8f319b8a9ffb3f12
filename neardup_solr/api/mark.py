"""The function `nd.mark`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Cluster, Collection, Duplicates
    from neardup_solr.types import Marks, OnProgress


@public
def mark(
    collection: Collection,
    clusters: Duplicates | Sequence[Cluster],
    *,
    fq: OneOrMore = (),
    yes: bool = False,
    dry_run: bool = False,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> Marks:
    """Mark the documents of each cluster, and clear earlier marks.

    Example: `nd.mark(listings, nd.duplicates(listings), dry_run=True)`

    Marked documents get the fields `neardup_cluster`, `neardup_canonical` and `neardup_rank` (see
    docs/collapse.md). If `duplicates` had an `fq`, pass its whole result instead of `.clusters`, so
    that documents outside the `fq` keep their marks. A document whose text is replaced during the
    call gets no mark. Repeat the call if it is interrupted.

    Raises ArgumentError if a document is in two clusters or no document is in the collection,
    TemplateError if documents of a cluster may be no copies, by its `doubt`, SettingsError if the
    collection lacks the fields for marks or an update would lose data, SolrError if Solr does not
    answer or refuses updates.
    """
    from neardup_solr.verbs.mark import mark_clusters

    return mark_clusters(
        collection,
        clusters,
        fq=fq,
        yes=yes,
        dry_run=dry_run,
        patience=patience,
        on_progress=on_progress,
    )
