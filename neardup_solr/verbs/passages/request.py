"""The request of `passages`: its arguments, and the plan by which the documents are read."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from neardup_solr.argument_types import OneOrMore
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import Settings, require_words
from neardup_solr.sources.choice import ColumnRequest
from neardup_solr.sources.source import is_collection
from neardup_solr.verbs.duplicates.plan import RunPlan, make_plan
from neardup_solr.verbs.duplicates.request import DuplicatesRequest

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.request import Compared
else:
    Compared = Any

# Nothing is compared by signatures: they are as small as they can be.
_UNSIGNED = Settings(hashes=1, bands=1, rows=1, signatures=0)


@dataclass(frozen=True)
class PassagesRequest:
    """The arguments of `passages`."""

    source: Compared
    _: KW_ONLY
    against: Compared | None = None
    min_words: int | None = None
    texts: bool = False
    fq: OneOrMore = ()
    id: str | None = None
    text: OneOrMore = "text"
    memory: int | str | None = None
    patience: float | str = "5m"
    on_error: OnError | None = None
    on_progress: OnProgress | None = None

    @property
    def column_request(self) -> ColumnRequest:
        """The columns that are named, and what others are chosen by."""
        return ColumnRequest(
            source=self.source, against=self.against, id=self.id, text=self.text, fields=None,
            measure="words",
        )  # fmt: skip

    def make_plan(self) -> RunPlan:
        """Check the arguments, and plan how the documents are read.

        Raises ArgumentError if a value is not possible.
        """
        require_words(self.min_words)
        sides = (self.source, self.against)
        request = DuplicatesRequest(
            self.source,
            against=self.against,
            measure="words",
            fq=self.fq,
            id=self.id,
            text=self.text,
            settings=None if any(map(is_collection, sides)) else _UNSIGNED,
            memory=self.memory,
            patience=self.patience,
            on_error=self.on_error,
            on_progress=self.on_progress,
        )
        return make_plan(request)
