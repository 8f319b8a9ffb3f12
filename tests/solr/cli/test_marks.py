"""The command `neardup duplicates` with marks, filters and fields that have to be equal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.solr.cli.conftest import Run

ROWS = """id,text,tenant
1,one two three four five six,a
2,one two three four five,a
3,one two three four five six,b
4,one two three four five,b
5,one two three four five six,
"""


def test_marking_prints_a_summary(run: Run, solr: nd.Collection, tmp_path: Path) -> None:
    """No pairs unless they are asked for; the queries it ends with hide what was marked."""
    source = tmp_path / "a.csv"
    source.write_text(ROWS)
    run("index", str(source), "--keep", "tenant")
    marked = run("duplicates", "--same", "tenant", "--mark")
    assert marked.returncode == 0
    assert marked.stdout == ""
    assert marked.stderr.splitlines() == [
        "2 near-duplicate pairs in 2 clusters among 5 documents; 2 pairs compared.",
        "Incomplete: documents without tenant: 1, which were not compared.",
        "Marked 4 documents of 2 clusters.",
        "Queries without near-duplicates: fq=-neardup_canonical:0",
        "With one document of each cluster:"
        " fq={!collapse field=neardup_cluster nullPolicy=expand min=neardup_rank}",
    ]
    for query in re.findall(r"fq=(.*)", marked.stderr):
        assert list(solr.ids([query])) == ["1", "3", "5"]
    with_pairs = run("duplicates", "--same", "tenant", "--mark", "--format", "tsv")
    assert len(with_pairs.stdout.splitlines()) == 3
    assert "All 4 documents of 2 clusters are already marked.\nQueries" in with_pairs.stderr


def test_a_filter_limits_marking_and_undoing(run: Run, tmp_path: Path) -> None:
    """Of others no mark is touched; a file has no filter."""
    source = tmp_path / "a.csv"
    source.write_text(ROWS)
    run("index", str(source), "--keep", "tenant")
    run("duplicates", "--same", "tenant", "--mark")
    of_a = run("duplicates", "--fq", "tenant:a", "--min-similarity", "0.99", "--mark")
    assert "Marked 0 documents of 0 clusters; 2 cleared.\n" in of_a.stderr
    undone = run("duplicates", "--undo", "--fq", "tenant:b")
    assert undone.stderr == "Removed the marks of 2 documents; nothing else was changed.\n"
    refused = run("duplicates", str(source), "--fq", "tenant:a")
    assert refused.returncode == 2
    assert refused.stderr.endswith("--fq needs a collection; omit it\n")


def test_a_filter_that_tears_clusters_is_told(
    run: Run, solr: nd.Collection, tmp_path: Path
) -> None:
    """Clusters of which only a part is marked anew are counted, with what marks all of them."""
    source = tmp_path / "a.csv"
    source.write_text(ROWS)
    run("index", str(source), "--keep", "tenant")
    run("duplicates", "--mark")
    of_a = ("duplicates", "--fq", "tenant:a", "--mark")
    torn = (
        "1 cluster from an earlier run {} split: documents that do not match --fq keep their old"
        f" marks; to re-mark everything: neardup duplicates {solr.place} --mark\n"
    )
    assert torn.format("would be") in run(*of_a, "--dry-run").stderr
    assert torn.format("would be") in run(*of_a[:3], "--undo", "--dry-run").stderr
    assert torn.format("is") in run(*of_a).stderr
    assert "torn" not in run("duplicates", "--mark").stderr
    assert "torn" not in run("duplicates", "--undo").stderr


def test_templates_are_marked_only_with_yes(run: Run, solr: nd.Collection, tmp_path: Path) -> None:
    """Alerts that differ in host and percentage are no copies: nothing is marked unasked."""
    source = tmp_path / "alerts.csv"
    rows = [f"{n},disk usage on web-{n} is {70 + n} percent of the volume var" for n in range(20)]
    source.write_text("id,text\n" + "\n".join(rows) + "\n")
    run("index", str(source))
    command = ("duplicates", "--measure", "words", "--mark")
    refused = run(*command)
    assert refused.returncode == 3
    assert "share “disk usage on … is … percent of the volume var”" in refused.stderr
    assert "nothing was marked; add --yes" in refused.stderr
    assert solr.count(["neardup_cluster:[* TO *]"]) == 0
    found = nd.duplicates(solr, measure="words")
    same = found.at(found.min_similarity)
    for clusters in (found, found.clusters, found.clusters[:1], same.clusters):
        with pytest.raises(nd.errors.TemplateError):
            nd.mark(solr, clusters)
    assert nd.mark(solr, found, dry_run=True).marked == 20
    assert run(*command, "--yes").returncode == 0
    assert solr.count(["neardup_cluster:[* TO *]"]) == 20
