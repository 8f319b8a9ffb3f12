"""The options --merge and --merge-rule: what they ask for, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup_solr.cli import show
from neardup_solr.records import NOTHING

if TYPE_CHECKING:
    from neardup_solr.progress import OnProgress
    from neardup_solr.verbs.duplicates.merge import Merged
    from neardup_solr.verbs.duplicates.plan import RunPlan
    from neardup_solr.verbs.duplicates.result import Duplicates

MOST_COLUMNS = 5  # whose conflicts are counted in a line


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """Merged records that are asked for: their file, that of their values, the rules by column."""

    files: Mapping[str, Path | None]
    rules: Mapping[str, str]

    @classmethod
    def parse(cls, path: Path | None, words: Sequence[str]) -> MergeOptions:
        """Parse the words of both options, or raise BadParameter or ArgumentError."""
        if path is None and words:
            raise click.BadParameter("--merge-rule needs --merge")
        if path is None:
            return cls({}, NOTHING)
        from neardup_solr.verbs.duplicates.merge_rules import split_rules
        from neardup_solr.verbs.duplicates.merged_files import name_files

        return cls(name_files(path), split_rules(words))

    def check(self, plan: RunPlan, paths: Sequence[Path], outputs: Sequence[Path]) -> None:
        """Refuse files and rules that do not fit the source, before any work is done."""
        if not self.files:
            return
        from neardup_solr.files import check_apart
        from neardup_solr.verbs.duplicates.merged_files import check_rules_of

        for output in outputs:
            check_apart({"`output`": output, "the values of `merge`": self.files["values"]})
        check_rules_of(self.rules, paths, plan.readings[0])

    def merge(self, result: Duplicates, on_progress: OnProgress) -> Merged | None:
        """Merge the records, if that is asked for and nobody has doubts."""
        if not self.files:
            return None
        return result.merge(self.rules, yes=True, on_progress=on_progress)

    def say(self, merged: Merged) -> None:
        """Say where the merged records are, and what became of their conflicts."""
        into = f"{show.counted(merged.merged, 'record')} merged into {merged.clusters:,}"
        values = f"{self.files['values']} has each of their values with its record"
        show.say(f"{into}, in {self.files['merge']} with all others; {values}.")
        said = [show.counted(merged.filled, "empty value filled", "empty values filled")]
        if merged.decided:
            said.append(f"{show.counted(merged.decided, 'conflict')} decided by rules")
        if merged.chosen:
            said.append(f"{show.counted(merged.chosen, 'conflict')} decided by choices in a review")
        if merged.conflicts:
            left = show.counted(sum(merged.conflicts.values()), "conflict")
            ranked = sorted(merged.conflicts, key=lambda name: -merged.conflicts[name])
            counts = [f"{show.one_line(name)} {merged.conflicts[name]:,}" for name in ranked]
            more = ", ..." if len(counts) > MOST_COLUMNS else ""
            columns = f"{', '.join(counts[:MOST_COLUMNS])}{more}"
            said.append(f"{left} left to the kept record ({columns}): --merge-rule decides them")
        show.say(f"{'; '.join(said)}.")
