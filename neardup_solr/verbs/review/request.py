"""The request of `review`: its arguments, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.argument_types import MeasureName, OneOrMore, Way
from neardup_solr.checks import listed, require
from neardup_solr.files import paths_of
from neardup_solr.measures import Limits
from neardup_solr.progress import OnError, OnProgress
from neardup_solr.settings import Settings
from neardup_solr.sources.choice import ColumnRequest, choose_columns, log_choice
from neardup_solr.sources.compression import is_compressed
from neardup_solr.verbs.duplicates.request import DuplicatesRequest

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates.request import Compared
else:
    Compared = Any

ANSWERS = ".answers.jsonl"  # behind the name of a source
REACH, REACH_BY_FIELDS = 0.1, 0.499  # below the threshold; few probabilities are about a half


def name_answers(source: Compared) -> str | Path:
    """Name the answers file of a source for which none is named: beside it, if it is a file.

    Raises ArgumentError if it is none.
    """
    paths = [Path(path) for path in paths_of(source) or ()]
    reason, step = "`answers` is missing", "name a file for the answers"
    require(bool(paths) and str(paths[0]) != "-", reason, step, code="argument-missing")
    name = paths[0].name
    if is_compressed(paths[0]):
        name = name.removesuffix(paths[0].suffix)
    return paths[0].with_name(f"{Path(name).stem}{ANSWERS}")


@dataclass(frozen=True)
class ReviewRequest:
    """The arguments of `review`.

    The columns `beside` those that are compared may tell copies apart.
    """

    source: Compared
    _: KW_ONLY
    answers: str | Path  # see `name_answers`
    who: str | None = None
    reach: float | None = None
    measure: MeasureName = "auto"
    fields: OneOrMore | Mapping[str, str] | None = None
    min_similarity: float | None = None
    by: Way | None = None
    against: Compared | None = None
    fq: OneOrMore = ()
    same: OneOrMore = ()
    id: str | None = None
    text: OneOrMore = "text"
    keep: OneOrMore = ()
    settings: Settings | Mapping[str, Any] | None = None
    port: int = 0
    on_error: OnError | None = None
    on_progress: OnProgress | None = None
    on_address: Callable[[str], None] | None = None
    on_ready: Callable[[str], None] | None = None
    beside: tuple[str, ...] = ()

    @property
    def depth(self) -> float:
        """Distance below the threshold down to which pairs are asked about."""
        if self.reach is not None:
            return self.reach
        return REACH if self.fields is None else REACH_BY_FIELDS

    @property
    def limits(self) -> Limits:
        """The limits that are named."""
        return Limits(min_similarity=self.min_similarity)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that a question shows: those that are compared, and those to keep."""
        keep = listed(self.keep)
        if self.fields is None:
            return keep
        from neardup_solr.measures.columns import parse_fields

        return tuple(dict.fromkeys((*parse_fields(self.fields), *keep)))

    @property
    def column_request(self) -> ColumnRequest:
        """The columns that are named, and what others are chosen by."""
        by_shingles = self.by == "shingles"
        return ColumnRequest(
            source=self.source, against=self.against, id=self.id, text=self.text,
            fields=self.fields, same=self.same, measure=self.measure,
            for_texts=("`by` shingles",) * by_shingles,
        )  # fmt: skip

    def choose_columns(self) -> ReviewRequest:
        """Fill in the id, and the fields or the text, of a source without such columns."""
        chosen = choose_columns(self.column_request)
        if chosen is None:
            return self
        log_choice(chosen)
        return replace(self, beside=chosen.beside, **chosen.arguments)

    def compare(self, **others: Any) -> DuplicatesRequest:
        """Make the request to compare the documents, with `others` of its arguments."""
        return DuplicatesRequest(
            self.source, measure=self.measure, min_similarity=self.min_similarity, by=self.by,
            against=self.against, fields=self.fields, fq=self.fq, same=self.same, id=self.id,
            text=self.text, settings=self.settings, **others,
        )  # fmt: skip

    def check(self) -> None:
        """Refuse values that are not possible. Raises ArgumentError."""
        is_share = 0 <= self.depth <= 1
        step = "use 0 to 1, such as 0.1"
        require(is_share, f"`reach` cannot be {self.depth:g}", step, code="argument-out-of-range")
