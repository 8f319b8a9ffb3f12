"""Tokens of the clients of a service, and their rights, from a file."""

from __future__ import annotations

import hmac
import os
from dataclasses import dataclass, field
from pathlib import Path

from neardup_solr.errors import SourceError
from neardup_solr.progress import LOG

LOCAL_PARAMS = "local-params"  # filters that choose the parser of Solr
RIGHTS = ("check", "search", LOCAL_PARAMS, "explain", "entries", "metrics")
ALL = "all"
STEP = "write lines of NAME TOKEN RIGHT..., with a token of 16 characters or more"
SHORTEST = 16  # characters of a token


@dataclass(slots=True)
class Tokens:
    """The tokens in a file, which is read again when it changes.

    If the changed file cannot be read, a line is logged and the tokens of before count.

    Raises SourceError if it cannot be read at first, or a line is wrong.
    """

    path: Path
    _clients: dict[str, tuple[bytes, frozenset[str]]] = field(default_factory=dict, repr=False)
    _state: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        self._state = self._look()
        self._clients = _read(self.path)

    def refresh(self) -> None:
        """Read the file again if it has changed."""
        try:
            state = self._look()
            if state == self._state:
                return
            self._state = state
            self._clients = _read(self.path)
        except SourceError as error:
            LOG.warning("%s; the tokens of before count", error)

    def find(self, header: str) -> tuple[str, frozenset[str]] | None:
        """Find the name and the rights of the client that sends this Authorization, if any.

        Each token of the file is compared, in a time that does not depend on what was sent.
        """
        kind, _, sent = header.partition(" ")
        bearer, client = sent.strip().encode(), None
        for name, (token, rights) in self._clients.items():
            if hmac.compare_digest(token, bearer) and kind.lower() == "bearer":
                client = name, rights
        return client

    def _look(self) -> tuple[int, ...]:
        """Return what changes with the file, () without a file."""
        try:
            status = os.stat(self.path)
        except (OSError, ValueError):
            return ()
        return status.st_mtime_ns, status.st_size, status.st_ino


def _read(path: Path) -> dict[str, tuple[bytes, frozenset[str]]]:
    """Read names with their tokens and rights. A message about a line never shows the token."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, ValueError) as error:
        is_utf8 = not isinstance(error, UnicodeDecodeError)
        reason = getattr(error, "strerror", None) or (error if is_utf8 else "it is not UTF-8")
        raise SourceError(str(path), f"cannot be read ({reason})", STEP) from None
    clients: dict[str, tuple[bytes, frozenset[str]]] = {}
    for number, line in enumerate(lines, 1):
        name, *words = line.split() or ["#"]
        if name.startswith("#"):
            continue
        token, rights = (words[0], frozenset(words[1:])) if words else ("", frozenset[str]())
        is_new = token.encode() not in {other for other, _ in clients.values()}
        is_wrong = not rights or not rights <= {*RIGHTS, ALL} or not is_new or name in clients
        if is_wrong or len(token) < SHORTEST or not token.isascii():
            raise SourceError(str(path), f"line {number} is wrong", _step(token, rights))
        clients[name] = token.encode(), frozenset(RIGHTS) if ALL in rights else rights
    if not clients:
        raise SourceError(str(path), "holds no token", STEP)
    return clients


def _step(token: str, rights: frozenset[str]) -> str:
    if len(token) >= SHORTEST and not rights <= {*RIGHTS, ALL}:
        return f"the rights are {', '.join(RIGHTS)} or {ALL}"
    return f"{STEP}, and each name and token once"
