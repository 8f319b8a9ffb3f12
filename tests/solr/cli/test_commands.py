"""The command as a person meets it: what it prints, and its exit codes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import NEARDUP
from tests.faults.scripted import Answer, answering
from tests.solr import api
from tests.solr.cli.conftest import Run

NOBODY = "http://127.0.0.1:9/solr"


def test_index_search_report_evaluate_delete(run: Run, listings: Path, tmp_path: Path) -> None:
    """The main path, each command once."""
    indexed = run("index", str(listings), "--keep", "city")
    assert indexed.returncode == 0
    assert "Read 4 records = 4 indexed + 0 repeated + 0 failed" in indexed.stderr

    found = run("search", "--id", "1", "--max-distance", "2")
    assert found.stdout.splitlines() == [
        "id\tdistance\tsimilarity\tshared\ttext",
        "2\t1\t0.8333\t3\t'Blue Door Cafe' 12 Harbour St.",
    ]  # fmt: skip

    output = tmp_path / "pairs.tsv"
    reported = run("report", "--max-distance", "2", "-o", str(output))
    assert reported.returncode == 0
    assert "1 near-duplicate pair among 4 documents" in reported.stderr
    assert output.read_text().splitlines()[1:] == ["1\t2\t1\t0.8333"]

    known = tmp_path / "known.tsv"
    known.write_text("1\t2\n3\t4\n")
    for how in ([str(output)], ["--max-distance", "2"]):
        evaluated = run("evaluate", str(known), *how)
        assert evaluated.stdout.splitlines() == [
            "1 of 2 known pairs found, 1 pairs reported: precision 1.000, recall 0.500, F1 0.667",
            "missed (1): 3 – 4",
        ]

    deleted = run("delete", "1", "4")
    assert (deleted.returncode, deleted.stderr) == (0, "2 documents deleted.\n")
    deleted = run("delete", "1", "3", "4")
    said = "1 document deleted; 2 ids were not found.\n"
    assert (deleted.returncode, deleted.stderr) == (0, said)


def test_search_by_text_file_and_stdin(run: Run, listings: Path, tmp_path: Path) -> None:
    """A text can come from the command line, a file or a pipe."""
    run("index", str(listings))
    text = "Blue Door Cafe 12 Harbour Street"
    file = tmp_path / "query.txt"
    file.write_text(text)
    answers = [
        run("search", "--text", text).stdout,
        run("search", "--text", "-", input=text).stdout,
    ]
    assert answers[0].splitlines()[1].startswith("1\t0\t1.0000\t")
    assert len(set(answers)) == 1


def test_index_from_stdin(run: Run, solr: nd.Collection) -> None:
    """Lines from a pipe are `id text`."""
    indexed = run("index", "-", input="1 one two\n2 three four\n")
    assert indexed.returncode == 0
    assert solr.count() == 2


def test_failures_are_located_counted_and_the_exit_code(run: Run, tmp_path: Path) -> None:
    """A bad record is a line with its place; the rest is indexed; the exit code tells."""
    source = tmp_path / "a.jsonl"
    source.write_text('{"id": 1, "text": "a"}\n{"id": 2}\n{"id": 3, "text": "b"}\n')
    indexed = run("index", str(source))
    assert indexed.returncode == 1
    assert indexed.stderr.splitlines()[0].startswith("a.jsonl, line 2 (id '2'): no text")
    assert "Read 3 records = 2 indexed + 0 repeated + 1 failed" in indexed.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["index", "missing.csv"], "missing.csv: there is no such file or folder; check the path"),
        (["search", "--id", "nope"], "there is no document with the id 'nope'"),
        (["report"], "has no documents; index some: neardup index FILE"),
        (["report", "-o", "x.doc"], "there is no report format for the suffix '.doc'"),
        (
            ["evaluate", "missing.tsv"],
            "missing.tsv: there is no such file or folder; check the path",
        ),
    ],
)
def test_errors_are_one_line_with_a_next_step(run: Run, words: list[str], line: str) -> None:
    """A mistake gives one line on standard error, its exit code, and no traceback."""
    failed = run(*words, input="")
    assert failed.returncode == (2 if "x.doc" in words else 3)
    assert failed.stderr.startswith("neardup: ")
    assert line in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stdout == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["report", "--min-similarity", "2"], "--min-similarity cannot be 2; for 2 % give 0.02"),
        (
            ["--ca", "x.pem", "report", "--min-similarity", "40"],
            "--min-similarity cannot be 40; for 40 % give 0.4",
        ),
        (["index", "-", "--hashes", "10"], "42 bands of 3 rows need 126 hashes, but there are 10"),
        (
            ["index", "-", "--fields=-content_ng,content_sg"],
            "only some of the --fields have a minus sign; use it",
        ),
        (["index", "-", "--fields", "contents"], "there is no field contents; choose from content"),
        (["init", "-c", "other"], "but --collection is 'other'; give the address without a"),
    ],
)
def test_values_that_cannot_be_are_one_line_and_wrong_usage(
    run: Run, words: list[str], line: str
) -> None:
    """A value that no option can have gives one line that names the option, and exit code 2."""
    failed = run(*words, input="")
    assert failed.returncode == 2
    assert failed.stderr.startswith("neardup: ")
    assert line in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert failed.stdout == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["report", "--by", "words"], "'--by': 'words'; choose one of shingles, bands,"),
        (["search", "--text", "x", "--format", "xml"], "'--format': 'xml'; choose one of table,"),
        (["report", "--format", "xml"], "'--format': 'xml'; choose one of table, tsv, csv,"),
    ],
)
def test_choices_are_checked_before_a_solr_is_asked(run: Run, words: list[str], line: str) -> None:
    """What is none of the choices is wrong usage, and the choices are listed."""
    failed = run(*words, "--solr", NOBODY, COLUMNS="200")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert line in failed.stderr
    assert "127.0.0.1" not in failed.stderr


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["index", "missing.csv"], 3, "missing.csv: there is no such file or folder"),
        (["index", "{folder}/listings.csv", "--source-format", "jsonl"], 3, "cannot be used"),
        (["index", "-", "--source-format", "xml"], 2, "unknown format 'xml'"),
        (
            ["index", "{folder}/listings.csv", "--keep", "_root_"],
            2,
            'names that start with "_" are reserved for Solr',
        ),
        (["report", "-o", "{folder}/x.tsv"], 3, "is a folder, not a file"),
        (["report", "-o", "{folder}/" + "x" * 300 + ".tsv"], 3, "cannot be written"),
        (["evaluate", "{folder}/empty.tsv"], 3, "is empty"),
    ],
)
def test_what_can_be_judged_is_judged_before_a_solr_is_asked(
    run: Run, listings: Path, words: list[str], code: int, line: str
) -> None:
    """A bad source, format or place costs no start, no download and no work."""
    folder = listings.parent
    (folder / "x.tsv").mkdir()
    (folder / "empty.tsv").touch()
    failed = run(*(word.format(folder=folder) for word in words), "--solr", NOBODY, input="")
    assert failed.returncode == code
    assert line in failed.stderr
    assert "127.0.0.1" not in failed.stderr


def test_a_source_without_records_is_told(run: Run, tmp_path: Path) -> None:
    """A header alone is no error, and no silence either."""
    source = tmp_path / "empty.csv"
    source.write_text("id,text\n")
    indexed = run("index", str(source))
    assert indexed.returncode == 0
    lines = [line for line in indexed.stderr.splitlines() if "no records" in line]
    assert lines == ["empty.csv contains no records"]


def test_settings_left_out_are_those_of_the_collection(run: Run, listings: Path) -> None:
    """An option asks for itself alone: the others stay as the collection has them."""
    assert run("index", str(listings), "--hashes", "60", "--bands", "20").returncode == 0
    assert run("index", str(listings), "--hashes", "60").returncode == 0
    assert run("index", str(listings), "--band-rows", "3").returncode == 0
    other = run("index", str(listings), "--band-rows", "2")
    assert "bands20x3" in other.stderr
    assert "bands20x2" in other.stderr


def test_a_collection_without_shingles_is_searched_by_what_it_has(run: Run, listings: Path) -> None:
    """Without --by, the first way that the collection has is taken."""
    run("index", str(listings), "--fields=-content_ng")
    found = run("search", "--text", "Blue Door Cafe 12 Harbour Street", "--candidates", "10")
    assert [line.split("\t")[0] for line in found.stdout.splitlines()] == ["id", "1", "2"]


@pytest.mark.parametrize(
    "words",
    [["search"], ["search", "--id", "1", "--text", "x"], ["delete"], ["index"], ["nonsense"],
     ["report", "--candidates", "many"],
     ["report", "-o", "x.tsv", "--format", "csv"], ["index", "-", "--candidates", "3"]],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(run: Run, words: list[str]) -> None:
    """What cannot be parsed is told from what failed."""
    assert run(*words).returncode == 2


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (Answer(kind="text/html", body=b"<html>"), "the response is not JSON but text/html"),
        (Answer(status=401), "Solr requires a user and a password (HTTP 401)"),
        (Answer(status=404, kind="text/html", body=b""), "there is no core or collection 'x'"),
        (Answer(body=b'{"responseHeader":{"status":0},"fields":[{"name":"id"}]}'),
         "the schema lacks the fields signature_settings"),
    ],
)  # fmt: skip
def test_what_is_no_solr_of_ours(run: Run, listings: Path, answer: Answer, line: str) -> None:
    """HTML, other credentials, a missing core or field: one line, and no document is sent."""
    with answering(answer) as (address, asked):
        failed = run("index", str(listings), "--solr", f"{address}/x")
    assert failed.returncode == (4 if "not JSON" in line else 3)
    assert line in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert sum("update" in path for path in asked) <= 1  # a commit, before settings are read


def test_nobody_at_the_address(run: Run, listings: Path) -> None:
    """A wrong address is one line, at once."""
    failed = run("index", str(listings), "--solr", "http://127.0.0.1:9/solr")
    assert failed.returncode == 4
    assert "nothing is listening" in failed.stderr
    assert len(failed.stderr.splitlines()) == 1


def test_init_creates_and_checks(run: Run, solr: nd.Collection) -> None:
    """A core is created once, and then only checked."""
    name = f"{solr.name}_init"
    base = solr.base
    try:
        said = run("init", "-c", name, "--solr", base).stderr
        assert said == f"Created {base}/{name}; next: neardup index FILE -c {name} --solr {base}\n"
        refused = run("init", "-c", name, "--solr", base, "--shards", "2")
        assert refused.returncode == 3
        assert "exists, with 1 shard and 1 replica per shard; omit --shards and" in refused.stderr
        assert "exists and has all fields" in run("init", "-c", name, "--solr", base).stderr
    finally:
        api.drop(nd.connect(base, name))


@pytest.mark.usefixtures("demo_core")
def test_demo_shows_the_main_job(run: Run, solr: nd.Collection) -> None:
    """The demo indexes, reports, evaluates, and says what to try next; twice alike."""
    first, second = run("demo", "--solr", solr.base), run("demo", "--solr", solr.base)
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout
    assert "known pairs found" in first.stdout
    assert "Next:" in first.stderr


def test_index_creates_nothing_for_replicas_that_it_cannot_have(
    run: Run, solr: nd.Collection, tmp_path: Path
) -> None:
    """A new collection has one replica: for more the command leaves no core and no job behind."""
    name, job = f"{solr.name}_new", tmp_path / "job"
    source = tmp_path / "a.csv"
    source.write_text("id,text\n1,a b c\n")
    words = ("index", str(source), "-c", name, "--job", str(job), "--min-replicas", "2")
    refused = run(*words, NEARDUP_SOLR_URL="")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "--min-replicas cannot be 2: this Solr is not in cloud mode" in refused.stderr
    assert not api.exists(nd.connect(collection=name))
    assert not job.exists()
    # And of one that is there it tells the same.
    refused = run(*words[:3], solr.name, *words[4:])
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "--min-replicas cannot be 2: this Solr is not in cloud mode" in refused.stderr
    assert not job.exists()


def test_demo_leaves_a_collection_that_an_address_names_alone(
    run: Run, solr: nd.Collection
) -> None:
    """Invented listings have no place among the documents of somebody's own collection."""
    refused = run("demo")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"give the address without a collection: {solr.base}" in refused.stderr
    assert solr.count() == 0


@pytest.mark.parametrize(
    "words",
    [["search", "--id"], ["search", "--text"], ["search", "--text", "x", "--fq"],
     ["report", "-q"], ["delete"], ["index", "-", "--collection"], ["init", "-c"]],
)  # fmt: skip
def test_arguments_that_are_not_utf8_are_wrong_usage(run: Run, words: list[str]) -> None:
    """Bytes that are no text are refused in one line, wherever they stand."""
    failed = run(*words, b"\xff", input="")
    assert failed.returncode == 2
    assert failed.stderr.startswith(r"neardup: \udcff is not valid in this locale's encoding; ")
    assert len(failed.stderr.splitlines()) == 1


def test_version(run: Run) -> None:
    """The version is one line."""
    import neardup_solr

    assert run("--version").stdout == f"{neardup_solr.__version__}\n"


def test_closed_pipe_is_no_traceback(run: Run, solr: nd.Collection, tmp_path: Path) -> None:
    """`neardup report | head -1` ends quietly."""
    source = tmp_path / "same.txt"
    source.write_text("".join(f"{n} the very same text\n" for n in range(150)))
    run("index", str(source))
    command = " ".join(NEARDUP) + " report --format tsv --candidates 200 | head -1"
    piped = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"NEARDUP_SOLR_URL": solr.url},
    )
    assert piped.stdout == "id\tother_id\tdistance\tsimilarity\n"
    assert "Traceback" not in piped.stderr
