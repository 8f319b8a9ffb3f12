"""The side of `duplicates` that is a collection: signatures are exported, texts read by id."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from neardup_solr.errors import SettingsError, SolrAnswerError
from neardup_solr.memory import Rows, Strings
from neardup_solr.minhash import signature
from neardup_solr.progress import LOG, Failures, Progress, ignore, thread_pool
from neardup_solr.records import NOTHING
from neardup_solr.settings import Settings
from neardup_solr.verbs.duplicates.plan import RunPlan
from neardup_solr.verbs.duplicates.side import READING, RowColumns

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection, CollectionState
    from neardup_solr.solr.schema import Schema

T = TypeVar("T")
PAGE, PAGES = 500, 4  # documents that are requested at once, and pages at the same time
EXPORTS, MANY = 2, 20_000  # exports at the same time, if there are so many documents: each a thread


@dataclass(frozen=True, slots=True, kw_only=True)
class SolrSide:
    """The documents of a collection that have a signature.

    `unsigned` documents have text but no signature; `names` are those of columns that are named
    otherwise in the collection.
    """

    collection: Collection
    state: CollectionState
    ids: Strings
    documents: int
    unsigned: int
    contents: Rows | None
    names: Mapping[str, str]
    failures: Failures = field(default_factory=lambda: Failures(ignore))
    are_whole: bool = False
    repeated: int = 0
    dead: Sequence[int] = ()
    words: Rows | None = None
    beside: Rows | None = None
    is_for_excel: bool = False
    readable: float = math.inf

    def texts(self, rows: Sequence[int]) -> list[str | None]:
        """The texts of rows, or None if a document is no longer there."""
        ids = self.ids.take(rows)
        texts = _read_pages(ids, self.collection.texts)
        return [texts.get(id) for id in ids]

    def values(self, rows: Sequence[int], fields: Sequence[str]) -> dict[str, list[Any]]:
        """The values of fields of rows."""
        return _read_values(self.collection, self.ids.take(rows), fields, self.names)

    def find_gaps(self, fq: Sequence[str]) -> Iterator[str]:
        """Say which documents may be missing from the result, and what to do about it."""
        from neardup_solr.solr import schema, unsigned

        yield from unsigned.describe_unsigned(self.collection, self.unsigned)
        if fq and not (self.documents or self.unsigned):
            name, query = self.collection.name, " AND ".join(fq)
            yield f"no document in {name!r} matches {query}; check the filter"
        self.collection.commit_if_allowed()
        if self.collection.state() != self.state:
            yield schema.CHANGED

    def name_remedy(self) -> str:
        """Say what renews the fields of documents whose text has changed."""
        from neardup_solr.solr import unsigned

        return unsigned.remedy(self.collection, "index them again", "renews their fields")


def read_settings(collection: Collection) -> Settings:
    """Read the settings of a collection that has signatures and texts, or raise SettingsError."""
    if not collection.commit_if_allowed():
        LOG.warning("%s: this user cannot commit; reading only committed documents", collection.url)
    settings = collection.needed_settings()
    settings.require("signature", "content")
    return settings


def read_collection(
    plan: RunPlan, collection: Collection, number: int, settings: Settings, columns: RowColumns
) -> SolrSide:
    """Read the documents of a collection that have a signature, which is added to `columns`.

    The collection is the side of this `number`.
    """
    from neardup_solr.solr.faults import LOG_AGAIN
    from neardup_solr.solr.names import VERSION
    from neardup_solr.solr.schema import read_schema
    from neardup_solr.solr.unsigned import count_unsigned

    names = plan.names_of(number)
    state, same = collection.state(), tuple(names.get(name, name) for name in plan.same)
    count = collection.count(plan.fq) if plan.fq else state.documents
    ids = columns.spill.strings()
    schema = read_schema(collection)
    are_exported = [require_readable(collection, schema, name, "same") for name in same]
    for name in plan.keep:
        require_readable(collection, schema, names.get(name, name), "keep")
    for name in plan.fields:
        require_readable(collection, schema, names.get(name, name), "fields")
    version = schema.field(VERSION) if plan.remember else None
    has_versions = version is not None and version.is_exported
    unsigned = count_unsigned(collection, schema, plan.fq)
    contents = columns.spill.rows(1, np.uint64) if has_versions else None
    fields = ["id", "signature", *[VERSION] * has_versions, *same * all(are_exported)]
    parts = EXPORTS if count >= MANY else 1
    documents = 0
    for block in collection.exported(fields, filters=plan.fq, parts=parts):
        signed = [row for row in block if row.get("signature")]
        of_block = [row["id"] for row in signed]
        ids.extend(of_block)
        encoded = [row["signature"] for row in signed]
        columns.signatures.append(signature.decode_all(encoded, settings))
        if columns.groups is not None:
            columns.groups.add(
                [[row.get(name) for row in signed] for name in same]
                if all(are_exported)
                else [*_read_values(collection, of_block, same).values()]
            )
        if contents is not None:
            versions = np.fromiter((row.get(VERSION, 0) for row in signed), np.int64, len(signed))
            contents.append(versions.view(np.uint64)[:, None])
        documents += len(block)
        plan.on_progress(Progress(READING, documents, count))
    if documents != count and collection.state() == state:
        reason = f"the export returned {documents:,} of {count:,} documents"
        raise SolrAnswerError(collection.url, 200, reason, LOG_AGAIN, code="answer-partial")
    return SolrSide(
        collection=collection,
        state=state,
        ids=ids,
        documents=documents,
        unsigned=unsigned,
        contents=contents,
        names=names,
    )


def require_readable(collection: Collection, schema: Schema, name: str, argument: str) -> bool:
    """Return True if the values of a field can be exported.

    Raises SettingsError if there is no such field, or its values cannot be read.
    """
    place = collection.names.of(name)
    field, is_exported = schema.field(place), schema.can_export(place)
    if field is None or not (is_exported or field.is_kept):
        lacks = f"the field {name!r} is not stored and has no docValues"
        missing = f"the collection {collection.name!r} has no field {name!r}"
        step = f"name a different field in `{argument}`"
        raise SettingsError(lacks if field else missing, step, code="field-missing")
    return is_exported


def _read_values(
    collection: Collection, ids: Sequence[str], fields: Sequence[str],
    others: Mapping[str, str] = NOTHING,
) -> dict[str, list[Any]]:  # fmt: skip
    """Read the values of fields by their names, which may be `others` in the collection."""
    names = {name: others.get(name, name) for name in fields}
    rows = _by_id(collection, ids, [*dict.fromkeys(names.values())])
    return {
        name: _unbox([rows.get(id, {}).get(place) for id in ids]) for name, place in names.items()
    }


def _unbox(values: list[Any]) -> list[Any]:
    """Take values out of their lists if no document has several, as in a column that was kept."""
    if all(value is None or (isinstance(value, list) and len(value) == 1) for value in values):
        return [value and value[0] for value in values]
    return values


def _by_id(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> dict[str, dict[str, Any]]:
    return _read_pages(
        ids, lambda page: {row["id"]: row for row in collection.stored(page, fields)}
    )


def _read_pages(ids: Sequence[str], read: Callable[[Sequence[str]], dict[str, T]]) -> dict[str, T]:
    """Read by ids, some pages at the same time."""
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    with thread_pool(PAGES) as pool:
        return {id: value for page in pool.map(read, pages) for id, value in page.items()}
