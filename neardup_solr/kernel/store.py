"""Store of machine code from one run to the next: the only files of the kernel."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from neardup_solr.progress import LOG
from neardup_solr.text import normalize

SOURCES = Path(__file__).parent
CONSTANTS = Path(normalize.__file__)
COMPILERS = ("numba", "llvmlite")
TRIED = (0, 62), (0, 68)  # releases of numba, the first and the last
# What a wheel carries is compiled for this, which most processors since 2013 have.
LEVEL = "x86-64-v3"
FEATURES = ("sse4.2", "popcnt", "cx16", "sahf", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt",
            "movbe", "xsave")  # fmt: skip
_HEAD = 32  # bytes of the checksum before everything else


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Machine code: an object file, its function's symbol, and the types that this returns."""

    symbol: str
    returns: tuple[str, ...]
    machine: bytes


class Store:
    """Object files in a folder named by all that they depend on, for one kind of `cpu`.

    That is the kernel's sources, the compilers' versions, Python's and the CPU; if one of
    them changes, another folder is used, so nothing that another version has written is read. A
    file that is damaged, or cannot be read or written, counts as missing. So does one that somebody
    else could have written, as it would be run: see `_find_unsafe`.

    If the CPU has LEVEL, code that came with the package, made of the same sources, goes first.
    """

    def __init__(self, cpu: str, *, has_level: bool = False) -> None:
        self._cpu = cpu
        self._has_level = has_level

    @classmethod
    def at(cls, folder: Path) -> Store:
        """Open a store in one folder, whatever that is called."""
        store = cls("")
        store._folders = (folder,)
        return store

    def has(self, name: str) -> bool:
        """Return True if there is code of a function of that name."""
        found = (path for folder in self._folders for path in folder.glob(f"{name}-*"))
        carried = self.carried.glob(f"{name}-*") if self.carried else ()
        return any(map(_read_carried, carried)) or any(_read(path) is not None for path in found)

    def has_cached(self, name: str) -> bool:
        """Return True if numba has kept machine code of a function in our folder."""
        return self.folder is not None and any(self.folder.glob(f"**/*.{name}-*.nbi"))

    def read(self, name: str, types: str) -> Code | None:
        """Read the code of a function for arguments of these types, if there is any."""
        file = _name_file(name, types)
        carried = _read_carried(self.carried / file) if self.carried else None
        read = (_read(folder / file) for folder in self._folders)
        return carried or next((code for code in read if code is not None), None)

    def write(self, name: str, types: str, code: Code) -> None:
        """Keep the code of a function in the first folder that takes it."""
        for folder in self._folders:
            with suppress(OSError):
                _make(folder)
                unfinished = folder / f".{os.getpid()}"
                with open(unfinished, "wb", opener=partial(os.open, mode=0o644)) as file:
                    file.write(_encode(code))
                unfinished.replace(folder / _name_file(name, types))
                return

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Keep other processes from compiling the same. Yields False if nothing can be kept."""
        from filelock import FileLock

        with ExitStack() as locked:
            try:
                if self.folder is not None:
                    _make(self.folder)
                    locked.enter_context(FileLock(self.folder / ".lock"))
            except OSError:
                yield False
            else:
                yield self.folder is not None

    @cached_property
    def carried(self) -> Path | None:
        """The folder of code that came with the package, if it can run here."""
        folder = name_carried()
        return folder if self._has_level and folder.is_dir() else None

    @property
    def folder(self) -> Path | None:
        """The first folder that can be written to, or would be, if any may be used."""
        can = (one for one in self._folders if os.access(one.parent, os.W_OK))
        return next(can, next(iter(self._folders), None))

    @cached_property
    def _folders(self) -> tuple[Path, ...]:
        key = self._key()
        named = os.environ.get("NUMBA_CACHE_DIR")
        places = [Path(named), *_usual_places()] if named else [*_usual_places()]
        folders = [place.absolute().resolve() / f"neardup-{key}" for place in places]
        unsafe = {folder: _find_unsafe(folder) for folder in folders}
        safe = tuple(folder for folder, why in unsafe.items() if why is None)
        # Of the usual places one is enough, and which one does not matter.
        for why in unsafe.values() if not safe else [unsafe[folders[0]]] if named else []:
            if why is not None:
                _log_unsafe(why)
        return safe

    def _key(self) -> str:
        hashed = hashlib.sha256(f"{self._cpu} {sys.version} {np.__version__}".encode())
        hashed.update(_hash_sources().encode())
        for library in COMPILERS:
            hashed.update(_read_version(library))
        return hashed.hexdigest()[:16]


@cache
def _hash_sources() -> str:
    hashed = hashlib.sha256()
    for path in (*sorted(SOURCES.glob("*.py")), CONSTANTS):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]


def name_carried() -> Path:
    """Name the folder of the code that a wheel carries, by the sources that it is made of."""
    return SOURCES / f"{LEVEL}-{_hash_sources()}"


def _usual_places() -> Iterator[Path]:
    """Yield a place beside the sources, then where users keep such things."""
    yield SOURCES / "__pycache__"
    with suppress(RuntimeError):  # nobody's home
        named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
        yield Path(named) if named else Path.home() / ".cache"


def _make(folder: Path) -> None:
    """Create a folder, and those above it, for the user alone.

    Only beside the sources it is as readable as they are: an installation is for all its users.
    """
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o755 if SOURCES in folder.parents else 0o700, exist_ok=True)


def _find_unsafe(folder: Path) -> Path | None:
    """Find a folder that somebody else can write to: this or one above it, or None.

    A folder that is not there yet will be the user's own. Systems without such owners are trusted.
    """
    if not hasattr(os, "geteuid"):
        return None
    for one in (folder, *folder.parents):
        with suppress(FileNotFoundError):
            if not _is_safe(one.stat()):
                return one
    return None


def _is_safe(status: os.stat_result) -> bool:
    """Return True if nobody can write there but the user, root, and who has installed this package.

    In a sticky folder, such as /tmp, others cannot replace what is not theirs. The owner's own
    group, of his name and without other members, is himself.
    """
    mode = status.st_mode
    if status.st_uid not in (0, os.geteuid(), SOURCES.stat().st_uid):
        return False
    if stat.S_ISDIR(mode) and mode & stat.S_ISVTX:
        return True
    is_open = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_own_group(status))
    return not is_open


def _is_own_group(status: os.stat_result) -> bool:
    import grp
    import pwd

    try:
        group, owner = grp.getgrgid(status.st_gid), pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        return False
    return group.gr_name == owner and {*group.gr_mem} <= {owner}


@cache
def _log_unsafe(place: Path) -> None:
    """Log, once a process, that machine code is not used, and what to do."""
    LOG.warning(
        "%s: machine code there is not used, as others could have written it; take their right to"
        " write away (chmod go-w), or name a folder of your own by NUMBA_CACHE_DIR",
        place,
    )


def _read_version(library: str) -> bytes:
    """Read a library's version from its files, as asking for its metadata takes longer."""
    found = find_spec(library)
    if found is not None and found.origin is not None:
        with suppress(OSError):
            return Path(found.origin).with_name("_version.py").read_bytes()
    from importlib.metadata import version

    return version(library).encode()


@cache
def is_tried() -> bool:
    """Return True if machine code was seen to run by itself with this numba, on this system."""
    return sys.platform == "linux" and TRIED[0] <= release("numba") <= TRIED[1]


def release(library: str) -> tuple[int, int]:
    """Read the first two numbers of a library's version, (0, 0) if it does not tell."""
    found = re.search(rb'(?:"version": "|^)(\d+)\.(\d+)', _read_version(library))
    return (0, 0) if found is None else (int(found[1]), int(found[2]))


def _name_file(name: str, types: str) -> str:
    return f"{name}-{hashlib.sha256(types.encode()).hexdigest()[:16]}"


def _read_carried(path: Path) -> Code | None:
    """Read code that came with the package: who could have written it, could write the package."""
    with suppress(OSError, ValueError):
        return _decode(path.read_bytes())
    return None


def _read(path: Path) -> Code | None:
    try:
        with open(path, "rb") as file:
            if hasattr(os, "geteuid") and not _is_safe(os.fstat(file.fileno())):
                _log_unsafe(path)
                return None
            return _decode(file.read())
    except (OSError, ValueError):
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
