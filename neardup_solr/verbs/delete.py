"""delete: take documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.solr.collection import Collection


def delete(collection: Collection, *, ids: Sequence[str] = (), filter: str | None = None) -> int:
    """Delete documents by id and by a query in Solr's syntax ("*:*" is all of them).

    Returns how many documents matched; ids that are not there are no error.

    Raises SolrAnswerError where Solr does not understand the query (nothing is deleted then), and
    TypeError for ids that are one string.
    """
    if isinstance(ids, str):
        raise TypeError(f"ids is a list of ids, not a single string: give ids=[{ids!r}]")
    # What an interrupted run sent is not yet seen by searches, and so would not be counted.
    collection.commit()
    matching = _matching(collection, ids, filter)
    collection.delete_ids(ids)
    if filter is not None:
        collection.delete_query(filter)
    collection.commit()
    return matching


def _matching(collection: Collection, ids: Sequence[str], filter: str | None) -> int:
    named = collection.count(ids=ids) if ids else 0
    if filter is None:
        return named
    both = collection.count([filter], ids=ids) if ids else 0
    return named + collection.count([filter]) - both
