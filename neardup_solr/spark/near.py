"""Candidate pairs, verified pairs and clusters of a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from neardup_solr.argument_types import MeasureName, OneOrMore
from neardup_solr.arguments import checked
from neardup_solr.checks import listed, require
from neardup_solr.measures import Limits, measure_of
from neardup_solr.settings import CAP, Settings
from neardup_solr.settings_by_name import settings_of
from neardup_solr.sizes import SIZES
from neardup_solr.sources import Reading
from neardup_solr.spark.driver import ENDS, DataFrame, chosen, require_alive, require_ends
from neardup_solr.verbs.duplicates.find import warn_of_bands

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

OF_ALL = ("auto", "aligned", "records")  # which need all texts
_PAIRS = "id string, other_id string, similarity double, distance int, shared int"
# Tasks that make the pairs of all bands distinct: at least so many, and as many documents a task.
PARTS, PART = 64, 1_000_000
# Pairs whose texts a task holds: at most so many, and so many bytes of texts.
BLOCK_BYTES = 1 << 28  # of compared texts
SAMPLE = 1_000  # documents by which their length is estimated
NO_ID = (
    "a document has no id: {!r} is null or empty; name the right column with `id`, or leave such"
    " documents out"
)
NO_END = "a pair has no id: {!r} is null or empty; leave such pairs out"
ROUNDS = 100  # of linking; a chain of 2**n documents takes about n


@checked
def fields(
    frame: DataFrame,
    *,
    id: str = "id",
    text: OneOrMore = "text",
    keep: OneOrMore = (),
    settings: Settings | Mapping[str, Any] | None = None,
) -> DataFrame:
    """Make the documents that are indexed into Solr: the columns `id` and `document`, its JSON.

    `id`, `text` and `keep` name columns of the DataFrame; several text columns are joined by line
    breaks. A document that cannot be indexed ends the job, with the reason.

    Raises ArgumentError if a column is missing or a setting is impossible.
    """
    from neardup_solr.spark.work import encode_fields

    reading = Reading(id=id, text=listed(text), keep=listed(keep))
    make = partial(encode_fields, settings=settings_of(settings), reading=reading)
    return _map_batches(chosen(frame, reading), make, "id string, document string")


@checked
def candidates(
    frame: DataFrame,
    *,
    id: str = "id",
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    cap: int = CAP,
    documents: int | None = None,
) -> DataFrame:
    """Find the pairs of documents that share an LSH band: `id`, `other_id`, `shared` bands.

    Documents without a text, or without words in it, are in no pair; ids come out as texts. If more
    than `cap` documents have a band key, they are chained, each with the next by the hash of its
    id, and not all of their pairs are listed. `documents`, about their number, decides into
    how many tasks a band is parted (default: it is counted).

    Raises ArgumentError if a column is missing or an argument is impossible. A document without an
    id, or in a pair whose id comes more than once or differs at each reading, ends the job;
    Spark raises the reason as its error.
    """
    _require_possible(cap, documents)
    hashed = _hash_ids(frame, id, text)

    from pyspark.sql import functions as f

    from neardup_solr.spark.work import absence_error, repeat_error, unpack_pairs

    hashed_pairs = _band_pairs(hashed, settings_of(settings), cap, documents)
    pairs = _map_batches(hashed_pairs, unpack_pairs, "a long, b long, shared int", singly=True)
    for side in ("a", "b"):
        named = hashed.select(f.col("h").alias(side), f.col("id").alias(f"{side}_id"))
        joined_id = f.coalesce(f"{side}_id", _end_job(f.lit(str(absence_error()))))
        pairs = pairs.join(named, side, "left").withColumn(f"{side}_id", joined_id)
    # A pair of hashes meets two ids once, unless either comes several times.
    met = pairs.groupBy("a", "b", "a_id", "b_id", "shared").count()
    before, _, after = str(repeat_error(id, "{}")).partition("{}")
    ids = f.least("a_id", "b_id"), f.greatest("a_id", "b_id")
    either = f.concat_ws("' or '", f.array_distinct(f.array(*ids)))
    error = _end_job(f.concat(f.lit(before), either, f.lit(after)))
    is_new = (f.col("a") != f.col("b")) | (f.col("a_id") < f.col("b_id"))
    # In the filter, which is computed whatever columns are wanted.
    met = met.where(f.when(f.col("count") > 1, error.cast("boolean")).otherwise(is_new))
    return met.select(ids[0].alias("id"), ids[1].alias("other_id"), "shared")


@checked
def pairs(
    frame: DataFrame,
    *,
    id: str = "id",
    text: OneOrMore = "text",
    measure: MeasureName = "words",
    max_distance: int | None = None,
    min_similarity: float | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    cap: int = CAP,
    documents: int | None = None,
) -> DataFrame:
    """Find the near-duplicate pairs of a DataFrame, as `duplicates` with `by="bands"` finds them.

    The columns are `id`, `other_id` (in natural order), `similarity`, `distance` (null if the
    measure has none) and `shared`, the number of bands in common. Arguments mean what they mean for
    `duplicates` and `candidates`. The candidates are listed before this returns, and compared when
    the result is read; the DataFrame is read for each: what takes long to make, cache.

    The measure "containment" misses most excerpts of longer texts this way, and a line of the log
    says so: `duplicates` finds them by shingles.

    Raises ArgumentError if a column is missing, or an argument is impossible: the measures
    "aligned" and "records" need words counted over all documents, which this does not do. A
    document without an id, or in a pair whose id comes more than once or differs at each
    reading, ends the job; Spark raises the reason as its error.
    """
    from neardup_solr.spark.work import compare_block, prepare_texts

    reason = f"the measure {measure} is not supported on Spark"
    require(measure not in OF_ALL, reason, 'use "words"', code="argument-invalid")
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    measure_of(measure, limits)
    warn_of_bands(measure)
    _require_possible(cap, documents)
    made = settings_of(settings)
    prepare = partial(prepare_texts, measure=measure, settings=made)
    compare = partial(compare_block, id=id, measure=measure, limits=limits, settings=made)
    hashed = _hash_ids(frame, id, text)
    blocks, wanted = _blocks(_band_pairs(hashed, made, cap, documents), _block(hashed))
    involved = hashed.join(wanted.select("h").distinct(), "h", "left_semi")
    forms = _map_batches(involved, prepare, "h long, id string, form string")
    texts_of = forms.join(wanted, "h").groupBy("block")
    both = texts_of.cogroup(blocks.groupBy("block"))
    return both.applyInArrow(lambda texts, pairs: compare(texts, pairs), _PAIRS)


@checked
def clusters(near: DataFrame, *, on_driver: int = SIZES.driver_pairs) -> DataFrame:
    """Cluster the documents that pairs connect: `id`, and `cluster`, its first id in natural order.

    `near` has the columns `id` and `other_id`, texts or whole numbers. Pairs are linked by "single"
    linkage: at most `on_driver` of them by the driver, at 16 bytes a pair, and more by the
    executors, in rounds in which every document learns the smallest that it is connected with
    (alternating stars: Kiveris et al., "Connected Components in MapReduce and Beyond", 2014).

    Raises ArgumentError if a column is missing, or is of another type; an id that is missing ends
    the job.
    """
    reason = f"`on_driver` cannot be {on_driver}"
    require(on_driver >= 0, reason, "give 0 or more", code="argument-out-of-range")
    require_alive(near.sparkSession, "the session of `near`")
    require_ends(near)

    from pyspark.sql import functions as f

    from neardup_solr.spark.work import add_keys

    near = near.select(*(_require_id(name, NO_END.format(name)) for name in ENDS))
    hashed = near.select(f.xxhash64("id").alias("u"), f.xxhash64("other_id").alias("v"))
    edges = hashed.distinct().cache()
    linked = (_link_on_driver if edges.count() <= on_driver else _link_by_stars)(edges)
    ids = near.select("id").union(near.select("other_id")).distinct()
    named = ids.select(f.xxhash64("id").alias("node"), "id")
    keyed = _map_batches(named, add_keys, "node long, id string, key string")
    members = keyed.join(linked, "node")
    first = members.groupBy("root").agg(f.min_by("id", "key").alias("cluster"))
    return members.join(first, "root").select("id", "cluster")


def _require_possible(cap: int, documents: int | None) -> None:
    require(cap > 1, f"`cap` cannot be {cap}", "give 2 or more", code="argument-out-of-range")
    reason = f"`documents` cannot be {documents}"
    step = "give 0 or more, or leave it out"
    require(documents is None or documents >= 0, reason, step, code="argument-out-of-range")


def _link_on_driver(edges: DataFrame) -> DataFrame:
    """Link as `_link_by_stars` does, by the kernel on the driver."""
    import pyarrow as pa

    from neardup_solr.spark.work import find_roots

    roots = pa.table(find_roots(edges.toArrow()))
    edges.unpersist()
    return edges.sparkSession.createDataFrame(roots)


def _link_by_stars(edges: DataFrame) -> DataFrame:
    """Find the smallest node that each node is connected with: `node`, `root`."""
    from pyspark.sql import functions as f

    def stars(edges: DataFrame, *, large: bool) -> DataFrame:
        """Connect each node's neighbours with the smallest of them and itself."""
        if large:
            around = edges.union(edges.select("v", "u"))
        else:
            around = edges.select(f.greatest("u", "v"), f.least("u", "v")).toDF("u", "v")
        least = around.groupBy("u").agg(f.least(f.min("v"), f.col("u")).alias("m"))
        joined = around.join(least, "u")
        if large:
            kept = joined.where("v > u").select(f.col("v").alias("u"), f.col("m").alias("v"))
        else:
            least_edges = least.where("m < u").select("u", f.col("m").alias("v"))
            kept = joined.where("v > m").select(f.col("v").alias("u"), f.col("m").alias("v"))
            kept = kept.union(least_edges)
        return kept.where("u != v").distinct()

    linked = _compute_once(edges.where("u != v"))
    before = None
    for _ in range(ROUNDS):
        linked = _compute_once(stars(stars(linked, large=True), large=False))
        state = linked.agg(f.count("*"), f.sum(f.xxhash64("u", "v").cast("decimal(38,0)"))).first()
        if state == before:
            break
        before = state
    roots = linked.select(f.col("v").alias("node"), f.col("v").alias("root")).distinct()
    return linked.select(f.col("u").alias("node"), f.col("v").alias("root")).union(roots)


def _compute_once(frame: DataFrame) -> DataFrame:
    """Make rows only once: where the session keeps checkpoints, else by the executors."""
    context = getattr(frame.sparkSession, "sparkContext", None)  # Spark Connect has none
    is_told = context is not None and context.getCheckpointDir() is not None
    return frame.checkpoint() if is_told else frame.localCheckpoint()


def _block(hashed: DataFrame) -> int:
    """Choose the number of pairs in a block, by the length of the first documents."""
    from pyspark.sql import functions as f

    row = hashed.limit(SAMPLE).agg(f.avg(f.octet_length("text")).alias("bytes")).first()
    of_pair = 2 * (row.bytes or 1) if row is not None else 1
    return int(max(1, min(SIZES.spark_block, BLOCK_BYTES // of_pair)))


def _blocks(paired: DataFrame, size: int) -> tuple[DataFrame, DataFrame]:
    """Pairs in blocks that are compared at once, and which documents (`h`) each block needs.

    On the driver, pairs of the same documents are brought together, so that most texts are needed
    once. Too many pairs for it are parted by their first document.
    """
    from pyspark.sql import functions as f

    from neardup_solr.spark.work import list_needed, make_blocks, part_pairs

    paired = paired.cache()
    counted = paired.agg(f.sum("pairs").alias("pairs")).first()
    count = (counted.pairs if counted is not None else None) or 0
    if count <= SIZES.driver_pairs:
        pairs, wanted = make_blocks(paired.toArrow(), size)
        paired.unpersist()
        session = paired.sparkSession
        return session.createDataFrame(pairs), session.createDataFrame(wanted)
    blocks = 1 + count // size
    part, need = partial(part_pairs, blocks=blocks), partial(list_needed, blocks=blocks)
    parted = _map_batches(paired, part, "block int, blob binary", singly=True)
    return parted, _map_batches(paired, need, "block int, h long", singly=True).distinct()


def _band_pairs(
    hashed: DataFrame, settings: Settings, cap: int, documents: int | None
) -> DataFrame:
    """Find the pairs of hashes that share a band, in blobs, as `unpack_pairs` reads them."""
    from neardup_solr.spark.work import count_shared, key_buckets, pair_hashes

    count = hashed.count() if documents is None else documents
    key = partial(key_buckets, settings=settings, splits=1 + count // SIZES.spark_split)
    pair = partial(pair_hashes, parts=max(PARTS, count // PART), cap=cap)
    keyed = _map_batches(hashed.select("h", "text"), key, "bucket int, blob binary")
    # Spark counts the arguments of a function, those of `partial` as well.
    buckets = keyed.groupBy("bucket")
    paired = buckets.applyInArrow(lambda table: pair(table), "part int, blob binary")
    return paired.groupBy("part").applyInArrow(count_shared, "pairs int, blob binary")


def _map_batches(
    frame: DataFrame,
    make: Callable[[pa.RecordBatch], pa.RecordBatch],
    schema: str,
    *,
    singly: bool = False,
) -> DataFrame:
    """Make a batch of each batch of rows, or `singly` of each row by itself, which may be large."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (batch.slice(at, 1) for batch in batches for at in range(len(batch)))
        return map(make, rows if singly else batches)

    return frame.mapInArrow(run, schema)


def _hash_ids(frame: DataFrame, id: str, text: OneOrMore) -> DataFrame:
    """Choose the columns `h`, a hash of the id, `id` and `text`."""
    texts = chosen(frame, Reading(id=id, text=listed(text)))

    from pyspark.sql import functions as f

    with_ids = texts.select(_require_id("id", NO_ID.format(id)), "text")
    return with_ids.select(f.xxhash64("id").alias("h"), "id", "text")


def _require_id(name: str, reason: str) -> Column:
    """Make a column of ids, as texts. One that is null or empty ends the job, for a reason."""
    from pyspark.sql import functions as f

    id = f.col(name).cast("string")
    return f.when(id != "", id).otherwise(_end_job(f.lit(reason))).alias(name)


def _end_job(reason: Column) -> Column:
    """Make an id that ends the job, for a reason."""
    from pyspark.sql import functions as f

    return f.raise_error(reason).cast("string")
