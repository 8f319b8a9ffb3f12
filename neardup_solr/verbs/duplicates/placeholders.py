"""Texts that stand for none, such as "n/a" among descriptions: they make no copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup_solr.distinct import sort_distinct
from neardup_solr.errors import counted
from neardup_solr.guard import SHARE
from neardup_solr.measures import BY_PROBABILITY
from neardup_solr.verbs.duplicates.corpus import Corpus
from neardup_solr.verbs.duplicates.graph import Grouped, RowNumbers

MOST_WORDS, FEWEST = 3, 3  # of such a text, and documents that share it
USUAL = 12  # words of half of the other texts, at least
SAMPLE = 10_000  # texts whose words are counted


@dataclass(frozen=True, slots=True)
class Placeholders:
    """Documents that are removed though their `text` says nothing: `count` of `removed`."""

    count: int
    removed: int
    text: str

    def __str__(self) -> str:
        documents = counted(self.removed, "removed document")
        return f"{self.count:,} of {documents} have texts such as “{self.text}”, which say nothing"


def find_placeholders(corpus: Corpus, grouped: Grouped, rows: RowNumbers) -> Placeholders | None:
    """Find the texts of a few words that several documents share, where others have many words."""
    graph = grouped.graph
    if graph.measure in BY_PROBABILITY or not len(rows):
        return None
    sizes = np.bincount(graph.texts)
    is_empty = (graph.words <= MOST_WORDS) & (sizes[graph.texts] >= FEWEST) & (graph.words > 0)
    texts = sort_distinct(graph.texts[is_empty])
    count = int((sizes[texts] - 1).sum())
    removed = grouped.rows.others
    if not len(texts) or count < SHARE * removed:
        return None
    living = corpus.living()
    others = living[~np.isin(living, rows[is_empty])]
    words = corpus.count_words(others[:: -(-len(others) // SAMPLE) or 1].astype(np.uint32))
    if not len(words) or np.median(words) < USUAL:
        return None
    largest = int(texts[np.argmax(sizes[texts])])
    row = int(rows[np.flatnonzero(graph.texts == largest)[0]])
    return Placeholders(count, removed, (corpus.texts([row])[0] or "").strip())
