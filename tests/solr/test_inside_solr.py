"""What docs/interoperability.md says of Solr's own processors: each claim on a real Solr."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
import requests

import neardup_solr as nd
from tests.solr import foreign

PROCESSOR = """<updateRequestProcessorChain name="dedupe" default="true">
  <processor class="solr.{name}">{settings}</processor>
  <processor class="solr.RunUpdateProcessorFactory"/>
</updateRequestProcessorChain>"""
SIGNATURE = """<str name="signatureField">signature_s</str><str name="fields">body</str>
<bool name="overwriteDupes">{overwrites}</bool>
<str name="signatureClass">solr.processor.{kind}</str>"""
LAMPS = "the old lamps of the street were lit by nobody knows whom in the evening"


def chain(kind: str, *, overwrites: str = "true") -> str:
    """The configuration of a collection whose documents Solr signs."""
    settings = SIGNATURE.format(overwrites=overwrites, kind=kind)
    processor = PROCESSOR.format(
        name="processor.SignatureUpdateProcessorFactory", settings=settings
    )
    return foreign.MANAGED.format("true") + processor


def post(solr: nd.Collection, *documents: dict[str, Any]) -> requests.Response:
    """Send documents as any client would, and commit."""
    params = {"commit": "true"}
    return requests.post(f"{solr.url}/update", params=params, json=documents, timeout=60)


def signatures(solr: nd.Collection) -> dict[str, str]:
    """The signature that Solr has stored for each document."""
    params: dict[str, str] = {"q": "*:*", "fl": "sku,signature_s", "rows": "100"}
    found = requests.get(f"{solr.url}/select", params=params, timeout=60).json()
    return {one["sku"]: one["signature_s"] for one in found["response"]["docs"]}


@pytest.mark.parametrize("kind", ["MD5Signature", "Lookup3Signature"])
def test_exact_signatures_know_equal_bytes_only(address: str, kind: str) -> None:
    """The last of equal documents stays, unheard; a capital or a full stop makes another one."""
    with foreign.collection(factory=chain(kind)) as solr:
        texts = [LAMPS, LAMPS, f"{LAMPS}.", LAMPS.capitalize()]
        answer = post(solr, *({"sku": str(n), "body": text} for n, text in enumerate(texts)))
        assert answer.json()["responseHeader"]["status"] == 0
        assert sorted(signatures(solr)) == ["1", "2", "3"]


def test_a_text_profile_takes_what_is_different_for_the_same(address: str) -> None:
    """Only words that occur twice count, so three texts about three things are one."""
    with foreign.collection(factory=chain("TextProfileSignature")) as solr:
        texts = [LAMPS, "the bread, the yeast and the mill", "the ferry of the band, the pier"]
        post(solr, *({"sku": str(n), "body": text} for n, text in enumerate(texts)))
        assert sorted(signatures(solr)) == ["2"]


@pytest.mark.parametrize(("overwrites", "left"), [("true", ["2"]), ("false", ["1", "2"])])
def test_an_update_of_a_part_is_signed_as_if_it_were_all(
    address: str, overwrites: str, left: list[str]
) -> None:
    """Two documents whose price is set get the signature of no text, so one is deleted.

    An update of the text is refused.
    """
    with foreign.collection(factory=chain("MD5Signature", overwrites=overwrites)) as solr:
        post(solr, {"sku": "1", "body": LAMPS}, {"sku": "2", "body": "another text"})
        assert len(set(signatures(solr).values())) == 2
        post(solr, {"sku": "1", "price": {"set": 5}}, {"sku": "2", "price": {"set": 6}})
        assert signatures(solr) == dict.fromkeys(left, "d41d8cd98f00b204e9800998ecf8427e")
        refused = post(solr, {"sku": "2", "body": {"set": "new"}})
        assert (refused.status_code, "partial update" in refused.text) == (500, True)


@pytest.mark.parametrize(("overwrites", "status"), [("true", 400), ("false", 200)])
def test_a_cloud_refuses_a_chain_that_deletes(cloud: str, overwrites: str, status: int) -> None:
    """SolrCloud creates no collection with overwriteDupes; signatures alone it makes."""
    factory = chain("MD5Signature", overwrites=overwrites)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        config = foreign.CONFIG.format(factory=factory, log=foreign.LOG, select="")
        archive.writestr("solrconfig.xml", config)
        archive.writestr("managed-schema.xml", foreign.SCHEMA.format(more="", key=foreign.KEY))
    name = f"signed_{overwrites}"
    params = {"action": "UPLOAD", "name": name}
    binary = {"Content-Type": "application/octet-stream"}
    requests.post(f"{cloud}/admin/configs", params=params, data=packed.getvalue(),
                  headers=binary, timeout=60).raise_for_status()  # fmt: skip
    params = {"action": "CREATE", "name": name, "numShards": "1", "collection.configName": name}
    made = requests.get(f"{cloud}/admin/collections", params=params, timeout=60)
    assert made.status_code == status


def test_the_script_processor_is_not_part_of_solr_core(address: str) -> None:
    """A collection with it is not created: its module is not enabled."""
    processor = PROCESSOR.format(name="ScriptUpdateProcessorFactory",
                                 settings='<str name="script">a.js</str>')  # fmt: skip
    with (
        pytest.raises(requests.HTTPError, match="ScriptUpdateProcessorFactory"),
        foreign.collection(factory=foreign.MANAGED.format("true") + processor),
    ):
        pass
