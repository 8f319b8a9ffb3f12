"""Documents that are written whole, where that comes to the same as an update of their fields.

In a schema with nested documents, Solr looks for the children of each document that it updates all
over a segment of its index: with 300,000 short documents in a segment, writing documents whole was
two to three times as fast. A document that can be read exactly is read here, and written whole. It
carries the version that was read with it, as an update does, so a change that another program has
made meanwhile is never overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from neardup_solr.records import NOTHING
from neardup_solr.solr import admin, query, schema, update_chain
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import VERSION
from neardup_solr.solr.schema import INTERNAL, NEST_PATH, Schema
from neardup_solr.solr.update import Order

# Classes of types whose values come back from JSON as they were, if they are in docValues alone.
_EXACT = frozenset(
    {"StrField", "UUIDField", "BoolField", "IntPointField", "LongPointField", "DoublePointField",
     "DatePointField"}
)  # fmt: skip
# And if they are stored.
_EXACT_STORED = _EXACT | {
    "TextField", "SortableTextField", "BinaryField", "LatLonPointSpatialField"
}  # fmt: skip
# In JSON these are not spelt as Solr spells them where it copies them into a text.
_SPELT = frozenset({"DatePointField", "BinaryField"})
# Processors that leave alone what a document has.
_QUIET = frozenset(
    f"{name}UpdateProcessorFactory" for name in ("Log", "Tolerant", "Distributed", "Run")
) | {"IgnoreCommitOptimizeUpdateProcessorFactory"}
# Those of Solr's _default configset give new documents their form: values, names, fields.
_FORMING = frozenset(
    f"{name}UpdateProcessorFactory"
    for name in ("UUID", "RemoveBlankField", "FieldNameMutating", "NumFieldLimiting",
                 "ParseBooleanField", "ParseLongField", "ParseDoubleField", "ParseDateField",
                 "AddSchemaFields")
)  # fmt: skip
# A node of a SolrCloud that passes a document on says by this that processors before the
# distributing processor are done with it.
_FORMED = {"update.distrib": "NONE"}
_NESTED = query.having(NEST_PATH)
_REMEMBERED = 10_000  # sets of fields: documents have few, or any is used once
_ALONE = (f"-{_NESTED}", f"-{{!parent which='*:* -{_NESTED}' v='{_NESTED}'}}")  # no family


@dataclass(frozen=True, slots=True)
class WholeWriter:
    """Makes orders of updates write whole documents of a collection.

    `choose_written` chooses which of a document's fields are written, by their names. `params` go
    with each request that holds whole documents.
    """

    collection: Collection
    choose_written: Callable[[frozenset[str]], frozenset[str] | None]
    params: Mapping[str, str]

    def complete(self, orders: Sequence[Order]) -> list[Order]:
        """Add the other fields to the orders of documents that can be written whole.

        Documents with children or without anything to change stay as they are, as do those that
        have changed since, or hold a value that only Solr reads exactly.
        """
        ids = [order.id for order in orders if order.fields]
        key = self.collection.names.id
        stored = self.collection.whole(ids, _ALONE) if ids else []
        documents = {str(document[key]): document for document in stored}
        return [self._complete(order, documents.get(order.id, NOTHING)) for order in orders]

    def _complete(self, order: Order, document: Mapping[str, Any]) -> Order:
        if document.get(VERSION) != order.version:
            return order
        written = self.choose_written(frozenset(document))
        if written is None:
            return order
        # In the order that the document has, in which Solr copies from them.
        others = {
            name: value
            for name, value in document.items()
            if name in written and name not in order.fields
        }
        return replace(order, others=others)


def make_writer(collection: Collection, ours: frozenset[str]) -> WholeWriter | None:
    """Prepare to write documents of a collection whole, or None if updates have to be atomic.

    So they have to be if something of the user's would run a second time, if not all fields of the
    documents can be read exactly, or if children look like other documents.
    """
    fields, config = schema.read_schema(collection), admin.configuration(collection)
    used = admin.used_fields(collection)
    if NEST_PATH not in fields.fields or config is None or used is None:
        return None
    chain = set(update_chain.list_processors(config))
    if not chain <= _QUIET | _FORMING or update_chain.may_choose_chain(collection):
        return None
    # Of those that are not exact some are in no answer, so they are looked for here.
    inexact = (name for name in used - INTERNAL - ours if not _is_exact(name, fields))
    if any(used.isdisjoint(fields.sources(name, used)) for name in inexact):
        return None
    params = _FORMED if chain & _FORMING else NOTHING
    choose_written = lru_cache(_REMEMBERED)(partial(_choose_written, fields))
    return WholeWriter(collection, choose_written, params)


def _choose_written(schema: Schema, names: frozenset[str]) -> frozenset[str] | None:
    """Choose the fields to write of a document, or None if not all are read exactly.

    What Solr copies from another of its fields is left out, or the field would hold it twice.
    """
    written = [name for name in names - INTERNAL if names.isdisjoint(schema.sources(name, names))]
    return frozenset(written) if all(_is_exact(name, schema) for name in written) else None


def _is_exact(name: str, schema: Schema) -> bool:
    """Return True if the values of a field can be read and written again with nothing changed.

    That they are copied to fields of other types counts as well.
    """
    field = schema.field(name)
    if field is None or field.kind not in (_EXACT_STORED if field.stored else _EXACT):
        return False
    copies = [schema.field(place) for place in schema.destinations(name)]
    same = all(copy is not None and copy.kind == field.kind for copy in copies)
    return field.is_kept and (same or field.kind not in _SPELT)
