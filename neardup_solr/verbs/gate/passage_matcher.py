"""Passages that new documents share with stored ones, with each other, and with those admitted.

Stored documents are found by shingles, those of the run by seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import nlargest
from typing import Any

from neardup_solr.candidates.passages import list_passages
from neardup_solr.cores import count_cores
from neardup_solr.minhash import make_entry
from neardup_solr.progress import prefetch, thread_pool
from neardup_solr.records import Document, Hit, Passage
from neardup_solr.settings import SEED_CAP
from neardup_solr.solr.finder import Finder
from neardup_solr.solr.names import SHINGLES, TEXT
from neardup_solr.verbs.batch import Candidate, SignedBatch
from neardup_solr.verbs.gate.band_index import BandIndex
from neardup_solr.verbs.gate.matcher import Admitted, counts_for
from neardup_solr.verbs.gate.policy import TAG_FIELD
from neardup_solr.verbs.gate.reuse import Reuse
from neardup_solr.verbs.gate.seed_index import collect_sparse

MOST = 100  # documents of the collection, and of the run, that are compared with one


def match_passages(
    finder: Finder, batch: SignedBatch, admitted: Admitted, min_words: int
) -> list[list[Reuse]]:
    """Match the passages of each document of a batch, of at least so many words."""
    fields = (TEXT, TAG_FIELD)
    stored = replace(finder, term_field=SHINGLES, fields=fields, cache=None, is_sure=True)
    run = _list_in_run(batch, admitted)

    def match(row: int) -> list[Reuse]:
        others = [*_list_stored(stored, batch, row, admitted), *run[row]]
        return _match(batch.documents[row], others, min_words)

    threads = min(count_cores(), len(run))
    with thread_pool(threads) as pool:  # while one waits for Solr, another compares
        return list(prefetch(pool, match, range(len(run)), at_once=threads))


def _list_stored(
    finder: Finder, batch: SignedBatch, row: int, admitted: Admitted
) -> Iterator[tuple[Candidate, str]]:
    """Yield the documents of the collection that share most shingles with a row, and their texts.

    Those that the run has replaced do not count.
    """
    document = batch.documents[row]

    def counts(hit: Hit) -> bool:
        return counts_for(document.id, hit) and hit.id not in admitted.latest

    settings = replace(finder.comparer.settings, fields=frozenset({SHINGLES}))
    terms = make_entry(document, settings, is_signed=False).shingles
    for hit in finder.rank(terms, MOST, counts):
        yield Candidate(id=hit.id, place=0, shared=hit.shared), str(hit.fields.get(TEXT) or "")


def _list_in_run(batch: SignedBatch, admitted: Admitted) -> list[list[tuple[Candidate, str]]]:
    """List the documents admitted before, and earlier rows, that share most seeds with each row."""
    texts = [each.text for each in batch.documents]
    seeds, rows = admitted.seeds.sample(*collect_sparse(texts))
    own = BandIndex()
    own.add(seeds[:, None], rows)
    listed: list[list[tuple[int, int, bool]]] = [[] for _ in texts]
    for index, is_row in ((admitted.seeds.index, False), (own, True)):
        columns = index.sharing(seeds[:, None], rows, cap=SEED_CAP)
        for row, other, shared in zip(*(column.tolist() for column in columns), strict=True):
            if other < row if is_row else admitted.latest[admitted.ids[other]] == other:
                listed[row].append((shared, other, is_row))

    def read(shared: int, other: int, is_row: bool) -> tuple[Candidate, str]:
        if is_row:
            id = batch.documents[other].id
            return Candidate(id=id, place=0, shared=shared, row=other), texts[other]
        id, text = admitted.ids[other], admitted.texts[other]
        return Candidate(id=id, place=0, shared=shared, number=other), text

    return [[read(*each) for each in nlargest(MOST, some)] for some in listed]


def _match(
    document: Document, others: Sequence[tuple[Candidate, str]], min_words: int
) -> list[Reuse]:
    """Match the passages that a document shares with other texts: those with most words first."""
    ids: list[Any] = [document.id, *range(len(others))]  # an id may be there twice
    texts = [document.text, *(text for _, text in others)]
    shared: dict[int, list[Passage]] = {}
    if others:
        for each in list_passages(ids, texts, min_words=min_words, has_texts=True):
            shared.setdefault(each.other_id, []).append(each)
    reuses = []
    for at, passages in shared.items():
        candidate = others[at][0]
        passages.sort(key=lambda each: each.start)
        named = tuple(replace(each, other_id=candidate.id) for each in passages)
        reuses.append(Reuse(candidate, named))
    return sorted(reuses, key=lambda each: -each.words)
