"""delete: take documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.arguments import Id, checked, require
from neardup_solr.errors import SolrAnswerError, counted
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.settle import settle


@checked
def delete(
    collection: Collection,
    ids: Sequence[Id] = (),
    *,
    query: str | None = None,
    dry_run: bool = False,
) -> int:
    """Delete documents by id and by a query in Solr's syntax ("*:*" is all of them).

    Ids that are numbers are taken as texts. Returns how many documents matched; an unknown id is
    not an error. A dry run only counts.

    Raises SolrAnswerError if Solr does not understand the query (then nothing is deleted) or the
    collection still has the ids afterwards, SettingsError if the name is an alias of several
    collections, and ArgumentError if `ids` is a text instead of a list.
    """
    named = [str(id) for id in ids]
    require(
        bool(named) or query is not None, "nothing says what to delete", "give `ids` or `query`"
    )
    collection.cluster().require_one()
    # Searches do not see what an interrupted run sent, so it would not be counted.
    collection.commit()
    matching = _matching(collection, named, query)
    if dry_run:
        return matching
    collection.delete_ids(named)
    if query is not None:
        collection.delete_query(query)
    collection.commit()
    if named and collection.session.nodes.is_cloud:
        # A node may lose what it passes on, with a success.
        left = settle(collection, collection.delete_ids, lambda: [*collection.versions(named)])
        if left:
            reason = f"{counted(len(left), 'document')} deleted again and again did not go"
            step = "see that all nodes run and no other program adds them, then delete them again"
            raise SolrAnswerError(collection.url, 200, reason, step)
    return matching


def _matching(collection: Collection, ids: Sequence[str], query: str | None) -> int:
    named = collection.count(ids=ids) if ids else 0
    if query is None:
        return named
    both = collection.count([query], ids=ids) if ids else 0
    return named + collection.count([query]) - both
