"""MinHashes that Solr itself computes: what switches them on, and whether a collection has them."""

from __future__ import annotations

from neardup_solr.edges.client import Solr
from neardup_solr.edges.http.answers import answer
from neardup_solr.pure.solr.names import TEXT

FIELD = "content_native"
# A property of the core: the configset's copyField reads its source from it.
PROPERTIES = {"property.neardup.native": TEXT}


def is_filled(solr: Solr) -> bool:
    """Whether the schema copies the text, all of its fields, into the field of native MinHashes.

    Raises CoreMissing where there is no such core, SolrError where Solr does not answer.
    """
    response = solr.session.get(f"{solr.url}/schema/copyfields", params={"dest.fl": FIELD})
    copies = answer(response, {"copyFields": list})["copyFields"]
    return set(solr.names.text) <= {copy["source"] for copy in copies}
