"""A SolrCloud whose nodes ask for a password, and vouch for users to each other (PKI)."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import requests
from kazoo.client import KazooClient

import neardup_solr as nd
from tests.refusals import refusal
from tests.services import until
from tests.solr.cloud import nodes, with_jars
from tests.solr.nodes import ZOOKEEPER

# Two nodes of its own.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]
LOGIN = ("neardup", "p/w")
TEXTS = {str(n): f"the quick brown fox leaps over the lazy dog {n // 2}" for n in range(200)}
RIGHTS = {"read": "r", "schema-read": "r", "update": "w"}


def knows_password(address: str) -> bool:
    """Tell whether a node has read the rules: it accepts the user, and refuses others."""
    path = f"{address}/admin/info/system"
    codes = [requests.get(path, auth=auth, timeout=30).status_code for auth in (None, LOGIN)]
    return codes == [401, 200]


@pytest.fixture(scope="module")
def guarded(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """The addresses of two nodes that know the user `neardup`, and one who may only read."""
    salt = os.urandom(32)
    digest = sha256(sha256(salt + LOGIN[1].encode()).digest()).digest()
    known = f"{b64encode(digest).decode()} {b64encode(salt).decode()}"
    permissions = [{"name": name, "role": [role, "admin"]} for name, role in RIGHTS.items()]
    rules = {
        "authentication": {
            "class": "solr.BasicAuthPlugin",
            "blockUnknown": True,
            "forwardCredentials": False,
            "credentials": {LOGIN[0]: known, "reader": known},
        },
        "authorization": {
            "class": "solr.RuleBasedAuthorizationPlugin",
            "permissions": [*permissions, {"name": "all", "role": "admin"}],
            "user-role": {LOGIN[0]: "admin", "reader": "r"},
        },
    }
    with nodes(with_jars(home, tmp_path_factory.mktemp("guarded")), 2) as server:
        zookeeper = KazooClient(f"127.0.0.1:{server.port + ZOOKEEPER}")
        zookeeper.start()
        zookeeper.set("/security.json", json.dumps(rules).encode())
        zookeeper.stop()
        zookeeper.close()
        until(lambda: all(knows_password(node) for node in server.nodes))
        yield server.nodes


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    """The administrator's, in the environment."""
    monkeypatch.setenv("NEARDUP_SOLR_USER", LOGIN[0])
    monkeypatch.setenv("NEARDUP_SOLR_PASSWORD", LOGIN[1])


@pytest.mark.usefixtures("login")
def test_shards_on_both_nodes(guarded: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever node is asked passes requests on to the other, for its shard, as the same user."""
    nd.init(nd.connect(guarded[0], "listings"), shards=2)
    solr = nd.connect(guarded[0], "listings")
    assert len({shard.leader for shard in solr.cluster().shards}) == 2
    documents = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
    assert nd.index(documents, solr).indexed == 200
    for address in guarded:
        one = nd.connect(address, "listings")
        assert [match.id for match in nd.search(one, id="10")][:1] == ["11"]
        assert len(nd.duplicates(one).pairs) >= 100
        assert sum(1 for _ in one.export(["id"])) == 200
    monkeypatch.setenv("NEARDUP_SOLR_USER", "reader")
    reader = nd.connect(guarded[1], "listings")
    assert reader.cluster().nodes == ()
    assert len(nd.duplicates(reader).pairs) >= 100
    with refusal(nd.errors.SolrUnauthorized, "solr-unauthorized", "permission update"):
        nd.index(documents, reader)
    monkeypatch.setenv("NEARDUP_SOLR_PASSWORD", "wrong")
    with pytest.raises(nd.errors.SolrUnauthorized, match=r"\(HTTP 401\)"):
        nd.connect(guarded[1], "listings").count()
