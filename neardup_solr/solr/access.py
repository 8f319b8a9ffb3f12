"""The way to a Solr beyond its address: certificates, headers, a proxy, an existing connection."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import SplitResult

import requests

from neardup_solr.errors import ArgumentError, DataError
from neardup_solr.solr.address import is_loopback, is_url
from neardup_solr.solr.credentials import TOKEN, is_header

PLAIN_HTTP = "NEARDUP_SOLR_PLAIN_HTTP"
CERTIFICATE = "NEARDUP_SOLR_CERT"
# The first that is set counts; requests knows the first two, OpenSSL the last.
AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
PROXIES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


def require_private(address: SplitResult, source: str, access: Access) -> None:
    """Refuse to send a password or a token over plain http to another machine, by ArgumentError.

    `source` names its place, "" if nothing is sent. It may be sent so if `access` allows it, or if
    $NEARDUP_SOLR_PLAIN_HTTP is 1.
    """
    sent = {name.lower(): value.lower() for name, value in access.headers.items()}
    if not source and sent.get("authorization", "").startswith(("basic ", "bearer ")):
        source = "a header"
    secret = {"a header": "credentials", f"${TOKEN}": "token"}.get(source, "password")
    is_private = address.scheme == "https" or is_loopback(address.hostname or "")
    if source and not (is_private or access.plain_http or os.environ.get(PLAIN_HTTP) == "1"):
        reason = f"the {secret} from {source} would be sent to {address.hostname} unencrypted"
        step = f"use an https:// address, or allow this with `plain_http` or ${PLAIN_HTTP}=1"
        raise ArgumentError(reason, step, code="credentials-exposed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The way to a Solr of yours, beyond its address.

    `ca` is a PEM file of certificate authorities to trust instead of the usual ones (None: that of
    $REQUESTS_CA_BUNDLE, $CURL_CA_BUNDLE or $SSL_CERT_FILE, else the usual ones); `cert` is a PEM
    file of a client certificate with its key (None: that of $NEARDUP_SOLR_CERT); `headers` go with
    every request; `proxy` is the address of a proxy for all of them (None: those of the
    environment, which are never used for this machine itself). `plain_http` lets a password go
    unencrypted to another machine. `embedded` has user and password of the embedded Solr, if it
    asks for them.
    """

    ca: str | Path | None = None
    cert: str | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: str | None = field(default=None, repr=False)
    plain_http: bool = False
    embedded: tuple[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        odd = [name for name, value in self.headers.items() if not is_header(name, value)]
        if odd:  # the value may be a secret
            reason = f"the name or value of {odd[0]!r} in `headers` is not valid"
            step = "use ASCII names without spaces, and Latin-1 values"
            raise ArgumentError(reason, step, code="argument-invalid")
        # As in the environment, a proxy may leave http:// out.
        proxy = self.proxy if self.proxy and "://" in self.proxy else f"http://{self.proxy}"
        if self.proxy is not None and not is_url(proxy, PROXIES):
            shown = self.proxy.rpartition("@")[2]
            reason = f"`proxy` cannot be {shown!r}"
            step = "give an address such as http://proxy:3128"
            raise ArgumentError(reason, step, code="address-invalid")

    def authority(self) -> str | None:
        """Name the file (or folder) of certificate authorities to trust, None for the usual ones.

        Raises ArgumentError if the file is missing, or cannot be read.
        """
        named = {"ca": self.ca} | {name: os.environ.get(name) for name in AUTHORITIES}
        name, path = next(((name, path) for name, path in named.items() if path), ("", None))
        is_place = path is not None and (os.path.isfile(path) or os.path.isdir(path))  # no pipe
        if path is not None and not (is_place and os.access(path, os.R_OK)):
            # The option `--ca` sets the first of the variables.
            of = {"ca": "", AUTHORITIES[0]: f" from `ca` or ${name}"}.get(name, f" from ${name}")
            reason = f"the CA file {path}{of} cannot be read"
            step = "name a PEM file with certificates"
            raise DataError(reason, step, code="credentials-unusable")
        return None if path is None else str(path)

    def certificate(self) -> str | None:
        """Name the file of the client certificate and its key, None if none is set.

        Raises ArgumentError if it cannot be used.
        """
        path = str(self.cert or os.environ.get(CERTIFICATE) or "")
        try:
            if path and not os.path.isfile(path):  # OpenSSL would wait for a pipe
                raise ValueError(path)
            if path:  # without a password for the key, which OpenSSL would ask for on the terminal
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(path, password="")
        except (OSError, ValueError):
            reason = f"{path} from `cert` or ${CERTIFICATE} is not a usable client certificate"
            step = "name a PEM file with the certificate and its private key, without a password"
            raise DataError(reason, step, code="credentials-unusable") from None
        return path or None


@runtime_checkable
class Connection(Protocol):
    """An existing connection, such as a `pysolr.Solr`."""

    url: str
    auth: Any

    def get_session(self) -> requests.Session:
        """The session that sends its requests."""
