"""A real SolrCloud with its own ZooKeeper, from the embedded server's jars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from neardup_solr import embedded
from neardup_solr.embedded import jars
from neardup_solr.embedded.layout import SOLR_VERSION, Layout, find_layout, recall
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


@dataclass(frozen=True, slots=True)
class CloudFolder:
    """A folder with the jars, and the data of a cloud whose nodes come and go."""

    home: Path

    def start(self, count: int) -> cloud.Cloud:
        """Start those of so many nodes that do not run."""
        return cloud.start(in_folder(self.home), count, "512m", print)

    def stop(self, count: int) -> None:
        """Stop so many nodes at once."""
        cloud.stop(in_folder(self.home), count, timeout=0)

    def end(self, number: int) -> None:
        """Stop a node as one should, which takes it off the nodes that live."""
        embedded.end(self._place(number), 30)

    def kill(self, number: int) -> None:
        """Kill a node."""
        process = psutil.Process(recall(self._place(number)).pid)
        process.kill()
        process.wait(30)
        assert embedded.running(self._place(number)) is None

    def _place(self, number: int) -> Layout:
        return cloud.places(in_folder(self.home), number)[-1]


@contextmanager
def nodes(home: Path, count: int = 1) -> Iterator[cloud.Cloud]:
    """A cloud of so many nodes whose data lie in `home`, where the jars are already."""
    folder = CloudFolder(home)
    try:
        yield folder.start(count)
    finally:
        folder.stop(count)


@contextmanager
def mixed(folder: Path, *versions: str) -> Iterator[cloud.Cloud]:
    """A cloud with a node of each of these versions, the first of which is the usual one."""
    places = [
        Layout(
            home=folder / version if number > 1 else folder, node=f"cloud/{number}", version=version
        )
        for number, version in enumerate(versions, start=1)
    ]
    with pytest.MonkeyPatch.context() as patch:
        for place in places:
            patch.setenv("NEARDUP_SOLR_VERSION", place.version)
            there = find_layout().jars
            jars.install(there, jars.read_lock(place.version), tell=print)
            place.jars.parent.mkdir()
            place.jars.symlink_to(there)
        patch.delenv("NEARDUP_SOLR_VERSION")
        patch.setattr(cloud, "places", lambda *_: places)
        try:
            yield cloud.start(places[0], len(places), "512m", print)
        finally:
            cloud.stop(places[0], len(places), timeout=0)


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
