"""evaluate: precision, recall and F1 of found pairs against known pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from neardup_solr.errors import SourceError
from neardup_solr.records import Pair, natural, ordered
from neardup_solr.sources.pairs import read_pairs


def evaluate(
    found: Iterable[Pair] | str | Path, known: Iterable[tuple[str, str]] | str | Path
) -> Evaluation:
    """Compare the pairs of a report (or of its file) with known pairs (or those of a file).

    The order within a pair does not matter. A file is what `read_pairs` reads; a report may
    have no pairs, a file of known pairs has some.

    Raises SourceError where a file cannot be read.
    """
    known_ids = known_pairs(known) if isinstance(known, str | Path) else known
    found_ids = (
        read_pairs(found)
        if isinstance(found, str | Path)
        else [(pair.id, pair.other_id) for pair in found]
    )
    return evaluate_pairs(found_ids, known_ids)


def known_pairs(path: str | Path) -> list[tuple[str, str]]:
    """The pairs of a file to compare with: what `read_pairs` reads, and at least one.

    Raises SourceError where it cannot be read or has no pair: any report would be complete.
    """
    pairs = read_pairs(path)
    if not pairs:
        raise SourceError(str(path), "holds no pairs", "give a file with two columns of ids")
    return pairs


IdPair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How found pairs compare with known ones; pairs are unordered, each listed once.

    `found` and `known` count pairs; `missed` are known but not found, `false` the other way round.
    """

    found: int
    known: int
    missed: tuple[IdPair, ...]
    false: tuple[IdPair, ...]

    @property
    def right(self) -> int:
        """Pairs that are found and known."""
        return self.known - len(self.missed)

    @property
    def precision(self) -> float:
        """Share of the found pairs that are known, in 0..1; 1 where none were found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the known pairs that were found, in 0..1; 1 where none are known."""
        return self.right / self.known if self.known else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall (van Rijsbergen 1979), in 0..1."""
        total = self.found + self.known
        return 2 * self.right / total if total else 1.0


def evaluate_pairs(found: Iterable[IdPair], known: Iterable[IdPair]) -> Evaluation:
    """Compare found pairs with known pairs; the order within a pair does not matter."""
    found_set = {ordered(*pair) for pair in found}
    known_set = {ordered(*pair) for pair in known}
    return Evaluation(
        found=len(found_set),
        known=len(known_set),
        missed=_sorted(known_set - found_set),
        false=_sorted(found_set - known_set),
    )


def _sorted(pairs: set[IdPair]) -> tuple[IdPair, ...]:
    return tuple(sorted(pairs, key=lambda pair: (natural(pair[0]), natural(pair[1]))))
