"""The function `nd.explain`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import FieldKind, Id, MeasureName, OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection, Settings
    from neardup_solr.types import Explanation, OnProgress, SourceLike


@public
def explain(
    source: Collection | SourceLike,
    one: Id,
    other: Id,
    *,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, FieldKind] | None = None,
    model: str | Path | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    same: OneOrMore = (),
    equal: OneOrMore = (),
    answers: str | Path | None = None,
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

    If the documents differ in a field of `same`, or by an answer, a reason says so: neither changes
    their similarity.

    Raises DocumentNotFound or SourceError if an id is missing, RecordError if its record is
    unusable, ArgumentError if the ids are equal, SettingsError if the collection has no texts,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.explain import explain_pair
    from neardup_solr.verbs.explain.request import ExplainRequest

    return explain_pair(
        ExplainRequest(
            source,
            one,
            other,
            measure=measure,
            fields=fields,
            model=model,
            max_distance=max_distance,
            min_similarity=min_similarity,
            same=same,
            equal=equal,
            answers=answers,
            id=id,
            text=text,
            settings=settings,
            on_progress=on_progress,
        )
    )
