"""The service answers over HTTP what the library answers."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

import neardup_solr as nd
from neardup_solr.minhash.encode import encode_documents
from neardup_solr.settings import DEFAULT_SETTINGS
from neardup_solr.solr.collection import Collection
from neardup_solr.verbs.gate.write import make_match
from tests.services import Served, serving

CAFE = "Blue Door Cafe 12 Harbour Street Bristol fish and chips since 1961"
LISTINGS = [{"id": str(n), "text": f"{CAFE} number {n} {'abcdef'[n % 6]}"} for n in range(20)]
NEW = [
    {"id": "same", "text": LISTINGS[3]["text"]},
    {"id": "near", "text": f"{CAFE} number 3 x"},
    {"id": "other", "text": "a ferry leaves the old pier at nine with a band and lanterns"},
    {"id": "3", "text": LISTINGS[3]["text"]},
    {"id": "empty", "text": "!"},
]


@pytest.fixture
def served(solr: Collection, tmp_path: Path) -> Iterator[Served]:
    """A service of twenty listings."""
    nd.index(LISTINGS, solr)
    with serving(solr.url, tmp_path / "log", "--hold", "0.8", "--tag", "0.5") as found:
        yield found


def as_decisions(given: list[dict[str, Any]], solr: Collection) -> list[dict[str, Any]]:
    """What `gate` decides, each document by itself."""
    made = [next(nd.gate([one], solr, hold=0.8, tag=0.5)) for one in given]
    return [
        {
            "id": one.id,
            "action": one.action,
            "reason": one.reason,
            "matches": [make_match(match) for match in one.matches],
            "complete": one.complete,
        }
        for one in made
    ]


def test_it_answers_as_the_library(served: Served, solr: Collection) -> None:
    """Decisions, matches, explanations and fields are the same; an own copy is not met."""
    expected = as_decisions(NEW, solr)
    assert {one["action"] for one in expected} == {"allow", "tag", "hold", "reject"} - {"tag"}
    assert [served.ask("check", one).json for one in NEW] == expected
    together = served.ask("check", {"documents": NEW}).json["decisions"]
    assert [one["id"] for one in together] == [one["id"] for one in NEW]

    found = served.ask("search", {"text": CAFE, "min_similarity": 0.6}).json["matches"]
    known = nd.search(solr, text=CAFE, min_similarity=0.6)
    assert found == [make_match(one) | {"text": one.content} for one in known]
    assert found

    why = served.ask("explain?id=1&other_id=7").json
    assert why["verdict"] == nd.explain(solr, "1", "7").verdict
    documents = [nd.Document(id=one["id"], text=one["text"]) for one in NEW]
    settings = solr.stored_settings() or DEFAULT_SETTINGS
    wanted = b",".join(made for made, _ in encode_documents(documents, settings))
    assert served.ask("entries", {"documents": NEW}).body == b'{"entries":[' + wanted + b"]}"


def test_it_describes_itself(served: Served) -> None:
    """The description is valid, names each path, and the pages load nothing from elsewhere."""
    described = served.ask("openapi.json").json
    validate(described)
    assert {"/check", "/search", "/explain", "/entries", "/metrics"} < described["paths"].keys()
    for page in ("", "docs", "docs.js", "page.js", "page.css"):
        found = served.ask(page)
        assert found.status == 200
        assert b"://" not in found.body
        assert "default-src 'none'" in found.headers["content-security-policy"]
    assert served.ask("health").status == served.ask("ready").status == 200
    served.ask("check", NEW[0])
    metrics = served.ask("metrics").body.decode()
    assert 'neardup_requests_total{path="/check",status="200"} 1.0' in metrics
    assert 'neardup_decisions_total{action="reject"} 1.0' in metrics


def test_it_logs_neither_texts_nor_ids(served: Served) -> None:
    """A line for each request says what became of it, by its own id; the end is clean."""
    answer = served.ask("check", {"id": "id-4711", "text": "secret words"}, X_Request_Id="mine")
    assert answer.headers["x-request-id"] == "mine"
    served.ask("search", {"id": "id-4711"})
    served.ask("id-4711")
    assert served.stop(signal.SIGTERM) == 0
    said = served.log.read_text("utf-8")
    assert "4711" not in said
    assert "secret" not in said
    check, search, unknown = served.lines
    assert (check["id"], check["path"], check["status"], check["documents"]) == (
        "mine", "/check", 200, 1,
    )  # fmt: skip
    assert (search["status"], unknown["path"], unknown["status"]) == (404, "(unknown)", 404)


BAD: dict[str, tuple[str, object, int]] = {
    "no json": ("check", b"{", 400),
    "nan": ("check", b'{"id": "1", "text": "a", "x": NaN}', 400),
    "surrogate": ("check", b'{"id": "1", "text": "\\ud800"}', 400),
    "deep": ("check", b'{"id": "1", "text":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 400),
    "a list": ("check", [1], 400),
    "no text": ("check", {"id": "1"}, 400),
    "no id": ("check", {"text": "a"}, 400),
    "long id": ("check", {"id": "x" * 100_000, "text": "a"}, 400),
    "number as text": ("entries", {"id": "1", "text": 5}, 400),
    "documents": ("check", {"documents": {"id": "1"}}, 400),
    "too many": ("check", {"documents": [{"id": "1", "text": "a"}] * 101}, 413),
    "too large": ("check", b" " * (1 << 20) + b"{}", 413),
    "no argument": ("search", {"text": "a", "near": 1}, 400),
    "wrong type": ("search", {"text": 5}, 400),
    "query": ("search", {"text": CAFE, "fq": "((("}, 400),
    "many": ("search", {"text": CAFE, "candidates": 10**9}, 400),
    "unknown id": ("search", {"id": "\u0007"}, 404),
    "nothing": ("search", {}, 400),
    "one id": ("explain?id=1", None, 400),
    "path": ("nothing", {}, 404),
    "method": ("check", None, 405),
}


def test_bad_requests_are_told_what_is_wrong(served: Served) -> None:
    """Each has its status and a next step, and the service goes on."""
    for name, (path, body, status) in BAD.items():
        answer = served.ask(path, body)
        assert answer.status == status, name
        assert answer.json.keys() == {"error", "next"}, name
        assert all(answer.json.values()), name
    mixed = served.ask("check", {"documents": [{"id": "x"}, NEW[0]]}).json["decisions"]
    assert [one["action"] for one in mixed] == ["failed", "reject"]
    assert served.ask("check", NEW[0]).status == 200
    assert not [line for line in served.lines if line.get("status", 0) >= 500]


def test_tokens_have_rights(solr: Collection, tmp_path: Path) -> None:
    """Without the token 401, without the right 403; a changed file counts, a bad one does not."""
    nd.index(LISTINGS[:2], solr)
    path = tmp_path / "tokens"
    path.write_text("# clients\nfeeder c4n4ry-of-feeder check\nops c4n4ry-of-the-ops all\n")
    with serving(solr.url, tmp_path / "log", "--tokens", str(path)) as served:
        assert served.ask("check", NEW[0]).status == 401
        feeder = {"Authorization": "Bearer c4n4ry-of-feeder"}
        assert served.ask("check", NEW[0], **feeder).status == 200
        assert served.ask("metrics", **feeder).status == 403
        assert served.ask("metrics", Authorization="Bearer c4n4ry-of-the-ops").status == 200
        assert served.ask("ready").status == 200
        assert {line["client"] for line in served.lines} == {None, "feeder", "ops"}
        path.write_text("feeder c4n4ry-of-feeder metrics\n")
        while served.ask("metrics", **feeder).status != 200:
            assert served.process.poll() is None
        path.write_text("feeder c4n4ry\n")
        while not [line for line in served.lines if "level" in line]:
            assert served.ask("metrics", **feeder).status == 200
        served.stop()
        assert "c4n4ry" not in served.log.read_text("utf-8")


def test_json_keeps_the_order_of_keys(served: Served) -> None:
    """A decision reads as docs/serve.md shows it."""
    keys = list(json.loads(served.ask("check", NEW[0]).body))
    assert keys == ["id", "action", "reason", "matches", "complete"]
