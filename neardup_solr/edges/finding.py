"""Documents that a request finds, with what else the same request can count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.edges.client import Solr
from neardup_solr.pure.model import NOTHING
from neardup_solr.pure.solr import query

_DOCS = {"response.docs": list, "response.numFound": int}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The first documents that a request finds, how many it finds, and what was counted."""

    documents: list[dict[str, Any]]
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)


def found(
    solr: Solr,
    request: query.Request,
    *,
    fields: Sequence[str],
    limit: int,
    counting: Mapping[str, str] = NOTHING,
) -> Found:
    """At most `limit` documents with these fields.

    `counting` are queries by name: of each it is counted how many documents of the whole
    collection it matches. They may refer to the request's parameters.
    """
    wanted: dict[str, Any] = {"fields": list(fields), "limit": limit}
    if counting:
        everywhere = {"query": "*:*"}
        wanted["facet"] = {
            name: {"type": "query", "q": one, "domain": everywhere}
            for name, one in counting.items()
        }
    decoded = solr.ask(request | wanted, _DOCS)
    counted = decoded.get("facets", {})
    return Found(
        documents=solr.names.logical_all(decoded["response"]["docs"], fields),
        total=decoded["response"]["numFound"],
        counts={name: int(counted[name]["count"]) for name in counting},
    )
