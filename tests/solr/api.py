"""Solr's own HTTP API, as any client speaks it: collections, schemas, documents as they are.

Nothing here goes by way of the package, so that a test sees what really is in Solr, and does what
other programs do.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import psutil
import pytest
import requests

import neardup_solr as nd
from tests import ROOT

TIMEOUT = 60
CONFIGSET = ROOT / "solr_config" / "conf"  # that of a collection which `init` creates
# Our fields, as they are called in the collections of everybody.
MARKS = ("neardup_cluster", "neardup_canonical", "neardup_rank")
_COMPUTED = (
    "md5_hash", "num_words", "first_word", "content_ng", "content_sg", "content_bands", "signature",
    "profile_hash", "signature_settings",
)  # fmt: skip
FIELDS = (*_COMPUTED, *MARKS)
NOTE = "neardup_names"  # the field whose default tells what a collection calls its fields


def admin(base: str, path: str, **params: str) -> dict[str, Any]:
    """Ask one of a server's administrative handlers, such as "collections"."""
    return _read(requests.get(f"{base}/admin/{path}", params=params, timeout=TIMEOUT))


def embedded_base() -> str:
    """The address of the embedded Solr of this process, started if need be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NEARDUP_SOLR_URL", raising=False)
        return nd.connect().base


def configsets(base: str) -> Path:
    """The folder in which a server on this machine looks for configsets."""
    return Path(admin(base, "info/system")["solr_home"]) / "configsets"


def process(base: str) -> psutil.Process:
    """The process of a server on this machine."""
    port = urlsplit(base).port
    return next(
        psutil.Process(each.pid)
        for each in psutil.net_connections("tcp")
        if each.status == psutil.CONN_LISTEN and getattr(each.laddr, "port", None) == port
    )


def upload(base: str, name: str, files: Mapping[str, str | bytes], **params: str) -> None:
    """Upload a configset of these files to a SolrCloud."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    sent = requests.post(f"{base}/admin/configs", data=packed.getvalue(), timeout=TIMEOUT,
                         headers={"Content-Type": "application/octet-stream"},
                         params={"action": "UPLOAD", "name": name, **params})  # fmt: skip
    _read(sent)


def create(base: str, name: str, configset: str, shards: int = 1) -> None:
    """Create a collection of a SolrCloud from one of its configsets."""
    admin(base, "collections", action="CREATE", name=name, numShards=str(shards),
          maxShardsPerNode="-1", **{"collection.configName": configset})  # fmt: skip


def exists(solr: nd.Collection) -> bool:
    """Return True if the server has a core, a collection or an alias of that name."""
    if not _is_cloud(solr.base):
        return bool(admin(solr.base, "cores", action="STATUS", core=solr.name)["status"][solr.name])
    listed = admin(solr.base, "collections", action="LIST")["collections"]
    aliases = admin(solr.base, "collections", action="LISTALIASES").get("aliases", {})
    return solr.name in {*listed, *aliases}


def drop(solr: nd.Collection) -> None:
    """Delete a core or a collection with everything in it."""
    if _is_cloud(solr.base):
        admin(solr.base, "collections", action="DELETE", name=solr.name)
    else:
        admin(solr.base, "cores", action="UNLOAD", core=solr.name, deleteInstanceDir="true")


def schema_fields(solr: nd.Collection) -> set[str]:
    """The names of the fields in the schema of a collection."""
    rows = requests.get(f"{solr.url}/schema/fields", timeout=TIMEOUT)
    return {row["name"] for row in _read(rows)["fields"]}


def change_schema(solr: nd.Collection, commands: Mapping[str, Any]) -> None:
    """Change a schema by commands of the Schema API."""
    _read(requests.post(f"{solr.url}/schema", json=commands, timeout=TIMEOUT))


def note(*, id: str, text: Iterable[str], prefix: str = "") -> dict[str, Any]:
    """The field that tells the names of a collection, for a type "string", as Solr describes it."""
    kept = {"id": id, "text": list(text), "prefix": prefix}
    off = dict.fromkeys(("indexed", "stored", "docValues"), False)
    return {"name": NOTE, "type": "string", "default": json.dumps(kept), **off}


def element(field: Mapping[str, Any]) -> str:
    """Spell a field as a line of a schema."""
    spelled = {k: v if isinstance(v, str) else json.dumps(v) for k, v in field.items()}
    return ElementTree.tostring(ElementTree.Element("field", spelled), "unicode")


def keep_names(solr: nd.Collection, *, id: str, text: Iterable[str], prefix: str = "") -> None:
    """Keep names in the schema of a collection, as `init` does."""
    way = "replace-field" if NOTE in schema_fields(solr) else "add-field"
    change_schema(solr, {way: note(id=id, text=text, prefix=prefix)})


def folder(solr: nd.Collection) -> Path:
    """The folder of a core of a server on this machine."""
    status = admin(solr.base, "cores", action="STATUS", core=solr.name)["status"]
    return Path(status[solr.name]["instanceDir"])


def index_bytes(solr: nd.Collection) -> int:
    """The size of the index of a core."""
    status = admin(solr.base, "cores", action="STATUS", core=solr.name)["status"]
    return int(status[solr.name]["index"]["sizeInBytes"])


def select(solr: nd.Collection, query: str = "*:*", **params: str) -> list[dict[str, Any]]:
    """The documents that a query finds, in the syntax of Solr's standard parser."""
    data = {"q": query, "rows": "10000", "defType": "lucene", **params}
    answer = requests.post(f"{solr.url}/select", data=data, timeout=TIMEOUT)
    return list(_read(answer)["response"]["docs"])


def add(solr: nd.Collection, *documents: Mapping[str, Any], commit: bool = True) -> None:
    """Post documents as they are."""
    params = {"commit": json.dumps(commit)}
    sent = requests.post(f"{solr.url}/update", params=params, json=documents, timeout=TIMEOUT)
    _read(sent)


def set_fields(solr: nd.Collection, *updates: Mapping[str, Any], commit: bool = False) -> None:
    """Post atomic updates, {"id": …, name: {"set": value}}, in XML, which every Solr takes."""
    root = ElementTree.Element("add")
    for update in updates:
        document = ElementTree.SubElement(root, "doc")
        for name, change in update.items():
            if not isinstance(change, Mapping):
                ElementTree.SubElement(document, "field", name=name).text = str(change)
                continue
            [(way, value)] = change.items()
            for each in value if isinstance(value, list | tuple) else [value]:
                field = ElementTree.SubElement(document, "field", name=name, update=way)
                if each is None:
                    field.set("null", "true")
                else:
                    field.text = str(each)
    sent = requests.post(
        f"{solr.url}/update",
        params={"commit": json.dumps(commit)},
        data=ElementTree.tostring(root, "utf-8"),
        headers={"Content-Type": "text/xml; charset=utf-8"},
        timeout=TIMEOUT,
    )
    _read(sent)


def _is_cloud(base: str) -> bool:
    return admin(base, "info/system").get("mode") == "solrcloud"


def _read(answer: requests.Response) -> dict[str, Any]:
    """The JSON of a success. Raises HTTPError with what Solr says instead."""
    if answer.status_code != 200:
        raise requests.HTTPError(answer.text, response=answer)
    return dict(answer.json())
