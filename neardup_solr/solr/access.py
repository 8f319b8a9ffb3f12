"""How a Solr is reached: its address, its certificates, its proxy, and headers of your own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

import requests

from neardup_solr.errors import ArgumentError, SettingsError
from neardup_solr.solr.credentials import is_loopback

# The first that is set counts; requests knows the first two, OpenSSL the last.
AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
HEADERS = "NEARDUP_SOLR_HEADERS"
PROXIES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a Solr of yours is reached, beyond its address.

    `ca` is a PEM file of certificate authorities to trust instead of the usual ones (None: that of
    $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE, else the usual ones); `headers` go with
    every request; `proxy` is the address of a proxy for all of them (None: those of the
    environment, which are never used for this machine itself). `plain_http` lets a password go
    unencrypted to another machine. `embedded` has user and password of the embedded Solr, if it
    asks for them.
    """

    ca: str | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: str | None = field(default=None, repr=False)
    plain_http: bool = False
    embedded: tuple[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        odd = next(
            (name for name, value in self.headers.items() if not _is_header(name, value)), None
        )
        if odd is not None:  # the value may be a secret
            reason = f"`headers` cannot have {odd!r} with its value"
            raise ArgumentError(reason, "give names and values of one line, in Latin letters")
        if self.proxy is not None and not is_url(_with_scheme(self.proxy), PROXIES):
            shown = self.proxy.rpartition("@")[2]
            raise ArgumentError(
                f"`proxy` cannot be {shown!r}", "give an address such as http://proxy:3128"
            )

    def authority(self) -> str | None:
        """The file (or folder) of certificate authorities to trust; None for the usual ones.

        Raises ArgumentError if there is no such file, or it cannot be read.
        """
        named = {"ca": self.ca} | {name: os.environ.get(name) for name in AUTHORITIES}
        name, path = next(((name, path) for name, path in named.items() if path), ("", None))
        if path is not None and not os.access(path, os.R_OK):
            said = f"the CA file {path}" + (f" of {_said(name)}" if name != "ca" else "")
            raise ArgumentError(f"{said} cannot be read", "name a PEM file of certificates")
        return None if path is None else str(path)


def _with_scheme(proxy: str) -> str:
    """The address of a proxy as requests takes it: it may leave http:// out."""
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_header(name: str, value: str) -> bool:
    """Whether HTTP can carry a header."""
    try:
        requests.utils.check_header_validity((name, value))
        value.encode("latin-1")
        return name.isascii() and " " not in name
    except (requests.exceptions.InvalidHeader, UnicodeEncodeError):
        return False


def _said(name: str) -> str:
    """What names a CA file; the option `--ca` sets the first of the variables."""
    return f"`ca` or ${name}" if name == AUTHORITIES[0] else f"${name}"


def from_environment() -> Access:
    """The access whose headers stand in $NEARDUP_SOLR_HEADERS, one "Name: value" a line.

    A variable, not an option: all users of a machine can read the value of an option.
    Raises SettingsError if a line is no header; its value is not shown.
    """
    headers = {}
    for number, line in enumerate(os.environ.get(HEADERS, "").splitlines(), start=1):
        name, colon, value = map(str.strip, line.partition(":"))
        if line.strip():
            if not (name and colon) or " " in name:
                reason = f"line {number} of ${HEADERS} is no header"
                raise SettingsError(reason, 'write each as "Name: value", one a line')
            headers[name] = value
    return Access(headers=headers)


@runtime_checkable
class Connection(Protocol):
    """What is used of a connection that the user has, such as a `pysolr.Solr`."""

    url: str
    auth: Any

    def get_session(self) -> requests.Session:
        """The session that sends its requests."""


def located(url: str, core: str, *, is_core: bool) -> tuple[str, str]:
    """The server's address and the collection's name, from an address that may name both.

    With `is_core` the address ends with the name, wherever the server has its /solr.
    """
    base, slash, name = url.partition("/solr/")
    if slash and name:
        return f"{base}/solr", name.strip("/")
    if is_core and not url.endswith("/solr"):
        base, _, core = url.rpartition("/")
        return base, core
    return url, core


def past_proxies(url: str) -> dict[str, str]:
    """This machine itself is never reached through a proxy of the environment."""
    host = urlsplit(url).hostname or ""
    return {"no_proxy": host} if is_loopback(host) else {}


def is_url(address: str, schemes: Sequence[str] = ("http", "https")) -> bool:
    """Whether an address has one of these schemes, a host, and no port that cannot be."""
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
