"""The function `nd.evaluate`: its signature, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.api.decorator import documented
from neardup_solr.argument_types import Frame

if TYPE_CHECKING:
    from neardup_solr import Evaluation
    from neardup_solr.verbs.evaluate.id_pairs import KnownPairs, PairResult, SomePairs


@documented
def evaluate(
    known: KnownPairs,
    found: PairResult | SomePairs | Frame | str | Path,
    *,
    ordered: bool | None = None,
    as_given: bool = False,
) -> Evaluation:
    """Compare the pairs of a result with known pairs: precision, recall and F1.

    Example: `nd.evaluate("known.tsv", nd.duplicates("listings.csv")).f1`

    Each argument is a list of id pairs, or a table or file with the columns id and other_id (or
    only two columns); `found` may also be the result of `report` or `duplicates`. Known pairs are
    completed by transitivity: a–b and a–c imply b–c. If `ordered`, the first id of each implied
    pair is from the first source. `ordered` defaults to True for results with `against`.

    If `known` has a column named answer ("same", "different" or "unsure"; see `Duplicates.sample`),
    precision is estimated, with a 95 % confidence interval. `found` must then have similarities.

    Raises SourceError if a file cannot be read or has no known pairs; ArgumentError if there are no
    known pairs, a pair or an answer is invalid, the arguments seem swapped, or no answered pair is
    in `found`.
    """
    from neardup_solr.verbs.evaluate import evaluate_result

    return evaluate_result(known, found, ordered=ordered, as_given=as_given)
