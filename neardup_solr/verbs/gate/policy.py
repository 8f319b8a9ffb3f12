"""The policy of a gate: which action a near-duplicate of some similarity brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import get_args

from neardup_solr import measures
from neardup_solr.argument_types import Action
from neardup_solr.checks import require, require_choice
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Limits, Measure, floor, measure_named
from neardup_solr.measures.equality import ANYTHING, Equality
from neardup_solr.records import Match

ACTIONS: tuple[Action, ...] = get_args(Action)
ALLOW, TAG, HOLD, REJECT = ACTIONS
ADMITTED = frozenset({ALLOW, TAG})
TAG_FIELD = "neardup_of"  # of a tagged document: the ids of its near-duplicates


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Actions for a document that has a near-duplicate: checked arguments of `gate`.

    `tag`, `hold` and `reject` are the least similarities for each action; an action that is None is
    not taken. If all three are None, `tag` is the threshold of the measure. What `equality` asks
    for has to be equal in near-duplicates. `min_words` is how many words a passage has at least,
    None if passages are not looked for.

    Raises ArgumentError if a value is out of range, or a milder action needs as much similarity.
    """

    reject: float | None = None
    hold: float | None = None
    tag: float | None = None
    exact: Action = "reject"
    measure: str | Measure = "words"
    max_distance: int | None = None
    equality: Equality = ANYTHING
    min_words: int | None = None

    def __post_init__(self) -> None:
        measures.measure_of(self.measure, Limits(max_distance=self.max_distance))  # checks them
        require_choice("exact", self.exact, ACTIONS)
        for action, bound in self.bounds:
            step = "give a similarity from 0 to 1"
            reason = f"`{action}` cannot be {bound}"
            require(0 <= bound <= 1, reason, step, code="argument-out-of-range")
        for (severe, high), (mild, low) in pairwise(self.bounds):
            if low >= high:
                reason = f"with `{mild}` {low:g} and `{severe}` {high:g}, nothing is left to {mild}"
                step = f"set `{mild}` below {high:g}, or omit it"
                raise ArgumentError(reason, step, code="arguments-conflict")

    @property
    def bounds(self) -> list[tuple[Action, float]]:
        """The actions that are taken and the similarity that each needs, the most severe first."""
        actions = ((REJECT, self.reject), (HOLD, self.hold), (TAG, self.tag))
        bounds = [(action, bound) for action, bound in actions if bound is not None]
        return bounds or [(TAG, measure_named(self.measure).default)]

    @property
    def limits(self) -> Limits:
        """Limits of a near-duplicate: the smallest of the bounds."""
        least = min(bound for _, bound in self.bounds)
        return Limits(max_distance=self.max_distance, min_similarity=least)

    def _reach(self, similarity: float) -> tuple[Action, float]:
        """Find the most severe action that a similarity reaches, and what it needs."""
        return next(each for each in self.bounds if similarity >= floor(each[1]))

    def judge(
        self,
        matches: Sequence[Match],
        exact: Match | None,
        same: Match | None = None,
        worded: Match | None = None,
        whole: Match | None = None,
    ) -> tuple[Action, str]:
        """Choose the action for a document with these matches, nearest first, and say why.

        `exact` is the match of the same text, `worded` that of the same words, whatever its symbols
        are, `same` that which somebody judged to be the same, `whole` that which has most of it in
        passages.
        """
        action, reason = ALLOW, "no near-duplicate was found"
        nearest = max(matches, key=lambda match: match.similarity, default=None)
        if whole is not None and (nearest is None or whole.similarity > nearest.similarity):
            action, bound = self._reach(whole.similarity)
            part = f"{whole.similarity:.3f} of it is in passages of {whole.id!r}"
            reason = f"{part}, which is {bound:g} or more"
        elif nearest is not None:
            action, bound = self._reach(nearest.similarity)
            likeness = f"its similarity to {nearest.id!r} is {nearest.similarity:.3f}"
            reason = f"{likeness}, which is {bound:g} or more"
        if worded is not None and not (exact or same):
            # Somebody has to see it: x > 0 is not x < 0.
            least = min(self.exact, HOLD, key=ACTIONS.index)
            action = HOLD if action == REJECT else max(action, least, key=ACTIONS.index)
            return action, f"the same words as {worded.id!r}, but different symbols"
        if ACTIONS.index(self.exact) < ACTIONS.index(action) or not (exact or same):
            return action, reason
        if exact is not None:
            return self.exact, f"the same text as {exact.id!r}"
        return self.exact, f"the same as {same and same.id!r} according to an answer"
