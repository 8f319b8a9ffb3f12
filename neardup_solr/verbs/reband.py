"""reband: give a collection other bands, from its stored signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from neardup_solr.arguments import checked, require_positive
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.minhash import signature
from neardup_solr.settings import Settings
from neardup_solr.solr import update
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS
from neardup_solr.solr.settle import settle

BATCH = 1_000


@checked
def reband(collection: Collection, *, bands: int, rows: int) -> int:
    """Give a collection other bands, from its stored signatures. No text is read.

    Each document is updated atomically, which keeps its other fields, and only if nobody has
    changed it meanwhile. Returns the number of updated documents. Until it ends, the collection
    has mixed settings and cannot be searched; after an interruption the same call continues where
    it stopped.

    Raises ArgumentError if a number is not 1 or more, SettingsError if `bands` × `rows` exceeds the
    stored hashes, the stored settings differ in more than bands, or leave out signature or bands,
    or an id could be in several shards; SolrError if Solr does not answer, or refuses updates.
    """
    require_positive(bands=bands, rows=rows)
    collection.require_placed()
    collection.commit()
    settings = _settings(collection, bands, rows)
    old = _old_fingerprints(collection, settings)
    changed, reason = 0, ""

    def write(counts: Mapping[str, int]) -> None:
        nonlocal changed, reason
        ids = chain.from_iterable(collection.ids([_written_with(collection, o)]) for o in counts)
        while batch := list(islice(ids, BATCH)):
            updates = list(_updates(collection, batch, settings))
            refused = update.set_fields(collection, updates)
            changed += len(updates) - len(refused)
            reason = refused[-1].reason if refused else reason

    def outdated() -> dict[str, int]:
        counts = {o: collection.count([_written_with(collection, o)]) for o in old}
        return {o: count for o, count in counts.items() if count}

    if settle(collection, write, outdated, outdated()):
        reason = f"some updates were refused: {reason}"
        raise SolrAnswerError(collection.url, 200, reason, "run it again")
    return changed


def _settings(collection: Collection, bands: int, rows: int) -> Settings:
    """Choose the settings of a collection, with other bands."""
    collection.require_fields([SETTINGS, "signature", "content_bands"])
    stored = next(iter(collection.values(SETTINGS)), None)
    if stored is None:
        reason = f"the collection {collection.name!r} has no documents"
        raise SettingsError(reason, f"index some: neardup index FILE {collection.place}")
    return replace(Settings.parse(stored), bands=bands, rows=rows)


def _old_fingerprints(collection: Collection, settings: Settings) -> Sequence[str]:
    """List the fingerprints in a collection that differ from these settings, in bands alone."""
    settings.require("signature", "content_bands")
    old = [each for each in collection.values(SETTINGS) if each != settings.fingerprint]
    for fingerprint in old:
        stored = Settings.parse(fingerprint)
        if replace(stored, bands=settings.bands, rows=settings.rows) != settings:
            raise SettingsError(
                f"the collection was indexed with [{fingerprint}],"
                f" and [{settings.fingerprint}] differs in more than bands",
                "change only bands and rows, or index the texts into another collection",
            )
    return old


def _written_with(collection: Collection, fingerprint: str) -> str:
    return f"{{!term f={collection.names.of(SETTINGS)}}}{fingerprint}"


def _updates(
    collection: Collection, ids: Sequence[str], settings: Settings
) -> Iterator[dict[str, Any]]:
    for stored in collection.stored(ids, ["signature", "_version_"]):
        keys = signature.make_band_keys(signature.decode(stored.get("signature", "")), settings)
        # With its version, an update of a document that has changed since is refused.
        yield {
            "id": stored["id"],
            "_version_": stored["_version_"],
            SETTINGS: {"set": settings.fingerprint},
            "content_bands": {"set": keys},
        }
