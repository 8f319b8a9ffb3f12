"""The function `nd.retry`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import OnError, OnProgress, RetrySummary


@public
def retry(
    collection: Collection,
    *,
    job: str | Path | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> RetrySummary:
    """Retry the dead letters of a collection or of a job.

    Example: `nd.retry(listings, job="old").indexed`

    After the job has ended, you may edit the records in its dead-letters.jsonl. Letters leave that
    file once their documents are committed and searchable; letters that fail again stay, with the
    new reason if their record can be read.

    Raises JobError if the folder has no job, the job has not ended or its files cannot be read,
    SettingsError if documents would lose columns, SourceError if the dead letters cannot be
    written, SolrError if Solr stays unavailable.
    """
    from neardup_solr.verbs.retry import retry_letters

    return retry_letters(
        collection, job=job, patience=patience, on_error=on_error, on_progress=on_progress
    )
