"""What has to hold before a collection's documents are updated in place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.solr import probe, schema, update
from neardup_solr.solr.collection import NATIVE, Collection
from neardup_solr.solr.names import ID, OWN, SETTINGS, TEXT, Names
from neardup_solr.solr.schema import INTERNAL, Schema
from neardup_solr.verbs import lint
from neardup_solr.verbs.lint import rules

PATH = "_nest_path_"
SAMPLE = 500  # documents whose copied fields are compared with what they were copied from
LOOKED_AT = 100  # documents whose fields are those of all, where Solr does not tell
_TEXTS = frozenset({"StrField", "TextField", "SortableTextField"})


def own_fields(collection: Collection) -> frozenset[str]:
    """The collection's names of the fields that are ours."""
    return frozenset(map(collection.names.of, OWN))


def roots_only(found: Schema) -> list[str]:
    """Filters that leave out nested documents: an update of their parent takes them along."""
    return [f"-{PATH}:[* TO *]"] if PATH in found.fields else []


def with_text(collection: Collection, found: Schema) -> list[str]:
    """A filter for documents with text, if all of its fields can be searched for."""
    fields = {name: found.field(name) for name in collection.names.text}
    if not all(one is not None and (one.indexed or one.doc_values) for one in fields.values()):
        return []
    return [" OR ".join(f"{name}:[* TO *]" for name in fields)]


def count_missing(collection: Collection, found: Schema) -> int:
    """How many documents have text and none of our fields; nested ones need none."""
    without = f"-{collection.names.of(SETTINGS)}:[* TO *]"
    return collection.count([*roots_only(found), without, *with_text(collection, found)])


def require_safe(collection: Collection) -> Schema:
    """Refuse a collection in which an update in place would lose data; gives its schema.

    Raises SettingsError that says what would be lost, and what to do instead.
    """
    lint.require_safe(collection)
    found = schema.described(collection)
    _require_only_copied(collection, found)
    return found


def require_readable(collection: Collection) -> None:
    """Refuse text fields whose values Solr does not give back, by SettingsError."""
    require_texts(schema.described(collection), collection.names.text, collection.names)


def require_texts(found: Schema, fields: Iterable[str], known: Names) -> None:
    """Refuse fields that no texts can be read from, by SettingsError that names likely ones.

    None of our own is likely, by the names that the collection is known to have.
    """
    for name in fields:
        if problem := rules.no_text(found.field(name)):
            next_step = rules.text_field(found, schema.wanted(known))
            raise SettingsError(f"the text field {name!r}: {problem}", next_step)


def require_other(collection: Collection, other: Collection) -> None:
    """Refuse to write a collection into itself or into someone else's, by SettingsError.

    Documents there are replaced, so they may have no fields but those that are written here.
    """
    there = probe.cluster(other)
    names = {collection.name, *probe.alias_of(probe.cluster(collection), collection.name)}
    others = {other.name, *probe.alias_of(there, other.name)}
    next_step = "name another collection, made with: neardup init -c OTHER"
    if probe.is_read_only(there, other.name):
        raise SettingsError(f"{other.name!r} is read-only", next_step)
    if collection.base == other.base and names & others:
        raise SettingsError(f"{collection.name!r} would be written into itself", next_step)
    written = {*other.names.fields([ID, TEXT]), *own_fields(other)}
    lost = sorted(_used(other) - written - INTERNAL - {NATIVE})
    if other.count() and (lost or not other.names.is_plain):
        what = f" with the fields {', '.join(lost)}" if lost else " of someone else's"
        raise SettingsError(f"{other.name!r} has documents{what}, to be replaced", next_step)


def _used(collection: Collection) -> frozenset[str]:
    """The fields that documents have; of some of them, where Solr does not tell of all."""
    told = probe.used_fields(collection)
    if told is None:  # as from a collection of ours
        told = frozenset().union(
            *update.whole(collection, list(islice(collection.ids(), LOOKED_AT)))
        )
    return told


def _require_only_copied(collection: Collection, found: Schema) -> None:
    """Refuse fields that are copied to and written to: an update keeps what is copied alone."""
    targets = [target for _, target in found.copies]
    ids = list(islice(collection.ids(), SAMPLE)) if targets else []
    for document in update.whole(collection, ids) if ids else []:
        for name in (name for name in document if _is_text_of(name, targets, found)):
            if _was_written(name, document):
                id = document[collection.names.id]
                reason = f"{name}: the document {id!r} has a value there that was not copied"
                next_step = "write a collection beside it: neardup annotate --into OTHER"
                raise SettingsError(f"{reason}, an update would lose it", next_step)


def _is_text_of(name: str, targets: Sequence[str], found: Schema) -> bool:
    field = found.field(name)
    is_target = any(fnmatchcase(name, each) for each in targets)
    return is_target and field is not None and field.kind in _TEXTS


def _was_written(name: str, document: Mapping[str, Any]) -> bool:
    """Whether a copied field has a value that begins no value of another field (maxChars cuts)."""
    others = [each for other in document if other != name for each in _values(document[other])]
    return not all(
        any(each.startswith(value) for each in others) for value in _values(document[name])
    )


def _values(value: Any) -> Iterator[str]:
    yield from map(str, value if isinstance(value, list) else [value])
