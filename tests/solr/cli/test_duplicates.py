"""The command `neardup duplicates`."""

import signal
import subprocess
import time
from pathlib import Path

import orjson

import neardup_solr as nd
from tests.command import NEARDUP
from tests.solr.cli.conftest import Run

LINES = "1 one two three four five six\n2 one two three four five seven\n3 others altogether\n"


def test_file_and_collection_print_the_same(run: Run, tmp_path: Path) -> None:
    """A file needs no Solr; a collection gives the same rows."""
    source = tmp_path / "a.txt"
    source.write_text(LINES)
    without = run(
        "duplicates", str(source), "--by", "bands", NEARDUP_SOLR_URL="http://127.0.0.1:9/solr"
    )
    assert without.returncode == 0
    assert without.stdout == (
        "id\tother_id\tsimilarity\tdistance\tmeasure\tcluster\trelation\n"
        "1\t2\t0.8333\t1\twords\t1\tedited\n"
    )
    assert without.stderr == (
        "a.txt: the first word of each line is its id\n"
        "1 near-duplicate pair in 1 cluster among 3 documents; 1 pair with a band in common"
        " compared.\n"
    )
    run("index", str(source))
    assert run("duplicates", "--by", "bands").stdout == without.stdout


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
    """A wrong limit or file is told in one line before any work."""
    for words, code in (
        (["--min-similarity", "2"], 2),
        (["--memory", "3x"], 2),
        (["-o", "x.doc"], 2),
        ([str(tmp_path / "missing.csv")], 3),
        (["jobs"], 3),
    ):
        failed = run("duplicates", *words)
        assert failed.returncode == code
        assert len(failed.stderr.splitlines()) == 1
    assert failed.stderr == (
        "neardup: jobs: there is no such file or folder; check the path, or name a collection with:"
        " neardup duplicates -c jobs\n"
    )


def test_a_page_and_a_table_by_suffix(run: Run, tmp_path: Path) -> None:
    """A page to look at and a Parquet table, made without a Solr; nothing unfinished stays."""
    source = tmp_path / "a.txt"
    source.write_text(LINES)
    for name in ("page.html", "pairs.parquet"):
        made = run("duplicates", str(source), "-o", str(tmp_path / name))
        assert made.returncode == 0, made.stderr
        assert made.stderr.startswith(
            f"a.txt: the first word of each line is its id\nWrote {tmp_path / name}."
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.txt",
        "page.html",
        "pairs.parquet",
    ]
    command = f"neardup duplicates {source} -o {tmp_path / 'page.html'}"
    assert f'"command":"{command}"' in (tmp_path / "page.html").read_text()


def test_new_against_old(run: Run, tmp_path: Path) -> None:
    """A file against another file: the id of the first comes first."""
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text(LINES)
    new.write_text("9 one two three four five six\n")
    found = run("duplicates", str(new), "--against", str(old))
    assert [line.split("\t")[:2] for line in found.stdout.splitlines()[1:]] == [
        ["9", "1"],
        ["9", "2"],
    ]


def test_a_mistyped_other_side_is_told_as_one(
    run: Run, solr: nd.Collection, tmp_path: Path
) -> None:
    """It may be meant as a folder, as SOURCE may; nothing is read for it."""
    source = tmp_path / "a.txt"
    source.write_text(LINES)
    server = solr.url.rpartition("/")[0]
    made = run("duplicates", str(source), "--against", "parts_old", NEARDUP_SOLR_URL=server)
    assert (made.returncode, made.stderr) == (
        3,
        "neardup: parts_old: there is no such file or folder, and no collection with that name;"
        " check the path, or the name\n",
    )


def test_marks_come_and_go(run: Run, tmp_path: Path) -> None:
    """Marking says what it did, undoing takes it away; dry runs and second runs change nothing."""
    source = tmp_path / "a.txt"
    source.write_text(LINES)
    run("index", str(source))
    said = [
        run("duplicates", *words).stderr.partition("Queries without")[0].splitlines()[-1]
        for words in (
            ["--mark", "--dry-run"],
            ["--mark"],
            ["--mark"],
            ["--undo", "--dry-run"],
            ["--undo"],
            ["--undo"],
        )
    ]
    assert said == [
        "Would mark 2 documents of 1 cluster (dry run: nothing was changed).",
        "Marked 2 documents of 1 cluster.",
        "All 2 documents of 1 cluster are already marked.",
        "Would remove the marks of 2 documents (dry run: nothing was changed).",
        "Removed the marks of 2 documents; nothing else was changed.",
        "There are no marks to remove.",
    ]


def test_what_does_not_go_together(run: Run, tmp_path: Path) -> None:
    """Wrong usage ends with 2 and a reason."""
    for words, reason in (
        (["--mark", "--undo"], "either --mark or --undo"),
        (["--dry-run"], "--dry-run needs"),
        (["x.csv", "--mark"], "leave SOURCE and --against out"),
        (
            ["--memory", "3x"],
            "neardup: --memory 3x is not a valid size; give one such as 512M or 4G\n",
        ),
        (["--measure", "nope"], "'--measure': 'nope'; choose one of auto, words,"),
        (["--cap", "1"], "neardup: --cap cannot be 1; give 2 or more"),
    ):
        failed = run("duplicates", *words, COLUMNS="200")
        assert failed.returncode == 2
        assert reason in failed.stderr


def test_an_interrupt_leaves_the_old_report_and_a_checkpoint(run: Run, tmp_path: Path) -> None:
    """A report that was there stays whole; the one begun is not there, only what was compared."""
    source, report = tmp_path / "a.txt", tmp_path / "pairs.tsv"
    source.write_text("".join(f"{n} one two three four five {n % 7}\n" for n in range(1200)))
    report.write_text("the old report")
    command = [*NEARDUP, "duplicates", str(source), "--by", "all", "-o", str(report)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    unfinished = tmp_path / "pairs.tsv.unfinished"
    deadline = time.monotonic() + 60
    while not (unfinished.exists() and unfinished.stat().st_size > 10_000):
        assert running.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert said.splitlines()[-2:] == [
        f"Finished comparisons are in {unfinished}; run this again to continue.",
        "neardup: interrupted",
    ]
    assert report.read_text() == "the old report"
    again = run("duplicates", str(source), "--by", "all", "-o", str(report))
    assert again.returncode == 0
    assert not unfinished.exists()
    assert report.read_text().startswith("id\tother_id")
