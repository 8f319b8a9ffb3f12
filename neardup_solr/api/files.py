"""Functions for files and DataFrames, and for what people say of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from neardup_solr.api.public import documented, public
from neardup_solr.arguments import (  # fmt: skip
    Frame,
    Id,
    Judgement,
    Linkage,
    MeasureName,
    OneOrMore,
    PairMeasure,
    Way,
)

if TYPE_CHECKING:
    from neardup_solr import (
        Collection,
        Document,
        Duplicates,
        Evaluation,
        Settings,
    )  # fmt: skip
    from neardup_solr.types import (
        Answer,
        Compared,
        Explanation,
        OnError,
        OnProgress,
        Reviewed,
        SignaturesSummary,
        SourceLike,
        Training,
        Tuning,
    )  # fmt: skip
    from neardup_solr.verbs.evaluate.id_pairs import KnownPairs, PairResult, SomePairs


@public
def read(
    source: SourceLike, *, id: str | None = None, text: OneOrMore = "text", keep: OneOrMore = (),
    on_error: OnError | None = None,
) -> Iterator[Document]:  # fmt: skip
    """Read the documents of a source, one at a time, in bounded memory.

    Example: `[document.id for document in nd.read("listings.csv", keep="city")]`

    Several text columns are joined by line breaks.

    Raises SourceError if the source cannot be read; without `on_error`, RecordError for the first
    unusable record.
    """
    from neardup_solr.sources import read_documents

    return read_documents(source, id=id, text=text, keep=keep, on_error=on_error)


@public
def duplicates(
    source: Compared,
    *,
    against: Compared | None = None,
    by: Way | None = None,
    measure: PairMeasure = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
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
    "first", "longest", "shortest", "oldest", "oldest:FIELD" or "FIELD=wire,agency" (prefer the
    value wire, then agency).

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
    from neardup_solr.verbs.duplicates.request import Request

    request = Request(
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


@public
def signatures(
    source: SourceLike,
    output: str | Path,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> SignaturesSummary:
    """Write the signatures and bands of a source to a Parquet file, without Solr.

    Example: `nd.signatures("listings.csv", "signatures.parquet").written`

    The columns are `id` (string), `words` (int64), `signature` (a list of `hashes` uint32 values)
    and `bands` (a list of `bands` uint64 values); both lists are null for a text without words. The
    metadata entry "neardup_settings" is the fingerprint of the settings.

    Raises SourceError if the source cannot be read, or if the output file cannot be written or is
    the source.
    """
    from neardup_solr.verbs.signatures import write_signatures

    return write_signatures(
        source,
        output,
        id=id,
        text=text,
        settings=settings,
        on_error=on_error,
        on_progress=on_progress,
    )


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
    fields: OneOrMore | Mapping[str, str] | None = None,
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


@public
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
            equal=equal,
            id=id,
            text=text,
            settings=settings,
            on_progress=on_progress,
        )
    )


@public
def review(
    source: Compared,
    *,
    answers: str | Path,
    who: str | None = None,
    reach: float | None = None,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
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

    Example: `nd.review("listings.csv", answers="answers.jsonl")`

    The pairs are those that `duplicates` finds with the threshold lowered by `reach`, except pairs
    already in the file `answers`. Doubtful pairs come first; every third pair is drawn at random.
    Answers are saved at once; several browsers and processes may ask at the same time. The page is
    on 127.0.0.1, at an address with a token.

    Raises ArgumentError if there is no pair, SettingsError if starlette or uvicorn is missing, and
    the errors of `duplicates`.
    """
    from neardup_solr.verbs.review import run_review
    from neardup_solr.verbs.review.request import ReviewRequest

    return run_review(
        ReviewRequest(
            source,
            answers=answers,
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


@public
def answer(
    source: Collection | SourceLike | None,
    one: Id,
    other: Id,
    answer: Judgement,
    *,
    answers: str | Path,
    who: str | None = None,
    id: str | None = None,
    text: OneOrMore = "text",
) -> Answer:
    """Record in a file that a pair is the same, different or unsure, for later runs to apply.

    Example: `nd.answer("listings.csv", "12", "13", "same", answers="answers.jsonl")`

    With a source, the answer applies until either text changes. If `source` is None, changed texts
    do not matter. The latest answer about a pair counts.

    Raises ArgumentError if both ids are the same, DocumentNotFound if the collection lacks an id,
    SourceError if the source lacks an id or a file cannot be read or written.
    """
    from neardup_solr.verbs.answer import record_answer

    return record_answer(source, one, other, answer, answers=answers, who=who, id=id, text=text)


@documented
def evaluate(
    known: KnownPairs,
    found: PairResult | SomePairs | Frame | str | Path,
    *,
    ordered: bool | None = None,
    as_given: bool = False,
) -> Evaluation:
    """Compare the pairs of a result with known pairs: precision, recall and F1.

    Example: `nd.evaluate("known.tsv", nd.duplicates("listings.csv")).f1`

    Each argument is a list of id pairs, or a table or file with the columns id and other_id (or
    only two columns); `found` may also be the result of `report` or `duplicates`. Known pairs are
    completed by transitivity: a–b and a–c imply b–c. If `ordered`, the first id of each implied
    pair is from the first source. `ordered` defaults to True for results with `against`.

    If `known` has a column named answer ("same", "different" or "unsure"; see `Duplicates.sample`),
    precision is estimated, with a 95 % confidence interval. `found` must then have similarities.

    Raises SourceError if a file cannot be read or has no known pairs; ArgumentError if there are no
    known pairs, a pair or an answer is invalid, the arguments seem swapped, or no answered pair is
    in `found`.
    """
    from neardup_solr.verbs.evaluate import evaluate_result

    return evaluate_result(known, found, ordered=ordered, as_given=as_given)
