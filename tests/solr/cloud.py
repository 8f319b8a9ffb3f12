"""A real SolrCloud with its own ZooKeeper, from the embedded server's jars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from neardup_solr.embedded.layout import SOLR_VERSION, Layout, find_layout
from tests.solr import nodes as cloud


def with_jars(home: Path, folder: Path) -> Path:
    """A folder for a cloud, with the jars that a home has."""
    jars = next(home.glob("solr-*"))
    (folder / jars.name).symlink_to(jars.resolve())
    return folder


def in_folder(home: Path) -> Layout:
    """The places below a home of the version of Solr in use."""
    version = find_layout().version
    is_below = version not in (SOLR_VERSION, home.name)
    return Layout(home=home / version if is_below else home, version=version)


@contextmanager
def nodes(home: Path, count: int = 1) -> Iterator[cloud.Cloud]:
    """A cloud of so many nodes whose data lie in `home`, where the jars are already."""
    place = in_folder(home)
    try:
        yield cloud.start(place, count, "512m", print)
    finally:
        cloud.stop(place, count, timeout=0)


def empty(address: str) -> None:
    """Delete the aliases, collections and configsets of a cloud."""

    def ask(path: str, **params: str) -> dict[str, Any]:
        answer = requests.get(f"{address}/admin/{path}", params=params, timeout=120)
        answer.raise_for_status()
        return dict(answer.json())

    for name in ask("collections", action="LISTALIASES").get("aliases", {}):
        ask("collections", action="DELETEALIAS", name=name)
    for name in ask("collections", action="LIST")["collections"]:
        ask("collections", action="DELETE", name=name)
    for name in ask("configs", action="LIST")["configSets"]:
        if name != "_default":
            ask("configs", action="DELETE", name=name)
