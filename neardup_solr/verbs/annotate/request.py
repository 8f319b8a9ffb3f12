"""The arguments of annotate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup_solr.argument_types import Which
from neardup_solr.checks import require
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.annotate.rate_limit import RateLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateRequest:
    """The arguments of `annotate`, by their names. What may be one or several is a tuple."""

    collection: Collection
    into: Collection | str | None
    which: Which
    query: tuple[str, ...]
    text: tuple[str, ...]
    prefix: str | None
    settings: Settings | Mapping[str, Any] | None
    rate: float
    threads: int
    batch: int
    patience: float | str
    follow: bool
    mark: bool
    remember: str | Path | None
    on_error: OnError | None
    on_progress: OnProgress | None

    @property
    def pace(self) -> RateLimit:
        """Bounds of the rate of writing. Raises ArgumentError if a number is out of range."""
        return RateLimit(rate=self.rate, threads=self.threads, batch=self.batch)

    def require_valid(self) -> None:
        """Refuse arguments that exclude each other, before Solr is asked, by ArgumentError."""
        reason = "`follow` keeps all documents of one collection up to date"
        is_plain = self.into is None and self.which == "needed"
        step = "omit `into` and `which`"
        require(is_plain or not self.follow, reason, step, code="arguments-conflict")
        step = "set both, or use `duplicates` and `mark`"
        reason = "`mark` needs `follow`"
        require(self.follow or not self.mark, reason, step, code="arguments-conflict")
        both = self.mark == (self.remember is not None)
        reason = "`mark` and `remember` must be used together"
        require(both, reason, "give both or neither", code="arguments-conflict")
        is_alone = self.into is None or self.which == "needed"
        reason = f"`which` is {self.which!r}, but `into` is also given"
        require(is_alone, reason, "omit one of them", code="arguments-conflict")
