"""Atomic updates: a document's computed fields as orders to Solr that leave its other fields alone.

An order carries the version of the document that was read; Solr drops it where the document has
changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from neardup_solr.pure.config import Settings
from neardup_solr.pure.encoding import encoded
from neardup_solr.pure.model import Document
from neardup_solr.pure.names import ID, OWN, TEXT, Names

SETTINGS, VERSION = "signature_settings", "_version_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An update of one document: its id, the version it had when it was read, the order's JSON."""

    id: str
    version: int
    json: bytes


def orders(
    documents: Sequence[Document], versions: Mapping[str, int], settings: Settings, names: Names
) -> list[Order]:
    """For each document the order that sets its computed fields, in the collection's names.

    The text itself is not among them: it is there already. Fields that a text without words does
    not have are taken away.
    """
    written = replace(settings, fields=settings.fields - {TEXT})
    fields = [name for name in OWN if name in (*written.fields, SETTINGS)]
    # Readers need not know that the text was there before: the settings count it in.
    old, new = (f',"{SETTINGS}":"{each.fingerprint}"'.encode() for each in (written, settings))
    made = []
    for document, (json, _) in zip(documents, encoded(documents, written), strict=True):
        version = versions[document.id]
        head = {names.of(ID): document.id, VERSION: version}
        body = json[len(orjson.dumps({ID: document.id})) - 1 :].replace(old, new)
        order = orjson.dumps(head)[:-1] + _set(body, fields, names)
        made.append(Order(id=document.id, version=version, json=order))
    return made


def removal(id: str, version: int, fields: Iterable[str], names: Names) -> Order:
    """The order that takes fields, by their logical names, out of a document."""
    order: dict[str, Any] = {ID: id, VERSION: version, **{name: {"set": None} for name in fields}}
    return Order(id=id, version=version, json=orjson.dumps(names.physical(order)))


def _set(body: bytes, fields: Sequence[str], names: Names) -> bytes:
    """Fields as JSON, b',"md5_hash":…,"num_words":…}', as orders: b',"md5_hash":{"set":…},…}'."""
    absent = b""
    for name in fields:
        key, order = f',"{name}":', f',"{names.of(name)}":{{"set":'
        # Inside a string each quote has a backslash before it, so a key is found nowhere else.
        if key.encode() in body:
            body = body.replace(key.encode(), ("}" + order).encode())
        else:
            absent += f"{order}null}}".encode()
    # The first order has no other before it to be closed; the last one is closed by its own.
    return body.replace(b"}", b"", 1) + absent + b"}"
