"""demo: the main job on listings that ship with the package."""

from __future__ import annotations

from dataclasses import dataclass

from neardup_solr.demo import listings, pairs
from neardup_solr.edges.client import Solr
from neardup_solr.edges.sources import Reading
from neardup_solr.pure.comparing.similarity import Limits
from neardup_solr.pure.grouping.evaluate import Evaluation
from neardup_solr.verbs.evaluating import evaluate
from neardup_solr.verbs.indexing import IndexSummary, index
from neardup_solr.verbs.reporting import Chosen, Report, report
from neardup_solr.verbs.searching import Criteria

CORE = "neardup_demo"
CRITERIA = Criteria(same=("first_word",), limits=Limits(max_distance=3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """What the demo did: listings indexed, pairs reported, and how they compare with the truth."""

    indexed: IndexSummary
    report: Report
    evaluation: Evaluation


def demo(solr: Solr) -> Demonstration:
    """Index the demo listings, report their near-duplicates, compare with the known pairs."""
    indexed = index(listings(), solr, reading=Reading(keep=("city", "kind")))
    found = report(solr, chosen=Chosen(later_only=True), criteria=CRITERIA)
    return Demonstration(indexed=indexed, report=found, evaluation=evaluate(found.pairs, pairs()))
