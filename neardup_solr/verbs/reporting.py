"""report: the near-duplicates of every document, or of some, as pairs that each appear once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice

from neardup_solr.edges.client import Solr
from neardup_solr.pure import pairs, signature
from neardup_solr.pure.ids import natural, ordered
from neardup_solr.pure.model import Document, Hit, Pair
from neardup_solr.pure.verification import Comparing
from neardup_solr.verbs.searching import (
    DEFAULT,
    Criteria,
    candidates,
    compared,
    measuring,
    searchable,
)

THREADS = 4  # mostly waiting for Solr
PAGE = 100  # documents whose texts are held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which documents a report is about: ids from `first` to `last`, and a query; or all.

    Ids are in natural order: whole numbers by value, then the others by code point; both ends
    belong to it. `filter` is a query in Solr's syntax. With `later_only` a document is compared
    only with those whose ids come after its own.
    """

    first: str | None = None
    last: str | None = None
    filter: str | None = None
    later_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The pairs of a report, each once, with how many documents were asked about.

    `cut` counts the documents that had as many candidates as `rows` allows: they may have more.
    """

    pairs: tuple[Pair, ...]
    documents: int
    cut: int


EVERYTHING = Chosen()


def report(
    solr: Solr,
    *,
    chosen: Chosen = EVERYTHING,
    criteria: Criteria = DEFAULT,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """The near-duplicates of the chosen documents, in the order of their ids.

    `on_progress` gets the number of documents done and in all, after each page of them.

    Raises SettingsError where the collection lacks what `criteria` ask for or has no documents,
    SolrError where Solr does not answer.
    """
    settings, criteria = searchable(solr, criteria)
    ids = _chosen_ids(solr, chosen)
    comparing = measuring(solr, settings, criteria)
    near = partial(_near, solr, criteria, comparing, chosen.later_only)
    found: list[Pair] = []
    cut = done = 0
    pool = ThreadPoolExecutor(THREADS)
    try:
        for page in _pages(ids):
            texts = solr.texts(page)
            documents = [Document(id=id, text=text) for id, text in texts.items()]
            for near_ones, was_cut in pool.map(near, documents):
                found.extend(near_ones)
                cut += was_cut
            done += len(documents)
            on_progress(done, len(ids))
    finally:
        # After an error nothing waits for requests that may hang.
        pool.shutdown(wait=False, cancel_futures=True)
    return Report(pairs=pairs.once(found), documents=done, cut=cut)


def _near(
    solr: Solr, criteria: Criteria, comparing: Comparing, later_only: bool, document: Document
) -> tuple[list[Pair], bool]:
    """The pairs of one document, and whether it had as many candidates as are allowed."""
    own = natural(document.id)

    def wanted(hit: Hit) -> bool:
        return natural(hit.id) > own if later_only else hit.id != document.id

    entry = signature.entry(document, comparing.settings)
    hits = candidates(solr, entry, criteria, wanted=wanted)
    found = []
    for match in compared(solr, entry, hits, comparing, many=True):
        id, other_id = ordered(document.id, match.id)
        found.append(
            Pair(id=id, other_id=other_id, distance=match.distance, similarity=match.similarity)
        )
    return found, len(hits) == criteria.rows


def _chosen_ids(solr: Solr, chosen: Chosen) -> list[str]:
    filters = [] if chosen.filter is None else [chosen.filter]
    low = None if chosen.first is None else natural(chosen.first)
    high = None if chosen.last is None else natural(chosen.last)
    ids = (
        id
        for id in solr.ids(filters)
        if (low is None or natural(id) >= low) and (high is None or natural(id) <= high)
    )
    return sorted(ids, key=natural)


def _pages(ids: Sequence[str]) -> Iterator[list[str]]:
    remaining = iter(ids)
    while page := list(islice(remaining, PAGE)):
        yield page
