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
from neardup_solr.solr.finder import Finder, make_hit
from neardup_solr.solr.names import ID, SHINGLES, TEXT
from neardup_solr.solr.query import MOST_TERMS
from neardup_solr.verbs.batch import Candidate, SignedBatch
from neardup_solr.verbs.gate.band_index import BandIndex
from neardup_solr.verbs.gate.matcher import Admitted, counts_for
from neardup_solr.verbs.gate.policy import TAG_FIELD
from neardup_solr.verbs.gate.reuse import Reuse
from neardup_solr.verbs.gate.seed_index import collect_sparse

MOST = 100  # documents of the collection, and of the run, that are compared with one
FEWEST = 3  # shingles that one of the collection shares: most share one or two by chance


def match_passages(
    finder: Finder, batch: SignedBatch, admitted: Admitted, min_words: int
) -> list[list[Reuse]]:
    """Match the passages of each document of a batch, of at least so many words."""
    if not batch.documents:
        return []
    stored = replace(finder, term_field=SHINGLES, fields=(), cache=None, is_sure=True)
    least = max(1, min(FEWEST, min_words + 1 - finder.comparer.settings.shingle_size))

    def match(document: Document, run: list[Candidate]) -> list[Reuse]:
        candidates = [*_list_stored(stored, document, admitted, least), *run]
        return _match(document, candidates, min_words)

    rows = zip(batch.documents, _list_in_run(batch, admitted), strict=True)
    threads = min(count_cores(), len(batch.documents))
    with thread_pool(threads) as pool:  # while one waits for Solr, another compares
        return list(prefetch(pool, lambda row: match(*row), rows, at_once=threads))


def _list_stored(
    finder: Finder, document: Document, admitted: Admitted, least: int
) -> Iterator[Candidate]:
    """Yield the documents of the collection that share most shingles, so many at least.

    Those that the run has replaced do not count.
    """

    def counts(hit: Hit) -> bool:
        return hit.id not in admitted.latest

    settings = replace(finder.comparer.settings, fields=frozenset({SHINGLES}))
    terms = make_entry(document, settings, is_signed=False).shingles
    if len(terms) > MOST_TERMS:  # of which a sample is looked for
        least = 1
    hits = finder.rank(terms, MOST, counts)
    shared = {hit.id: hit.shared for hit in hits if hit.shared >= least}
    for row in finder.collection.stored([*shared], [TEXT, TAG_FIELD]):
        hit = make_hit(row, shared[row[ID]])
        if counts_for(document.id, hit):
            yield Candidate(hit.id, 0, hit.shared, text=str(row.get(TEXT) or ""))


def _list_in_run(batch: SignedBatch, admitted: Admitted) -> list[list[Candidate]]:
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

    def read(shared: int, other: int, is_row: bool) -> Candidate:
        if is_row:
            return Candidate(batch.documents[other].id, 0, shared, row=other, text=texts[other])
        id, text = admitted.ids[other], admitted.texts[other]
        return Candidate(id, 0, shared, number=other, text=text)

    return [[read(*each) for each in nlargest(MOST, some)] for some in listed]


def _match(document: Document, candidates: Sequence[Candidate], min_words: int) -> list[Reuse]:
    """Match the passages that a document shares with others: those with most words first."""
    ids: list[Any] = [document.id, *range(len(candidates))]  # an id may be there twice
    texts = [document.text, *(each.text for each in candidates)]
    shared: dict[int, list[Passage]] = {}
    for each in list_passages(ids, texts, min_words=min_words, has_texts=True):
        shared.setdefault(each.other_id, []).append(each)
    reuses = []
    for at, passages in shared.items():
        named = (replace(each, other_id=candidates[at].id) for each in passages)
        in_order = sorted(named, key=lambda each: each.start)
        reuses.append(Reuse(candidates[at], tuple(in_order)))
    return sorted(reuses, key=lambda each: -each.words)
