"""The exit codes: scripts tell by them what to do next."""

import gzip
import socket
import subprocess
import sys
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from tests.command import neardup

GOOD = "id,text\n1,the quick brown fox jumps over it\n2,the quick brown fox jumps over it\n"
FORM = "Dear {} your parcel waits at the post office so please bring this letter and a passport"
NAMES = ("Ann", "Bob", "Cem", "Dora", "Eli", "Finn", "Gus", "Hana", "Ivo", "Jan")
FORMS = "".join(f"{number},{FORM.format(name)}\n" for number, name in enumerate(NAMES))

PAIRS = "id,other_id,similarity"
FILES = {
    "people.csv": "id,name,born\n1,Ann Smith,unknown\n2,Ann Smyth,unknown\n3,Bob Jones,none\n",
    "titles.csv": "id,title\n1,the quick brown fox\n2,another one\n",
    "heads.csv": "id,headline\n1,the quick brown fox\n2,another one\n",
    "apart.csv": "id,text\n1,a fox that jumps over it\n2,another text of its own entirely\n",
    "codes.csv": "id,name,city\n"
    + "".join(f"{n},Name{n} Of{n % 7},City{n % 5}\n" for n in range(40)),
    "lines.txt": "the quick brown fox jumps over it\nthe quick brown fox jumps over it\n",
    "list.json": '[{"id": 1, "text": "a b c d"}, {"id": 2, "text": "a b c d"}]',
    "found.csv": f"{PAIRS}\n1,2,1.0\n",
    "bare.csv": "id,other_id\n1,2\n",
    "odd.csv": f"{PAIRS}\n1,2,high\n",
    "right.csv": f"{PAIRS},answer\n1,2,1.0,same\n",
    "perhaps.csv": f"{PAIRS},answer\n1,2,1.0,perhaps\n",
    "both.csv": f"{PAIRS},answer\n1,2,1.0,same\n2,1,1.0,different\n",
    "unsure.csv": f"{PAIRS},answer\n1,2,1.0,unsure\n",
    "blank.csv": f"{PAIRS},answer\n1,2,1.0,\n",
    "others.csv": f"{PAIRS},answer\n8,9,1.0,same\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of each kind, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)
    Path("partial.csv").write_text(GOOD + ",a text without an id of its own\n")
    Path("forms.csv").write_text("id,text\n" + FORMS)
    Path("empty.csv").touch()
    for name, text in FILES.items():
        Path(name).write_text(text)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("good.csv --unique out.csv", 0),
        ("partial.csv --unique out.csv", 1),
        ("partial.csv --unique out.csv --max-failed 1", 0),
        ("good.csv --min-similarity 2", 2),
        ("good.csv --no-such-option", 2),
        ("good.csv --measure nothing", 2),
        ("forms.csv --measure words --unique out.csv", 3),
        ("forms.csv --measure words --unique out.csv --yes", 0),
        ("missing.csv", 3),
        ("empty.csv", 3),
        ("good.csv --text-field body", 3),
        ("good.csv --unique no-folder/out.csv", 3),
        ("-c books --solr http://127.0.0.1:9/solr", 4),
    ],
)
def test_each_end_has_its_code(words: str, code: int) -> None:
    """Done, incomplete, wrong usage, refused because of the data, and a server that is away."""
    command = [sys.executable, "-m", "neardup_solr", "duplicates", *words.split()]
    ran = subprocess.run(command, input="", capture_output=True, text=True, timeout=120)
    assert ran.returncode == code, ran.stderr
    assert Path("out.csv").exists() == (code in (0, 1) and "--unique" in words)


@pytest.mark.parametrize(
    "words",
    [
        "duplicates people.csv --field name --field born:date",
        "duplicates people.csv --field name --field born:number",
        "duplicates titles.csv --against heads.csv",
        "duplicates codes.csv --by shingles",
        "duplicates list.json --delimiter ;",
        "duplicates list.json --skip-rows 1",
        "explain 1 2 --source list.json --sheet Prices",
        "evaluate perhaps.csv found.csv",
        "evaluate both.csv found.csv",
        "evaluate unsure.csv found.csv",
        "evaluate blank.csv found.csv",
        "evaluate others.csv found.csv",
        "evaluate right.csv bare.csv",
        "evaluate right.csv odd.csv",
        "evaluate found.csv bare.csv",
        "answer --import perhaps.csv --answers kept.jsonl",
        "answer --import both.csv --answers kept.jsonl",
        "review apart.csv --answers kept.jsonl",
        "duplicates good.csv --unique rest.xlsx",
        "duplicates codes.csv --max-distance 2",
        "duplicates good.csv --against missing.csv",
        "--ca missing.pem search --id 1 -c books --solr https://127.0.0.1:9/solr",
        "tune good.csv --known others.csv",
        "tune good.csv --answers others.csv",
    ],
)
def test_what_other_data_would_allow_is_no_wrong_usage(words: str) -> None:
    """An argument that does not fit what was read: nothing is written, the code is that of data."""
    ran = neardup(*words.split())
    assert (ran.returncode, ran.stdout) == (3, ""), ran.stderr
    assert not Path("kept.jsonl").exists() or not Path("kept.jsonl").read_text()


@pytest.mark.parametrize(
    "words",
    [
        "duplicates people.csv --field name --field born:day",
        "duplicates good.csv --linkage mutual_best",
        "duplicates lines.txt --source-format lines --delimiter ;",
        "duplicates good.csv --delimiter ;;",
        "duplicates - good.csv",
        "explain 1 1 --source good.csv",
        "answer 1 1 same --answers kept.jsonl",
        "review",  # a collection has no folder for the answers
        "review apart.csv --reach 7 --answers kept.jsonl",
        "tune good.csv --catch .5 --avoid .6",
        "duplicates good.csv -o report.pdf",
        "duplicates good.csv --unique rest.pdf",
        "duplicates good.csv --unique rest.parquet.gz",
        "duplicates good.csv --unique good.csv",
        "duplicates good.csv --removed ./good.csv",
        "duplicates good.csv --unique rest.csv --removed rest.csv",
        "duplicates good.csv --against apart.csv -o apart.csv",
        "duplicates - --source-format xlsx",
        "signatures good.csv -o good.csv",
        "evaluate right.csv right.csv",
        "gate good.csv --held held.csv",
        "review good.csv --answers good.csv",
        "review good.csv --against apart.csv --answers apart.csv",
        "answer 1 2 same --source good.csv --answers good.csv",
        "tune good.csv --answers kept.jsonl -o kept.jsonl",
        "serve -c books --port 70000",
        # Whatever else is wrong, too:
        "duplicates codes.csv --max-distance -1",
        "duplicates codes.csv --remember kept --without-common",
        "duplicates codes.csv --remember kept --against good.csv",
        "duplicates good.csv --cap 1 --against missing.csv",
        "review good.csv --min-similarity 2 --against missing.csv",
        "tune codes.csv --max-distance -3 --answers missing.jsonl",
        "explain 1 2 --source codes.csv --max-distance -1",
    ],
)
def test_what_no_data_would_allow_is_wrong_usage(words: str) -> None:
    """The command line alone tells that it is wrong; nothing is written."""
    before = {path: path.read_bytes() for path in Path().iterdir()}
    ran = neardup(*words.split())
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_answers_are_not_replaced_by_their_table() -> None:
    """It lacks what the file knows of the texts."""
    assert neardup("answer", "1", "2", "same", "--answers", "kept.jsonl").returncode == 0
    kept = Path("kept.jsonl").read_bytes()
    assert neardup("answer", "--answers", "kept.jsonl", "-o", "./kept.jsonl").returncode == 2
    assert Path("kept.jsonl").read_bytes() == kept
    assert neardup("answer", "--answers", "kept.jsonl", "-o", "table.jsonl").returncode == 0


def test_a_port_that_is_taken_is_no_wrong_usage() -> None:
    """Another time it may be free."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        ran = neardup("review", "good.csv", "--answers", "kept.jsonl", "--port", port)
    assert (ran.returncode, ran.stdout) == (3, ""), ran.stderr


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *product(["NEARDUP_PROGRESS"], ["often", "-1", "inf"]),
        *product(["NEARDUP_MEMORY"], ["some", "5", "-1G"]),
        *product(["NEARDUP_MAX_GROWTH"], ["many", "-2", "nan"]),
    ],
)
def test_a_variable_that_is_no_number_is_wrong_usage(variable: str, value: str) -> None:
    """It is named, with the value."""
    Path("good.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    ran = neardup("duplicates", "good.csv.gz", env={variable: value})
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"${variable}" in ran.stderr
    assert value in ran.stderr


def test_the_reader_of_a_pipe_that_is_gone() -> None:
    """Not all records were printed."""
    source = "".join(f"{at},{GOOD.split(',', 2)[2].splitlines()[0]}\n" for at in range(9_000))
    Path("many.csv").write_text("id,text\n" + source)
    command = f"{sys.executable} -m neardup_solr duplicates many.csv --format tsv"
    ran = subprocess.run(
        f"{{ {command}; echo $? >&2; }} | head -1", shell=True, capture_output=True, text=True
    )
    assert ran.stderr.splitlines()[-1] == "1"
