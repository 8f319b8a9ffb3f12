"""A program as a user writes it: type checkers know all that it gets, and find nothing in it.

tests/test_build.py checks it against the installed wheel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import neardup_solr as nd
from neardup_solr.sources import read_pairs


def compare_a_file(path: str) -> nd.Duplicates:
    """A file without any Solr: choices are texts that type checkers know."""
    source = nd.Source(path, id="ad_id", text=("title", "body"))
    assert_type(nd.duplicates(source, against=source).pairs, tuple[nd.Duplicate, ...])
    found = nd.duplicates(
        path,
        measure="jaccard",
        min_similarity=0.6,
        linkage="complete",
        id="ad_id",
        text=("title", "body"),
        settings={"kind": "chars", "shingle_size": 5},
    )
    assert_type(found, nd.Duplicates)
    kinds: dict[str, nd.types.FieldKind] = {"name": "text", "born": "date"}
    assert_type(len(nd.duplicates(["one text", "other text"], fields=kinds)), int)
    for pair in found:
        assert_type(pair, nd.Duplicate)
        assert_type(pair.similarity, float)
        assert_type(pair.distance, int | None)
    for cluster in found.clusters:
        assert_type(cluster, nd.Cluster)
        canonical: str | int = cluster.canonical  # as the source has it
        assert canonical
    found.write("report.html")
    return found


def work_with_a_collection(ads: nd.Collection) -> list[str]:
    """What verbs give is typed down to the fields of records."""
    summary = nd.index("ads.jsonl", ads, id="ad_id", text=["title", "body"], keep="city")
    assert_type(summary, nd.types.IndexSummary)
    for match in nd.search(ads, id="12", by="bands", same="first_word", max_distance=3):
        assert_type(match, nd.Match)
        assert_type(match.similarity, float)
        assert_type(match.distance, int | None)
    report = nd.report(ads, by="shingles", fq=["city:Tarrow"], later_only=True)
    assert_type(report, nd.Report)
    judged = nd.evaluate("known.tsv", report)
    assert_type(judged, nd.Evaluation)
    assert_type(judged.f1, float)
    assert_type(nd.explain(ads, "12", "13"), nd.types.Explanation)
    assert_type(nd.tune(ads, catch=0.6), nd.types.Tuning)
    assert_type(nd.delete(ads, ["12", "13"]), int)
    return [f"{pair.id} {pair.other_id}" for pair in report.pairs]


def guard(ads: nd.Collection, records: Iterator[dict[str, str]]) -> int:
    """Sources are files, or records that a program has."""
    held = 0
    for decision in nd.gate(records, ads, hold=0.9, exact="reject"):
        assert_type(decision, nd.Decision)
        held += decision.action == "hold"
    return held


def compare_signatures(encoded: str) -> float:
    """Signatures are arrays, and so are what is told from them and its confidence interval."""
    signature = nd.signature.decode(encoded)
    assert_type(signature, NDArray[np.uint32])
    told = nd.signature.estimate_jaccard(signature, signature)
    assert_type(told.low, NDArray[np.float64])
    return float(told.value)


def ids(path: str) -> set[str]:
    """The ids in a file of pairs."""
    known = read_pairs(path)
    assert_type(known, list[tuple[str, str]])
    return {id for pair in known for id in pair}


def main() -> None:
    """Every error is a NeardupError."""
    try:
        ads = nd.connect("http://localhost:8983/solr", "ads", create=True)
        assert_type(ads, nd.Collection)
        print(*work_with_a_collection(ads), sep="\n")
    except nd.NeardupError as error:
        print(error)


if __name__ == "__main__":
    main()
