"""What a Solr tells of a collection beside its schema: configuration, cluster, health."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from neardup_solr.errors import SolrAnswerError, SolrError, SolrUnreachable
from neardup_solr.solr.answers import answer
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.query import CLAUSES
from neardup_solr.solr.session import is_loopback

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


Told = dict[str, Any]


def used_fields(collection: Collection) -> frozenset[str] | None:
    """The fields that documents have, of all shards."""
    names: set[str] = set()
    for shard in collection.shards():
        told = _told(collection, f"{shard}/admin/luke", {"numTerms": "0"})
        if told is None:
            return None
        fields = told.get("fields", {})
        # What only deleted documents had stays listed until segments are merged.
        names.update(name for name, one in fields.items() if one.get("docs", 1))
    return frozenset(names)


def has_update_log(collection: Collection) -> bool | None:
    """Whether the update log is on: only with it Solr lists the newest versions."""
    params = {"getVersions": "1", "omitHeader": "false", "distrib": "false"}
    told = _told(collection, f"{collection.url}/get", params)
    return None if told is None else "versions" in told


def takes_clauses(collection: Collection, key: str) -> bool | None:
    """Whether a query may have as many clauses as ours have at most."""
    if not key:
        return None
    return _answers(collection, key, CLAUSES) or (False if _answers(collection, key, 1) else None)


def children(collection: Collection, key: str) -> int | None:
    """How many documents are children of another, where the schema has an indexed _root_.

    Those whose key is the _root_ of none; each shard has whole families.
    """
    try:
        return collection.count([f"_root_:[* TO *] AND -{{!join from=_root_ to={key} v='*:*'}}"])
    except SolrAnswerError:
        return None


def configuration(collection: Collection) -> Told | None:
    """The configuration of the collection, as the Config API has it."""
    told = _told(collection, f"{collection.url}/config")
    return None if told is None else dict(told.get("config", {}))


def system(collection: Collection) -> Told:
    """Solr's version, mode and security, as /admin/info/system has them."""
    return _told(collection, f"{collection.base}/admin/info/system") or {}


def cluster(collection: Collection) -> Told:
    """The collections and aliases of a SolrCloud."""
    told = (
        _told(collection, f"{collection.base}/admin/collections", {"action": "CLUSTERSTATUS"}) or {}
    )
    return dict(told.get("cluster", {}))


def beside(cluster: Told, name: str) -> tuple[str, ...]:
    """The other collections of a SolrCloud that have the same configset, and so the same schema."""
    own = described(cluster, name).get("configName")
    behind = alias_of(cluster, name) or (name,)
    return tuple(
        sorted(
            each
            for each, one in cluster.get("collections", {}).items()
            if own and one.get("configName") == own and each not in behind
        )
    )


def alias_of(cluster: Told, name: str) -> tuple[str, ...]:
    """The collections behind a name that is an alias, or an alias of aliases."""
    known = dict(cluster.get("aliases") or {})
    named = str(known.pop(name, ""))
    rest = {"aliases": known}
    return tuple(
        behind
        for each in filter(None, (part.strip() for part in named.split(",")))
        for behind in alias_of(rest, each) or (each,)
    )


def described(cluster: Told, name: str) -> Told:
    """What a SolrCloud says of a collection, of the first one behind an alias."""
    first = next(iter(alias_of(cluster, name)), name)
    return dict(cluster.get("collections", {}).get(first, {}))


def is_read_only(cluster: Told, name: str) -> bool:
    """Whether a collection of a SolrCloud is one that nothing may be written to."""
    return str(described(cluster, name).get("readOnly", "")).lower() == "true"


def is_local(collection: Collection) -> bool:
    """Whether the address is one that only this machine reaches."""
    return is_loopback(urlsplit(collection.base).hostname or "")


def _answers(collection: Collection, key: str, clauses: int) -> bool:
    terms = " ".join(f'"{number}"' for number in range(clauses))
    request = {"query": f"{{!lucene q.op=OR df={key}}}{terms}", "limit": 0}
    params = {"params": {"defType": "lucene"}}
    return _told(collection, f"{collection.url}/select", body=request | params) is not None


def _told(
    collection: Collection, url: str, params: Mapping[str, str] | None = None, *, body: Any = None
) -> Told | None:
    try:
        if body is None:
            return answer(collection.session.get(url, params=params))
        json = {"Content-Type": "application/json"}
        return answer(collection.session.post(url, data=orjson.dumps(body), headers=json))
    except SolrUnreachable:
        raise
    except SolrError:
        return None


_HEAP, _DISK = "solr.jvm:memory.heap.usage", "solr.node:CONTAINER.fs.usableSpace"
_DELETED, _LARGEST, _LOG = "SEARCHER.searcher.deletedDocs", "SEARCHER.searcher.maxDoc", "TLOG.state"
_REPLAYING = (1, 2)  # applying what was buffered, replaying what a crash left


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a server tells of itself; None where it does not.

    `heap` is the share of Java's memory in use, 0 to 1; `disk` the bytes that are free; `deleted`
    the share of the index that deleted documents take; `replaying` whether the update log is still
    being replayed; `inactive` are replicas that do not serve.
    """

    heap: float | None = None
    disk: int | None = None
    deleted: float | None = None
    replaying: bool | None = None
    inactive: tuple[str, ...] = ()


def health(collection: Collection) -> Health:
    """Ask a server how it and this collection fare; raises SolrUnreachable where none answers."""
    core = f"solr.core.{collection.name}:"
    keys = [_HEAP, _DISK, *(core + name for name in (_DELETED, _LARGEST, _LOG))]
    try:
        response = collection.session.get(f"{collection.base}/admin/metrics", params={"key": keys})
        found = answer(response, {"metrics": dict})["metrics"]
    except SolrUnreachable:
        raise
    except SolrError:
        found = {}  # a door that is shut
    deleted, largest, state = (found.get(core + name) for name in (_DELETED, _LARGEST, _LOG))
    return Health(
        heap=found.get(_HEAP),
        disk=found.get(_DISK),
        deleted=deleted / largest if deleted is not None and largest else None,
        replaying=None if state is None else state in _REPLAYING,
        inactive=_inactive(described(cluster(collection), collection.name)),
    )


def _inactive(collection: dict[str, Any]) -> tuple[str, ...]:
    return tuple(
        f"{shard}/{name} ({replica.get('state')})"
        for shard, described in sorted(collection.get("shards", {}).items())
        for name, replica in sorted(described.get("replicas", {}).items())
        if replica.get("state") != "active"
    )
