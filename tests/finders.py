"""Finders as tests make them: of a collection whose settings are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neardup_solr.measures import Comparer, measure_named
from neardup_solr.records import Hit
from neardup_solr.solr import query
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder


def sure_finder(solr: Collection, **more: Any) -> Finder:
    """A finder that does not ask for the settings."""
    comparer = Comparer(measure=measure_named("words"))
    return Finder(collection=solr, comparer=comparer, is_sure=True, **more)


def fetch_ranked(solr: Collection, request: query.Request, page: int = query.PAGE) -> Iterator[Hit]:
    """The hits of a scored request, best first."""
    return sure_finder(solr).fetch(request, page)
