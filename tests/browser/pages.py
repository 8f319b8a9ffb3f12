"""Invented pages for the tests: clusters of texts, compared for real."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise

from rapidfuzz.distance import Levenshtein

import neardup_solr as nd
from neardup_solr.measures.edited_words import similarity
from neardup_solr.records import natural
from neardup_solr.reports.html.page import Page
from neardup_solr.text import diff

BANDS, ROWS = 42, 3
SYLLABLES = ("ka", "lo", "mi", "ter", "san", "vel", "dor", "en", "us", "pri", "qua", "th")


def page_of(groups: Sequence[Mapping[str, str]]) -> Page:
    """A page of clusters, each given as texts by id: all its documents are pairs, the first
    is the canonical one and the last a bridge where there are more than two."""
    pairs = [pair for group in groups for pair in _pairs(group)]
    texts = {id: text for group in groups for id, text in group.items()}
    return Page(
        title="Invented texts",
        pairs=pairs,
        clusters=[_cluster(group) for group in groups],
        parameters={"Measure": "words", "Bands × rows": f"{BANDS} × {ROWS}"},
        summary={"documents": f"{len(texts):,}", "pairs": f"{len(pairs):,}"},
        texts=texts,
        curve=(BANDS, ROWS),
    )


def small_page() -> Page:
    """Five clusters of two to six documents with words of their own."""
    return page_of(
        [
            {
                f"{name}-{copy}": f"The {name}, at the old harbour; open from {copy} until late"
                + (" and on Sundays" if copy > 1 else "")
                for copy in range(1, size + 1)
            }
            for size, name in enumerate(["Anchor", "Barley", "Copper", "Dune", "Ember"], start=2)
        ]
    )


def large_page(pairs: int, words: int) -> Page:
    """A page of so many clusters of two texts of so many words."""
    dice = random.Random(7)
    lexicon = ["".join(dice.choices(SYLLABLES, k=dice.randint(1, 4))) for _ in range(5_000)]
    return page_of(list(_twins(dice, lexicon, pairs, words)))


def reuse_of(words: int) -> dict[str, str]:
    """Two texts of so many words that share two passages in another order, the first changed."""
    whole, rest = ([f"{name}{at}" for at in range(words)] for name in ("whole", "rest"))
    middle, last = whole[words // 2 : words // 2 + 60], whole[-40:]
    changed = [*middle[:30], "changed", *middle[31:]]
    half = words // 3
    return {"a": " ".join(whole), "b": " ".join([*rest[:half], *last, *rest[half:], *changed])}


def crowded_page(members: int) -> Page:
    """A page of one cluster of so many documents, each a pair with the next."""
    ids = [f"copy-{number}" for number in range(members)]
    cluster = nd.Cluster(
        id=ids[0],
        canonical=ids[0],
        members=tuple(nd.types.Member(id=id, similarity=0.9, distance=1) for id in ids),
        pairs=members - 1,
        diameter=0,
        bridges=tuple(ids[1:-1]),
    )
    pairs = [_pair(ids[0], one, other, 0.9, 1) for one, other in pairwise(ids)]
    texts = dict.fromkeys(ids, "the same few words again")
    return replace(page_of([]), pairs=pairs, clusters=[cluster], texts=texts)


def _twins(
    dice: random.Random, lexicon: Sequence[str], pairs: int, words: int
) -> Iterator[Mapping[str, str]]:
    for number in range(pairs):
        text = dice.choices(lexicon, k=words)
        other = list(text)
        for place in dice.choices(range(words), k=dice.randint(0, words // 8)):
            other[place] = dice.choice(lexicon)
        yield {f"doc-{number}a": " ".join(text), f"doc-{number}b": " ".join(other)}


def _pairs(group: Mapping[str, str]) -> Iterator[nd.Duplicate]:
    first = min(group, key=natural)
    for id, other_id in combinations(sorted(group, key=natural), 2):
        distance, similar = _compared(group[id], group[other_id])
        yield _pair(first, id, other_id, similar, distance)


def _pair(cluster: str, id: str, other_id: str, similar: float, distance: int) -> nd.Duplicate:
    return nd.Duplicate(
        id=id,
        other_id=other_id,
        similarity=similar,
        distance=distance,
        measure="words",
        cluster=cluster,
        shared=round(BANDS * similar**ROWS),
    )


def _cluster(group: Mapping[str, str]) -> nd.Cluster:
    canonical, *others = group
    members = [nd.types.Member(id=canonical, similarity=1.0, distance=0)]
    for id in others:
        distance, similar = _compared(group[canonical], group[id])
        members.append(nd.types.Member(id=id, similarity=similar, distance=distance))
    return nd.Cluster(
        id=min(group, key=natural),
        canonical=canonical,
        members=tuple(members),
        pairs=len(group) * (len(group) - 1) // 2,
        diameter=1,
        bridges=tuple(others[1:2]),
    )


def _compared(text: str, other: str) -> tuple[int, float]:
    words, others = _forms(text), _forms(other)
    distance = Levenshtein.distance(words, others)
    return distance, similarity(distance, max(len(words), len(others)))


@cache
def _forms(text: str) -> Sequence[str]:
    return diff.split(text).forms
