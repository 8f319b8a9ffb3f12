"""Requests of foreign pages, which are refused: the Host and the Origin of a request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from neardup_solr.checks import require
from neardup_solr.solr.address import is_loopback
from neardup_solr.web.failure import Failure


class Guard:
    """Middleware that refuses foreign requests: see `find_foreign`.

    `names` are those of --allow-host, None where there is no such option.
    """

    def __init__(self, app: ASGIApp, *, port: int, names: Collection[str] | None = None) -> None:
        self.app, self.port, self.names = app, port, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        foreign = find_foreign(Headers(scope=scope), self.port, self.names or ())
        if foreign is None:
            await self.app(scope, receive, send)
        else:
            step = "use the address that the command printed"
            if self.names is not None:
                step += ", or start the service with allow_host"
            await Failure(*foreign, step, code="origin-refused").response(scope, receive, send)


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
        shown = headers["host"][:100]
        return 421, f"the Host {shown!r} does not belong to this service"
    if origin is None:
        return None
    name, page_port = page = _split(origin)
    if page == host or name in names or (is_loopback(name) and page_port == port):
        return None
    return 403, f"pages from the Origin {origin[:100]!r} may not use this service"


def parse_host(host: str) -> str:
    """Parse the name of a host that is allowed. Raises ArgumentError if it is none."""
    name, port = _split(f"//{host}")
    is_name = name and port is None and not set(name + host) & set("/*@?# ")
    step = "give only the host name, such as search.example.org"
    require(bool(is_name), f"`allow_host` cannot be {host!r}", step, code="argument-invalid")
    return name


def _split(address: str) -> tuple[str, int | None]:
    """Split an address into its host, without a final dot, and its port."""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return "", None
