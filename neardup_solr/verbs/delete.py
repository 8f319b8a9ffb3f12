"""delete: documents out of a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup_solr.argument_types import Id
from neardup_solr.checks import require
from neardup_solr.errors import DataError, SolrAnswerError, counted
from neardup_solr.progress import LOG
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.halves import ask_by_halves
from neardup_solr.solr.query import having
from neardup_solr.solr.settle import settle
from neardup_solr.verbs.losses import FAMILY, LossCheck
from neardup_solr.verbs.losses.dangers import ROOT


def delete_documents(
    collection: Collection, ids: Sequence[Id], *, query: str | None, dry_run: bool
) -> int:
    """Delete documents by id or by a query, and return how many matched."""
    named = [str(id) for id in ids]
    reason = "no documents to delete were given"
    step = "give `ids` or `query`"
    require(bool(named) or query is not None, reason, step, code="argument-missing")
    collection.cluster().require_one()
    fields = schema.read_schema(collection)
    names = replace(collection.names, id=fields.key or collection.names.id)
    collection = collection.with_names(names)  # of a collection that init has not prepared, too
    # Searches do not see what an interrupted run sent, so it would not be counted.
    collection.commit()
    matching = collection.count(ids=named) if named else 0
    if matching and (root := fields.fields.get(ROOT)) and root.indexed:
        _require_whole(collection, named)
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


def _require_whole(collection: Collection, ids: Sequence[str]) -> None:
    """Refuse ids of nested documents, which Solr ignores, and tell what goes with its parents.

    Raises DataError.
    """
    nested = collection.count([having(ROOT)], ids=ids) - collection.count([FAMILY], ids=ids)
    if nested:
        documents = counted(nested, "document is", "documents are")
        reason = f"{documents} nested in others, and Solr deletes only whole documents by their ids"
        step = "give the ids of the parents, or delete nested documents by `query`"
        raise DataError(reason, step, code="id-invalid")
    losses = LossCheck(collection, frozenset())
    children = sum(ask_by_halves(ids, lambda some: [losses.count_children(some)]))
    if children:
        documents = counted(children, "document is", "documents are")
        LOG.warning("%s nested in these, and deleted with them", documents)
