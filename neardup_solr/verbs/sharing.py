"""Candidates of many documents by one query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.edges import finding
from neardup_solr.edges.client import Solr
from neardup_solr.pure.grouping.candidates import CAP
from neardup_solr.pure.solr import query

Fields = Mapping[str, Any]

HOT = CAP  # as in reports of whole collections
SUSPECTS = 64  # terms that are looked at where a batch finds too many
NEAREST = 1_000  # documents that are compared where hot terms find more
MOST = 5_000  # documents that are fetched for one batch; bounds an answer to some ten megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked: documents whose `field` has any of the terms, and which of their fields.

    `filters` are Solr filter queries.
    """

    field: str
    fields: tuple[str, ...]
    filters: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All fields that are asked for."""
        return ["id", self.field, *self.fields]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A document that has terms in common with one that was asked about; `shared` counts them."""

    id: str
    shared: int
    fields: Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The documents that share a term with one, those that share most first, then by id.

    `is_cut` where there are more of them than are fetched.
    """

    found: tuple[Candidate, ...] = ()
    is_cut: bool = False


class Hot:
    """Terms that more than `HOT` documents have, as they are met: boilerplate, mostly.

    Whole batches would be full of the documents that share nothing else.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def without(self, terms: Sequence[str]) -> list[str]:
        """Those of the terms that are not hot, as far as is known."""
        return [term for term in terms if term not in self._known]

    def learn(self, solr: Solr, field: str, asked: set[str], documents: Sequence[Fields]) -> bool:
        """Whether some of the terms that found too many documents, of which these, are hot."""
        counts = Counter(
            term for one in documents for term in asked.intersection(_values(one, field))
        )
        most = [term for term, _ in counts.most_common(SUSPECTS)]
        request, counting = query.each_term(query.Terms(field=field, values=most))
        found = finding.found(solr, request, fields=["id"], limit=0, counting=counting)
        hot = {term for term, count in found.counts.items() if count > HOT}
        self._known |= hot
        return bool(hot)


def candidates(
    solr: Solr, terms: Sequence[Sequence[str]], asking: Asking, hot: Hot
) -> list[Candidates]:
    """The candidates of each document, given by its terms; none for one without a term.

    One request asks for all of them, by the terms that are not hot: what shares only hot ones with
    a document may be missing, and it `is_cut`. Where too many are found for other reasons, it is
    asked in halves, and a single document `is_cut` without any.
    """
    cold = [hot.without(own) for own in terms]
    asked = {term for own in cold for term in own}
    is_cut = [len(own) < len(all_own) for own, all_own in zip(cold, terms, strict=True)]
    if not asked:
        return [Candidates(is_cut=one) for one in is_cut]
    wanted = query.Terms(field=asking.field, values=sorted(asked))
    request = query.any_term(wanted, filters=asking.filters)
    found = finding.found(solr, request, fields=asking.names, limit=MOST)
    if found.total <= MOST:
        shared = shared_out(terms, found.documents, asking.field)
        return [replace(each, is_cut=one) for each, one in zip(shared, is_cut, strict=True)]
    if hot.learn(solr, asking.field, asked, found.documents):
        return candidates(solr, terms, asking, hot)
    if len(terms) == 1:
        return [Candidates(is_cut=True)]
    middle = len(terms) // 2
    first, second = terms[:middle], terms[middle:]
    return candidates(solr, first, asking, hot) + candidates(solr, second, asking, hot)


def with_most_shared(
    solr: Solr, terms: Sequence[Sequence[str]], asking: Asking, found: Sequence[Candidates]
) -> list[Candidates]:
    """The same candidates; where they are cut, also the `NEAREST` that share most terms."""
    return [
        _joined(each, _most_shared(solr, own, asking)) if each.is_cut else each
        for own, each in zip(terms, found, strict=True)
    ]


def _most_shared(solr: Solr, terms: Sequence[str], asking: Asking) -> tuple[Candidate, ...]:
    """Those that share most terms with one document, hot or not."""
    wanted = query.Terms(field=asking.field, values=terms)
    request = query.any_of(wanted, filters=asking.filters, params={})
    found = finding.found(solr, request, fields=asking.names, limit=NEAREST)
    return counted(terms, found.documents, asking.field)


def _joined(cut: Candidates, others: Sequence[Candidate]) -> Candidates:
    found = {one.id: one for one in (*cut.found, *others)}
    return replace(cut, found=tuple(sorted(found.values(), key=_order)))


def counted(terms: Sequence[str], documents: Sequence[Fields], field: str) -> tuple[Candidate, ...]:
    """Documents that share terms with one, as its candidates."""
    own = set(terms)
    made = (
        Candidate(id=one["id"], shared=len(own.intersection(_values(one, field))), fields=one)
        for one in documents
    )
    return tuple(sorted(made, key=_order))


def shared_out(
    terms: Sequence[Sequence[str]], documents: Sequence[Fields], field: str
) -> list[Candidates]:
    """Each document as a candidate of those whose terms it has in `field`."""
    owners: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(terms):
        for term in own:
            owners[term].append(row)
    asked = set(owners)
    found: list[list[Candidate]] = [[] for _ in terms]
    for document in documents:
        common = asked.intersection(_values(document, field))
        shared = Counter(row for term in common for row in owners[term])
        for row, count in shared.items():
            found[row].append(Candidate(id=document["id"], shared=count, fields=document))
    for each in found:
        each.sort(key=_order)
    return [Candidates(found=tuple(each)) for each in found]


def _values(document: Fields, field: str) -> Sequence[str]:
    value = document.get(field, ())
    return (value,) if isinstance(value, str) else value


def _order(one: Candidate) -> tuple[int, str]:
    return -one.shared, one.id
