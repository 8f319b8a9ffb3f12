"""A program as a user writes it: type checkers know all that it gets, and find nothing in it.

tests/test_build.py checks it against the installed wheel.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import neardup_solr as nd


def work_with_a_collection(books: nd.Collection) -> list[str]:
    """What verbs give is typed down to the fields of records."""
    settings = nd.Settings(kind="chars", shingle_size=5)
    assert_type(settings.fingerprint, str)
    assert_type(settings.fields, frozenset[str])
    for match in nd.search(books, id="12"):
        assert_type(match, nd.Match)
        assert_type(match.similarity, float)
        assert_type(match.distance, int | None)
    report = nd.report(books)
    assert_type(report, nd.Report)
    judged = nd.evaluate(report.pairs, "known.tsv")
    assert_type(judged, nd.Evaluation)
    assert_type(judged.f1, float)
    return [f"{pair.id} {pair.other_id}" for pair in report.pairs]


def compare_signatures(encoded: str) -> float:
    """Signatures are arrays, and so are what is told from them and its confidence interval."""
    signature = nd.decode(encoded)
    assert_type(signature, NDArray[np.uint32])
    told = nd.jaccard(signature, signature)
    assert_type(told.low, NDArray[np.float64])
    return float(told.value)


def ids(path: str) -> set[str]:
    """The ids in a file of pairs."""
    known = nd.read_pairs(path)
    assert_type(known, list[tuple[str, str]])
    return {id for pair in known for id in pair}


def main() -> None:
    """Every error is a NeardupError."""
    try:
        books = nd.connect("http://localhost:8983/solr")
        assert_type(books, nd.Collection)
        print(*work_with_a_collection(books), sep="\n")
    except nd.NeardupError as error:
        print(error)


if __name__ == "__main__":
    main()
