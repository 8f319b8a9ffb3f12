"""The command `neardup gate`."""

import os
import subprocess
from pathlib import Path

import orjson
import pytest

import neardup_solr as nd
from tests.command import NEARDUP
from tests.solr import foreign
from tests.solr.cli.conftest import Run

OLD = "1\tone two three four five six seven eight nine ten\n"
NEW = (
    '{"id": "2", "body": "One, two, three four five six seven eight nine ten!", "n_i": 1}\n'
    '{"id": "3", "body": "one two three four five six seven eight nine eleven", "n_i": 2}\n'
    '{"id": "4", "body": "one two three four five six seven", "n_i": 3}\n'
    '{"id": "5", "body": "others altogether", "n_i": 4}\n'
)
TSV = (
    "id\taction\tother_id\tsimilarity\tdistance\tmatches\treason\n"
    "2\treject\t1\t1.0000\t0\t1\tthe same text as '1'\n"
    "3\thold\t1\t0.9000\t1\t1\tits similarity to '1' is 0.900, which is 0.85 or more\n"
    "4\ttag\t1\t0.7000\t3\t1\tits similarity to '1' is 0.700, which is 0.6 or more\n"
    "5\tallow\t\t\t\t0\tno near-duplicate was found\n"
)
POLICY = ("--hold", "0.85", "--tag", "0.6")


@pytest.fixture
def new(run: Run, tmp_path: Path) -> Path:
    """Four new documents, and a collection of one old one."""
    old = tmp_path / "old.tsv"
    old.write_text(f"id\ttext\n{OLD}")
    assert run("index", str(old)).returncode == 0
    path = tmp_path / "new.jsonl"
    path.write_text(NEW)
    return path


def test_decisions_are_printed_and_nothing_written(run: Run, new: Path) -> None:
    """One row a document with the reason; the counts add up; the collection stays as it is."""
    made = run("gate", str(new), "--text-field", "body", *POLICY)
    assert (made.returncode, made.stdout) == (0, TSV)
    assert made.stderr == (
        "Read 4 records = 1 allowed + 1 tagged + 1 held + 1 rejected + 0 failed.\n"
    )
    piped = run("gate", "-", "--source-format", "jsonl", "--text-field", "body", *POLICY,
                "--batch", "1", input=NEW)  # fmt: skip
    assert piped.stdout == TSV
    assert run("gate", str(new), "--text-field", "body", *POLICY, "--strict").returncode == 3
    held = run("gate", str(new), "--text-field", "body", *POLICY, "--exact", "hold", "--strict")
    assert (held.returncode, " + 2 held + 0 rejected" in held.stderr) == (3, True)
    assert (
        run("gate", str(new), "--text-field", "body", "--exact", "tag", "--strict").returncode == 0
    )


def test_an_id_twice_in_a_file_is_told(run: Run, new: Path) -> None:
    """Before anything is indexed, in a line; then the last text counts, with all of its words."""
    rows = ("6,a piano tuned in spring and sold", "6,three rooms by the sea", "7,another one")
    new.with_name("twice.csv").write_text("\n".join(("id,text", *rows, "")))
    *_, line = run("gate", str(new.with_name("twice.csv"))).stderr.splitlines()
    assert line.startswith("1 record repeats an id")
    again = ("8,one two three four five six seven eight nine ten", "8,a piano tuned in spring")
    new.with_name("once.csv").write_text("\n".join(("id,text", *again, "")))
    once = run("gate", str(new.with_name("once.csv")))
    assert "1 allowed + 0 tagged + 0 held + 1 rejected" in once.stderr
    assert "repeat" not in once.stderr
    made = run("gate", str(new.with_name("twice.csv")), "--index")
    assert "1 of them replaced a document with the same id." in made.stderr
    assert "repeat" not in made.stderr
    assert "by the sea" in run("search", "--text", "three rooms by the sea").stdout


def test_index_and_hold(run: Run, new: Path, tmp_path: Path) -> None:
    """What is admitted is indexed, what is held is in the file, which is only ever added to."""
    held, output = tmp_path / "held.jsonl", tmp_path / "decisions.jsonl"
    held.write_text('{"id": "0", "text": "from before"}\n')
    words = ("gate", str(new), "--text-field", "body", "--keep", "n_i", *POLICY, "--index",
             "--held", str(held), "-o", str(output))  # fmt: skip
    made = run(*words)
    assert made.returncode == 0
    assert f"Held documents are in {held}." in made.stderr
    first, second = map(orjson.loads, held.read_text().splitlines())
    assert first["id"] == "0"
    assert second == {
        "id": "3", "text": "one two three four five six seven eight nine eleven", "n_i": 2,
        "neardup_reason": "its similarity to '1' is 0.900, which is 0.85 or more",
        "neardup_of": ["1"],
    }  # fmt: skip
    rows = [orjson.loads(line) for line in output.read_text().splitlines()]
    assert [row["action"] for row in rows] == ["reject", "hold", "tag", "allow"]
    [match] = rows[2]["matches"]
    assert (match["id"], match["similarity"], match["distance"]) == ("1", 0.7, 3)
    found = run("search", "--id", "1", "--fq", "n_i:3 AND neardup_of:1")
    assert [line.split("\t")[0] for line in found.stdout.splitlines()[1:]] == ["4"]
    assert run("gate", str(held), "--exact", "tag").stdout.splitlines()[2].startswith("3\ttag\t1")


def test_the_same_source_again_adds_nothing_to_the_held(
    run: Run, new: Path, tmp_path: Path
) -> None:
    """A held document is there once, whatever an editor did to the end; a changed one anew."""
    held = tmp_path / "held.jsonl"
    words = ("gate", str(new), "--text-field", "body", *POLICY, "--index", "--held", str(held))
    assert run(*words).returncode == 0
    once = held.read_text()
    assert once.count("\n") == 1
    assert run(*words).returncode == 0
    assert held.read_text() == once
    held.write_text("a note\n" + once.rstrip("\n"))
    assert run(*words, "--keep", "n_i").returncode == 0
    note, first, second = held.read_text().splitlines()
    assert (note, first + "\n") == ("a note", once)
    assert orjson.loads(second)["id"] == orjson.loads(first)["id"]
    assert orjson.loads(second)["n_i"] == 2


def test_a_file_for_two_purposes_is_refused(run: Run, new: Path, tmp_path: Path) -> None:
    """Neither the source nor what was held is written over or read while it grows."""
    held = str(tmp_path / "held.jsonl")
    around = str(tmp_path / ".." / tmp_path.name / new.name)
    for words in (["--held", held, "-o", held], ["--held", around], ["-o", around]):
        failed = run("gate", str(new), "--text-field", "body", *words)
        assert failed.returncode == 2
        assert failed.stderr.endswith("; name two files\n")
    assert new.read_text() == NEW
    assert not Path(held).exists()


def test_mistakes_are_told_before_any_work(run: Run, new: Path, tmp_path: Path) -> None:
    """Held documents need a file, and bounds an order; both are told in a line or two."""
    lost = run("gate", str(new), "--hold", "0.8", "--index")
    assert lost.returncode == 2
    assert "--held FILE" in lost.stderr
    for words, code in (
        (["--tag", "0.9", "--reject", "0.5"], 2),
        (["--tag", "2"], 2),
        (["--held", str(tmp_path)], 2),
        (["--held", str(tmp_path / "held.csv")], 2),
        (["-o", "x.doc"], 2),
    ):
        failed = run("gate", str(new), *words)
        assert failed.returncode == code
        assert len(failed.stderr.splitlines()) == 1
    for words, reason in (
        (["--exact", "no"], "'--exact': 'no'; choose one of allow, tag, hold, reject"),
        (["--batch", "0"], "--batch cannot be 0; give 1 to 1,000"),
    ):
        failed = run("gate", str(new), *words, COLUMNS="200")
        assert (failed.returncode, failed.stdout) == (2, "")
        assert reason in failed.stderr
    assert not (tmp_path / "held.csv").exists()


def test_a_record_that_cannot_be_read(run: Run, new: Path) -> None:
    """It has a row in its place, the others are decided, and the exit code tells."""
    new.write_text(f"nonsense\n{NEW}")
    made = run("gate", str(new), "--text-field", "body", *POLICY)
    header, failed, *rows = made.stdout.splitlines(keepends=True)
    assert (made.returncode, header + "".join(rows)) == (1, TSV)
    assert failed.startswith("\tfailed\t\t\t\t0\tnew.jsonl, line 1: ")
    assert "new.jsonl, line 1" in made.stderr
    assert "Read 5 records" in made.stderr
    assert "1 failed" in made.stderr


def test_a_decision_comes_with_its_line(new: Path, solr: nd.Collection) -> None:
    """By --batch 1 each is printed before the next document is sent, and before the input ends."""
    words = ["gate", "-", "--batch", "1", "--text-field", "body", "--format", "jsonl", *POLICY]
    with subprocess.Popen(
        [*NEARDUP, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"NEARDUP_SOLR_URL": solr.url},
    ) as running:  # fmt: skip
        assert running.stdin is not None
        assert running.stdout is not None
        lines = [*NEW.splitlines(), "nonsense", '{"id": "6"}']
        actions = ("reject", "hold", "tag", "allow", "failed", "failed")
        for line, action in zip(lines, actions, strict=True):
            running.stdin.write(f"{line}\n")
            running.stdin.flush()
            answer = orjson.loads(running.stdout.readline())
            assert answer["action"] == action
        assert (answer["id"], answer["matches"]) == ("6", [])
        assert answer["reason"] == "standard input, line 6: no text: 'body' is missing or null"
        running.stdin.close()
        assert running.stdout.read() == ""
    assert running.returncode == 1


def test_a_pipe_of_which_nothing_can_be_used(run: Run, new: Path) -> None:
    """It is one line, though no record was held back to see that."""
    made = run("gate", "-", "--source-format", "jsonl", "--format", "jsonl", input="nonsense\n" * 3)
    assert (made.returncode, made.stdout) == (3, "")
    assert "standard input: none of its 3 records can be used" in made.stderr


def test_the_text_fields_of_the_collection_are_the_columns(run: Run) -> None:
    """Of one of somebody else's, as init has kept them; others can be named."""
    with foreign.collection() as shop:
        shop.add([{"sku": "1", "title": "one two three", "body": ["four five six seven"]}])
        nd.init(shop, text=("title", "body"), prefix="nd_")
        nd.annotate(shop)
        words = ("gate", "-", "-c", shop.name, "--solr", shop.base, "--format", "jsonl")
        line = '{"id": "2", "title": "One two three", "body": "four five six seven"}\n'
        made = run(*words, input=line)
        assert orjson.loads(made.stdout)["action"] == "reject"
        line = '{"id": "2", "all": "One two three four five six seven"}\n'
        assert (
            orjson.loads(run(*words, "--text-field", "all", input=line).stdout)["other_id"] == "1"
        )


def test_documents_that_nobody_has_annotated_are_told(run: Run) -> None:
    """A copy of one of them is allowed, so the command says that it was not looked for."""
    text = "one two three four five six seven"
    with foreign.collection() as shop:
        shop.add([{"sku": "1", "title": "other words", "body": ["than these"]}])
        nd.init(shop, text=("title", "body"), prefix="nd_")
        nd.annotate(shop)
        shop.add([{"sku": "late", "title": text}])
        shop.commit()
        words = ("gate", "-", "-c", shop.name, "--solr", shop.base, "--format", "jsonl")
        line = f'{{"id": "2", "title": "{text}"}}\n'
        made = run(*words, input=line)
        assert orjson.loads(made.stdout)["action"] == "allow"
        gap = f"documents without a signature: 1; neardup annotate {shop.place} adds signatures"
        assert f"Incomplete: {gap}.\n" in made.stderr
        assert "Incomplete" not in run(*words, "--fq", "sku:1", input=line).stderr
        decisions = nd.gate(nd.Source([("2", text)], text="text"), shop)
        assert decisions.gaps == (gap,)
        assert [one.action for one in decisions] == ["allow"]
        nd.annotate(shop)
        assert not decisions.gaps


def test_several_columns_are_held_as_one_text(run: Run, new: Path, tmp_path: Path) -> None:
    """For a collection of ours, which has one field for it."""
    held = tmp_path / "held.jsonl"
    line = '{"id": "8", "title": "one two three four", "body": "five six seven eight nine ten"}\n'
    words = ("--text-field", "title,body", "--exact", "hold", "--held", str(held))
    assert run("gate", "-", *words, "--source-format", "jsonl", input=line).returncode == 0
    assert orjson.loads(held.read_bytes())["text"].split("\n") == [
        "one two three four", "five six seven eight nine ten"
    ]  # fmt: skip


def test_held_documents_of_somebody_else_keep_their_text_fields(run: Run, tmp_path: Path) -> None:
    """Columns stay apart, under their own names, so that the file goes into the gate again."""
    held = tmp_path / "held.jsonl"
    with foreign.collection() as shop:
        shop.add([{"sku": "1", "title": "one two three", "body": ["four five six seven"]}])
        nd.init(shop, text=("title", "body"), prefix="nd_")
        nd.annotate(shop)
        place = ("-c", shop.name, "--solr", shop.base, "--exact", "hold", "--format", "jsonl")
        new = {"sku": "2", "title": "One two three", "body": ["four five", "six seven"], "n": 1}
        words = ("--id-field", "sku", "--held", str(held))
        made = run("gate", "-", *place, *words, "--keep", "n", input=orjson.dumps(new).decode())
        assert orjson.loads(made.stdout)["action"] == "hold"
        written = orjson.loads(held.read_bytes())
        assert {name: written.pop(name) for name in new} == new
        assert written.keys() == {"neardup_reason", "neardup_of"}
        again = run("gate", str(held), *place, "--id-field", "sku")
        assert orjson.loads(again.stdout)["action"] == "hold"
        one = '{"id": "3", "all": "one two three four five six seven"}\n'
        run("gate", "-", *place, "--held", str(held), "--text-field", "all", input=one)
        assert orjson.loads(held.read_bytes().splitlines()[1])["all"].startswith("one two")


def test_templates_are_told_in_the_words_of_the_command(run: Run, tmp_path: Path) -> None:
    """The option that rejects them is called as it is typed."""
    alerts = [
        f'{{"id": "{n}", "text": "disk usage on web {n} is {70 + n} percent of the volume var"}}\n'
        for n in range(20)
    ]
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    old.write_text(alerts[0])
    new.write_text("".join(alerts[1:]))
    run("index", str(old))
    said = run("gate", str(new), "--reject", "0.6").stderr
    assert "use --yes to reject them" in said
    assert "with" not in run("gate", str(new), "--reject", "0.6", "--yes").stderr
