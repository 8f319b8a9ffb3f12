"""Checks before the documents of a collection are updated in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.solr import admin, schema, update
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID, OWN, TEXT
from neardup_solr.solr.schema import INTERNAL, Schema
from neardup_solr.verbs import lint
from neardup_solr.verbs.lint import rules

SAMPLE = 500  # documents whose copied fields are compared with what they were copied from
LOOKED_AT = 100  # documents whose fields stand for those of all, if Solr does not tell
_NATIVE = "content_native"  # MinHashes that Solr makes of the text, where asked to (docs/native.md)
_TEXTS = frozenset({"StrField", "TextField", "SortableTextField"})


def own_fields(collection: Collection) -> frozenset[str]:
    """The collection's names of the fields that are ours."""
    return frozenset(map(collection.names.of, OWN))


def require_safe(collection: Collection) -> Schema:
    """Refuse a collection in which an update in place would lose data; returns its schema.

    Raises SettingsError, which says what would be lost, and what to do instead.
    """
    collection.require_placed()
    lint.require_safe(collection)
    found = schema.described(collection)
    _require_only_copied(collection, found)
    return found


def require_readable(collection: Collection) -> None:
    """Refuse text fields whose values Solr does not return, by SettingsError."""
    require_texts(collection, schema.described(collection), collection.names.text)


def require_texts(collection: Collection, found: Schema, fields: Iterable[str]) -> None:
    """Refuse fields that no texts can be read from; the SettingsError suggests others.

    Our own fields are never suggested.
    """
    for name in fields:
        if problem := rules.no_text(found.field(name)):
            used = admin.used_fields(collection) or ()
            next_step = rules.text_field(found, schema.wanted(collection.names), used)
            raise SettingsError(f"the text field {name!r}: {problem}", next_step)


def require_other(collection: Collection, other: Collection) -> None:
    """Refuse to write a collection into itself or into someone else's, by SettingsError.

    Its documents would be replaced, so they may have only the fields that are written.
    """
    there = admin.cluster(other)
    names = {collection.name, *admin.alias_of(admin.cluster(collection), collection.name)}
    others = {other.name, *admin.alias_of(there, other.name)}
    made = replace(other, name="OTHER").place
    next_step = f"name another collection, made with: neardup init {made}"
    if admin.is_read_only(there, other.name):
        raise SettingsError(f"{other.name!r} is read-only", next_step)
    if collection.base == other.base and names & others:
        raise SettingsError(f"{collection.name!r} would be written into itself", next_step)
    written = {*other.names.fields([ID, TEXT]), *own_fields(other)}
    lost = sorted(_used(other) - written - INTERNAL - {_NATIVE})
    if other.count() and (lost or not other.names.is_plain):
        what = f" with the fields {', '.join(lost)}" if lost else " of another program"
        reason = f"{other.name!r} has documents{what}, which would be replaced"
        raise SettingsError(reason, next_step)


def _used(collection: Collection) -> frozenset[str]:
    """The fields that documents have; if Solr does not tell, those of the first documents."""
    told = admin.used_fields(collection)
    if told is None:  # as for a collection of ours
        told = frozenset().union(
            *update.whole(collection, list(islice(collection.ids(), LOOKED_AT)))
        )
    return told


def _require_only_copied(collection: Collection, found: Schema) -> None:
    """Refuse fields that are both copied to and written: an update keeps only the copies."""
    targets = [target for _, target in found.copies]
    ids = list(islice(collection.ids(), SAMPLE)) if targets else []
    for document in update.whole(collection, ids) if ids else []:
        for name in (name for name in document if _is_text_of(name, targets, found)):
            if _was_written(name, document):
                id = document[collection.names.id]
                reason = f"{name}: the document {id!r} has a value there that was not copied"
                into = f"neardup annotate {collection.place} --into OTHER"
                next_step = f"write another collection: {into}"
                raise SettingsError(f"{reason}, and an update would lose it", next_step)


def _is_text_of(name: str, targets: Sequence[str], found: Schema) -> bool:
    field = found.field(name)
    is_target = any(fnmatchcase(name, each) for each in targets)
    return is_target and field is not None and field.kind in _TEXTS


def _was_written(name: str, document: Mapping[str, Any]) -> bool:
    """Whether a copied field has a value that is no beginning of another field's (maxChars)."""
    others = [each for other in document if other != name for each in _values(document[other])]
    return not all(
        any(each.startswith(value) for each in others) for value in _values(document[name])
    )


def _values(value: Any) -> Iterator[str]:
    yield from map(str, value if isinstance(value, list) else [value])
