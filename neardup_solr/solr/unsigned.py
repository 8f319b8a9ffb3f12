"""Documents of a collection that lack our fields, and what to say of them."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS
from neardup_solr.solr.schema import Schema

PATH = "_nest_path_"
CHANGED = "the collection has changed meanwhile; run it again"


def roots_only(found: Schema) -> list[str]:
    """Filters that leave out nested documents: an update of their parent includes them."""
    return [f"-{PATH}:[* TO *]"] if PATH in found.fields else []


def with_text(collection: Collection, found: Schema) -> list[str]:
    """A filter for documents with text, if all of its fields can be searched."""
    fields = {name: found.field(name) for name in collection.names.text}
    if not all(one is not None and (one.indexed or one.doc_values) for one in fields.values()):
        return []
    return [" OR ".join(f"{name}:[* TO *]" for name in fields)]


def count_unsigned(collection: Collection, found: Schema, fq: Sequence[str] = ()) -> int:
    """Count the documents with a text but none of our fields; nested ones need none.

    Only those that match `fq` are counted.
    """
    without = f"-{collection.names.of(SETTINGS)}:[* TO *]"
    return collection.count([*roots_only(found), without, *with_text(collection, found), *fq])


def describe_unsigned(collection: Collection, count: int | None = None) -> list[str]:
    """Say how many documents have a text but no signature; nothing if there are none.

    `count` is their number, if it is known already.
    """
    if count is None:
        count = count_unsigned(collection, schema.read_schema(collection))
    if not count:
        return []
    again = remedy(collection, "index them again", "adds them")
    return [f"documents without a signature: {count:,}; {again}"]


def remedy(collection: Collection, index: str, annotated: str) -> str:
    """Say `index`, or, if another program indexes the documents, what annotate does."""
    return (
        index if collection.names.is_plain else f"neardup annotate {collection.place} {annotated}"
    )
