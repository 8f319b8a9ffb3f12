"""Actions of the gate, by the similarity of a document to the nearest one there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args
from warnings import warn

from neardup_solr.arguments import Action, require, require_choice
from neardup_solr.errors import ArgumentError, RecordError
from neardup_solr.measures import Limits, Measure, floor, measure_named, measure_of
from neardup_solr.measures.equality import ANYTHING, Equality
from neardup_solr.progress import Failures
from neardup_solr.records import Document, Match
from neardup_solr.reports.tables import Columns, Table, beside

if TYPE_CHECKING:
    from neardup_solr.answers.verdicts import Answered

ACTIONS: tuple[Action, ...] = get_args(Action)
ALLOW, TAG, HOLD, REJECT = ACTIONS
ADMITTED = frozenset({ALLOW, TAG})
TAG_FIELD = "neardup_of"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Actions for a document that has a near-duplicate: checked arguments of `gate`.

    `tag`, `hold` and `reject` are the least similarities for each action; an action that is None is
    not taken. If all three are None, `tag` is the threshold of the measure. What `equality` asks
    for has to be equal in near-duplicates.

    Raises ArgumentError if a value is out of range, or a milder action needs as much similarity.
    """

    reject: float | None = None
    hold: float | None = None
    tag: float | None = None
    exact: Action = "reject"
    measure: str | Measure = "words"
    max_distance: int | None = None
    equality: Equality = ANYTHING

    def __post_init__(self) -> None:
        measure_of(self.measure, Limits(max_distance=self.max_distance))  # checks them
        require_choice("exact", self.exact, ACTIONS)
        for action, bound in self.bounds:
            fits = bound is None or 0 <= bound <= 1
            require(fits, f"`{action}` cannot be {bound}", "give a similarity from 0 to 1")
        given = [(action, bound) for action, bound in self.bounds if bound is not None]
        for (severe, high), (mild, low) in pairwise(given):
            if low >= high:
                reason = f"`{mild}` {low:g} and `{severe}` {high:g} leave nothing to {mild}"
                raise ArgumentError(reason, f"give `{severe}` the larger similarity")

    @property
    def bounds(self) -> tuple[tuple[Action, float | None], ...]:
        """The actions and the similarity that each needs, the most severe one first."""
        asked = ((REJECT, self.reject), (HOLD, self.hold), (TAG, self.tag))
        if any(bound is not None for _, bound in asked):
            return asked
        return (*asked[:2], (TAG, measure_named(self.measure).default))

    @property
    def limits(self) -> Limits:
        """Limits of a near-duplicate: the smallest of the bounds."""
        least = min(bound for _, bound in self.bounds if bound is not None)
        return Limits(max_distance=self.max_distance, min_similarity=least)

    def judge(
        self, matches: Sequence[Match], exact: Match | None, same: Match | None = None
    ) -> tuple[Action, str]:
        """Choose the action for a document with these matches, nearest first, and say why.

        `exact` is the match whose normal form is the document's own, `same` one that somebody
        judged to be the same.
        """
        action, reason = ALLOW, "nothing is near it"
        if matches:
            nearest = max(matches, key=lambda match: match.similarity)
            action, bound = next(
                (action, bound)
                for action, bound in self.bounds
                if bound is not None and nearest.similarity >= floor(bound)
            )
            said = f"{nearest.similarity:.3f} similar to {nearest.id!r}"
            reason = f"{said}, which is {bound:g} or more"
        if ACTIONS.index(self.exact) < ACTIONS.index(action) or not (exact or same):
            return action, reason
        if exact is not None:
            return self.exact, f"the same text as {exact.id!r}"
        return self.exact, f"the same as {same and same.id!r} by an answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Decision about one document: `action` is "allow", "tag", "hold" or "reject".

    `matches` are its near-duplicates, most similar first: documents of the collection, and earlier
    ones that were admitted. Their `shared` counts the LSH bands in common; they have no text.
    `complete` is False if too many documents shared a band with it to compare all of them;
    `replaces` is True if it was indexed in the place of a document of the same id.
    """

    document: Document = field(repr=False)
    action: Action
    reason: str
    matches: tuple[Match, ...] = ()
    complete: bool = True
    replaces: bool = False

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.document.id

    @property
    def is_admitted(self) -> bool:
        """True if the document is to be indexed: allowed, or tagged."""
        return self.action in ADMITTED

    def kept(self) -> Mapping[str, Any]:
        """Return the columns to keep with the document, and `neardup_of` for a tagged one.

        `neardup_of` has the ids of its matches, the nearest first.
        """
        if self.action != TAG:
            return self.document.kept
        return {**self.document.kept, TAG_FIELD: [match.id for match in self.matches]}


class Decisions(Table, Iterator[Decision]):
    """Give the decisions of a gate, one after the other, as they are made.

    With `index`, a document is indexed as its decision is read; RuntimeWarning if none ever is.
    """

    __slots__ = ("_coming", "_count_answers", "_failures", "_find_gaps", "_warns")

    def __init__(
        self,
        coming: Iterator[Decision | RecordError],
        failures: Failures,
        find_gaps: Callable[[], Sequence[str]],
        *,
        is_indexing: bool = False,
        count_answers: Callable[[], Answered | None] = lambda: None,
    ) -> None:
        self._coming = coming
        self._failures = failures
        self._find_gaps = find_gaps
        self._warns = is_indexing
        self._count_answers = count_answers

    def __next__(self) -> Decision:
        return next(one for one in self.with_failed() if isinstance(one, Decision))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of the collection now: documents without a signature, which nothing is near to.

        Solr is asked each time.
        """
        return tuple(self._find_gaps())

    @property
    def answered(self) -> Answered | None:
        """Outcome of the answers about documents that have come so far, if any were given."""
        return self._count_answers()

    def with_failed(self) -> Iterator[Decision | RecordError]:
        """Yield the decisions, and the error of a record that makes no document in its place."""
        self._warns = False
        for one in self._coming:
            if isinstance(one, RecordError):
                self._failures.add(one)
            yield one

    def __del__(self) -> None:
        # As Python warns of a coroutine that was never awaited.
        if getattr(self, "_warns", False):
            lost = (
                "the decisions of nd.gate(..., index=True) were never read, so nothing is indexed"
            )
            warn(f"{lost}: read them by a `for` loop or list()", RuntimeWarning, stacklevel=2)

    def columns(self) -> Columns:
        """Make columns of all decisions that are left.

        They are id, action, reason, other_id, similarity, distance (of the nearest match), matches
        (the ids of all), complete, replaces, and the columns that were kept.
        """
        made = list(self)
        nearest: list[Match | None] = [next(iter(one.matches), None) for one in made]
        columns: Columns = {
            name: [getattr(one, name) for one in made] for name in ("id", "action", "reason")
        }
        for name, of in (("other_id", "id"), ("similarity",) * 2, ("distance",) * 2):
            columns[name] = [match and getattr(match, of) for match in nearest]
        columns["matches"] = [[match.id for match in one.matches] for one in made]
        for name in ("complete", "replaces"):
            columns[name] = [getattr(one, name) for one in made]
        kept = {one.id: one.document.kept for one in made}
        return beside(columns, {}, kept, {"id": columns["id"]})
