"""DataFrames out of a SolrCloud, and into it, under the contract of `index`."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import neardup_solr as nd
from neardup_solr import spark
from tests.faults.tiers import sized
from tests.refusals import refusal
from tests.solr.cloud import CloudFolder, nodes, with_jars
from tests.spark.test_near import drawn

SHARDS = sized(usual=(1, 3), full=(1, 2, 4))


def test_the_same_results_everywhere(session: SparkSession, cloud: str) -> None:
    """One machine, SolrCloud of one shard or several, and Spark: equal signatures and clusters."""
    numbered = [document for document in drawn(150, seed=3) if document[0].isdigit()]
    others = {*drawn(150, seed=3)} - {*numbered}
    documents = [*sorted(numbered, key=lambda document: int(document[0])), *sorted(others)]
    frame = session.createDataFrame(documents, "id string, text string").repartition(3)
    alone = nd.duplicates(documents, by="bands")
    signatures: list[dict[str, str]] = []
    for shards in SHARDS:
        solr = nd.connect(cloud, f"shards{shards}")
        nd.init(solr, shards=shards)
        written = spark.write(frame, cloud, solr.name)
        assert (written.read, written.indexed, written.failed) == (150, 150, 0)
        found = nd.duplicates(solr, by="bands")
        assert [(p.id, p.other_id, p.similarity, p.cluster, p.shared) for p in found.pairs] == [
            (p.id, p.other_id, p.similarity, p.cluster, p.shared) for p in alone.pairs
        ]
        assert found.clusters == alone.clusters
        stored = spark.read(session, cloud, solr.name)
        assert stored.rdd.getNumPartitions() == shards
        signatures.append({row.id: row.signature for row in stored.collect()})
    assert len(signatures[0]) == 150
    assert all(one == signatures[0] for one in signatures)
    near = spark.pairs(frame)
    assert {(row.id, row.other_id) for row in near.collect()} == {
        (pair.id, pair.other_id) for pair in alone.pairs
    }
    assert {row.id: row.cluster for row in spark.clusters(near).collect()} == alone.labels


def test_what_cannot_be_indexed_is_told(session: SparkSession, cloud: str) -> None:
    """The others are indexed; a kept column that is no number where one is asked for is refused."""
    solr = nd.connect(cloud, "refusing")
    nd.init(solr)
    rows = [("1", "a b c", "5"), ("2", "d e f", "five"), (None, "g h i", "7"), ("4", None, "8")]
    frame = session.createDataFrame(rows, "ad string, body string, price_i string")
    written = spark.write(frame, cloud, "refusing", id="ad", text="body", keep="price_i")
    assert (written.read, written.indexed, written.failed) == (4, 1, 3)
    told = dict(written.errors)
    assert told.keys() == {"", "2", "4"}
    assert "price_i" in told["2"]
    assert told[""] == "no id: 'ad' is missing or null"
    assert told["4"] == "no text: 'body' is missing or null"
    assert list(solr.ids()) == ["1"]
    assert solr.count(["price_i:5"]) == 1


@pytest.mark.parametrize("parts", [1, 3])
def test_records_of_one_id_are_counted(session: SparkSession, cloud: str, parts: int) -> None:
    """As one document and its repetitions, whether they are in one task or in several."""
    name = f"repeating{parts}"
    solr = nd.connect(cloud, name)
    nd.init(solr)
    rows = [(str(n % 70), f"a b c {n}", "5") for n in range(100)]
    frame = session.createDataFrame(rows, "id string, text string, price_i string")
    written = spark.write(frame.repartition(parts), cloud, name)
    assert (written.read, written.indexed, written.repeated, written.failed) == (100, 70, 30, 0)
    assert solr.count() == 70
    nd.delete(solr, query="*:*")
    more: list[tuple[str, str | None, str]] = [("1", "x", "none"), ("2", None, "5")]
    refused = session.createDataFrame([*rows, *more], frame.schema).coalesce(parts)
    written = spark.write(refused, cloud, name, keep="price_i")
    assert (written.read, written.failed) == (102, 2)
    assert written.indexed == solr.count()  # in one batch the record that Solr refuses is the last
    assert written.repeated == 100 - written.indexed


def test_kept_columns_are_read_if_they_have_doc_values(session: SparkSession, cloud: str) -> None:
    """Those that dynamic fields of the schema take, by their suffixes; values are texts."""
    solr = nd.connect(cloud, "dynamic")
    nd.init(solr)
    kinds = "id string, text string, price_i int, area_d double, new_b boolean, city string"
    frame = session.createDataFrame([("1", "a b c", 5, 1.5, True, "Bonn")], kinds)
    keep = ("price_i", "area_d", "new_b", "city")
    assert spark.write(frame, cloud, "dynamic", keep=keep).indexed == 1
    [row] = spark.read(session, cloud, "dynamic", fields=("id", *keep[:3])).collect()
    assert row.asDict() == {"id": "1", "price_i": "5", "area_d": "1.5", "new_b": "true"}
    with refusal(nd.errors.SchemaError, "fields-missing", "city", "docValues"):
        spark.read(session, cloud, "dynamic", fields=("id", *keep))


@pytest.mark.slow
def test_a_solr_that_is_away_when_tasks_begin_is_waited_for(
    session: SparkSession, home: Path, tmp_path: Path
) -> None:
    """It is killed after the driver has asked it, and comes back while the tasks wait."""
    folder = CloudFolder(with_jars(home, tmp_path))
    begun, away = tmp_path / "begun", tmp_path / "away"
    paths = str(begun), str(away)

    def late(batches: Any) -> Any:
        """The same rows, once Solr is unavailable."""
        open(paths[0], "w").close()
        while not os.path.exists(paths[1]):
            time.sleep(0.05)
        yield from batches

    def restart() -> None:
        while not begun.exists():
            time.sleep(0.05)
        folder.stop(1)
        away.touch()
        time.sleep(10)
        folder.start(1)

    rows = [(str(n), f"number {n} of the lamps") for n in range(20)]
    frame = session.createDataFrame(rows, "id string, text string").coalesce(1)
    with nodes(folder.home) as server, ThreadPoolExecutor(1) as pool:
        solr = nd.connect(server.url, "back")
        nd.init(solr)
        slow = frame.mapInArrow(late, "id string, text string").repartition(2)
        restarted = pool.submit(restart)
        written = spark.write(slow, server.url, "back", patience=120)
        restarted.result()
        assert (written.read, written.indexed) == (20, 20)
        assert solr.count() == 20


def test_a_partition_may_have_nothing_to_index(session: SparkSession, cloud: str) -> None:
    """The job goes on: a task whose records all fail is no wrong source."""
    solr = nd.connect(cloud, "parted")
    nd.init(solr)
    rows = [("1", "a b c"), ("", "d e f"), ("3", "g h i" * 100)]
    frame = session.createDataFrame(rows, "id string, text string").repartitionByRange(3, "text")
    written = spark.write(frame, cloud, "parted", max_doc_bytes=100)
    assert (written.read, written.indexed, written.failed) == (3, 1, 2)
    assert dict(written.errors) == {"": "the id is empty", "3": "too_large: more than 100 bytes"}


def test_a_wrong_place_is_told_before_the_executors_begin(
    session: SparkSession, cloud: str
) -> None:
    """No collection, other settings, no such field, nothing there."""
    frame = session.createDataFrame([("1", "a b c")], "id string, text string")
    with pytest.raises(nd.CoreMissing):
        spark.write(frame, cloud, "nowhere")
    with pytest.raises(nd.CoreMissing):
        spark.read(session, cloud, "nowhere")
    solr = nd.connect(cloud, "settled")
    nd.init(solr)
    nd.index([("1", "a b c")], solr)
    with pytest.raises(nd.SettingsError):
        spark.write(frame, cloud, "settled", settings={"shingle_size": 7})
    for field in ("colour", "content"):
        with pytest.raises(
            nd.errors.SchemaError, match=rf"Solr's export cannot read {field} .* id, .*_i"
        ):
            spark.read(session, cloud, "settled", fields=("id", field))
    nowhere = "http://127.0.0.1:9/solr"
    for call in (
        lambda: spark.read(session, nowhere, "x"),
        lambda: spark.write(frame, nowhere, "x"),
    ):
        with refusal(nd.SolrUnreachable, "solr-unreachable"):
            call()


def test_an_executor_that_dies_costs_nothing(session: SparkSession, tmp_path: Path) -> None:
    """A worker that ends in the middle of its task: Spark repeats the task, with equal results."""
    documents = drawn(100, seed=5)
    frame = session.createDataFrame(documents, "id string, text string").repartition(2)
    mark = str(tmp_path / "died")

    def dying(batches: Any) -> Any:
        for batch in batches:
            if not os.path.exists(mark):
                open(mark, "x").close()
                os._exit(1)
            yield batch

    fragile = frame.mapInArrow(dying, "id string, text string")
    alone = {(pair.id, pair.other_id) for pair in nd.duplicates(documents, by="bands").pairs}
    assert {(row.id, row.other_id) for row in spark.pairs(fragile).collect()} == alone
    assert os.path.exists(mark)
