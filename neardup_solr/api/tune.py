"""The function `nd.tune`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import FieldKind, Frame, Id, MeasureName, OneOrMore, Way

if TYPE_CHECKING:
    from neardup_solr import Collection, Settings
    from neardup_solr.types import Compared, OnError, OnProgress, SourceLike, Training, Tuning


if TYPE_CHECKING:

    @overload
    def tune(source: Any, *, answers: str | Path, **arguments: Any) -> Training: ...
    @overload
    def tune(source: Any, *, answers: None = None, **arguments: Any) -> Tuning: ...


@public  # type: ignore[misc]  # those above name only what chooses the result
def tune(
    source: Collection | SourceLike,
    *,
    answers: str | Path | None = None,
    fields: OneOrMore | Mapping[str, FieldKind] | None = None,
    measure: MeasureName = "auto",
    by: Way | None = None,
    against: Compared | None = None,
    output: str | Path | None = None,
    catch: float = 0.5,
    miss: float = 0.01,
    avoid: float = 0.03,
    load: float = 0.001,
    hashes: int | None = None,
    sample: int = 5_000,
    seed: int = 1,
    known: Sequence[tuple[Id, Id]] | str | Path | Frame | None = None,
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Tuning | Training:
    """Choose bands and rows that meet given limits, or train a model on answers.

    Example: `nd.tune("listings.csv", catch=0.6).choice.plan.bands`

    Bands miss a pair with similarity `catch` with a probability of at most `miss`. They make a pair
    with similarity `avoid` a candidate with a probability of at most `load`. All four are 0 to 1.
    `hashes` defaults to the number in the settings. The cost is estimated from a random sample and
    all documents of `known` pairs; for a collection, from stored signatures.

    With `answers`, a model learns which documents match, from four measures of the texts
    and from any `fields`. Parameters for bands are then ignored, and `known` is refused. The model
    is written to `output`; pass that file to `duplicates` as `model`. If the Solr of a collection
    is away, the call waits for it, at most `patience` (seconds, or "5m").

    Raises ArgumentError if a number is out of range; SettingsError if no bands meet the limits, or
    the collection has no signatures, too few documents or none of the known pairs; SourceError if a
    file cannot be read; SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.tune import run_tune
    from neardup_solr.verbs.tune.request import TuneRequest

    return run_tune(
        TuneRequest(
            source,
            answers=answers,
            fields=fields,
            measure=measure,
            by=by,
            against=against,
            output=output,
            catch=catch,
            miss=miss,
            avoid=avoid,
            load=load,
            hashes=hashes,
            sample=sample,
            seed=seed,
            known=known,
            id=id,
            text=text,
            settings=settings,
            patience=patience,
            on_error=on_error,
            on_progress=on_progress,
        )
    )
