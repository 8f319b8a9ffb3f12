"""Names of the neardup fields in a collection: chosen, listed, and those that clash."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from neardup_solr.errors import ArgumentError, DataError
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import OWN, Names
from neardup_solr.solr.schema import Field, Schema


def choose_names(
    names: Names, key: str, *, text: Sequence[str] = (), prefix: str | None = None
) -> Names:
    """Choose the names of a collection: those before, its unique key, and the new names instead.

    Raises ArgumentError if a name is impossible, and DataError if that follows from the key.
    """
    texts = tuple(text) or names.text
    try:
        return replace(names, id=key or names.id, text=texts,
                       prefix=names.prefix if prefix is None else prefix)  # fmt: skip
    except ArgumentError as error:
        if not key:
            raise
        raise DataError(error.reason, error.next_step, code=error.code) from None


def own_fields(collection: Collection) -> frozenset[str]:
    """Return the collection's names of the fields that are ours."""
    return frozenset(map(collection.names.of, OWN))


def clash(name: str, needed: Field, schema: Schema, names: Names, used: Container[str]) -> str:
    """Say why a name of ours cannot be used in a collection, or "" if it can."""
    existing = schema.fields.get(name)
    if existing is not None and (problem := existing.problem(needed)):
        return problem
    # If that field is missing, the values cannot be ours.
    if name in used and names.of("signature_settings") not in schema.fields:
        return f"documents contain it {'with other values' if existing else 'as a dynamic field'}"
    return ""
