"""Every option of every command makes a difference to what the library is asked."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import neardup_solr as nd
from neardup_solr import embedded, sources
from neardup_solr.arguments import DIALECT
from neardup_solr.cli import show
from neardup_solr.cli.command import list_parameters
from neardup_solr.cli.main import COMMANDS, command, in_options, parser
from neardup_solr.cli.typed import connect
from neardup_solr.comma_names import join_names, split_names
from neardup_solr.option_rows import ROWS, find_row
from neardup_solr.solr import admin, collection, schema
from neardup_solr.solr.schema import Schema
from neardup_solr.suggestions import read_words
from neardup_solr.verbs.duplicates import plan
from tests.command import neardup
from website.commands import commands

GONE = {
    f"{command}.{name.replace('_', '-')}": step
    for command, steps in read_words("gone").items()
    for name, step in steps.items()
}
CHOICES = ", ".join(COMMANDS)
REQUESTS = ("annotate", "duplicates", "explain", "gate", "review", "serve", "tune")
# What a command cannot do without, and what some of its options need beside them.
WORDS = {
    "annotate": "", "delete": "1", "doctor": "", "duplicates": "a.txt", "evaluate": "known.tsv",
    "explain": "1 2 --source a.txt", "gate": "a.txt --held held.jsonl", "index": "a.txt",
    "init": "", "lint": "", "reband": "--bands 42 --band-rows 3", "report": "",
    "search": "--text x", "signatures": "a.txt -o s.parquet", "strip": "", "tune": "a.txt",
}  # fmt: skip
NEEDED = {
    "--language": "--kind stems", "--mutual-best": "--against b.txt",
}  # fmt: skip
INSTEAD = {  # of the words of a command: what these options go with
    ("explain", "--solr"): "1 2", ("explain", "--collection"): "1 2", ("search", "--id"): "--id 1",
    ("duplicates", "--solr"): "", ("duplicates", "--collection"): "", ("tune", "--solr"): "",
    ("tune", "--collection"): "", ("duplicates", "--undo"): "", ("duplicates", "--fq"): "",
}  # fmt: skip
VALUES = {
    "--against": "b.txt", "--avoid": "0.2", "--band-rows": "2", "--bands": "7", "--by": "bands",
    "--canonical": "longest", "--exact": "tag",
    "--delimiter": ";", "--encoding": "cp1252", "--family": "xor", "--fields": "content",
    "--hashes": "200", "--kind": "chars",
    "--language": "german", "--linkage": "complete", "--max-distance": "3",
    "--max-doc-bytes": "3M", "--measure": "jaccard", "--memory": "3G",
    "--on-repeat": "first", "--patience": "90s",
    "--same": "first_word",
    "--solr": "http://127.0.0.1:2/solr", "--source-format": "lines",
    "--which": "missing",
}  # fmt: skip
BY_TYPE = {"integer": "5", "float": "0.7"}
# These say what is read or printed around the library's call; other tests look at that.
FACES: set[str | tuple[str, str]] = {
    "--format", "--output", "--held", "--strict", "--mark", "--yes",
    "--unique", "--removed", "--rejected", "--merge", "--merge-rule",  # which the result writes
    "--max-failed",  # the exit code
    "--ordered",  # how what was found is judged
    "--help", ("delete", "--dry-run"), ("duplicates", "--dry-run"),
}  # fmt: skip


# What only one side has, and why.
FUNCTIONS = {  # of the library, without a command of their own
    "connect": "--solr and --collection of every command",
    "mark": "duplicates --mark",
    "read": "gives documents to a program",
}
ARGUMENTS = {  # of the library, without an option
    "on_error": "a line for each",
    "on_progress": "a bar",
    "on_ready": "a line with the address",
    "on_started": "a line",
    "create": "the commands that write into the embedded Solr do",
    "heap": "$NEARDUP_SOLR_HEAP",
    "who": "$LOGNAME",
    "from_id": "--query",
    "to_id": "--query",
    "later_only": "each pair is reported once all the same",
    "threads": "two send",
    "on_repeat": "of index and duplicates alone",
    "checkpoint": "it lies beside the files of the command",
    "most": "100 matches of a decision",
    "on_address": "a line with the address",
    "miss": "1 %",
    "load": "0.1 %",
    "sample": "the usual one is large enough",
    "seed": "draws another sample, for studies",
    "max_documents": "100 of a request",
    "concurrency": "8 requests",
    "headers": "a token, or a proxy of yours",
    "proxy": "$HTTPS_PROXY",
}
SETTINGS = {
    "signatures": "20 terms",
    "seed": "other signatures of the same kind, for studies",
    "normalization": "that of earlier collections is 1, for whoever compares with them",
    "profile_min_token_len": "of profiles, which are indexed on request",
    "profile_quant_rate": "of profiles, which are indexed on request",
}
OPTIONS = {  # of a command, without an argument
    "demo address": "nd.connect",
    "search format": "prints",
    "report output": "Report.write",
    "report format": "prints",
    "duplicates mutual_best": "linkage",
    "duplicates output": "Duplicates.write",
    "duplicates unique": "Duplicates.write_unique",
    "duplicates removed": "Duplicates.write_unique",
    "duplicates rejected": "Duplicates.write_unique",
    "duplicates merge": "Duplicates.merge",
    "duplicates merge_rule": "Duplicates.merge",
    "duplicates yes": "Duplicates.write_unique",
    "duplicates mark": "nd.mark",
    "duplicates undo": "nd.mark",
    "duplicates dry_run": "nd.mark",
    "duplicates format": "prints",
    "duplicates max_failed": "the exit code",
    "passages output": "Passages.write",
    "passages strike": "Passages.strike",
    "passages format": "prints",
    "gate id": "nd.Source",
    "gate text": "nd.Source",
    "gate held": "a program has the decisions, with their documents",
    "gate strict": "the exit code",
    "gate output": "a program has the decisions",
    "gate format": "prints",
    "evaluate known": "nd.evaluate; other options are those of nd.report, which it judges",
    "evaluate report": "nd.evaluate",
    "evaluate ordered": "nd.evaluate",
    "evaluate output": "Evaluation.write",
    "answer pairs": "nd.Answers.add",
    "answer ordered": "nd.Answers.add",
    "answer output": "writes a file",
    "answer format": "prints",
    "delete yes": "asks a person",
    "index max_failed": "the exit code",
    "lint format": "prints",
    "doctor format": "prints",
    "explain format": "prints",
    "tune format": "prints",
    "dead-letters show output": "writes a file",
    "dead-letters show format": "prints",
}


def test_both_sides_have_the_same_words() -> None:
    """What the command can, the library can, and the other way round, but for the tables above."""
    functions = {name for name in nd.__all__ if inspect.isfunction(getattr(nd, name))}
    called, own, left_out = set(FUNCTIONS), set(), set()
    for words, made in commands().items():
        options = {str(one.name) for one in made.params}
        known = {one.name for one in list_parameters(made.verb)} if made.verb else set()
        known |= {*DIALECT} if "source" in known else set()
        called |= {words, str(made.verb)}
        left_out |= known - options - {"settings"}
        place = {"address", "collection"} if known & {"collection", "source"} else set()
        shaping = {one.name for one in fields(nd.Settings)} if "settings" in known else set()
        own |= {f"{words} {name}" for name in options - known - place - shaping}
    left_out |= {one.name for one in list_parameters("connect")} - {"address", "collection"}
    index = {str(one.name) for one in command("index").params}
    assert functions <= called
    assert left_out - {"patience", "ca", "cert", "plain_http"} == ARGUMENTS.keys()
    assert {one.name for one in fields(nd.Settings)} - index == SETTINGS.keys()
    assert {one for one in own if not one.startswith("solr ")} == OPTIONS.keys()


@pytest.mark.parametrize("verb", [name for name in nd.__all__ if name.islower()])
def test_each_argument_has_a_row(verb: str) -> None:
    """The table of options tells what it means, and `help` shows that."""
    function = getattr(nd, verb)
    rows = {name: find_row(verb, name)[1].text for name in inspect.signature(function).parameters}
    told = " ".join((function.__doc__ or "").split())
    for name, text in rows.items():
        assert f"{name}: {text}" in told, f"help(nd.{verb}) tells something else of {name}"
    assert "Returns " in told


def test_each_row_has_an_argument() -> None:
    """A row that nothing takes is one too many, and so is a name of two functions with one text."""
    used = set()
    for name in nd.__all__:
        if name.islower():
            used |= {f"{name}.{each}" for each in inspect.signature(getattr(nd, name)).parameters}
    for words, made in commands().items():
        used |= {f"{words.split()[-1]}.{each.name}" for each in made.params}
        used |= {f"{made.verb}.{each.name}" for each in made.params}
    used |= {f"settings.{each.name}" for each in fields(nd.Settings)}
    names = used | {each.partition(".")[2] for each in used}
    assert not ROWS.keys() - names


def test_help_says_which_options_can_be_repeated() -> None:
    """An argument of several values is an option that may come again, and no other."""
    for words, made in commands().items():
        for one in made.params:
            if isinstance(one, click.Option):
                is_told = "repeatable" in (one.help or "")
                assert one.multiple == is_told, f"{words} {one.opts[0]}"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("duplicates --remove", "--removed"),
        ("duplicates --reject", "--rejected"),
        ("duplicates --keeps", "--keep"),
        ("duplicates --answer", "--answers"),
        ("duplicates --idcolumn", "--id-field"),
        ("duplicates --unique-file", "--unique"),
        ("duplicates --seperator", "--delimiter"),
        ("gate --hold-file", "--hold"),
        ("serve --token", "--tokens"),
        ("search --candidate", "--candidates"),
        ("evaluate --order", "--ordered"),
        ("index --jobs", "--job"),
    ],
)
def test_a_form_of_an_option_is_told_first(typed: str, meant: str) -> None:
    """Singular or plural, abbreviated, or with what other tools add; then what they mean by it."""
    with pytest.raises(click.UsageError) as refused:
        parser().main([*typed.split(), "x"], standalone_mode=False)
    assert f" Did you mean '{meant}'" in str(refused.value)


@pytest.mark.parametrize("gone", [gone for gone in GONE if not gone.startswith("nd.")])
def test_an_option_that_is_gone_says_what_to_do_instead(gone: str) -> None:
    """In one line, which the library has for its arguments, too."""
    command, name = gone.split(".")
    option = f"--{name}"
    words = ["solr", command] if command in ("start", "logs") else [command]
    with pytest.raises(click.UsageError) as refused:
        parser().main([*words, option], standalone_mode=False)
    assert str(refused.value) == f"No such option '{option}'; {GONE[gone]}"


def test_an_argument_in_python_alone_is_no_option() -> None:
    """The line says which function takes it."""
    with pytest.raises(click.UsageError, match=r"'--seed'; use nd\.tune\(\.\.\., seed=\.\.\.\)$"):
        parser().main(["tune", "--seed", "2"], standalone_mode=False)


def test_there_are_not_too_many_options() -> None:
    """All commands have 95 between them, of which the help of each shows those that are used."""
    options = {one.opts[0] for made in commands().values() for one in made.params}
    assert len({one for one in options if one.startswith("-")}) <= 95
    for words in commands():
        asked = [*words.split(), "--help"]
        shown = CliRunner().invoke(parser(), asked, terminal_width=98).stdout.splitlines()
        assert len(shown) <= 90, words
        if "  --help-all" in "\n".join(shown):
            every = CliRunner().invoke(parser(), [*asked[:-1], "--help-all"], terminal_width=98)
            assert len(every.stdout.splitlines()) > len(shown)


class Asked(Exception):
    """The library was asked; the command need not go on."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What the library is asked by a command, which it ends."""
    calls: list[str] = []

    def note(name: str, /, *args: object, **kwargs: object) -> None:
        for each in (*args, *kwargs.values()):
            if isinstance(each, nd.Collection):
                assert each.url  # which opens it
        calls.append(re.sub(r" at 0x[0-9a-f]+", "", repr((name, args, kwargs))))

    def connect(address: str | None, name: str | None, **kwargs: object) -> nd.Collection:
        note("connect", address, name, **kwargs)
        return collection.open_collection(address or "http://127.0.0.1:1/solr", name or "neardup")

    def open_source(*args: object, **kwargs: object) -> sources.SourceReader:
        note("read", *args, **kwargs)
        return sources.SourceReader([], None, sources.Reading())

    def verb(name: str) -> Any:
        def call(*args: object, **kwargs: object) -> None:
            note(name, *args, **kwargs)
            raise Asked

        return call

    for name in {*COMMANDS, "mark"}:
        if name in nd.__all__:
            monkeypatch.setattr(nd, name, verb(name), raising=False)
    compare = verb("duplicates")
    for module in ("duplicates.find", "explain", "tune"):  # they keep the name that they import
        import_module(f"neardup_solr.verbs.{module}")
    monkeypatch.setattr(plan, "make_plan", lambda request: compare(**vars(request)))
    monkeypatch.setattr(nd, "connect", connect, raising=False)
    monkeypatch.setattr(sources, "open_source", open_source)
    monkeypatch.setattr(admin, "exists", lambda solr: True)
    monkeypatch.setattr(embedded, "is_known", lambda: True)
    monkeypatch.setattr(schema, "read_schema", lambda solr: Schema(key="id", types={}, fields={}))
    monkeypatch.setattr(nd.Collection, "kept_names", lambda solr: solr.names)
    monkeypatch.setattr(show, "compile_kernel", lambda: None)
    monkeypatch.chdir(tmp_path)
    for file in ("a.txt", "b.txt", "known.tsv"):
        Path(file).write_text("1\t2\n")
    return calls


def run(asked: list[str], words: list[str]) -> list[str]:
    """What the library is asked by a command."""
    asked.clear()
    with pytest.raises(Asked):
        parser().main(words, standalone_mode=False)
    return [*asked]


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option)
        for name in WORDS
        for option in command(name).params
        if option.param_type_name == "option"
        and not {option.opts[0], (name, option.opts[0])} & FACES
    ],
    ids=lambda v: v if type(v) is str else v.opts[0],
)
def test_an_option_makes_a_difference(asked: list[str], name: str, option: Any) -> None:
    """The library is asked otherwise with the option than without it."""
    flag = option.opts[0]
    words = [name, *INSTEAD.get((name, flag), WORDS[name]).split()]
    words += NEEDED.get(flag, "").split()
    value = VALUES.get(flag, BY_TYPE.get(option.type.name, "any_x"))
    given = [flag] if option.is_flag else [flag, value]
    assert run(asked, [*words, *given]) != run(asked, words)


@pytest.mark.parametrize(
    ("message", "command", "shown"),
    [
        ("`min_similarity` cannot be 2", "search", "--min-similarity cannot be 2"),
        ("give either `id` or `text`", "search", "give either --id or --text"),
        ("check `id` and `text`", "index", "check --id-field and --text-field"),
        ("both are `rows`", "reband", "both are --band-rows"),
        ("`ca` cannot be 'x'", "search", "--ca cannot be 'x'"),
        ("leave `settings` out", "explain", "leave settings out"),
        ("there is no id 'the `text` of it'", "search", "there is no id 'the `text` of it'"),
        ('no "it\'s `text`" in the collection\'s `by`', "search",
         'no "it\'s `text`" in the collection\'s --by'),
        ("`nothing` of ours", "search", "`nothing` of ours"),
        ("`fields['Name']` cannot be", "duplicates", "--field Name cannot be"),
        ("`nothing['Name']` of ours", "duplicates", "`nothing['Name']` of ours"),
    ],
)  # fmt: skip
def test_messages_name_options(message: str, command: str, shown: str) -> None:
    """The library's arguments become options, but nothing that a message quotes."""
    assert in_options(message, command) == shown


WRONG = [
    ["duplicates", "--memory", "1"],
    ["duplicates", "--canonical", "nonsense"],
    ["duplicates", "--mutual-best"],
    ["duplicates", "--mark", "--cap", "1"],
    ["duplicates", "--against", "books", "--cap", "1"],
    ["duplicates", "--full"],
    ["search", "--text", "x", "--min-similarity", "2"],
    ["report", "--measure", "jaccard", "--max-distance", "3"],
    ["tune", "--catch", "2"],
    ["tune", "--hashes", "0"],
    ["explain", "1", "1"],
    ["init", "--remove", "--prefix", "nd_"],
    ["init", "--prefix", "a b"],
    ["annotate", "--bands", "0"],
    ["index", "known.tsv", "--bands", "0"],
    ["index", "known.tsv", "--min-replicas", "0"],
    ["reband", "--bands", "0", "--band-rows", "3"],
    ["init", "--shards", "0"],
    ["report", "--candidates", "0"],
    ["gate", "known.tsv", "--batch", "1001"],
    ["strip", "--rate", "-1"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_arguments_are_refused_before_a_solr_is_asked(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is connected to, so that no embedded Solr is started for nothing."""
    opened: list[object] = []
    monkeypatch.setattr(nd, "connect", lambda *args, **kwargs: opened.append(args), raising=False)
    monkeypatch.setattr(embedded, "is_known", lambda: True)
    monkeypatch.chdir(tmp_path)
    Path("known.tsv").write_text("1\t2\n")
    with pytest.raises((nd.ArgumentError, click.UsageError)):
        parser().main(words, standalone_mode=False)
    assert opened == []


@pytest.mark.parametrize(
    ("typed", "number", "offered"),
    [
        ("neardup dup", 1, ["duplicates"]),
        ("neardup duplicates --max-d", 2, ["--max-distance", "--max-doc-bytes"]),
        ("neardup duplicates --linkage ", 3, ["single", "complete", "mutual_best"]),
    ],
)
def test_a_shell_completes_commands_options_and_choices(
    typed: str, number: int, offered: list[str]
) -> None:
    """What the shell asks the command for when somebody presses the tab key."""
    asked = {
        "_NEARDUP_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(number),
    }
    command = Path(sys.executable).parent / "neardup"
    done = subprocess.run(
        [command], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == [f"plain,{word}" for word in offered]


NAMES = [
    (["a,b"], ("a", "b")),
    (["a, b", "c"], ("a", "b", "c")),
    (['"Surname, name",city'], ("Surname, name", "city")),
    (['5" screen', '"12"" screen"'], ('5" screen', '12" screen')),
]


@pytest.mark.parametrize(("typed", "names"), NAMES)
def test_a_column_name_may_have_a_comma(typed: list[str], names: tuple[str, ...]) -> None:
    """Names are written as in a line of CSV, and joined to what is read as the same names."""
    assert split_names(typed) == names
    assert split_names([join_names(names)]) == names


def test_a_quote_without_its_end_is_refused(asked: list[str]) -> None:
    """With an example of how names are quoted."""
    with pytest.raises(click.UsageError, match="written as in CSV; for example"):
        parser().main(["index", "a.txt", "--text-field", '"a,b'], standalone_mode=False)


def test_columns_with_commas_are_compared_and_typed_again(tmp_path: Path) -> None:
    """The command of an advice names the same columns."""
    table = tmp_path / "people.csv"
    rows = ["one two three four five six,7", "one two three four five six,8", "some other,9"]
    table.write_text('"Surname, name",city\n' + "".join(f"{row}\n" for row in rows))
    words = [str(table), "--id-field", ":row", "--text-field", '"Surname, name",city']
    found = CliRunner().invoke(parser(), ["duplicates", *words])
    assert found.stdout.splitlines()[1].split("\t")[:2] == ["1", "2"]
    tuned = CliRunner().invoke(parser(), ["tune", *words])
    assert f"neardup duplicates {shlex.join(words)} --bands" in tuned.stdout


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("dedupe a.csv", "Did you mean 'duplicates'?"), ("serach", "Did you mean 'search'?"),
        ("duplicatse", "Did you mean 'duplicates'?"), ("start", "Did you mean 'solr start'?"),
        ("link", "Did you mean 'neardup duplicates FILE --against OTHER'?"),
        ("ads.csv", "Did you mean 'duplicates ads.csv'?"), ("version", "'neardup --version'?"),
        ("deadletters", "Did you mean 'dead-letters'?"),
        ("solr create", "Did you mean 'neardup init'?"), ("solr halt", "Did you mean 'stop'?"),
        ("solr restart", "; use 'stop', then 'start'"), ("dead-letters list", "mean 'show'?"),
        ("search --similarity .8", "Did you mean '--min-similarity'?"),
        ("duplicates -threshold .8", "'-threshold'. Did you mean '--min-similarity'?"),
        ("gate --cutoff .8", "Did you mean '--tag', '--hold' or '--reject'?"),
        ("duplicates --num_perm=64", "Did you mean '--hashes'?"),
        ("duplicates --maxDist 3", "Did you mean '--max-distance'?"),
        ("duplicates --num-hashes 64", "Did you mean '--hashes'?"),
        ("duplicates --sim-threshold .8", "Did you mean '--min-similarity'?"),
        ("delete --all", "; use --query '*:*'"), ("strip --all", "; see neardup strip --help"),
        ("serve -p 80", "Did you mean '--port'?"), ("lint -p 80", "Did you mean '--solr'?"),
        ("duplicates --silent", "Did you mean '--quiet'?"),
        ("duplicates --json", "Did you mean '--format jsonl'?"),
        ("explain --json", "Did you mean '--format json'?"),
        ("search --limit 3", "Did you mean '--candidates'?"),
        ("index --seed 3", "; use nd.index(..., settings={'seed': ...})"),
        ("index --n-jobs 3", "; use nd.index(..., threads=...)"),
        ("duplicates --workers 3", "; leave it out: all processors are used"),
        ("duplicates --input a", "; give SOURCE without an option name"),
        ("index --url a", "Did you mean '--solr'?"), ("tune --ngram 3", "'--shingle-size'?"),
        ("duplicates --column a", "Did you mean '--text-field'?"),
        ("duplicates --id-column a", "Did you mean '--id-field'?"),
        ("passages --unique a", "Did you mean '--strike'?"),
        ("duplicates --output-file a", "Did you mean '--output'?"),
        ("duplicates --lossless", "; see neardup duplicates --help-all"),
        ("solr start --colour", "; see neardup solr start --help"),
        ("search --ca a", "; it goes before the command: neardup --ca ..."),
        ("--solr a search", "; it goes after the command: neardup search --solr ..."),
        ("--json duplicates", "Did you mean '--format jsonl'?"),
        ("duplicates --measure alined", "; did you mean 'aligned'? Choose one of auto, words,"),
        ("report --measure Levenshtein", "; did you mean 'words'? Choose one of"),
        ("duplicates --format json", "Invalid value for '--format': 'json'; did you mean 'jsonl'?"),
        ("duplicates --linkage average", "'average'; choose one of single, complete, mutual_best"),
    ],
)  # fmt: skip
def test_words_of_other_tools(words: str, step: str) -> None:
    """What is typed as other tools have it, or with an error, leads to what the command has."""
    ran = CliRunner().invoke(parser(), words.split(), prog_name="neardup")
    assert ran.exit_code == 2
    assert ran.stderr.rstrip().splitlines()[-1].count(step) == 1, ran.stderr


@pytest.mark.parametrize("words", commands())
def test_no_file_and_no_name_is_empty(words: str, tmp_path: Path, monkeypatch: Any) -> None:
    """As a variable of the shell is that nobody has set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(embedded, "start", lambda *_: pytest.fail("a Solr was started"))
    params = [each for each in commands()[words].params if isinstance(each, click.Option)]
    for each in params:
        if each.metavar in ("FILE", "FOLDER", "COLUMN", "FIELD", "QUERY"):
            typed = [*words.split(), *shlex.split(WORDS.get(words, "")), each.opts[0], ""]
            ran = neardup(*typed)
            assert (ran.returncode, ran.stdout) == (2, ""), (typed, ran.stderr)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("words", ["strip -c x", "duplicates -c x --mark", "search --id 1"])
def test_no_address_is_empty(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded Solr would be changed in place of the one that was meant."""
    monkeypatch.setattr(embedded, "start", lambda *_, **__: pytest.fail("a Solr was started"))
    ran = neardup(*words.split(), "--solr", "")
    assert (ran.returncode, ran.stdout) == (2, "")
    with pytest.raises(nd.ArgumentError):
        nd.connect(" ", "x")


@pytest.mark.parametrize(
    ("verb", "inner"),
    [
        ("index", "index:index_source"),
        ("init", "init:prepare"),
        ("report", "report:ReportRequest"),
        *((name, f"{name}.request:{name.title()}Request") for name in REQUESTS),
    ],
)
def test_a_default_that_stands_twice_is_the_same(verb: str, inner: str) -> None:
    """Once in the signature, and once for the verbs that call another one."""
    module, _, name = inner.partition(":")
    called = getattr(importlib.import_module(f"neardup_solr.verbs.{module}"), name)
    defaults = {
        each.name: each.default
        for each in inspect.signature(called).parameters.values()
        if each.default is not each.empty
    }
    parameters = inspect.signature(getattr(nd, verb)).parameters
    expected = {name: each.default for name, each in parameters.items() if name in defaults}
    assert {name: defaults[name] for name in expected} == expected


@pytest.mark.parametrize("flag", ["--ca", "--cert"])
def test_no_certificate_is_empty(flag: str) -> None:
    """It would be left out in silence."""
    assert CliRunner().invoke(parser(), [flag, "", "lint"]).exit_code == 2


STRANGE = (
    "acl alpha bucket colour decay epochs fog gpu hue jitter kernel lambda licence mirror nice"
    " opaque pixel rank region shuffle sleep teapot umask voice whale yaml zebra"
)


@pytest.mark.parametrize("words", commands())
def test_no_suggestion_misleads(words: str) -> None:
    """A command has each option that it suggests, and suggests none for a word of another kind."""
    made, root = commands()[words], click.Context(parser(), info_name="neardup")
    context = click.Context(made, root, info_name=words)
    for word in " ".join(read_words("options")).split():
        step = made.refuse_option(f"--{word}", context).message.partition(f"'--{word}'")[2]
        suggested = re.findall(r"'(-[a-z-]+)[^']*'", step)
        assert {*suggested} <= {flag for each in made.get_params(context) for flag in each.opts}, (
            word
        )
    for word in STRANGE.split():
        assert "mean" not in made.refuse_option(f"--{word}", context).message


@pytest.mark.parametrize("word", STRANGE.split())
def test_no_command_misleads(word: str) -> None:
    """A command is suggested only for a word that is near it."""
    ran = CliRunner().invoke(parser(), [word])
    assert ran.stderr.rstrip().endswith(f"No such command '{word}'; choose one of {CHOICES}")


@pytest.mark.parametrize("name", ["base", "name", "names", "session", "url"])
def test_a_collection_is_opened_by_whichever_field_is_read_first(name: str) -> None:
    """Not before, so that nothing is asked for an argument that is wrong."""
    unopened = connect("http://127.0.0.1:9/solr", "x")
    with pytest.raises(nd.SolrError, match="connection refused"):
        getattr(unopened, name)
