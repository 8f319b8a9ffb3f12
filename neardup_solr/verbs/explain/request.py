"""The request of `explain`: its arguments, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any

from neardup_solr.argument_types import Id, MeasureName, OneOrMore
from neardup_solr.checks import require
from neardup_solr.measures import Limits
from neardup_solr.measures.equality import Equality, parse_equality
from neardup_solr.progress import OnProgress
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.sources import SourceLike
from neardup_solr.sources.choice import ColumnRequest, choose_columns, log_choice


@dataclass(frozen=True)
class ExplainRequest:
    """The arguments of `explain`. The columns `beside` the compared ones may tell copies apart."""

    source: Collection | SourceLike
    one: Id
    other: Id
    _: KW_ONLY
    measure: MeasureName = "auto"
    fields: OneOrMore | Mapping[str, str] | None = None
    model: str | Path | None = None
    max_distance: int | None = None
    min_similarity: float | None = None
    same: OneOrMore = ()
    equal: OneOrMore = ()
    answers: str | Path | None = None
    id: str | None = None
    text: OneOrMore = "text"
    settings: Settings | Mapping[str, Any] | None = None
    on_progress: OnProgress | None = None
    beside: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of the two documents, as texts."""
        return str(self.one), str(self.other)

    @property
    def limits(self) -> Limits:
        """The limits that are named."""
        return Limits(max_distance=self.max_distance, min_similarity=self.min_similarity)

    @property
    def equality(self) -> Equality:
        """Rules for parts that have to be equal in both texts."""
        return parse_equality(self.equal)

    def check(self) -> None:
        """Refuse a document and itself. Raises ArgumentError."""
        first, second = self.ids
        step = "give the ids of two different documents"
        require(first != second, f"both ids are {first!r}", step, code="id-invalid")

    @property
    def column_request(self) -> ColumnRequest:
        """The columns that are named, and what others are chosen by."""
        has_distance = self.max_distance is not None
        return ColumnRequest(
            source=self.source, has_two_sides=False, id=self.id, text=self.text,
            fields=self.fields, has_model=self.model is not None, same=self.same,
            measure=self.measure, for_texts=("`max_distance`",) * has_distance,
        )  # fmt: skip

    def choose_columns(self) -> ExplainRequest:
        """Fill in the id, and the fields or the text, of a source without such columns."""
        chosen = choose_columns(self.column_request)
        if chosen is None:
            return self
        log_choice(chosen)
        return replace(self, beside=chosen.beside, **chosen.arguments)
