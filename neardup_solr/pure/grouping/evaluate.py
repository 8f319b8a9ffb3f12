"""Precision, recall and F1 of found pairs against known pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from neardup_solr.pure.ids import natural, ordered

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
