"""How rare the words of a collection are, by a sample of its documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from neardup_solr.edges.client import Solr
from neardup_solr.pure.comparing import alignment
from neardup_solr.pure.comparing.alignment import Frequencies
from neardup_solr.pure.text import normalize

SAMPLE = 1_000  # documents whose words are counted, to tell rare words from usual ones
SAMPLED = 2_000  # characters of each of them


def sampled(solr: Solr) -> Iterator[str]:
    """Texts of a collection's first documents, read when they are asked for."""
    yield from solr.texts(list(islice(solr.ids(), SAMPLE))).values()


def frequencies(texts: Iterable[str]) -> Frequencies:
    """In how many of the texts each word is, as their first characters tell."""
    return alignment.frequencies(normalize.normalize(text[:SAMPLED]) for text in texts)
