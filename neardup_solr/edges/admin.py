"""Creating a core or collection from the bundled configset."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup_solr.edges.client import Solr
from neardup_solr.edges.session import answer
from neardup_solr.pure.errors import SolrAnswerError, SolrError

CONFIGSET = "neardup"


def exists(solr: Solr) -> bool:
    """Whether the server has a core or collection of that name."""
    if is_cloud(solr):
        listed = _get(solr, "collections", {"action": "LIST"})
        return solr.core in listed["collections"]
    status = _get(solr, "cores", {"action": "STATUS", "core": solr.core})
    return bool(status["status"].get(solr.core))


def create(solr: Solr, *, configset: Path, shards: int = 1) -> None:
    """Create the core (standalone) or the collection (SolrCloud) with the bundled configset.

    SolrCloud gets the configset uploaded; a standalone Solr has to have it on its disk.

    Raises SolrError where the server does not have the configset or refuses.
    """
    if is_cloud(solr):
        _upload(solr, configset)
        params = {
            "action": "CREATE",
            "name": solr.core,
            "collection.configName": CONFIGSET,
            "numShards": str(shards),
        }
        _get(solr, "collections", params)
        return
    params = {"action": "CREATE", "name": solr.core, "configSet": CONFIGSET}
    try:
        _get(solr, "cores", params)
    except SolrAnswerError as error:
        if "configset" not in error.reason.lower():
            raise
        raise SolrError(
            solr.base,
            f"this Solr has no configset {CONFIGSET!r} on its disk",
            f"copy {configset} to server/solr/configsets/{CONFIGSET}/conf there, then run again",
        ) from None


def is_cloud(solr: Solr) -> bool:
    """Whether the server runs as SolrCloud."""
    return _get(solr, "info/system", {}).get("mode") == "solrcloud"


def _get(solr: Solr, path: str, params: Mapping[str, str]) -> dict[str, Any]:
    return answer(solr.session.get(f"{solr.base}/admin/{path}", params=params))


def _upload(solr: Solr, configset: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in configset.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(configset).as_posix())
    solr.session.post(
        f"{solr.base}/admin/configs",
        params={"action": "UPLOAD", "name": CONFIGSET, "overwrite": "true", "cleanup": "true"},
        data=packed.getvalue(),
        headers={"Content-Type": "application/octet-stream"},
    )


def drop(solr: Solr) -> None:
    """Delete the core or collection with everything in it."""
    if is_cloud(solr):
        _get(solr, "collections", {"action": "DELETE", "name": solr.core})
        return
    params = {"action": "UNLOAD", "core": solr.core, "deleteInstanceDir": "true"}
    _get(solr, "cores", params)
