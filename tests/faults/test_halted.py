"""A Solr that can write nothing more: its disk is full, or its writer is closed."""

from __future__ import annotations

import pytest

import neardup_solr as nd
from tests.faults.scripted import EMPTY, Answer, answering


def failed(reason: bytes) -> Answer:
    """An update that Solr could not write."""
    body = b'{"responseHeader":{"status":500},"error":{"msg":"java.io.IOException: %s","code":500}}'
    return Answer(status=500, body=body % reason)


FRESH = Answer(body=EMPTY)
FULL = failed(b"No space left on device")
QUOTA = failed(b"Disk quota exceeded")
LIMIT = failed(b"File too large")
READ_ONLY = failed(b"Read-only file system")
NO_SEARCHER = Answer(
    status=500,
    body=b'{"responseHeader":{"status":500},"error":{"msg":"Error opening new searcher"}}',
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


# As the chain of Solr 9 words it if the disk of another node is full.
ELSEWHERE = Answer(
    body=b'{"responseHeader":{"status":0,"errors":[{"type":"ADD","id":"1","message":"Async'
    b" exception during distributed update: Error from server at http://h/solr: Server Error"
    b"\\n\\n\\nrequest: http://h/solr"
    b'\\nRemote error message: java.io.IOException: No space left on device"}]}}'
)


@pytest.mark.parametrize("answer", [FULL, QUOTA, LIMIT, READ_ONLY, CLOSED, BLAMED, ELSEWHERE])
def test_no_document_is_blamed_for_a_full_disk(answer: Answer) -> None:
    """Such an answer is an error that says to restart Solr; it is not asked a second time."""
    with (
        answering(FRESH, answer) as (address, asked),
        pytest.raises(nd.SolrHalted),
    ):
        nd.connect(address, "x").add([{"id": "1"}])
    assert len(asked) == 2


@pytest.mark.parametrize("answer", [CLOSED, NO_SEARCHER])
def test_a_commit_of_a_halted_solr_fails(answer: Answer) -> None:
    """A commit that Solr cannot make is no success."""
    with (
        answering(FRESH, answer) as (address, _),
        pytest.raises(nd.SolrHalted, match=r"IndexWr|searcher"),
    ):
        nd.connect(address, "x").commit()


def test_too_many_searchers_are_no_full_disk() -> None:
    """Commits that come too fast are refused in similar words, and pass by themselves."""
    body = NO_SEARCHER.body.replace(b'searcher"', b'searcher. exceeded limit of 2, try again"')
    with (
        answering(FRESH, Answer(status=400, body=body)) as (address, _),
        pytest.raises(nd.errors.SolrAnswerError, match="exceeded limit"),
    ):
        nd.connect(address, "x").commit()


LEADERLESS = Answer(
    body=b'{"responseHeader":{"status":0,"errors":[{"type":"ADD","id":"1","message":"No registered'
    b' leader was found after waiting for 4000ms , collection: x slice: shard1"}]}}'
)
TAKEN = Answer(body=b'{"responseHeader":{"status":0},"adds":["1",17]}')


def test_no_document_is_blamed_for_a_node_that_is_away() -> None:
    """A tolerant chain of a SolrCloud blames each; the same request is sent again."""
    with answering(FRESH, LEADERLESS, TAKEN) as (address, asked):
        assert nd.connect(address, "x").add([{"id": "1"}]) == ()
    assert len(asked) == 3


def test_a_document_may_hold_the_words_of_a_fault() -> None:
    """What Solr repeats of a document does not tell of Solr."""
    said = "ERROR: [doc=1] Error adding field 'n'='Connection refused' msg=For input string"
    body = LEADERLESS.body.split(b"No registered")[0] + said.encode() + b'"}]}}'
    with answering(FRESH, Answer(body=body), TAKEN) as (address, asked):
        [refusal] = nd.connect(address, "x").add([{"id": "1"}])
    assert refusal.reason == said
    assert len(asked) == 2
