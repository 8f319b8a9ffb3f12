"""The password of the embedded Solr, if it asks for one: a file of its owner's, and security.json.

We write security.json ourselves: the one of Solr's own command has a password that everybody knows
(CVE-2026-44825).
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from neardup_solr.embedded.layout import Layout, writing

USER = "neardup"
BYTES = 24  # of a generated password, 32 characters


def choose(place: Layout, *, asked: bool) -> None:
    """Generate a password unless there is one, or take it away: for the next start."""
    with writing(place.server):
        if not asked:
            place.password.unlink(missing_ok=True)
        elif not place.password.is_file():
            _write_private(place.password, f"{secrets.token_urlsafe(BYTES)}\n")


def lay_out(place: Layout) -> None:
    """Let the Solr that starts next ask for the password, if there is one."""
    place.security.unlink(missing_ok=True)
    password = _kept(place)
    if password is not None:
        rules = security(password, os.urandom(32))
        _write_private(place.security, json.dumps(rules, indent=1) + "\n")


def credentials(place: Layout) -> tuple[str, str] | None:
    """User and password that the Solr which was started last asks for; None if it asks for none."""
    password = _kept(place) if place.security.is_file() else None
    return None if password is None else (USER, password)


def header(place: Layout) -> dict[str, str]:
    """The header that shows user and password, if they are asked for."""
    shown = credentials(place)
    if shown is None:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(shown).encode()).decode()}"}


def security(password: str, salt: bytes) -> dict[str, Any]:
    """Make security.json: without user and password nothing is allowed, with them all is."""
    return {
        "authentication": {
            "class": "solr.BasicAuthPlugin",
            "blockUnknown": True,
            "forwardCredentials": False,
            "realm": USER,
            "credentials": {USER: hashed(password, salt)},
        },
        "authorization": {
            "class": "solr.RuleBasedAuthorizationPlugin",
            # Without it anyone who is known, and by some paths anyone, may do what no rule names.
            "permissions": [{"name": "all", "role": "admin"}],
            "user-role": {USER: "admin"},
        },
    }


def hashed(password: str, salt: bytes) -> str:
    """A password as Solr's Sha256AuthenticationProvider keeps it: its hash, and the salt."""
    once = hashlib.sha256(salt + password.encode()).digest()
    twice = hashlib.sha256(once).digest()
    return f"{base64.b64encode(twice).decode()} {base64.b64encode(salt).decode()}"


def _kept(place: Layout) -> str | None:
    try:
        return place.password.read_text(encoding="utf-8").rstrip("\r\n")
    except FileNotFoundError:
        return None


def _write_private(path: Path, text: str) -> None:
    """A new file that its owner alone can read, from the moment on at which it exists."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(number, "w", encoding="utf-8") as file:
        file.write(text)
