"""Growth of the index by annotate, estimated from a sample."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import orjson

from neardup_solr.records import Document
from neardup_solr.settings_by_name import ANNOTATED
from neardup_solr.solr import admin, own_schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, SETTINGS, TEXT, Names
from neardup_solr.solr.names import NOTE as NOTE_TYPE
from neardup_solr.solr.schema import Schema
from neardup_solr.verbs.text_fields import text_problem

GROWTH_SAMPLE = 100  # documents by which growth is estimated
INDEXED = 0.83  # bytes in the index for each of JSON, measured by benchmarks/foreign.py
PEAK = 2  # times the index that remains: documents of before stay until segments are merged
_KEY = 42 << 48  # a band key, as long as most are


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Bytes that annotate would add to a collection of so many `documents`.

    `bytes_each` is the JSON of our fields in a document, as an answer has it; `index_bytes` is
    the size of the index without them, None if Solr does not tell.
    """

    documents: int
    bytes_each: int
    index_bytes: int | None = None

    @property
    def added_bytes(self) -> int:
        """The bytes that come to the index."""
        return round(INDEXED * self.bytes_each * self.documents)

    def __str__(self) -> str:
        now, added = self.index_bytes, self.added_bytes
        beside = ""
        if now:
            times = (now + added) / now
            peak = f"up to about {PEAK * times:.1f} during writing"
            beside = f" on top of the current {now / 1e6:,.1f} MB ({times:.1f} times, {peak})"
        return (
            f"annotate adds about {added / 1e6:,.1f} MB to the index{beside};"
            f" queries without `fl` return {self.bytes_each:,} more bytes per document"
        )


def growth_of(
    collection: Collection, fields: Schema, names: Names, used: Set[str] | None
) -> Growth | None:
    """Estimate what annotate would add, if nothing of it exists yet."""
    has_ours = own_schema.own_fields(names).keys() <= fields.fields.keys()
    is_ours = has_ours and NOTE_TYPE not in fields.fields
    is_annotated = used is None or names.of(SETTINGS) in used
    if is_ours or is_annotated or any(text_problem(fields.field(name)) for name in names.text):
        return None
    return estimate_growth(collection.with_names(names))


def estimate_growth(collection: Collection) -> Growth | None:
    """Estimate what annotate adds, from a sample of texts, or None without texts.

    `collection` has the names that it is prepared with.
    """
    answer = collection.select({"query": "*:*"}, fields=[TEXT], limit=GROWTH_SAMPLE)
    texts = [str(row[TEXT]) for row in answer.documents if row.get(TEXT)]
    if not texts:
        return None
    return Growth(
        documents=answer.total,
        bytes_each=round(sum(map(_bytes_of, texts)) / len(answer.documents)),
        index_bytes=admin.index_bytes(collection),
    )


def _bytes_of(text: str) -> int:
    """Count the bytes of our fields for a text. It is not signed: signatures have a fixed size."""
    from neardup_solr.minhash import make_entry  # with NumPy, for collections without our fields

    entry = make_entry(Document(id="sample", text=text), ANNOTATED, is_signed=False)
    fields = {
        "md5_hash": entry.md5_hash,
        "num_words": entry.num_words,
        "first_word": entry.first_word,
        BANDS: [_KEY] * ANNOTATED.bands,
        "signature": "A" * 4 * -(-4 * ANNOTATED.hashes // 3),
        SETTINGS: ANNOTATED.fingerprint,
    }
    return len(orjson.dumps(fields)) if entry.num_words else 0
