"""The function `nd.duplicates`: its signature, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.decorator import public
from neardup_solr.argument_types import FieldKind, Linkage, OneOrMore, PairMeasure, Way

if TYPE_CHECKING:
    from neardup_solr import Duplicates, Settings
    from neardup_solr.types import Compared, OnError, OnProgress


@public
def duplicates(
    source: Compared,
    *,
    against: Compared | None = None,
    by: Way | None = None,
    measure: PairMeasure = "auto",
    fields: OneOrMore | Mapping[str, FieldKind] | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    answers: str | Path | None = None,
    model: str | Path | None = None,
    cap: int | None = None,
    linkage: Linkage | None = None,
    canonical: str = "first",
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    remember: str | Path | None = None,
    checkpoint: str | Path | None = None,
    memory: int | str | None = None,
    texts: bool | int | None = None,
    without_common: bool | float = False,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Duplicates:
    """Find all near-duplicate pairs of a collection or of a source, and group them in clusters.

    Example: `nd.duplicates("listings.csv", fields=["text", "city:exact"]).clusters`

    `settings` apply to a source; a collection has its own. If you give no `text` and no `fields`,
    and a source has no column "text", the columns to compare are guessed from its contents and
    logged. Records with the same id are all compared, under ids such as "12@row3", unless a
    `Source` has a different `on_repeat`. With `against`, each pair has a document from `source` and
    one from `against`.

    `by` names the terms that candidate pairs share: "bands" (LSH), "shingles" or rare "words".
    "all" compares every pair, the default for up to 2,000 short texts. If more than `cap` documents
    share a term, not all of them are paired; exact copies are still in one cluster.

    `fields` compares columns as "text", "exact", "number" or "date". The similarity is then the
    probability of a match, with weights estimated from all candidates (Fellegi and Sunter 1969);
    missing values carry no weight. Documents without a value in a `same` field have no pairs. An
    answer in `answers` applies unless a newer answer contradicts it or a text has changed.

    With `linkage` "single", one pair joins a document to a cluster; with "complete", it must form a
    pair with each document in it; with "mutual_best" and `against`, a pair counts only if neither
    document has a better match. That is the default for `fields` of two sources, whose records are
    compared as wholes, by weights that were learnt beforehand; else it is "single". `canonical` is
    "first", "longest", "shortest", "fullest" (of fields), "oldest", "newest" (by the column of the
    last change), "oldest:FIELD", "newest:FIELD" or "FIELD=wire,agency" (prefer the value wire,
    then agency).

    If Solr is away, the call waits for it, at most `patience` (seconds, or "5m").

    `checkpoint` is a file for finished comparisons of texts: after an interruption, the same call
    continues from it. A call that is not interrupted deletes it.

    Large data goes to temporary files in $TMPDIR. The call fails if the candidates need more than
    `memory`, in bytes or such as "4G" (default: $NEARDUP_MEMORY, or half of the machine's memory).
    A warning is logged if what would be removed may be no copies.

    Raises SettingsError if a collection lacks signatures, SourceError if a source cannot be read,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.duplicates.find import find_duplicates
    from neardup_solr.verbs.duplicates.request import DuplicatesRequest

    request = DuplicatesRequest(
        source,
        against=against,
        by=by,
        measure=measure,
        fields=fields,
        max_distance=max_distance,
        min_similarity=min_similarity,
        fq=fq,
        same=same,
        equal=equal,
        answers=answers,
        model=model,
        cap=cap,
        linkage=linkage,
        canonical=canonical,
        id=id,
        text=text,
        keep=keep,
        settings=settings,
        remember=remember,
        checkpoint=checkpoint,
        memory=memory,
        texts=texts,
        without_common=without_common,
        patience=patience,
        on_error=on_error,
        on_progress=on_progress,
    )
    return find_duplicates(request)
