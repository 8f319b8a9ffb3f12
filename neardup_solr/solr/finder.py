"""Finder of the documents of a collection that share terms with others, scored by how many.

A term that very many documents have, such as a band of boilerplate, is hot: whole answers would be
full of documents that share nothing else, so it is left out of questions about many documents. A
large term is had by fewer, but by enough to keep other documents waiting.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from typing import Any

from neardup_solr.measures import Comparer
from neardup_solr.records import NOTHING, Hit
from neardup_solr.sizes import SIZES
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection, Selection
from neardup_solr.solr.names import BANDS, ID, VERSION

SUSPECTS = 64  # terms that are counted if a batch finds too many
FEW = 200  # documents that each shard of a cloud may tell in vain
BESIDE = 800  # bytes of a document in a cache, beside its texts

LARGE = query.MOST_TERMS // 4  # terms of a document
# Searches for the terms of large documents take memory and processors: a server gets few at a time.
_LARGE = threading.BoundedSemaphore(2)

Fields = Mapping[str, Any]
Key = tuple[str, int | None]  # the id and the version of a document


class OtherSettings(Exception):
    """Documents have other settings than those that the terms were made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The documents that share a term with another: those that share most first, then by id.

    `is_cut` if they are more than were fetched, `is_left` if they were left, as they take long.
    """

    best: tuple[Hit, ...] = ()
    is_cut: bool = False
    is_left: bool = False


@dataclass(slots=True)
class Cache:
    """Large terms, and documents with a large term: forms and fields, by id and version."""

    large: set[str] = field(default_factory=set)
    documents: dict[Key, tuple[str, Fields]] = field(default_factory=dict)
    size: int = 0

    def keep(self, forms: Iterable[str], rows: Sequence[Fields]) -> dict[Key, tuple[str, Fields]]:
        """Keep documents, and return them. What is left out for room is soon fetched again."""
        pairs = zip(forms, rows, strict=True)
        documents = {(row[ID], row.get(VERSION)): (form, row) for form, row in pairs}
        size = sum(2 * len(form) + BESIDE for form, _ in documents.values())
        if self.size + size > SIZES.cached_documents:
            self.documents, self.size = {}, 0
        self.documents |= documents
        self.size += size
        return documents


@dataclass(slots=True, kw_only=True)
class Finder:
    """Finds the documents of a collection that share terms of `term_field` with others.

    They have to match the `filters`, Solr filter queries, and come with these `fields`. Unless it
    `is_sure`, the next request also tells if all documents have the settings of the `comparer`;
    OtherSettings is raised if they do not.

    `hot` are the terms that turned out to be hot, `widest` is the most hits of a ranked document,
    itself included. With a `cache`, the hits of a document do not
    depend on the others of its batch, but some that are not near to it may be missing; with
    `leaves_large`, nothing is looked for if it has a large term.
    """

    collection: Collection
    comparer: Comparer
    filters: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    hot: set[str] = field(default_factory=set)
    cache: Cache | None = None
    leaves_large: bool = False
    is_sure: bool = False
    term_field: str = BANDS
    widest: int = 0

    def rank(
        self,
        terms: Sequence[str],
        most: int,
        wanted: Callable[[Hit], bool] = lambda hit: True,
        same: Mapping[str, Iterable[str]] = NOTHING,
    ) -> list[Hit]:
        """Find the wanted documents that share most terms, at most so many, best first.

        They have to have the `same` values, by field. Of very many terms a sample counts.
        """
        terms = query.sample_terms(terms)
        if not terms:
            return []
        if self.term_field == BANDS and not same and most <= FEW:  # which few documents share
            selection = self._select_sharing(terms, 2 * FEW)
            if selection.total <= 2 * FEW:
                (hits,) = assign_hits([terms], selection.documents, self.term_field)
                self.widest = max(self.widest, selection.total)
                return list(islice(filter(wanted, hits.best), most))
        filters, params = list(self.filters), dict[str, str]()
        for name, values in same.items():
            for value in sorted(values):
                clause, param = query.same_value(name, value, len(filters))
                filters.append(clause)
                params |= param
        spelled = self.collection.terms(self.term_field, terms)
        request = query.any_of(spelled, filters=filters, params=params)
        with _LARGE if len(terms) > LARGE else nullcontext():
            return list(islice(filter(wanted, self.fetch(request, most + 1)), most))

    def fetch(self, request: query.Request, page: int = query.PAGE) -> Iterator[Hit]:
        """Fetch the hits of a scored request, best first, by pages as they are used."""
        page = min(page, query.PAGE)
        request = query.at_once(request) if page <= FEW else request
        offset, total = 0, 1
        while offset < total:
            selection = self._select(request | {"offset": offset}, ["score", *self.fields], page)
            yield from _scored_hits(selection)
            offset, total = offset + page, selection.total
            self.widest = max(self.widest, total)

    def hits(self, terms: Sequence[Sequence[str]], forms: Sequence[str] = ()) -> list[Hits]:
        """Find what shares terms with each of many documents, by their terms.

        A cache needs their `forms`, too. A single request asks for all of them, by the terms that
        are not hot: documents that share only hot terms may be missing, and then `is_cut`. If it
        finds too many for other reasons, the batch is halved; a single document has no hits then,
        and `is_cut`.
        """
        if self.cache is None:
            return self._find_together(terms)
        return self._find_apart(list(zip(terms, forms, strict=True)), self.cache)

    def add_nearest(self, terms: Sequence[Sequence[str]], hits: Sequence[Hits]) -> list[Hits]:
        """Add to hits that are cut the `NEAREST` that share most terms, hot or not."""
        return [self._add(row, each) if each.is_cut else each
                for row, each in zip(terms, hits, strict=True)]  # fmt: skip

    def _add(self, terms: Sequence[str], cut: Hits) -> Hits:
        every = {hit.id: hit for hit in (*cut.best, *self.rank(terms, SIZES.nearest_documents))}
        return replace(cut, best=_order(every.values()))

    def _find_together(self, terms: Sequence[Sequence[str]]) -> list[Hits]:
        wanted = {term for row in terms for term in row} - self.hot
        are_cut = [not wanted.issuperset(row) for row in terms]
        if not wanted:
            return [Hits(is_cut=is_cut) for is_cut in are_cut]
        is_alone = len(terms) == 1 and not are_cut[0]
        if is_alone:
            selection = self._select_scored(sorted(wanted), self.fields)
        else:
            selection = self._select_sharing(sorted(wanted), SIZES.fetched_documents)
        if selection.total > SIZES.fetched_documents:
            return self._find_again(terms, wanted, None if is_alone else selection)
        if is_alone:
            return [Hits(best=_order(_scored_hits(selection)))]
        shared = assign_hits(terms, selection.documents, self.term_field)
        return [replace(each, is_cut=cut) for each, cut in zip(shared, are_cut, strict=True)]

    def _find_again(
        self, terms: Sequence[Sequence[str]], wanted: set[str], selection: Selection | None
    ) -> list[Hits]:
        """Find without the hot ones of the terms, if any are hot, else by halves.

        Those that most of the documents of a selection have are the suspects.
        """
        suspects = list(wanted)
        if selection is not None:
            values = (wanted & {*_values(row, self.term_field)} for row in selection.documents)
            suspects = [term for term, _ in Counter(chain.from_iterable(values))
                        .most_common(SUSPECTS)]  # fmt: skip
        hot = self._choose_frequent(suspects, SIZES.hot_term)
        self.hot |= hot
        if hot:
            return self._find_together(terms)
        if len(terms) == 1:
            return [Hits(is_cut=True)]
        middle = len(terms) // 2
        return [*self._find_together(terms[:middle]), *self._find_together(terms[middle:])]

    def _find_apart(
        self, documents: Sequence[tuple[Sequence[str], str]], cache: Cache
    ) -> list[Hits]:
        """Find for each document what a search for it alone finds, if possible by a single request.

        Documents with a large term are looked for after the others, or not at all.
        """
        are_large = [not cache.large.isdisjoint(terms) for terms, _ in documents]
        others = [each for each, is_large in zip(documents, are_large, strict=True) if not is_large]
        together = iter(self._find_few(others, cache))
        hits = []
        for each, is_large in zip(documents, are_large, strict=True):
            if not is_large:
                hits.append(next(together))
            elif self.leaves_large:
                hits.append(Hits(is_left=True))
            else:
                hits.append(self._find_alone(*each, cache))
        return hits

    def _find_few(self, documents: Sequence[tuple[Sequence[str], str]], cache: Cache) -> list[Hits]:
        if len(documents) == 1:
            return [self._find_alone(*documents[0], cache)]
        terms = [terms for terms, _ in documents]
        wanted = sorted({*chain.from_iterable(terms)})
        if not wanted:
            return [Hits() for _ in documents]
        selection = self._select_sharing(wanted, SIZES.nearest_documents)
        if selection.total > SIZES.nearest_documents:
            middle = len(documents) // 2
            halves = documents[:middle], documents[middle:]
            return [hits for half in halves for hits in self._find_apart(half, cache)]
        hits = assign_hits(terms, selection.documents, self.term_field)
        many = [
            row for row, each in zip(terms, hits, strict=True) if len(each.best) > SIZES.large_term
        ]
        cache.large |= self._choose_frequent(sorted({*chain.from_iterable(many)}), SIZES.large_term)
        return hits

    def _find_alone(self, terms: Sequence[str], form: str, cache: Cache) -> Hits:
        """Find what a document shares terms with, and learn which terms are large.

        The documents with a large term are counted first, so that few are fetched in vain.
        """
        finder = replace(self, cache=None, hot=set())
        if many := [term for term in terms if term in cache.large]:
            counts = self._count(many)
            cache.large.difference_update(term for term in many if counts[term] <= SIZES.large_term)
            if max(counts.values()) > SIZES.fetched_documents:
                finder.hot |= self._choose_frequent(terms, SIZES.hot_term)
            elif near := self._find_near(terms, form, cache):
                return near
        was_expected = bool(finder.hot)
        (hits,) = finder.hits([terms])
        if not was_expected if hits.is_cut else not many and len(hits.best) > SIZES.large_term:
            cache.large |= self._choose_frequent(terms, SIZES.large_term)
        return hits

    def _find_near(self, terms: Sequence[str], form: str, cache: Cache) -> Hits | None:
        """Find the hits of a document that are near to it, and fetch only those not in the cache.

        Returns None if they are too many, have no versions, or change meanwhile.
        """
        from neardup_solr.measures.pairs import first_with_each

        selection = self._select_scored(terms, [VERSION])
        rows = selection.documents
        if selection.total > SIZES.fetched_documents or any(
            row.get(VERSION) is None for row in rows
        ):
            return None
        shared = {(row[ID], row[VERSION]): round(row["score"]) for row in rows}
        kept = cache.documents  # to which another thread may add
        documents = {key: kept[key] for key in shared if key in kept}
        if new := [id for id, _ in shared.keys() - documents.keys()]:
            fields = [ID, VERSION, *self.fields]
            fetched = self.collection.select(query.by_ids(new), fields=fields, limit=len(new))
            forms = self.comparer.make_forms(fetched.documents)
            documents |= cache.keep(forms, fetched.documents)
        if not shared.keys() <= documents.keys():
            return None
        forms = [documents[key][0] for key in shared]
        compared = self.comparer.compare_texts([form, *forms], first_with_each(len(forms)))
        near = compress(shared.items(), compared.is_near.tolist())
        return Hits(best=_order(make_hit(documents[key][1], count) for key, count in near))

    def _choose_frequent(self, terms: Sequence[str], most: int) -> set[str]:
        """Choose the terms that more than so many documents have."""
        return {term for term, count in self._count(terms).items() if count > most}

    def _count(self, terms: Sequence[str]) -> dict[str, int]:
        """Count the documents that have each term."""
        if not terms:
            return {}
        spelled = self.collection.terms(self.term_field, terms)
        request, counting = query.each_term(spelled)
        counts = self.collection.select(request, fields=[ID], limit=0, counting=counting).counts
        return {term: counts[value] for term, value in zip(terms, spelled.values, strict=True)}

    def _select_scored(self, terms: Sequence[str], fields: Iterable[str]) -> Selection:
        """Select documents that have any of the terms, and count how many each has."""
        spelled = self.collection.terms(self.term_field, terms)
        request = query.any_of(spelled, filters=self.filters, params={})
        return self._select(request, ["score", *fields], SIZES.fetched_documents)

    def _select_sharing(self, terms: Sequence[str], limit: int) -> Selection:
        """Select documents that have any of the terms, with all of theirs."""
        spelled = self.collection.terms(self.term_field, terms)
        request = query.any_term(spelled, filters=self.filters)
        return self._select(request, [self.term_field, *self.fields], limit)

    def _select(self, request: query.Request, fields: Iterable[str], limit: int) -> Selection:
        """Select documents, and see that their settings are those of the comparer."""
        fields = [ID, *fields]
        if self.is_sure:
            return self.collection.select(request, fields=fields, limit=limit)
        fingerprint = self.comparer.settings.fingerprint
        selection = self.collection.select_if(request, fingerprint, fields=fields, limit=limit)
        if selection is None:
            raise OtherSettings
        self.is_sure = True
        return selection


def make_hit(fields: Fields, shared: int) -> Hit:
    """Make a hit of a document with these fields."""
    return Hit(
        id=fields[ID],
        shared=shared,
        md5_hash=fields.get("md5_hash", ""),
        num_words=fields.get("num_words"),
        fields=fields,
    )


def assign_hits(
    terms: Sequence[Sequence[str]], documents: Sequence[Fields], field: str
) -> list[Hits]:
    """Make each document a hit of those whose terms it has in `field`, best first."""
    owners: dict[str, list[int]] = defaultdict(list)
    for row, values in enumerate(terms):
        for term in values:
            owners[term].append(row)
    wanted = set(owners)
    hits: list[list[Hit]] = [[] for _ in terms]
    for document in documents:
        common = wanted.intersection(_values(document, field))
        counts = Counter(chain.from_iterable(map(owners.__getitem__, common)))
        for row, count in counts.items():
            hits[row].append(make_hit(document, count))
    return [Hits(best=_order(each)) for each in hits]


def _scored_hits(selection: Selection) -> Iterator[Hit]:
    return (make_hit(row, round(row["score"])) for row in selection.documents)


def _values(document: Fields, field: str) -> Sequence[str]:
    value = document.get(field, ())
    return (value,) if isinstance(value, str) else value


def _order(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: (-hit.shared, hit.id)))
