"""The documents of a collection, with the signatures that are stored with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from neardup_solr.arguments import listed
from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.minhash import signature
from neardup_solr.minhash.sign import hash_texts
from neardup_solr.progress import Progress
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.export import Block
from neardup_solr.solr.names import VERSION
from neardup_solr.solr.responses import LOG_AGAIN
from neardup_solr.solr.schema import count_unsigned
from neardup_solr.threads import thread_pool
from neardup_solr.verbs.duplicates.inputs import PAGE, READING, Gathered, Input

PAGES = 4  # pages of documents that are requested at the same time
PARTS, MANY = 2, 20_000  # exports at the same time, if there are so many documents: each a thread

Columns: TypeAlias = Sequence[Sequence[Any]]  # the values of documents, field by field
T = TypeVar("T")


def read_collection(collection: Collection, gathered: Gathered) -> Input:
    """Read the documents of a collection that have a signature, which is added to `gathered`."""
    options, remembering = gathered.options, gathered.remembering
    fq, same = listed(options.fq), options.same
    state = collection.state()
    count = collection.count(fq) if fq else state.documents
    ids = gathered.spill.strings()
    side = Input(
        ids=ids,
        texts=lambda rows: _read_texts(collection, ids.take(rows)),
        values=lambda rows, fields: _read_values(collection, ids.take(rows), fields),
        collection=collection,
        state=state,
        digest=repr(fq).encode() if fq else b"",
    )
    total = count if options.limit is None else min(options.limit, count)
    side.is_cut = total < count
    described = schema.read_schema(collection)
    side.unsigned = count_unsigned(collection, described, fq)
    are_exported = [
        _require_readable(collection, described, name, "same").is_exported for name in same
    ]
    for argument, names in (("keep", options.keep), ("fields", options.kinds)):
        for name in names:
            _require_readable(collection, described, name, argument)
    if remembering is not None:
        found = described.field(VERSION)
        if found is None or not found.is_exported:
            reason = f"{VERSION} has no docValues in its schema, so nothing can be remembered"
            remembering.give_up(reason)
            remembering = None
    export = _Export(
        collection=collection,
        filters=fq,
        same=same if all(are_exported) else (),
        total=total,
        parts=PARTS if count >= MANY else 1,
    )
    fields = ["id", "signature"] if remembering is None else ["id", "signature", VERSION]
    for block in export.blocks(fields):
        signed = [row for row in block if row.get("signature")]
        own = [row["id"] for row in signed]
        ids.extend(own)
        encoded = [row["signature"] for row in signed]
        gathered.rows.append(signature.decode_all(encoded, gathered.settings))
        if gathered.numbers is not None:
            columns = export.columns(signed)
            gathered.numbers.add(columns or [*_read_values(collection, own, same).values()])
        if remembering is not None:
            versions = np.fromiter((row.get(VERSION, 0) for row in signed), np.int64, len(own))
            remembering.add(hash_texts(own), versions.view(np.uint64))
        side.documents += len(block)
        options.watching.on_progress(Progress(READING, side.documents, total))
    read = export.read if fq else side.documents
    is_cut = bool(fq) and read != count
    if (is_cut or side.documents != total) and collection.state() == state:
        reason = f"the export has {read:,} of its {count if fq else total:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN)
    return side


def _require_readable(
    collection: Collection, described: schema.Schema, name: str, argument: str
) -> schema.Field:
    """Return the field that an argument names.

    Raises SettingsError if there is no such field, or its values cannot be read.
    """
    field = described.field(collection.names.of(name))
    if field is None or not (field.is_exported or field.is_kept):
        lacks = f"the field {name!r} is neither stored nor in docValues"
        missing = f"the collection {collection.name!r} has no field {name!r}"
        raise SettingsError(lacks if field else missing, f"name another one in `{argument}`")
    return field


@dataclass(slots=True, kw_only=True)
class _Export:
    """The documents of a collection that are read: those that match `filters`, at most `total`.

    `same` are fields that are read as well, in so many `parts` at the same time. `read` counts all
    documents that came.
    """

    collection: Collection
    filters: Sequence[str]
    same: Sequence[str]
    total: int
    parts: int
    read: int = 0

    def blocks(self, fields: Sequence[str]) -> Iterator[Block]:
        """These fields of the documents. The rest is read, so that it is known to be whole."""
        left = self.total
        wanted = [*fields, *self.same]
        for block in self.collection.exported(wanted, filters=self.filters, parts=self.parts):
            self.read += len(block)
            if left:
                yield block[:left]
            left -= min(left, len(block))

    def columns(self, block: Block) -> Columns:
        """The values of the fields `same`."""
        return [[found.get(name) for found in block] for name in self.same]


def _read_texts(collection: Collection, ids: Sequence[str]) -> list[str | None]:
    found = _read_pages(ids, collection.texts)
    return [found.get(id) for id in ids]


def _read_values(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, list[Any]]:
    found = _by_id(collection, ids, fields)
    return {name: _unbox([found.get(id, {}).get(name) for id in ids]) for name in fields}


def _unbox(values: list[Any]) -> list[Any]:
    """Take values out of their lists if no document has several, as in a column that was kept."""
    if all(value is None or (isinstance(value, list) and len(value) == 1) for value in values):
        return [value and value[0] for value in values]
    return values


def _by_id(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, dict[str, Any]]:
    return _read_pages(
        ids, lambda page: {one["id"]: one for one in collection.stored(page, fields)}
    )


def _read_pages(ids: Sequence[str], read: Callable[[Sequence[str]], dict[str, T]]) -> dict[str, T]:
    """Read by ids, some pages at the same time."""
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with thread_pool(PAGES) as pool:
        return {id: value for found in pool.map(read, pages) for id, value in found.items()}
