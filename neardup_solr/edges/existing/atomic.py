"""Updates of documents that nobody has changed since they were read, on any collection.

Whatever its update chain: an update that names a version which is no longer the document's is
dropped, not answered with an error that would cut its batch off.

Documents are read by /select, what was committed. Solr's /get sees more, but leaves out what
copyField makes, and of a document that was updated in part and then in place, most fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.edges.client import EXACT, Solr
from neardup_solr.edges.refusals import TOO_LARGE, Refusal, refused_by
from neardup_solr.pure.errors import SolrAnswerError
from neardup_solr.pure.solr import query
from neardup_solr.pure.solr.atomic import Order

_OPTIMISTIC = {**EXACT, "failOnVersionConflicts": "false", "versions": "true", "wt": "json"}
_ONE_BY_ONE = {400: "", 413: TOO_LARGE}  # faults of a document, that halves of a batch may not have


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of updates: `done` ones, ids `dropped` as changed or gone since, `refused` ones.

    `done` has the new version of each document; `unsure` are ids that another node of the cluster
    decided on, which does not say how.
    """

    done: Mapping[str, int] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    refused: tuple[Refusal, ...] = ()

    def __or__(self, other: Sent) -> Sent:
        return Sent(
            done={**self.done, **other.done},
            unsure=self.unsure | other.unsure,
            dropped=self.dropped | other.dropped,
            refused=self.refused + other.refused,
        )


def send(solr: Solr, orders: Sequence[Order]) -> Sent:
    """Send updates, each for the version of its document that was read.

    Where Solr refuses the whole request for one document, or as too large, it is sent again in
    halves. What was taken before that counts as dropped: its version has changed.
    """
    if not orders:
        return Sent()
    body = b"[" + b",".join(order.json for order in orders) + b"]"
    try:
        decoded = solr.post("update", body, params=_OPTIMISTIC)
    except SolrAnswerError as error:
        if error.status not in _ONE_BY_ONE:
            raise
        if len(orders) == 1:
            reason = _ONE_BY_ONE[error.status] or error.reason
            return Sent(refused=(Refusal(id=orders[0].id, reason=reason),))
        middle = len(orders) // 2
        return send(solr, orders[:middle]) | send(solr, orders[middle:])
    return _sent(solr.url, orders, decoded)


def whole(solr: Solr, ids: Sequence[str]) -> list[dict[str, Any]]:
    """All that Solr gives back of documents, by the collection's own names."""
    request = query.by_ids(ids) | {"fields": ["*"], "limit": len(ids)}
    docs: list[dict[str, Any]] = solr.ask(request, {"response.docs": list})["response"]["docs"]
    return docs


def _sent(url: str, orders: Sequence[Order], decoded: dict[str, Any]) -> Sent:
    refused = refused_by(url, decoded)
    named = {one.id for one in refused}
    adds = decoded.get("adds", [])
    # [id, version, id, version, …]; Solr gives version 0 to what it forwarded to another node.
    versions = dict(zip(map(str, adds[::2]), adds[1::2], strict=True))
    ids = {order.id for order in orders}
    done = {id: version for id, version in versions.items() if version > 0 and id in ids}
    unsure = {id for id in ids - named if versions.get(id) == 0}
    return Sent(
        done=done,
        unsure=frozenset(unsure),
        dropped=frozenset(ids - done.keys() - unsure - named),
        refused=refused,
    )
