"""What a collection's configuration says of updates and searches, as the Config API gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

REBUILDS = "DistributedUpdateProcessorFactory"
RUNS = "RunUpdateProcessorFactory"
PARTS = ("defaults", "appends", "invariants")

Config = Mapping[str, Any]


def update_chain(config: Config) -> list[str]:
    """The classes of the update chain that /update uses, in order; none where it is Solr's own.

    The one that rebuilds a document is always among them: Solr puts it before the last.
    """
    chains = config.get("updateRequestProcessorChain") or []
    parameters = handler_parameters(config, "/update")
    asked = [each.get("update.chain") for each in (parameters["invariants"],
                                                   parameters["defaults"])]  # fmt: skip
    name = next((one for one in asked if one), None)
    chain: Config = next((one for one in chains if one.get("name") == name), {}) if name else next(
        (one for one in chains if str(one.get("default")) == "true"), {}
    )  # fmt: skip
    if not chain:
        return []
    classes = [_class(one) for one in chain.get("", ())]
    if REBUILDS not in classes:
        classes.insert(classes.index(RUNS) if RUNS in classes else len(classes), REBUILDS)
    at = classes.index(REBUILDS)
    before, after = (list(_named(config, chain.get(part, ""))) for part in
                     ("processor", "post-processor"))  # fmt: skip
    return [*classes[:at], *before, REBUILDS, *after, *classes[at + 1 :]]


def handler_parameters(config: Config, path: str) -> dict[str, dict[str, Any]]:
    """The parameters that a handler has by configuration: its own before those of initParams."""
    handlers = config.get("requestHandler") or {}
    sources = [one for one in config.get("initParams") or [] if _covers(one.get("path", ""), path)]
    sources.append(handlers.get(path) or {})
    found: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for source in sources:
        for part in PARTS:
            found[part] |= source.get(part) or {}
    return found


def _covers(paths: str, path: str) -> bool:
    """Whether initParams are for a path: "/update/**" is for /update and all below it."""
    return any(
        one == path or (one.endswith("/**") and f"{path}/".startswith(one.removesuffix("**")))
        for one in (each.strip() for each in paths.split(","))
    )


def _named(config: Config, names: str) -> Iterator[str]:
    """The classes of processors that a chain names."""
    known = config.get("updateProcessor") or {}
    for name in filter(None, (each.strip() for each in names.split(","))):
        yield _class(known.get(name, {})) or name


def _class(processor: Config) -> str:
    return str(processor.get("class", "")).rpartition(".")[2]
