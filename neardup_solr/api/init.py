"""The function `nd.init`: its signature, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Preparation


@public
def init(
    collection: Collection,
    *,
    text: OneOrMore = (),
    prefix: str | None = None,
    shards: int | None = None,
    replicas: int | None = None,
    dry_run: bool = False,
    remove: bool = False,
) -> Preparation:
    """Create a collection with all neardup fields, or add missing fields to an existing collection.

    Example: `nd.init(books, text=["title", "body"], prefix="nd_")`

    Existing documents and other fields stay unchanged. `text` and `prefix` are stored in the
    schema. If the schema cannot be changed over HTTP, `is_done` is False and `xml` has the lines to
    add. An existing collection must match `shards` and `replicas`.

    Raises SettingsError if a neardup field cannot be used or (with `remove`) still has values, or
    if the collection's prefix, shards or replicas differ from the arguments; SolrError if the
    server refuses.
    """
    from neardup_solr.verbs.init import prepare

    return prepare(
        collection,
        text=text,
        prefix=prefix,
        shards=shards,
        replicas=replicas,
        dry_run=dry_run,
        remove=remove,
    )
