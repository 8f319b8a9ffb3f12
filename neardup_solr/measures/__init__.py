"""How similar two texts are: one measure, one file, and what all of them share.

| measure | similarity | for |
|---|---|---|
| words | 1 - word-level Levenshtein distance / words of the longer text | edited copies |
| jaccard | common shingles / all shingles of both | texts of any order |
| containment | common shingles / shingles of the shorter text | excerpts in longer texts |
| aligned | idf-weighted soft alignment of the words | short records, abbreviations, slips |
| estimate | Jaccard similarity as the signatures estimate it | if no text is to be read |
"""

from neardup_solr.errors import SettingsError
from neardup_solr.measures.aligned import ALIGNED
from neardup_solr.measures.containment import CONTAINMENT
from neardup_solr.measures.estimate import ESTIMATE
from neardup_solr.measures.jaccard import JACCARD
from neardup_solr.measures.measure import Comparer, Limits, Measure, Pairs
from neardup_solr.measures.words import WORDS

__all__ = ["MEASURES", "Comparer", "Limits", "Measure", "Pairs", "measure_of"]

MEASURES = {one.name: one for one in (WORDS, JACCARD, CONTAINMENT, ALIGNED, ESTIMATE)}


def measure_of(name: str, limits: Limits) -> Measure:
    """The measure of a name; SettingsError if there is none, or if it cannot have such limits."""
    if name not in MEASURES:
        raise SettingsError(
            f"--measure {name} is not known", f"choose one of {', '.join(MEASURES)}"
        )
    if limits.max_distance is not None and not MEASURES[name].has_distance:
        reason = f"the measure {name} has no distance"
        raise SettingsError(reason, "give --min-similarity instead, or --measure words")
    return MEASURES[name]
