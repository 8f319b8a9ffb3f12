"""Spark's daemon of Python workers: it imports what they need before it forks them."""

import pandas  # noqa: F401
import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

import neardup_solr.spark.work  # noqa: F401

if __name__ == "__main__":
    manager()
