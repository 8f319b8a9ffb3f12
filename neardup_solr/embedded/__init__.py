"""A real Solr on this machine, without Docker and without an installed Java.

`start` is all that most callers need; `neardup solr` has a command for each of the others.
"""

from neardup_solr.embedded.layout import SOLR_VERSION
from neardup_solr.embedded.lifecycle import (
    addresses,
    cores,
    credentials,
    data,
    follow,
    is_known,
    logs,
    reset,
    running,
    size_on_disk,
    start,
    starting,
    stop,
    zookeeper,
)
from neardup_solr.embedded.server import Server

__all__ = [
    "SOLR_VERSION",
    "Server",
    "addresses",
    "cores",
    "credentials",
    "data",
    "follow",
    "is_known",
    "logs",
    "reset",
    "running",
    "size_on_disk",
    "start",
    "starting",
    "stop",
    "zookeeper",
]
