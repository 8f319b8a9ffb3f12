"""reband: give a collection other bands, from its stored signatures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neardup_solr.arguments import checked, require_positive
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.minhash import signature
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, SETTINGS, VERSION
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row


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
    settings = _choose_settings(collection, bands, rows)

    def make_orders(documents: list[Row], again: bool) -> list[Order]:
        rows = [row for row in documents if row.get(SETTINGS) != settings.fingerprint]
        return [Order(row["id"], row[VERSION], names.physical(fields(row))) for row in rows]

    def fields(row: Row) -> dict[str, Any]:
        keys = signature.make_band_keys(signature.decode(row.get("signature", "")), settings)
        return {SETTINGS: settings.fingerprint, BANDS: keys}

    names, read = collection.names, ["signature", SETTINGS, VERSION]
    run, field = Rewrite(collection, "rebanding", read, make_orders), names.of(SETTINGS)
    run.run([f"{field}:[* TO *]", f'-{field}:"{settings.fingerprint}"'])
    if run.failures.count:
        reason = f"some updates were refused: {run.failures.first[-1].reason}"
        raise SolrAnswerError(collection.url, 200, reason, "run it again")
    return run.read - run.gone


def _choose_settings(collection: Collection, bands: int, rows: int) -> Settings:
    """Choose the settings of a collection, with other bands."""
    collection.require_fields([SETTINGS, "signature", BANDS])
    stored = [Settings.parse(fingerprint) for fingerprint in collection.values(SETTINGS)]
    if not stored:
        reason = f"the collection {collection.name!r} has no documents"
        raise SettingsError(reason, f"index some: neardup index FILE {collection.place}")
    chosen = replace(stored[0], bands=bands, rows=rows)
    chosen.require("signature", BANDS)
    for settings in stored:
        if replace(settings, bands=bands, rows=rows) != chosen:
            raise SettingsError(
                f"the collection was indexed with [{settings.fingerprint}],"
                f" and [{chosen.fingerprint}] differs in more than bands",
                "change only bands and rows, or index the texts into another collection",
            )
    return chosen
