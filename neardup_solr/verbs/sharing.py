"""Candidates of many documents by one query."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neardup_solr.edges import finding
from neardup_solr.edges.client import Solr
from neardup_solr.pure.solr import query

MOST = 5_000  # documents that are fetched for one batch; bounds an answer to some ten megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked: documents whose `field` has any of the terms, and which of their fields.

    `filters` are Solr filter queries. More than `most` documents are not fetched at a time.
    """

    field: str
    fields: tuple[str, ...]
    filters: tuple[str, ...] = ()
    most: int = MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A document that has terms in common with one that was asked about; `shared` counts them."""

    id: str
    shared: int
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The documents that share a term with one, those that share most first, then by id.

    `is_cut` where there are more of them than are fetched.
    """

    found: tuple[Candidate, ...] = ()
    is_cut: bool = False


def candidates(solr: Solr, terms: Sequence[Sequence[str]], asking: Asking) -> list[Candidates]:
    """The candidates of each document, given by its terms; none for one without a term.

    One request asks for all of them; where that finds too many it is asked in halves, and a
    single document gets those that share most.
    """
    asked = sorted({term for own in terms for term in own})
    if not asked:
        return [Candidates() for _ in terms]
    wanted = query.Terms(field=asking.field, values=asked)
    fields = ["id", asking.field, *asking.fields]
    request = query.any_term(wanted, filters=asking.filters)
    found = finding.found(solr, request, fields=fields, limit=asking.most)
    if found.total <= asking.most:
        return shared_out(terms, found.documents, asking.field)
    if len(terms) > 1:
        middle = len(terms) // 2
        return candidates(solr, terms[:middle], asking) + candidates(solr, terms[middle:], asking)
    request = query.any_of(wanted, filters=asking.filters, params={})
    found = finding.found(solr, request, fields=fields, limit=asking.most)
    [one] = shared_out(terms, found.documents, asking.field)
    return [Candidates(found=one.found, is_cut=True)]


def shared_out(
    terms: Sequence[Sequence[str]], documents: Sequence[Mapping[str, Any]], field: str
) -> list[Candidates]:
    """Each document as a candidate of those whose terms it has in `field`."""
    owners: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(terms):
        for term in own:
            owners[term].append(row)
    asked = set(owners)
    found: list[list[Candidate]] = [[] for _ in terms]
    for document in documents:
        value = document.get(field, ())
        values = (value,) if isinstance(value, str) else value
        shared = Counter(row for term in asked.intersection(values) for row in owners[term])
        for row, count in shared.items():
            found[row].append(Candidate(id=document["id"], shared=count, fields=document))
    for each in found:
        each.sort(key=lambda one: (-one.shared, one.id))
    return [Candidates(found=tuple(each)) for each in found]
