"""A pair side by side, field by field: how far it agrees, what that says, and which words differ.

A word differs unless the measure takes it for one of the other record's, wherever that stands and
however it is spelt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup_solr.argument_types import PairMeasure
from neardup_solr.measures.frequencies import Frequencies
from neardup_solr.records import as_text
from neardup_solr.settings import Settings
from neardup_solr.text import diff
from neardup_solr.text.diff import Change, Words

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldKind
    from neardup_solr.measures.weights import Evidence

Record = Mapping[str, Any]  # values by field
Pairs = Sequence[Sequence[int]]  # places of words that are the same, -1 for a word of another field
_split = lru_cache(maxsize=1 << 12)(diff.split)  # values of the records of a cluster
CLOSED = 1e-15  # probabilities are no nearer to 0 or 1


class Row(NamedTuple):
    """A row of a pair's table: a field with both values as words, or what else counts.

    `level` says how far the values agree, and `bits` what that adds to the odds of a match, None if
    it is not weighed. `changes` lead from one value to the other, and `same` are the words of both
    that are no difference.
    """

    field: str
    values: tuple[Words, Words] | None = None
    level: str = ""
    bits: float | None = None
    changes: Sequence[Change] = ()
    same: Pairs = ()

    @property
    def runs(self) -> Iterator[Change]:
        """The changes, with the words that are the same apart."""
        places = {first for first, _ in self.same}, {second for _, second in self.same}
        return diff.mark_same(self.changes, places)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable:
    """Makes the tables of pairs that were compared by a `measure`, at least so similar.

    Records are compared by `kinds`, the fields with their kinds; without any by one text, which is
    that of the columns `texts`, a line for each. `frequencies` weigh words, and `settings` shape
    shingles.
    """

    measure: PairMeasure = "words"
    least: float = 0.5
    kinds: Mapping[str, FieldKind] = field(default_factory=dict)
    texts: Sequence[str] = ()
    frequencies: Frequencies | None = None
    settings: Settings | None = None

    def split(self, text: str) -> dict[str, str] | None:
        """Split a text into its columns, None if it has lines that are no column of its own."""
        lines = text.split("\n")
        is_record = len(lines) == len(self.texts) > 1
        return dict(zip(self.texts, lines, strict=True)) if is_record else None

    def list_rows(
        self, records: Sequence[Record], evidence: Sequence[Evidence], similarity: float
    ) -> Iterator[Row]:
        """List the fields of two records, what the measure says of each, and all of it together."""
        kinds = [name for name in self.kinds if name in records[0]]
        start = _find_start(evidence, kinds)
        weighed = dict(zip(kinds, evidence[start:], strict=False))
        yield from map(_make_row, evidence[:start])
        texts = [name for name in self.texts if all(name in record for record in records)]
        same = dict(zip(texts, self._find_same_of(texts, records), strict=True))
        for name in dict.fromkeys((*kinds, *texts, *chain(*records))):
            values = [_split(as_text(record.get(name))) for record in records]
            row = self.compare(name, *values, same=same.get(name, ()))
            if name in weighed:
                _, level, bits = weighed[name]
                row = row._replace(level=level, bits=bits)
                if level.startswith("equal"):
                    row = _ignore_changes(row)
            yield row
        if evidence:
            yield from map(_make_row, evidence[start + len(weighed) :])
            bits = sum(each.bits for each in evidence)
            yield Row("together", None, f"probability {similarity:.3f}", bits)
            inside = min(max(self.least, CLOSED), 1 - CLOSED)
            odds = math.log2(inside / (1 - inside))
            yield Row("threshold", None, f"probability {self.least:g}", odds)

    def compare(self, name: str, words: Words, other: Words, *, same: Pairs | None = None) -> Row:
        """Compare the values of a field, or two texts, of which the `same` words may be known."""
        row = Row(name, (words, other), changes=diff.changes(words.forms, other.forms))
        if not (words.forms and other.forms):  # what is missing is no difference
            return _ignore_changes(row)
        if same is None or self.kinds.get(name) == "text":
            same = self._find_same(words.forms, other.forms)
        return row._replace(same=_select(same, row.changes))

    def _find_same(self, first: Sequence[str], second: Sequence[str]) -> Pairs:
        """Find the words of two normal forms that the measure takes for the same."""
        if self.frequencies is not None:
            from neardup_solr.measures.alignment import stand_ins

            return stand_ins(first, second, self.frequencies)
        is_of_sets = self.measure in ("jaccard", "containment", "estimate")
        if not is_of_sets or self.settings is None:
            return ()
        from neardup_solr.measures.sets import find_shared_words

        return find_shared_words(first, second, self.settings)

    def _find_same_of(self, names: Sequence[str], records: Sequence[Record]) -> Iterator[Pairs]:
        """Find the words that are the same in some columns together, by column."""
        forms = [[_split(as_text(record[name])).forms for name in names] for record in records]
        places = [[(at, place) for at, words in enumerate(side) for place in range(len(words))]
                  for side in forms]  # fmt: skip
        same = self._find_same(*(tuple(chain(*side)) for side in forms))
        pairs = [(*places[0][first], *places[1][second]) for first, second in same]
        for at in range(len(names)):
            yield [
                [first if column == at else -1, second if other == at else -1]
                for column, first, other, second in pairs
                if at in (column, other)
            ]


def _ignore_changes(row: Row) -> Row:
    """Make the row of values that are equal, or of which one is missing, which is no difference."""
    first, second = (slice(0, len(words.forms)) for words in row.values or ())
    return row._replace(changes=[Change("same", first, second)], same=())


def _select(same: Pairs, changes: Sequence[Change]) -> Pairs:
    """Select the pairs of words that a diff calls different on either side."""
    differ = [change for change in changes if change.kind != "equal"]
    first = {at for change in differ for at in range(change.first.start, change.first.stop)}
    second = {at for change in differ for at in range(change.second.start, change.second.stop)}
    return [pair for pair in same if {pair[0]} <= first | {-1} and {pair[1]} <= second | {-1}]


def _find_start(evidence: Sequence[Evidence], names: Sequence[str]) -> int:
    """Find where the evidence of these fields begins, or its end."""
    fields = [each.field for each in evidence]
    starts = range(1, len(fields) - len(names) + 1) if names else ()
    return next((at for at in starts if fields[at : at + len(names)] == names), len(fields))


def _make_row(evidence: Evidence) -> Row:
    return Row(evidence.field or "at first", None, evidence.level, evidence.bits)
