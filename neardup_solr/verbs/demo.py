"""demo: the main job on listings that ship with the package."""

from __future__ import annotations

from dataclasses import dataclass

from neardup_solr.demo import listings, pairs
from neardup_solr.measures import Limits
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import Reading
from neardup_solr.verbs.evaluate import Evaluation, evaluate
from neardup_solr.verbs.index import IndexSummary, index
from neardup_solr.verbs.report import Chosen, Report, report
from neardup_solr.verbs.search import Criteria

CORE = "neardup_demo"
CRITERIA = Criteria(same=("first_word",), limits=Limits(max_distance=3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """What the demo did: listings indexed, pairs reported, and how they compare with the truth."""

    indexed: IndexSummary
    report: Report
    evaluation: Evaluation


def demo(collection: Collection) -> Demonstration:
    """Index the demo listings, report their near-duplicates, compare with the known pairs."""
    indexed = index(listings(), collection, reading=Reading(keep=("city", "kind")))
    found = report(collection, chosen=Chosen(later_only=True), criteria=CRITERIA)
    return Demonstration(indexed=indexed, report=found, evaluation=evaluate(found.pairs, pairs()))
