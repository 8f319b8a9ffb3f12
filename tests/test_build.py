"""What is published: the wheel and the sdist, and the wheel installed without the checkout.

They are those in the folder $NEARDUP_DIST, as `scripts/build` has built them, or built here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.metadata import Metadata

import neardup_solr
from neardup_solr.kernel import build as kernel_build
from neardup_solr.kernel.store import LEVEL

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TYPING = ROOT / "tests" / "typing"
CARRIED = f"neardup_solr/kernel/{LEVEL}-"  # folder of machine code
GOLDEN = ROOT / "tests" / "unit" / "minhash" / "golden-2.jsonl"
VERSION = neardup_solr.__version__
NAME = f"neardup_solr-{VERSION}"
FOLDERS = ("neardup_solr", "solr_config", "tests", "scripts", "docs", "website", "benchmarks",
           ".github")  # fmt: skip

Mistake = tuple[int, str]  # the line, and mypy's code for the error
EXCUSE = re.compile(r"  # type: ignore\[([a-z-]+)\]$", re.MULTILINE)

LISTINGS = """\
{"id": "1", "text": "Ember and Barley, 39 Weaver Boulevard, open every evening until late"}
{"id": "2", "text": "Ember and Barley, 39 Weaver Boulevard, open every evening until eleven"}
{"id": "3", "text": "The Amber Larder, a small restaurant in the old harbour of Tarrow"}
"""


def run(*words: str | Path, folder: Path) -> str:
    """What a command prints that is run in a folder, without the environment of this run."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "NEARDUP_", "VIRTUAL_ENV"))
    }
    ended = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def build(*targets: str, checkout: Path, folder: Path) -> None:
    """Build the wheel or the sdist of a checkout into a folder."""
    chosen = [word for target in targets for word in ("--target", target)]
    run(sys.executable, "-m", "hatchling", "build", *chosen, "-d", folder, folder=checkout)


def files(folder: Path) -> Iterator[str]:
    """The files of a folder that belong to the project, by their paths in it."""
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix()


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel and the sdist."""
    if built := os.environ.get("NEARDUP_DIST"):
        return ROOT / built
    folder = tmp_path_factory.mktemp("dist")
    build("sdist", "wheel", checkout=ROOT, folder=folder)
    return folder


def read_wheel(path: Path) -> dict[str, bytes]:
    """The files of a wheel, without machine code and the list of all."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.startswith(CARRIED)]
        return {name: archive.read(name) for name in names if not name.endswith("/RECORD")}


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    """The wheel: one for every system, with machine code for one if `scripts/build` made it."""
    return dist / f"{NAME}-py3-none-any.whl"


@pytest.fixture(scope="module")
def sdist(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
        # What is ours needs no filter, but from 3.12 on Python warns if none is named.
        safe: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, **safe)
    return folder / NAME


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a new environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", folder / "venv", folder=folder)
    commands = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
    run(commands / "python", "-m", "pip", "install", *quiet, wheel, folder=folder)
    return commands


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Its files are those of the package, and the folders that it takes along."""
    expected = {f"neardup_solr/{name}" for name in files(ROOT / "neardup_solr")}
    taken = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, target in taken.items():
        expected |= {f"{target}/{name}" for name in files(ROOT / source)}
    names = read_wheel(wheel)
    found = {name for name in names if not name.startswith(f"{NAME}.dist-info/")}
    assert f"{NAME}.dist-info/licenses/LICENSE" in names
    assert found == expected
    assert found >= {
        "neardup_solr/py.typed",
        "neardup_solr/text/unicode14.bin",
        "neardup_solr/demo/listings.tsv",
        "neardup_solr/reports/html/report.js",
        "neardup_solr/solr_config/conf/managed-schema.xml",
        "neardup_solr/solr_config/server/jars-9.10.1.lock",
    }


def test_the_sdist_holds_what_tests_and_documentation_need(sdist: Path) -> None:
    """Every folder of the project, whole, beside the files at its top."""
    for name in FOLDERS:
        assert set(files(sdist / name)) == set(files(ROOT / name))
    top = {path.name for path in sdist.iterdir() if path.is_file()}
    assert top >= {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}


def test_the_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """Byte for byte, but for the machine code, which an sdist does not have."""
    build("wheel", checkout=sdist, folder=tmp_path)
    assert read_wheel(tmp_path / wheel.name) == read_wheel(wheel)


def test_the_metadata_is_valid(wheel: Path) -> None:
    """The index can read them, and the page there has the licence and the README."""
    with zipfile.ZipFile(wheel) as archive:
        found = Metadata.from_email(archive.read(f"{NAME}.dist-info/METADATA"), validate=True)
    assert found.name == "neardup-solr"
    assert str(found.version) == VERSION
    assert found.license_expression == "MIT"
    assert found.license_files == ["LICENSE"]
    assert found.description_content_type == "text/markdown"
    assert (found.description or "").startswith(
        (ROOT / "README.md").read_text("utf-8").strip()[:1000]
    )


@pytest.mark.slow
def test_the_command_starts(installed: Path, tmp_path: Path) -> None:
    """It is the installed one, of this version, and finds the files that came along."""
    assert run(installed / "neardup", "--version", folder=tmp_path) == f"{VERSION}\n"
    assert "duplicates" in run(installed / "neardup", "--help", folder=tmp_path)
    where = "from neardup_solr.files import solr_config; print(solr_config())"
    found = run(installed / "python", "-c", where, folder=tmp_path).strip()
    assert Path(found).is_relative_to(installed.parent)
    assert sorted(files(Path(found))) == sorted(files(ROOT / "solr_config"))


@pytest.mark.slow
def test_near_duplicates_of_a_file_are_found(installed: Path, tmp_path: Path) -> None:
    """`neardup duplicates` works with what the wheel brings and asks for, page included."""
    (tmp_path / "listings.jsonl").write_text(LISTINGS, "utf-8")
    words = ("duplicates", "listings.jsonl", "--max-distance", "1", "-o")
    run(installed / "neardup", *words, "pairs.tsv", folder=tmp_path)
    header, *rows = (tmp_path / "pairs.tsv").read_text("utf-8").splitlines()
    assert header.startswith("id\tother_id\t")
    assert [row.split("\t")[:2] for row in rows] == [["1", "2"]]
    run(installed / "neardup", *words, "page.html", folder=tmp_path)
    assert "Ember and Barley" in (tmp_path / "page.html").read_text("utf-8")


GOLDEN_RUN = """
import sys, orjson
from neardup_solr.minhash import encode_documents
from neardup_solr.records import Document
from neardup_solr.settings import FAMILIES, Settings, choose_fields

everything, made = choose_fields("all"), []
with open(sys.argv[1]) as file:
    expected = [row for row in map(orjson.loads, file)][: 11 * len(FAMILIES)]
documents = [Document(id=row["id"], text=row["content"]) for row in expected[:11]]
for family in FAMILIES:
    settings = Settings(family=family, fields=everything)
    made += map(orjson.loads, encode_documents(documents, settings))
print("numba" in sys.modules, made == expected)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("NEARDUP_DIST"), reason="built without machine code")
def test_nothing_is_compiled(installed: Path, wheel: Path, tmp_path: Path) -> None:
    """The wheel of `scripts/build` carries each entry point, and golden vectors come out of it,
    on each system that runs this code, with nothing kept and no compiler loaded.
    """
    with zipfile.ZipFile(wheel) as archive:
        carried = [name for name in archive.namelist() if name.startswith(CARRIED)]
    if not carried and not (sys.platform == "linux" and os.uname().machine == "x86_64"):
        pytest.skip("this system makes no machine code for wheels")
    modules = (*kernel_build.MODULES, *kernel_build.PASSAGES)
    entries = [one.name for room in modules for one in kernel_build.list_entries(room)]
    assert {name.split("/")[-1].rpartition("-")[0] for name in carried} == {*entries}
    said = run(installed / "python", "-c", GOLDEN_RUN, GOLDEN, folder=tmp_path)
    assert said == "False True\n"


def test_the_hosted_checks_run_each_python_that_is_named() -> None:
    """The Pythons of the workflows are those of the metadata, and their scripts are there."""
    texts = [path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").iterdir()]
    matrices = re.findall(r"python: \[(.*)\]", "".join(texts))
    named = re.findall(r"Python :: (3\.\d+)", "".join(PROJECT["project"]["classifiers"]))
    assert matrices
    assert {matrix.replace('"', "") for matrix in matrices} == {", ".join(named)}
    scripts = {name for text in texts for name in re.findall(r"- run: (scripts/\w+)", text)}
    assert scripts == {"scripts/build", "scripts/check", "scripts/test"}
    assert all((ROOT / name).is_file() for name in scripts)


@pytest.fixture(scope="module")
def refused(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Mistake]]:
    """What mypy --strict refuses in each program of a user, beside the installed wheel."""
    folder = tmp_path_factory.mktemp("typing")
    for path in TYPING.glob("*.py"):
        (folder / path.name).write_text(EXCUSE.sub("", path.read_text("utf-8")), "utf-8")
    (folder / "mypy.ini").write_text("[mypy]\nstrict = true\n", "utf-8")
    mypy = (sys.executable, "-m", "mypy", "--python-executable", installed / "python", ".")
    ended = subprocess.run(mypy, cwd=folder, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    pattern = r"^(\w+\.py):(\d+): error: .*\[([a-z-]+)\]$"
    found = re.findall(pattern, ended.stdout, re.MULTILINE)
    assert len(found) == ended.stdout.count(" error: "), ended.stdout
    by_file: dict[str, list[Mistake]] = {}
    for name, line, code in found:
        by_file.setdefault(name, []).append((int(line), code))
    return by_file


@pytest.mark.slow
def test_a_typed_program_is_accepted(refused: dict[str, list[Mistake]]) -> None:
    """Its type checker finds the types of the installed package, and nothing in the program."""
    assert (TYPING / "program.py").is_file()
    assert "program.py" not in refused


@pytest.mark.slow
def test_mistakes_are_found_by_a_type_checker(refused: dict[str, list[Mistake]]) -> None:
    """Each line with a mistake is refused, for the reason that stands there, and no other line."""
    lines = (TYPING / "mistakes.py").read_text("utf-8").splitlines()
    expected = [
        (number, found[1]) for number, line in enumerate(lines, 1) if (found := EXCUSE.search(line))
    ]
    assert len(expected) > 5
    assert refused["mistakes.py"] == expected
