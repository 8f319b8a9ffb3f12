"""User and password of a Solr: where they are looked for, and where they may be sent.

Nothing here shows a password: messages name the variable, the file or the entry that holds it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, unquote

from requests.utils import get_netrc_auth

from neardup_solr.errors import ArgumentError, SettingsError

USER, PASSWORD = "NEARDUP_SOLR_USER", "NEARDUP_SOLR_PASSWORD"
PASSWORD_FILE, KEYRING = "NEARDUP_SOLR_PASSWORD_FILE", "NEARDUP_SOLR_KEYRING"
PLAIN_HTTP = "NEARDUP_SOLR_PLAIN_HTTP"
SERVICE = "neardup_solr"  # in a keyring
LONGEST = 4_096  # bytes of a file that holds a password
OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SET = f"set ${PASSWORD} or ${PASSWORD_FILE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A user and a password; `source` says where they were found."""

    user: str
    password: str = field(repr=False)
    source: str


def as_sent(user: str, password: str) -> tuple[Any, Any]:
    """As requests takes them: ASCII as texts, others as bytes of UTF-8, which Solr reads."""
    sent = [each if each.isascii() else each.encode() for each in (user, password)]
    return sent[0], sent[1]


def credentials(address: SplitResult) -> Credentials | None:
    """User and password for the Solr at an address; None if there are none.

    Both may stand in the address. Else the user is that of the address or of $NEARDUP_SOLR_USER,
    and the password that of the first of these that is set: $NEARDUP_SOLR_PASSWORD, the file that
    $NEARDUP_SOLR_PASSWORD_FILE names, the keyring if $NEARDUP_SOLR_KEYRING is 1. If none of them
    is set, an entry of ~/.netrc counts.

    Raises SettingsError if only one of the two is known, or the file or the keyring cannot be used.
    """
    user = unquote(address.username or "") or os.environ.get(USER)
    if address.password is not None:
        return Credentials(user=user or "", password=unquote(address.password), source="`address`")
    named = next((name for name in _KEPT if _is_set(name)), None)
    if user and named:
        password = _KEPT[named](user, address.hostname or "")
        return Credentials(user=user, password=password, source=f"${named}")
    if named:
        raise SettingsError(f"${named} is set, but no user", f"set ${USER}, too, or unset ${named}")
    if address.username:  # some servers take a token as the user
        return Credentials(user=user or "", password="", source="`address`")
    if user:
        raise SettingsError(f"${USER} is set, but no password", f"{_SET}, too, or unset ${USER}")
    entry = get_netrc_auth(address.geturl())
    return entry and Credentials(user=entry[0], password=entry[1], source="~/.netrc")


def require_private(
    address: SplitResult, found: Credentials | None, headers: Mapping[str, str], *, plain_http: bool
) -> None:
    """Refuse to send a password over plain http to another machine, by ArgumentError.

    It may be sent so with `plain_http`, or if $NEARDUP_SOLR_PLAIN_HTTP is 1.
    """
    source = found.source if found else "a header" if _has_basic_auth(headers) else None
    is_private = address.scheme == "https" or is_loopback(address.hostname or "")
    if source and not (is_private or plain_http or os.environ.get(PLAIN_HTTP) == "1"):
        raise ArgumentError(
            f"the password of {source} would be sent to {address.hostname} unencrypted",
            f"give an https:// address, or allow it with `plain_http` or ${PLAIN_HTTP}=1",
        )


@lru_cache(maxsize=64)  # asked before every request
def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine itself."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_set(name: str) -> bool:
    """Whether a variable is set; that of the keyring only says yes or no."""
    value = os.environ.get(name, "")
    return value == "1" if name == KEYRING else value != ""


def _has_basic_auth(headers: Mapping[str, str]) -> bool:
    return any(
        name.lower() == "authorization" and value.lower().startswith("basic ")
        for name, value in headers.items()
    )


def _of_variable(_user: str, _host: str) -> str:
    return os.environ[PASSWORD]


def _of_file(_user: str, _host: str) -> str:
    """The password in the file that $NEARDUP_SOLR_PASSWORD_FILE names, its only line."""
    path = os.environ[PASSWORD_FILE]
    try:
        with open(path, "rb", opener=_at_once) as file:
            # Of the open file: another one could take its name after a look at that.
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise _unusable(path, "is not a regular file", "name a file with the password")
            content = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:  # the latter for a NUL character
        reason = getattr(error, "strerror", None) or error
        raise _unusable(path, f"cannot be read ({reason})", "check the file") from None
    if os.name == "posix" and mode & OTHERS:
        raise _unusable(path, "can be read by others", f"type: chmod 600 {path}")
    try:
        password = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise _unusable(path, "is not text in UTF-8", "write the password to it") from None
    if not password or "\n" in password or len(content) > LONGEST:
        raise _unusable(path, "has no password alone on a line", "write nothing else to it")
    return password


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting for somebody who writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unusable(path: str, reason: str, next_step: str) -> SettingsError:
    return SettingsError(f"{path}, the file of ${PASSWORD_FILE}, {reason}", next_step)


def _of_keyring(user: str, host: str) -> str:
    """The password of user@host in the keyring of the desktop, by the package keyring."""
    entry = f"{user}@{host}"
    try:
        keyring = import_module("keyring")
        password: str | None = keyring.get_password(SERVICE, entry)
    except ImportError:
        install = f"pip install keyring, or unset ${KEYRING}"
        raise SettingsError("the package keyring is not installed", install) from None
    except Exception as error:  # each of its backends has errors of its own
        reason = f"the keyring cannot be read ({type(error).__name__})"
        raise SettingsError(reason, f"unlock it, or {_SET}") from None
    if not password:
        step = f"put it there with: keyring set {SERVICE} {entry}"
        raise SettingsError(f"the keyring has no password of {entry}", step)
    return password


# The first that is set counts.
_KEPT: dict[str, Callable[[str, str], str]] = {
    PASSWORD: _of_variable,
    PASSWORD_FILE: _of_file,
    KEYRING: _of_keyring,
}
