"""Conditions that a collection meets before its documents are written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from neardup_solr.errors import SettingsError
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, TEXT
from neardup_solr.solr.schema import INTERNAL, Schema
from neardup_solr.verbs.field_names import own_fields
from neardup_solr.verbs.lint import check_collection

LOOKED_AT = 100  # documents whose fields stand for those of all, if Solr does not tell
NATIVE = "content_native"  # MinHashes by Solr, if configured (docs/interoperability.md)


def require_safe(collection: Collection, *, text: Sequence[str] = ()) -> Schema:
    """Refuse a collection in which an update in place would lose data, and return its schema.

    Raises SettingsError, which says what would be lost, and what to do instead.
    """
    collection.require_placed()
    dangers = check_collection(collection, text=text).dangers
    if dangers:
        first, more = dangers[0], len(dangers) - 1
        others = f" (and {more} more: neardup lint {collection.place})" if more else ""
        reason = f"{first.about}: {first.reason}{others}"
        raise SettingsError(reason, first.remedy, code="data-at-risk")
    return schema.read_schema(collection)


def require_other(collection: Collection, other: Collection) -> None:
    """Refuse to write a collection into itself or into someone else's, by SettingsError.

    Its documents would be replaced, so they may have only the fields that are written.
    """
    cluster = admin.cluster(other)
    names = {collection.name, *admin.cluster(collection).alias_of}
    others = {other.name, *cluster.alias_of}
    place = other.beside("OTHER").place
    next_step = f"name a different collection, created with: neardup init {place}"
    if cluster.is_read_only:
        raise SettingsError(f"{other.name!r} is read-only", next_step, code="collection-read-only")
    if collection.base == other.base and names & others:
        reason = f"{collection.name!r} would be written into itself"
        raise SettingsError(reason, next_step, code="collection-unfit")
    written = {*other.names.fields([ID, TEXT]), *own_fields(other)}
    lost = sorted(_fields_in_use(other) - written - INTERNAL - {NATIVE})
    if other.count() and (lost or not other.names.is_plain):
        what = f" with the fields {', '.join(lost)}" if lost else " from another program"
        reason = f"{other.name!r} has documents{what}, which would be replaced"
        raise SettingsError(reason, next_step, code="collection-unfit")


def _fields_in_use(collection: Collection) -> frozenset[str]:
    """List the fields that documents have, or the first ones have, if Solr does not tell."""
    used = admin.used_fields(collection)
    if used is None:  # as for a collection of ours
        used = frozenset().union(*collection.whole(list(islice(collection.ids(), LOOKED_AT))))
    return used
