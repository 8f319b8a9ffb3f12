"""Addresses of a Solr: what is one, what it names, and how it is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

from neardup_solr import errors
from neardup_solr.regex import regex

# Paths behind /solr that are of the server.
_OF_SERVER = frozenset({"admin", "admin.html", "index.html"})
# Behind the # of the admin pages: those of a core or a collection.
_ADMIN_PAGE = regex(r"/(?:~(?:cores|collections)/)?([A-Za-z0-9_.][\w.-]*)")


@lru_cache(maxsize=64)  # called before every request
def is_loopback(host: str) -> bool:
    """Return True if a host, by name or address, is this machine itself."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def split_address(url: str, core: str, *, is_core: bool) -> tuple[str, str]:
    """The server's address and the collection's name, from an address that may name both.

    With `is_core` the address ends with the name, wherever the server has its /solr.
    Raises ArgumentError for the address of a handler behind the collection, or of an admin page.
    """
    url, _, of_page = url.partition("#")
    base, slash, path = redact(url).partition("/solr/")
    name, _, handler = path.strip("/").partition("/")
    if page := _ADMIN_PAGE.match(of_page):
        raise _refuse_address("is an admin page", f"{base.removesuffix('/solr')}/solr/{page[1]}")
    if name in _OF_SERVER:
        what = f"{name!r} in `address` is no collection"
        step = f"give {base}/solr, and the collection with `collection`"
        raise errors.ArgumentError(what, step, code="address-invalid")
    if handler:
        what = f"goes on with {'/' + handler!r} behind the collection"
        raise _refuse_address(what, f"{base}/solr/{name}")
    if slash and name:
        return f"{base}/solr", name
    url = redact(url).rstrip("/")
    if is_core and not url.endswith("/solr"):
        base, _, core = url.rpartition("/")
        return base, core
    return url, core


def _refuse_address(what: str, right: str) -> errors.ArgumentError:
    step = f"give the address of the collection: {right}"
    return errors.ArgumentError(f"`address` {what}", step, code="address-invalid")


def past_proxies(url: str) -> dict[str, str]:
    """This machine itself is never reached through a proxy of the environment."""
    host = urlsplit(url).hostname or ""
    return {"no_proxy": host} if is_loopback(host) else {}


def is_url(address: str, schemes: Sequence[str] = ("http", "https")) -> bool:
    """Return True if an address has such a scheme, a host, and no port that cannot be."""
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def redact(address: str) -> str:
    """An address without user, password, query and fragment."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def parse_address(address: str) -> SplitResult:
    # It would be cut at the "/", and half of a password shown as its host and port.
    if re.search(r"://[^/?#]*[/?#].*@", address, re.DOTALL):
        shown = address.rpartition("@")[2]
        reason = f"`address` (…@{shown}) has an '@' after its first '/', '?' or '#'"
        step = "in a user or password write %2F for '/', %3F for '?', %23 for '#' and %40 for '@'"
        raise errors.ArgumentError(reason, step, code="address-invalid")
    if not is_url(address):
        shown = address.rpartition("@")[2]
        reason = f"`address` cannot be {shown!r}"
        step = "give one such as http://host:8983/solr"
        raise errors.ArgumentError(reason, step, code="address-invalid")
    return urlsplit(address)
