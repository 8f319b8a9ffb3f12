"""The function `nd.reband`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import OnProgress


@public
def reband(
    collection: Collection,
    *,
    bands: int,
    rows: int,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> int:
    """Recompute the bands of a collection from its stored signatures.

    Example: `nd.reband(listings, bands=35, rows=3)`

    Returns the number of updated documents. Until the call ends, searches fail because documents
    have different settings. If Solr is away, the call waits for it, at most `patience` (seconds,
    or "5m"). After an interruption, run the same call again.

    Raises ArgumentError if a number is below 1; SettingsError if `bands` × `rows` exceeds the
    stored hashes, the stored settings are mixed or lack signatures or bands, an id could be in
    several shards, or an update would lose data; SolrError if Solr does not answer or refuses
    updates.
    """
    from neardup_solr.verbs.annotate.rebanding import compute_bands

    return compute_bands(collection, bands, rows, patience=patience, on_progress=on_progress)
