"""The function `nd.doctor`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Diagnosis


@public
def doctor(collection: Collection, *, sample: int = 1_000) -> Diagnosis:
    """Count the documents by settings, and recompute the fields of a sample.

    Example: `nd.doctor(listings).documents`

    Nothing is written. Every run takes the same sample. Uncommitted documents do not count.

    Raises SettingsError if stored settings are not understood, SchemaError if the collection has no
    neardup fields, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.doctor import diagnose

    return diagnose(collection, sample=sample)
