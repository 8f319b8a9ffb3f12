"""How a Solr is reached, beside its address: whose certificates, which headers, what proxy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from neardup_solr.errors import SettingsError
from neardup_solr.records import NOTHING

# The first that is set counts; requests knows the first two, OpenSSL the last.
AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
HEADERS = "NEARDUP_SOLR_HEADERS"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How a Solr of yours is reached, where its address does not say all.

    `ca` is a PEM file of certificate authorities to trust instead of the usual ones (None: that of
    $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE, else the usual ones); `headers` go with
    every request; `proxy` is the address of a proxy for all of them (None: those of the
    environment, which never count for this machine itself).
    """

    ca: str | Path | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: NOTHING, repr=False)
    proxy: str | None = field(default=None, repr=False)

    def authority(self) -> str | None:
        """The file (or folder) of certificate authorities to trust; None for the usual ones.

        Raises SettingsError where there is no such file.
        """
        named = {"ca": self.ca} | {name: os.environ.get(name) for name in AUTHORITIES}
        name, path = next(((name, path) for name, path in named.items() if path), ("", None))
        if path is not None and not os.access(path, os.R_OK):
            said = f"the CA file {path}" + (f" of {_said(name)}" if name != "ca" else "")
            raise SettingsError(f"{said} cannot be read", "name a PEM file of certificates")
        return None if path is None else str(path)


def _said(name: str) -> str:
    """What names a CA file: the option of the command sets the first of the variables."""
    return f"--ca or ${name}" if name == AUTHORITIES[0] else f"${name}"


def from_environment() -> Access:
    """The access whose headers stand in $NEARDUP_SOLR_HEADERS, one "Name: value" a line.

    A variable and no option: an option's value can be read by all users of a machine.
    Raises SettingsError where a line is no header; its value is not shown.
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


def located(url: str, core: str, *, is_core: bool) -> tuple[str, str]:
    """A server's address and the name of a core, of an address that may name the core.

    One that is known to be a core's names it at its end, wherever the server has its /solr.
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


@lru_cache(maxsize=64)  # asked before every request
def is_loopback(host: str) -> bool:
    """Whether a host, by name or address, is this machine itself."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
