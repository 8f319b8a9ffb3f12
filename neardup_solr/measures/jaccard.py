"""Jaccard similarity: common shingles / all shingles of both texts. Broder (1997)."""

from neardup_solr.measures.arrays import Similarities
from neardup_solr.measures.sets import Overlaps, measure_of_sets, shares


def _jaccard(found: Overlaps) -> Similarities:
    """1 for two empty texts."""
    return shares(found.common, found.first + found.second - found.common)


MEASURE = measure_of_sets("jaccard", _jaccard)
