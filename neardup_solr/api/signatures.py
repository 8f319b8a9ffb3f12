"""The function `nd.signatures`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Settings
    from neardup_solr.types import OnError, OnProgress, SignaturesSummary, SourceLike


@public
def signatures(
    source: SourceLike,
    output: str | Path,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> SignaturesSummary:
    """Write the signatures and bands of a source to a Parquet file, without Solr.

    Example: `nd.signatures("listings.csv", "signatures.parquet").written`

    The columns are `id` (string), `words` (int64), `signature` (a list of `hashes` uint32 values)
    and `bands` (a list of `bands` uint64 values); both lists are null for a text without words. The
    metadata entry "neardup_settings" is the fingerprint of the settings.

    Raises SourceError if the source cannot be read, or if the output file cannot be written or is
    the source.
    """
    from neardup_solr.verbs.signatures import write_signatures

    return write_signatures(
        source,
        output,
        id=id,
        text=text,
        settings=settings,
        on_error=on_error,
        on_progress=on_progress,
    )
