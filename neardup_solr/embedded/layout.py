"""The embedded Solr's folders, and what it keeps in them: its state and its password."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from neardup_solr import files
from neardup_solr.errors import ArgumentError, ServerError
from neardup_solr.files import atomic_path, private

SOLR_VERSION = "9.10.1"
CHOSEN = "NEARDUP_SOLR_VERSION"
USER = "neardup"
BYTES = 24  # of a generated password, 32 characters
INSTALL = 'pip install "neardup-solr[server]", or give the `address` of a Solr of yours'


# Versions that have a lock of their jars, each with a pattern of what it refuses in solr.xml and
# web.xml: until 9.0 the filter started Solr, without a listener. All run on Java 17 to 25.
RELEASES = {
    "8.11.4": r"<listener>.*?</listener>|<(str|bool) name=.(allowUrls|modules|hideStack).*?</\1>",
    "9.0.0": "<bool name=.hideStack.*?</bool>",
    "9.4.1": "",
    "9.7.0": "",
    SOLR_VERSION: "",
}


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


def layout() -> Layout:
    """The folders in use: $NEARDUP_HOME, else the user's data folder.

    Another version of Solr than SOLR_VERSION, by $NEARDUP_SOLR_VERSION, has a folder in it.
    """
    home = files.home()
    if os.pathsep in str(home):
        # Java splits its class path at that sign and has no way to quote it.
        raise ServerError(
            f"the folder {home} has a {os.pathsep!r} in its name",
            "set NEARDUP_HOME to a folder without it",
        )
    version = os.environ.get(CHOSEN) or SOLR_VERSION
    if version not in RELEASES:
        reason = f"${CHOSEN} cannot be {version!r}"
        raise ArgumentError(reason, f"give one of {', '.join(RELEASES)}")
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
        raise ServerError(
            f"cannot write {where} ({cause})",
            "make room or allow writing there, or set NEARDUP_HOME to another folder",
        ) from error


@contextmanager
def server_extra() -> Iterator[None]:
    """Turn a missing package of the extra `server` into a ServerError with the next step."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ServerError(
            f"the embedded Solr needs the Python package {error.name}",
            f"install it with: {INSTALL}",
        ) from error


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
