"""The tables of faults: what Solr sends, the error it becomes, when it passes, and the line."""

from __future__ import annotations

import json

import pytest

import neardup_solr as nd
from neardup_solr.errors import Passes, SolrAnswerError, SolrError, SolrHalted, SolrUnauthorized
from tests.faults.scripted import Answer, answering

ALWAYS, LATER, NEVER = Passes.ALWAYS, Passes.ONCE_ANSWERED, Passes.NEVER
KEEPER = ["root-error-class", "org.apache.zookeeper.KeeperException$ConnectionLossException"]
NO_LEADER = (
    "No registered leader was found after waiting for 4000ms , collection: ads slice: shard1"
)
BELOW = (
    "Async exception during distributed update: Error from server at http://i/solr: Server Error"
    "\n\n\nrequest: http://i/solr\nRemote error message: "
)


def remote(error: object) -> dict[str, object]:
    """The error of another node, or its message, as Solr 10 passes it on."""
    said = {"msg": error, "code": 500} if isinstance(error, str) else error
    details = [{"remoteHost": "http://i", "remoteError": said}]
    return {"msg": "Error from server at http://i", "details": details, "code": 500}


CASES: list[tuple[int, dict[str, object], type[SolrError], Passes, str]] = [
    (400, {"msg": "undefined field x"}, SolrAnswerError, NEVER, "Solr says: undefined field x"),
    (500, {"msg": "disk full"}, SolrAnswerError, LATER, "Solr says: disk full; check"),
    (429, {"msg": "slow down"}, SolrAnswerError, ALWAYS, "Solr says: slow down"),
    (500, {"msg": "No space left on device"}, SolrHalted, NEVER, "free space on its disk, restart"),
    (500, {"msg": "Error opening new searcher"}, SolrHalted, NEVER, "no longer accepts documents"),
    (400, {"msg": "Error opening new searcher. exceeded limit of 2"}, SolrAnswerError, NEVER,
     "exceeded limit"),
    (500, {"msg": NO_LEADER}, SolrAnswerError, ALWAYS,
     "shard1 of 'ads' has no leader (Solr says: No registered leader was found); start its node"),
    (500, {"msg": "no servers hosting shard: shard2"}, SolrAnswerError, ALWAYS,
     "no replica of shard2 of 'ads' answers (Solr says: no servers hosting shard: shard2); start"),
    (510, {"msg": "Error trying to proxy request for url: http://h/x"}, SolrAnswerError, ALWAYS,
     "no replica of 'ads' answers"),
    (510, {"msg": "Could not find collection in zk: ads"}, SolrAnswerError, ALWAYS,
     "Solr says: Could not find collection in zk: ads; check that all nodes are running"),
    (400, {"msg": "Cannot talk to ZooKeeper - Updates are disabled."}, SolrAnswerError, ALWAYS,
     "ZooKeeper is unavailable (Solr says: Cannot talk to ZooKeeper - Updates are disabled); "),
    (400, {"msg": "no", "metadata": KEEPER}, SolrAnswerError, ALWAYS, "ZooKeeper is unavailable"),
    (500, {"msg": "ERROR: [doc=1] Connection refused"}, SolrAnswerError, LATER, "[doc=1]"),
    (403, {"msg": "Collection ads is read-only."}, SolrAnswerError, NEVER, "make the coll"),
    (403, {"msg": "no"}, SolrUnauthorized, NEVER, "HTTP 403"),
    # As Solr 9 passes on what another node says: below blank lines.
    (500, {"msg": f"{BELOW}java.io.IOException: No space left on device"}, SolrHalted, NEVER,
     "No space left on device"),
    (400, {"msg": f"{BELOW}ERROR: [doc=1] unknown field 'x'"}, SolrAnswerError, NEVER,
     "[doc=1] unknown field 'x'"),
    (500, {"msg": "2 Async exceptions during distributed update: \nConnection refused\n"
                  "No space left on device"}, SolrHalted, NEVER, "No space left on device"),
    # As Solr 10 does, for a schema and for another node; a proxy may be in front of that.
    (400, {"msg": "error processing commands", "details": [
        {"errorMessages": "schema is not editable"}]}, SolrAnswerError, NEVER,
     "Solr says: error processing commands: schema is not editable"),
    (400, {"msg": "error processing commands", "details": [
        {"add-field": {"name": "a"}, "errorMessages": ["Field 'a' already exists.\n"]},
        {"add-field": {"name": "b"}, "errorMessages": ["Field 'b' already exists.\n"]}]},
     SolrAnswerError, NEVER, "commands: Field 'a' already exists; Field 'b' already exists;"),
    (400, remote("undefined field: \"x\""), SolrAnswerError, NEVER, 'i: undefined field: "x"'),
    (500, remote("No space left on device"), SolrHalted, NEVER, "free space on its disk, restart"),
    (500, remote("Error opening new searcher"), SolrHalted, NEVER, "no longer accepts documents"),
    (500, remote("Error opening new searcher. exceeded limit of 2"), SolrAnswerError, LATER,
     "exceeded limit"),
    (500, remote(remote("No space left on device")), SolrHalted, NEVER, "No space left on device"),
    (503, remote(NO_LEADER), SolrAnswerError, ALWAYS, "shard1 of 'ads' has no leader (Sol"),
    (500, remote("no servers hosting shard: shard2"), SolrAnswerError, ALWAYS,
     "no replica of shard2 of 'ads' answers"),
    (500, remote("Cannot talk to ZooKeeper - Updates are disabled."), SolrAnswerError, ALWAYS,
     "ZooKeeper is unavailable"),
    (500, remote("ERROR: [doc=1] No space left on device"), SolrAnswerError, LATER, "[doc=1] No"),
    (403, remote("Collection ads is read-only."), SolrAnswerError, NEVER, "make the coll"),
    (500, remote("<html>\n<title>502</title>"), SolrAnswerError, LATER, "server at http://i;"),
    (500, remote(None), SolrAnswerError, LATER, "Error from server at http://i; check"),
    (500, {"details": "?", "msg": None}, SolrAnswerError, LATER, "Solr says: ?"),
    (500, {}, SolrAnswerError, LATER, "Solr says: HTTP 500"),
]  # fmt: skip


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("status", "error", "kind", "passes", "line"), CASES)
def test_an_error_of_solr(
    status: int, error: dict[str, object], kind: type[SolrError], passes: Passes, line: str
) -> None:
    """Its class, when it passes, and the reason with the next step."""
    body = json.dumps({"responseHeader": {"status": status}, "error": error}).encode()
    with answering(Answer(status=status, body=body)) as (url, _), pytest.raises(kind) as caught:
        nd.connect(f"{url}/ads")
    assert line in str(caught.value)
    assert (type(caught.value), caught.value.passes) == (kind, passes)
