"""What `duplicates` is asked: checked, and resolved once, before any work begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from neardup_solr.arguments import (
    Linkage,
    MeasureName,
    OnRepeatOrKeep,
    Way,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.clusters import ARRIVAL, LENGTH, LINKAGES, Rule, parse_rule
from neardup_solr.files import check_place, is_inside
from neardup_solr.measures import Limits, Measure, measure_named, measure_of
from neardup_solr.progress import LOG, SILENT, Watching
from neardup_solr.settings import DEFAULT_SETTINGS, Settings
from neardup_solr.sources import Reading, paths_of
from neardup_solr.verbs.duplicates.inputs import Compared

WAYS: tuple[Way, ...] = get_args(Way)
# Few documents are all compared with each other, if that takes about a second: bands miss some
# pairs, and many pairs of short texts.
FEW = 2_000
LITTLE = 10**9  # documents × characters of their texts
ALIGNING = 10  # times as slow as other measures
TWICE = "compare the first one with itself, then what is left of it with the other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What makes two documents near-duplicates, what is read, and how the work is done.

    `memory` is in bytes. `same` and `keep` name columns, and `readings` read those of both, of
    either side.
    Raises ArgumentError if a value is not possible, or if two of them do not go together.
    """

    measure: MeasureName = "words"
    limits: Limits = field(default_factory=Limits)
    by: Way | None = None
    cap: int | None = None
    within: bool = False
    mutual_best: bool = False
    linkage: Linkage = "single"
    canonical: str = "first"
    fq: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    readings: tuple[Reading, Reading] = (Reading(), Reading())
    settings: Settings = DEFAULT_SETTINGS
    on_repeat: OnRepeatOrKeep = "keep"
    texts: bool | int | None = None
    limit: int | None = None
    memory: int | None = None
    spill: Path | None = None
    checkpoint: Path | None = None
    watching: Watching = SILENT

    def __post_init__(self) -> None:
        measure = measure_of(self.measure, self.limits)  # checks them
        if self.by is not None:
            require_choice("by", self.by, WAYS)
        reason = f"`by` shingles does not go with the measure {self.measure}"
        step = 'take the `measure` "containment" or "jaccard", or leave `by` out'
        require(self.by != "shingles" or measure.counts_shingles, reason, step)
        require(self.cap is None or self.cap > 1, f"`cap` cannot be {self.cap}", "give 2 or more")
        is_capped = self.by == "all" and self.cap is not None
        require(
            not is_capped, "`cap` is not for `by` all, which compares every pair", "leave it out"
        )
        both = self.mutual_best and self.within
        require(not both, "`mutual_best` is for pairs across the two sides", "leave `within` out")
        is_count = self.texts is None or self.texts >= 0
        require(is_count, f"`texts` cannot be {self.texts}", "give 0 or more, or True")
        require_choice("linkage", self.linkage, LINKAGES)
        parse_rule(self.canonical)
        require_positive(limit=self.limit)
        if self.memory is not None:
            reason = f"`memory` cannot be {self.memory:,}, which is less than 1 MB"
            require(self.memory >= 1 << 20, reason, 'give more, such as "64M"')

    @property
    def compared_by(self) -> Measure:
        """The measure."""
        return measure_named(self.measure)

    @property
    def rule(self) -> Rule:
        """The rule for the canonical document."""
        return parse_rule(self.canonical)

    def way(self, documents: int, fits: Callable[[int], bool]) -> Way:
        """Choose how the candidates among so many documents are found. See `way_of`."""
        return self.by or way_of(self.compared_by, documents, fits)

    @property
    def needs_texts(self) -> bool:
        """True if texts have to be read to compare documents."""
        return self.compared_by.needs_texts or self.by == "words"

    @property
    def needs_sets(self) -> bool:
        """True if the shingles of all documents are needed, if they are many."""
        return (self.by or self.compared_by.way) == "shingles"


def columns_of_rule(text: str) -> tuple[str, ...]:
    """The columns of a source that a rule for the canonical document reads."""
    needed = parse_rule(text).needs
    return tuple(name for name in needed if name not in (LENGTH, ARRIVAL))


def way_of(measure: Measure, documents: int, fits: Callable[[int], bool]) -> Way:
    """Choose how candidates are found among so many documents.

    `fits` tells whether their texts have at most so many characters together.
    """
    slow = ALIGNING if measure.needs_frequencies else 1
    most = LITTLE // slow // max(documents, 1)
    return "all" if measure.needs_texts and documents <= FEW and fits(most) else measure.way


def warn_of_bands(measure: MeasureName) -> None:
    """Log that candidates by bands are few of those that a measure looks for, if they are."""
    if measure_named(measure).way == "shingles":
        LOG.warning("by bands most excerpts of longer texts are missed; by shingles they are found")


def check_sides(against: Compared | None, *, within: bool, mutual_best: bool) -> None:
    """Refuse what needs two sides if there is one, by ArgumentError."""
    across = against is not None or not (within or mutual_best)
    require(across, "there is only one side to compare", "name the other by `against`")


def check_remembered(
    source: Compared | None, remember: str | Path | None, against: Compared | None, *, full: bool
) -> None:
    """Refuse a file that could not be written, and what does not go with it, before any work."""
    require(remember is not None or not full, "`full` goes with `remember`", "name a file by that")
    if remember is not None:
        require(against is None, "`remember` is for one source", "leave it or `against` out")
        check_place(Path(remember))
        for path in paths_of(source) or ():
            is_read = is_inside(Path(remember), Path(path))
            require(not is_read, "`remember` lies in the folder that is read", "name another place")
