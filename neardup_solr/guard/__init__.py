"""The guard before removals: what would be removed although it may be no copy.

It looks at what would be removed, whatever is kept: documents that are far from the one that is
kept for them, clusters whose documents have little in common but the one that links them, and
templates, whose texts differ in the same places. Before any of these are removed, marked or
rejected, somebody is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from rapidfuzz import fuzz

from neardup_solr.errors import counted
from neardup_solr.guard.template import WORDS
from neardup_solr.records import AnyId

SHARE = 0.01  # of what is removed, if it may be no copies, to ask
LETTERS, ALIKE = 2_000, 70  # at the beginning of a text; percent of them that texts share in order
# Pairs that differ in numbers alone, and their share of the others, to ask: of texts, and of
# records, as dates and codes of these have slips
NUMERIC, NUMERIC_OF_RECORDS = (1, 0.25), (3, 0.5)
SYMBOLIC = 0.05  # pairs that differ in symbols alone, as a share of all, to ask
OTHERS = 2  # pairs that `equal` would separate for each that it is meant for, at most
# Documents are unrelated below this part of the threshold; that part of the pairs of a cluster.
UNRELATED, LINKED = 0.5, 0.5
FEWEST_WRONG, WRONG = 3, 0.2  # pairs that are expected to be wrong, and their share, to ask
ENDS = 8  # documents of a cluster that are compared with each other
# Records that are equal in what was compared, not in the rest, and their share, to ask.
EQUAL = ((8, 0.2), (3, 0.5))
FEWEST_RARE, RARE = 3, 3  # such in a column in which records seldom differ, and times by chance
LOOK = "no option that was tried separates them; to look at them in a page, use `write` report.html"


def are_many(count: int, of_all: int, share: float, fewest: int = 1) -> bool:
    """Tell whether so many are `fewest` and a share of the others."""
    return count >= fewest + share * max(of_all - fewest, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """Removed documents that are below the threshold to the one that is kept for them.

    They are `count` of `removed`, and somebody is asked from the part `share` on; the farthest is
    `id`, of the `similarity` to `kept`.
    """

    count: int
    removed: int
    share: float
    id: AnyId
    kept: AnyId
    similarity: float

    @property
    def is_much(self) -> bool:
        """True if somebody is to be asked."""
        return self.count >= self.share * self.removed

    def __str__(self) -> str:
        are = "is" if self.count == 1 else "are"
        documents = counted(self.removed, "removed document")
        worst = f"such as {self.id} to {self.kept} ({self.similarity:.2f})"
        return f"{self.count:,} of {documents} {are} not near to the document that is kept, {worst}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlikely:
    """Pairs that are expected to be wrong, by the probabilities of all: `count` of `pairs`."""

    count: float
    pairs: int

    @property
    def is_much(self) -> bool:
        """True if somebody is to be asked."""
        return self.count >= max(FEWEST_WRONG, WRONG * self.pairs)

    def __str__(self) -> str:
        pairs = counted(self.pairs, "pair")
        return f"about {self.count:,.0f} of {pairs} are expected to be wrong"


def are_alike(form: str, other: str) -> bool:
    """Tell whether two texts are alike by their letters, as those with many slips are."""
    return fuzz.ratio(form[:LETTERS], other[:LETTERS]) >= ALIKE


def are_unlike(forms: Sequence[str], least: float) -> bool:
    """Tell whether many pairs of some texts have little in common, for a threshold."""
    texts = [*dict.fromkeys(forms)][:ENDS]
    runs = [{*pairwise(form.split()[:WORDS])} for form in texts]
    pairs = [*combinations(range(len(texts)), 2)]
    unlike = sum(
        len(runs[first] & runs[other]) < UNRELATED * least * min(len(runs[first]), len(runs[other]))
        and not are_alike(texts[first], texts[other])
        for first, other in pairs
    )
    return unlike >= max(LINKED * len(pairs), 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """Removed documents that have little in common but the one that links them, as a digest does.

    They are `count` of `removed`; `id` and `other_id` are two of them, of this `similarity`,
    and `kept` the keys of those that link them.
    """

    count: int
    removed: int
    id: AnyId
    other_id: AnyId
    similarity: float
    kept: tuple[AnyId, ...] = ()

    @property
    def is_much(self) -> bool:
        """True if somebody is to be asked."""
        return self.count >= SHARE * self.removed

    def __str__(self) -> str:
        are = "is" if self.count == 1 else "are"
        documents = counted(self.removed, "removed document")
        pair = f"{self.id} and {self.other_id}, similarity {self.similarity:.2f}"
        return f"{self.count:,} of {documents} {are} linked only by another, such as {pair}"
