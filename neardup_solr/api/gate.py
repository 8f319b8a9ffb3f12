"""The function `nd.gate`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import Action, MeasureName, OneOrMore

if TYPE_CHECKING:
    from neardup_solr import Collection
    from neardup_solr.types import Decisions, OnError, OnProgress, SourceLike


@public
def gate(
    source: SourceLike,
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    yes: bool = False,
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    index: bool = False,
    batch: int = 50,
    most: int = 100,
    passages: bool = False,
    min_words: int | None = None,
    answers: str | Path | None = None,
    patience: float | str = "5m",
    keep: OneOrMore | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Decisions:
    """Decide about each document of a source, in order: allow, tag, hold or reject.

    Example: `[each.action for each in nd.gate("new.jsonl", listings, reject=0.95)]`

    Each decision is made only when you read it: by a `for` loop, `list()`, `.to_pandas()`,
    `.to_polars()` or `.to_arrow()`. With `index`, documents are indexed only then.

    A document is compared with the documents in the collection that share an LSH band with it, and
    with earlier admitted documents, but not with the document that it replaces. The similarity (0
    to 1) of the best match decides. Without `tag`, `hold` and `reject`, a document is tagged if the
    similarity reaches the measure's threshold. `exact` is the minimum action for equal texts and
    for pairs answered "same". Texts from a template, which all differ in the same places, are held
    instead of rejected, unless `yes` is set.

    With `passages`, each decision also has the passages of `min_words` words (20) that the document
    shares with those in the collection, which needs shingles (of all `fields`), and with earlier
    admitted ones. If by its passages it is a copy, an edition or a part of another document, the
    part of it that they cover counts like a similarity.

    With `index`, each decision is returned once Solr has the document. A replacement must have all
    columns of the old document, unless `keep` is given. Documents lost by Solr are resent.

    Raises SettingsError if the collection lacks a required field, SourceError if the source cannot
    be read, SolrError if Solr does not answer; earlier decisions stay valid.
    """
    from neardup_solr.verbs.gate import open_gate
    from neardup_solr.verbs.gate.request import GateRequest

    return open_gate(
        GateRequest(
            source,
            collection,
            tag=tag,
            hold=hold,
            reject=reject,
            exact=exact,
            yes=yes,
            measure=measure,
            model=model,
            max_distance=max_distance,
            equal=equal,
            fq=fq,
            index=index,
            batch=batch,
            most=most,
            passages=passages,
            min_words=min_words,
            answers=answers,
            patience=patience,
            keep=keep,
            on_error=on_error,
            on_progress=on_progress,
        )
    )
