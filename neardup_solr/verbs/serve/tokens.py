"""The tokens of clients, in a file that is read again and again."""

from __future__ import annotations

import hmac
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from neardup_solr.errors import SourceError, code_of_reading
from neardup_solr.files import regular
from neardup_solr.progress import LOG
from neardup_solr.verbs.serve.search_request import LOCAL_PARAMS

RIGHTS = ("check", "search", LOCAL_PARAMS, "explain", "entries", "metrics")
ALL = "all"
STEP = "write lines of NAME TOKEN RIGHT..., with a token of 16 or more ASCII characters"
OTHER = "put a file of tokens in its place"
SHORTEST = 16  # characters of a token
LARGEST = 1 << 20  # bytes of the file

Clients = dict[str, tuple[bytes, frozenset[str]]]  # tokens and rights by name


@dataclass(slots=True)
class Tokens:
    """The tokens in a file. What it has is compared each time, as its times may stay the same.

    A change counts when it is read twice alike, so that no file is taken that is half written. If
    the file cannot be read, a line is logged, and the previous tokens stay valid.

    Raises SourceError if it cannot be read at first, or a line is wrong.
    """

    path: Path
    _clients: Clients = field(default_factory=dict, repr=False)
    _content: bytes = field(default=b"", repr=False)  # which the clients are of
    _seen: bytes | None = field(default=None, repr=False)  # at the last look
    _problem: object = None  # which was logged: the message, and what was read
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        self._load(*_read(self.path))

    def refresh(self, *, at_once: bool = False) -> int | None:
        """Read the file, and return the number of clients if it has changed, or `at_once` is set.

        A problem is logged once, and None returned.
        """
        with self._lock:
            try:
                content, mode = _read(self.path)
                is_new, is_same_again = content != self._content, content == self._seen
                self._seen = content
                if at_once or (is_new and is_same_again):
                    self._load(content, mode)
                elif is_new or self._problem is None:
                    return None
            except SourceError as error:
                problem = str(error), self._seen
                if at_once or problem != self._problem:
                    LOG.warning("%s; the previous tokens remain valid", error)
                self._problem = problem
                return None
            self._problem = None
            return len(self._clients)

    def _load(self, content: bytes, mode: int) -> None:
        """Take what the file has, and warn if nobody may enter, or everybody may read it."""
        self._clients = _parse(self.path, content)
        self._content = content
        if not self._clients:
            LOG.warning("%s contains no tokens, so nobody is admitted: %s", self.path, STEP)
        if os.name == "posix" and mode & stat.S_IROTH:
            LOG.warning("%s can be read by all users: run chmod o-r %s", *[self.path] * 2)

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


def _read(path: Path) -> tuple[bytes, int]:
    """Read what a file has, and its mode."""
    try:
        with open(path, "rb", opener=regular) as file:
            content = file.read(LARGEST + 1)
            mode = os.fstat(file.fileno()).st_mode
    except (OSError, ValueError) as error:  # the latter for a NUL character
        reason = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        raise SourceError(str(path), reason, OTHER, code=code_of_reading(error)) from None
    if len(content) > LARGEST:
        reason = f"has more than {LARGEST:,} bytes"
        raise SourceError(str(path), reason, "remove lines that nobody needs", code="file-kind")
    return content, mode


def _parse(path: Path, content: bytes) -> Clients:
    """Parse names with their tokens and rights. A message about a line never shows the token."""
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        reason = "cannot be read (not UTF-8 text)"
        raise SourceError(str(path), reason, "save it as UTF-8", code="encoding") from None
    clients: Clients = {}
    taken = set[str]()
    for number, line in enumerate(lines, 1):
        name, *words = line.split() or ["#"]
        if name.startswith("#"):
            continue
        token, rights = (words[0], frozenset(words[1:])) if words else ("", frozenset[str]())
        if fault := _find_fault(token, rights, name in clients, token in taken):
            reason, step = fault
            raise SourceError(str(path), f"line {number} {reason}", step, code="line-invalid")
        taken.add(token)
        clients[name] = token.encode(), frozenset(RIGHTS) if ALL in rights else rights
    return clients


def _find_fault(
    token: str, rights: frozenset[str], has_name: bool, has_token: bool
) -> tuple[str, str] | None:
    """Say what is wrong with a line, and what to do."""
    if len(token) < SHORTEST or not token.isascii():
        return "has a token that is too short, or not ASCII" if token else "has no token", STEP
    if not rights <= {*RIGHTS, ALL}:
        return "has an unknown right", f"use only the rights {', '.join(RIGHTS)} or {ALL}"
    if not rights:
        return "grants no right", f"add one or more of {', '.join(RIGHTS)} or {ALL}"
    if has_name or has_token:
        part = "name" if has_name else "token"
        return f"has the {part} of an earlier line", "give each client its own name and token"
    return None
