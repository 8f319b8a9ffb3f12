"""What the gate does with a document, by how near the nearest one is that is already there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from neardup_solr.errors import SettingsError
from neardup_solr.measures import Limits, floor, measure_named, measure_of
from neardup_solr.records import Document, Match

ALLOW, TAG, HOLD, REJECT = ACTIONS = ("allow", "tag", "hold", "reject")
ADMITTED = frozenset({ALLOW, TAG})
TAG_FIELD = "neardup_of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is done with a document that has a near-duplicate of at least some similarity.

    `tag`, `hold` and `reject` are those similarities (0..1) by `measure`, one of
    `measures.NAMES`, None for an action that is not taken; where all three are None, `tag`
    is the measure's default. `max_distance` in words bounds what counts as near at all. A document
    whose normal form is there already gets at least the action `exact`.

    Raises SettingsError where a value cannot be, or a milder action asks for as much similarity.
    """

    reject: float | None = None
    hold: float | None = None
    tag: float | None = None
    exact: str = REJECT
    measure: str = "words"
    max_distance: int | None = None

    def __post_init__(self) -> None:
        measure_of(self.measure, Limits(max_distance=self.max_distance))  # refuses what cannot be
        if self.exact not in ACTIONS:
            reason = f"there is no action {self.exact!r}"
            raise SettingsError(reason, f"choose one of {', '.join(ACTIONS)}")
        for _, bound in self.bounds:
            Limits(min_similarity=bound)  # refuses what no similarity can be
        given = [(action, bound) for action, bound in self.bounds if bound is not None]
        for (severe, high), (mild, low) in pairwise(given):
            if low >= high:
                reason = (
                    f"to {mild} at {low:g} and to {severe} at {high:g} leaves nothing to {mild}"
                )
                raise SettingsError(reason, f"give {severe} the larger similarity")

    @property
    def bounds(self) -> tuple[tuple[str, float | None], ...]:
        """The actions and what similarity each asks for, the most severe one first."""
        asked = ((REJECT, self.reject), (HOLD, self.hold), (TAG, self.tag))
        if any(bound is not None for _, bound in asked):
            return asked
        return (*asked[:2], (TAG, measure_named(self.measure).default))

    @property
    def limits(self) -> Limits:
        """What counts as near: what reaches the smallest of the bounds."""
        least = min(bound for _, bound in self.bounds if bound is not None)
        return Limits(max_distance=self.max_distance, min_similarity=least)

    def can(self, action: str) -> bool:
        """Whether any document could get this action."""
        return self.exact == action or any(
            name == action and bound is not None for name, bound in self.bounds
        )

    def judge(self, matches: Sequence[Match], exact: Match | None) -> tuple[str, str]:
        """The action for a document with these matches, nearest first, and the reason for it.

        `exact` is the match whose normal form is the document's own.
        """
        action, reason = self._by_similarity(matches)
        if exact is None or ACTIONS.index(self.exact) < ACTIONS.index(action):
            return action, reason
        return self.exact, f"the same text as {exact.id!r}"

    def _by_similarity(self, matches: Sequence[Match]) -> tuple[str, str]:
        if not matches:
            return ALLOW, "nothing is near it"
        nearest = max(matches, key=lambda match: match.similarity)
        for action, bound in self.bounds:
            if bound is not None and nearest.similarity >= floor(bound):
                said = f"{nearest.similarity:.3f} similar to {nearest.id!r}"
                return action, f"{said}, which is {bound:g} or more"
        raise AssertionError("a match is within the limits, and those are the smallest bound")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of one document: `action` is "allow", "tag", "hold" or "reject".

    `matches` are its near-duplicates, most similar first: documents of the collection, and those
    that came before it and were admitted; `shared` counts the LSH bands that they have in common,
    and they carry no text. `complete` is False where more documents shared a band with it than
    are compared.
    """

    document: Document = field(repr=False)
    action: str
    reason: str
    matches: tuple[Match, ...] = ()
    complete: bool = True

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def is_admitted(self) -> bool:
        """Whether the document is to be indexed: allowed, or tagged."""
        return self.action in ADMITTED

    def kept(self) -> Mapping[str, Any]:
        """The columns to keep with the document, and for a tagged one what it is near to.

        `neardup_of` has the ids of its matches, the nearest first.
        """
        if self.action != TAG:
            return self.document.kept
        return {**self.document.kept, TAG_FIELD: [match.id for match in self.matches]}
