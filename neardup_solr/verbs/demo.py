"""demo: the main job on listings that come with the package."""

from __future__ import annotations

from dataclasses import dataclass

from neardup_solr.demo import listings, pairs
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.evaluate import Evaluation, evaluate
from neardup_solr.verbs.index import IndexSummary, index
from neardup_solr.verbs.report import Report, report

CORE = "neardup_demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """Result of the demo: listings indexed, pairs reported, and their evaluation."""

    indexed: IndexSummary
    report: Report
    evaluation: Evaluation


def demo(collection: Collection) -> Demonstration:
    """Index the demo listings, report their near-duplicates, compare with the known pairs."""
    indexed = index(listings(), collection, keep=("city", "kind"))
    found = report(collection, later_only=True, same="first_word", max_distance=3)
    return Demonstration(indexed=indexed, report=found, evaluation=evaluate(pairs(), found.pairs))
