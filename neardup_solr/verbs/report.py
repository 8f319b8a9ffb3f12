"""report: the near-duplicates of all documents, or of some, as pairs, each listed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.arguments import By, MeasureName, OneOrMore, checked, listed, require
from neardup_solr.errors import counted
from neardup_solr.measures import Comparer, Limits
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.minhash import make_entry
from neardup_solr.progress import OnProgress, Progress, ignore
from neardup_solr.records import Document, Hit, Pair, natural
from neardup_solr.reports import tables
from neardup_solr.reports.tables import ANSWER, Columns, of_pairs, write_pairs
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import TEXT
from neardup_solr.solr.query import Hits
from neardup_solr.solr.schema import CHANGED, describe_unsigned
from neardup_solr.threads import thread_pool
from neardup_solr.verbs.answer import read_if_given
from neardup_solr.verbs.batch import (
    Finder,
    SignedBatch,
    collect_candidates,
    compare_candidates,
    hits_of_batch,
    sign_batch,
)
from neardup_solr.verbs.search import (
    Criteria,
    compare_hits,
    comparer_for,
    hits,
    measure_by,
    pair_with,
    searchable,
)

if TYPE_CHECKING:
    from neardup_solr.answers import Answered

THREADS = 4  # mostly waiting for Solr
PAGE = 50  # documents that one query asks about
TEXTS = 1_000  # that are read at once

Near = tuple[list[Pair], bool]  # a document's pairs; whether it has as many candidates as allowed


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(tables.Table):
    """The pairs of a report, each once, and the number of documents it is about.

    `cut` counts documents with as many as `candidates` allows: they may have more. `gaps` says
    what else may be missing, such as documents that changed while they were read. `answered` says
    what became of the answers of people, if any were given.
    """

    pairs: tuple[Pair, ...]
    documents: int
    cut: int
    gaps: tuple[str, ...] = ()
    answered: Answered | None = None

    @property
    def complete(self) -> bool:
        """True if all documents were compared, in their present state."""
        return not self.gaps

    def __repr__(self) -> str:
        pairs, documents = counted(len(self.pairs), "pair"), counted(self.documents, "document")
        return f"<Report: {pairs} among {documents}>"

    def columns(self) -> Columns:
        """Make columns of the pairs: id, other_id, similarity, distance; answer, if asked for."""
        names = ("id", "other_id", "similarity", "distance")
        return of_pairs(self.pairs, names if self.answered is None else (*names, ANSWER))

    @checked
    def write(self, path: str | Path) -> None:
        """Write the pairs to a .tsv, .csv, .jsonl or .xlsx file.

        The columns are id, other_id, distance (in words; empty if the measure has none) and
        similarity (0..1), escaped as in `Duplicates.write`, and answer if answers were given. The
        file is written completely or not at all.

        Raises SourceError if the suffix is not known or the file cannot be written; an older file
        of that name then stays as it is.
        """
        write_pairs(self.pairs, path)


@checked
def report(
    collection: Collection,
    *,
    from_id: str | None = None,
    to_id: str | None = None,
    query: str | None = None,
    later_only: bool = False,
    by: By | None = None,
    candidates: int = 100,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    answers: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> Report:
    """The near-duplicates of all documents of a collection, or of some, in the order of ids.

    The report is about the documents with ids from `from_id` to `to_id` (inclusive; whole numbers
    by value, then the others by code point) that a `query` in Solr's syntax matches. With
    `later_only` a document is compared only with documents of later ids. `by`, `candidates`, `fq`,
    `same`, `equal`, `measure`, `max_distance` and `min_similarity` say what counts as a near-
    duplicate, as for `search`. `model` names a file that `tune` has written; the similarity is then
    the probability of a match. `answers` names a file, or a collection, with the answers of people,
    which are obeyed as by `duplicates`. `on_progress` is told how many documents are compared.

    Raises ArgumentError if `from_id` comes after `to_id`, SettingsError if the collection lacks
    what is asked for or has no documents, SolrError if Solr does not answer.
    """
    check_ids(from_id, to_id)
    asked = Criteria(
        by=by,
        candidates=candidates,
        fq=listed(fq),
        same=listed(same),
        equality=parse_equality(equal),
        measure=measure,
        limits=Limits(max_distance=max_distance, min_similarity=min_similarity),
    )
    asked = replace(asked, measure=measure_by(collection, measure, model, max_distance))
    judged = read_if_given(answers)
    on_progress = on_progress or ignore
    settings, criteria = searchable(collection, asked)
    gaps = describe_unsigned(collection)
    state = collection.state()
    ids = _chosen_ids(collection, from_id, to_id, query)
    comparer = comparer_for(collection, settings, criteria.measure, criteria.limits)
    finder = Finder(comparer=comparer, filters=criteria.fq)
    is_together = criteria.by == "bands" and not criteria.same
    work = _Neighbours(
        collection=collection, criteria=criteria, finder=finder, later_only=later_only
    )
    pages = [ids[at : at + PAGE] for at in range(0, len(ids), PAGE)]
    found: list[Pair] = []
    cut = done = 0
    with thread_pool(THREADS) as pool:
        # Pages in parallel, or one after the other with their documents in parallel.
        nearby = (
            pool.map(work.together, pages)
            if is_together
            else (list(pool.map(work.alone, work.documents(page))) for page in pages)
        )
        for page in nearby:
            for pairs, was_cut in page:
                found.extend(pairs)
                cut += was_cut
            done += len(page)
            on_progress(Progress("comparing", done, len(ids)))
    if state is not None and collection.state() != state:
        gaps.append(CHANGED)
    if criteria.equality:
        found = _keep_equal(collection, found, criteria.equality)
    answered = None
    if judged is not None:
        from neardup_solr.verbs.verdicts import obey_answers

        found, answered = obey_answers(
            collection, judged, found, comparer, criteria.fq, {*ids}, later_only=later_only
        )
    return Report(pairs=once(found), documents=done, cut=cut, gaps=tuple(gaps), answered=answered)


def _keep_equal(collection: Collection, pairs: Sequence[Pair], equality: Equality) -> list[Pair]:
    """Keep the pairs whose texts have in common what has to be equal."""
    ids = sorted({id for pair in pairs for id in (pair.id, pair.other_id)})
    keys = dict[str, object]()
    for at in range(0, len(ids), TEXTS):
        texts = collection.texts(ids[at : at + TEXTS])
        keys |= {id: equality.key(text) for id, text in texts.items()}
    return [pair for pair in pairs if keys.get(pair.id) == keys.get(pair.other_id)]


def check_ids(from_id: str | None, to_id: str | None) -> None:
    """Refuse a first id that comes after the last one, by ArgumentError."""
    require(
        from_id is None or to_id is None or natural(from_id) <= natural(to_id),
        f"`from_id` {from_id!r} comes after `to_id` {to_id!r}",
        "swap them",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Neighbours:
    """Finder of the near-duplicates of documents of a collection."""

    collection: Collection
    criteria: Criteria
    finder: Finder
    later_only: bool

    @property
    def comparer(self) -> Comparer:
        """The comparer of candidates."""
        return self.finder.comparer

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Read the documents with these ids that are still there."""
        wanted = [TEXT, *self.criteria.read, *self.comparer.measure.fields]
        rows = self.collection.stored(ids, wanted)
        return [Document(id=row["id"], text=row.get(TEXT, ""), kept=row) for row in rows]

    def alone(self, document: Document) -> Near:
        """Find the pairs of one document, by its own search."""
        entry = make_entry(document, self.comparer.settings)
        found = hits(
            self.collection,
            entry,
            self.criteria,
            wanted=lambda hit: self._is_wanted(document.id, hit.id),
        )
        is_cut = len(found) == self.criteria.candidates
        if not (fields := self.comparer.measure.fields):
            matches = compare_hits(self.collection, entry, found, self.comparer)
            return [pair_with(document.id, match) for match in matches], is_cut
        stored = self.collection.stored([hit.id for hit in found], [TEXT, *fields])
        rows = {row["id"]: row for row in stored}
        there = [replace(hit, fields=rows[hit.id]) for hit in found if hit.id in rows]
        (pairs,) = self._compare(sign_batch([document], self.comparer), [there])
        return pairs, is_cut

    def together(self, ids: Sequence[str]) -> list[Near]:
        """Find the pairs of each of some documents, by one search for all their bands.

        A document that has hot bands, or more candidates than are read at once, gets its own
        search.
        """
        batch = sign_batch(self.documents(ids), self.comparer)
        found = hits_of_batch(self.collection, batch, self.finder)
        best = [self._best(*each) for each in zip(batch.documents, found, strict=True)]
        pairs = self._compare(batch, best)
        return [
            self.alone(document) if each.is_cut else (own, len(first) == self.criteria.candidates)
            for document, each, own, first in zip(batch.documents, found, pairs, best, strict=True)
        ]

    def _compare(self, batch: SignedBatch, found: Sequence[Sequence[Hit]]) -> list[list[Pair]]:
        """Compare each document of a batch with what was found for it."""
        known = list(batch.known)
        met = collect_candidates(batch, found, known, self.comparer)
        pairs: list[list[Pair]] = [[] for _ in found]
        for row, one in compare_candidates(known, met, self.comparer):
            pairs[row].append(pair_with(batch.documents[row].id, one.match))
        return pairs

    def _best(self, document: Document, found: Hits) -> list[Hit]:
        wanted = (one for one in found.found if self._is_wanted(document.id, one.id))
        return list(islice(wanted, self.criteria.candidates))

    def _is_wanted(self, id: str, other_id: str) -> bool:
        return natural(other_id) > natural(id) if self.later_only else other_id != id


def _chosen_ids(
    collection: Collection, first: str | None, last: str | None, query: str | None
) -> list[str]:
    filters = [] if query is None else [query]
    low = None if first is None else natural(first)
    high = None if last is None else natural(last)
    ids = (
        id
        for id in collection.ids(filters)
        if (low is None or natural(id) >= low) and (high is None or natural(id) <= high)
    )
    return sorted(ids, key=natural)


def once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Sort pairs in the natural order of their ids, without repeats."""
    distinct = {(pair.id, pair.other_id): pair for pair in pairs}
    in_order = sorted(distinct, key=lambda ids: (natural(ids[0]), natural(ids[1])))
    return tuple(distinct[ids] for ids in in_order)
