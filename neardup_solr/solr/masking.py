"""Secrets that were sent are hidden in what a server says: some repeat what they refuse."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies

import requests

SHORTEST_SECRET = 4  # characters: a shorter one would be found in any words
JSON = "application/json"
# The headers that every client sends.
_NO_SECRETS = {JSON, *requests.utils.default_headers().values()}


def hide_secrets(
    text: str, auth: Any, proxies: Mapping[str, str], headers: Mapping[str, str | bytes]
) -> str:
    """Hide the password of a session, those of its proxies, and its headers in a text."""
    for secret in _list_secrets(auth, proxies, headers):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "…")
    return text


def _list_secrets(
    auth: Any, proxies: Mapping[str, str], headers: Mapping[str, str | bytes]
) -> Iterator[str]:
    """The passwords in each of their forms, and the values of the user's headers."""
    if isinstance(auth, tuple):
        yield from _forms(*auth)
    for proxy in {*proxies.values(), *getproxies().values()}:
        parts = urlsplit(proxy)
        if parts.password is not None:
            yield from _forms(unquote(parts.username or ""), unquote(parts.password))
    for value in headers.values():
        header = value.decode("latin-1") if isinstance(value, bytes) else value
        if header not in _NO_SECRETS:
            yield from (header, header.rpartition(" ")[2])


def _forms(*pair: str | bytes) -> tuple[str, ...]:
    """A password as it is, in an address, and beside its user in the header of basic auth."""
    user, password = (c.decode() if isinstance(c, bytes) else str(c) for c in pair)
    return b64encode(f"{user}:{password}".encode()).decode(), password, quote(password, safe="")
