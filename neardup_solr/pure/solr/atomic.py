"""Atomic updates: a document's computed fields as orders to Solr that leave its other fields alone.

An order carries the version of the document that was read; Solr drops it where the document has
changed since.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from neardup_solr.pure.config import Settings
from neardup_solr.pure.model import Document
from neardup_solr.pure.signatures.encoding import encoded
from neardup_solr.pure.solr.names import ID, OWN, TEXT, Names

SETTINGS, VERSION = "signature_settings", "_version_"
# Inside a string each quote has a backslash before it, so a key is found nowhere else.
_KEY = re.compile(f',"({"|".join(OWN)})":'.encode())


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
    heads = {name.encode(): f',"{names.of(name)}":{{"set":'.encode() for name in fields}
    # Readers need not know that the text was there before: the settings count it in.
    constant = {SETTINGS.encode(): orjson.dumps(settings.fingerprint)}
    made = []
    for document, (json, _) in zip(documents, encoded(documents, written), strict=True):
        version = versions[document.id]
        head = orjson.dumps({names.of(ID): document.id, VERSION: version})[:-1]
        values = dict.fromkeys(heads, b"null") | _values(json) | constant
        sets = [part for name in heads for part in (heads[name], values[name], b"}")]
        order = b"".join((head, *sets, b"}"))
        made.append(Order(id=document.id, version=version, json=order))
    return made


def removal(id: str, version: int, fields: Iterable[str], names: Names) -> Order:
    """The order that takes fields, by their logical names, out of a document."""
    order: dict[str, Any] = {ID: id, VERSION: version, **{name: {"set": None} for name in fields}}
    return Order(id=id, version=version, json=orjson.dumps(names.physical(order)))


def _values(json: bytes) -> dict[bytes, bytes]:
    """The computed fields of a document's JSON, each with the JSON of its value."""
    parts = _KEY.split(json[:-1])
    return dict(zip(parts[1::2], parts[2::2], strict=True))
