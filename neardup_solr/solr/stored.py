"""The settings that a collection was indexed with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Solr

FIELD = "signature_settings"


def stored_settings(solr: Solr) -> Settings | None:
    """The settings stored with the documents of a collection; None where it has no documents.

    Raises SettingsError where documents differ in them, SchemaError where the field is missing.
    """
    counts = _fingerprints(solr)
    if len(counts) > 1:
        shown = "; ".join(f"{count:,} documents with [{name}]" for name, count in counts.items())
        raise SettingsError(
            f"the collection mixes settings: {shown}",
            "finish the reband that was interrupted, or delete the documents of one kind"
            f" (neardup delete --query '{solr.names.of(FIELD)}:\"...\"') and index them again",
        )
    return Settings.parse(next(iter(counts))) if counts else None


def needed_settings(solr: Solr) -> Settings:
    """As `stored_settings`, of a collection that has to have some.

    Raises SettingsError also where it is empty, or where nobody has annotated it.
    """
    settings = stored_settings(solr)
    if settings is not None:
        return settings
    if count := solr.count():
        raise SettingsError(
            f"none of the {count:,} documents of {solr.core!r} has fields to compare",
            f"add them first: neardup annotate {solr.core}",
        )
    reason = f"the collection {solr.core!r} has no documents"
    raise SettingsError(reason, "index some: neardup index FILE")


def settle(solr: Solr, asked: Settings | Mapping[str, Any] | None) -> Settings:
    """The settings to index with: those asked for, else those stored, else the defaults.

    A mapping asks for some of them by name.

    Raises SettingsError that shows both, where asked and stored ones differ.
    """
    # Documents of a run that was interrupted are not yet seen by searches; they count, too.
    solr.commit()
    stored = stored_settings(solr)
    if isinstance(asked, Mapping):
        asked = replace(stored or Settings(), **asked)
    if asked is not None and stored is not None and stored != asked:
        raise SettingsError(
            f"the collection was indexed with [{stored.fingerprint}],"
            f" and [{asked.fingerprint}] was asked for",
            "leave these options out to use the stored settings, or index into another core",
        )
    return asked or stored or Settings()


def _fingerprints(solr: Solr) -> dict[str, int]:
    solr.require_fields([FIELD])
    return solr.values(FIELD)
