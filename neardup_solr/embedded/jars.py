"""The jars of the embedded Solr, downloaded once and checked."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.embedded.layout import SOLR_VERSION, writing
from neardup_solr.errors import ServerError, counted
from neardup_solr.files import solr_config
from neardup_solr.progress import thread_pool
from neardup_solr.sizes import SIZES

if TYPE_CHECKING:
    from jgo.maven import MavenContext

THREADS = 6
_COORDINATE = "group", "artifact", "version", "classifier"
SPARE = 64 << 20  # bytes that must stay free after the download, for the server's first start
EVERY = 10.0  # seconds between two lines about a download
CONNECT = "check the network connection"
INSTALL = 'pip install "neardup-solr[server]", or give the `address` of your own Solr'
BUILT = "neardup_solr"  # the group of a jar that scripts/solr-10 of a checkout makes, for tests
MARK = "verified"  # holds the digest of the lock that every jar in the folder was checked against


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """A line of the lock. `size` in bytes, `sha256` in hex."""

    group: str
    artifact: str
    version: str
    classifier: str = ""
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """The file name, as Maven forms it."""
        parts = (self.artifact, self.version, self.classifier)
        return "-".join(part for part in parts if part) + ".jar"

    def is_intact(self, path: Path) -> bool:
        """Return True if the file has the locked size and hash."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


def read_lock(version: str) -> tuple[Jar, ...]:
    """The jars of a version of Solr: those of `solr_config/server/jars-VERSION.lock`."""
    text = (solr_config() / "server" / f"jars-{version}.lock").read_text(encoding="utf-8")
    jars = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            coordinate, size, sha256 = line.split()
            parts = dict(zip(_COORDINATE, coordinate.split(":"), strict=False))
            jars.append(Jar(**parts, size=int(size), sha256=sha256))
    return tuple(jars)


def class_path(folder: Path, jars: Sequence[Jar]) -> str:
    """The jars as Java's class path: in the lock's order, and nothing else from the folder."""
    return os.pathsep.join(str(folder / jar.name) for jar in jars)


def is_installed(folder: Path, jars: Sequence[Jar]) -> bool:
    """Return True if the folder was verified against this lock, and its jars have their sizes."""
    try:
        return (folder / MARK).read_text() == _digest(jars) and all(
            (folder / jar.name).stat().st_size == jar.size for jar in jars
        )
    except OSError:
        return False


def invalidate(folder: Path) -> None:
    """Make the next `install` check every hash again and replace damaged jars."""
    (folder / MARK).unlink(missing_ok=True)


def install(
    folder: Path, jars: Sequence[Jar], *, tell: Callable[[str], None], remote: str | None = None
) -> None:
    """Put every jar into the folder. Only those that are absent or damaged are downloaded.

    `tell` gets a line if anything has to be downloaded; `remote` is the address of another
    Maven repository than that of jgo. Raises ServerError without jgo, network or room on the disk,
    or if a jar differs from the lock; jars that were verified before that are kept.
    """
    if is_installed(folder, jars):
        return
    with server_extra():
        from filelock import FileLock
    # Several homes may share these jars, as workers of pytest do: a single process downloads.
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.parent / "fetching"):
            absent = [jar for jar in jars if not jar.is_intact(folder / jar.name)]
            if built := [jar for jar in absent if jar.group == BUILT]:
                reason = f"{built[0].name}, which this version needs, is in no repository"
                step = "in a checkout, build it by scripts/solr-10 (for tests), or use"
                raise ServerError(reason, f"{step} {SOLR_VERSION}", code="download-failed")
            if absent:
                _fetch(folder, absent, tell, remote)
            (folder / MARK).write_text(_digest(jars))


def _digest(jars: Sequence[Jar]) -> str:
    return hashlib.sha256("\n".join(map(str, jars)).encode()).hexdigest()


def _fetch(
    folder: Path, jars: Sequence[Jar], tell: Callable[[str], None], remote: str | None
) -> None:
    """Download into a staging folder on the same disk, verify there, then move."""
    with server_extra():
        from jgo.maven import MavenContext, PythonResolver
    size = sum(jar.size for jar in jars)
    needed, free = size + SPARE, shutil.disk_usage(folder).free
    if free < needed:
        reason = f"Solr needs {needed / 1e6:.0f} MB of disk space, but {free / 1e6:.0f} MB are free"
        step = f"free {(needed - free) / 1e6 + 1:.0f} MB on the disk of {folder}, or set"
        raise ServerError(
            reason, f"{step} NEARDUP_HOME to a folder on a different disk", code="disk-full"
        )
    what = f"{counted(len(jars), 'jar')}, {size / 1e6:.1f} MB, to {folder}"
    tell(f"Downloading {folder.parent.name.replace('solr-', 'Solr ')} (first use only): {what}")
    # jgo warns of checksums itself; the user only needs the result of the check against the lock.
    logging.getLogger("jgo").addHandler(logging.NullHandler())
    staging = folder.parent / "staging"
    shutil.rmtree(staging, ignore_errors=True)
    repositories = None if remote is None else {"remote": remote}
    context = MavenContext(resolver=PythonResolver(), repo_cache=staging, remote_repos=repositories)
    try:
        with thread_pool(THREADS) as pool:
            jobs = [pool.submit(_fetch_one, jar, context, folder) for jar in jars]
            due = time.monotonic() + EVERY
            for count, job in enumerate(as_completed(jobs), start=1):
                job.result()
                if time.monotonic() >= due:
                    tell(f"Downloaded {count} of {counted(len(jobs), 'jar')}")
                    due += EVERY
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _fetch_one(jar: Jar, context: MavenContext, folder: Path) -> None:
    fetched = _download(jar, context)
    if not jar.is_intact(fetched):
        reason = f"the jar {jar.name} is damaged: its SHA-256 does not match the lock file"
        step = "try again: neardup solr start (if that also fails, a proxy may alter downloads)"
        raise ServerError(reason, step, code="download-failed")
    fetched.replace(folder / jar.name)


def _download(jar: Jar, context: MavenContext) -> Path:
    from requests import RequestException

    project = context.project(jar.group, jar.artifact)
    artifact = project.at_version(jar.version).artifact(jar.classifier)
    for pause in (*SIZES.download_pauses, None):
        if artifact.cached_path is not None:  # half a jar of the attempt before
            artifact.cached_path.unlink(missing_ok=True)
        try:
            return artifact.resolve()
        except (RequestException, RuntimeError) as error:
            if pause is None:
                cause, next_step = _explain(error)
                reason = f"the jar {jar.name} cannot be downloaded ({cause})"
                step = f"{next_step}, then run: neardup solr start"
                raise ServerError(reason, step, code="download-failed") from error
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def _explain(error: Exception) -> tuple[str, str]:
    """Explain a foreign error in a few words. Its text is long and technical."""
    name = type(error).__name__
    return {
        "ConnectTimeout": ("the connection timed out", CONNECT),
        "ReadTimeout": ("the response timed out", CONNECT),
        "ProxyError": ("the proxy refused it", "check HTTPS_PROXY"),
        "SSLError": ("the certificate is not trusted", "set REQUESTS_CA_BUNDLE to your CA file"),
        "RuntimeError": ("it is not in the repository", "wait a while"),
    }.get(name, ("no connection" if name == "ConnectionError" else name, CONNECT))


@contextmanager
def server_extra() -> Iterator[None]:
    """Turn a missing package of the extra `server` into a ServerError with the next step."""
    try:
        yield
    except ModuleNotFoundError as error:
        reason = f"the embedded Solr needs the Python package {error.name}"
        raise ServerError(reason, f"install it with: {INSTALL}", code="package-missing") from error
