"""Queries for documents that share terms with a document, or with each of many.

A request asks for "any of these terms", scored by how many are shared.
Each term is a clause of constant weight, so the score of a hit is the number of terms that it
shares with the query. A server allows 1,024 clauses in a query; more of them are split into
sub-queries whose scores are summed, over the documents that have any of the terms at all.
Each term that an index has takes some kilobytes of the server's memory meanwhile, so of very many
terms a sample is looked for. Requests are JSON bodies: unlike forms, those have no limit of 2 MB.
The names of fields travel as parameters, `field_…`, in which the client puts the collection's
names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nsmallest
from itertools import chain
from typing import Any

from neardup_solr.solr.names import FIELD_PARAM, SETTINGS

PAGE = 1_000  # hits, or documents, in an answer
CLAUSES = 1_000  # a little under the 1,024 that an untouched server allows
MOST_TERMS = 16 * CLAUSES  # of a scored request, which take 64 MB of a server's memory
# One of these is in no value: the 5,000 ids of a page, of 512 bytes each, cannot hold all of them.
_SEPARATORS = (range(0x1F, 0, -1), range(0xE000, 0xF8FF), range(0x10000, 0x110000))
_ID, _TERMS = f"{FIELD_PARAM}id", f"{FIELD_PARAM}terms"
_SETTINGS = f"{FIELD_PARAM}settings"
_OF_VALUES = "{{!terms f=${} v=$any separator=$separator}}"

# How many documents have these settings, and how many have any.
_SETTINGS_COUNTED = {
    "these": f"{{!term f=${_SETTINGS} v=$settings}}",
    "any": f"{{!lucene df=${_SETTINGS} v='[* TO *]'}}",
}
_WORDS = frozenset({"AND", "OR", "NOT", "TO"})  # of Solr's syntax
_LEADERS = {"shards.preference": "replica.leader:true", "shortCircuit": "false"}

Request = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Terms to look for in a multi-valued string field."""

    field: str
    values: Sequence[str]


def any_of(terms: Terms, *, filters: Sequence[str], params: Mapping[str, str]) -> Request:
    """Make a request whose hits share a term or more. Their score is the number shared.

    `filters` are filter queries in Solr's syntax; `params` are what those refer to by `$name`.
    Sorted by score, then id, so that equal requests give equal answers.
    """
    chunks = [terms.values[at : at + CLAUSES] for at in range(0, len(terms.values), CLAUSES)]
    clauses = [_clauses(chunk) for chunk in chunks]
    request: Request = {"sort": "score desc,id asc", "filter": list(filters)}
    params = {**params, _TERMS: terms.field}
    if len(clauses) == 1:
        return request | {"query": clauses[0], "params": params}
    named = {f"part{number}": clause for number, clause in enumerate(clauses)}
    summed = ",".join(f"query(${name},0)" for name in named)
    has_any = f"{{!terms f=${_TERMS} cache=false v=$any separator=$separator}}"
    return request | {
        "query": f"{{!func}}sum({summed},0)",
        "filter": [has_any, *filters],
        "params": {**params, **named, **_any(terms.values)},
    }


def sample_terms(terms: Sequence[str]) -> Sequence[str]:
    """Choose those of very many distinct terms that are looked for, all of up to `MOST_TERMS`.

    They have the smallest hashes (Broder, "On the resemblance and containment of documents", 1997):
    of two sets the same terms are chosen, so what these share is shared by the samples in the same
    proportion.
    """
    if len(terms) <= MOST_TERMS:
        return terms
    return nsmallest(
        MOST_TERMS, terms, key=lambda term: blake2b(term.encode(), digest_size=8).digest()
    )


def any_term(terms: Terms, *, filters: Sequence[str]) -> Request:
    """Make a request for the documents that share a term or more, of however many terms.

    They come in no order and without a count of what they share, which makes it the quickest way
    to ask for the terms of many documents at once.
    """
    params = {**_any(terms.values), _TERMS: terms.field}
    wanted = f"{{!terms f=${_TERMS} cache=false v=$any separator=$separator}}"
    return {"query": wanted, "filter": list(filters), "params": params}


def each_term(terms: Terms) -> tuple[Request, dict[str, str]]:
    """Make a request for all documents, and for each term a query that counts its documents."""
    named = {f"term{number}": value for number, value in enumerate(terms.values)}
    queries = {term: f"{{!term f=${_TERMS} cache=false v=${name}}}" for name, term in named.items()}
    return {"query": "*:*", "params": {**named, _TERMS: terms.field}}, queries


def by_id(id: str) -> Request:
    """Make a request for the document with exactly this id, whatever characters it holds."""
    return {"query": f"{{!term f=${_ID} v=$id}}", "params": {"id": id, _ID: "id"}}


def by_ids(ids: Sequence[str]) -> Request:
    """Make a request for the documents with exactly these ids."""
    params = {**_any(ids), _ID: "id"}
    return {"query": _OF_VALUES.format(_ID), "params": params}


def ids_in(request: Request) -> list[str] | None:
    """Return the ids of the documents that a request is for, None if it is for others, too."""
    query, params = request.get("query"), request.get("params", {})
    if query == by_id("")["query"]:
        return [params["id"]]
    if params.get(_ID) is not None and query == _OF_VALUES.format(_ID):
        return list(params["any"].split(params["separator"]))
    return None


def having(*fields: str) -> str:
    """Make a query for the documents that have a value in any of these fields."""
    return " OR ".join(f"{_escape(name)}:[* TO *]" for name in fields)


def _escape(name: str) -> str:
    """Write the name of a field so that nothing in it is syntax."""
    escaped = re.sub(r"(\W)", r"\\\1", name)
    return f"\\{escaped}" if name in _WORDS else escaped


def of_leaders(request: Request) -> Request:
    """Make the same request for the leaders of a SolrCloud's shards.

    Not even a lone shard is answered by whatever replica the node has.
    """
    return _with(request, **_LEADERS)


def at_once(request: Request) -> Request:
    """Make the same request for few documents: shards of a cloud answer in a round, not two.

    Each shard sends whole documents, as many as are wanted in all.
    """
    return _with(request, **{"distrib.singlePass": "true"})


def of_replica(request: Request, address: str) -> Request:
    """Make the same request for a replica."""
    return _with(request, shards=address)


def _with(request: Request, **params: str) -> Request:
    return {**request, "params": {**request.get("params", {}), **params}}


def counting_settings(request: Request, fingerprint: str) -> tuple[Request, Mapping[str, str]]:
    """Make a request that can count the documents with these settings, and those with any.

    Solr caches the filters by which it counts them.
    """
    request = _with(request, settings=fingerprint, **{_SETTINGS: SETTINGS})
    return request, _SETTINGS_COUNTED


def same_value(field: str, value: str, number: int = 0) -> tuple[str, dict[str, str]]:
    """Make a filter for documents whose field has this value, with the parameters it uses.

    Of a field that is analysed, they have its words. Filters of a request need a `number` each,
    which names these parameters.
    """
    name, same = f"{FIELD_PARAM}same{number}", f"same{number}"
    return f"{{!field f=${name} v=${same}}}", {same: value, name: field}


def _any(values: Sequence[str]) -> dict[str, str]:
    """The parameters of values for the parser `terms`, with a separator that is in none of them."""
    held = frozenset("".join(values))
    signs = map(chr, chain.from_iterable(_SEPARATORS))
    separator = next(sign for sign in signs if sign not in held)
    # Not named "ids": that parameter means something to Solr.
    return {"any": separator.join(values), "separator": separator}


def _clauses(values: Sequence[str]) -> str:
    # "OR", because someone else's collection may have another default.
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    any_of = " ".join(f'"{value}"^=1' for value in escaped)
    return f"{{!lucene q.op=OR df=${_TERMS}}}{any_of}"
