"""delete: take documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.edges.client import Solr


def delete(solr: Solr, *, ids: Sequence[str] = (), filter: str | None = None) -> int:
    """Delete documents by id and by a query in Solr's syntax ("*:*" is all of them).

    Returns how many documents the collection has fewer; ids that are not there are no error.
    """
    before = solr.count()
    solr.delete_ids(ids)
    if filter is not None:
        solr.delete_query(filter)
    solr.commit()
    return before - solr.count()
