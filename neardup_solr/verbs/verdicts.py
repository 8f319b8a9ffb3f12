"""Answers of people about documents of a collection, for verbs that ask Solr for one at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, product
from typing import Any, TypeAlias

import numpy as np

from neardup_solr.answers import (
    SAME,
    UNSURE,
    Answer,
    choose_latest,
    hash_text,
    set_aside,
)
from neardup_solr.clusters import Partition
from neardup_solr.measures import Comparer, Limits
from neardup_solr.records import NOTHING, Pair, ordered
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import ID
from neardup_solr.text.normalize import normalize
from neardup_solr.verbs.batch import join_stored
from neardup_solr.verbs.duplicates.answers import Answered

TextKey: TypeAlias = tuple[str, str]  # a document: its id, and the hash of its text


def key_text(id: str, text: str) -> TextKey:
    """Make the key of a document by its id and text."""
    return id, hash_text(text)


class Verdicts:
    """Verdicts about documents that come one by one: what answers say, and what follows from them.

    A document is known by its id and the hash of its text, so that an answer about another text
    does not count, and nothing has to be known of the documents that do not come. Answers about
    other texts than those of documents that are there, by their `hashes`, set no others aside.
    """

    def __init__(self, answers: Iterable[Answer], hashes: Mapping[str, str] = NOTHING) -> None:
        latest = [one for one in choose_latest(answers) if one.id != one.other_id]
        outdated = {
            one for one in latest
            if not one.fits({id: hashes.get(id, hash) for id, hash in one.hashes.items()})
        }  # fmt: skip
        latest.sort(key=lambda one: one in outdated)
        self.about: dict[str, list[Answer]] = defaultdict(list)
        for answer in latest:
            self.about[answer.id].append(answer)
            self.about[answer.other_id].append(answer)
        self._hashes = {
            id: {answer.hashes[id] for answer in about} for id, about in self.about.items()
        }
        self._partition = Partition()
        said = ((answer, *pair) for answer in latest for pair in self._find_pairs(answer))
        aside = dict.fromkeys(set_aside(said, self._partition))
        self.set_aside = tuple(one for one in aside if one not in outdated)
        self._members: dict[Any, set[str]] = defaultdict(set)
        for id, known in self._hashes.items():
            for hash in known:
                self._members[self._partition.find((id, hash))].add(id)

    def _find_pairs(self, answer: Answer) -> Iterator[tuple[Any, ...]]:
        """Give the pairs of texts that an answer is about: any texts, if it has no hashes."""
        texts = [
            [(id, each) for each in ({hash} if hash else self._hashes[id])]
            for id, hash in answer.hashes.items()
        ]
        return product(*texts)

    def _find(self, key: TextKey) -> Any:
        """Find the group of a text. One that no answer is about counts as any text."""
        id, hash = key
        known = hash in self._hashes.get(id, ())
        return self._partition.find((id, hash if known else ""))

    def list_same(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, if their texts are as they were."""
        return self._members.get(self._find(key), set()) - {key[0]}

    def list_related(self, key: TextKey) -> set[str]:
        """List the ids of documents that are the same as one, or judged together with it."""
        return self.list_same(key) | {id for one in self.about[key[0]] for id in one.hashes}

    def are_same(self, one: TextKey, other: TextKey) -> bool:
        """Tell whether two documents are the same."""
        return bool(self._find(one) == self._find(other))

    def are_different(self, one: TextKey, other: TextKey) -> bool:
        """Tell whether two documents are different."""
        return self._partition.are_apart(self._find(one), self._find(other))


def read_within(
    collection: Collection, ids: Iterable[str], fields: Sequence[str], filters: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read fields of documents by id, of those that match all filters."""
    found: dict[str, dict[str, Any]] = {}
    wanted = sorted(ids)
    for at in range(0, len(wanted), query.PAGE):
        page = wanted[at : at + query.PAGE]
        request = query.by_ids(page) | {"filter": list(filters)}
        chosen = collection.select(request, fields=[ID, *fields], limit=len(page))
        found |= {row["id"]: row for row in chosen.documents}
    return found


def read_hashes(collection: Collection, answers: Iterable[Answer]) -> dict[str, str]:
    """Read the hashes of the documents of answers that are there and have words, by id."""
    texts = collection.texts(sorted({id for one in answers for id in one.hashes}))
    return {id: hash_text(text) for id, text in texts.items() if normalize(text, 1)}


def choose_around(answers: Iterable[Answer], id: str) -> list[Answer]:
    """Choose the latest answers about a document, and those that a chain of others connects."""
    partition, latest = Partition(), choose_latest(answers)
    for one in latest:
        partition.unite(one.id, one.other_id)
    return [one for one in latest if partition.find(one.id) == partition.find(id)]


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
    there = [pair for pair in wanted if places.keys() >= {*pair}]
    if not there:
        return []
    found = remove_limits(comparer).compare_texts(
        join_stored(rows, comparer),
        np.array([places[id] for id in chain(*there)], np.uint32).reshape(-1, 2),
    )
    distances = found.distances.tolist() if comparer.measure.has_distance else [None] * len(there)
    columns = zip(there, distances, found.similarities.tolist(), strict=True)
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

    A pair is added if one document is among the `ids`, the first if it is compared with later ones
    only, and the other matches all filters.
    """
    latest = choose_latest(answers)
    hashes = read_hashes(collection, latest)
    there = [one for one in latest if len(one.hashes.keys() & hashes.keys()) == 2]
    fitting = [one for one in there if one.fits(hashes)]
    verdicts = Verdicts(fitting)
    excluded = {*verdicts.set_aside}
    held = [one for one in fitting if one not in excluded]
    answered = Answered(
        obeyed=tuple(one for one in held if one.answer != UNSURE),
        unsure=tuple(one for one in held if one.answer == UNSURE),
        set_aside=verdicts.set_aside,
        changed=tuple(one for one in there if not one.fits(hashes)),
        gone=tuple(one for one in latest if len(one.hashes.keys() & hashes.keys()) < 2),
    )
    answered.warn()
    words = {ordered(one.id, one.other_id): one.answer for one in held[::-1]}
    near = read_within(collection, hashes, (), filters) if filters else hashes
    found = {}
    for pair in pairs:
        ends = pair.id, pair.other_id
        if not verdicts.are_different(*((id, hashes.get(id, "")) for id in ends)):
            found[ends] = replace(pair, answer=words.get(ends, ""))
    same = [
        (one, other)
        for (one, other), word in words.items()
        if word == SAME and (one, other) not in found
        and ((one in ids and other in near)
             or (other in ids and one in near and not later_only))
    ]  # fmt: skip
    return [*found.values(), *compare_ids(collection, same, comparer)], answered
