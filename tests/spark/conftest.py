"""One session of Spark for all tests, on the Java that comes from the package index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import neardup_solr as nd
from neardup_solr import spark
from neardup_solr.spark import driver, local


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark in local mode with two threads, which tells once it was stopped that it was."""
    folder: Path = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("NEARDUP_HOME", str(folder / "home"))
        patch.setattr(driver, "ATTEMPTS", 2)  # a job that has to fail fails sooner
        made = local(
            2,
            memory="1.0GB",
            spark_sql_shuffle_partitions=2,
            spark_local_dir=str(folder),
            spark_python_daemon_module="tests.spark.daemon",
        )
    yield made
    frame = made.createDataFrame([("1", "a b c")], "id string, text string")
    made.stop()
    calls: dict[str, Callable[[], object]] = {
        "the session of `frame`": lambda: spark.pairs(frame),
        "`session`": lambda: spark.read(made, "http://a:1/solr", "x"),
    }
    for name, call in calls.items():
        with pytest.raises(nd.ArgumentError) as refused:
            call()
        step = "start a new one and read the data again with it"
        assert str(refused.value) == f"{name} was stopped; {step}"
