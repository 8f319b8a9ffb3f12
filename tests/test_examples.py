"""Every example of README.md and of docs/ runs as it stands, page by page.

The blocks of a page run in their order, in a folder with the files of tests/examples and of the
demo, on the embedded Solr: `console` in a shell, `python` in one namespace. Output that a page
shows is what comes out, but for "..." where it may differ. A block after `<!-- file: NAME -->`
becomes that file; one that cannot run here says why, by `<!-- not run: REASON -->` before it.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from neardup_solr import demo
from tests import ROOT
from tests.command import neardup
from tests.solr import foreign

FILES = ROOT / "tests" / "examples"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- (?P<mark>not run|file): (?P<note>.+?) -->\n *)?"
    r"```(?P<language>\w*)\n(?P<text>.*?)^ *```$",
    flags=re.MULTILINE | re.DOTALL,
)
PLAIN = re.compile(r"neardup (?!solr )[^|<>*?;&`$(){}\\]+")  # nothing in it is the shell's
# What `json`, `solr` and `sql` blocks say is tried by tests of their own, see OTHER_TESTS.
LANGUAGES = {"console", "python", "text", "json", "solr", "sql", "xml", "yaml"}
OTHER_TESTS = {
    "json": "tests/solr/test_native.py",
    "solr": "tests/solr/verbs/test_mark.py",
    "sql": "tests/unit/verbs/test_signatures.py",
    "yaml": "tests/test_deploy.py",
}
ADDRESS = "http://localhost:8983/solr"
# Collections that somebody else made: a page that names one finds it there, with three documents,
# and with the update chain of the `xml` block of the page.
OF_OTHERS = ("articles", "books", "signed")
FIELDS = '<field name="published" type="string" indexed="true" stored="true"/>'
DOCUMENTS = [
    {
        "sku": "1",
        "title": "The night ferry",
        "body": ["It leaves the old pier at nine, with a band"],
    },
    {
        "sku": "2",
        "title": "The night ferry",
        "body": ["It leaves the old pier at ten, with a band"],
    },
    {"sku": "3", "title": "Bread", "body": ["How to bake it with little yeast and much time"]},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: the `number`-th of its page, with what the comment before it says."""

    page: str
    number: int
    language: str
    text: str
    mark: str
    note: str


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
    page = path.relative_to(ROOT).as_posix()
    return [
        Block(
            page=page,
            number=number,
            language=found["language"],
            text=textwrap.dedent(found["text"]),
            mark=found["mark"] or "",
            note=found["note"] or "",
        )
        for number, found in enumerate(FENCE.finditer(path.read_text("utf-8")), start=1)
    ]


def to_run(path: Path) -> list[Block]:
    """What runs of a page: its examples, and the files and outputs that belong to them."""
    return [
        block
        for block in blocks(path)
        if (block.language in ("console", "python", "text") or block.mark == "file")
        and block.mark != "not run"
    ]


# The page of Spark starts three of it; tests/spark try what it shows.
EXAMPLES = [
    pytest.param(path, marks=pytest.mark.slow if path.name == "spark.md" else ())
    for path in PAGES
    if {block.language for block in to_run(path)} & {"console", "python"}
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_block_says_what_it_is(path: Path) -> None:
    """A fence names its language, and no example hides in an indented block."""
    text = path.read_text("utf-8")
    assert {block.language for block in blocks(path)} <= LANGUAGES
    assert text.count("```") == 2 * len(blocks(path))
    outside = FENCE.sub("", text)
    assert (
        re.findall(r"^ {4,}(?:\$|neardup|python|nd\.|import|scripts/).*", outside, re.MULTILINE)
        == []
    )


def test_blocks_that_run_elsewhere_are_named_there() -> None:
    """The tests that are said to try the other languages read the pages of docs/."""
    for language, test in OTHER_TESTS.items():
        assert f"```{language}" in (ROOT / test).read_text("utf-8")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run(
    path: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples of a page, one after the other, as a reader would type them."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    for file in (demo.listings(), demo.pairs()):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    commands = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    with ExitStack() as stack:
        text = "".join(block.text for block in to_run(path))
        chain = "".join(block.text for block in blocks(path) if block.language == "xml")
        factory = foreign.MANAGED.format("true") + chain
        for name in [name for name in OF_OTHERS if re.search(rf'(-c |"){name}\b', text)]:
            theirs = foreign.collection(name=name, more=FIELDS, factory=factory)
            made = stack.enter_context(theirs)
            made.add([document | {"published": "true"} for document in DOCUMENTS])
            made.commit()
        run_page(to_run(path), address)


ENDLESS = {"review", "serve"}  # they wait for people and for clients
# In their order, as some need what others have made.
FIRST = ["connect", "index", "init", "annotate", "search", "mark", "strip"]
FUNCTIONS = [name for name in nd.__all__ if inspect.isfunction(getattr(nd, name))]


def test_functions_have_examples_that_run(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The docstring of each public function has an example, for the files of the pages."""
    examples = {
        name: re.findall(r"^Example: `(.+)`$", inspect.getdoc(getattr(nd, name)) or "", re.M)
        for name in FUNCTIONS
    }
    assert [name for name, lines in examples.items() if len(lines) != 1] == []
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Path("old.csv").write_text("id,text\n21,Harbor House\n,Harbor Inn\n", "utf-8")
    neardup("index", "old.csv", "--job", "old", "-c", "listings")
    with foreign.collection(name="books", more=FIELDS) as books:
        books.add([document | {"published": "true"} for document in DOCUMENTS])
        books.commit()
        names = {"nd": nd, "listings": nd.connect(address, "listings"), "books": books}
        for name in [*FIRST, *(name for name in FUNCTIONS if name not in {*FIRST, *ENDLESS})]:
            example = examples[name][0].replace(ADDRESS, address)
            assert eval(example, names) is not None, f"{name}: {example}"
            names["books"] = nd.connect(address, "books")  # knows the fields that init has added


def run_page(page: list[Block], address: str) -> None:
    """Run blocks of a page; a `text` block right behind a Python one is what that one prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed, before = "", 0
    for block in page:
        where = f"{block.page}, block {block.number}"
        text = block.text.replace(ADDRESS, address)
        if block.mark == "file":
            Path(block.note).write_text(text, encoding="utf-8")
        elif block.language == "console":
            run_console(text, where)
        elif block.language == "python":
            printed, before = run_python(text, names, where), block.number
        elif block.number == before + 1:
            require_output(block.text, printed, where)


def run_python(text: str, names: dict[str, Any], where: str) -> str:
    """What a block prints, as if it were typed into the page's own interpreter."""
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(ast.parse(text), where, "exec"), names)
    return printed.getvalue()


def run_console(text: str, where: str) -> None:
    """Run the lines behind "$ "; those that follow one are what it prints.

    A command has to succeed, unless the page shows its error.
    """
    for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", text, flags=re.MULTILINE):
        ran = run_command(command, in_shell=where.startswith("README"))
        is_error = shown.startswith("neardup: ")
        assert (ran.returncode != 0) == is_error, f"{where}: {command}\n{ran.stdout}"
        if shown.strip():
            require_output(shown, ran.stdout, f"{where}: {command}")


def run_command(command: str, *, in_shell: bool) -> subprocess.CompletedProcess[str]:
    """Run a line that was typed, in a shell if so, or if the command alone is not all of it."""
    columns = {"COLUMNS": "80"}
    if PLAIN.fullmatch(command) and not in_shell:
        return neardup(*shlex.split(command, comments=True)[1:], env=columns, is_mixed=True)
    return subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | columns,
        text=True,
        timeout=300,
    )


def require_output(shown: str, printed: str, where: str) -> None:
    """What a page shows is what came out; "..." stands for anything, and nothing is compiled."""
    printed = re.sub(r"Compiling the kernel .*\n", "", printed)
    rules = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    is_same = doctest.OutputChecker().check_output(shown, printed, rules)
    assert is_same, f"{where}\nthe page shows:\n{shown}\nbut it prints:\n{printed}"
