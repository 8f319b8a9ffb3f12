"""The rooms of the package, and which of them may know which."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "neardup_solr"
# From the inside outwards: a room imports from itself and from those before it, so there are no
# circles. A name is that of a folder or of a module.
ROOMS = (
    "regex", "error_codes", "errors", "suggestions", "checks", "comma_names", "units",
    "sizes",
    "argument_types", "arguments", "option_table", "option_rows", "distinct",
    "records", "settings", "settings_by_name", "variables", "cores", "mapped_pages",
    "progress",
    "text", "kernel", "minhash", "measures", "candidates", "clusters", "guard",
    "files", "log", "hangup", "memory", "failpoint", "dead_letter_file", "index_job",
    "answers", "demo",
    "solr", "embedded", "sources", "reports", "web",
    "verbs", "spark", "cli",
)  # fmt: skip
PURE = ROOMS[: ROOMS.index("files")]
OUTSIDE = {"os", "io", "pathlib", "sys", "socket", "subprocess", "requests", "pysolr", "rich",
           "click"}  # fmt: skip
# Beside what is computed: the store of machine code, and what tells of the machine.
STORE = ("kernel/store.py", "kernel/build.py", "variables.py", "cores.py")
OWNERS = {"pysolr": {"solr"}, "requests": {"solr", "embedded"}, "numba": {"kernel"},
          "llvmlite": {"kernel"}}  # fmt: skip
# For users; they may know every room.
DOORS = ("__init__.py", "__main__.py", "api/", "testing.py", "types.py")


def modules() -> list[Path]:
    """Every module that is in a room."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return [path for path in paths if not str(path.relative_to(PACKAGE)).startswith(DOORS)]


def room(path: Path) -> str:
    """The room of a module: the folder below the package, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    """The names that a module imports, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "neardup_solr":
            yield from (f"neardup_solr.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_every_module_has_a_room() -> None:
    """No folder or module beside the rooms."""
    assert {room(path) for path in modules()} == set(ROOMS)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_inwards(path: Path) -> None:
    """A module imports from its own room and from those inside it."""
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "neardup_solr" and len(parts) > 1 and parts[1] in ROOMS:
            assert ROOMS.index(parts[1]) <= ROOMS.index(room(path)), f"{path.name} imports {name}"


@pytest.mark.parametrize(
    "path",
    [p for p in modules() if room(p) in PURE and not str(p).endswith(STORE)],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_pure_rooms_touch_nothing(path: Path) -> None:
    """Pure modules import no library that talks to files, the network or the terminal."""
    assert not OUTSIDE & {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize(("library", "owners"), OWNERS.items())
def test_a_library_has_its_owners(library: str, owners: set[str]) -> None:
    """Only `solr` and `embedded` speak to a server; only the kernel knows what compiles it."""
    users = {room(p) for p in modules() if library in {n.split(".")[0] for n in imports(p)}}
    assert users <= owners


def test_distinct_values_are_sorted() -> None:
    """By `distinct`: the hash table of NumPy takes many times as long."""
    options = {"return_index", "return_inverse", "return_counts"}
    users = {
        path.name
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.unique"
        if not options & {keyword.arg for keyword in node.keywords}
    }
    assert users == set()


def test_no_two_rooms_have_a_module_of_one_name() -> None:
    """What a thing is called tells where it is: verbs, commands and their tests share a word."""
    inner = [p for p in modules() if room(p) not in ("verbs", "cli") and p.stem != "__init__"]
    names = [path.stem for path in inner]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_no_two_modules_have_a_class_of_one_name() -> None:
    """A class of ours is found by its name."""
    names = [
        node.name
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def module_name(path: Path) -> str:
    """The dotted name of a module, by which others import it."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a module imports: for types and inside functions, too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {member if member in modules else node.module for member in members}
    return names & modules - {module_name(path)}


def test_no_modules_import_each_other() -> None:
    """There are no circles of imports, those for types and inside functions included."""
    paths = {module_name(path): path for path in PACKAGE.rglob("*.py")}
    graph = {name: imported_modules(path, set(paths)) for name, path in paths.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
