"""evaluate: precision, recall and F1 of found pairs against known pairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from neardup_solr.edges.report import read_pairs
from neardup_solr.pure.evaluate import Evaluation, evaluate_pairs
from neardup_solr.pure.model import Pair


def evaluate(
    found: Iterable[Pair] | str | Path, known: Iterable[tuple[str, str]] | str | Path
) -> Evaluation:
    """Compare the pairs of a report (or of its file) with known pairs (or those of a file).

    The order within a pair does not matter. A file is what `read_pairs` reads.

    Raises SourceError where a file cannot be read.
    """
    found_ids = (
        read_pairs(found)
        if isinstance(found, str | Path)
        else [(pair.id, pair.other_id) for pair in found]
    )
    known_ids = read_pairs(known) if isinstance(known, str | Path) else known
    return evaluate_pairs(found_ids, known_ids)
