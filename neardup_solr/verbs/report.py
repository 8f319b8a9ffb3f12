"""report: the near-duplicates of all documents, or of some, as pairs, each listed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from pathlib import Path

from neardup_solr.answers.format import read_answers
from neardup_solr.answers.verdicts import Answered
from neardup_solr.argument_types import By, MeasureName, OneOrMore
from neardup_solr.arguments import checked
from neardup_solr.checks import listed, require
from neardup_solr.errors import counted
from neardup_solr.measures import Limits, measure_named
from neardup_solr.measures.equality import parse_equality
from neardup_solr.minhash import make_entry
from neardup_solr.progress import OnProgress, Progress, ignore, thread_pool
from neardup_solr.records import Document, Hit, Pair, natural
from neardup_solr.reports.result_table import Table
from neardup_solr.reports.rows import ANSWER, Columns, of_pairs, pair_rows
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder
from neardup_solr.solr.names import TEXT
from neardup_solr.solr.patience import keep_patience
from neardup_solr.solr.schema import CHANGED
from neardup_solr.solr.unsigned import describe_unsigned
from neardup_solr.verbs import batch
from neardup_solr.verbs.collection_measure import measure_by
from neardup_solr.verbs.criteria import (
    SIGNED,
    Criteria,
    find_hits,
    make_finder,
    only_terms,
    searchable,
)
from neardup_solr.verbs.pair_rules import keep_equal, obey_answers
from neardup_solr.verbs.search import pair_with

THREADS = 4  # mostly waiting for Solr
PAGE = 50  # documents of a query

Near = tuple[list[Pair], bool]  # a document's pairs; whether it has as many candidates as allowed


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report(Table):
    """Near-duplicate pairs of a report, each once.

    `documents`: documents in the report; `cut`: documents that reached the limit of candidates and
    may have more pairs; `gaps`: sentences about further omissions, such as documents changed
    meanwhile; `answered`: effect of the answers, None without answers; `candidates`: most
    candidates compared with a document; `enough`: number of candidates that would omit none.
    """

    pairs: tuple[Pair, ...]
    documents: int
    cut: int
    gaps: tuple[str, ...] = ()
    answered: Answered | None = None
    candidates: int = 0
    enough: int = 0

    @property
    def complete(self) -> bool:
        """True if all documents were compared in their present state."""
        return not self.gaps

    def __repr__(self) -> str:
        pairs, documents = counted(len(self.pairs), "pair"), counted(self.documents, "document")
        return f"<Report: {pairs} among {documents}>"

    def columns(self) -> Columns:
        """Return the columns id, other_id, similarity, distance and, with answers, answer."""
        names = ("id", "other_id", "similarity", "distance")
        return of_pairs(self.pairs, names if self.answered is None else (*names, ANSWER))

    @checked
    def write(self, path: str | Path) -> None:
        """Write the pairs to a .tsv, .csv, .jsonl or .xlsx file.

        Formulas are escaped as in `Duplicates.write`.

        Raises SourceError if the suffix is unknown or the file cannot be written.
        """
        pair_rows(self.pairs).write(Path(path))


@dataclass(frozen=True)
class ReportRequest:
    """The arguments of `report`."""

    collection: Collection
    _: KW_ONLY
    from_id: str | None = None
    to_id: str | None = None
    query: str | None = None
    later_only: bool = False
    by: By | None = None
    candidates: int = 100
    fq: OneOrMore = ()
    same: OneOrMore = ()
    equal: OneOrMore = ()
    measure: MeasureName = "auto"
    model: str | Path | None = None
    max_distance: int | None = None
    min_similarity: float | None = None
    answers: str | Path | None = None
    patience: float | str = "5m"
    on_progress: OnProgress | None = None

    @property
    def criteria(self) -> Criteria:
        """Criteria of near-duplicates. Raises ArgumentError if a value is not possible."""
        return Criteria(
            by=self.by,
            candidates=self.candidates,
            fq=listed(self.fq),
            same=listed(self.same),
            equality=parse_equality(self.equal),
            measure=self.measure,
            limits=Limits(max_distance=self.max_distance, min_similarity=self.min_similarity),
        )

    def check(self) -> None:
        """Refuse values that are not possible, before Solr is asked. Raises ArgumentError."""
        first, last = self.from_id, self.to_id
        is_range = first is None or last is None or natural(first) <= natural(last)
        reason = f"`from_id` {first!r} comes after `to_id` {last!r}"
        require(is_range, reason, "swap them", code="arguments-conflict")
        _ = self.criteria


def make_report(request: ReportRequest) -> Report:
    """Find the pairs of all documents of a request, page by page, and obey the answers."""
    request.check()
    collection, criteria = request.collection, request.criteria
    with keep_patience([collection], request.patience):
        measure = measure_by(collection, request.measure, request.model, request.max_distance)
        criteria = replace(criteria, measure=measure)
        answers = None if request.answers is None else read_answers(request.answers)
        on_progress = request.on_progress or ignore
        settings, criteria = searchable(collection, criteria)
        gaps = describe_unsigned(collection)
        state = collection.state()
        ids = _choose_ids(request)
        work = make_work(collection, settings, criteria, later_only=request.later_only)
        step = PAGE if work.is_together else PAGE // 10
        pages = [ids[at : at + step] for at in range(0, len(ids), step)]
        pairs: list[Pair] = []
        cut = done = 0
        with thread_pool(THREADS) as pool:
            for page in pool.map(work.find_pairs, pages):
                for near, is_cut in page:
                    pairs += near
                    cut += is_cut
                done += len(page)
                on_progress(Progress("comparing", done, len(ids)))
        if state is not None and collection.state() != state:
            gaps.append(CHANGED)
        if criteria.equality:
            pairs = keep_equal(collection, pairs, criteria.equality)
        answered = None
        if answers is not None:
            pairs, answered = obey_answers(
                collection, answers, pairs, work.finder.comparer, criteria.fq, {*ids},
                later_only=request.later_only,
            )  # fmt: skip
        return Report(
            pairs=once(pairs), documents=done, cut=cut, gaps=tuple(gaps), answered=answered,
            candidates=request.candidates, enough=work.finder.widest,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """Finds the near-duplicates of documents of a collection, of later ids only if `later_only`.

    Those of many are searched for at once if `is_together`, which is quick by bands: few documents
    share a band, but many share a shingle.
    """

    finder: Finder
    criteria: Criteria
    is_together: bool
    later_only: bool

    def find_pairs(self, ids: Sequence[str]) -> list[Near]:
        """Find the pairs of each of some documents. Those that are missing are left out."""
        signed = batch.sign_batch(self._read(ids), self.finder.comparer)
        hits = self._find_together(signed) if self.is_together else self._find_singly(signed)
        forms = list(signed.forms)
        candidates = batch.collect_candidates(signed, hits, forms, self.finder.comparer)
        pairs: list[list[Pair]] = [[] for _ in hits]
        for row, near in batch.compare_candidates(forms, candidates, self.finder.comparer):
            pairs[row].append(pair_with(signed.documents[row].id, near.match))
        most = self.criteria.candidates
        return [(near, len(best) == most) for near, best in zip(pairs, hits, strict=True)]

    def _read(self, ids: Sequence[str]) -> list[Document]:
        fields = [TEXT, *self.criteria.read, *self.finder.comparer.measure.fields]
        rows = self.finder.collection.stored(ids, fields)
        return [Document(id=row["id"], text=row.get(TEXT, ""), kept=row) for row in rows]

    def _find_together(self, signed: batch.SignedBatch) -> list[list[Hit]]:
        """Find candidates by a search for all bands, and by another for documents with hot ones."""
        terms, most = signed.terms(), self.criteria.candidates
        every = self.finder.hits(terms)
        widest = max((len(hits.best) for hits in every), default=0)
        self.finder.widest = max(self.finder.widest, widest)
        return [
            self.finder.rank(bands, most, partial(self._is_wanted, document.id))
            if hits.is_cut
            else [hit for hit in hits.best if self._is_wanted(document.id, hit)][:most]
            for document, bands, hits in zip(signed.documents, terms, every, strict=True)
        ]

    def _find_singly(self, signed: batch.SignedBatch) -> list[list[Hit]]:
        """Find candidates by a search for each document, and read what may be near at once."""
        comparer = self.finder.comparer
        settings = only_terms(comparer.settings, self.criteria)
        is_signed = self.criteria.by in SIGNED
        hits = []
        for document in signed.documents:
            entry = make_entry(document, settings, is_signed=is_signed)
            wanted = partial(self._is_wanted, document.id)
            hits.append(find_hits(self.finder, entry, self.criteria, wanted))
        near = {
            hit.id
            for each, words in zip(hits, signed.words.tolist(), strict=True)
            for hit in each
            if comparer.may_be_near(words, hit.num_words)
        }
        stored = self.finder.collection.stored(sorted(near), comparer.measure.stored_fields)
        rows = {row["id"]: row for row in stored}
        return [[replace(hit, fields=rows.get(hit.id, {})) for hit in each] for each in hits]

    def _is_wanted(self, id: str, hit: Hit) -> bool:
        return natural(hit.id) > natural(id) if self.later_only else hit.id != id


def make_work(
    collection: Collection, settings: Settings, criteria: Criteria, *, later_only: bool
) -> _Neighbours:
    """Prepare to find the near-duplicates of documents, by the settings that the collection has."""
    is_together = criteria.by == "bands" and not criteria.same
    fields = measure_named(criteria.measure).stored_fields if is_together else ()
    finder = make_finder(collection, settings, criteria, *fields)
    finder.is_sure = True
    return _Neighbours(finder, criteria, is_together, later_only)


def _choose_ids(request: ReportRequest) -> list[str]:
    """List the ids of the documents of a report, in natural order."""
    filters = [] if request.query is None else [request.query]
    low = None if request.from_id is None else natural(request.from_id)
    high = None if request.to_id is None else natural(request.to_id)
    ids = (
        id
        for id in request.collection.ids(filters)
        if (low is None or natural(id) >= low) and (high is None or natural(id) <= high)
    )
    return sorted(ids, key=natural)


def once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Sort pairs in the natural order of their ids, without repeats."""
    distinct = {(pair.id, pair.other_id): pair for pair in pairs}
    in_order = sorted(distinct, key=lambda ids: (natural(ids[0]), natural(ids[1])))
    return tuple(distinct[ids] for ids in in_order)
