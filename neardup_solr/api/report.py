"""The function `nd.report`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import By, MeasureName, OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection, Report
    from neardup_solr.types import OnProgress


@public
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
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> Report:
    """Find the near-duplicates of each document in a collection, in order of id.

    Example: `nd.report(listings, query="city:Rome", min_similarity=0.8).to_pandas()`

    The report covers the documents that match `query`, with ids from `from_id` to `to_id`
    inclusive. Whole numbers come first, by value; other ids follow, by code point. With a `model`,
    the similarity is the probability of a match. For a whole collection, `duplicates` is faster.
    If Solr is away, the call waits for it, at most `patience` (seconds, or "5m").

    Raises ArgumentError if `from_id` comes after `to_id`, SettingsError if the collection lacks a
    required field or has no documents, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.report import ReportRequest, make_report

    return make_report(
        ReportRequest(
            collection,
            from_id=from_id,
            to_id=to_id,
            query=query,
            later_only=later_only,
            by=by,
            candidates=candidates,
            fq=fq,
            same=same,
            equal=equal,
            measure=measure,
            model=model,
            max_distance=max_distance,
            min_similarity=min_similarity,
            answers=answers,
            patience=patience,
            on_progress=on_progress,
        )
    )
