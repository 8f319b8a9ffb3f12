"""The nodes of a SolrCloud, each of which takes any request: if one is away, the next is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from neardup_solr.solr.credentials import is_loopback


class Nodes:
    """The addresses by which one Solr can be reached: the one that was given, and further nodes.

    Requests are written for the address that was given, and go to the node that answered last.
    `has_secrets` tells whether a password goes with them, which must not get to other places in
    other ways than the address that was given allows.
    """

    def __init__(self) -> None:
        self.given = ""
        self.has_secrets = False
        self.known_as = ""  # if not by its address: by that of its ZooKeeper
        self.is_cloud: bool | None = None  # None as long as nobody knows
        self._all: tuple[str, ...] = ()
        self._now = ""

    def begin(self, given: str, *, has_secrets: bool) -> None:
        """Begin with the address that was given."""
        self.given, self.has_secrets = given, has_secrets
        self._all, self._now = (given,), given

    def learn(self, addresses: Iterable[str]) -> None:
        """Learn further nodes, and forget those that are none any more."""
        fit = [one for one in dict.fromkeys(addresses) if self.may_have(one)]
        self._all = tuple(dict.fromkeys((self.given, *fit)))
        if self._now not in self._all:
            self._now = self.given

    def may_have(self, address: str) -> bool:
        """Whether requests may go to an address that the cluster names."""
        if not self.given or address == self.given or address.startswith(f"{self.given}/"):
            return True
        try:
            own, other = urlsplit(self.given), urlsplit(address)
            if own.scheme != other.scheme:
                return False
            is_near = is_loopback(own.hostname or "")
            is_private = own.scheme == "https" or not is_near or is_loopback(other.hostname or "")
        except ValueError:  # it is no address
            return False
        return is_private or not self.has_secrets

    def is_elsewhere(self, address: str) -> bool:
        """Whether an address is on another host than the one that was given, or of another kind."""
        if not self.given or address.startswith(f"{self.given}/"):  # nearly always
            return False
        own, other = urlsplit(self.given), urlsplit(address)
        return (own.scheme, own.hostname) != (other.scheme, other.hostname)

    def in_turn(self, url: str) -> Iterator[str]:
        """The request's address at each node: at the one that answered last, then at the others."""
        nodes, now = self._all, self._now  # another thread may learn others
        if not url.startswith(f"{self.given}/") or len(nodes) < 2:
            yield url
            return
        at = nodes.index(now) if now in nodes else 0
        for node in (*nodes[at:], *nodes[:at]):
            yield node + url[len(self.given) :]
            if self._now == node:  # it did not answer
                self.turn()

    def turn(self) -> None:
        """Ask another node next time: what is wrong may be wrong with this one alone."""
        if len(self._all) < 2:
            return
        nodes, now = self._all, self._now
        self._now = nodes[(nodes.index(now) + 1) % len(nodes)] if now in nodes else nodes[0]
