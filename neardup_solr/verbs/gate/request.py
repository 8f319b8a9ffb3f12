"""The request of a gate: the arguments of `gate`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from neardup_solr import checks
from neardup_solr.argument_types import Action, MeasureName, OneOrMore
from neardup_solr.checks import listed, require
from neardup_solr.measures.equality import parse_equality
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import choose_words
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import SourceLike
from neardup_solr.sources.column import check_keep
from neardup_solr.verbs.gate.policy import Policy

MOST_AT_ONCE = 1_000  # documents of a query


@dataclass(frozen=True)
class GateRequest:
    """The arguments of `gate`."""

    source: SourceLike
    collection: Collection
    _: KW_ONLY
    tag: float | None = None
    hold: float | None = None
    reject: float | None = None
    exact: Action = "reject"
    yes: bool = False
    measure: MeasureName = "auto"
    model: str | Path | None = None
    max_distance: int | None = None
    equal: OneOrMore = ()
    fq: OneOrMore = ()
    index: bool = False
    batch: int = 50
    most: int = 100
    passages: bool = False
    min_words: int | None = None
    answers: str | Path | None = None
    patience: float | str = "5m"
    keep: OneOrMore | None = None
    on_error: OnError | None = None
    on_progress: OnProgress | None = None

    @property
    def policy(self) -> Policy:
        """The policy that is named, by the measure that is named.

        Raises ArgumentError if a value is not possible.
        """
        return Policy(
            tag=self.tag, hold=self.hold, reject=self.reject, exact=self.exact,
            max_distance=self.max_distance, measure=self.measure,
            equality=parse_equality(self.equal),
            min_words=choose_words(self.min_words, passages=self.passages),
        )  # fmt: skip

    def check(self) -> None:
        """Refuse values that are not possible, before Solr is asked. Raises ArgumentError."""
        if self.index:
            check_keep(listed(self.keep or ()))
        _ = self.policy
        fits = 1 <= self.batch <= MOST_AT_ONCE
        reason = f"`batch` cannot be {self.batch}"
        require(fits, reason, f"give 1 to {MOST_AT_ONCE:,}", code="argument-out-of-range")
        checks.require_positive(most=self.most)
