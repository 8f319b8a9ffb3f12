"""Containment: common shingles / those of the text that has fewer. Broder (1997).

1 if that one is an excerpt of the other. A text without words is contained only in another text
without words.
"""

import numpy as np

from neardup_solr.measures.arrays import Similarities
from neardup_solr.measures.sets import Overlaps, measure_of_sets, shares


def _containment(found: Overlaps) -> Similarities:
    fewer = np.minimum(found.first, found.second)
    larger = np.maximum(found.first, found.second)
    return np.where((fewer == 0) & (larger > 0), 0.0, shares(found.common, fewer))


# Two texts on one subject share some shingles; an excerpt shares nearly all of its own.
MEASURE = measure_of_sets("containment", _containment, default=0.8, way="shingles")
