"""The update chain of a collection, by its configuration: what runs on each document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from neardup_solr.solr.admin import ask
from neardup_solr.solr.collection import Collection

REBUILDS = "DistributedUpdateProcessorFactory"
RUNS = "RunUpdateProcessorFactory"
PARTS = ("defaults", "appends", "invariants")
_CHOOSING = ("update.chain", "processor", "post-processor")  # parameters of an update
Config = Mapping[str, Any]


def list_processors(config: Config) -> list[str]:
    """List the classes of the update chain of /update, in order, none if it is Solr's default.

    The class that rebuilds a document is always among them: Solr puts it before the last.
    """
    chains = config.get("updateRequestProcessorChain") or []
    parameters = handler_parameters(config, "/update")
    in_turn = [parameters[part] for part in ("invariants", "defaults", "appends")]
    chosen = {name: next(filter(None, (p.get(name) for p in in_turn)), "") for name in _CHOOSING}
    if name := chosen["update.chain"]:
        candidates = [chain for chain in chains if chain.get("name") == name]
    else:
        candidates = [chain for chain in chains if str(chain.get("default")) == "true"]
        candidates += [chain for chain in chains if not chain.get("name")]
    chain: Config = next(iter(candidates), {})
    if not chain and not (chosen["processor"] or chosen["post-processor"]):
        return []
    classes = [_class(processor) for processor in chain.get("", ())]
    if REBUILDS not in classes:
        classes.insert(classes.index(RUNS) if RUNS in classes else len(classes), REBUILDS)
    at = classes.index(REBUILDS)
    before, after = (
        [*_classes_of(config, chain.get(part, "")), *_classes_of(config, chosen[part])]
        for part in ("processor", "post-processor")
    )
    return [*classes[:at], *before, REBUILDS, *after, *classes[at + 1 :]]


def may_choose_chain(collection: Collection) -> bool:
    """Return True if sets of parameters (params.json) may choose another chain, or Solr is silent.

    Solr applies some of them to /update by their name, without any word in solrconfig.xml.
    """
    sets = ask(collection, f"{collection.url}/config/params")
    return sets is None or any(name in str(sets) for name in _CHOOSING)


def handler_parameters(config: Config, path: str) -> dict[str, dict[str, Any]]:
    """Read the configured parameters of a handler. They win over those of initParams."""
    sources = [init for init in config.get("initParams") or [] if _covers(init, path)]
    sources.append((config.get("requestHandler") or {}).get(path) or {})
    parameters: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for source in sources:
        for part in PARTS:
            parameters[part] |= source.get(part) or {}
    return parameters


def _covers(init: Config, path: str) -> bool:
    """Return True if initParams are for a path: "/update/**" is for /update and all below it."""
    return any(
        pattern == path or (pattern.endswith("/**") and f"{path}/".startswith(pattern[:-2]))
        for pattern in map(str.strip, init.get("path", "").split(","))
    )


def _classes_of(config: Config, names: str) -> Iterator[str]:
    """The classes of processors that a chain names."""
    processors = config.get("updateProcessor") or {}
    for name in filter(None, map(str.strip, names.split(","))):
        yield _class(processors.get(name, {})) or name


def _class(processor: Config) -> str:
    return str(processor.get("class", "")).rpartition(".")[2]
