"""The precision, recall and F1 of a result, with the pairs that are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from neardup_solr.arguments import checked
from neardup_solr.errors import counted
from neardup_solr.reports.html.invisibles import show_invisibles
from neardup_solr.reports.html_table import Markup, make_html_table
from neardup_solr.reports.row_table import RowTable
from neardup_solr.sources.pair_files import PAIR
from neardup_solr.verbs.evaluate.id_pairs import IdPair
from neardup_solr.verbs.evaluate.precision import Share

MOST_SHOWN = 10  # missed and false pairs in a notebook


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluation:
    """Precision, recall and F1 of the pairs of a result.

    If precision was estimated from answers, recall and F1 are NaN.

    `found`: pairs in the result; `known`: known pairs, or those answered "same"; `missed`: known
    pairs not in the result; `false`: pairs in the result that are not known, or answered
    "different"; `share`: estimated precision with its interval, or None; `closed`: known pairs
    added by transitivity.
    """

    found: int
    known: int
    missed: tuple[IdPair, ...]
    false: tuple[IdPair, ...]
    share: Share | None = None
    closed: int = 0

    def __repr__(self) -> str:
        return f"<Evaluation: {self.summary}>"

    def _repr_html_(self) -> str:
        sides = [("missed", pair) for pair in self.missed[:MOST_SHOWN]]
        sides += [("false", pair) for pair in self.false[:MOST_SHOWN]]
        rows = [
            (kind, *(Markup(show_invisibles(str(id), is_id=True)) for id in pair))
            for kind, pair in sides
        ]
        table = make_html_table(("", "id", "other_id"), rows) if rows else ""
        more = len(self.missed) + len(self.false) - len(rows)
        note = f"<p>… and {more:,} more: <code>.missed</code>, <code>.false</code></p>"
        return f"<p>{self.summary}</p>{table}{note if more else ''}"

    @property
    def summary(self) -> str:
        """The figures in a sentence."""
        if self.share is not None:
            answers = counted(self.known + len(self.false), "answer")
            return f"precision {self.share} of {self.found:,} found pairs, from {answers}"
        counts = f"{self.right} of {self.known} known pairs found, {self.found} pairs reported"
        shares = f"precision {self.precision:.3f}, recall {self.recall:.3f}, F1 {self.f1:.3f}"
        return f"{counts}: {shares}{say_closed(self.closed)}"

    @property
    def right(self) -> int:
        """Pairs that are found and known."""
        return self.known - len(self.missed)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the missed and the false pairs to a .tsv, .csv, .jsonl or .xlsx file.

        The columns are `wrong` ("missed" or "false"), `id` and `other_id`.

        Raises SourceError if the suffix is unknown or the file cannot be written.
        """
        wrong = {"missed": self.missed, "false": self.false}
        names = ("wrong", *PAIR)
        cells = ((kind, *pair) for kind, pairs in wrong.items() for pair in pairs)
        RowTable((dict(zip(names, row, strict=True)) for row in cells), names).write(Path(path))

    @property
    def precision(self) -> float:
        """Share of the found pairs that are known, 0 to 1. It is 1 if none were found."""
        return divide(self.right, self.found) if self.share is None else self.share.value

    @property
    def recall(self) -> float:
        """Share of the known pairs that were found, 0 to 1. It is 1 if none are known."""
        return divide(self.right, self.known) if self.share is None else math.nan

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        total = self.found + self.known
        return divide(2 * self.right, total) if self.share is None else math.nan


def say_closed(count: int) -> str:
    follow = counted(count, "pair that follows", "pairs that follow")
    return f"; {follow} from known pairs count{'s' * (count == 1)} as known" if count else ""


def divide(part: int, whole: int) -> float:
    """Divide counts of pairs. The share of none is 1."""
    return part / whole if whole else 1.0
