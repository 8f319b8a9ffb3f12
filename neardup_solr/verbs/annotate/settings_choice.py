"""The settings to annotate with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import settings_of
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS, TEXT
from neardup_solr.verbs.annotate.needs import MD5
from neardup_solr.verbs.collection_measure import normal_forms, sample_texts
from neardup_solr.verbs.settings_by_texts import fit_settings


def choose_settings(
    collection: Collection, settings: Settings | Mapping[str, Any] | None, usual: Settings,
    source: Collection | None = None,
) -> Settings:  # fmt: skip
    """Choose the settings to annotate with. The text counts as a field, as it is stored.

    They are the `usual` ones, unless others are chosen or stored, with the measure that suits
    the first texts of the collection, or of its `source`.

    Raises SettingsError if the collection has other settings, SchemaError if it lacks fields.
    """
    always = {TEXT, MD5}
    if isinstance(settings, Settings):
        settings = replace(settings, fields=settings.fields | always)
    elif settings and "fields" in settings:
        fields = settings_of({"fields": settings["fields"]}, usual).fields
        settings = {**settings, "fields": fields | always}

    def choose() -> Settings:
        """Choose the measure by the first texts."""
        texts = list(sample_texts(source or collection))
        forms = normal_forms(texts, settings_of(settings, usual))
        return fit_settings(settings, usual, texts, [len(form.split()) for form in forms])

    step = {}
    if source is None:
        others = f"to change others: neardup strip {collection.place}, then annotate again"
        step["step"] = f"omit these settings; to change bands: neardup reband; {others}"
    chosen = collection.choose_settings(settings, choose, **step)
    if not always <= chosen.fields:
        reason = f"the collection has documents without {', '.join(sorted(always - chosen.fields))}"
        first = f"strip it first: neardup strip {collection.place}"
        raise SettingsError(reason, first, code="settings-differ")
    collection.require_fields(["id", *sorted(chosen.fields), SETTINGS])
    return chosen
