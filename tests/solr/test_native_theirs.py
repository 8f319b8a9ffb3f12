"""Native MinHashes in a collection of somebody else's, as docs/native.md says."""

from __future__ import annotations

import re

import pysolr
import pytest
import requests

import neardup_solr as nd
from tests import ROOT
from tests.solr.foreign import collection

PAGE = (ROOT / "docs" / "native.md").read_text(encoding="utf-8")
TEXT = "the old shop by the harbour sells fish and bread"


@pytest.mark.usefixtures("home")
def test_the_way_that_the_page_shows() -> None:
    """The JSON as printed, and an update of all; the documents are found by Solr's MinHashes."""
    with collection() as theirs:
        plain = pysolr.Solr(theirs.url, always_commit=True)
        plain.add([{"sku": "1", "body": [TEXT]}, {"sku": "2", "body": [f"{TEXT} and wine"]}])
        nd.init(theirs, text=["body"], prefix="nd_")
        solr = nd.connect(theirs.url)
        with pytest.raises(nd.SettingsError, match=r"without native MinHashes; .*docs/native.md"):
            nd.init(solr, native=True)
        # As printed, but that this text field holds several values.
        [schema] = re.findall(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)
        several = schema.replace('"indexed": true', '"multiValued": true, "indexed": true')
        requests.post(f"{solr.url}/schema", data=several, timeout=60).raise_for_status()
        assert nd.annotate(solr, which="all").annotated == 2
        assert [match.id for match in nd.search(solr, id="1", by="native")] == ["2"]
        assert not nd.init(solr, native=True).is_created
