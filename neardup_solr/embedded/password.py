"""The password of the embedded Solr, and what Solr reads of it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from neardup_solr.embedded.layout import Layout, writing
from neardup_solr.files import private

USER = "neardup"
BYTES = 24  # of a generated password, 32 characters


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
