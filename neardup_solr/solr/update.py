"""Atomic updates, which set computed fields and leave all other fields alone.

An order carries the version of the document that was read; Solr drops it if the document has
changed since.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from neardup_solr.minhash.encode import encode_documents
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import EXACT, Collection, in_halves
from neardup_solr.solr.names import BANDS, ID, OWN, SETTINGS, TEXT, VERSION, Names
from neardup_solr.solr.responses import Sent, parse_refusals

# Inside a string each quote has a backslash before it, so a key is found nowhere else.
_KEY = re.compile(f',"({"|".join(OWN)})":'.encode())
_BANDS = BANDS.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An update of one document: its id, the version it had when it was read, the order's JSON.

    `values` are the JSON of the fields that it sets, by the collection's own names; null ones go.
    """

    id: str
    version: int
    json: bytes
    values: Mapping[str, bytes] = field(default_factory=dict)


def orders(
    documents: Sequence[Document], versions: Mapping[str, int], settings: Settings, names: Names
) -> list[Order]:
    """For each document the order that sets its computed fields, in the collection's names.

    The text itself is not among them: it is there already. Fields that a text without words does
    not have are removed.
    """
    written = replace(settings, fields=settings.fields - {TEXT})
    fields = [name for name in OWN if name in (*written.fields, SETTINGS)]
    heads = {name.encode(): f',"{names.of(name)}":{{"set":'.encode() for name in fields}
    # The settings include the text, so readers need not know that it was there before.
    constant = {SETTINGS.encode(): orjson.dumps(settings.fingerprint)}
    made = []
    for document, (json, _) in zip(documents, encode_documents(documents, written), strict=True):
        version = versions[document.id]
        head = orjson.dumps({names.of(ID): document.id, VERSION: version})[:-1]
        values = dict.fromkeys(heads, b"null") | _values(json) | constant
        if names.has_numeric_bands and _BANDS in values:
            keys = names.value(BANDS, orjson.loads(values[_BANDS]))
            values[_BANDS] = orjson.dumps(keys)
        sets = [part for name in heads for part in (heads[name], values[name], b"}")]
        order = b"".join((head, *sets, b"}"))
        given = {names.of(name.decode()): values[name] for name in heads}
        made.append(Order(id=document.id, version=version, json=order, values=given))
    return made


def removal(id: str, version: int, fields: Sequence[str], names: Names) -> Order:
    """The order that removes fields, by their logical names, from a document."""
    order: dict[str, Any] = {ID: id, VERSION: version, **{name: {"set": None} for name in fields}}
    gone = {names.of(name): b"null" for name in fields}
    return Order(id=id, version=version, json=orjson.dumps(names.physical(order)), values=gone)


def _values(json: bytes) -> dict[bytes, bytes]:
    """The computed fields of a document's JSON, each with the JSON of its value."""
    parts = _KEY.split(json[:-1])
    return dict(zip(parts[1::2], parts[2::2], strict=True))


_OPTIMISTIC = {**EXACT, "failOnVersionConflicts": "false", "versions": "true", "wt": "json"}


def send(
    collection: Collection, orders: Sequence[Order], params: Mapping[str, str] = NOTHING
) -> Sent:
    """Send updates, each for the version of its document that was read. `params` go with them.

    If Solr refuses the whole request because of one document, or as too large, it is sent again in
    halves. Updates that were taken before that count as dropped: the version has changed.
    """
    if not orders:
        return Sent()

    def post(part: Sequence[Order]) -> Sent:
        body = b"[" + b",".join(order.json for order in part) + b"]"
        told = collection.post("update", body, params={**_OPTIMISTIC, **params})
        return _sent(collection.url, part, told)

    return in_halves(orders, post, lambda order: order.id)


def _sent(url: str, orders: Sequence[Order], decoded: dict[str, Any]) -> Sent:
    refused = parse_refusals(url, decoded)
    named = {one.id for one in refused}
    adds = decoded.get("adds", [])
    # [id, version, id, version, …]; Solr gives version 0 to what it forwarded to another node.
    versions = dict(zip(map(str, adds[::2]), adds[1::2], strict=True))
    ids = {order.id for order in orders}
    done = {id: version for id, version in versions.items() if version > 0 and id in ids}
    unsure = {id for id in ids - named if versions.get(id) == 0}
    return Sent(
        versions=done,
        unsure=frozenset(unsure),
        dropped=frozenset(ids - done.keys() - unsure - named),
        refused=refused,
    )
