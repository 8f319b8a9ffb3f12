"""A server and its collections: creating and dropping them, what they tell of themselves."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from neardup_solr.errors import CoreMissing, SolrAnswerError, SolrError, SolrUnreachable
from neardup_solr.progress import until
from neardup_solr.records import NOTHING
from neardup_solr.solr import cloud
from neardup_solr.solr.address import is_loopback
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import spell_field
from neardup_solr.solr.query import CLAUSES, having

CONFIGSET = "neardup"
SAMPLE = 100  # documents whose values are those of all, if Solr does not count them
APPEARS_SECONDS, PAUSE = 10.0, 0.1  # for another command to finish creating the same core

Answer = dict[str, Any]


def exists(collection: Collection) -> bool:
    """Return True if the server has a core, collection or alias of that name, once it answers."""
    if is_cloud(collection):
        is_listed = collection.name in names(collection)
    else:  # by its name, as one server may have thousands of cores
        is_listed = bool(_cores(collection, core=collection.name).get(collection.name))
    if is_listed:
        _appears(collection)
    return is_listed


def names(collection: Collection) -> set[str]:
    """List the cores of the server of a collection, or its collections and aliases."""
    if not is_cloud(collection):
        return {*_cores(collection)}
    listed = _get(collection, "collections", {"action": "LIST"}, {"collections": list})
    aliases = _get(collection, "collections", {"action": "LISTALIASES"}).get("aliases", {})
    return {*listed["collections"], *aliases}


def _cores(collection: Collection, **wanted: str) -> dict[str, Any]:
    """Ask for the cores of a standalone server, or for a single core."""
    params = {"action": "STATUS", **wanted, "indexInfo": "false"}
    return dict(_get(collection, "cores", params, {"status": dict})["status"])


def create(collection: Collection, *, configset: Path, shards: int = 1, replicas: int = 1) -> bool:
    """Create the core (standalone) or the collection (SolrCloud) with the bundled configset.

    The configset is uploaded to a SolrCloud that has none of that name; a standalone Solr has to
    have it on its disk. False if another command created the collection at the same moment.

    Raises SolrError if the server does not have the configset or refuses.
    """
    try:
        _create(collection, configset, shards, replicas)
    except SolrAnswerError as error:
        reason = error.reason.lower()
        if "already" in reason:
            if _appears(collection):
                return False
            step = "choose a different name: a swapped core keeps the folder of its original name"
            raise SolrError(collection.base, error.reason, step, code="collection-exists") from None
        if "configset" in reason:
            lacks = f"this Solr has no configset {CONFIGSET!r} on its disk"
            target = f"server/solr/configsets/{CONFIGSET}/conf"
            step = f"copy {configset} to {target} in this Solr's folder, then run this again"
            raise SolrError(collection.base, lacks, step, code="configset-missing") from None
        raise
    return True


def _create(collection: Collection, configset: Path, shards: int, replicas: int) -> None:
    if is_cloud(collection):
        # An existing configset may be in use: others' schema would change with it.
        listed = _get(collection, "configs", {"action": "LIST"}, {"configSets": list})
        if CONFIGSET not in listed["configSets"]:
            _upload(collection, configset)
        path = "collections"
        params = {
            "collection.configName": CONFIGSET,
            "numShards": str(shards),
            "replicationFactor": str(replicas),
            "maxShardsPerNode": "-1",  # of a collection, in Solr 8; later without limit
        }
    else:
        cloud.require_single(shards=shards, replicas=replicas)
        path, params = "cores", {"configSet": CONFIGSET}
    _get(collection, path, {"action": "CREATE", "name": collection.name, **params})


def is_cloud(collection: Collection) -> bool:
    """Return True if the server runs as SolrCloud."""
    return _get(collection, "info/system", {}).get("mode") == "solrcloud"


def drop(collection: Collection) -> None:
    """Delete the core or collection with everything in it."""
    if is_cloud(collection):
        _get(collection, "collections", {"action": "DELETE", "name": collection.name})
        return
    params = {"action": "UNLOAD", "core": collection.name, "deleteInstanceDir": "true"}
    _get(collection, "cores", params)


def _appears(collection: Collection) -> bool:
    """Wait some seconds for a core that someone else is creating. True if it answers then."""

    def answers() -> bool:
        with suppress(CoreMissing):
            collection.require_fields(())
            return True
        return False

    return until(answers, APPEARS_SECONDS, PAUSE)


def _get(
    collection: Collection,
    path: str,
    params: Mapping[str, str],
    needed: Mapping[str, type] = NOTHING,
) -> dict[str, Any]:
    return collection.session.ask("GET", f"{collection.base}/admin/{path}", needed, params=params)


def _upload(collection: Collection, configset: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in configset.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(configset).as_posix())
    try:
        params = {"action": "UPLOAD", "name": CONFIGSET, "overwrite": "false"}
        url, data = f"{collection.base}/admin/configs", packed.getvalue()
        headers = {"Content-Type": "application/octet-stream"}
        collection.session.post(url, params=params, data=data, headers=headers)
    except SolrAnswerError as error:
        # Another command was faster, or the first attempt of this command was.
        if "already" not in error.reason.lower():
            raise


def used_fields(collection: Collection) -> frozenset[str] | None:
    """The fields that documents of any shard have, or None if Solr does not tell."""
    described = describe_fields(collection)
    if described is None:
        return None
    forgotten = {name for name, about in described.items() if not about}
    return frozenset(described.keys() - forgotten | _met(collection, forgotten))


def describe_fields(collection: Collection) -> dict[str, str] | None:
    """Describe the fields that documents of any shard have, or return None if Solr does not tell.

    A field has its type and its flags, "" if the schema has forgotten it. In a SolrCloud the
    leaders tell. Fields of deleted documents stay listed until segments are merged.
    """
    described: dict[str, str] = {}
    is_alone = collection.session.nodes.is_cloud is False
    for shard in [collection.url] if is_alone else collection.shards(of_leaders=True):
        luke = ask(collection, f"{shard}/admin/luke", {"numTerms": "0"})
        fields = None if luke is None else luke.get("fields", {})
        if not isinstance(fields, dict):
            return None
        for name, field in fields.items():
            if field.get("docs", 1):
                kind = field.get("type", "-")
                described[name] = "" if kind is None else f"{kind} {field.get('schema', '')}"
    return described


def _met(collection: Collection, forgotten: Set[str]) -> frozenset[str]:
    """Fields that the schema has forgotten, if the first documents still have values in them.

    Solr lists them as long as the index lives, and does not count their documents.
    """
    documents = first_documents(collection, ["*"]) if forgotten else []
    return frozenset(forgotten & {name for document in documents for name in document})


def first_documents(
    collection: Collection, fields: Sequence[str], most: int = SAMPLE
) -> list[dict[str, Any]]:
    """Read some documents with these fields, none if Solr refuses."""
    body = {"query": "*:*", "fields": list(map(spell_field, fields)), "limit": most}
    decoded = ask(collection, f"{collection.url}/select", body=body)
    return list(part(decoded, "response").get("docs", []))


def index_bytes(collection: Collection) -> int | None:
    """The size of the index, of a replica of each shard, or None if Solr does not tell."""
    total = 0
    for shard in collection.shards():
        base, _, core = shard.rpartition("/")
        status = ask(collection, f"{base}/admin/cores", {"action": "STATUS", "core": core})
        size = part(status, f"status/{core}/index").get("sizeInBytes")
        if not isinstance(size, int):
            return None
        total += size
    return total


def longest_texts(collection: Collection, fields: Sequence[str]) -> tuple[str, int] | None:
    """The field whose texts are longest in the first documents, and their average length.

    None if none of the fields has any.
    """
    documents = first_documents(collection, fields)
    lengths = {name: sum(len(str(doc.get(name, ""))) for doc in documents) for name in fields}
    longest = max(lengths, key=lambda name: lengths[name], default="")
    if not lengths.get(longest):
        return None
    return longest, lengths[longest] // len(documents)


def has_update_log(collection: Collection) -> bool | None:
    """Return True if the update log is on: without it Solr does not list the newest versions."""
    params = {"getVersions": "1", "omitHeader": "false", "distrib": "false"}
    decoded = ask(collection, f"{collection.url}/get", params)
    return None if decoded is None else "versions" in decoded


def takes_clauses(collection: Collection, key: str) -> bool | None:
    """Return True if a query may have as many clauses as our largest ones."""
    if not key:
        return None
    return _answers(collection, key, CLAUSES) or (False if _answers(collection, key, 1) else None)


def children(collection: Collection, key: str) -> int | None:
    """Count the documents that are children of another, if the schema has an indexed _root_.

    They are those whose key is the _root_ of no document; a shard holds a parent with its
    children. None if Solr refuses the question.
    """
    try:
        return collection.count([f"{having('_root_')} AND -{{!join from=_root_ to={key} v='*:*'}}"])
    except SolrAnswerError:
        return None


def configuration(collection: Collection) -> Answer | None:
    """The configuration of the collection, as the Config API has it."""
    decoded = ask(collection, f"{collection.url}/config")
    return None if decoded is None else part(decoded, "config")


def system(collection: Collection) -> Answer:
    """Solr's version, mode and security, as /admin/info/system has them."""
    return ask(collection, f"{collection.base}/admin/info/system") or {}


def systems(collection: Collection, nodes: Sequence[str]) -> list[Answer]:
    """Parts of /admin/info/system about each node of a cloud, or of the server without a cloud.

    It is empty for those that do not tell.
    """
    answers = []
    for base in nodes or (collection.base,):
        answer = None
        with suppress(SolrUnreachable):
            answer = ask(collection, f"{base}/admin/info/system")
        answers.append(answer or {})
    return answers


def versions(collection: Collection, nodes: Sequence[str]) -> tuple[str, ...]:
    """List the versions of Solr that the nodes of a cloud have, or the server without a cloud.

    Those that do not tell are left out.
    """
    return versions_of(systems(collection, nodes))


def versions_of(systems: Iterable[Answer]) -> tuple[str, ...]:
    numbers = (part(system, "lucene").get("solr-spec-version") for system in systems)
    return tuple(dict.fromkeys(str(number) for number in numbers if number))


def version_numbers(version: str) -> tuple[int, ...]:
    """Split a version such as "9.10.1" into numbers that can be compared."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def cluster(collection: Collection) -> cloud.SolrCluster:
    """Ask for the whole SolrCloud, to see which other collections have the same schema."""
    url = f"{collection.base}/admin/collections"
    decoded = ask(collection, url, {"action": "CLUSTERSTATUS"}) or {}
    return cloud.parse_cluster(decoded.get("cluster"), collection.name, urlsplit(url).scheme)


def is_local(collection: Collection) -> bool:
    """Return True if only this machine can reach the address."""
    return is_loopback(urlsplit(collection.base).hostname or "")


def part(answer: Any, path: str) -> Answer:
    """Read the object at a path such as "status/name/index", an empty one if it is missing."""
    for name in path.split("/"):
        answer = answer.get(name) if isinstance(answer, dict) else None
    return dict(answer) if isinstance(answer, dict) else {}


def _answers(collection: Collection, key: str, clauses: int) -> bool:
    terms = " ".join(f'"{number}"' for number in range(clauses))
    request = {"query": f"{{!lucene q.op=OR df={key}}}{terms}", "limit": 0}
    params = {"params": {"defType": "lucene"}}
    return ask(collection, f"{collection.url}/select", body=request | params) is not None


def ask(
    collection: Collection, url: str, params: Mapping[str, Any] | None = None, *, body: Any = None
) -> Answer | None:
    """Ask Solr, and return None if it refuses. Raises SolrUnreachable if it does not answer."""
    options: dict[str, Any] = {"params": params}
    if body is not None:
        options = {"data": orjson.dumps(body), "headers": {"Content-Type": "application/json"}}
    try:
        return collection.session.ask("GET" if body is None else "POST", url, **options)
    except SolrUnreachable:
        raise
    except SolrError:
        return None
