"""Estimate of what the fields of annotate take, before any of them is written."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from neardup_solr.minhash import make_entry
from neardup_solr.records import Document
from neardup_solr.settings import ANNOTATED
from neardup_solr.solr import admin
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import BANDS, SETTINGS, TEXT

SAMPLE = 100  # documents
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
            peak = f"up to about {PEAK * times:.1f} while it is written"
            beside = f" beside {now / 1e6:,.1f} MB ({times:.1f} times, {peak})"
        return (
            f"annotate adds about {added / 1e6:,.1f} MB to the index{beside}, and"
            f" {self.bytes_each:,} bytes a document to answers of queries without `fl`"
        )


def growth(collection: Collection) -> Growth | None:
    """Estimate what annotate adds, from a sample of texts, or None without texts.

    `collection` has the names that it is prepared with.
    """
    answer = collection.select({"query": "*:*"}, fields=[TEXT], limit=SAMPLE)
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
