"""The rings: skin → verbs → edges → pure, never backwards."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "neardup_solr"
RINGS = ("pure", "edges", "verbs", "skin")
FOREIGN = {
    "pysolr": {"edges/client.py"},
    # Only the first of them sends anything.
    "requests": {"edges/http/session.py", "edges/http/prepared.py", "edges/http/answers.py"},
}


def modules() -> list[Path]:
    """Every module of the four rings."""
    return [path for ring in RINGS for path in sorted((PACKAGE / ring).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    """The names that a module imports, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_inwards(path: Path) -> None:
    """A module imports its own ring and those inside it."""
    own = RINGS.index(path.relative_to(PACKAGE).parts[0])
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "neardup_solr" and len(parts) > 1 and parts[1] in RINGS:
            assert RINGS.index(parts[1]) <= own, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_pure_ring_touches_nothing(path: Path) -> None:
    """Pure modules import no library that talks to files, the network or the terminal."""
    if path.relative_to(PACKAGE).parts[0] == "pure":
        outside = {"os", "pathlib", "sys", "requests", "pysolr", "rich", "typer", "subprocess"}
        assert not outside & {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize(("library", "owners"), FOREIGN.items())
def test_one_module_owns_the_talk_with_solr(library: str, owners: set[str]) -> None:
    """Only the client uses pysolr; requests is the session's, and the server's for downloads."""
    users = {str(path.relative_to(PACKAGE)) for path in modules() if library in set(imports(path))}
    assert {user for user in users if not user.startswith("edges/server/")} == owners


def test_modules_are_small() -> None:
    """A module has at most 300 lines."""
    lengths = {path.name: len(path.read_text().splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > 300} == {}
