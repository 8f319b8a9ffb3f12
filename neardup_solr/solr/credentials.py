"""User and password, or a token, for a Solr: where they come from.

Nothing here shows a password: messages name the variable, the file or the entry that holds it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote

import requests
from requests.utils import get_netrc_auth

from neardup_solr.errors import SettingsError

USER, PASSWORD = "NEARDUP_SOLR_USER", "NEARDUP_SOLR_PASSWORD"
PASSWORD_FILE = "NEARDUP_SOLR_PASSWORD_FILE"
TOKEN = "NEARDUP_SOLR_TOKEN"
LONGEST = 4_096  # bytes of a file that holds a password
OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SET = f"set ${PASSWORD} or ${PASSWORD_FILE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A user and a password, or a token and no user. `source` names their place for messages."""

    user: str | None
    password: str = field(repr=False)
    source: str


def as_sent(user: str, password: str) -> tuple[Any, Any]:
    """As requests takes them: ASCII as texts, others as bytes of UTF-8, which Solr reads."""
    sent = [each if each.isascii() else each.encode() for each in (user, password)]
    return sent[0], sent[1]


def find_credentials(address: SplitResult) -> Credentials | None:
    """Find user and password for the Solr at an address. None if nothing is set.

    Both may stand in the address. Else the user is that of the address or of $NEARDUP_SOLR_USER,
    and the password that of the first of these that is set: $NEARDUP_SOLR_PASSWORD, the file that
    $NEARDUP_SOLR_PASSWORD_FILE names. If neither is set, an entry of ~/.netrc counts. A token in
    $NEARDUP_SOLR_TOKEN counts more than all but the address.

    Raises SettingsError if either is missing, or the file cannot be used.
    """
    user = unquote(address.username or "") or os.environ.get(USER)
    if address.password is not None:
        return Credentials(user=user or "", password=unquote(address.password), source="`address`")
    if not address.username and (token := os.environ.get(TOKEN, "").strip()):
        if not is_header("Authorization", token):
            reason = f"${TOKEN} is not a token"
            raise SettingsError(reason, "set it to one ASCII line", code="credentials-unusable")
        return Credentials(user=None, password=token, source=f"${TOKEN}")
    named = next((name for name in (PASSWORD, PASSWORD_FILE) if os.environ.get(name)), None)
    if user and named:
        value = os.environ[named]
        password = value if named == PASSWORD else _read_password(value)
        return Credentials(user=user, password=password, source=f"${named}")
    if named:
        step = f"also set ${USER}, or unset ${named}"
        raise SettingsError(f"${named} is set, but no user", step, code="credentials-unusable")
    if address.username:  # some servers take a token as the user
        return Credentials(user=user or "", password="", source="`address`")
    if user:
        reason = f"${USER} is set, but no password"
        raise SettingsError(reason, f"also {_SET}, or unset ${USER}", code="credentials-unusable")
    entry = get_netrc_auth(address.geturl())
    return entry and Credentials(user=entry[0], password=entry[1], source="~/.netrc")


def _read_password(path: str) -> str:
    """Read the password in the file that $NEARDUP_SOLR_PASSWORD_FILE names, its only line."""
    try:
        # Without waiting for somebody who writes to a pipe.
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(number, "rb") as file:
            # Of the open file: another could take its name after a look at that.
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise _unusable(path, "is not a regular file", "name a file with the password")
            content = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:  # the latter for a NUL character
        reason = getattr(error, "strerror", None) or error
        raise _unusable(path, f"cannot be read ({reason})", "check the file") from None
    if os.name == "posix" and mode & OTHERS:
        raise _unusable(path, "can be read by other users", f"run: chmod 600 {path}")
    try:
        password = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise _unusable(path, "is not UTF-8 text", "write the password to it") from None
    if not password or "\n" in password or len(content) > LONGEST:
        raise _unusable(path, "is not a single line", "write only the password to it")
    return password


def _unusable(path: str, reason: str, next_step: str) -> SettingsError:
    return SettingsError(
        f"{path}, the file in ${PASSWORD_FILE}, {reason}", next_step, code="credentials-unusable"
    )


def is_header(name: str, value: str) -> bool:
    """Return True if HTTP can carry a header."""
    try:
        requests.utils.check_header_validity((name, value))
        value.encode("latin-1")
        return name.isascii() and " " not in name
    except (requests.exceptions.InvalidHeader, UnicodeEncodeError):
        return False
