"""Tests of DataFrames on Spark, in its local mode."""
