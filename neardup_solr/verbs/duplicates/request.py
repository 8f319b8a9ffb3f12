"""The request of `duplicates`: its arguments as they were given, and the checks of each alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from neardup_solr.argument_types import Linkage, OneOrMore, PairMeasure, Way
from neardup_solr.checks import require_choice
from neardup_solr.clusters.canonical import Rule, parse_rule
from neardup_solr.clusters.linkage import LINKAGES
from neardup_solr.errors import ArgumentError
from neardup_solr.measures import Limits
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.memory import parse_memory
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import settings_of
from neardup_solr.sources.choice import Chosen, ColumnRequest, choose_columns, log_choice
from neardup_solr.units import in_seconds

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection
    from neardup_solr.sources.source import SourceLike

    Compared: TypeAlias = SourceLike | Collection
else:
    Compared = Any

WAYS: tuple[Way, ...] = get_args(Way)
OMIT_ONE = "omit one of them"
# Arguments, and others that they cannot be combined with. The weights of fields and models depend
# on all candidates.
EXCLUDED = {
    "without_common": ("remember", "fields", "model"),
    "remember": ("against", "model"),
}
FOR_TEXTS = ("without_common", "max_distance")  # not for columns one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedValues:
    """Values of arguments that are possible with some source, parsed. `memory` is in bytes."""

    limits: Limits
    rule: Rule
    equal: Equality
    settings: Settings
    patience: float
    memory: int | None


@dataclass(frozen=True)
class DuplicatesRequest:
    """The arguments of `duplicates`, and four that only other verbs and the command have.

    With `reach`, pairs so far below the threshold count as well. Documents that answers are unsure
    of share no cluster if `unsure_apart`, unless other answers call them the same. The columns
    `beside` those that are compared may tell copies apart. `on_choice` gets the columns that are
    chosen for a source without a text; by default, they are logged.
    """

    source: Compared
    _: KW_ONLY
    against: Compared | None = None
    by: Way | None = None
    measure: PairMeasure = "auto"
    fields: OneOrMore | Mapping[str, str] | None = None
    max_distance: int | None = None
    min_similarity: float | None = None
    fq: OneOrMore = ()
    same: OneOrMore = ()
    equal: OneOrMore = ()
    answers: str | Path | None = None
    model: str | Path | None = None
    cap: int | None = None
    linkage: Linkage | None = None
    canonical: str = "first"
    id: str | None = None
    text: OneOrMore = "text"
    keep: OneOrMore = ()
    settings: Settings | Mapping[str, Any] | None = None
    remember: str | Path | None = None
    checkpoint: str | Path | None = None
    memory: int | str | None = None
    texts: bool | int | None = None
    without_common: bool | float = False
    patience: float | str = "5m"
    on_error: OnError | None = None
    on_progress: OnProgress | None = None
    reach: float = 0.0
    unsure_apart: bool = False
    beside: tuple[str, ...] = ()
    on_choice: Callable[[Chosen], None] = log_choice

    @property
    def looks_at_words(self) -> bool:
        """True if candidates come from rare words, or what most texts share is left out."""
        return self.by == "words" or bool(self.without_common)

    def parse(self) -> ParsedValues:
        """Parse values, and refuse those that are possible with no source, before any is read.

        Raises ArgumentError.
        """
        limits = Limits(max_distance=self.max_distance, min_similarity=self.min_similarity)
        if self.by is not None:
            require_choice("by", self.by, WAYS)
        if self.cap is not None and self.cap < 2:
            reason = f"`cap` cannot be {self.cap}"
            raise ArgumentError(reason, "give 2 or more", code="argument-out-of-range")
        if self.cap is not None and self.by == "all":
            reason = "`cap` cannot be used with `by` all, which compares every pair"
            raise ArgumentError(reason, "omit it", code="arguments-conflict")
        if self.linkage is not None:
            require_choice("linkage", self.linkage, LINKAGES)
        if self.linkage == "mutual_best" and self.against is None:
            reason, step = (
                "`linkage` mutual_best needs two sources",
                "name the second with `against`",
            )
            raise ArgumentError(reason, step, code="arguments-conflict")
        if not 0 <= self.without_common <= 1:
            reason = f"`without_common` cannot be {self.without_common:g}"
            raise ArgumentError(reason, "give a share from 0 to 1", code="argument-out-of-range")
        for name, others in EXCLUDED.items():
            for other in others if getattr(self, name) not in (None, False) else ():
                if getattr(self, other) is not None:
                    reason = f"`{name}` cannot be combined with `{other}`"
                    raise ArgumentError(reason, OMIT_ONE, code="arguments-conflict")
        if self.texts is not None and self.texts < 0:
            reason = f"`texts` cannot be {self.texts}"
            raise ArgumentError(reason, "give 0 or more, or True", code="argument-out-of-range")
        return ParsedValues(
            limits=limits,
            rule=parse_rule(self.canonical),
            equal=parse_equality(self.equal),
            settings=settings_of(self.settings),
            patience=in_seconds(self.patience, "patience"),
            memory=None if self.memory is None else parse_memory(self.memory, "memory"),
        )

    def choose_columns(self, *, by_fields: bool) -> DuplicatesRequest:
        """Fill in the id, and the fields or the text, of a source without such columns."""
        named = [f"`{name}`" for name in FOR_TEXTS if getattr(self, name) not in (None, False)]
        by_shingles = self.by == "shingles"
        request = ColumnRequest(
            source=self.source, against=self.against, id=self.id, text=self.text,
            fields=self.fields, by_fields=by_fields, same=self.same, measure=self.measure,
            for_texts=(*named, *["`by` shingles"] * by_shingles),
        )  # fmt: skip
        chosen = choose_columns(request)
        if chosen is None:
            return self
        self.on_choice(chosen)
        return replace(self, beside=chosen.beside, **chosen.arguments)
