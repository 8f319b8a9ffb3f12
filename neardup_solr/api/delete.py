"""The function `nd.delete`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import Id

if TYPE_CHECKING:
    from neardup_solr import Collection


@public
def delete(
    collection: Collection,
    ids: Sequence[Id] = (),
    *,
    query: str | None = None,
    dry_run: bool = False,
) -> int:
    """Delete documents by id, or by a query in Solr's syntax.

    Example: `nd.delete(listings, ["12", "13"])`

    Returns the number of documents that matched. Unknown ids are ignored; "*:*" matches all
    documents.

    Raises SolrAnswerError if Solr does not understand the query or still has the documents
    afterwards, SettingsError if the name is an alias of several collections, ArgumentError if `ids`
    is a string.
    """
    from neardup_solr.verbs.delete import delete_documents

    return delete_documents(collection, ids, query=query, dry_run=dry_run)
