"""A real Solr on this machine, without Docker and without an installed Java.

`start` is all that most callers need; `neardup solr` has one command per function.
"""

from neardup_solr.edges.server.inventory import cores, data, size_on_disk
from neardup_solr.edges.server.layout import SOLR_VERSION
from neardup_solr.edges.server.lifecycle import Server, reset, running, start, stop
from neardup_solr.edges.server.logs import follow, logs

__all__ = [
    "SOLR_VERSION",
    "Server",
    "cores",
    "data",
    "follow",
    "logs",
    "reset",
    "running",
    "size_on_disk",
    "start",
    "stop",
]
