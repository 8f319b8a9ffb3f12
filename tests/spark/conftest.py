"""One session of Spark for all tests, on the Java that comes from the package index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from neardup_solr.spark import local


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Spark in local mode with two threads."""
    folder: Path = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("NEARDUP_HOME", str(folder / "home"))
        made = local(2, memory="1g", spark_sql_shuffle_partitions=4, spark_local_dir=str(folder))
    yield made
    made.stop()
