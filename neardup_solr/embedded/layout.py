"""The folders of an embedded Solr, and what is remembered of it between commands."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from neardup_solr import files
from neardup_solr.errors import ArgumentError, ServerError
from neardup_solr.files import atomic_path

SOLR_VERSION = "9.10.1"
CHOSEN = "NEARDUP_SOLR_VERSION"
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


def find_layout(version: str | None = None) -> Layout:
    """The folders in use: $NEARDUP_HOME, else the user's data folder.

    Another `version` of Solr than SOLR_VERSION (default: $NEARDUP_SOLR_VERSION) has a folder in it.
    """
    home = files.home()
    if os.pathsep in str(home):
        # Java splits its class path at that sign and has no way to quote it.
        reason = f"the folder {home} has a {os.pathsep!r} in its name"
        step = "set NEARDUP_HOME to a folder without this character"
        raise ServerError(reason, step, code="file-unwritable")
    version = version or os.environ.get(CHOSEN) or SOLR_VERSION
    if version not in RELEASES:
        reason = f"${CHOSEN} cannot be {version!r}"
        step = f"set it to one of {', '.join(RELEASES)}"
        raise ArgumentError(reason, step, code="argument-invalid")
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
        reason = f"cannot write {where} ({cause})"
        raise ServerError(reason, step, code="file-unwritable") from error
