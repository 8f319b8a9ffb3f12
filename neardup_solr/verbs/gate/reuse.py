"""The reuse of a document: the passages that a new one shares with it."""

from __future__ import annotations

from typing import NamedTuple

from neardup_solr.records import Match, Passage
from neardup_solr.verbs.batch import Candidate

WHOLE = ("copy", "edited", "part of")  # relations of a document with little new in it


class Reuse(NamedTuple):
    """A document, and the passages that another shares with it, in the order of that one."""

    candidate: Candidate
    passages: tuple[Passage, ...]

    @property
    def words(self) -> int:
        """Words of all passages."""
        return sum(each.words for each in self.passages)

    def make_match(self) -> Match | None:
        """Make a match of a document that is most of the other one, by the share of that."""
        passage, (id, _, shared, *_) = self.passages[0], self.candidate
        if passage.relation not in WHOLE:
            return None
        return Match(id=id, distance=None, similarity=passage.share, shared=shared, content="")
