"""Store of the kernel's machine code between runs: the only files of the kernel."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup_solr.progress import LOG
from neardup_solr.text import characters

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

SOURCES = Path(__file__).parent
CONSTANTS = Path(characters.__file__).name
COMPILERS = ("numba", "llvmlite")
TRIED = (0, 62), (0, 68)  # releases of numba, the first and the last
# What a wheel carries is compiled for this, which most processors since 2013 have.
LEVEL = "x86-64-v3"
FEATURES = ("sse4.2", "popcnt", "cx16", "sahf", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
            "movbe", "xsave")  # fmt: skip
# Importing numba would take the time of the process that waits.
_BUILD = (
    "import sys; sys.path[:] = {}; from neardup_solr.kernel import build; build.fill_store({!r})"
)
_HEAD = 32  # bytes of the checksum before everything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Machine code: an object file, its function's symbol, and the types that this returns."""

    symbol: str
    returns: tuple[str, ...]
    machine: bytes


class Store:
    """Object files in a folder named by all that they depend on, for a kind of `cpu`.

    That is the kernel's sources, the compilers' versions, Python's and the CPU; if any of
    them changes, another folder is used, so nothing that another version has written is read. A
    file that is damaged, or cannot be read or written, counts as missing. So does a file that
    somebody else could have written, as it would be run: see `_find_unsafe`.

    If the CPU has LEVEL, code that came with the package, made of the same sources, goes first.
    """

    def __init__(self, cpu: str, *, has_level: bool = False) -> None:
        self._cpu = cpu
        self._has_level = has_level

    @classmethod
    def at(cls, folder: Path) -> Store:
        """Open a store in this folder, by whatever name."""
        store = cls("")
        store.folder = folder
        return store

    @cached_property
    def carried(self) -> Path | None:
        """The folder of code that came with the package, if it can run here."""
        folder = name_carried()
        return folder if self._has_level and folder.is_dir() else None

    @cached_property
    def folder(self) -> Path | None:
        """The first folder that is filled or can be, and that nobody else can write to."""
        named, unsafe = os.environ.get("NUMBA_CACHE_DIR"), list[Path]()
        for place in [Path(named), *_usual_places()] if named else _usual_places():
            folder = place.absolute().resolve() / f"neardup-{self._key()}"
            if (path := _find_unsafe(folder)) is not None:
                unsafe.append(path)
                if named and place == Path(named):
                    _log_unsafe(path)
                continue
            with suppress(OSError):
                _make(folder)
                if os.access(folder, os.W_OK) or any(folder.iterdir()):
                    return folder
        for path in unsafe:
            _log_unsafe(path)
        return None

    def has_cached(self, name: str) -> bool:
        """Return True if numba has kept machine code of a function in our folder."""
        return self.folder is not None and any(self.folder.glob(f"**/*.{name}-*.nbi"))

    def read(self, name: str, types: str) -> Code | None:
        """Read the code of a function for arguments of these types, or return None."""
        file = _name_file(name, types)
        # Who could have written what came with the package, could write the package.
        code = _read(self.carried / file, is_trusted=True) if self.carried else None
        return _read(self.folder / file) if code is None and self.folder else code

    def write(self, name: str, types: str, code: Code) -> None:
        """Keep the code of a function, if the folder takes it."""
        if self.folder is None:
            return
        with suppress(OSError):
            _make(self.folder)
            unfinished = self.folder / f".{os.getpid()}"
            with open(unfinished, "wb", opener=partial(os.open, mode=0o644)) as file:
                file.write(_encode(code))
            unfinished.replace(self.folder / _name_file(name, types))

    def _key(self) -> str:
        hashed = hashlib.sha256(f"{self._cpu} {sys.version} {np.__version__}".encode())
        hashed.update(_hash_sources().encode())
        for library in COMPILERS:
            hashed.update(_read_version(library))
        return hashed.hexdigest()[:16]


@cache
def open_store() -> Store:
    """Open the store of machine code for this machine."""
    from llvmlite import binding

    triple, features = binding.get_process_triple(), binding.get_host_cpu_features()
    is_common = triple.startswith("x86_64") and "linux" in triple
    cpu = f"{triple} {binding.get_host_cpu_name()} {features.flatten()}"
    return Store(cpu, has_level=is_common and all(map(features.get, FEATURES)))


def compile_all(module: str) -> None:
    """Have another process compile what the store lacks: a module and those that go with it.

    If that fails, whoever calls an entry point sees the error.
    """
    if not Path(sys.executable or "").name.startswith("python"):
        return  # a program that carries Python
    command, quiet = [sys.executable, "-c", _BUILD.format(sys.path, module)], subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as process:
        process.wait()  # which ends if ours does, by its standard input


@cache
def _hash_sources() -> str:
    """Hash the sources of the kernel, or what they were compiled to where only that is installed.

    They may be in an archive, too.
    """
    folder: Traversable = SOURCES
    constants: Traversable = Path(characters.__file__)
    if not SOURCES.is_dir():
        from importlib import resources

        folder = resources.files(__package__)
        constants = resources.files(characters.__package__).joinpath(CONSTANTS)
    files = (file for file in folder.iterdir() if file.is_file())
    modules = sorted((each for each in files if each.name.endswith((".py", ".pyc"))), key=_name)
    hashed = hashlib.sha256()
    for file in (*modules, constants):
        hashed.update(file.read_bytes())
    return hashed.hexdigest()[:16]


def _name(file: Traversable) -> str:
    return file.name


def name_carried() -> Path:
    """Name the folder of the code that a wheel carries, by the sources that it is made of."""
    return SOURCES / f"{LEVEL}-{_hash_sources()}"


def _usual_places() -> Iterator[Path]:
    """Yield a place beside the sources, then the cache of the user, if that has a home."""
    yield SOURCES / "__pycache__"
    with suppress(RuntimeError):
        cache_home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        yield Path(cache_home) if cache_home else Path.home() / ".cache"


def _make(folder: Path) -> None:
    """Create a folder, and those above it, for the user alone.

    Only beside the sources it is as readable as they are: an installation is for all its users.
    """
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o755 if SOURCES in folder.parents else 0o700, exist_ok=True)


def _find_unsafe(folder: Path) -> Path | None:
    """Find a folder that somebody else can write to: this or one above it, or None.

    A folder that does not exist yet will be the user's. Systems without such owners are trusted.
    """
    if not hasattr(os, "geteuid"):
        return None
    for path in (folder, *folder.parents):
        with suppress(FileNotFoundError, NotADirectoryError):
            if not _is_safe(path.stat()):
                return path
    return None


def _is_safe(status: os.stat_result) -> bool:
    """Return True if only the user, root and the owner of this package can write to it.

    In a sticky folder, such as /tmp, others cannot replace what is not theirs. The private group
    of the owner, which has his name and no other members, is himself.
    """
    mode = status.st_mode
    if status.st_uid not in (0, os.geteuid(), _owner()):
        return False
    if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
        return True
    is_open = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private_group(status))
    return not is_open


@cache
def _owner() -> int:
    """Return the owner of the package, which may be an archive."""
    place = next(each for each in (SOURCES, *SOURCES.parents) if each.exists())
    return place.stat().st_uid


def _is_private_group(status: os.stat_result) -> bool:
    import grp
    import pwd

    try:
        group, owner = grp.getgrgid(status.st_gid), pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return False
    return group.gr_name == owner and {*group.gr_mem} <= {owner}


@cache
def _log_unsafe(path: Path) -> None:
    """Log, once a process, that machine code is not used, and what to do."""
    LOG.warning(
        "%s: compiled code in this folder is not used, because other users could have written it;"
        " remove their write permission (chmod go-w), or set NUMBA_CACHE_DIR to your own folder",
        path,
    )


def _read_version(library: str) -> bytes:
    """Read a library's version from its files, as asking for its metadata takes longer."""
    spec = find_spec(library)
    if spec is not None and spec.origin is not None:
        with suppress(OSError):
            return Path(spec.origin).with_name("_version.py").read_bytes()
    from importlib.metadata import version

    return version(library).encode()


@cache
def is_tried() -> bool:
    """Return True if machine code was seen to run by itself with this numba, on this system."""
    return sys.platform == "linux" and TRIED[0] <= release("numba") <= TRIED[1]


def release(library: str) -> tuple[int, int]:
    """Read the first two numbers of a library's version, (0, 0) if it does not tell."""
    match = re.search(rb'(?:"version": "|^)(\d+)\.(\d+)', _read_version(library))
    return (0, 0) if match is None else (int(match[1]), int(match[2]))


def _name_file(name: str, types: str) -> str:
    return f"{name}-{hashlib.sha256(types.encode()).hexdigest()[:16]}"


def _read(path: Path, *, is_trusted: bool = False) -> Code | None:
    """Read code, or return None if somebody else could have written it, or it is damaged."""
    with suppress(OSError, ValueError), open(path, "rb") as file:
        if is_trusted or not hasattr(os, "geteuid") or _is_safe(os.fstat(file.fileno())):
            return _decode(file.read())
        _log_unsafe(path)
    return None


def _encode(code: Code) -> bytes:
    content = b"\n".join((code.symbol.encode(), " ".join(code.returns).encode(), code.machine))
    return hashlib.sha256(content).digest() + content


def _decode(content: bytes) -> Code:
    """Raises ValueError if the content is not what was written."""
    head, rest = content[:_HEAD], content[_HEAD:]
    if hashlib.sha256(rest).digest() != head:
        raise ValueError("damaged")
    symbol, returns, machine = rest.split(b"\n", 2)
    return Code(symbol=symbol.decode(), returns=tuple(returns.decode().split()), machine=machine)
