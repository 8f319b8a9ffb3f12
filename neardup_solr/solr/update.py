"""Atomic updates, which set computed fields and leave all other fields alone.

An order carries the version of the document that was read; Solr drops it if the document has
changed since.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import orjson

from neardup_solr.minhash import encode_documents
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import EXACT, Collection, in_halves
from neardup_solr.solr.names import BANDS, ID, OWN, SETTINGS, TEXT, VERSION, Names
from neardup_solr.solr.responses import Refusal, Sent, listed_versions, parse_refusals
from neardup_solr.solr.schema import Schema

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


_GONE = "Document not found for update"  # as 9.0 refuses what later versions drop
_OPTIMISTIC = {**EXACT, "failOnVersionConflicts": "false", "versions": "true", "wt": "json"}


def send(
    collection: Collection,
    orders: Sequence[Order],
    params: Mapping[str, str] = NOTHING,
    *,
    in_binary: bool = False,
) -> Sent:
    """Send updates, each for the version of its document that was read. `params` go with them.

    `in_binary` is for a schema that makes their JSON ambiguous. If Solr refuses the whole request
    because of one document, or as too large, it is sent again in halves. Updates that were taken
    before that count as dropped: the version has changed.
    """
    if not orders:
        return Sent()

    def post(part: Sequence[Order]) -> Sent:
        asked = {**_OPTIMISTIC, **params}
        if in_binary:
            told = _post_binary(collection, [orjson.loads(order.json) for order in part], asked)
        else:
            body = b"[" + b",".join(order.json for order in part) + b"]"
            told = collection.post("update", body, params=asked)
        return _sent(collection.url, part, told)

    sent = in_halves(orders, post, lambda order: order.id)
    gone = {one.id for one in sent.refused if _GONE in one.reason}
    refused = tuple(one for one in sent.refused if one.id not in gone)
    return replace(sent, refused=refused, dropped=sent.dropped | gone) if gone else sent


def set_fields(collection: Collection, updates: Sequence[Mapping[str, Any]]) -> tuple[Refusal, ...]:
    """Send atomic updates by logical names, {"id": …, "_version_": …, name: {"set": value}}.

    Returns those that Solr refused; the others are taken, and durable once committed.
    """

    def post(part: Sequence[Mapping[str, Any]]) -> Sent:
        told = _post_binary(collection, list(map(collection.names.physical, part)), EXACT)
        return Sent(refused=parse_refusals(collection.url, told))

    return in_halves(updates, post, lambda update: str(update[ID])).refused


def is_ambiguous(found: Schema) -> bool:
    """Return True if Solr may take {"set": …} in JSON for a document inside of another.

    Solr 9 does if the schema has a field "set", be it by a dynamic field "*" as ours, and then
    refuses most updates ("Unable to index docs with children"). From 9.7 on it does so only if the
    schema has a field _root_, too.
    """
    return found.field("set") is not None


def _sent(url: str, orders: Sequence[Order], decoded: dict[str, Any]) -> Sent:
    refused = parse_refusals(url, decoded)
    named = {one.id for one in refused}
    versions = listed_versions(decoded)
    ids = {order.id for order in orders}
    done = {id: version for id, version in versions.items() if version > 0 and id in ids}
    # Solr gives version 0 to what it forwarded to another node.
    unsure = {id for id in ids - named if versions.get(id) == 0}
    return Sent(
        versions=done,
        unsure=frozenset(unsure),
        dropped=frozenset(ids - done.keys() - unsure - named),
        refused=refused,
    )


# Solr's own binary format, as org.apache.solr.common.util.JavaBinCodec reads it. It tells a map
# from a document, which JSON does not. A body is {"params": {…}, "docs": iterator of documents}.
_JAVABIN = {"Content-Type": "application/javabin"}
_PARAMS, _DOCS, _END = b"\x02\xc2\x26params", b"\x24docs\x0e", b"\x0f"
_CONSTANTS = {None: b"\0", True: b"\1", False: b"\2"}
_STRING, _LIST, _NAMED, _NAME = 0x20, 0x80, 0xC0, b"\xe0"  # a length below 31 is in the same byte
_double, _long = partial(struct.pack, ">Bd", 5), partial(struct.pack, ">Bq", 7)


def _post_binary(
    collection: Collection, updates: Sequence[Mapping[str, Any]], params: Mapping[str, str]
) -> dict[str, Any]:
    # Of the parameters of the request Solr would not see commitWithin.
    told = (_string(name) + _string(value) for name, value in params.items())
    head = (_PARAMS, _start(_NAMED, len(params)), *told, _DOCS)
    body = b"".join((*head, *map(_map, updates), _END))
    return collection.post("update", body, params={**params, "wt": "json"}, headers=_JAVABIN)


def _string(value: str) -> bytes:
    raw = value.encode()
    return _start(_STRING, len(raw)) + raw


@cache  # there are few of them, and a million documents
def _name(value: str) -> bytes:
    return _NAME + _string(value)


def _list(values: Sequence[Any]) -> bytes:
    return b"".join((_start(_LIST, len(values)), *(_ENCODE[type(one)](one) for one in values)))


def _map(values: Mapping[str, Any]) -> bytes:
    parts = [b"\x0a", _varint(len(values))]
    for name, value in values.items():
        parts += (_name(name), _ENCODE[type(value)](value))
    return b"".join(parts)


def _start(tag: int, length: int) -> bytes:
    return bytes((tag | length,)) if length < 31 else bytes((tag | 31,)) + _varint(length - 31)


def _varint(number: int) -> bytes:
    """Encode a number by seven bits a byte, the lowest first."""
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes((*made, number))


_ENCODE: Mapping[type, Callable[[Any], bytes]] = {
    str: _string, dict: _map, list: _list, tuple: _list, int: _long, float: _double,
    bool: _CONSTANTS.__getitem__, type(None): _CONSTANTS.__getitem__,
}  # fmt: skip
