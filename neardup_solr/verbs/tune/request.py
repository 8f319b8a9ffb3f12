"""The request of `tune`: its arguments, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.argument_types import Frame, Id, MeasureName, OneOrMore, Way
from neardup_solr.checks import require
from neardup_solr.errors import ArgumentError
from neardup_solr.minhash import band_plans
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.sources.choice import ColumnRequest, choose_columns, log_choice

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.request import Compared
else:
    Compared = Any

NAME_ANSWERS = "name the answer file with `answers`"


@dataclass(frozen=True)
class TuneRequest:
    """The arguments of `tune`: of bands, or of a model if `answers` are named."""

    source: Compared
    _: KW_ONLY
    answers: str | Path | None = None
    fields: OneOrMore | Mapping[str, str] | None = None
    measure: MeasureName = "auto"
    by: Way | None = None
    against: Compared | None = None
    output: str | Path | None = None
    catch: float = 0.5
    miss: float = 0.01
    avoid: float = 0.03
    load: float = 0.001
    hashes: int | None = None
    sample: int = 5_000
    seed: int = 1
    known: Sequence[tuple[Id, Id]] | str | Path | Frame | None = None
    id: str | None = None
    text: OneOrMore = "text"
    settings: Settings | Mapping[str, Any] | None = None
    patience: float | str = "5m"
    on_error: OnError | None = None
    on_progress: OnProgress | None = None

    @property
    def demand(self) -> band_plans.Demand:
        """Similarities to catch and to avoid. Raises ArgumentError if one is no share."""
        return band_plans.Demand(catch=self.catch, miss=self.miss, avoid=self.avoid, load=self.load)

    @property
    def column_request(self) -> ColumnRequest:
        """The columns that are named, and what others are chosen by."""
        by_shingles = self.by == "shingles"
        return ColumnRequest(
            source=self.source, against=self.against, id=self.id, text=self.text,
            fields=self.fields, by_fields=self.answers is not None, measure=self.measure,
            for_texts=("`by` shingles",) * by_shingles,
        )  # fmt: skip

    def choose_columns(self) -> TuneRequest:
        """Fill in the id and the text, or the fields for a model, of a source without a text."""
        chosen = choose_columns(self.column_request)
        if chosen is None:
            return self
        log_choice(chosen)
        return replace(self, **chosen.arguments)

    def check(self) -> None:
        """Refuse values that are not possible, or do not go together. Raises ArgumentError."""
        if self.answers is not None:
            step = "omit one of them"
            reason = "`known` cannot be combined with `answers`"
            require(self.known is None, reason, step, code="arguments-conflict")
            return
        of_model = (self.fields, self.against, self.by, self.output)
        if any(value is not None for value in of_model):
            reason = "`fields`, `by`, `against` and `output` require `answers`"
            raise ArgumentError(reason, NAME_ANSWERS, code="arguments-conflict")
        _ = self.demand
        reason, hashes = f"`sample` cannot be {self.sample}", self.hashes
        require(self.sample > 1, reason, "give 2 or more documents", code="argument-out-of-range")
        fits = hashes is None or 1 <= hashes <= band_plans.MOST_HASHES
        step = f"give 1 to {band_plans.MOST_HASHES:,} (default: 128)"
        require(fits, f"`hashes` cannot be {hashes}", step, code="argument-out-of-range")
