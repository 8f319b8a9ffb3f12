"""delete: documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence

from neardup_solr.argument_types import Id
from neardup_solr.checks import require
from neardup_solr.errors import SolrAnswerError, counted
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.settle import settle


def delete_documents(
    collection: Collection, ids: Sequence[Id], *, query: str | None, dry_run: bool
) -> int:
    """Delete documents by id or by a query, and return how many matched."""
    named = [str(id) for id in ids]
    reason = "no documents to delete were given"
    step = "give `ids` or `query`"
    require(bool(named) or query is not None, reason, step, code="argument-missing")
    collection.cluster().require_one()
    # Searches do not see what an interrupted run sent, so it would not be counted.
    collection.commit()
    matching = collection.count(ids=named) if named else 0
    if query is not None:
        both = collection.count([query], ids=named) if named else 0
        matching += collection.count([query]) - both
    if dry_run:
        return matching
    if query is not None:
        collection.delete_query(query)

    def missing() -> list[str]:
        """List the ids that are left in a cloud: a node may lose what it passes on."""
        return [*collection.versions(named)] if collection.session.nodes.is_cloud else []

    if left := settle(collection, collection.delete_ids, missing, named):
        reason = f"{counted(len(left), 'document')} could not be deleted in several attempts"
        step = "check that all nodes are running and no program is adding them, then run this again"
        raise SolrAnswerError(collection.url, 200, reason, step, code="write-incomplete")
    if not named:
        collection.commit()
    return matching
