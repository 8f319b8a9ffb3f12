"""The public functions: their signatures and what they do, in one place.

Each takes its arguments, which `checked` compares with their types, and calls the work: nothing of
it is loaded before. What an argument means stands in the table of options, which `help` shows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from neardup_solr.arguments import (
    Action,
    By,
    Frame,
    Id,
    Judgement,
    Linkage,
    MeasureName,
    OneOrMore,
    PairMeasure,
    Way,
    Which,
    checked,
    listed,
)  # fmt: skip
from neardup_solr.options import describe_arguments

P = ParamSpec("P")
R = TypeVar("R")

if TYPE_CHECKING:
    from neardup_solr import (
        Cluster,
        Collection,
        Document,
        Duplicates,
        Evaluation,
        Match,
        Report,
        Settings,
    )  # fmt: skip
    from neardup_solr.solr.access import Connection
    from neardup_solr.types import (
        AnnotateSummary,
        Answer,
        Compared,
        Decisions,
        Diagnosis,
        Explanation,
        IndexSummary,
        Letter,
        Lint,
        Marks,
        OnError,
        OnProgress,
        Preparation,
        RetrySummary,
        Reviewed,
        SignaturesSummary,
        SourceLike,
        StripSummary,
        Training,
        Tuning,
    )  # fmt: skip
    from neardup_solr.verbs.evaluate.id_pairs import KnownPairs, PairResult, SomePairs


def find_type(name: str) -> Any:
    """Return a type that only annotations name. Its module is loaded for the work anyway."""
    import neardup_solr as nd

    if name == "Connection":
        from neardup_solr.solr.access import Connection

        return Connection
    return getattr(nd if name in nd.__all__ else nd.types, name)


def documented(function: Callable[P, R]) -> Callable[P, R]:
    """List the arguments of a function in its help, as in the table of options.

    If the docstring does not tell what is returned, its type does.
    """
    plain = inspect.unwrap(function)
    listed = describe_arguments(plain.__name__, inspect.signature(plain).parameters)
    summary = inspect.getdoc(plain) or ""
    returned = "" if "Returns " in summary else f"\n\nReturns {plain.__annotations__['return']}."
    function.__doc__ = f"{summary}\n\nArguments:\n{listed}{returned}"
    return function


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function when it is called, and list them in its help."""
    return documented(checked(function))


@public
def connect(
    address: str | Connection | None = None,
    collection: str | None = None,
    *,
    create: bool = False,
    heap: str | None = None,
    ca: str | Path | None = None,
    cert: str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
    plain_http: bool = False,
    patience: float | str = 0,
    on_started: Callable[[str], None] | None = None,
) -> Collection:
    """Open a collection in Solr: at `address`, at $NEARDUP_SOLR_URL, or in the embedded Solr.

    Example: `nd.connect("http://localhost:8983/solr", "listings")`

    `address` is the URL of a Solr server, a SolrCloud node or a collection
    ("http://host:8983/solr/listings"). A `pysolr.Solr` is also accepted; it sends the requests.
    The embedded Solr is started if needed. On your own Solr, create collections with `init`.
    `patience` limits the wait for unavailable SolrCloud nodes or ZooKeeper.

    The user and password come from the address or the environment; a token, `ca`, `cert` and
    `proxy` may also come from the environment (see docs/security.md).

    Raises ArgumentError if the name, the address or a certificate cannot be used, `create` is set
    but your own Solr lacks the collection, or a password would cross the network unencrypted;
    SettingsError if a user or a password is missing or cannot be read; SolrUnreachable if no Solr
    answers; ServerError if the embedded Solr cannot be downloaded or started.
    """
    from neardup_solr.verbs.connect import open_place

    return open_place(
        address,
        collection,
        create=create,
        heap=heap,
        ca=ca,
        cert=cert,
        headers=headers,
        proxy=proxy,
        plain_http=plain_http,
        patience=patience,
        on_started=on_started,
    )


@public
def init(
    collection: Collection,
    *,
    text: OneOrMore = (),
    prefix: str | None = None,
    shards: int | None = None,
    replicas: int | None = None,
    dry_run: bool = False,
    remove: bool = False,
) -> Preparation:
    """Create a collection with all neardup fields, or add missing fields to an existing collection.

    Example: `nd.init(books, text=["title", "body"], prefix="nd_")`

    Existing documents and other fields stay unchanged. `text` and `prefix` are stored in the
    schema. If the schema cannot be changed over HTTP, `is_done` is False and `xml` has the lines to
    add. An existing collection must match `shards` and `replicas`.

    Raises SettingsError if a neardup field cannot be used or (with `remove`) still has values, or
    if the collection's prefix, shards or replicas differ from the arguments; SolrError if the
    server refuses.
    """
    from neardup_solr.verbs.init import prepare

    return prepare(
        collection,
        text=text,
        prefix=prefix,
        shards=shards,
        replicas=replicas,
        dry_run=dry_run,
        remove=remove,
    )


@public
def lint(collection: Collection, *, text: OneOrMore = (), prefix: str | None = None) -> Lint:
    """Check if annotating a collection would lose data, without changing the collection.

    Example: `nd.lint(books, text="body").findings`

    Without `text`, the fields that `init` stored are checked, or else the field `content`. If these
    cannot be read, the field with the longest texts is checked, and a finding names it.

    Raises CoreMissing if the collection does not exist, ArgumentError if a name is invalid,
    SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.lint import check_collection

    return check_collection(collection, text=text, prefix=prefix)


@public
def doctor(collection: Collection, *, sample: int = 1_000) -> Diagnosis:
    """Count the documents by settings, and recompute the fields of a sample.

    Example: `nd.doctor(listings).documents`

    Nothing is written. Every run takes the same sample. Uncommitted documents do not count.

    Raises SettingsError if stored settings are not understood, SchemaError if the collection has no
    neardup fields, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.doctor import diagnose

    return diagnose(collection, sample=sample)


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
def index(
    source: SourceLike,
    collection: Collection,
    *,
    id: str | None = None,
    text: OneOrMore = "text",
    keep: OneOrMore | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    threads: int = 2,
    batch: int = 500,
    checkpoint_every: int = 20_000,
    patience: float | str = "5m",
    min_replicas: int = 1,
    job: str | Path | None = None,
    resume: bool = False,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> IndexSummary:
    """Index a source into a collection, with the fields needed to find near-duplicates.

    Example: `nd.index("listings.csv", listings, keep="city").indexed`

    A record replaces the document with its id. If several records share an id, the last one counts,
    unless a `Source` has a different `on_repeat`. `settings` default to the collection's settings.
    An empty collection gets the default settings, without shingles and signature terms if the first
    thousand texts are long. If a document would lose a stored column, SettingsError is raised: name
    the column in `keep`, or pass keep=() to drop it.

    On return, every record is committed and searchable, or has failed. `index` waits for an
    unavailable Solr, and resends documents that Solr loses. `job` is a folder for the checkpoint
    and the failed records (dead-letters.jsonl).

    Raises SourceError if the source cannot be read; SettingsError if the collection has different
    settings or text fields; SchemaError if it lacks fields; SolrHalted if Solr's disk is full;
    SolrError if Solr stays unavailable (it is safe to repeat the call); JobError if the job is in
    use, or if the source or the collection has changed since the job began.
    """
    from neardup_solr.verbs.index import index_source

    return index_source(
        source,
        collection,
        id=id,
        text=text,
        keep=keep,
        settings=settings,
        threads=threads,
        batch=batch,
        checkpoint_every=checkpoint_every,
        patience=patience,
        min_replicas=min_replicas,
        job=job,
        resume=resume,
        on_error=on_error,
        on_progress=on_progress,
    )


@public
def delete(
    collection: Collection,
    ids: Sequence[Id] = (),
    *,
    query: str | None = None,
    dry_run: bool = False,
) -> int:
    """Delete documents by id, or by a query in Solr's syntax.

    Example: `nd.delete(listings, ["12", "13"])`

    Returns the number of documents that matched. Unknown ids are ignored; "*:*" matches all
    documents.

    Raises SolrAnswerError if Solr does not understand the query or still has the documents
    afterwards, SettingsError if the name is an alias of several collections, ArgumentError if `ids`
    is a string.
    """
    from neardup_solr.verbs.delete import delete_documents

    return delete_documents(collection, ids, query=query, dry_run=dry_run)


@public
def dead_letters(
    collection: Collection | None = None, *, job: str | Path | None = None
) -> list[Letter]:
    """List the records that `index` could not index.

    Example: `nd.dead_letters(job="old")[0].reason`

    Give either a collection or `job` (the folder of an `index` call). For a collection, the jobs of
    the command `neardup index` are read.

    Raises ArgumentError if neither or both are given, JobError if the folder has no job or its
    files cannot be read.
    """
    from neardup_solr.verbs.dead_letters import list_letters

    return list_letters(collection, job=job)


@public
def retry(
    collection: Collection,
    *,
    job: str | Path | None = None,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> RetrySummary:
    """Retry the dead letters of a collection or of a job.

    Example: `nd.retry(listings, job="old").indexed`

    After the job has ended, you may edit the records in its dead-letters.jsonl. Letters leave that
    file once their documents are committed and searchable; letters that fail again stay, with the
    new reason if their record can be read.

    Raises JobError if the folder has no job, the job has not ended or its files cannot be read,
    SettingsError if documents would lose columns, SourceError if the dead letters cannot be
    written, SolrError if Solr stays unavailable.
    """
    from neardup_solr.verbs.retry import retry_letters

    return retry_letters(
        collection, job=job, patience=patience, on_error=on_error, on_progress=on_progress
    )


@public
def search(
    collection: Collection,
    *,
    id: Id | None = None,
    text: str | None = None,
    by: By | None = None,
    candidates: int = 100,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    measure: MeasureName = "auto",
    max_distance: int | None = None,
    min_similarity: float | None = None,
    answers: str | Path | None = None,
) -> list[Match]:
    """Find the near-duplicates of a document or of a text in a collection, most similar first.

    Example: `nd.search(listings, id="12", fq="city:Paris")`

    Give either `id` or `text`. Only the documents that share the most terms are compared, at most
    `candidates` of them. A document is never its own match. If it lacks a value in a `same` field,
    it has no matches. With `text`, `same` may name only "first_word" and "md5_hash".

    Raises DocumentNotFound for an unknown id, SettingsError if the collection lacks a required
    field, SolrError if Solr does not answer.
    """
    from neardup_solr.verbs.search import search_collection

    return search_collection(
        collection,
        id=id,
        text=text,
        by=by,
        candidates=candidates,
        fq=fq,
        same=same,
        equal=equal,
        measure=measure,
        max_distance=max_distance,
        min_similarity=min_similarity,
        answers=answers,
    )


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


@public
def mark(
    collection: Collection,
    clusters: Duplicates | Sequence[Cluster],
    *,
    fq: OneOrMore = (),
    yes: bool = False,
    dry_run: bool = False,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> Marks:
    """Mark the documents of each cluster, and clear earlier marks.

    Example: `nd.mark(listings, nd.duplicates(listings), dry_run=True)`

    Marked documents get the fields `neardup_cluster`, `neardup_canonical` and `neardup_rank` (see
    docs/collapse.md). If `duplicates` had an `fq`, pass its whole result instead of `.clusters`, so
    that documents outside the `fq` keep their marks. A document whose text is replaced during the
    call gets no mark. Repeat the call if it is interrupted.

    Raises ArgumentError if a document is in two clusters or no document is in the collection,
    TemplateError if documents of a cluster may be no copies, by its `doubt`, SettingsError if the
    collection lacks the fields for marks or an update would lose data, SolrError if Solr does not
    answer or refuses updates.
    """
    from neardup_solr.verbs.mark import mark_clusters

    return mark_clusters(
        collection,
        clusters,
        fq=fq,
        yes=yes,
        dry_run=dry_run,
        patience=patience,
        on_progress=on_progress,
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
            answers=answers,
            patience=patience,
            keep=keep,
            on_error=on_error,
            on_progress=on_progress,
        )
    )


@public
def serve(
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    filters: OneOrMore = (),
    answers: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8985,
    root_path: str = "",
    allow_host: OneOrMore = (),
    tokens: str | Path | None = None,
    max_body: int | str = "1M",
    max_documents: int = 100,
    concurrency: int = 8,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve a collection over HTTP with JSON, until SIGTERM or SIGINT.

    Example: `nd.serve(listings, reject=0.95, port=8985)`

    POST /check decides about documents as `gate` does; the page docs/serve.md describes the
    differences, and all requests. The file `tokens` has a line "NAME TOKEN RIGHT..." for
    each client and is read again when it changes, and on SIGHUP. The rights are check, search,
    local-params, explain, entries, metrics and all. Without tokens, `host` must be a loopback
    address, and the Host of a request must be this machine or in `allow_host`.

    Clients filter by fields and their values. Each of the `filters`, "NAME=QUERY", is a query in
    Solr's syntax that they can choose by its name.

    Raises ArgumentError if the port cannot be used or a filter has no name, SourceError if the
    tokens cannot be read, SettingsError if starlette or uvicorn is missing or the collection lacks
    a required field, SolrError if Solr does not answer or does not understand a filter.
    """
    from neardup_solr.verbs.serve.request import ServeRequest, run_service

    run_service(
        ServeRequest(
            collection=collection, tag=tag, hold=hold, reject=reject, exact=exact, measure=measure,
            model=model, max_distance=max_distance, equal=listed(equal), fq=listed(fq),
            filters=listed(filters), answers=answers, host=host, port=port, root_path=root_path,
            allow_host=listed(allow_host), tokens=tokens, max_body=max_body,
            max_documents=max_documents, concurrency=concurrency, on_ready=on_ready,
        )
    )  # fmt: skip


@public
def annotate(
    collection: Collection,
    *,
    into: Collection | str | None = None,
    which: Which = "needed",
    query: OneOrMore = (),
    text: OneOrMore = (),
    prefix: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    follow: bool = False,
    mark: bool = False,
    remember: str | Path | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> AnnotateSummary:
    """Add the computed fields to documents of a collection, in place or in another collection.

    Example: `nd.annotate(books).annotated`

    `which` selects documents: "needed" (fields are missing or outdated), "missing" (no fields) or
    "all". Nested documents are not annotated. After an interruption, run the same call again.

    With `into`, a second collection (by name: on the same Solr, created if missing) receives the
    ids, texts and fields, and `collection` stays unchanged. `text` and `prefix` default to the
    values that `init` stored, and may differ from these values only with `into`.

    With `follow`, new and changed documents are annotated within seconds, until KeyboardInterrupt.
    With `mark` as well, cluster marks are updated at most once a minute.

    Raises SettingsError if the collection was annotated with different settings or an update would
    lose data, SchemaError if fields are missing, SourceError if the file `remember` is
    not from `duplicates`, SolrError if Solr stops answering.
    """
    from neardup_solr.verbs.annotate.request import AnnotateRequest
    from neardup_solr.verbs.annotate.run import run_annotate

    return run_annotate(
        AnnotateRequest(
            collection=collection, into=into, which=which, query=listed(query), text=listed(text),
            prefix=prefix, settings=settings, rate=rate, threads=threads, batch=batch,
            patience=patience, follow=follow, mark=mark, remember=remember, on_error=on_error,
            on_progress=on_progress,
        )
    )  # fmt: skip


@public
def strip(
    collection: Collection,
    *,
    query: OneOrMore = (),
    rate: float = 0,
    threads: int = 2,
    batch: int = 500,
    patience: float | str = "5m",
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> StripSummary:
    """Remove the neardup fields, including marks, from the documents of a collection.

    Example: `nd.strip(books, query="title:bread").stripped`

    Other fields stay as they are. After an interruption, run the same call again.

    Raises SettingsError if an update would lose data, SolrError if Solr stops answering.
    """
    from neardup_solr.verbs.annotate.rate_limit import RateLimit
    from neardup_solr.verbs.annotate.stripping import strip_fields

    pace = RateLimit(rate=rate, threads=threads, batch=batch)
    return strip_fields(
        collection, query=listed(query), pace=pace, patience=patience,
        on_error=on_error, on_progress=on_progress,
    )  # fmt: skip


@public
def reband(
    collection: Collection,
    *,
    bands: int,
    rows: int,
    patience: float | str = "5m",
    on_progress: OnProgress | None = None,
) -> int:
    """Recompute the bands of a collection from its stored signatures.

    Example: `nd.reband(listings, bands=35, rows=3)`

    Returns the number of updated documents. Until the call ends, searches fail because documents
    have different settings. If Solr is away, the call waits for it, at most `patience` (seconds,
    or "5m"). After an interruption, run the same call again.

    Raises ArgumentError if a number is below 1; SettingsError if `bands` × `rows` exceeds the
    stored hashes, the stored settings are mixed or lack signatures or bands, an id could be in
    several shards, or an update would lose data; SolrError if Solr does not answer or refuses
    updates.
    """
    from neardup_solr.verbs.annotate.rebanding import compute_bands

    return compute_bands(collection, bands, rows, patience=patience, on_progress=on_progress)
