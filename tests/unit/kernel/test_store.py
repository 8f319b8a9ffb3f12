"""Machine code that is kept: found again, and never a reason to fail."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neardup_solr import kernel
from neardup_solr.kernel import Compiled, build, joins
from neardup_solr.kernel import store as store_module
from neardup_solr.kernel.store import Code, Store
from tests import ROOT

CODE = Code(symbol="one", returns=("int64", "bool"), machine=b"\x7fELF\n\n\x00")
# Signs two texts, and tells whether that took a compiler.
SIGN = """
import sys
from neardup_solr import Settings
from neardup_solr.minhash import sign
waits = []
sign.compile_kernel(on_wait=lambda: waits.append(1))
print(len(waits), "numba" in sys.modules, sign.sign(["a b c d", "ü"], Settings()).signatures.sum())
"""


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Code comes back whole, by name and types."""
    store = Store.at(tmp_path / "new" / "folder")
    assert store.read("joins.one", "(int64)") is None
    store.write("joins.one", "(int64)", CODE)
    assert store.read("joins.one", "(int64)") == CODE
    assert store.read("joins.one", "(float64)") is None
    assert store.read("joins.other", "(int64)") is None
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 1


def test_each_cpu_has_its_folder() -> None:
    """Code for one CPU is no code for another one."""
    assert Store("one").folder != Store("other").folder
    assert Store("one").folder == Store("one").folder


def test_the_first_place_that_takes_it_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A place that cannot hold a folder is passed over."""
    (tmp_path / "file").write_text("no folder")
    places = tmp_path / "file", tmp_path / "file" / "folder", tmp_path / "second", tmp_path
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(store_module, "_usual_places", lambda: iter(places))
    store = Store("some cpu")
    assert store.folder is not None
    assert store.folder.parent == (tmp_path / "second").resolve()
    store.write("joins.one", "(int64)", CODE)
    assert Store("some cpu").read("joins.one", "(int64)") == CODE


@pytest.mark.parametrize(
    ("variable", "below"), [("XDG_CACHE_HOME", ""), ("LOCALAPPDATA", ""), ("HOME", ".cache")]
)
def test_the_users_folder_is_that_of_the_system(
    variable: str, below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows keeps such things in its local data, others in ~/.cache or where they are told."""
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    beside, users = store_module._usual_places()
    assert store_module.SOURCES in beside.parents
    assert users == tmp_path / below


def replace_by_folder(path: Path) -> None:
    """A folder of the same name instead of a file."""
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "foreign": lambda path: path.write_bytes(b"what another program wrote\n" * 9),
    "one bit": lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x01"),
    "a folder": replace_by_folder,
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_code_is_none(damage: Callable[[Path], object], tmp_path: Path) -> None:
    """Whatever happened to a file, it is not taken for code; nor does it raise."""
    store = Store.at(tmp_path)
    store.write("joins.one", "(int64)", CODE)
    (path,) = tmp_path.glob("joins.one-*")
    damage(path)
    assert store.read("joins.one", "(int64)") is None
    store.write("joins.one", "(int64)", CODE)  # a folder in its place stays there


@pytest.mark.parametrize("is_damaged", [True, False])
def test_no_place_to_keep_it(
    is_damaged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be read or written, functions are compiled, and work."""
    (tmp_path / "file").write_text("no folder")
    store = Store.at(tmp_path / "file" / "folder")
    monkeypatch.setattr(kernel, "open_store", lambda: store)
    if is_damaged:
        store.folder = tmp_path
        fresh = Compiled(joins.equal_values.function)
        fresh(np.ones((2, 3), np.uint32), np.array([[0, 1]], np.uint32), np.empty(1))
        (path,) = tmp_path.glob("joins.equal_values-*")
        path.write_bytes(b"damaged")
    equal = np.empty(1)
    signatures = np.array([[1, 2, 3, 4], [1, 0, 3, 0]], dtype=np.uint32)
    Compiled(joins.equal_values.function)(signatures, np.array([[0, 1]], np.uint32), equal)
    assert equal.tolist() == [0.5]


needs_owners = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes as Unix has")
SIGNED = """
from neardup_solr import Settings
from neardup_solr.minhash import sign
print(sign.sign(["a b c d"], Settings()).signatures.sum())
"""


def signed_with(cache: Path | None) -> subprocess.CompletedProcess[str]:
    """What signing prints with machine code from this folder, or the usual one."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    return subprocess.run(
        [sys.executable, "-c", SIGNED], env=environment, capture_output=True, text=True, check=True
    )


@needs_owners
def test_planted_code_is_not_run(tmp_path: Path) -> None:
    """A file with a right checksum, where anybody can write, is passed over, and a line says so."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(cache))
        folder = Store(store_module.open_store()._cpu).folder
        assert folder is not None
        assert cache.resolve() in folder.parents
    right = signed_with(None).stdout
    if not store_module.is_tried():
        pytest.skip("numba keeps its code by itself")
    usual = store_module.open_store().folder
    for path in usual.glob("shingle_hashes.sign-*") if usual else ():
        planted = Code(symbol="planted", returns=(), machine=b"not the code of the kernel")
        (folder / path.name).write_bytes(store_module._encode(planted))
    assert list(folder.iterdir()), "nothing was compiled that could be planted"
    cache.chmod(0o777)
    ran = signed_with(cache)
    assert ran.stdout == right
    assert ran.stderr.startswith(f"{cache}: compiled code in this folder is not used, because")
    assert len(ran.stderr.splitlines()) == 1


def let_anybody_write(path: Path) -> None:
    path.chmod(0o777)


def let_a_group_write(path: Path) -> None:
    path.chmod(0o775)
    os.chown(path, -1, 65_533)


def give_away(path: Path) -> None:
    os.chown(path, 65_533, -1)


@needs_owners
@pytest.mark.parametrize("expose", [let_anybody_write, let_a_group_write, give_away])
@pytest.mark.parametrize("which", ["folder", "above", "file"])
def test_what_others_can_write_is_not_read(
    expose: Callable[[Path], None], which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a file of somebody else, nor one in a folder that somebody else can write to."""
    if os.geteuid() != 0 and expose is not let_anybody_write:
        pytest.skip("only root can give files away")
    above = tmp_path / "above"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(above / "cache"))
    monkeypatch.setattr(store_module, "_usual_places", lambda: iter(()))
    store = Store("some cpu")
    store.write("joins.one", "(int64)", CODE)
    assert store.read("joins.one", "(int64)") == CODE
    folder = store.folder
    assert folder is not None
    (path,) = folder.iterdir()
    expose({"folder": folder, "above": above, "file": path}[which])
    again = Store("some cpu")
    assert again.read("joins.one", "(int64)") is None
    assert again.folder == (folder if which == "file" else None)


@needs_owners
def test_folders_are_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those above; a sticky folder such as /tmp may hold them."""
    (tmp_path / "sticky").mkdir()
    (tmp_path / "sticky").chmod(0o1777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "sticky" / "new" / "cache"))
    store = Store("some cpu")
    store.write("joins.one", "(int64)", CODE)
    folder = store.folder
    assert folder is not None
    (path,) = folder.iterdir()
    made = (folder, folder.parent, folder.parent.parent)
    assert [one.stat().st_mode & 0o777 for one in made] == [0o700] * 3
    assert path.stat().st_mode & 0o022 == 0
    assert store.read("joins.one", "(int64)") == CODE


def test_compiling_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What takes seconds says so in the log, not as a warning; what is kept says nothing."""
    monkeypatch.setattr(kernel, "open_store", lambda: Store.at(tmp_path))
    kernel._log_compiling.cache_clear()
    signatures, pairs = np.ones((2, 4), np.uint32), np.array([[0, 1]], np.uint32)
    with caplog.at_level("INFO", "neardup_solr"):
        for _ in range(2):
            Compiled(joins.equal_values.function)(signatures, pairs, np.empty(1))
    assert [(one.levelname, one.message.split(" (")[0]) for one in caplog.records] == [
        ("INFO", "compiling the kernel")
    ]


def test_carried_code_is_of_the_same_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came with the package is read first, on a processor that can run it; never once a
    source has changed, or if it is damaged.
    """
    for path in store_module.SOURCES.glob("*.py"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(store_module, "SOURCES", tmp_path)
    monkeypatch.setattr(Store, "folder", None)

    def read(*, has_level: bool = True) -> Code | None:
        store_module._hash_sources.cache_clear()
        return Store("some cpu", has_level=has_level).read("joins.one", "(int64)")

    assert read() is None
    folder = store_module.name_carried()
    Store.at(folder).write("joins.one", "(int64)", CODE)
    assert read() == CODE
    assert read(has_level=False) is None
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert read() is None
    Store.at(folder).write("joins.one", "(int64)", CODE)
    with open(tmp_path / "joins.py", "a") as source:
        source.write("# another line\n")
    assert read() is None
    store_module._hash_sources.cache_clear()


def copy_package(folder: Path) -> None:
    """Copy the package without what was compiled."""
    kept = shutil.ignore_patterns("__pycache__", f"{store_module.LEVEL}-*")
    shutil.copytree(ROOT / "neardup_solr", folder / "neardup_solr", ignore=kept)


@pytest.mark.slow
def test_all_is_compiled_at_once(tmp_path: Path) -> None:
    """The first call compiles every entry point, in processes of which each waits for the other;
    no program that waits loads numba.
    """
    script = f"""{SIGN}
from neardup_solr.kernel import build
from neardup_solr.kernel.store import open_store
print(sum(len([*build.list_lacking(name, open_store())]) for name in build.MODULES))
"""
    copy_package(tmp_path)
    environment = os.environ | {
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
    }
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [one.communicate()[0].split() for one in both]
    assert [(has_numba, lacking) for _, has_numba, _, lacking in said] == [("False", "0")] * 2


def test_each_entry_point_is_built() -> None:
    """No module is forgotten: what it lacks would be compiled by the first run that needs it."""
    rooms = {
        path.stem for path in store_module.SOURCES.glob("*.py") if "@compiled" in path.read_text()
    }
    assert {*build.MODULES, *build.PASSAGES} == rooms - {"__init__"}


@pytest.mark.slow
def test_versions_share_a_cache(tmp_path: Path) -> None:
    """Before and after an upgrade that moved a record, each compiles once, then runs without."""
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "kernel.sign-79.py311.nbi").write_bytes(b"an index of numba's own")

    def signed(version: Path) -> tuple[bool, bool, str]:
        done = subprocess.run(
            [sys.executable, "-c", SIGN],
            cwd=version,
            env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(version)},
            capture_output=True,
            text=True,
            check=True,
        )
        waits, has_numba, total = done.stdout.split()
        return waits == "1", has_numba == "True", total

    before, after = tmp_path / "before", tmp_path / "after"
    for version in (before, after):
        copy_package(version)
    source = after / "neardup_solr" / "kernel" / "shingle_hashes.py"
    moved = "from typing import Any, NamedTuple\n"
    text = source.read_text()
    assert "class Shape(NamedTuple)" in text
    start = text.index("class Shape(NamedTuple)")
    stop = text.index("@compiled", start)
    source.with_name("shape.py").write_text(f"{moved}\n\n{text[start:stop]}")
    imported = "from neardup_solr.kernel.shape import SHAPE, Shape\n\n\n"
    source.write_text(text[:start] + imported + text[stop:])

    first = [signed(before), signed(after)]
    again = [signed(before), signed(after)]
    assert [(waits, has_numba) for waits, has_numba, _ in first] == [(True, False)] * 2
    assert [(waits, has_numba) for waits, has_numba, _ in again] == [(False, False)] * 2
    assert len({total for *_, total in first + again}) == 1
