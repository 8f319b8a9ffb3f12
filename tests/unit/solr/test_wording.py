"""What an error of Solr says is a line that can be read, whatever Java says."""

from __future__ import annotations

import json
import re

import pytest

import neardup_solr as nd
from neardup_solr.errors import SolrError
from tests.faults.scripted import Answer, answering

POOL = (
    "Task java.util.concurrent.ThreadPoolExecutor$Worker@1f2e3d[State = -1, empty queue] rejected"
    " from org.apache.solr.common.util.ExecutorUtil$MDCAwareThreadPoolExecutor@7f00[Shutting down,"
    " pool size = 1, active threads = 1]"
)
SAID = {
    'Cannot invoke "org.apache.lucene.index.NumericDocValues.docID()" because "values" is null':
        "an internal error (NullPointerException: a value is missing)",
    "java.lang.NullPointerException": "an internal error (NullPointerException)",
    "java.nio.channels.ClosedChannelException": "an internal error (ClosedChannelException)",
    "null": "an internal error",
    "org.apache.solr.common.SolrException: Exception reading a value from the index":
        "Exception reading a value from the index",
    "java.lang.OutOfMemoryError: Java heap space": "its memory is full (Java heap space)",
    f"java.util.concurrent.RejectedExecutionException: {POOL}":
        "Task Worker rejected from MDCAwareThreadPoolExecutor",
    "Error from server at http://10.0.0.3:8983/solr/ads_shard1: this IndexReader is closed":
        "the node 10.0.0.3:8983: this IndexReader is closed",
    "org.apache.solr.client.solrj.impl.BaseHttpSolrClient$RemoteSolrException: Error from server at"
    " http://i:8983/solr/x: java.io.UncheckedIOException: java.io.EOFException: read past EOF":
        "the node i:8983: read past EOF",
    "Expected mime type application/octet-stream but got text/html. <html><head>x</head></html>":
        "Expected mime type application/octet-stream but got text/html",
    "undefined field org.books.Title": "undefined field org.books.Title",
    "ERROR: [doc=org.acme.Anvil] unknown field 'x'": "ERROR: [doc=org.acme.Anvil] unknown field",
    "no such user: a.b.c@example": "no such user: a.b.c@example",
}  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("said", "plain"), SAID.items())
@pytest.mark.parametrize("status", [400, 500, 503])
def test_a_message_is_told_in_plain_words(said: str, plain: str, status: int) -> None:
    """Without the names of Java's classes and objects, and with a next step."""
    error = {"msg": said, "code": status}
    body = json.dumps({"responseHeader": {"status": status}, "error": error}).encode()
    with (
        answering(Answer(status=status, body=body)) as (url, _),
        pytest.raises(SolrError) as caught,
    ):
        nd.connect(f"{url}/ads")
    line = str(caught.value)
    assert f"Solr says: {plain}" in line
    assert re.search(r"; \w+", line)
    assert "\n" not in line
