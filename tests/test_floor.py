"""The modules that commands load: each takes time before any work begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import neardup_solr as nd

OF_HTTP = {"requests", "urllib3", "ssl", "http", "email", "pysolr"}
OF_TABLES = {"numba", "pandas", "polars", "pyarrow", "rich", "openpyxl"}
PACKAGE = Path(nd.__file__).parent
WRITERS = {"reports.html", "reports.copies"}


def loaded_by(*words: str) -> tuple[set[str], set[str]]:
    """Run a command; return the modules of ours that it loads, and the packages of others."""
    command = [sys.executable, "-X", "importtime", "-m", "neardup_solr", *words]
    told = subprocess.run(command, capture_output=True, text=True).stderr
    lines = [line for line in told.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip() for line in lines}
    ours = {name.removeprefix("neardup_solr.") for name in names if name.startswith("neardup_solr")}
    return ours, {name.partition(".")[0] for name in names}


def in_room(modules: set[str], *rooms: str) -> set[str]:
    """The modules of these rooms."""
    return {one for one in modules if one.startswith(tuple(f"{room}." for room in rooms))}


def all_of_ours() -> set[str]:
    """The modules of the package."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return {".".join(path.parts).removesuffix(".__init__") for path in paths}


def count_lines(modules: set[str]) -> int:
    """Count the lines of modules: many small ones take no longer than few large ones."""
    places = [PACKAGE.joinpath(*name.split(".")) for name in modules]
    files = (
        p.with_suffix(".py") if p.with_suffix(".py").exists() else p / "__init__.py" for p in places
    )
    return sum(path.read_text("utf-8").count("\n") for path in files if path.exists())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small table, compared once so that the kernel is compiled."""
    path = tmp_path / "some.csv"
    path.write_text("id,text\n" + "".join(f"{n},one two three four {n}\n" for n in range(9)))
    loaded_by("duplicates", str(path))
    return path


def test_help_loads_no_work() -> None:
    """The list of commands needs neither numbers, sources nor Solr."""
    ours, others = loaded_by("--help")
    assert in_room(ours, "solr", "sources", "kernel", "minhash", "measures", "verbs") == set()
    assert not others & {"numpy", *OF_HTTP, *OF_TABLES}


def test_a_command_that_is_right_loads_no_suggestions() -> None:
    """A module of the package is no unknown word, which suggestions would be looked up for."""
    _, others = loaded_by("--version")
    assert not others & {"rapidfuzz", "tomllib"}
    with pytest.raises(AttributeError, match="Duplicate"):
        _ = nd.duplicate  # type: ignore[attr-defined]


def test_duplicates_of_a_file_load_no_solr(source: Path) -> None:
    """A run over a file needs no HTTP, no Solr, and no verb but its own."""
    ours, others = loaded_by("duplicates", str(source))
    assert in_room(ours, "solr", "embedded") == set()
    assert {one.split(".")[1] for one in in_room(ours, "verbs")} == {
        "document_batches",
        "duplicates",
    }
    assert not ours & WRITERS
    assert not others & {*OF_HTTP, *OF_TABLES}
    others = {"json", "excel", "arrow", "in_memory"}
    assert not ours & {f"sources.{one}" for one in others}
    assert 2 * count_lines(ours) < count_lines(all_of_ours())


def test_search_and_index_load_only_their_own(source: Path) -> None:
    """They need no other verb's candidates, clusters and reports, even if they fail."""
    refused = ["-c", "none", "--solr", "http://127.0.0.1:9/solr"]
    for words in (["search", "--text", "some words", *refused], ["index", str(source), *refused]):
        ours, others = loaded_by(*words)
        assert {one.split(".")[1] for one in in_room(ours, "verbs")} <= ALLOWED[words[0]]
        assert in_room(ours, "candidates", "clusters", "reports.html", "embedded") == set()
        assert not others & OF_TABLES


def test_lint_loads_no_numbers() -> None:
    """It makes no signatures, unless it estimates what those of a sample would take."""
    ours, others = loaded_by("lint", "-c", "none", "--solr", "http://127.0.0.1:9/solr")
    assert in_room(ours, "kernel", "minhash", "sources") == set()
    assert not others & {"numpy", *OF_TABLES}


ALLOWED = {
    "search": {"search", "criteria", "collection_measure", "connect"},
    "index": {
        "index",
        "index_run",
        "delivery",
        "columns_to_keep",
        "connect",
        "document_batches",
        "settings_by_texts",
    },
}


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("starlette", "nd.review([{'id': '1', 'text': 'a b'}], answers='no.jsonl')"),
        ("pyspark", "from neardup_solr import spark; spark.local()"),
    ],
)
def test_a_missing_extra_is_named(module: str, call: str) -> None:
    """Without an extra its functions are there, and say how to install it."""
    script = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "import neardup_solr as nd\n"
        f"try:\n    {call.replace('; ', chr(10) + '    ')}\n"
        "except nd.errors.SettingsError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert module in done.stdout
    assert "pip install" in done.stdout


def test_spark_is_imported_without_pyarrow() -> None:
    """What needs pyarrow loads it when it works, and says how to install it."""
    script = "import sys; sys.modules['pyarrow'] = None; from neardup_solr import spark"
    subprocess.run([sys.executable, "-c", script], check=True)
