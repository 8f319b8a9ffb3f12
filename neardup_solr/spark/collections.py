"""Collections in Solr as DataFrames: read shard by shard, written to by the executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup_solr import arguments, units
from neardup_solr.argument_types import OneOrMore
from neardup_solr.arguments import checked
from neardup_solr.checks import listed, require, require_positive
from neardup_solr.errors import RecordError, SolrUnreachable
from neardup_solr.progress import Failures, ignore
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import require_possible
from neardup_solr.sources import Reading
from neardup_solr.spark.driver import DataFrame, SparkSession, chosen, require_alive

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup_solr.solr.collection import Collection

MOST_ERRORS = 100  # of a task, that are reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Counts of a write to a collection: `read` = `indexed` + `repeated` + `failed`.

    `indexed` counts documents, `repeated` further records of their ids, in any task: of each id
    any record may have remained. `errors` says why the first records of each task
    failed: its id, and the reason.
    """

    read: int
    indexed: int
    repeated: int
    failed: int
    errors: tuple[tuple[str, str], ...]


@checked
def read(
    session: SparkSession,
    address: str,
    collection: str,
    *,
    fields: OneOrMore = ("id", "signature"),
    patience: float | str = "5m",
) -> DataFrame:
    """Read fields of all documents of a collection, each shard by a task.

    They are fields with docValues, such as `id` and `signature`, and of the columns that are kept
    in a collection of `init` those whose names end in _i, _l, _f, _d, _b or _dt. They come as
    texts; lists are JSON. The executors reach the Solr at `address`, with user and password from
    their environment as `connect` finds them. A Solr that is away is waited for, at most
    `patience` (seconds, or "5m"); a shard that breaks off for longer fails its task, which Spark
    repeats.

    Raises SolrError if Solr does not answer, SchemaError if a field is missing or has no docValues.
    """
    from neardup_solr.solr.schema import require_exported

    names, seconds = listed(fields), units.in_seconds(patience, "patience")
    is_possible = bool(names) and len(set(names)) == len(names)
    reason = "`fields` must name one or more fields, each only once"
    step = 'give names such as fields=("id", "signature")'
    require(is_possible, reason, step, code="argument-invalid")
    require_alive(session, "`session`")
    target = _connect(address, collection)
    require_exported(target, names)
    shards = target.shard_names()

    def export_shards(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the fields of each shard by its number, from a replica that is up."""
        import pyarrow as pa

        from neardup_solr.solr.patience import keep_patience
        from neardup_solr.verbs.connect import connect_again

        target = connect_again(address, collection, patience=seconds)
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        with keep_patience([target], seconds):
            for number in numbers:
                for rows in target.exported(names, [target.replica_of(shards[number])]):
                    columns = [[_as_text(row.get(name)) for row in rows] for name in names]
                    arrays = [pa.array(column, pa.string()) for column in columns]
                    yield pa.RecordBatch.from_arrays(arrays, list(names))

    schema = ", ".join(f"`{name}` string" for name in names)
    numbers = session.range(len(shards), numPartitions=len(shards))
    return numbers.mapInArrow(export_shards, schema)


@checked
def write(
    frame: DataFrame,
    address: str,
    collection: str,
    *,
    id: str = "id",
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
    max_doc_bytes: int | str = arguments.MAX_DOC_BYTES,
    batch: int = 500,
    patience: float | str = "5m",
) -> Written:
    """Index a DataFrame into a collection, each partition by the task that has it.

    It keeps what `index` promises: a task ends when a search finds each of its documents, or they
    have failed; a Solr that is away is waited for, at most `patience` (seconds, or "5m") each time,
    also if a task begins then; only this call itself needs a running Solr. A task that Spark
    repeats sends its documents again, which replace themselves. If an id comes again, any of its
    records may stay, and the others are counted as `repeated`; the ids' hashes (8
    bytes each) are shuffled to count them. A longer text than `max_doc_bytes` fails.

    Raises ArgumentError if a column is missing; whatever `index` raises ends the job.
    """
    import orjson

    from neardup_solr.spark.work import count_hashes

    require_possible(settings)
    require_positive(batch=batch)
    patience = units.in_seconds(patience, "patience")
    most = units.in_bytes(max_doc_bytes, "max_doc_bytes")
    reading = Reading(id=id, text=listed(text), keep=listed(keep), max_doc_bytes=most)
    documents = chosen(frame, reading)
    target = _connect(address, collection)
    # Before the executors begin: other settings, or a collection that is not to be written to.
    # Partitions must not choose them by their texts, each for itself.
    chosen_settings = target.choose_settings(settings)
    target.require_placed(1)
    options = {"settings": chosen_settings, "batch": batch, "patience": patience}
    done = documents.mapInArrow(
        lambda batches: _index_partition(batches, address, collection, reading, options),
        "bucket int, blob binary",
    )
    counted = done.groupBy("bucket").applyInArrow(count_hashes, "indexed long, report binary")
    rows = counted.collect()
    reports = [orjson.loads(row.report) for row in rows if row.report is not None]
    read, failed = (sum(report[name] for report in reports) for name in ("read", "failed"))
    indexed = sum(row.indexed for row in rows)
    return Written(
        read=read,
        indexed=indexed,
        repeated=read - indexed - failed,
        failed=failed,
        errors=tuple((id, reason) for report in reports for id, reason in report["errors"]),
    )


def _index_partition(
    batches: Iterator[pa.RecordBatch],
    address: str,
    collection: str,
    reading: Reading,
    options: Mapping[str, Any],
) -> Iterator[pa.RecordBatch]:
    """Index all batches of a partition. The first row says what became of them."""
    from neardup_solr.spark.work import encode_report, records
    from neardup_solr.verbs.connect import connect_again
    from neardup_solr.verbs.index import index_source

    target = connect_again(address, collection, patience=options["patience"])
    unusable = Failures(ignore)
    sent: Counter[str] = Counter()

    def usable() -> Iterator[Document]:
        """Yield the documents that can be used: a partition without any is no mistake."""
        for record in (each for batch in batches for each in records(batch, reading)):
            if isinstance(record, Document):
                sent[record.id] += 1
                yield record
            else:
                unusable.add(record)

    def refuse(error: RecordError) -> None:
        """Forget a document that Solr has refused, whatever it has of that id."""
        if error.id is not None:
            sent[error.id] = 0

    source = reading.as_source(usable())
    columns: dict[str, Any] = {"id": reading.id, "text": reading.text, "keep": reading.keep or None}
    done = index_source(source, target, on_error=refuse, **columns, **options)
    errors = [(error.id or "", error.reason) for error in (*unusable.first, *done.errors)]
    report = {"read": done.read, "failed": done.failed}
    report = {name: count + unusable.count for name, count in report.items()}
    ids = (id for id, count in sent.items() if count)
    yield encode_report({**report, "errors": errors[:MOST_ERRORS]}, ids)


def _connect(address: str, collection: str) -> Collection:
    """Open the collection, which the driver can reach. No executor has an embedded Solr."""
    from neardup_solr.api.connect import connect

    example = "give one such as http://host:8983/solr"
    require(bool(address.strip()), "`address` cannot be empty", example, code="address-invalid")
    try:
        return connect(address, collection)
    except SolrUnreachable as error:
        step = "check the address, and that this machine and the executors can reach Solr"
        raise SolrUnreachable(error.url, error.reason, step) from None


def _as_text(value: Any) -> str | None:
    import orjson

    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
