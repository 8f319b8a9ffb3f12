"""What has to hold before a collection's documents are updated in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

from neardup_solr.edges import atomic, schema
from neardup_solr.edges.client import Solr
from neardup_solr.pure.errors import SettingsError
from neardup_solr.pure.names import OWN
from neardup_solr.pure.schema import Schema
from neardup_solr.verbs import linting

PATH = "_nest_path_"
SAMPLE = 500  # documents whose copied fields are compared with what they were copied from
_TEXTS = frozenset({"StrField", "TextField", "SortableTextField"})


def own_fields(solr: Solr) -> frozenset[str]:
    """The collection's names of the fields that are ours."""
    return frozenset(map(solr.names.of, OWN))


def roots_only(found: Schema) -> list[str]:
    """Filters that leave out nested documents: an update of their parent takes them along."""
    return [f"-{PATH}:[* TO *]"] if PATH in found.fields else []


def require_safe(solr: Solr) -> Schema:
    """Refuse a collection in which an update in place would lose data; gives its schema.

    Raises SettingsError that says what would be lost, and what to do instead.
    """
    linting.require_safe(solr)
    found = schema.described(solr)
    _require_only_copied(solr, found)
    return found


def require_readable(solr: Solr) -> None:
    """Refuse text fields whose values Solr does not give back, by SettingsError."""
    found = schema.described(solr)
    for name in solr.names.text:
        field = found.field(name)
        if field is None or not field.is_kept:
            said = "is not in the schema" if field is None else "cannot be read back"
            next_step = "name a stored field with --text-field, or index the texts: neardup index"
            raise SettingsError(f"the text field {name!r} {said}", next_step)


def require_other(solr: Solr, other: Solr) -> None:
    """Refuse to write a collection into itself, by SettingsError."""
    if solr.url == other.url:
        reason = f"{solr.core!r} would be written into itself"
        raise SettingsError(reason, "name another collection, made with: neardup init OTHER")


def _require_only_copied(solr: Solr, found: Schema) -> None:
    """Refuse fields that are copied to and written to: an update keeps what is copied alone."""
    targets = [target for _, target in found.copies]
    ids = list(islice(solr.ids(), SAMPLE)) if targets else []
    for document in atomic.whole(solr, ids) if ids else []:
        for name in (name for name in document if _is_text_of(name, targets, found)):
            if _was_written(name, document):
                id = document[solr.names.id]
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
