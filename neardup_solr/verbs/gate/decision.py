"""The decision of a gate about a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neardup_solr.argument_types import Action
from neardup_solr.records import Document, Match, Passage
from neardup_solr.verbs.gate.policy import ADMITTED, TAG, TAG_FIELD


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision about a document.

    `action`: "allow", "tag", "hold" or "reject"; `reason`: a sentence; `matches`: near-duplicates
    in the collection and among admitted documents, most similar first, without text; `complete`:
    False if too many documents shared a band to compare all; `replaces`: True if it replaced a
    document of the same id; `passages`: passages that it shares with those documents, if `passages`
    was set, those of the document that has most of them first. A document that has most of it in
    passages is a match, too, by the share of it.
    """

    document: Document = field(repr=False)
    action: Action
    reason: str
    matches: tuple[Match, ...] = ()
    complete: bool = True
    replaces: bool = False
    passages: tuple[Passage, ...] = ()

    @property
    def id(self) -> str:
        """Id of the document."""
        return self.document.id

    @property
    def is_admitted(self) -> bool:
        """True if the document is allowed or tagged."""
        return self.action in ADMITTED

    def kept(self) -> Mapping[str, Any]:
        """Return the columns to keep, with `neardup_of` for a tagged document.

        `neardup_of` lists the ids of the matches, the nearest first.
        """
        if self.action != TAG:
            return self.document.kept
        return {**self.document.kept, TAG_FIELD: [match.id for match in self.matches]}
