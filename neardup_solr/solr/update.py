"""Atomic updates of computed fields, and `settle`, which sends until a collection has everything.

An order carries the version of the document that was read; Solr drops it if the document has
changed since. Updates go in Solr's binary format, which tells an update of a field from a document
inside another one. JSON does not: Solr 9 takes {"set": …} for a child if the schema has a field
"set", be it by a dynamic field "*" as ours.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeVar

import orjson

from neardup_solr.errors import SolrUnreachable
from neardup_solr.minhash import encode_documents
from neardup_solr.progress import PAUSE
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import EXACT, Collection, in_halves
from neardup_solr.solr.names import ID, OWN, SETTINGS, TEXT, VERSION, Names
from neardup_solr.solr.responses import Refusal, Sent, parse_refusals, versions_in


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
    written = replace(settings, fields=settings.fields - {TEXT})
    empty = dict.fromkeys(name for name in OWN if name in (*written.fields, SETTINGS))
    # The settings include the text, so readers need not know that the collection had it before.
    constant = {SETTINGS: settings.fingerprint}
    made = []
    for document, (json, _) in zip(documents, encode_documents(documents, written), strict=True):
        fields = empty | orjson.loads(json) | constant
        del fields[ID]
        made.append(Order(document.id, versions[document.id], names.physical(fields)))
    return made


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


def set_fields(collection: Collection, updates: Sequence[Mapping[str, Any]]) -> tuple[Refusal, ...]:
    """Send atomic updates by logical names, {"id": …, "_version_": …, name: {"set": value}}.

    Returns those that Solr refused; the others are taken, and durable once committed.
    """

    def post(part: Sequence[Mapping[str, Any]]) -> Sent:
        answer = _post(collection, list(map(collection.names.physical, part)), EXACT)
        return Sent(refused=parse_refusals(collection.url, answer))

    return in_halves(updates, post, lambda update: str(update[ID])).refused


def _sent(url: str, orders: Sequence[Order], answer: dict[str, Any]) -> Sent:
    refused, versions = parse_refusals(url, answer), versions_in(answer)
    done = {order.id: version for order in orders if (version := versions.get(order.id, 0)) > 0}
    rest = {order.id for order in orders} - done.keys() - {refusal.id for refusal in refused}
    # Solr gives version 0 to what it forwarded to another node.
    unsure = frozenset(rest & versions.keys())
    return Sent(versions=done, unsure=unsure, dropped=frozenset(rest - unsure), refused=refused)


# The format is what org.apache.solr.common.util.JavaBinCodec reads. A body is {"params": {…},
# "docs": iterator of documents}.
_JAVABIN = {"Content-Type": "application/javabin"}
_PARAMS, _DOCS, _END = b"\x02\xc2\x26params", b"\x24docs\x0e", b"\x0f"
_CONSTANTS = {None: b"\0", True: b"\1", False: b"\2"}
_STRING, _LIST, _NAMED, _NAME = 0x20, 0x80, 0xC0, b"\xe0"  # a length below 31 is in the same byte
_double, _long = partial(struct.pack, ">Bd", 5), partial(struct.pack, ">Bq", 7)


def _post(
    collection: Collection, documents: Sequence[Mapping[str, Any]], params: Mapping[str, str]
) -> dict[str, Any]:
    # Of the parameters of the request Solr would not see commitWithin.
    pairs = (_string(name) + _string(value) for name, value in params.items())
    head = (_PARAMS, _start(_NAMED, len(params)), *pairs, _DOCS)
    body = b"".join((*head, *map(_map, documents), _END))
    return collection.post("update", body, params={**params, "wt": "json"}, headers=_JAVABIN)


def _string(value: str) -> bytes:
    raw = value.encode()
    return _start(_STRING, len(raw)) + raw


@cache  # of few names, and a million documents
def _name(value: str) -> bytes:
    return _NAME + _string(value)


def _list(values: Sequence[Any]) -> bytes:
    head = _start(_LIST, len(values))
    if {*map(type, values)} == {str} and len({*map(len, values)}) == 1 and len(values[0]) < 31:
        start = chr(_STRING | len(values[0]))
        if (text := start + start.join(values)).isascii():
            return head + text.encode()  # terms of equal length, as those of bands
    return b"".join((head, *(_ENCODE[type(value)](value) for value in values)))


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


ROUNDS = 8  # in a row that bring nothing, while Solr was not away
MOST_ROUNDS = 50  # in all; those of a cloud take a second each: by then it has chosen new leaders
LOST = "documents that Solr accepted are lost while a node is unavailable"

T = TypeVar("T")


def settle(
    collection: Collection,
    send: Callable[[T], object],
    missing: Callable[[], T],
    rest: T | None = None,
) -> T:
    """Send the rest, commit and ask what is missing, until nothing is, or no round brings anything.

    Returns what is missing in the end. Without a `rest`, a commit and that question come first.
    Until a SolrCloud notices that a node is away, that node leads its shards, and Solr accepts what
    they should get and drops it without a word. So a cloud gets a round a second until patience
    ends.

    Raises SolrUnreachable if anything is missing in the end, and a node of a cloud is away.
    """
    outages, is_cloud = collection.session.outages, collection.session.nodes.is_cloud is True
    began, idle, is_away = time.monotonic(), 0, False
    if rest is None:
        collection.commit()
        rest = missing()
    for _ in range(MOST_ROUNDS):
        if not rest or (idle >= ROUNDS and (is_away or not is_cloud)):
            break
        before, count = rest, outages.count
        send(rest)
        if outages.count > count:
            outages.until_ready()  # while it replays its log, a commit has no effect
        collection.commit()
        rest, was_away = missing(), outages.count > count
        idle = 0 if was_away or rest != before else idle + 1
        if is_cloud and rest:
            is_away = was_away or time.monotonic() - began >= outages.patience
            time.sleep(PAUSE)
    if rest and is_away:
        step = "check that all nodes are running, then run this again (index with resume)"
        raise SolrUnreachable(collection.url, LOST, step)
    return rest
