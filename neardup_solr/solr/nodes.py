"""The addresses by which a Solr, or a SolrCloud, can be reached: which node gets a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from neardup_solr.solr.address import is_loopback


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
