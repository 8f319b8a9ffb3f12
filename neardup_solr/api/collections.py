"""Functions for collections: open, fill, ask, mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.api.public import public
from neardup_solr.arguments import By, Id, MeasureName, OneOrMore  # fmt: skip

if TYPE_CHECKING:
    from neardup_solr import (
        Cluster,
        Collection,
        Duplicates,
        Match,
        Report,
        Settings,
    )  # fmt: skip
    from neardup_solr.solr.access import Connection
    from neardup_solr.types import (
        IndexSummary,
        Letter,
        Marks,
        OnError,
        OnProgress,
        Preparation,
        RetrySummary,
        SourceLike,
    )  # fmt: skip


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
