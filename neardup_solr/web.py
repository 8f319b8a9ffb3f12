"""Local pages over HTTP: what `serve` and `review` share."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from neardup_solr.arguments import require
from neardup_solr.errors import ArgumentError
from neardup_solr.solr.credentials import is_loopback

CONNECTIONS = 4096  # that may wait to be taken
CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
HEADERS = {
    "Content-Security-Policy": f"{CSP} base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
TYPES = {
    "html": "text/html", "css": "text/css", "js": "text/javascript", "json": "application/json",
}  # fmt: skip


def bind(host: str, port: int, next_step: str) -> socket.socket:
    """Take a port of an address. Raises ArgumentError with `next_step` if that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only on sockets that say they are of TCP; others wait for 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(CONNECTIONS)  # who comes before the server has started, waits
    except (OSError, UnicodeError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(
            f"the port {port} of {host!r} cannot be used ({reason})", next_step
        ) from None
    return bound


def find_foreign(
    headers: Mapping[str, str], port: int, names: Collection[str] = ()
) -> tuple[int, str] | None:
    """Return the status and the reason for which a foreign request is refused, None for any other.

    A page may let its own name lead to this machine (DNS rebinding), but the browser then sends
    that name as Host, and as Origin which page asks. The Host has to be a name of this machine or
    one of `names`, the Origin that of the Host, one of `names`, or this machine's at `port`.
    """
    host, origin = _split(f"//{headers.get('host', '')}"), headers.get("origin")
    if "host" in headers and not (is_loopback(host[0]) or host[0] in names):
        return 421, f"the Host {host[0]!r} is not one of this service"
    if origin is None:
        return None
    name, own_port = asking = _split(origin)
    if asking == host or name in names or (is_loopback(name) and own_port == port):
        return None
    return 403, f"pages of the Origin {origin[:100]!r} may not ask this service"


def parse_host(host: str) -> str:
    """Parse the name of a host that is allowed. Raises ArgumentError if it is none."""
    name, port = _split(f"//{host}")
    is_name = name and port is None and not set(name + host) & set("/*@?# ")
    step = "give the name alone, such as search.example.org"
    require(bool(is_name), f"`allow_host` cannot be {host!r}", step)
    return name


def _split(address: str) -> tuple[str, int | None]:
    """Split an address into its host, without a final dot, and its port."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return "", None
