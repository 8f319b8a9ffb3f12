"""The work of executors on Arrow batches. Nothing here knows Spark.

An id is replaced by a hash of 64 bits, which Spark computes. If two ids have the same hash, their
documents are compared once more than needed, and distinguished by their ids in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import mmh3
import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from neardup_solr.candidates import Joining
from neardup_solr.candidates.by_band import hash_signatures, key_candidates
from neardup_solr.clusters.components import components
from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import RecordError, SourceError
from neardup_solr.measures import Comparer, Limits, measure_named
from neardup_solr.measures.pairs import Pairs
from neardup_solr.minhash import encode_documents, sign
from neardup_solr.records import check_documents, natural, ordered
from neardup_solr.settings import Settings
from neardup_solr.sources import Reading
from neardup_solr.sources.column import Columns
from neardup_solr.sources.document import from_row
from neardup_solr.sources.part import Record

IN_BLOB = 1 << 20  # pairs, 24 MB
REPORTS = -1  # the bucket of the reports of tasks

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]
_NEAR = pa.schema([
    ("id", pa.string()), ("other_id", pa.string()), ("similarity", pa.float64()),
    ("distance", pa.int32()), ("shared", pa.int32()),
])  # fmt: skip


def absence_error() -> SourceError:
    """Make the error for documents that are missing later."""
    reason = "a document has disappeared, or its id changes each time it is read"
    step = "df.cache() keeps data that would be recomputed"
    return SourceError("the DataFrame", reason, step, code="source-changed")


def repeat_error(column: str, id: str) -> SourceError:
    """Make the error for an id that comes more than once."""
    step = f'df.dropDuplicates(["{column}"]).cache() keeps one record for each id'
    reason = f"some ids occur more than once, such as '{id}'"
    return SourceError("the DataFrame", reason, step, code="id-repeated")


def key_buckets(batch: pa.RecordBatch, *, settings: Settings, splits: int) -> pa.RecordBatch:
    """Compute the band keys of documents (hash, text), in buckets: `splits` of each band.

    A row has the bucket, and as bytes a matrix of three columns: key, hash of the id, and a
    hash over all bands, then over the normal form, so that a chain has equal texts together.
    """
    signed = sign.sign(_texts(batch.column(1)), settings, keep_normal=True)
    has_words = signed.words > 0
    # Hashes as Spark has them, of 64 bits with a sign.
    hashes = np.asarray(batch.column(0).to_numpy(zero_copy_only=False)).view(np.uint64)
    last = settings.bands * settings.rows
    alike = hash_signatures(signed.signatures, Joining(threads=1), last=last)
    half = np.uint64(32)
    alike = alike >> half << half | sign.hash_texts(signed.normal) >> half
    rows = []
    for band in range(settings.bands):
        keys = signed.keys[has_words, band]
        matrix = np.stack([keys, hashes[has_words], alike[has_words]], axis=1)
        # The upper bits: the lower ones find equal keys inside of a bucket.
        split = (keys >> np.uint64(40)) % np.uint64(splits)
        rows += [(band * splits + number, part) for number, part in _by(split, matrix)]
    return _blobs("bucket", rows)


def pair_hashes(table: pa.Table, *, parts: int, cap: int) -> pa.Table:
    """Find the pairs of hashes that share a key of a bucket, in `parts`, `cap` as `Joining`."""
    matrix = _matrix(table, 3)
    matrix = matrix[np.argsort(matrix[:, 1])]  # so that chains are the same in every run
    joined = key_candidates(matrix[:, :1].T.copy(), matrix[:, 2].copy(), joining=Joining(cap=cap))
    pairs = matrix[:, 1][joined.pairs]
    pairs.sort(axis=1)
    part = (pairs[:, 0] >> np.uint64(20)) % np.uint64(parts)
    return pa.Table.from_batches([_blobs("part", _by(part, pairs))])


def count_shared(table: pa.Table) -> pa.Table:
    """List each pair of a part once, with the number of bands that it shares, in blobs."""
    rows = _matrix(table, 2)
    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    is_new = np.ones(len(rows), dtype=np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(is_new)
    shared = np.diff(starts, append=len(rows)).astype(np.uint64)
    packed = np.column_stack([rows[starts], shared])
    blobs = [packed[at : at + IN_BLOB] for at in range(0, len(packed), IN_BLOB)]
    return pa.Table.from_batches([_blobs("pairs", [(len(blob), blob) for blob in blobs])])


def unpack_pairs(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Turn pairs in blobs (pairs, blob) into rows: the hashes `a` and `b`, and `shared` bands."""
    ends, shared = _pairs(batch)
    columns = [pa.array(ends[:, 0]), pa.array(ends[:, 1]), pa.array(shared)]
    return pa.RecordBatch.from_arrays(columns, ["a", "b", "shared"])


def part_pairs(batch: pa.RecordBatch, *, blocks: int) -> pa.RecordBatch:
    """Part pairs in blobs into blocks, by the hash of their first document, as blobs again."""
    matrix = _matrix(batch, 3)
    return _blobs("block", _by(_number_blocks(matrix, blocks), matrix))


def list_needed(batch: pa.RecordBatch, *, blocks: int) -> pa.RecordBatch:
    """List the documents (block, h) that each block needs."""
    matrix = _matrix(batch, 3)
    numbers = np.tile(_number_blocks(matrix, blocks), 2)
    ends = matrix[:, :2].T.reshape(-1).view(np.int64)
    return pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(ends)], ["block", "h"])


def _number_blocks(matrix: Hashes, blocks: int) -> NDArray[np.int32]:
    # Not by the bits that have parted them before.
    mixed = matrix[:, 0] * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)
    return (mixed % np.uint64(blocks)).astype(np.int32)


def prepare_texts(batch: pa.RecordBatch, *, measure: str, settings: Settings) -> pa.RecordBatch:
    """Prepare documents (hash, id, text) for comparing: normal forms, or encoded signatures."""
    from neardup_solr.minhash import signature

    needs_texts = measure_named(measure).needs_texts
    signed = sign.sign(_texts(batch.column(2)), settings, keep_normal=needs_texts)
    forms = signed.normal if needs_texts else map(signature.encode, signed.signatures)
    columns = [batch.column(0), batch.column(1), pa.array(list(forms), pa.string())]
    return pa.RecordBatch.from_arrays(columns, ["h", "id", "form"])


def compare_block(
    texts: pa.Table, pairs: pa.Table, *, id: str, measure: str, limits: Limits, settings: Settings
) -> pa.Table:
    """Compare the pairs in the blobs of a block, and keep those within the limits.

    A text has a hash, an id and what is compared; `id` is the column that the ids are of. Raises
    SourceError if an id comes twice, or a text is missing.
    """
    comparer = Comparer(measure=measure_named(measure), limits=limits, settings=settings)
    texts = texts.combine_chunks().sort_by("h")
    hashes = texts.column("h").to_numpy()
    ids, forms = texts.column("id").to_pylist(), texts.column("form").to_pylist()
    if len(set(ids)) < len(ids):
        raise repeat_error(id, Counter(ids).most_common(1)[0][0])
    ends, bands = _pairs(pairs)
    numbers, places = _find_rows(hashes, ends[:, 0], ends[:, 1])
    shared = bands[places].tolist()
    compared = comparer.compare_texts(forms, numbers)
    distances, similarities, is_near = (column.tolist() for column in compared)
    rows = [
        (*ordered(ids[first], ids[second]), similarities[at],
         None if distances[at] < 0 else distances[at], shared[at])
        for at, (first, second) in enumerate(numbers.tolist())
        if is_near[at] and ids[first] != ids[second]
    ]  # fmt: skip
    rows = list(dict.fromkeys(rows))  # two documents of equal hash meet twice
    columns = zip(*rows, strict=True) if rows else [[]] * len(_NEAR)
    return pa.table([list(column) for column in columns], schema=_NEAR)


def encode_fields(batch: pa.RecordBatch, *, settings: Settings, reading: Reading) -> pa.RecordBatch:
    """Make the JSON of documents (id, text, the columns to keep) as they are indexed, by id.

    Raises SourceError if any of them cannot be indexed.
    """
    documents = []
    for record in check_documents(records(batch, reading)):
        if isinstance(record, RecordError):
            raise _refusal(record, reading)
        documents.append(record)
    jsons = [json.decode() for json in encode_documents(documents, settings)]
    columns = [document.id for document in documents], jsons
    arrays = [pa.array(column, pa.string()) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, ["id", "document"])


def _refusal(error: RecordError, reading: Reading) -> SourceError:
    """Make the error that ends the job, with what to do about documents of that kind."""
    about = "a document" if error.id is None else f"the document {error.id!r}"
    step = "correct such documents, or leave them out"
    for lacking, names in (("no id", [reading.id]), ("no text", reading.text)):
        if error.reason.startswith(lacking):
            how = 'how="all", ' if len(names) > 1 else ""
            columns = ", ".join(f'"{name}"' for name in names)
            step = f"leave such documents out: df.dropna({how}subset=[{columns}])"
    reason = f"{about} cannot be indexed: {error.reason}"
    return SourceError("the DataFrame", reason, step, code=error.code)


def records(batch: pa.RecordBatch, reading: Reading) -> Iterator[Record]:
    """Read the documents of a batch (id, text, the columns to keep), or errors that name them."""
    keep = tuple((name, place) for place, name in enumerate(reading.keep, 2))
    names = (reading.id, reading.text[0], *reading.keep)
    columns = Columns(names=names, id=0, text=(1,), keep=keep)
    for row in zip(*(column.to_pylist() for column in batch), strict=True):
        yield from_row("the DataFrame", row, columns, reading)


def encode_report(summary: Mapping[str, Any], ids: Iterable[str]) -> pa.RecordBatch:
    """Write the report of a task as JSON, with the hashes of its indexed ids in buckets."""
    hashes = np.fromiter((mmh3.hash64(id, signed=False)[0] for id in ids), dtype=np.uint64)
    summed = np.frombuffer(orjson.dumps(summary), dtype=np.uint8)
    return _blobs("bucket", [(REPORTS, summed), *_by(hashes >> np.uint64(58), hashes)])


def count_hashes(table: pa.Table) -> pa.Table:
    """Count the distinct hashes in a bucket. The reports of tasks stay as they are."""
    if table.column("bucket")[0].as_py() == REPORTS:
        none = pa.array([0] * len(table), pa.int64())
        return pa.table({"indexed": none, "report": table.column("blob")})
    count = len(sort_distinct(_matrix(table, 1)))
    return pa.table({"indexed": [count], "report": pa.array([None], pa.binary())})


def make_blocks(pairs: pa.Table, size: int) -> tuple[pa.Table, pa.Table]:
    """Part pairs in blobs into blocks of a `size`, with the documents (block, h) of each.

    Pairs of documents that are connected stand together.
    """
    matrix = _matrix(pairs, 3)
    nodes, numbers = _number_nodes(matrix[:, :2].view(np.int64))
    labels = components(len(nodes), numbers)[numbers[:, 0]] if len(numbers) else numbers[:, 0]
    order = np.lexsort((numbers[:, 1], numbers[:, 0], labels))
    starts = range(0, len(order), size)
    blocks = [matrix[order[at : at + size]] for at in starts]
    needed = [nodes[sort_distinct(numbers[order[at : at + size]])] for at in starts]
    numbered = np.repeat(np.arange(len(needed), dtype=np.int32), list(map(len, needed)))
    ends = np.concatenate(needed) if needed else nodes
    wanted = pa.table({"block": pa.array(numbered), "h": pa.array(ends)})
    return pa.Table.from_batches([_blobs("block", list(enumerate(blocks)))]), wanted


def _find_rows(hashes: Places, first: Places, second: Places) -> tuple[Pairs, Places]:
    """Find the pairs of row numbers whose hashes are those of pairs, and which pair each is.

    `hashes` are sorted. Two documents with the same hash make several pairs. Raises
    SourceError for a missing hash.
    """
    ranges = [
        (np.searchsorted(hashes, ends), np.searchsorted(hashes, ends, side="right"))
        for ends in (first, second)
    ]
    counts = [after - begin for begin, after in ranges]
    if not all(within.all() for within in counts):
        raise absence_error()
    # Each pair of hashes once for each two documents that have them.
    places = np.repeat(np.arange(len(first)), counts[0] * counts[1])
    nth = np.arange(len(places)) - np.searchsorted(places, places)
    rows = nth // counts[1][places], nth % counts[1][places]
    numbers = [begin[places] + within for (begin, _), within in zip(ranges, rows, strict=True)]
    return np.stack(numbers, axis=1).astype(np.uint32), places


def add_keys(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Add to ids (node, id) a key by which the first in natural order is the smallest."""
    node, ids = batch.columns
    keys = pa.array([sortable(id) for id in ids.to_pylist()], pa.string())
    return pa.RecordBatch.from_arrays([node, ids, keys], ["node", "id", "key"])


def sortable(id: str) -> str:
    """Make a text whose order by code points is the natural order of ids, in `records.natural`."""
    kind, number, _ = natural(id)
    if kind:
        return f"1{id}"
    digits = str(number)
    return f"0{len(digits):04}{digits} {id}"


def find_roots(edges: pa.Table) -> dict[str, pa.Array]:
    """Find the smallest node that each node (u, v: hashes) is connected with: `node`, `root`."""
    ends = np.stack([edges.column(name).to_numpy() for name in ("u", "v")], axis=1)
    nodes, numbers = _number_nodes(ends)
    roots = components(len(nodes), numbers)
    return {"node": pa.array(nodes), "root": pa.array(nodes[roots])}


def _number_nodes(ends: Places) -> tuple[Places, Pairs]:
    """List the hashes in two columns, each once, and the rows by their numbers."""
    nodes, places = np.unique(ends, return_inverse=True)
    return nodes, places.reshape(-1, 2).astype(np.uint32)


def _texts(column: pa.Array) -> list[str]:
    return [text or "" for text in column.to_pylist()]


def _pairs(table: pa.Table | pa.RecordBatch) -> tuple[Places, NDArray[np.int32]]:
    """Read the hashes of pairs in blobs, with a sign, and how many bands each pair shares."""
    matrix = _matrix(table, 3)
    return matrix[:, :2].view(np.int64), matrix[:, 2].astype(np.int32)


def _matrix(table: pa.Table | pa.RecordBatch, columns: int) -> Hashes:
    blobs = table.column("blob").to_pylist()
    return np.frombuffer(b"".join(blobs), dtype=np.uint64).reshape(-1, columns)


def _by(numbers: NDArray[Any], rows: Hashes) -> list[tuple[int, Hashes]]:
    """Group rows by numbers."""
    if not len(rows):
        return []
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order])) + 1
    parts = np.split(rows[order], starts)
    return list(zip(numbers[order][np.r_[0, starts]].tolist(), parts, strict=True))


def _blobs(name: str, rows: list[tuple[int, NDArray[Any]]]) -> pa.RecordBatch:
    numbers = pa.array([number for number, _ in rows], pa.int32())
    blobs = pa.array([np.ascontiguousarray(part).tobytes() for _, part in rows], pa.binary())
    return pa.RecordBatch.from_arrays([numbers, blobs], [name, "blob"])
