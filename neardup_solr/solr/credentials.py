"""The way to a Solr: addresses of its nodes, user and password, certificates, a proxy, headers.

Nothing here shows a password: messages name the variable, the file or the entry that holds it.
"""

from __future__ import annotations

import os
import ssl
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from urllib.parse import SplitResult, unquote, urlsplit

import requests
from requests.utils import get_netrc_auth

from neardup_solr.arguments import require
from neardup_solr.errors import ArgumentError, DataError, SettingsError, SolrError, counted

USER, PASSWORD = "NEARDUP_SOLR_USER", "NEARDUP_SOLR_PASSWORD"
PASSWORD_FILE = "NEARDUP_SOLR_PASSWORD_FILE"
PLAIN_HTTP = "NEARDUP_SOLR_PLAIN_HTTP"
TOKEN, CERTIFICATE = "NEARDUP_SOLR_TOKEN", "NEARDUP_SOLR_CERT"
LONGEST = 4_096  # bytes of a file that holds a password
OTHERS = stat.S_IRWXG | stat.S_IRWXO
# The first that is set counts; requests knows the first two, OpenSSL the last.
AUTHORITIES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
PROXIES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
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
        if not _is_header("Authorization", token):
            raise SettingsError(f"${TOKEN} is not a token", "set it to one ASCII line")
        return Credentials(user=None, password=token, source=f"${TOKEN}")
    named = next((name for name in (PASSWORD, PASSWORD_FILE) if os.environ.get(name)), None)
    if user and named:
        value = os.environ[named]
        password = value if named == PASSWORD else _read_password(value)
        return Credentials(user=user, password=password, source=f"${named}")
    if named:
        raise SettingsError(f"${named} is set, but no user", f"also set ${USER}, or unset ${named}")
    if address.username:  # some servers take a token as the user
        return Credentials(user=user or "", password="", source="`address`")
    if user:
        raise SettingsError(f"${USER} is set, but no password", f"also {_SET}, or unset ${USER}")
    entry = get_netrc_auth(address.geturl())
    return entry and Credentials(user=entry[0], password=entry[1], source="~/.netrc")


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
        raise ArgumentError(reason, step)


@lru_cache(maxsize=64)  # called before every request
def is_loopback(host: str) -> bool:
    """Return True if a host, by name or address, is this machine itself."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
    return SettingsError(f"{path}, the file in ${PASSWORD_FILE}, {reason}", next_step)


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
        odd = [name for name, value in self.headers.items() if not _is_header(name, value)]
        if odd:  # the value may be a secret
            reason = f"the name or value of {odd[0]!r} in `headers` is not valid"
            raise ArgumentError(reason, "use ASCII names without spaces, and Latin-1 values")
        # As in the environment, a proxy may leave http:// out.
        proxy = self.proxy if self.proxy and "://" in self.proxy else f"http://{self.proxy}"
        if self.proxy is not None and not is_url(proxy, PROXIES):
            shown = self.proxy.rpartition("@")[2]
            reason = f"`proxy` cannot be {shown!r}"
            raise ArgumentError(reason, "give an address such as http://proxy:3128")

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
            raise DataError(reason, "name a PEM file with certificates")
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
            raise DataError(reason, step) from None
        return path or None


def _is_header(name: str, value: str) -> bool:
    """Return True if HTTP can carry a header."""
    try:
        requests.utils.check_header_validity((name, value))
        value.encode("latin-1")
        return name.isascii() and " " not in name
    except (requests.exceptions.InvalidHeader, UnicodeEncodeError):
        return False


@runtime_checkable
class Connection(Protocol):
    """An existing connection, such as a `pysolr.Solr`."""

    url: str
    auth: Any

    def get_session(self) -> requests.Session:
        """The session that sends its requests."""


def split_address(url: str, core: str, *, is_core: bool) -> tuple[str, str]:
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
    """Return True if an address has such a scheme, a host, and no port that cannot be."""
    try:
        parts = urlsplit(address)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


IMPLICIT = "implicit"
ACTIVE = "active"
STATUS_SECONDS = 10.0  # for what can be done without
SEVERAL = "the name is an alias of several collections; all updates would go to the first"
NAME_ONE = "name one of the collections"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A shard: the addresses of its leader and its replicas.

    `leader` is None while it has none; `replicas` are the addresses of those that can serve, the
    leader among them; `size` counts the others, too.
    """

    name: str
    leader: str | None
    replicas: tuple[str, ...]
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SolrCluster:
    """The addresses of the live nodes of a SolrCloud, and the active shards of a collection.

    `alias_of` are the collections that its name stands for if that is an alias. `misplacing` is
    what lets an id get into several shards, if anything does. `beside` are the other collections
    with the same schema, as far as the status lists them, and `inactive` are replicas that do not
    serve.
    """

    nodes: tuple[str, ...] = ()
    shards: tuple[Shard, ...] = ()
    alias_of: tuple[str, ...] = ()
    misplacing: str = ""
    beside: tuple[str, ...] = ()
    is_read_only: bool = False
    inactive: tuple[str, ...] = ()

    def copies(
        self, required: Mapping[str, int], has: Callable[[str], Mapping[str, int] | None]
    ) -> int | None:
        """Count the replicas of a shard that have its documents in the versions required.

        `has` gives the versions of the documents that a replica has, by its address; None if it
        does not answer. It is the smallest number over all shards, 0 if a leader lacks a document;
        None if the cluster does not tell.
        """
        if not self.shards:
            return None
        counts, present = [], set[str]()
        for shard in self.shards:
            of_leader = has(shard.leader) if shard.leader is not None else None
            if of_leader is None:
                return 0
            ids = {id for id, version in of_leader.items() if version >= required[id]}
            present |= ids
            others = [has(replica) or {} for replica in shard.replicas if replica != shard.leader]
            complete = (all(o.get(id, -1) >= required[id] for id in ids) for o in others)
            counts.append(1 + sum(complete))
        return min(counts) if len(present) == len(required) else 0

    def require_one(self) -> None:
        """Refuse an alias of several collections, by SettingsError."""
        if len(self.alias_of) > 1:
            raise SettingsError(f"{', '.join(self.alias_of)}: {SEVERAL}", NAME_ONE)

    def require_placed(self, name: str, replicas: int) -> None:
        """Refuse a collection in which an id can get into several shards, by SettingsError.

        Raises DataError if its shards do not have so many replicas.
        """
        self.require_one()
        if self.misplacing:
            reason = f"the collection {name!r} has {self.misplacing}"
            step = "use a collection with the default router, as created by neardup init"
            raise SettingsError(reason, f"{step} (or annotate --into)")
        least = min((shard.size for shard in self.shards), default=1)
        has = counted(least, "replica")
        reason = f"`min_replicas` cannot be {replicas}: a shard of {name!r} has only {has}"
        require(replicas <= least, reason, f"set it to {least}, or add replicas", DataError)


def require_single(**numbers: int) -> None:
    """Refuse more than one shard or replica of a Solr that is not in cloud mode."""
    for name, number in numbers.items():
        reason = f"`{name}` cannot be {number}: this Solr is not in cloud mode"
        step = "leave it out, or use a SolrCloud"
        require(number == 1, reason, step, DataError)


def cluster_of(once: Callable[..., dict[str, Any]], base: str, collection: str) -> SolrCluster:
    """Ask the Solr at `base` for its cluster by `once` of a session, empty if it does not tell."""
    params = {"action": "CLUSTERSTATUS", "collection": collection}
    try:
        url = f"{base}/admin/collections"
        decoded = once("GET", url, seconds=STATUS_SECONDS, params=params)
    except SolrError:
        return SolrCluster()  # then everything goes to the user's address
    return parse_cluster(decoded.get("cluster"), collection, urlsplit(base).scheme)


def parse_cluster(status: Any, name: str, scheme: str) -> SolrCluster:
    """Parse a CLUSTERSTATUS response, to an empty cluster if Solr is not in cloud mode."""
    try:
        live = frozenset(node for node in status.get("live_nodes", ()) if isinstance(node, str))
        members = _alias_of(status.get("aliases") or {}, name)
        listed = status.get("collections") or {}
        collection = listed.get(next(iter(members), name)) or {}
        if not collection and len(listed) == 1:
            [collection] = listed.values()
        shards, config = collection.get("shards", {}), collection.get("configName")
        same = {other for other, c in listed.items() if config and c.get("configName") == config}
        return SolrCluster(
            nodes=tuple(f"{scheme}://{address_of(node)}" for node in sorted(live)),
            shards=() if len(members) > 1 else tuple(_shards(shards, live)),
            alias_of=members,
            misplacing=placement_problem(collection.get("router") or {}),
            beside=tuple(sorted(same - {*members, name})),
            is_read_only=str(collection.get("readOnly", "")).lower() == "true",
            inactive=tuple(
                f"{shard}/{core} ({replica.get('state')})"
                for shard, described in sorted(shards.items())
                for core, replica in sorted(described.get("replicas", {}).items())
                if replica.get("state") != ACTIVE
            ),
        )
    except (AttributeError, KeyError, TypeError):
        return SolrCluster()


def _alias_of(aliases: Mapping[str, str], name: str) -> tuple[str, ...]:
    """List the collections that an alias, or an alias of aliases, stands for."""
    rest = {alias: members for alias, members in aliases.items() if alias != name}
    members = filter(None, map(str.strip, aliases.get(name, "").split(",")))
    return tuple(final for member in members for final in _alias_of(rest, member) or (member,))


def placement_problem(router: Mapping[str, Any]) -> str:
    """Say what of a router lets documents of one id get into several shards, if anything does."""
    if field := router.get("field"):
        after = "if its value changes, a document goes to a different shard, but the old one stays"
        return f"the router.field {field!r}: {after}"
    sender = "the sender of a document must choose its shard, so the same id could be in"
    is_implicit = router.get("name") == IMPLICIT
    return f"the router {IMPLICIT!r}: {sender} several" if is_implicit else ""


def _shards(shards: Mapping[str, Any], live: frozenset[str]) -> Iterator[Shard]:
    for name, shard in shards.items():
        if shard.get("state") != ACTIVE:
            continue
        replicas = shard.get("replicas", {}).values()
        serving = {
            f"{replica['base_url']}/{replica['core']}": replica.get("leader")
            for replica in replicas
            if replica.get("state") == ACTIVE and replica.get("node_name") in live
        }
        leader = next(filter(serving.get, serving), None)
        yield Shard(name=name, leader=leader, replicas=tuple(serving), size=len(replicas))


def address_of(node: str) -> str:
    """The address of a node by its name in the cluster, such as host:8983_solr."""
    place, _, context = node.partition("_")
    return f"{place}/{unquote(context)}"


class Nodes:
    """The addresses by which a Solr can be reached: the user's `address`, and further nodes.

    Requests are written for the user's address, and go to the node that answered last.
    `has_secrets` tells whether a password goes with them, which must not get to other places in
    other ways than the user's address allows.
    """

    def __init__(self, address: str = "", *, has_secrets: bool = False) -> None:
        self.address, self.has_secrets = address, has_secrets
        self.is_cloud: bool | None = None  # None as long as nobody knows
        self._nodes: tuple[str, ...] = (address,)  # in the order in which they are asked

    def learn(self, addresses: Iterable[str]) -> None:
        """Learn further nodes, and forget those that are none any more."""
        now = self._nodes[0]
        nodes = list(dict.fromkeys((self.address, *filter(self.may_have, addresses))))
        at = nodes.index(now) if now in nodes else 0
        self._nodes = (*nodes[at:], *nodes[:at])

    def may_have(self, address: str) -> bool:
        """Return True if requests may go to an address that the cluster names."""
        try:
            if not self.is_elsewhere(address):
                return True
            first, other = urlsplit(self.address), urlsplit(address)
            is_near = is_loopback(first.hostname or "")
            is_private = first.scheme == "https" or not is_near or is_loopback(other.hostname or "")
        except ValueError:  # it is no address
            return False
        return first.scheme == other.scheme and (is_private or not self.has_secrets)

    def is_elsewhere(self, address: str) -> bool:
        """Return True if an address has another host, or another scheme, than the user's."""
        if not self.address or address.startswith(f"{self.address}/"):  # nearly always
            return False
        first, other = urlsplit(self.address), urlsplit(address)
        return (first.scheme, first.hostname) != (other.scheme, other.hostname)

    def in_turn(self, url: str) -> Iterator[str]:
        """The request's address at each node: at the node that answered last first."""
        nodes = self._nodes  # another thread may learn others
        if not url.startswith(f"{self.address}/") or len(nodes) < 2:
            yield url
            return
        for node in nodes:
            yield node + url[len(self.address) :]
            if self._nodes[0] == node:  # it did not answer
                self.next_node()

    def next_node(self) -> None:
        """Ask another node next time: what is wrong may be wrong with this node alone."""
        now, *others = self._nodes
        self._nodes = (*others, now)
