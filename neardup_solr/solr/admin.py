"""Creating a core or collection from the bundled configset."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup_solr.errors import CoreMissing, SolrAnswerError, SolrError
from neardup_solr.records import NOTHING
from neardup_solr.solr.answers import answer
from neardup_solr.solr.collection import Solr

CONFIGSET = "neardup"
LOOKS, PAUSE = 100, 0.1  # ten seconds for another command to finish creating the same core


def exists(solr: Solr) -> bool:
    """Whether the server has a core, collection or alias of that name; waits for a new one."""
    if is_cloud(solr):
        listed = _get(solr, "collections", {"action": "LIST"}, {"collections": list})
        aliases = _get(solr, "collections", {"action": "LISTALIASES"}).get("aliases", {})
        known = solr.core in {*listed["collections"], *aliases}
    else:
        params = {"action": "STATUS", "core": solr.core}
        known = bool(_get(solr, "cores", params, {"status": dict})["status"].get(solr.core))
    if known:
        _appears(solr)
    return known


def create(
    solr: Solr,
    *,
    configset: Path,
    shards: int = 1,
    properties: Mapping[str, str] = NOTHING,
) -> bool:
    """Create the core (standalone) or the collection (SolrCloud) with the bundled configset.

    `properties` are those of the core, such as `collection.NATIVE_PROPERTIES`.
    SolrCloud gets the configset uploaded where it has none of that name; a standalone Solr has
    to have it on its disk. False where another command created it at the same moment.

    Raises SolrError where the server does not have the configset or refuses.
    """
    try:
        if is_cloud(solr):
            _create_collection(solr, configset, {"numShards": str(shards), **properties})
        else:
            params = {"action": "CREATE", "name": solr.core, "configSet": CONFIGSET}
            _get(solr, "cores", {**params, **properties})
    except SolrAnswerError as error:
        reason = error.reason.lower()
        if "already" in reason and _appears(solr):
            return False
        if "configset" in reason:
            raise _no_configset(solr, configset) from None
        raise
    return True


def is_cloud(solr: Solr) -> bool:
    """Whether the server runs as SolrCloud."""
    return _get(solr, "info/system", {}).get("mode") == "solrcloud"


def drop(solr: Solr) -> None:
    """Delete the core or collection with everything in it."""
    if is_cloud(solr):
        _get(solr, "collections", {"action": "DELETE", "name": solr.core})
        return
    params = {"action": "UNLOAD", "core": solr.core, "deleteInstanceDir": "true"}
    _get(solr, "cores", params)


def _create_collection(solr: Solr, configset: Path, more: Mapping[str, str]) -> None:
    # One that is there may be in use: to overwrite it would change the schema of others.
    listed = _get(solr, "configs", {"action": "LIST"}, {"configSets": list})
    if CONFIGSET not in listed["configSets"]:
        _upload(solr, configset)
    params = {
        "action": "CREATE",
        "name": solr.core,
        "collection.configName": CONFIGSET,
        **more,
    }
    _get(solr, "collections", params)


def _appears(solr: Solr) -> bool:
    """Wait some seconds for a core that someone else is creating; whether it answers then."""
    for _ in range(LOOKS):
        try:
            solr.require_fields(())
        except CoreMissing:
            time.sleep(PAUSE)
        else:
            return True
    return False


def _no_configset(solr: Solr, configset: Path) -> SolrError:
    return SolrError(
        solr.base,
        f"this Solr has no configset {CONFIGSET!r} on its disk",
        f"copy {configset} to server/solr/configsets/{CONFIGSET}/conf there, then run again",
    )


def _get(
    solr: Solr, path: str, params: Mapping[str, str], needed: Mapping[str, type] | None = None
) -> dict[str, Any]:
    return answer(solr.session.get(f"{solr.base}/admin/{path}", params=params), needed)


def _upload(solr: Solr, configset: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in configset.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(configset).as_posix())
    try:
        solr.session.post(
            f"{solr.base}/admin/configs",
            params={"action": "UPLOAD", "name": CONFIGSET, "overwrite": "false"},
            data=packed.getvalue(),
            headers={"Content-Type": "application/octet-stream"},
        )
    except SolrAnswerError as error:
        # Another command was faster, or this one before it was repeated.
        if "already" not in error.reason.lower():
            raise
