"""The function `nd.review`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import FieldKind, MeasureName, OneOrMore, Way

if TYPE_CHECKING:
    from neardup_solr import Settings
    from neardup_solr.types import Compared, OnError, OnProgress, Reviewed


@public
def review(
    source: Compared,
    *,
    answers: str | Path | None = None,
    who: str | None = None,
    reach: float | None = None,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, FieldKind] | None = None,
    min_similarity: float | None = None,
    by: Way | None = None,
    against: Compared | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    port: int = 0,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
    on_address: Callable[[str], None] | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Reviewed:
    """Ask people in the browser whether pairs are the same, until the process is interrupted.

    Example: `nd.review("listings.csv")`

    The pairs are those that `duplicates` finds with the threshold lowered by `reach`, except pairs
    already in the file `answers`: by default listings.answers.jsonl, beside the source. Doubtful
    pairs come first; every third pair is drawn at random. Answers are saved at once; several
    browsers and processes may ask at the same time. The page is on 127.0.0.1, at an address with a
    token.

    Raises ArgumentError if there is no pair, or no `answers` are named for a source that is not a
    file, SettingsError if starlette or uvicorn is missing, and the errors of `duplicates`.
    """
    from neardup_solr.verbs.review import run_review
    from neardup_solr.verbs.review.request import ReviewRequest, name_answers

    return run_review(
        ReviewRequest(
            source,
            answers=name_answers(source) if answers is None else answers,
            who=who,
            reach=reach,
            measure=measure,
            fields=fields,
            min_similarity=min_similarity,
            by=by,
            against=against,
            fq=fq,
            same=same,
            id=id,
            text=text,
            keep=keep,
            settings=settings,
            port=port,
            on_error=on_error,
            on_progress=on_progress,
            on_address=on_address,
            on_ready=on_ready,
        )
    )
