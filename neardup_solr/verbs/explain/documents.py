"""Read the two documents of a pair, and the texts beside them that tell common words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neardup_solr import measures, sources
from neardup_solr.argument_types import MeasureName
from neardup_solr.candidates.by_word import count_shared_words
from neardup_solr.errors import DocumentNotFound
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings import WORD_CAP, Settings, refuse_settings, require_indexed
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.schema import read_schema
from neardup_solr.solr.unsigned import remedy
from neardup_solr.sources import Reading
from neardup_solr.text.normalize import normalize
from neardup_solr.text.numbers import show_word
from neardup_solr.verbs.collection_measure import SAMPLE, SAMPLED
from neardup_solr.verbs.duplicates.from_solr import require_readable
from neardup_solr.verbs.explain.subject import STORED, Subject, make_subject


def read_settings(
    collection: Collection, settings: Settings | Mapping[str, Any] | None
) -> Settings:
    """Read the settings of a collection, which has texts and is given no others."""
    refuse_settings(settings, "omit `settings`, or name the original file as `source`")
    stored = collection.needed_settings()
    require_indexed(["content"], stored.fields, "explain the pair from its original `source`")
    return stored


def read_stored(collection: Collection, ids: Sequence[str], settings: Settings) -> list[Subject]:
    """Read the documents as they are in a collection."""
    names = [name for name in STORED if name in settings.fields]
    rows = {row["id"]: row for row in collection.stored(ids, ["content", *names])}
    again = remedy(collection, "index it again", "writes them")
    subjects = []
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(collection.url, id)
        stored = {name: rows[id].get(name, "") for name in names}
        document = Document(id=id, text=rows[id].get("content", ""))
        subjects.append(replace(make_subject(document, settings, stored=stored), remedy=again))
    return subjects


def read_fields(
    collection: Collection, ids: Sequence[str], fields: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Read values of fields of documents of a collection."""
    if not fields:
        return [NOTHING for _ in ids]
    schema = read_schema(collection)
    for name in fields:
        require_readable(collection, schema, name, "same")
    rows = {row["id"]: row for row in collection.stored(ids, fields)}
    return [rows.get(id, NOTHING) for id in ids]


def read_source(
    source: Any, ids: Sequence[str], reading: Reading, measure: MeasureName
) -> tuple[dict[str, Document], list[str], list[int], list[int]]:
    """Read the documents of these ids, texts, all lengths, and the numbers of words of some texts.

    The texts are the first ones, and all that the measure, or what is chosen instead, may need.
    """
    sample: list[str] = []
    lengths: list[int] = []
    words: list[int] = []
    step = 1  # between texts whose words are counted, so that these come from all parts

    def look(number: int, document: Document) -> None:
        nonlocal words, step
        lengths.append(len(document.text))
        is_needed = measure in ("aligned", "records") or (
            measure == measures.AUTO and lengths[-1] < SAMPLED
        )
        if is_needed or len(sample) < SAMPLE:
            sample.append(document.text[:SAMPLED])
        if measure == measures.AUTO and number % step == 0:
            words.append(len(normalize(document.text).split()))
            if len(words) == 2 * SAMPLE:
                words, step = words[1::2], 2 * step

    documents, refused = sources.open_source(source, reading).find(ids, look)
    for id in ids:
        if id not in documents:
            raise sources.lacking(source, id, refused)
    return documents, sample, lengths, words


def estimate_shared_words(
    first: str, second: str, forms: Sequence[str], documents: int
) -> dict[str, int]:
    """Count the documents that have each word by which `duplicates` would pair two, rarest first.

    If there are more documents than `forms`, that number is an estimate.
    """
    share = max(documents / max(len(forms), 1), 1.0)  # documents may have gone meanwhile
    cap = max(2, round(WORD_CAP / share))
    counts = count_shared_words(first, second, forms, cap=cap)
    if share > 1:  # two documents have each word, and of the others as many as the sample says
        counts = {
            word: 2 + round(max(counts.get(word, 0) - 2, 0) * share)
            for word in {*count_shared_words(first, second, [first, second], cap=cap), *counts}
        }
    counts = {" ".join(map(show_word, words.split())): count for words, count in counts.items()}
    return dict(sorted(counts.items(), key=lambda each: (each[1], each[0])))
