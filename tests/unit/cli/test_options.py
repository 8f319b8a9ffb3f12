"""Every option of every command makes a difference to what the library is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

import neardup_solr as nd
from neardup_solr import embedded, sources
from neardup_solr.cli import show
from neardup_solr.cli.main import in_options, parser
from neardup_solr.solr import admin, collection, schema
from neardup_solr.solr.schema import Schema

# What a command cannot do without, and what some of its options need beside them.
WORDS = {
    "annotate": "", "delete": "1", "doctor": "", "duplicates": "a.txt", "evaluate": "known.tsv",
    "explain": "1 2 --source a.txt", "gate": "a.txt --held held.jsonl", "index": "a.txt",
    "init": "", "lint": "", "reband": "--bands 42 --band-rows 3", "report": "",
    "search": "--text x", "signatures": "a.txt -o s.parquet", "strip": "", "tune": "a.txt",
}  # fmt: skip
NEEDED = {
    "--language": "--kind stems", "--within": "--against b.txt", "--mutual-best": "--against b.txt",
    "--shards": "--native", "--full": "--remember known",
}  # fmt: skip
INSTEAD = {  # of the words of a command: what these options go with
    ("explain", "--solr"): "1 2", ("explain", "--collection"): "1 2", ("search", "--id"): "--id 1",
    ("duplicates", "--solr"): "", ("duplicates", "--collection"): "", ("tune", "--solr"): "",
    ("tune", "--collection"): "", ("duplicates", "--undo"): "", ("duplicates", "--fq"): "",
}  # fmt: skip
VALUES = {
    "--avoid": "0.2", "--band-rows": "2", "--bands": "7", "--by": "bands",
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
BY_TYPE = {"int": "2", "int range": "5", "float": "0.7", "float range": "0.7"}
# These say what is read or printed around the library's call; other tests look at that.
FACES: set[str | tuple[str, str]] = {
    "--format", "--output", "--held", "--strict", "--plot", "--report", "--file", "--mark", "--yes",
    "--max-failed",  # the exit code
    "--help", ("delete", "--dry-run"), ("duplicates", "--dry-run"),
    ("index", "--restart"),  # what happens without it, and nothing is said about an earlier run
}  # fmt: skip
GROUP: Any = typer.main.get_command(parser())
COMMANDS: dict[str, Any] = GROUP.commands


class Asked(Exception):
    """The library was asked; the command need not go on."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What the library is asked by a command, which it ends."""
    calls: list[str] = []

    def note(name: str, /, *args: object, **kwargs: object) -> None:
        calls.append(re.sub(r" at 0x[0-9a-f]+", "", repr((name, args, kwargs))))

    def connect(address: str | None, name: str | None, **kwargs: object) -> nd.Collection:
        note("connect", address, name, **kwargs)
        return collection.open_collection(address or "http://127.0.0.1:1/solr", name or "neardup")

    def read(*args: object, **kwargs: object) -> Iterator[nd.Document]:
        note("read", *args, **kwargs)
        return iter(())

    def verb(name: str) -> Any:
        def call(*args: object, **kwargs: object) -> None:
            note(name, *args, **kwargs)
            raise Asked

        return call

    for name in COMMANDS.keys() | {"unmark"}:
        if name in nd.__all__:
            monkeypatch.setattr(nd, name, verb(name), raising=False)
    monkeypatch.setattr(nd, "connect", connect, raising=False)
    monkeypatch.setattr(sources, "documents", read)
    monkeypatch.setattr(admin, "exists", lambda solr: True)
    monkeypatch.setattr(embedded, "is_known", lambda: True)
    monkeypatch.setattr(schema, "described", lambda solr: Schema(key="id", types={}, fields={}))
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
        GROUP.main(words, standalone_mode=False)
    return [*asked]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (name, option)
        for name, command in COMMANDS.items()
        if name in WORDS
        for option in command.params
        if option.param_type_name == "option"
        and not {option.opts[0], (name, option.opts[0])} & FACES
    ],
    ids=lambda v: v if type(v) is str else v.opts[0],
)
def test_an_option_makes_a_difference(asked: list[str], command: str, option: Any) -> None:
    """The library is asked otherwise with the option than without it."""
    name = option.opts[0]
    words = [command, *INSTEAD.get((command, name), WORDS[command]).split()]
    words += NEEDED.get(name, "").split()
    value = VALUES.get(name, BY_TYPE.get(option.type.name, "any_x"))
    given = [name] if option.is_flag else [name, value]
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
    ],
)  # fmt: skip
def test_messages_name_options(message: str, command: str, shown: str) -> None:
    """The library's arguments become options, but nothing that a message quotes."""
    assert in_options(message, command) == shown


WRONG = [
    ["report", "--from-id", "9", "--to-id", "1"],
    ["evaluate", "known.tsv", "--from-id", "9", "--to-id", "1"],
    ["duplicates", "--memory", "1"],
    ["duplicates", "--canonical", "nonsense"],
    ["duplicates", "--mutual-best"],
    ["tune", "--catch", "2"],
    ["tune", "--hashes", "0"],
    ["tune", "--sample", "1"],
    ["explain", "1", "1"],
    ["init", "--remove", "--native"],
    ["init", "--prefix", "a b"],
    ["annotate", "--bands", "0"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_arguments_are_refused_before_a_solr_is_asked(
    asked: list[str], words: list[str]
) -> None:
    """Nothing is connected to, so that no embedded Solr is started for nothing."""
    with pytest.raises((nd.ArgumentError, typer.BadParameter)):
        GROUP.main(words, standalone_mode=False)
    assert asked == []


@pytest.mark.parametrize(
    ("typed", "number", "offered"),
    [
        ("neardup dup", 1, ["duplicates"]),
        ("neardup duplicates --max-d", 2, ["--max-distance", "--max-doc-bytes"]),
        ("neardup duplicates --linkage ", 3, ["single", "complete"]),
    ],
)
def test_a_shell_completes_commands_options_and_choices(
    typed: str, number: int, offered: list[str]
) -> None:
    """What the shell asks the command for when somebody presses the tab key."""
    asked = {
        "_NEARDUP_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(number),
    }
    command = Path(sys.executable).parent / "neardup"
    done = subprocess.run(
        [command], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == offered
