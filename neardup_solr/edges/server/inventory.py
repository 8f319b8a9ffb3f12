"""What the embedded Solr holds."""

from __future__ import annotations

import os
from pathlib import Path

from neardup_solr.edges.server.layout import layout
from neardup_solr.edges.server.lifecycle import Server
from neardup_solr.edges.server.process import ask


def cores(server: Server) -> dict[str, int] | None:
    """The names of its cores, each with its number of documents; None if it does not answer."""
    said = ask(server.port, "/solr/admin/cores?action=STATUS&wt=json", timeout=30)
    if said is None:
        return None
    return {name: core["index"]["numDocs"] for name, core in sorted(said["status"].items())}


def data() -> Path:
    """The folder of the cores, whether Solr runs or not."""
    return layout().cores


def size_on_disk(folder: Path) -> int:
    """The bytes in all files below the folder; files that vanish meanwhile do not count."""
    total = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total
