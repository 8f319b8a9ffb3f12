"""Whole documents in place of atomic updates, where both come to the same.

For an atomic update Solr reads the document, looks for its children all over a segment of its
index, and then writes the whole document anew. A document that can be read exactly is spared the
first two: it is read here, and written whole. It carries the version that was read with it, as an
update does, so a change that somebody else has made meanwhile is never overwritten.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from neardup_solr.records import NOTHING
from neardup_solr.solr import admin, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import VERSION
from neardup_solr.solr.schema import INTERNAL, NEST_PATH, Schema
from neardup_solr.solr.update import Order

ROOT = "_root_"

# Classes of types whose values come back from JSON as they were, if they are in docValues alone.
_EXACT = frozenset(
    {"StrField", "UUIDField", "BoolField", "IntPointField", "LongPointField", "FloatPointField",
     "DoublePointField", "DatePointField"}
)  # fmt: skip
# And if they are stored.
_EXACT_STORED = _EXACT | {
    "TextField", "SortableTextField", "BinaryField", "LatLonPointSpatialField"
}  # fmt: skip
# In JSON these are not spelt as Solr spells them where it copies them into a text.
_SPELT = frozenset({"DatePointField", "FloatPointField", "BinaryField"})
# Processors that leave alone what a document has.
_QUIET = frozenset(
    f"{name}UpdateProcessorFactory" for name in ("Log", "Tolerant", "Distributed", "Run")
) | {"IgnoreCommitOptimizeUpdateProcessorFactory"}
# Those of Solr's own _default configset give new documents their form: values, names, fields.
_FORMING = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("UUID", "RemoveBlankField", "FieldNameMutating", "NumFieldLimiting",
                 "ParseBooleanField", "ParseLongField", "ParseDoubleField", "ParseDateField",
                 "AddSchemaFields")
)  # fmt: skip
# A node of a SolrCloud that passes a document on says by this that processors before the
# distributing one are done with it.
_FORMED = {"update.distrib": "NONE"}
_FINER = 1 << 29  # doubles for each float
_WHOLE = 2.0**53  # whole numbers below it are exact
_SUBNORMAL = 1.2e-38  # smaller floats have fewer bits
_KEPT = 10_000  # plans: documents have few different sets of fields, or any plan is used once


@dataclass(frozen=True, slots=True)
class _Plan:
    """The fields to write of documents that have the same ones. `floats` are of 32 bits."""

    written: Sequence[str]
    floats: Sequence[str]


@dataclass(slots=True, kw_only=True)
class Wholes:
    """Maker of whole documents instead of updates, for a collection that has this schema.

    `params` go with each request that holds whole documents.
    """

    collection: Collection
    schema: Schema
    params: Mapping[str, str] = field(default_factory=dict)
    _plans: dict[frozenset[str], _Plan | None] = field(default_factory=dict)

    def of(self, orders: Sequence[Order]) -> list[Order]:
        """Return the same orders, those of documents that can be written whole as such.

        The others are as they were: of documents with children or without anything to change, that
        have changed since, or hold a value that only Solr reads exactly.
        """
        wanted = [order.id for order in orders if order.values]
        if not wanted:
            return list(orders)
        key = self.collection.names.id
        filters = _alone(self.schema)
        found = {str(one[key]): one for one in self.collection.whole(wanted, filters)}
        return [self._whole(order, found.get(order.id)) for order in orders]

    def _whole(self, order: Order, found: Mapping[str, Any] | None) -> Order:
        if found is None or found.get(VERSION) != order.version:
            return order
        names = frozenset(found)
        if names not in self._plans:
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            self._plans[names] = self._make_plan(names)
        plan = self._plans.get(names)
        if plan is None or any(_is_torn(found[name]) for name in plan.floats):
            return order
        document = {name: found[name] for name in plan.written if name not in order.values}
        head = orjson.dumps({**document, VERSION: order.version})[:-1]
        values = (
            b"," + orjson.dumps(name) + b":" + value
            for name, value in order.values.items()
            if value != b"null"
        )
        return replace(order, json=b"".join((head, *values, b"}")))

    def _make_plan(self, names: frozenset[str]) -> _Plan | None:
        """Plan what is written of a document, or None if not all of its fields are read exactly.

        What Solr copies from another of its fields is left out, or it would be there twice.
        """
        written = sorted(
            name for name in names - INTERNAL if names.isdisjoint(self.schema.sources(name, names))
        )
        if not all(_is_exact(name, self.schema) for name in written):
            return None
        floats = [name for name in written if _kind(name, self.schema) == "FloatPointField"]
        return _Plan(written, floats)


def wholes(collection: Collection, own: frozenset[str]) -> Wholes | None:
    """Prepare to write documents of a collection whole, or None if updates have to be atomic.

    So they have to be if something of the user's would run a second time, if not all fields of the
    documents can be read exactly, or if children could not be told from other documents.
    """
    found, config = schema.read_schema(collection), admin.configuration(collection)
    used = admin.used_fields(collection)
    if config is None or used is None or admin.may_choose_chain(collection):
        return None
    chain = set(admin.update_chain(config))
    if not chain <= _QUIET | _FORMING or (ROOT in found.fields and NEST_PATH not in found.fields):
        return None
    # Of those that are not exact some are in no answer, so they are looked for here.
    inexact = (name for name in used - INTERNAL - own if not _is_exact(name, found))
    if any(used.isdisjoint(found.sources(name, used)) for name in inexact):
        return None
    params = _FORMED if chain & _FORMING else NOTHING
    return Wholes(collection=collection, schema=found, params=params)


def _alone(found: Schema) -> list[str]:
    """Filters for documents that are nobody's children, and have none."""
    if NEST_PATH not in found.fields:
        return []
    nested = f"{NEST_PATH}:[* TO *]"
    return [f"-{nested}", f"-{{!parent which='*:* -{nested}' v='{nested}'}}"]


def _is_exact(name: str, found: Schema) -> bool:
    """Return True if the values of a field can be read and written again with nothing changed.

    That they are copied to fields of other types counts as well.
    """
    there = found.field(name)
    if there is None or there.kind not in (_EXACT_STORED if there.stored else _EXACT):
        return False
    copies = [found.field(place) for place in found.destinations(name)]
    same = all(one is not None and one.kind == there.kind for one in copies)
    return there.is_kept and (same or there.kind not in _SPELT)


def _kind(name: str, found: Schema) -> str:
    there = found.field(name)
    return there.kind if there else ""


def _is_torn(value: Any) -> bool:
    """Return True if Solr may read another float of 32 bits than the one that it wrote.

    It reads JSON with 64 bits and rounds them to 32. Only about halfway between two of the latter
    may both steps come to something else than one would; not if the first is exact, as for whole
    numbers. (What is no number is a string in JSON.)
    """
    if isinstance(value, list):
        return any(map(_is_torn, value))
    if not isinstance(value, float) or (abs(value) < _WHOLE and value.is_integer()):
        return False
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return bits % _FINER == _FINER // 2 or abs(value) < _SUBNORMAL
