"""Rules of pairs in a collection: those that equal parts and answers allow and add, by id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from neardup_solr.answers import SAME, Answer, choose_latest, hash_text
from neardup_solr.answers.verdicts import CHANGED, GONE, Answered, place_answers
from neardup_solr.clusters.components import Partition
from neardup_solr.measures import Comparer, Limits
from neardup_solr.measures.equality import Equality
from neardup_solr.records import Pair, ordered
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID
from neardup_solr.text.normalize import normalize

TEXTS = 1_000  # that are read at once


def keep_equal(collection: Collection, pairs: Sequence[Pair], equality: Equality) -> list[Pair]:
    """Keep the pairs whose texts have in common what has to be equal."""
    ids = sorted({id for pair in pairs for id in (pair.id, pair.other_id)})
    keys = dict[str, object]()
    for at in range(0, len(ids), TEXTS):
        texts = collection.texts(ids[at : at + TEXTS])
        keys |= {id: equality.key(text) for id, text in texts.items()}
    return [pair for pair in pairs if keys.get(pair.id) == keys.get(pair.other_id)]


def read_within(
    collection: Collection, ids: Iterable[str], fields: Sequence[str], filters: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read fields of documents by id, of those that match all filters."""
    rows: dict[str, dict[str, Any]] = {}
    wanted = sorted(ids)
    for at in range(0, len(wanted), query.PAGE):
        page = wanted[at : at + query.PAGE]
        request = query.by_ids(page) | {"filter": list(filters)}
        chosen = collection.select(request, fields=[ID, *fields], limit=len(page))
        rows |= {row["id"]: row for row in chosen.documents}
    return rows


def read_hashes(collection: Collection, answers: Iterable[Answer]) -> dict[str, str]:
    """Read the hashes of the documents of answers that exist and have words, by id."""
    texts = collection.texts(sorted({id for answer in answers for id in answer.hashes}))
    return {id: hash_text(text) for id, text in texts.items() if normalize(text, 1)}


def choose_around(answers: Iterable[Answer], id: str) -> list[Answer]:
    """Choose the latest answers about a document, and those that a chain of others connects."""
    partition, latest = Partition(), choose_latest(answers)
    for answer in latest:
        partition.unite(answer.id, answer.other_id)
    return [answer for answer in latest if partition.find(answer.id) == partition.find(id)]


def remove_limits(comparer: Comparer) -> Comparer:
    """Make a comparer by which any two documents are near."""
    return replace(comparer, limits=Limits(min_similarity=0.0))


def compare_ids(
    collection: Collection, pairs: Iterable[tuple[str, str]], comparer: Comparer
) -> list[Pair]:
    """Compare pairs of documents that are the same, whatever their similarity is."""
    measure, wanted = comparer.measure, sorted(pairs)
    rows = collection.stored(sorted({*chain(*wanted)}), [measure.compared_field, *measure.fields])
    rows = [row for row in rows if row.get(measure.compared_field)]
    places = {row["id"]: at for at, row in enumerate(rows)}
    stored = [pair for pair in wanted if places.keys() >= {*pair}]
    if not stored:
        return []
    results = remove_limits(comparer).compare_texts(
        comparer.make_forms(rows),
        np.array([places[id] for id in chain(*stored)], np.uint32).reshape(-1, 2),
    )
    distances = results.distances.tolist() if measure.has_distance else [None] * len(stored)
    columns = zip(stored, distances, results.similarities.tolist(), strict=True)
    return [
        Pair(id=id, other_id=other, distance=distance, similarity=similarity, answer=SAME)
        for (id, other), distance, similarity in columns
    ]


def obey_answers(
    collection: Collection,
    answers: Iterable[Answer],
    pairs: Iterable[Pair],
    comparer: Comparer,
    filters: Sequence[str],
    ids: Set[str],
    *,
    later_only: bool = False,
) -> tuple[list[Pair], Answered]:
    """Leave out the pairs that are different, and add those that are the same.

    A pair is added if either document is among the `ids`, the first if it is compared with later
    documents only, and the other matches all filters.
    """
    latest = choose_latest(answers)
    hashes = read_hashes(collection, latest)

    def locate(answer: Answer) -> tuple[str, str] | str:
        if len(answer.hashes.keys() & hashes.keys()) < 2:
            return GONE
        return (answer.id, answer.other_id) if answer.fits(hashes) else CHANGED

    verdicts, answered = place_answers(latest, locate)
    words = {ordered(*ends): answer.answer for answer, *ends in verdicts.held[::-1]}
    allowed = verdicts.obey(pairs, lambda pair: (pair.id, pair.other_id))
    by_ends = {(pair.id, pair.other_id): pair for pair in allowed}
    near = read_within(collection, hashes, (), filters) if filters else hashes
    same = [
        (first, second)
        for (first, second), word in words.items()
        if word == SAME and (first, second) not in by_ends
        and ((first in ids and second in near)
             or (second in ids and first in near and not later_only))
    ]  # fmt: skip
    named = [replace(pair, answer=words.get(ends, "")) for ends, pair in by_ends.items()]
    return [*named, *compare_ids(collection, same, comparer)], answered
