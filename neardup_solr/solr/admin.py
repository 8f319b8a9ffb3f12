"""Creating a core or collection from the bundled configset."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup_solr.arguments import require
from neardup_solr.errors import CoreMissing, SolrAnswerError, SolrError
from neardup_solr.records import NOTHING
from neardup_solr.solr.collection import Collection

CONFIGSET = "neardup"
LOOKS, PAUSE = 100, 0.1  # ten seconds for another command to finish creating the same core


def exists(collection: Collection) -> bool:
    """Whether the server has a core, collection or alias of that name; waits for a new one."""
    if is_cloud(collection):
        known = collection.name in names(collection)
    else:
        params = {"action": "STATUS", "core": collection.name}
        known = bool(
            _get(collection, "cores", params, {"status": dict})["status"].get(collection.name)
        )
    if known:
        _appears(collection)
    return known


def names(collection: Collection) -> set[str]:
    """List the cores of the server of a collection, or its collections and aliases."""
    if is_cloud(collection):
        listed = _get(collection, "collections", {"action": "LIST"}, {"collections": list})
        aliases = _get(collection, "collections", {"action": "LISTALIASES"}).get("aliases", {})
        return {*listed["collections"], *aliases}
    params = {"action": "STATUS", "indexInfo": "false"}
    return {*_get(collection, "cores", params, {"status": dict})["status"]}


def create(
    collection: Collection,
    *,
    configset: Path,
    shards: int = 1,
    replicas: int = 1,
) -> bool:
    """Create the core (standalone) or the collection (SolrCloud) with the bundled configset.

    The configset is uploaded to a SolrCloud that has none of that name; a standalone Solr has to
    have it on its disk. False if another command created the collection at the same moment.

    Raises SolrError if the server does not have the configset or refuses.
    """
    try:
        if is_cloud(collection):
            sizes = {"numShards": str(shards), "replicationFactor": str(replicas)}
            _create_collection(collection, configset, sizes)
        else:
            require_single(shards=shards, replicas=replicas)
            params = {"action": "CREATE", "name": collection.name, "configSet": CONFIGSET}
            _get(collection, "cores", params)
    except SolrAnswerError as error:
        reason = error.reason.lower()
        if "already" in reason and _appears(collection):
            return False
        if "configset" in reason:
            raise _no_configset(collection, configset) from None
        raise
    return True


def require_single(**numbers: int) -> None:
    """Refuse more than one shard or replica where there is no cluster, by ArgumentError."""
    for name, number in numbers.items():
        reason = f"`{name}` cannot be {number}: this Solr is no SolrCloud"
        require(number == 1, reason, "leave it out, or start a cloud: neardup solr start --cloud 2")


def is_cloud(collection: Collection) -> bool:
    """Whether the server runs as SolrCloud."""
    return _get(collection, "info/system", {}).get("mode") == "solrcloud"


def drop(collection: Collection) -> None:
    """Delete the core or collection with everything in it."""
    if is_cloud(collection):
        _get(collection, "collections", {"action": "DELETE", "name": collection.name})
        return
    params = {"action": "UNLOAD", "core": collection.name, "deleteInstanceDir": "true"}
    _get(collection, "cores", params)


def _create_collection(collection: Collection, configset: Path, more: Mapping[str, str]) -> None:
    # An existing one may be in use: to overwrite it would change the schema of other collections.
    listed = _get(collection, "configs", {"action": "LIST"}, {"configSets": list})
    if CONFIGSET not in listed["configSets"]:
        _upload(collection, configset)
    params = {
        "action": "CREATE",
        "name": collection.name,
        "collection.configName": CONFIGSET,
        **more,
    }
    _get(collection, "collections", params)


def _appears(collection: Collection) -> bool:
    """Wait some seconds for a core that someone else is creating; True if it answers then."""
    for _ in range(LOOKS):
        try:
            collection.require_fields(())
        except CoreMissing:
            time.sleep(PAUSE)
        else:
            return True
    return False


def _no_configset(collection: Collection, configset: Path) -> SolrError:
    return SolrError(
        collection.base,
        f"this Solr has no configset {CONFIGSET!r} on its disk",
        f"copy {configset} to server/solr/configsets/{CONFIGSET}/conf there, then run again",
    )


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
        collection.session.post(
            f"{collection.base}/admin/configs",
            params={"action": "UPLOAD", "name": CONFIGSET, "overwrite": "false"},
            data=packed.getvalue(),
            headers={"Content-Type": "application/octet-stream"},
        )
    except SolrAnswerError as error:
        # Another command was faster, or the first attempt of this one was.
        if "already" not in error.reason.lower():
            raise
