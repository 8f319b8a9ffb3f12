"""What may be missing from what was found in a collection, in words that say what to do."""

from __future__ import annotations

from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.annotate import guard

CHANGED = "the collection has changed meanwhile; run it again"


def unsigned(collection: Collection, count: int | None = None) -> list[str]:
    """What to say of documents that have a text but no signature; nothing if there are none.

    `count` is their number, if it is known already.
    """
    if count is None:
        count = guard.count_missing(collection, schema.described(collection))
    if not count:
        return []
    again = "index them again"
    if not collection.names.is_plain:
        again = f"neardup annotate {collection.place} adds them"
    return [f"documents without a signature: {count:,}; {again}"]
