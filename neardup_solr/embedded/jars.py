"""Files of the embedded Solr: jars, downloaded once and checked, and the folders of a server."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup_solr import files
from neardup_solr.errors import ArgumentError, ServerError, counted
from neardup_solr.files import atomic_path, private, solr_config
from neardup_solr.progress import thread_pool

if TYPE_CHECKING:
    from jgo.maven import MavenContext

THREADS = 6
_COORDINATE = "group", "artifact", "version", "classifier"
PAUSES = (0.5, 2.0)  # seconds before the second and the third attempt at a jar
SPARE = 64 << 20  # bytes that must stay free after the download, for the server's first start
EVERY = 10.0  # seconds between two lines about a download
CONNECT = "check the network connection"
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
                raise ServerError(reason, f"{step} {SOLR_VERSION}")
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
        raise ServerError(reason, f"{step} NEARDUP_HOME to a folder on a different disk")
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
        raise ServerError(reason, step)
    fetched.replace(folder / jar.name)


def _download(jar: Jar, context: MavenContext) -> Path:
    from requests import RequestException

    project = context.project(jar.group, jar.artifact)
    artifact = project.at_version(jar.version).artifact(jar.classifier)
    for pause in (*PAUSES, None):
        if artifact.cached_path is not None:  # half a jar of the attempt before
            artifact.cached_path.unlink(missing_ok=True)
        try:
            return artifact.resolve()
        except (RequestException, RuntimeError) as error:
            if pause is None:
                cause, next_step = _explain(error)
                reason = f"the jar {jar.name} cannot be downloaded ({cause})"
                raise ServerError(reason, f"{next_step}, then run: neardup solr start") from error
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


SOLR_VERSION = "9.10.1"
CHOSEN = "NEARDUP_SOLR_VERSION"
USER = "neardup"
BYTES = 24  # of a generated password, 32 characters
INSTALL = 'pip install "neardup-solr[server]", or give the `address` of your own Solr'


# Versions that have a lock of their jars, each with a pattern of what it refuses in solr.xml and
# web.xml: until 9.0 the filter started Solr, without a listener. All run on Java 17 to 25, but
# Solr 10, which has another Jetty (jetty-10.xml), on 21 to 25.
RELEASES = {
    "8.11.4": r"<listener>.*?</listener>|<(str|bool) name=.(allowUrls|modules|hideStack).*?</\1>",
    "9.0.0": "<bool name=.hideStack.*?</bool>",
    "9.4.1": "",
    "9.7.0": "",
    SOLR_VERSION: "",
    "10.0.0": r"<str name=.hostContext.*?</str>",
}
BUILT = "neardup_solr"  # the group of a jar that scripts/solr-10 of a checkout makes, for tests


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Every path of an embedded Solr, all below `home`. `node` is the folder of the server."""

    home: Path
    node: str = "server"
    version: str = SOLR_VERSION

    @property
    def jars(self) -> Path:
        """Fetched once per version of Solr. `reset` keeps them."""
        top = self.home if self.version == SOLR_VERSION else self.home.parent
        return top / f"solr-{self.version}" / "jars"

    @property
    def server(self) -> Path:
        """Folder that the running server writes to."""
        return self.home / self.node

    @property
    def solr_home(self) -> Path:
        """Solr's home: solr.xml, the configset and the cores."""
        return self.server / "solr"

    @property
    def cores(self) -> Path:
        return self.solr_home / "cores"

    @property
    def configset(self) -> Path:
        return self.solr_home / "configsets" / "neardup" / "conf"

    @property
    def logs(self) -> Path:
        return self.server / "logs"

    @property
    def webapp(self) -> Path:
        return self.server / "webapp"

    @property
    def temporary(self) -> Path:
        return self.server / "tmp"

    @property
    def security(self) -> Path:
        """Solr's file of users and what they may do."""
        return self.solr_home / "security.json"

    @property
    def password(self) -> Path:
        """File with the password of the embedded Solr. `reset` keeps it."""
        return self.server / "password"

    @property
    def state(self) -> Path:
        return self.server / "state.json"

    @property
    def lock(self) -> Path:
        return self.server / "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """State between commands: the port always, the rest while a server runs.

    `pid` is 0 if the server was stopped; `started` (UTC, ISO 8601) is empty until it is ready. The
    `port` is 0 until the first start.
    """

    port: int
    pid: int = 0
    heap: str = ""
    started: str = ""


def layout(version: str | None = None) -> Layout:
    """The folders in use: $NEARDUP_HOME, else the user's data folder.

    Another `version` of Solr than SOLR_VERSION (default: $NEARDUP_SOLR_VERSION) has a folder in it.
    """
    home = files.home()
    if os.pathsep in str(home):
        # Java splits its class path at that sign and has no way to quote it.
        reason = f"the folder {home} has a {os.pathsep!r} in its name"
        raise ServerError(reason, "set NEARDUP_HOME to a folder without this character")
    version = version or os.environ.get(CHOSEN) or SOLR_VERSION
    if version not in RELEASES:
        reason = f"${CHOSEN} cannot be {version!r}"
        raise ArgumentError(reason, f"set it to one of {', '.join(RELEASES)}")
    return Layout(home=home if version == SOLR_VERSION else home / version, version=version)


def recall(place: Layout) -> ServerState:
    """Read the remembered state, without a port if it is missing or cannot be read."""
    try:
        return ServerState(**json.loads(place.state.read_bytes()))
    except (OSError, ValueError, TypeError):
        return ServerState(port=0)


def remember(place: Layout, state: ServerState) -> None:
    """Write the state so that a crash leaves either the old state or the new."""
    with writing(place.server), atomic_path(place.state) as unfinished:
        unfinished.write_text(json.dumps(asdict(state), indent=1) + "\n", encoding="utf-8")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn a failure to write below `folder` into a ServerError with the next step."""
    try:
        yield
    except OSError as error:
        cause = (error.strerror or str(error)).lower()
        where = error.filename or folder
        step = "free some space, check permissions, or set NEARDUP_HOME to a different folder"
        raise ServerError(f"cannot write {where} ({cause})", step) from error


@contextmanager
def server_extra() -> Iterator[None]:
    """Turn a missing package of the extra `server` into a ServerError with the next step."""
    try:
        yield
    except ModuleNotFoundError as error:
        reason = f"the embedded Solr needs the Python package {error.name}"
        raise ServerError(reason, f"install it with: {INSTALL}") from error


def choose_password(place: Layout) -> None:
    """Generate a password for the next start, unless it exists."""
    if not place.password.is_file():
        with writing(place.server):
            _write_private(place.password, f"{secrets.token_urlsafe(BYTES)}\n")


def write_security(place: Layout) -> None:
    """Let the Solr that starts next ask for the password, if any."""
    place.security.unlink(missing_ok=True)
    password = _read_password(place)
    if password is not None:
        rules = security_rules(password, os.urandom(32))
        _write_private(place.security, json.dumps(rules, indent=1) + "\n")


def read_credentials(place: Layout) -> tuple[str, str] | None:
    """Read the user and password that the Solr which runs asks for, or None if it asks for none."""
    password = _read_password(place) if place.security.is_file() else None
    return None if password is None else (USER, password)


def auth_header(place: Layout) -> dict[str, str]:
    """The header of user and password, none if the Solr wants none."""
    if (pair := read_credentials(place)) is None:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(pair).encode()).decode()}"}


def security_rules(password: str, salt: bytes) -> dict[str, Any]:
    """Make security.json: without user and password nothing is allowed, with them all is.

    That of Solr's command has a password that everybody knows (CVE-2026-44825).
    """
    return {
        "authentication": {
            "class": "solr.BasicAuthPlugin",
            "blockUnknown": True,
            "forwardCredentials": False,
            "realm": USER,
            "credentials": {USER: hash_password(password, salt)},
        },
        "authorization": {
            "class": "solr.RuleBasedAuthorizationPlugin",
            # Without it any user, and by some paths anyone, may do what no rule names.
            "permissions": [{"name": "all", "role": "admin"}],
            "user-role": {USER: "admin"},
        },
    }


def hash_password(password: str, salt: bytes) -> str:
    """A password as Solr's Sha256AuthenticationProvider keeps it: its hash, and the salt."""
    first = hashlib.sha256(salt + password.encode()).digest()
    second = hashlib.sha256(first).digest()
    return f"{base64.b64encode(second).decode()} {base64.b64encode(salt).decode()}"


def _read_password(place: Layout) -> str | None:
    try:
        return place.password.read_text(encoding="utf-8").rstrip("\r\n")
    except FileNotFoundError:
        return None


def _write_private(path: Path, text: str) -> None:
    """Write a new file that its owner alone can read, from the moment on at which it exists."""
    with open(path, "x", encoding="utf-8", opener=private) as file:
        file.write(text)
