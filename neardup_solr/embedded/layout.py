"""The embedded Solr's folders and what it remembers there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from neardup_solr import files
from neardup_solr.errors import ServerError
from neardup_solr.files import replaced

SOLR_VERSION = "9.10.1"
INSTALL = 'pip install "neardup-solr[server]", or give the `address` of a Solr of yours'


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Every path of one embedded Solr, all below `home`; `node` is its own folder there."""

    home: Path
    node: str = "server"

    @property
    def jars(self) -> Path:
        """Fetched once per version of Solr; `reset` keeps them."""
        return self.home / f"solr-{SOLR_VERSION}" / "jars"

    @property
    def server(self) -> Path:
        """File that the running server writes."""
        return self.home / self.node

    @property
    def cloud(self) -> Path:
        """The folders of the nodes of a cloud."""
        return self.home / "cloud"

    @property
    def solr_home(self) -> Path:
        """Solr's own home: solr.xml, the configset and the cores."""
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
        """Solr's own file of users and what they may do."""
        return self.solr_home / "security.json"

    @property
    def password(self) -> Path:
        """File with the password of the embedded Solr, if it has one; `reset` keeps it."""
        return self.server / "password"

    @property
    def state(self) -> Path:
        return self.server / "state.json"

    @property
    def lock(self) -> Path:
        return self.server / "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """State between commands: the port always, the rest while a server runs.

    `pid` is 0 if the server was stopped; `started` (UTC, ISO 8601) is empty until it is ready;
    `cloud` is the number of nodes if there is a cloud in its place. A `port` of 0 is none yet.
    """

    port: int
    pid: int = 0
    heap: str = ""
    started: str = ""
    cloud: int = 0


def layout() -> Layout:
    """The folders in use: $NEARDUP_HOME, else the user's data folder."""
    home = files.home()
    if os.pathsep in str(home):
        # Java splits its class path at that sign and has no way to quote it.
        raise ServerError(
            f"the folder {home} has a {os.pathsep!r} in its name",
            "set NEARDUP_HOME to a folder without one",
        )
    return Layout(home=home)


def recall(place: Layout) -> State | None:
    """The remembered state; None if there is none that can be read."""
    try:
        return State(**json.loads(place.state.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def remember(place: Layout, state: State) -> None:
    """Write the state so that a crash leaves either the old one or the new one."""
    with writing(place.server), replaced(place.state) as unfinished:
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
