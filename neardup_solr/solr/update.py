"""Atomic updates of computed fields, and `settle`, which sends until a collection has everything.

An order carries the version of the document that was read; Solr drops it if the document has
changed since. Updates go in Solr's binary format, which tells an update of a field from a document
inside another one. JSON does not: Solr 9 takes {"set": …} for a child if the schema has a field
"set", be it by a dynamic field "*" as ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.core import EXACT
from neardup_solr.solr.halves import in_halves
from neardup_solr.solr.javabin import HEADERS, encode
from neardup_solr.solr.names import ID, OWN, SETTINGS, TEXT, VERSION, Names
from neardup_solr.solr.refusals import Sent, parse_refusals, versions_in


@dataclass(frozen=True, slots=True)
class Order:
    """An update of one document: its id, the version it had when it was read, fields to set.

    The fields have the collection's names for them; those that are None are removed. With `others`,
    all other fields of the document, it is written whole.
    """

    id: str
    version: int
    fields: Mapping[str, Any]
    others: Mapping[str, Any] | None = None

    def document(self, key: str) -> dict[str, Any]:
        """Make the document that Solr gets, by the name of the unique key."""
        if self.others is not None:
            fields = {name: value for name, value in self.fields.items() if value is not None}
            return {**self.others, **fields, VERSION: self.version}
        fields = {name: {"set": value} for name, value in self.fields.items()}
        return {key: self.id, VERSION: self.version, **fields}


def orders(
    documents: Sequence[Document], versions: Mapping[str, int], settings: Settings, names: Names
) -> list[Order]:
    """Make for each document the order that sets its computed fields.

    The text itself is not among them: the collection has it. Fields that a text without words does
    not have are removed.
    """
    from neardup_solr.minhash import encode_documents  # with NumPy; lint makes no orders

    written = replace(settings, fields=settings.fields - {TEXT})
    empty = dict.fromkeys(name for name in OWN if name in (*written.fields, SETTINGS))
    # The settings include the text, so readers need not know that the collection had it before.
    constant = {SETTINGS: settings.fingerprint}
    updates = []
    for document, json in zip(documents, encode_documents(documents, written), strict=True):
        fields = empty | orjson.loads(json) | constant
        del fields[ID]
        updates.append(Order(document.id, versions[document.id], names.physical(fields)))
    return updates


_GONE = "Document not found for update"  # as 9.0 refuses what later versions drop
_OPTIMISTIC = {**EXACT, "failOnVersionConflicts": "false", "versions": "true", "wt": "json"}


def send(
    collection: Collection, orders: Sequence[Order], params: Mapping[str, str] = NOTHING
) -> Sent:
    """Send updates, each for the version of its document that was read. `params` go with them.

    If Solr refuses the whole request because of a single document, or as too large, it is sent
    again in halves. Updates that were taken before that count as dropped: the version has changed.
    """
    if not orders:
        return Sent()

    def post(part: Sequence[Order]) -> Sent:
        documents = [order.document(collection.names.id) for order in part]
        answer = _post(collection, documents, {**_OPTIMISTIC, **params})
        return _sent(collection.url, part, answer)

    sent = in_halves(orders, post, lambda order: order.id)
    gone = {refusal.id for refusal in sent.refused if _GONE in refusal.reason}
    refused = tuple(refusal for refusal in sent.refused if refusal.id not in gone)
    return replace(sent, refused=refused, dropped=sent.dropped | gone) if gone else sent


def _post(
    collection: Collection, documents: Sequence[Mapping[str, Any]], params: Mapping[str, str]
) -> dict[str, Any]:
    # In the body, too: of the parameters of the request Solr would not see commitWithin.
    body = encode(documents, params)
    return collection.post("update", body, params={**params, "wt": "json"}, headers=HEADERS)


def _sent(url: str, orders: Sequence[Order], answer: dict[str, Any]) -> Sent:
    refused, versions = parse_refusals(url, answer), versions_in(answer)
    done = {order.id: version for order in orders if (version := versions.get(order.id, 0)) > 0}
    rest = {order.id for order in orders} - done.keys() - {refusal.id for refusal in refused}
    # Solr gives version 0 to what it forwarded to another node.
    unsure = frozenset(rest & versions.keys())
    return Sent(versions=done, unsure=unsure, dropped=frozenset(rest - unsure), refused=refused)
