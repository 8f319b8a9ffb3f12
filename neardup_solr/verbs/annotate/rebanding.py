"""reband: other bands, from the signatures that a collection has stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neardup_solr.checks import require_positive
from neardup_solr.errors import DataError, SettingsError, SolrAnswerError
from neardup_solr.minhash import signature
from neardup_solr.progress import OnProgress, ignore
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, SETTINGS, VERSION
from neardup_solr.solr.patience import keep_patience
from neardup_solr.solr.query import having
from neardup_solr.solr.update import Order
from neardup_solr.verbs.annotate.rewrite import Rewrite, Row


def compute_bands(
    collection: Collection, bands: int, rows: int, *, patience: float | str,
    on_progress: OnProgress | None,
) -> int:  # fmt: skip
    """Give documents so many bands of so many rows, and return how many were updated."""
    require_positive(bands=bands, rows=rows)
    with keep_patience([collection], patience):
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
        run.on_progress = on_progress or ignore
        run.run([having(field), f'-{field}:"{settings.fingerprint}"'])
        if run.failures.count:
            reason = f"some updates failed: {run.failures.first[-1].reason}"
            step = "run this again"
            raise SolrAnswerError(collection.url, 200, reason, step, code="write-incomplete")
        return run.read - run.gone


def _choose_settings(collection: Collection, bands: int, rows: int) -> Settings:
    """Choose the settings of a collection, with other bands."""
    collection.require_fields([SETTINGS, "signature", BANDS])
    stored = [Settings.parse(fingerprint) for fingerprint in collection.values(SETTINGS)]
    stored = stored or [collection.needed_settings()]  # which says what is missing
    hashes = stored[0].hashes
    if bands * rows > hashes:
        reason = f"{bands} bands of {rows} rows need {bands * rows} hashes, but {hashes} are stored"
        step = f"set `bands` to {hashes // rows}"
        if rows > hashes:
            step = f"choose `bands` and `rows` whose product is at most {hashes}"
        raise DataError(reason, step, code="argument-out-of-range")
    chosen = replace(stored[0], bands=bands, rows=rows)
    chosen.require("signature", BANDS)
    for settings in stored:
        if replace(settings, bands=bands, rows=rows) != chosen:
            reason = f"documents have [{stored[0].fingerprint}] and [{settings.fingerprint}]"
            other = "which differ in more than bands and rows"
            step = f"see: neardup doctor {collection.place}"
            raise SettingsError(f"{reason}, {other}", step, code="settings-differ")
    return chosen
