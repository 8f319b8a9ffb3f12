"""The command `neardup duplicates`."""

from pathlib import Path

import orjson

from tests.cli.conftest import Run

LINES = "1 one two three four five six\n2 one two three four five seven\n3 others altogether\n"


def test_file_and_collection_print_the_same(run: Run, tmp_path: Path) -> None:
    """A file needs no Solr; a collection gives the same rows."""
    source = tmp_path / "a.txt"
    source.write_text(LINES)
    without = run("duplicates", str(source), NEARDUP_SOLR_URL="http://127.0.0.1:9/solr")
    assert without.returncode == 0
    assert without.stdout == (
        "id\tother_id\tsimilarity\tdistance\tmeasure\tcluster\n1\t2\t0.8333\t1\twords\t1\n"
    )
    assert without.stderr == (
        "1 near-duplicate pair in 1 cluster among 3 documents; 1 pair compared.\n"
    )
    run("index", str(source))
    assert run("duplicates").stdout == without.stdout


def test_output_by_suffix(run: Run, tmp_path: Path) -> None:
    """Estimates have no distance; JSON lines keep that as null."""
    source, output = tmp_path / "a.txt", tmp_path / "pairs.jsonl"
    source.write_text(LINES)
    made = run("duplicates", str(source), "--measure", "estimate", "-o", str(output))
    assert made.returncode == 0
    [row] = [orjson.loads(line) for line in output.read_text().splitlines()]
    assert (row["id"], row["other_id"], row["distance"]) == ("1", "2", None)
    assert row["measure"] == "estimate"


def test_mistakes_are_one_line(run: Run, tmp_path: Path) -> None:
    """A wrong measure, limit or file is told in one line before any work."""
    for words in (["--measure", "nope"], ["--min-similarity", "2"], ["--cap", "1"],
                  ["-o", "x.doc"], [str(tmp_path / "missing.csv")]):  # fmt: skip
        failed = run("duplicates", *words)
        assert failed.returncode == 1
        assert len(failed.stderr.splitlines()) == 1
