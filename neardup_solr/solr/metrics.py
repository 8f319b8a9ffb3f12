"""Read of a server's metrics its update logs and its disk, in the formats of all versions of Solr.

Up to Solr 9 they are JSON, since 10 lines of text in Prometheus' format. One request gets both, as
each version passes over the parameters of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from neardup_solr.regex import regex

PATH = "admin/metrics"
_STATE, _SPACE, _CORE = "TLOG.state", "CONTAINER.fs.usableSpace", "solr.core."
_STATE_10, _SPACE_10 = "solr_core_update_log_state", "solr_disk_space_megabytes"
_OF_CORE, _OF_CORE_10 = "CORE.fs.usableSpace", "solr_core_disk_space_megabytes"
PARAMS = {
    "group": "core,node",
    "prefix": f"{_STATE},{_SPACE},{_OF_CORE}",
    "name": f"{_STATE_10},{_SPACE_10},{_OF_CORE_10}",
}
_REPLAYED = 3  # 0 while a log is replayed; 1 and 2 while a replica catches up with its leader
_SAMPLE = regex(r"(\w+)\{(.*)\} (\S+)", re.ASCII)
_LABEL = regex(r'(\w+)="((?:[^"\\]|\\.)*)"', re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolrMetrics:
    """The metrics of a server: free bytes of its `disk`, None if it does not tell.

    `logs` are the states of update logs, and `disks` the free bytes where the index is, by the
    name of their core, in a cloud by that of the collection with its shard and replica.
    """

    disk: int | None = None
    logs: Mapping[str, float] = field(default_factory=dict)
    disks: Mapping[str, float] = field(default_factory=dict)

    def is_replaying(self, names: Iterable[str]) -> bool | None:
        """Return True if a log of these cores or collections is replayed, None if none is told."""
        states = _choose(self.logs, names)
        return any(state != _REPLAYED for state in states) if states else None

    def find_disk(self, names: Iterable[str]) -> int | None:
        """Return the least of the free bytes of the server, and of these cores or collections."""
        spaces = _choose(self.disks, names)
        return None if self.disk is None else min([self.disk, *map(int, spaces)])


def _choose(numbers: Mapping[str, float], names: Iterable[str]) -> list[float]:
    """List the numbers of cores with one of these names, or of collections with them."""
    return [
        number
        for core, number in numbers.items()
        for name in names
        if core == name or core.startswith(f"{name}.")
    ]


def parse(body: bytes) -> SolrMetrics:
    """Parse an answer in either format. What is in neither tells nothing."""
    if not body.lstrip().startswith(b"{"):
        return _of_samples(_samples(body.decode(errors="replace")))
    try:
        registries = orjson.loads(body).get("metrics")
    except orjson.JSONDecodeError:
        registries = None
    return _of_registries(registries if isinstance(registries, dict) else {})


def _of_registries(registries: Mapping[str, Any]) -> SolrMetrics:
    """Read the metrics of Solr 8 and 9, which are in a registry for each core and the node."""
    parts = {name: part for name, part in registries.items() if isinstance(part, dict)}
    space = parts.get("solr.node", {}).get(_SPACE)
    logs, disks = (_list_numbers(parts, name) for name in (_STATE, _OF_CORE))
    disk = int(space) if isinstance(space, int | float) else None
    return SolrMetrics(disk=disk, logs=logs, disks=disks)


def _list_numbers(parts: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, float]:
    """List a number of the registries of cores, by the name of the core."""
    numbers = {core.removeprefix(_CORE): part.get(name) for core, part in parts.items()}
    return {core: each for core, each in numbers.items() if isinstance(each, int | float)}


def _of_samples(samples: Iterable[tuple[str, dict[str, str], float]]) -> SolrMetrics:
    """Read the metrics of Solr 10, whose labels name the core and, in a cloud, the collection."""
    disk, logs, disks = None, {}, {}
    for name, labels, value in samples:
        if name == _SPACE_10 and labels.get("type") == "usable_space":
            disk = int(value * 2**20)
        core = labels.get("core", "")
        core = f"{labels['collection']}.{core}" if "collection" in labels else core
        if name == _STATE_10:
            logs[core] = value
        if name == _OF_CORE_10 and labels.get("type") == "usable_space":
            disks[core] = value * 2**20
    return SolrMetrics(disk=disk, logs=logs, disks=disks)


def _samples(text: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield the name, the labels and the value of each line that has them."""
    for line in text.splitlines():
        if match := _SAMPLE.match(line):
            name, labels, value = match.groups()
            try:
                yield name, dict(_LABEL.findall(labels)), float(value)
            except ValueError:
                continue
