"""evaluate: precision, recall and F1 of found pairs against known pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr.arguments import Frame, Id, checked, require, shown
from neardup_solr.errors import SourceError
from neardup_solr.records import Duplicate, Pair, natural, ordered
from neardup_solr.reports.rows import write_rows
from neardup_solr.sources.pairs import read_pairs

if TYPE_CHECKING:
    from neardup_solr.verbs.duplicates import Duplicates
    from neardup_solr.verbs.report import Report


IdPair = tuple[str, str]
Pairs = Iterable[Pair | Duplicate | tuple[Id, Id]]


def evaluate(
    found: Report | Duplicates | Pairs | Frame | str | Path, known: Pairs | Frame | str | Path
) -> Evaluation:
    """Compare found pairs with known pairs: precision, recall and F1.

    `found` and `known` are pairs, tuples of two ids, a DataFrame with two columns of ids, or a file
    of them as `read_pairs` reads it; `found` may also be the result of `report` or `duplicates`.
    The order within a pair does not matter. A file of known pairs has to have some.

    Raises SourceError if a file cannot be read, ArgumentError if something is not a pair.
    """
    known_ids = known_pairs(known) if isinstance(known, str | Path) else id_pairs("known", known)
    if isinstance(found, str | Path):
        return evaluate_pairs(read_pairs(found), known_ids)
    return evaluate_pairs(id_pairs("found", getattr(found, "pairs", found)), known_ids)


def id_pairs(name: str, pairs: Any) -> Iterator[IdPair]:
    """The ids of pairs as texts; raises ArgumentError if something is not a pair."""
    pairs = pairs.to_numpy().tolist() if isinstance(pairs, Frame) else pairs
    step = f"give `{name}` as pairs, tuples of two ids, or a file of them"
    require(isinstance(pairs, Iterable), f"`{name}` cannot be {shown(pairs)}", step)
    for one in pairs:
        ids = one if isinstance(one, tuple | list) else _ids_of(one)
        are_ids = len(ids) == 2 and all(isinstance(id, str | Integral) for id in ids)
        require(are_ids, f"{str(one)[:60]!r} in `{name}` is not a pair of two ids", step)
        yield str(ids[0]), str(ids[1])


def _ids_of(pair: Any) -> tuple[Any, ...]:
    return (getattr(pair, "id", None), getattr(pair, "other_id", None))


def known_pairs(path: str | Path) -> list[tuple[str, str]]:
    """The pairs of a file, as `read_pairs` reads it: at least one.

    Raises SourceError if it cannot be read, or has no pair: any report would be complete.
    """
    pairs = read_pairs(path)
    if not pairs:
        raise SourceError(str(path), "has no pairs", "give a file with two columns of ids")
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How found pairs compare with known ones; the order within a pair does not matter.

    `found` and `known` count pairs; `missed` are known but not found, `false` found but not known.
    """

    found: int
    known: int
    missed: tuple[IdPair, ...]
    false: tuple[IdPair, ...]

    @property
    def right(self) -> int:
        """Pairs that are found and known."""
        return self.known - len(self.missed)

    @checked
    def write(self, path: str | Path) -> None:
        """Write the missed and the false pairs to a .tsv, .csv or .jsonl file.

        The columns are wrong ("missed" or "false"), id and other_id. The file is written
        completely or not at all.

        Raises SourceError if the suffix is not known or the file cannot be written.
        """
        wrong = {"missed": self.missed, "false": self.false}
        rows = [
            {"wrong": kind, "id": id, "other_id": other_id}
            for kind, pairs in wrong.items()
            for id, other_id in pairs
        ]
        write_rows(rows, ("wrong", "id", "other_id"), Path(path))

    @property
    def precision(self) -> float:
        """Share of the found pairs that are known, in 0..1; 1 if none were found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of the known pairs that were found, in 0..1; 1 if none are known."""
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
