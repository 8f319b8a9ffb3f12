"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup_solr.arguments import Id, MeasureName, OneOrMore, checked
from neardup_solr.progress import OnProgress
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import SourceLike
from neardup_solr.verbs.explain.by_fields import compare_by_fields
from neardup_solr.verbs.explain.by_texts import compare_texts
from neardup_solr.verbs.explain.explanation import Explanation, explain_facts
from neardup_solr.verbs.explain.request import ExplainRequest


@checked
def explain(
    source: Collection | SourceLike,
    one: Id,
    other: Id,
    *,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    model: str | Path | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    equal: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Explanation:
    """Explain why two documents are near-duplicates or not, and what would find them.

    Example: `nd.explain("listings.csv", "12", "13").verdict`

    With `fields` or a `model`, `facts.evidence` says how much each field or measure adds to the
    odds of a match, in bits. Weights for `fields` are estimated from all candidates, which takes as
    long as `duplicates`.

    Raises DocumentNotFound or SourceError if an id is missing, RecordError if its record is
    unusable, ArgumentError if the ids are equal, SettingsError if the collection has no texts,
    SolrError if Solr does not answer.
    """
    request = ExplainRequest(
        source, one, other, measure=measure, fields=fields, model=model,
        max_distance=max_distance, min_similarity=min_similarity, equal=equal, id=id, text=text,
        settings=settings, on_progress=on_progress,
    )  # fmt: skip
    request.check()
    request = request.choose_columns()
    if request.fields is not None or request.model is not None:
        return explain_facts(compare_by_fields(request))
    return explain_facts(compare_texts(request))
