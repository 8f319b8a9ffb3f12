"""evaluate: precision, recall and F1 of found pairs against known pairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from neardup_solr.edges.pairs import read_pairs
from neardup_solr.pure.errors import SourceError
from neardup_solr.pure.grouping.evaluate import Evaluation, evaluate_pairs
from neardup_solr.pure.model import Pair


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
