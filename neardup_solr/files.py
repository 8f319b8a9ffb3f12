"""Files that come with the package, and files that are written completely or not at all."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from neardup_solr.errors import ArgumentError, ServerError, SourceError, code_of_reading
from neardup_solr.regex import regex

if TYPE_CHECKING:
    from numpy.typing import NDArray

Named: TypeAlias = str | os.PathLike[str]
MOST_NAMES, LONGEST_NAME = 100, 1_000  # strings of a list that are looked at; characters
# What has a slash or a suffix, and no blank unless the suffix is that of a source.
_LIKE_NAME = regex(
    r"|-|\S*/\S*|\S*\.\w{1,9}|.*\.(txt|[ct]sv|jsonl?|ndjson|parquet|xls[xm]?|gz|zst)"
)
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
SETTLED_NS = 2_000_000_000  # nanoseconds after a change, in which another may leave the same times
PACKAGE = Path(__file__).parent  # maybe in an archive
UNFINISHED = "unfinished"  # what is being written, in a folder of its own
_UNFINISHED: set[Path] = set()  # folders of files that are being written
SITE = ""  # the address of the documentation, once it is published


class PathError(SourceError, ArgumentError):
    """File name that is wrong whatever the data are: it has no known ending, or two purposes."""


def solr_config() -> Path:
    """The folder `solr_config`: `conf` is the configset, `server` the files of the embedded Solr.

    Raises ServerError if neither the installed package nor a checkout around it has the folder.
    """
    for folder in (PACKAGE / "solr_config", PACKAGE.parent / "solr_config"):
        if (folder / "server").is_dir():
            return folder
    step = "reinstall neardup-solr: pip install --force-reinstall neardup-solr"
    if not PACKAGE.exists():
        step = "the embedded Solr needs files: pip install neardup-solr, or name a Solr"
    reason = f"there is no folder solr_config in or next to {PACKAGE}"
    raise ServerError(reason, step, code="package-missing")


def home() -> Path:
    """The folder of what is kept between commands: $NEARDUP_HOME, else the user's data folder."""
    named = os.environ.get("NEARDUP_HOME")
    if named:
        return Path(os.path.realpath(Path(named).expanduser()))
    from platformdirs import user_data_path

    return user_data_path("neardup-solr", appauthor=False).resolve()


def read_at(file: IO[bytes], begin: int, size: int) -> bytes:
    """Read some bytes of a file, fewer if it ends before."""
    if hasattr(os, "pread"):
        piece: bytes = os.pread(file.fileno(), size, begin)
        return piece
    file.seek(begin)  # Windows
    return file.read(size)


def read_state(path: Path) -> tuple[int, ...]:
    """Return what changes with a file, such as its time, () without a file.

    For two seconds after a change each state is a new one, as times are coarse.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    now = time.time_ns()
    unsettled = (now,) if abs(now - status.st_ctime_ns) < SETTLED_NS else ()
    times = status.st_mtime_ns, status.st_ctime_ns
    return (*times, status.st_size, status.st_ino, status.st_dev, *unsettled)


def regular(path: str, flags: int) -> int:
    """Open a file that is no pipe, device or folder: an `opener` for `open`.

    It never waits, as a pipe would for somebody to write to it. Raises OSError.
    """
    number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return number
    os.close(number)
    kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise OSError(errno.EINVAL, f"it is {kind}, not a file", path)


def check_regular(path: Path) -> None:
    """Refuse a pipe, a device or a folder, for which a reader might wait, by SourceError."""
    try:
        os.close(regular(str(path), os.O_RDONLY))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SourceError(
            str(path), f"cannot be read ({reason})", "name a file", code=code_of_reading(error)
        ) from None


def page(name: str) -> str:
    """Name the place of a page of the documentation, such as "tuning": an address, or a file.

    The address is $NEARDUP_DOCS, or that of the site; without either it is the page that
    came with the package.
    """
    address = os.environ.get("NEARDUP_DOCS") or SITE
    if address:
        return f"{address.rstrip('/')}/{name}.html"
    places = [folder / "docs" / f"{name}.md" for folder in (PACKAGE, PACKAGE.parent)]
    return str(next((place for place in places if place.is_file()), f"docs/{name}.md"))


def check_place(path: Path) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    Raises SourceError if it is a folder, a device or a pipe, or if no file can be made beside it.
    """
    with refuse_failure(path):
        if path.is_dir():
            reason = "is a folder, not a file"
            raise SourceError(str(path), reason, "name a file in it", code="file-kind")
        if path.exists() and not path.is_file():  # it would be replaced
            reason = "is a device or a pipe, not a file"
            raise SourceError(str(path), reason, "name a file", code="file-kind")
        if not path.parent.is_dir():
            step = "create it, or use another"
            raise SourceError(str(path), "its folder does not exist", step, code="file-unwritable")
        trial = _beside(path)
        trial.touch(exist_ok=False)
        trial.unlink()


def paths_of(source: object) -> list[Named] | None:
    """List the files and folders that a source names, "-" among them, or None if it has none."""
    if isinstance(source, str | os.PathLike):
        return [source]
    if not isinstance(source, list | tuple) or not source:
        return None
    if not all(isinstance(each, str | os.PathLike) for each in source):
        return None
    are_typed = isinstance(source, TypedPaths)
    return list(source) if are_typed or _are_names(source[:MOST_NAMES]) else None


class TypedPaths(list[str]):
    """Paths that are words of a command, where no texts can be."""


def _are_names(names: Sequence[Named]) -> bool:
    """Tell names of files from texts: one of them exists, or all look like names."""
    return any(
        not isinstance(each, str) or (len(each) <= LONGEST_NAME and _exists(each)) for each in names
    ) or all(map(_LIKE_NAME.fullmatch, map(str, names)))


def _exists(name: str) -> bool:
    try:
        return bool(name) and os.path.lexists(name)
    except ValueError:  # a NUL
        return False


def check_apart(files: Mapping[str, Path | None], **sources: object) -> None:
    """Refuse a file for two purposes, by PathError: it would be overwritten.

    `files` has a file, or None, for the name of each purpose. None of them may be a file of one of
    the `sources`, by the names of their arguments, or in a folder of theirs.
    """
    read = [(name, path) for name, each in sources.items() for path in paths_of(each) or ()]
    purposes = {_find_place(path): f"`{name}`" for name, path in read}
    for name, path in files.items():
        if path is None:
            continue
        purpose = purposes.setdefault(_find_place(path), name)
        if purpose != name:
            reason = f"is both {purpose} and {name}"
            raise PathError(str(path), reason, "name two files", code="paths-conflict")
        if any(is_inside(path, Path(folder)) for _, folder in read):
            reason = "is inside the folder that is being read"
            raise PathError(str(path), reason, "choose a place outside it", code="paths-conflict")


def _find_place(path: Named) -> str:
    """Follow the links of a path. Unlike `resolve`, leave one that leads to itself as it is."""
    try:
        return os.path.realpath(path)
    except ValueError as error:  # of a NUL character
        reason = f"is not a valid file name ({error})"
        raise PathError(str(path), reason, "change the name", code="argument-invalid") from None


def is_inside(path: Path, folder: Path) -> bool:
    """Return True if a path lies in a folder, also through links."""
    # Unlike that of a Path, os.path's is False for a name that cannot be, such as a text.
    is_folder = os.path.isdir(folder)
    return is_folder and Path(os.path.realpath(path)).is_relative_to(folder.resolve())


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which end with their line breaks, to a file as UTF-8. See `atomic_output`."""
    with (
        atomic_output(path) as unfinished,
        open(unfinished, "x", encoding="utf-8", newline="") as file,
    ):
        file.writelines(lines)


@contextmanager
def atomic_output(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """As `atomic_path`, for a file of the user, with the mode of the file that it replaces.

    One that is not `lasting` may be damaged by a crash of the machine.

    Raises SourceError if the file cannot be written; a file of before is left as it was.
    """
    full = "free some space, or choose a different place"
    with refuse_failure(path, full=full), atomic_path(path, lasting=lasting) as unfinished:
        yield unfinished
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                unfinished.chmod(stat.S_IMODE(mode) & 0o777)


def write_arrays(
    path: Path, kind: bytes, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays, and what they are about, to a file that begins with the line `kind`.

    Whole or not at all; damage is seen by checksums. Raises SourceError if it cannot be written.
    """
    import numpy as np
    import orjson

    header = np.frombuffer(orjson.dumps(about), dtype=np.uint8)
    with (
        atomic_output(path, lasting=False) as unfinished,
        open(unfinished, "xb", opener=private) as file,
    ):
        file.write(kind)
        np.savez(file, about=header, **arrays)  # type: ignore[arg-type]  # none is allow_pickle


def read_arrays(path: Path, kind: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | str:
    """Read what `write_arrays` has written, or return the reason why it is of no use.

    Raises SourceError if it is another file, or cannot be read.
    """
    from zipfile import BadZipFile

    import numpy as np
    import orjson

    try:
        with open(path, "rb") as file:
            first = file.readline(len(kind))
            if not first.strip(b"\0"):  # a crash of the machine may leave nothing in it
                return f"{path.name} is {'damaged' if first else 'empty'}"
            if first != kind:
                reason = "was not written by a run of duplicates"
                raise SourceError(str(path), reason, "name a different file", code="file-kind")
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            return orjson.loads(arrays.pop("about").tobytes()), arrays
    except FileNotFoundError:
        return "there was no earlier run"
    except (ValueError, KeyError, EOFError, BadZipFile, NotImplementedError):
        return f"{path.name} is damaged"
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        raise SourceError(str(path), reason, "name another", code="file-unreadable") from None


@contextmanager
def atomic_path(path: Path, *, lasting: bool = True) -> Iterator[Path]:
    """Yield a temporary path, which is put on the disk and moved to `path` on success.

    It is in a new folder beside the file, which nobody else can enter: what is written can be read
    by others only when it is complete, and nobody can put a link in its place. A link of the
    same name is replaced, and what it leads to is left alone.

    Raises OSError if it cannot be written.
    """
    folder = _beside(path)
    folder.mkdir(mode=0o700)
    _UNFINISHED.add(folder)
    unfinished = folder / UNFINISHED
    try:
        yield unfinished
        if lasting:
            with open(unfinished, "rb") as file:
                os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
        folder.rmdir()
        _UNFINISHED.discard(folder)


def remove_unfinished() -> None:
    """Remove what is being written, in a process that ends without its main thread."""
    for folder in tuple(_UNFINISHED):
        with suppress(OSError):
            (folder / UNFINISHED).unlink(missing_ok=True)
            folder.rmdir()


def private(path: str, flags: int) -> int:
    """Open a file that its owner alone can read: an `opener` for `open`.

    Raises OSError if it is a link, or the file of somebody else.
    """
    number = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        os.chmod(number if os.chmod in os.supports_fd else path, 0o600)
    except OSError:
        os.close(number)
        raise
    return number


@contextmanager
def refuse_failure(
    path: str | Path, next_step: str = "choose a different place", full: str = ""
) -> Iterator[None]:
    """Raise a SourceError for a failure to write a file, with the step `full` without room."""
    try:
        yield
    except OSError as error:
        step = full if full and error.errno in _NO_ROOM else next_step
        reason = f"cannot be written ({error.strerror or error})"
        raise SourceError(str(path), reason, step, code="file-unwritable") from None


def _beside(path: Path) -> Path:
    """A new name in the folder of a file."""
    return path.with_name(f".neardup-{os.urandom(8).hex()}")
