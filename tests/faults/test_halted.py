"""A Solr that can write nothing more: its disk is full, or its writer is closed."""

from __future__ import annotations

import pytest

from neardup_solr import errors as e
from neardup_solr.solr.collection import open_collection
from tests.faults.scripted import Answer, answering

FULL = Answer(
    status=500,
    body=b'{"responseHeader":{"status":500},"error":{"msg":"No space left on device","code":500}}',
)
CLOSED = Answer(
    status=500,
    body=b'{"responseHeader":{"status":500},"error":{"msg":"this IndexWriter is closed"}}',
)
# As a tolerant chain words it, which blames each document.
BLAMED = Answer(
    body=b'{"responseHeader":{"status":0,"errors":[{"type":"ADD","id":"1",'
    b'"message":"Server error writing document id 1 to the index."}]}}'
)


@pytest.mark.parametrize("answer", [FULL, CLOSED, BLAMED])
def test_no_document_is_blamed_for_a_full_disk(answer: Answer) -> None:
    """Such an answer is an error that says to restart Solr; it is not asked a second time."""
    with (
        answering(answer) as (address, asked),
        pytest.raises(e.SolrHalted, match="make room on its disk, restart Solr, then run this aga"),
    ):
        open_collection(address, "x").add([{"id": "1"}])
    assert len(asked) == 1


def test_a_commit_of_a_halted_solr_fails() -> None:
    """A commit that Solr cannot make is no success."""
    with answering(CLOSED) as (address, _), pytest.raises(e.SolrHalted, match="IndexWriter is cl"):
        open_collection(address, "x").commit()
