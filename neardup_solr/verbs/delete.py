"""delete: take documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.solr.collection import Solr


def delete(solr: Solr, *, ids: Sequence[str] = (), filter: str | None = None) -> int:
    """Delete documents by id and by a query in Solr's syntax ("*:*" is all of them).

    Returns how many documents matched; ids that are not there are no error.

    Raises SolrAnswerError where Solr does not understand the query (nothing is deleted then), and
    TypeError for ids that are one string.
    """
    if isinstance(ids, str):
        raise TypeError(f"ids is a list of ids, not a single string: give ids=[{ids!r}]")
    # What an interrupted run sent is not yet seen by searches, and so would not be counted.
    solr.commit()
    matching = _matching(solr, ids, filter)
    solr.delete_ids(ids)
    if filter is not None:
        solr.delete_query(filter)
    solr.commit()
    return matching


def _matching(solr: Solr, ids: Sequence[str], filter: str | None) -> int:
    named = solr.count(ids=ids) if ids else 0
    if filter is None:
        return named
    both = solr.count([filter], ids=ids) if ids else 0
    return named + solr.count([filter]) - both
