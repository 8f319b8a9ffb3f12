"""What a Solr tells of a collection beside its schema; None where it does not tell.

Everything here only reads. Doors that are shut (403, 404) are no errors: the fact is unknown then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from neardup_solr.edges.client import Solr
from neardup_solr.edges.http.access import is_loopback
from neardup_solr.edges.http.answers import answer
from neardup_solr.pure.errors import SolrAnswerError, SolrError, SolrUnreachable
from neardup_solr.pure.solr.query import CLAUSES

Told = dict[str, Any]


def used_fields(solr: Solr) -> frozenset[str] | None:
    """The fields that documents have, of all shards."""
    names: set[str] = set()
    for shard in solr.shards():
        told = _told(solr, f"{shard}/admin/luke", {"numTerms": "0"})
        if told is None:
            return None
        fields = told.get("fields", {})
        # What only deleted documents had stays listed until segments are merged.
        names.update(name for name, one in fields.items() if one.get("docs", 1))
    return frozenset(names)


def has_update_log(solr: Solr) -> bool | None:
    """Whether the update log is on: only with it Solr lists the newest versions."""
    params = {"getVersions": "1", "omitHeader": "false", "distrib": "false"}
    told = _told(solr, f"{solr.url}/get", params)
    return None if told is None else "versions" in told


def takes_clauses(solr: Solr, key: str) -> bool | None:
    """Whether a query may have as many clauses as ours have at most."""
    if not key:
        return None
    return _answers(solr, key, CLAUSES) or (False if _answers(solr, key, 1) else None)


def children(solr: Solr, key: str) -> int | None:
    """How many documents are children of another, where the schema has an indexed _root_.

    Those whose key is the _root_ of none; each shard has whole families.
    """
    try:
        return solr.count([f"_root_:[* TO *] AND -{{!join from=_root_ to={key} v='*:*'}}"])
    except SolrAnswerError:
        return None


def configuration(solr: Solr) -> Told | None:
    """The configuration of the collection, as the Config API has it."""
    told = _told(solr, f"{solr.url}/config")
    return None if told is None else dict(told.get("config", {}))


def system(solr: Solr) -> Told:
    """Solr's version, mode and security, as /admin/info/system has them."""
    return _told(solr, f"{solr.base}/admin/info/system") or {}


def cluster(solr: Solr) -> Told:
    """The collections and aliases of a SolrCloud."""
    told = _told(solr, f"{solr.base}/admin/collections", {"action": "CLUSTERSTATUS"}) or {}
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


def is_local(solr: Solr) -> bool:
    """Whether the address is one that only this machine reaches."""
    return is_loopback(urlsplit(solr.base).hostname or "")


def _answers(solr: Solr, key: str, clauses: int) -> bool:
    terms = " ".join(f'"{number}"' for number in range(clauses))
    request = {"query": f"{{!lucene q.op=OR df={key}}}{terms}", "limit": 0}
    params = {"params": {"defType": "lucene"}}
    return _told(solr, f"{solr.url}/select", body=request | params) is not None


def _told(
    solr: Solr, url: str, params: Mapping[str, str] | None = None, *, body: Any = None
) -> Told | None:
    try:
        if body is None:
            return answer(solr.session.get(url, params=params))
        json = {"Content-Type": "application/json"}
        return answer(solr.session.post(url, data=orjson.dumps(body), headers=json))
    except SolrUnreachable:
        raise
    except SolrError:
        return None
