"""Tests of neardup_solr, in the rooms of the package."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
