"""Documents without a signature: how many there are, and what adds it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS
from neardup_solr.solr.query import having
from neardup_solr.solr.schema import NEST_PATH, Schema, read_schema
from neardup_solr.text.characters import is_unspaced

SAMPLE = 100  # documents whose texts are looked at
UNSPACED = (
    "with this collection's settings, texts in scripts without spaces (Chinese, Thai, …) are"
    " compared as whole words; to find near-duplicates among them, use a new collection"
)


def roots_only(schema: Schema) -> list[str]:
    """Filters that leave out nested documents: an update of their parent includes them."""
    return [f"-{having(NEST_PATH)}"] if NEST_PATH in schema.fields else []


def with_text(collection: Collection, schema: Schema) -> list[str]:
    """A filter for documents with text, if all of its fields can be searched."""
    fields = [schema.field(name) for name in collection.names.text]
    if not all(field is not None and (field.indexed or field.doc_values) for field in fields):
        return []
    return [having(*collection.names.text)]


def count_unsigned(collection: Collection, schema: Schema, fq: Sequence[str] = ()) -> int:
    """Count the documents with a text but none of our fields. Nested ones need none.

    Only those that match `fq` are counted.
    """
    without = f"-{having(collection.names.of(SETTINGS))}"
    return collection.count([*roots_only(schema), without, *with_text(collection, schema), *fq])


def describe_unsigned(collection: Collection, count: int | None = None) -> list[str]:
    """Say how many documents have a text but no signature, if any.

    `count` is their number, if they are counted already.
    """
    if count is None:
        count = count_unsigned(collection, read_schema(collection))
    if not count:
        return describe_unspaced(collection)
    again = remedy(collection, "index them again", "adds signatures")
    unsigned = f"documents without a signature: {count:,}; {again}"
    return [unsigned, *describe_unspaced(collection)]


def describe_unspaced(collection: Collection) -> list[str]:
    """Say what a collection of an earlier normalization misses, if its first documents show it."""
    settings = collection.known_settings
    if settings is None or settings.normalization > 1:
        return []
    texts = collection.texts(list(islice(collection.ids(), SAMPLE))).values()
    return [UNSPACED] if any(map(is_unspaced, texts)) else []


def remedy(collection: Collection, index: str, annotated: str) -> str:
    """Say `index`, or, if another program indexes the documents, what annotate does."""
    annotate = f"neardup annotate {collection.place} {annotated}"
    return index if collection.names.is_plain else annotate
