"""Documentation that can fail the build: help, names, links and the wheel are right."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.faults.scripted import EMPTY, Answer, answering
from tests.faults.test_answers import error
from website.commands import commands, usage_of

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("words", commands())
def test_every_command_explains_itself(words: str) -> None:
    """--help begins with how it is used, and says what it does."""
    shown = neardup(*words.split(), "--help")
    said = " ".join(shown.stdout.split())
    what = str(commands()[words].help).splitlines()[0]
    assert shown.returncode == 0
    assert said.startswith(f"Usage: {usage_of(words, commands()[words])}")
    assert what.endswith(".")
    assert what in said


def test_every_command_in_the_readme_exists() -> None:
    """The README names no command that is not there."""
    known = {words.split()[0] for words in commands()}
    named = set(re.findall(r"(?:^\$ |`)neardup ([a-z-]+)", README, flags=re.MULTILINE))
    assert named <= known
    assert len(named) >= 5


@pytest.mark.parametrize("module", [nd, nd.types])
def test_all_is_what_is_public(module: Any) -> None:
    """The stub (scripts/stub) has the names of `__all__` from their modules."""
    tree = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text())
    typed = {
        alias.asname: str(one.module).removeprefix("neardup_solr.")
        for one in ast.walk(tree)
        if isinstance(one, ast.ImportFrom) and str(one.module).startswith("neardup_solr.")
        for alias in one.names
        if alias.name == alias.asname
        and alias.name != "signature"  # without `as` no type checker takes a name as public
    }
    assert typed == module._PLACES
    assert list(module._PLACES) == module.__all__


@pytest.mark.parametrize("name", nd.__all__)
def test_what_is_public_is_documented(name: str) -> None:
    """Each public name has a docstring."""
    assert inspect.getdoc(getattr(nd, name))


@pytest.mark.parametrize("name", [name for name in nd.__all__ if name.islower()])
def test_public_functions_are_typed(name: str) -> None:
    """Every parameter and result of a public function has a type."""
    signature = inspect.signature(getattr(nd, name))
    empty = inspect.Signature.empty
    assert signature.return_annotation is not empty
    assert all(p.annotation is not empty for p in signature.parameters.values())


def test_every_field_is_in_the_field_table() -> None:
    """The table of fields names each field that indexing writes."""
    table = (ROOT / "solr_config" / "README.md").read_text()
    result = nd.duplicates([("1", "a"), ("2", "b")], by="bands", settings={"fields": "all"})
    names = ["id", *result.settings.fields, "signature_settings"]
    assert [name for name in names if f"| `{name}` |" not in table] == []


def test_every_variable_of_the_environment_is_listed() -> None:
    """docs/operations.md has each variable that the code reads, and no other of ours."""
    sources = [path.read_text() for path in (ROOT / "neardup_solr").rglob("*.py")]
    read = {name for text in sources for name in re.findall(r"_?NEARDUP_[A-Z_]+", text)}
    page = (ROOT / "docs" / "operations.md").read_text()
    listed = set(re.findall(r"`(_?NEARDUP_[A-Z_]+)`", page))
    assert read <= listed
    of_click = {"_NEARDUP_COMPLETE"}
    assert listed - read == {"NEARDUP_DATA", "NEARDUP_FAULTS"} | of_click  # of the tests alone


def anchors(page: Path) -> set[str]:
    """What a link to a heading of a page ends with."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    """Every relative link of the documentation has a file at its end, and in it the heading."""
    readmes = (ROOT / folder / "README.md" for folder in ("", "solr_config", "benchmarks"))
    for page in (*readmes, *(ROOT / "docs").rglob("*.md")):
        for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)]+))?\)", page.read_text()):
            if "://" not in target:
                end = page.parent / target if target else page
                assert end.exists(), f"{page.name}: {target}"
                assert not heading or heading in anchors(end), f"{page.name}: {target}#{heading}"


def test_the_first_page_leads_to_every_other() -> None:
    """docs/index.md links each page of docs/, but for those of single commands."""
    docs = ROOT / "docs"
    index = (docs / "index.md").read_text()
    linked = {(docs / target).resolve() for target in re.findall(r"\]\(([^)#\s]+\.md)", index)}
    pages = {*docs.glob("*.md"), *docs.glob("guides/*.md")} - {docs / "index.md"}
    assert sorted(page.name for page in pages - linked) == []


# Prints the errors of a Solr that allows nothing, and of one that has no configset.
PREPARING = """
import sys
import neardup_solr as nd
solr = nd.connect(sys.argv[1], "x")
for _ in range(2):
    try:
        nd.init(solr)
    except nd.NeardupError as error:
        print(error)
"""


def test_the_wheel_carries_the_configset_and_the_pages(tmp_path: Path) -> None:
    """An installed package finds them where the wheel puts them."""
    package = tmp_path / "neardup_solr"
    package.mkdir()
    for path in (ROOT / "neardup_solr").iterdir():
        (package / path.name).symlink_to(path)
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    for source, place in build["targets"]["wheel"]["force-include"].items():
        shutil.copytree(ROOT / source, tmp_path / place)
    fine = Answer(body=b'{"responseHeader":{"status":0},"status":{}}')
    refused = [Answer(status=403), fine, fine, fine, error("no such configset", 400)]
    with answering(Answer(body=EMPTY), *refused) as (address, _):
        user = {"NEARDUP_SOLR_USER": "me", "NEARDUP_SOLR_PASSWORD": "secret"}
        variables = {**os.environ, **user, "PYTHONPATH": str(tmp_path)}
        variables.pop("NEARDUP_DOCS", None)
        words = [sys.executable, "-c", PREPARING, address]
        ran = subprocess.run(
            words, capture_output=True, text=True, check=True, cwd=tmp_path, env=variables
        )
    no_right, no_configset = ran.stdout.splitlines()
    assert no_right.endswith(str(package / "docs" / "security.md"))
    found = package / "solr_config"
    assert f"copy {found / 'conf'} to " in no_configset
    for needed in ("conf/managed-schema.xml", "conf/solrconfig.xml", "server/jars-9.10.1.lock"):
        assert (found / needed).is_file()


def test_pages_that_messages_name_are_there() -> None:
    """Messages name pages by `files.page`, and each of these pages exists."""
    sources = [path.read_text() for path in (ROOT / "neardup_solr").rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"\bpage\([\"'](.+?)[\"']\)", text)}
    assert "tuning" in named
    assert [name for name in named if not (ROOT / "docs" / f"{name}.md").is_file()] == []


def test_the_configset_has_the_name_that_is_documented() -> None:
    """A Solr of one's own gets the configset by the lines of solr_config/README.md."""
    page = (ROOT / "solr_config" / "README.md").read_text()
    assert "cp -r conf SOLR/server/solr/configsets/neardup/conf\n" in page


# Sentences that say that neardup_solr lacks something: by their verbs, and by "Only in TOOL".
CLAIM = re.compile(
    r"(?:neardup_solr|`[a-z]+`|[Cc]ommands) (?:do(?:es)? not|cannot|lacks?|ha(?:s|ve) no)\b"
    r"|\b(?:does|do) not (?:support|learn|know|connect|look for|work)\b|\bunsupported\b"
    r"|\bnot (?:yet|here|supported|available|possible|implemented|annotated|tested|detected)\b"
    r"|\bcannot be (?:standard|installed|resumed)\b|(?<!if )\bthere is no\b|\bno \w+ yet\b"
    r"|\bneardup_solr never\b|(?-i:\bOnly in\b)",
    re.IGNORECASE,
)
LISTINGS = str(ROOT / "tests" / "examples" / "listings.csv")


def refuses(source: Any = LISTINGS, verb: Any = nd.duplicates, **options: Any) -> bool:
    """Whether a function raises an error of the package."""
    try:
        verb(source, **options)
    except nd.NeardupError:
        return True
    return False


def unread(place: str, word: str) -> bool:
    """Whether no module at a place of the package has a word."""
    top = ROOT / "neardup_solr" / place
    modules = [top] if top.is_file() else [*top.rglob("*.py")]
    return bool(modules) and not any(word in module.read_text().lower() for module in modules)


# Words of such a sentence, with its proofs: commands that fail, tests by name, or functions that
# return True if the claim holds.
PROOFS: dict[str, tuple[str | Callable[[], bool], ...]] = {
    "sets of things other than text": (
        lambda: refuses([{1, 2}, {1, 2, 3}]),
        lambda: not any(inspect.iscoroutinefunction(getattr(nd, name)) for name in nd.__all__),
        lambda: refuses(verb=nd.search, text="fish and wine"),
    ),
    "suffix arrays": (
        lambda: refuses(by="suffix"),
        lambda: refuses(by="bloom"),
        lambda: refuses(settings={"family": "simhash"}),
    ),
    "column types for places": (
        *(
            lambda kind=kind: refuses(fields={"city": kind})
            for kind in ("place", "set", "category")
        ),
        lambda: refuses(fields={"city": str.__eq__}),
    ),
    "comparison levels that you define": (
        lambda: refuses(fields={"city": [0.9, 0.7]}),
        lambda: refuses("duckdb:///listings.db"),
    ),
    "a processor inside the server": (lambda: not list((ROOT / "solr_config").rglob("*.jar")),),
    "Nested documents": (
        "tests/solr/verbs/test_annotate_whole.py::test_documents_of_two_shards_are_written_whole",
    ),
    "`--without-common`, `search`, `report` and `gate`": (
        "neardup duplicates listings.csv --field city --without-common",
        "neardup report --field city",
        "neardup search --id 12 --field city",
        "neardup gate new.jsonl --field city",
    ),
    "`auto`, `aligned` and `records`": ("tests/spark/test_arguments.py::test_what_pairs_say",),
    "cannot be standard input": ("neardup duplicates - --unique clean.csv",),
    "`serve` does not": (lambda: unread("verbs/serve", "template"),),
    "`index` does not choose": (
        lambda: unread("verbs/index.py", "guess"),
        lambda: unread("verbs/index_run.py", "guess"),
    ),
    "`duplicates` does not commit": ("tests/solr/test_secured.py::test_a_user_who_may_only_read",),
    "versions before 8.11": ("tests/unit/verbs/test_lint.py::test_versions_that_nobody_has_tried",),
}


def claims() -> list[tuple[str, str]]:
    """The pages with their sentences, outside of examples, that match `CLAIM`."""
    pages = (
        ROOT / "README.md",
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs/guides").glob("*.md"),
    )
    found = []
    for page in pages:
        text = re.sub(r"^ *```.*?^ *```$|<!--.*?-->", "", page.read_text(), flags=re.M | re.S)
        for block in re.split(r"\n\s*\n|\n(?=[-|#] ?)", text):
            sentences = re.split(r"(?<=[.!?;])\s+", " ".join(block.split()))
            found += [(page.name, each) for each in sentences if CLAIM.search(each)]
    return found


def test_claims_of_what_is_missing_have_proofs() -> None:
    """A sentence that says that something is missing has a proof, and each proof its sentence."""
    found = claims()
    bare = [each for each in found if not any(words in each[1] for words in PROOFS)]
    assert bare == [], "delete these sentences, or show in PROOFS that they are true"
    unused = [words for words in PROOFS if not any(words in each for _, each in found)]
    assert unused == [], "delete these proofs: their sentences are gone"


@pytest.mark.parametrize(
    "false",
    ["neardup_solr does not learn from answers.", "**Not here:** learning", "No review yet"],
)
def test_false_claims_are_noticed(false: str) -> None:
    """A sentence of this kind without a proof would fail the test above."""
    assert CLAIM.search(false)
    assert not any(words in false for words in PROOFS)


@pytest.mark.parametrize("words", PROOFS)
def test_what_is_missing_is_missing(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each proof of a claim holds."""
    shutil.copytree(ROOT / "tests" / "examples", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for proof in PROOFS[words]:
        if callable(proof):
            assert proof()
        elif "::" in proof:
            path, _, name = proof.partition("::")
            assert f"def {name}(" in (ROOT / path).read_text()
        else:
            assert neardup(*proof.split()[1:], input="").returncode == 2, proof
