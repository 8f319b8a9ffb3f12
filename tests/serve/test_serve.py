"""The service answers over HTTP what the library answers."""

from __future__ import annotations

import gzip
import json
import random
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from http.client import HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import requests
from openapi_spec_validator import validate

import neardup_solr as nd
from neardup_solr.measures import NAMES
from neardup_solr.measures.equality import parse_equality
from neardup_solr.minhash import encode_documents
from neardup_solr.settings_by_name import DEFAULT_SETTINGS
from neardup_solr.solr.finder import Cache
from neardup_solr.solr.names import PLAIN, Names
from neardup_solr.testing import SIZES
from neardup_solr.verbs.gate.decision_rows import make_match
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.serve import service as serve_service
from neardup_solr.verbs.serve.documents import read_documents
from neardup_solr.verbs.serve.search_request import OF_SEARCH
from neardup_solr.verbs.serve.service import Service
from tests import ROOT
from tests.command import neardup
from tests.conftest import Cores
from tests.refusals import refusal
from tests.services import Answer, Served, read_answer, serving, until
from tests.solr import foreign
from tests.unit.minhash.test_golden import GOLDEN, TEXTS, chosen

CAFE = "Blue Door Cafe 12 Harbour Street Bristol fish and chips since 1961"
LISTINGS = [{"id": str(n), "text": f"{CAFE} number {n} {'abcdef'[n % 6]}"} for n in range(20)]
NEW = [
    {"id": "same", "text": LISTINGS[3]["text"]},
    {"id": "near", "text": f"{CAFE} number 3 x"},
    {"id": "other", "text": "a ferry leaves the old pier at nine with a band and lanterns"},
    {"id": "3", "text": LISTINGS[3]["text"]},
    {"id": "empty", "text": "\u200b"},
]


@pytest.fixture(scope="module")
def listings(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core with twenty listings, that no test changes."""
    core = core_pool.take()
    nd.index(LISTINGS, core)
    yield core
    core_pool.give_back(core.name)


@pytest.fixture(scope="module")
def served(listings: nd.Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of the listings."""
    log = tmp_path_factory.mktemp("served") / "log"
    words = ("--hold", "0.8", "--tag", "0.5", "--max-body", "1M")
    with serving(listings.url, log, *words) as found:
        yield found


def as_decisions(given: list[dict[str, Any]], solr: nd.Collection) -> list[dict[str, Any]]:
    """What `gate` decides, each document by itself."""
    made = [next(nd.gate(nd.Source([one], text="text"), solr, hold=0.8, tag=0.5)) for one in given]
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


def test_it_answers_as_the_library(served: Served, listings: nd.Collection) -> None:
    """Decisions, matches, explanations and fields are the same; an own copy is not met."""
    expected = as_decisions(NEW, listings)
    assert {one["action"] for one in expected} == {"allow", "tag", "reject"}
    assert [served.ask("check", one).json for one in NEW] == expected
    together = served.ask("check", {"documents": NEW}).json["decisions"]
    assert [one["id"] for one in together] == [one["id"] for one in NEW]

    found = served.ask("search", {"text": CAFE, "min_similarity": 0.6}).json["matches"]
    known = nd.search(listings, text=CAFE, min_similarity=0.6)
    assert found == [make_match(one) | {"text": one.content} for one in known]
    assert found

    why = served.ask("explain?id=1&other_id=7").json
    assert why["verdict"] == nd.explain(listings, "1", "7").verdict
    documents = [nd.Document(id=one["id"], text=one["text"]) for one in NEW]
    settings = listings.stored_settings() or DEFAULT_SETTINGS
    wanted = b",".join(encode_documents(documents, settings))
    assert served.ask("entries", {"documents": NEW}).body == b'{"entries":[' + wanted + b"]}"


def test_passages_are_those_of_the_gate(core_pool: Cores, tmp_path: Path) -> None:
    """Of each document of a request, with the documents before it, as the description says."""
    core = core_pool.take()
    draw = random.Random(3)
    words = ["".join(draw.choices("abcdefghijklmnop", k=6)) for _ in range(900)]
    nd.index([nd.Document(id="old", text=" ".join(words[:300]))], core, settings={"fields": "all"})
    new = [
        {"id": "a", "text": " ".join([*words[300:500], *words[40:100]])},
        {"id": "b", "text": " ".join([*words[600:800], *words[310:340]])},
        {"id": "c", "text": " ".join(words[10:80])},
    ]
    with serving(core.url, tmp_path / "log", "--passages") as served:
        decisions = served.ask("check", {"documents": new}).json["decisions"]
        described = served.ask("openapi.json").json["components"]["schemas"]["Passage"]
        assert served.ask("check", {"documents": []}).json == {"decisions": []}
    expected = [*nd.gate(nd.Source(new, text="text"), core, passages=True)]
    assert [each["passages"] for each in decisions] == [
        [asdict(passage) for passage in each.passages] for each in expected
    ]
    assert [(each["other_id"], each["relation"], each["words"]) for one in decisions
            for each in one["passages"]] == [
        ("old", "shares", 60), ("a", "shares", 30), ("old", "part of", 70), ("a", "shares", 40),
    ]  # fmt: skip
    assert decisions[0]["passages"][0].keys() == {*described["required"]}
    core_pool.give_back(core.name)


def test_entries_are_the_golden_vectors(core_pool: Cores) -> None:
    """The fields of a text are what `index` has always stored, with any settings."""
    documents = [nd.Document(id=name, text=text) for name, text in TEXTS.items()]
    golden = [json.loads(line) for line in GOLDEN.read_text().splitlines()]
    found = []
    for settings in chosen():
        core = core_pool.take()
        nd.index([documents[0]], core, settings=settings)
        made = Service(core, Policy()).make_entries(documents)
        wanted = b",".join(encode_documents(documents, settings))
        assert made == b'{"entries":[' + wanted + b"]}"
        found += json.loads(made)["entries"]
        core_pool.give_back(core.name)
    assert found == golden


def test_checks_that_take_long_are_answered_alike(listings: nd.Collection, tmp_path: Path) -> None:
    """Documents that share bands with many are asked about alone, and decided as by the gate."""
    change = "from neardup_solr.solr import finder; finder.MANY = 3"
    expected = as_decisions(NEW, listings)
    words = ("--hold", "0.8", "--tag", "0.5")
    with (
        serving(listings.url, tmp_path / "log", *words, change=change) as served,
        ThreadPoolExecutor(10) as pool,
    ):
        for _ in range(4):
            answers = pool.map(lambda one: served.ask("check", one).json, NEW * 4)
            assert list(answers) == expected * 4


def test_what_is_known_of_documents_follows_the_collection(
    core_pool: Cores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kept documents are met as they are now: changed, deleted, added, of other settings."""
    monkeypatch.setattr(SIZES, "large_term", 3)
    solr = core_pool.take()
    nd.index(LISTINGS, solr)
    bounds: dict[str, Any] = {"hold": 0.8, "tag": 0.5}
    service = Service(solr, Policy(**bounds))
    filtered = Service(solr, Policy(**bounds), fq=("id:none",))

    def check(service: Service) -> list[Any]:
        alone = [service.check([read_documents([one], service.reading)]) for one in NEW]
        together = service.check([read_documents([one], service.reading) for one in NEW])
        assert [made for (made,) in alone] == together
        return [one for made in together for one in made or ()]

    def find_cache() -> Cache:
        cache = service._gate.finder.cache
        assert cache is not None
        return cache

    def same_as_the_gate() -> bool:
        return all(check(service) == as_decisions(NEW, solr) for _ in range(2))

    assert same_as_the_gate()
    assert check(filtered)[1]["action"] == "allow"
    assert len(find_cache().documents) >= len(LISTINGS)
    service.look()
    assert find_cache().documents
    nd.index([{"id": "3", "text": "quite another text"}, {"id": "new", "text": f"{CAFE} x"}], solr)
    solr.delete_ids(["4", "5"])
    solr.commit()
    assert same_as_the_gate()
    monkeypatch.setattr(SIZES, "cached_documents", 10_000)
    nd.index(LISTINGS, solr)
    assert same_as_the_gate()
    assert len(find_cache().documents) <= len(LISTINGS) + 1
    solr.delete_query("*:*")
    solr.commit()
    nd.index(LISTINGS, solr, settings=replace(DEFAULT_SETTINGS, seed=7))
    assert same_as_the_gate()
    service.look()
    assert not find_cache().documents
    assert same_as_the_gate()
    core_pool.give_back(solr.name)


def test_a_search_compares_as_the_gate_does(listings: nd.Collection) -> None:
    """The page shows both beside each other; another measure can be asked for."""
    service = Service(listings, Policy(hold=0.8, measure="jaccard"))
    asked = {"text": f"number 3 {CAFE}", "min_similarity": 0.3}
    by_default, by_words = service.search(asked), service.search(asked | {"measure": "words"})
    assert by_default == service.search(asked | {"measure": "jaccard"}) != by_words


def test_a_document_may_have_the_names_of_its_fields(listings: nd.Collection) -> None:
    """The key and the text are taken by the collection's names, too."""
    service = Service(listings, Policy())
    made = read_documents(
        [{"id": "1", "text": CAFE}, {"id": "1", "content": CAFE}], service.reading
    )
    assert [(one.id, one.text) for one in made if isinstance(one, nd.Document)] == [("1", CAFE)] * 2
    names = Names(id="key", text=("title", "body"), prefix="nd_")
    service.collection = listings.with_names(names)
    made = read_documents(
        [{"key": "1", "title": CAFE}, {"key": "1", "text": CAFE}], service.reading
    )
    assert [(one.id, one.text) for one in made if isinstance(one, nd.Document)] == [("1", CAFE)] * 2


def test_only_rules_of_the_service_have_to_be_equal(listings: nd.Collection) -> None:
    """A pattern of a client could take for ever, and hold up all others."""
    service = Service(listings, Policy(equality=parse_equality(["fish", r"\bx\b"])))
    all_rules = service.search({"id": "3", "min_similarity": 0.5})["matches"]
    assert service.search({"id": "3", "min_similarity": 0.5, "equal": "fish"})["matches"]
    assert service.search({"id": "3", "min_similarity": 0.5, "equal": []})["matches"] == all_rules
    assert not service.search({"id": "3", "equal": ["numbers", "fish"]})["matches"]
    with refusal(nd.ArgumentError, "argument-invalid", "`equal`", "'fi.h'"):
        service.search({"id": "3", "equal": "fi.h"})


def test_a_search_takes_the_key_by_its_name(listings: nd.Collection) -> None:
    """As the other paths do, in any case of its letters; two names of it are refused."""
    service = Service(listings, Policy())
    with pytest.MonkeyPatch.context() as patch:
        asked: list[Any] = []

        def search(_: nd.Collection, *, id: str, **further: Any) -> list[nd.Match]:
            asked.append(id)
            return []

        patch.setattr(serve_service, "_search", search)
        service.collection = listings.with_names(Names(id="key", text=("body",), prefix="nd_"))
        for given in ({"id": "A1"}, {"key": "A1"}, {"KEY": "A1"}):
            service.search(given)
        assert asked == ["A1"] * 3
        with refusal(nd.ArgumentError, "arguments-conflict", "'key'", "'id'"):
            service.search({"key": "A1", "id": "A2"})


OWN = Names(id="key", text=("body",), prefix="nd_")
SEVERAL = Names(id="key", text=("title", "content"), prefix="nd_")
SWAPPED = Names(id="content", text=("id",), prefix="nd_")
NAMED: list[tuple[Names, dict[str, Any], tuple[str, str] | str]] = [
    (OWN, {"key": "A1", "body": "x"}, ("A1", "x")),
    (OWN, {"KEY": "A1", "Body": "x"}, ("A1", "x")),
    (OWN, {"id": "A1", "text": "x"}, ("A1", "x")),
    (OWN, {"id": 7, "content": "x"}, ("7", "x")),
    (OWN, {"key": 5.0, "body": "x"}, ("5", "x")),
    (OWN, {"key": "5", "id": 5.0, "body": "x"}, ("5", "x")),
    (OWN, {"key": 5.5, "body": "x"}, "is the number 5.5, not text or a whole number"),
    (OWN, {"key": 1e20, "body": "x"}, "floats this large are rounded"),
    (OWN, {"key": "7", "id": 7, "body": "x", "text": "x"}, ("7", "x")),
    (OWN, {"key": "A1", "id": None, "body": "x"}, ("A1", "x")),
    (OWN, {"key": "A1", "id": "7", "body": "x"}, "'key' and 'id' both name the key"),
    (OWN, {"Key": "A1", "ID": "7", "body": "x"}, "'Key' and 'ID' both name the key"),
    (OWN, {"key": None, "id": "7", "body": "x"}, "'key' and 'id' both name the key"),
    (OWN, {"key": "A1", "body": "x", "text": "y"}, "'body' and 'text' both name the text"),
    (OWN, {"key": "A1", "text": "x", "content": "y"}, "'text' and 'content' both name the text"),
    (PLAIN, {"id": "1", "content": "x"}, ("1", "x")),
    (PLAIN, {"id": "1", "content": "x", "text": "y"}, "'text' and 'content' both name the text"),
    (SEVERAL, {"key": "1", "title": "x", "content": "y"}, ("1", "x\ny")),
    (SEVERAL, {"key": "1", "content": "y"}, ("1", "y")),
    (SEVERAL, {"key": "1", "text": "x"}, ("1", "x")),
    (
        SEVERAL,
        {"key": "1", "title": "x", "content": "y", "text": "z"},
        "'title' and 'text' both name the text",
    ),
    (SWAPPED, {"content": "1", "id": "x"}, ("1", "x")),
]


def test_names_of_the_collection_win(listings: nd.Collection) -> None:
    """Ours count if the collection's are absent; both, and different, is an error of a document."""
    service = Service(listings, Policy())
    for names, document, expected in NAMED:
        service.collection = listings.with_names(names)
        other = {names.id: "2", names.text[0]: "z"}
        made, last = read_documents([document, other], service.reading)
        if isinstance(expected, str):
            assert isinstance(made, nd.RecordError), document
            assert expected in made.reason
        else:
            assert isinstance(made, nd.Document), document
            assert (made.id, made.text) == expected
        assert isinstance(last, nd.Document)


def test_fields_that_are_missing_are_named(home: Path, tmp_path: Path) -> None:
    """A misspelt field would pass unnoticed; a search takes a document as other paths do."""
    with foreign.collection() as solr:
        text = f"{CAFE} number 3 x"
        document = {"sku": "7", "title": text, "body": "by the pier"}
        requests.post(f"{solr.url}/update?commit=true", json=[document], timeout=60)
        nd.init(solr, text=("title", "body"), prefix="nd_")
        nd.annotate(nd.connect(solr.base, solr.name))
        misspelt = {"sku": "8", "title": text, "boddy": "by the pier"}
        with serving(solr.url, tmp_path / "log") as served:
            assert "missing" not in served.ask("check", document).json
            assert served.ask("check", misspelt).json["missing"] == ["body"]
            both = served.ask("check", {"documents": [{"id": "9", "body": text}, document]}).json
            assert [one.get("missing") for one in both["decisions"]] == [["title"], None]
            neither = served.ask("check", {"sku": "9", "titel": text, "body": None})
            assert "'title' and 'body' are missing" in neither.json["error"]
            assert served.ask("entries", misspelt).json["missing"] == {"8": ["body"]}
            assert "missing" not in served.ask("entries", document).json
            changed = document | {"title": f"{text} y"}
            for sent, expected in (
                (changed, []), (changed | {"sku": "8"}, ["7"]), ({"text": text}, ["7"]),
                ({"id": "7", "text": text, "candidates": 1}, []), ({"sku": "7"}, []),
                ({"title": text, "BODY": "x"}, ["7"]), ({"sku": None, "title": text}, ["7"]),
            ):  # fmt: skip
                matches = served.ask("search", sent | {"min_similarity": 0.3}).json["matches"]
                assert [match["id"] for match in matches] == expected, sent
            assert served.ask("search", {"title": text}).json["missing"] == ["body"]
            assert "`boddy` is unknown" in served.ask("search", misspelt).json["error"]


def test_two_keys_that_differ_are_refused(core_pool: Cores, tmp_path: Path) -> None:
    """Or fields of one document would be merged into another one."""
    core = core_pool.take()
    nd.index(LISTINGS, core)
    document = {"id": "7", "content": CAFE, "text": "quite another text"}
    with serving(core.url, tmp_path / "log") as served:
        for path in ("check", "entries"):
            answer = served.ask(path, document)
            assert (answer.status, "differ" in answer.json["error"]) == (400, True)
        both = served.ask("check", {"documents": [document, LISTINGS[7]]}).json["decisions"]
        assert [one["action"] for one in both] == ["failed", "tag"]
        assert served.ask("entries", {"documents": [document, LISTINGS[7]]}).status == 400
    core_pool.give_back(core.name)


def test_documents_without_a_signature_are_told(core_pool: Cores, tmp_path: Path) -> None:
    """Nothing is compared with them: answers, readiness, metrics and the log say how many."""
    core = core_pool.take()
    nd.index(LISTINGS[:10], core)

    def write(ids: Sequence[int], **more: object) -> None:
        told = [{"id": str(n), "content": LISTINGS[n]["text"]} for n in ids]
        sent = more or told
        requests.post(f"{core.url}/update?commit=true", json=sent, timeout=60).raise_for_status()

    def wait(served: Served, count: int) -> None:
        expected = {"status": "ready"} | ({"unsigned": count} if count else {})
        while served.ask("ready").json != expected:
            assert served.process.poll() is None

    def warnings(served: Served) -> list[str]:
        return [line["message"][:35] for line in served.lines if line.get("level") == "WARNING"]

    def read_warnings(served: Served, *counts: int) -> None:
        expected = [f"documents without a signature: {count}; i" for count in counts]
        until(lambda: len(warnings(served)) >= len(counts))  # a thread of its own writes them
        assert warnings(served) == expected

    copy = {"id": "copy", "text": LISTINGS[12]["text"]}
    change = "service.COUNT_SECONDS, service.COUNT_SHARE = 0.1, 1"
    few = serving(core.url, tmp_path / "few", "--fq", "id:1*", change=change)
    with (
        serving(core.url, tmp_path / "log", "--tag", "1", change=change) as served,
        few as filtered,
    ):
        decision = served.ask("check", copy).json
        assert (decision["action"], decision["complete"]) == ("allow", True)
        assert "unsigned" not in decision | served.ask("search", {"text": CAFE}).json
        assert served.metrics()["neardup_unsigned_documents"] == 0
        assert not warnings(served)
        write([12, 13, 9])
        wait(served, 3)
        wait(filtered, 2)
        decision = served.ask("check", copy).json
        assert list(decision)[-2:] == ["complete", "unsigned"]
        assert (decision["action"], decision["complete"], decision["unsigned"]) == (
            "allow", False, 3,
        )  # fmt: skip
        both = served.ask("check", {"documents": [copy, {"id": "x"}]}).json["decisions"]
        assert [one.get("unsigned") for one in both] == [3, None]
        assert served.ask("search", {"text": CAFE}).json["unsigned"] == 3
        assert served.metrics()["neardup_unsigned_documents"] == 3
        write([14])
        wait(served, 4)
        wait(filtered, 3)
        write([], delete=["9", "12", "13", "14"])
        wait(served, 0)
        assert served.ask("check", copy).json["complete"]
        write([15])
        wait(served, 1)
        read_warnings(served, 3, 4, 1)
    with serving(core.url, tmp_path / "again") as served:  # from the start on
        assert not served.ask("check", copy).json["complete"]
        read_warnings(served, 1)
    core_pool.give_back(core.name)


def test_what_cannot_be_counted_is_not_known(
    listings: nd.Collection, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A count holds for a while; then it is null, which is told once, and nothing is complete."""

    def fail(*_: object) -> int:
        raise nd.SolrError("http://x", "it takes too long", "wait")

    service = Service(listings, Policy())
    answer = {"complete": True}
    with monkeypatch.context() as patch:
        patch.setattr(serve_service, "count_unsigned", fail)
        service.count_gap()
        assert service.with_gap(answer) == answer
        service._count_until = 0.0
        service.count_gap()
        service.count_gap()
        assert service.with_gap(answer) == {"complete": False, "unsigned": None}
        assert len(caplog.messages) == 1
        assert Service(listings, Policy()).unsigned is None
    service.count_gap()
    assert service.with_gap(answer) == answer


def test_what_lets_everything_pass_is_told(
    listings: nd.Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A filter that no document matches, and answers that are not there."""
    Service(listings, Policy(), fq=("id:3",))
    assert not caplog.messages
    Service(listings, Policy(), fq=("nofield:x",), answers=tmp_path / "none.csv")
    assert [message.partition(", ")[0] for message in caplog.messages] == [
        "no document currently matches the filters",
        f"{tmp_path / 'none.csv'}: the file is missing",
    ]


def test_a_path_begins_with_a_slash(listings: nd.Collection) -> None:
    """Else the address would be wrong."""
    with refusal(nd.ArgumentError, "argument-invalid", "'neardup'"):
        nd.serve(listings, root_path="neardup")


def test_it_describes_itself(served: Served) -> None:
    """The description is valid, names each path, and the pages load nothing from elsewhere."""
    described = served.ask("openapi.json").json
    validate(described)
    assert (described["servers"], described["security"]) == ([{"url": ""}], [])
    search = described["components"]["schemas"]["Search"]["properties"]
    assert search.keys() == set(OF_SEARCH)
    assert search["measure"]["enum"] == list(NAMES)
    assert {"/check", "/search", "/explain", "/entries", "/metrics"} < described["paths"].keys()
    for page in ("", "docs", "docs.js", "page.js", "page.css", "report.css", "words.js"):
        found = served.ask(page)
        assert found.status == 200
        assert b"://" not in found.body
        assert "default-src 'none'" in found.headers["content-security-policy"]
    assert served.ask("health").status == served.ask("ready").status == 200


def test_it_counts(served: Served) -> None:
    """Metrics count requests by path and status, and decisions."""
    before = served.metrics()
    served.ask("check", {"documents": NEW})
    served.ask("check", b"{")
    after = served.metrics()

    def added(name: str) -> float:
        return after[name] - before.get(name, 0.0)

    assert added('neardup_requests_total{path="/check",status="200"}') == 1
    assert added('neardup_requests_total{path="/check",status="400"}') == 1
    assert added('neardup_documents_total{path="/check"}') == len(NEW)
    assert added('neardup_decisions_total{action="reject"}') == 1
    assert added('neardup_request_seconds_count{path="/check"}') == 2
    assert after["neardup_solr_up"] == 1
    assert after["neardup_requests_in_flight"] == 0
    told = re.findall(r"(?m)^# TYPE (neardup_\w+)", served.ask("metrics").body.decode())
    page = (ROOT / "docs" / "serve.md").read_text("utf-8")
    listed = re.findall(r"(?m)^\| `(neardup_\w+)`", page)
    assert {name for name in told if not name.endswith("_created")} == set(listed)


def test_it_logs_neither_texts_nor_ids(listings: nd.Collection, tmp_path: Path) -> None:
    """A line for each request says what became of it, by its own id; the end is clean."""
    with serving(listings.url, tmp_path / "log") as served:
        _log_and_stop(served)


def _log_and_stop(served: Served) -> None:
    answer = served.ask("check", {"id": "id-4711", "text": "secret words"}, X_Request_Id="mine")
    assert answer.headers["x-request-id"] == "mine"
    served.ask("search", {"id": "id-4711"})
    served.ask("id-4711")
    assert served.stop(signal.SIGTERM) == 0
    said = served.log.read_text("utf-8")
    assert "4711" not in said
    assert "secret" not in said
    begun, check, search, unknown = served.lines
    assert re.fullmatch(r"serving \w+ by records: tag from 0.7", begun["message"])
    assert (check["id"], check["path"], check["status"], check["documents"]) == (
        "mine", "/check", 200, 1,
    )  # fmt: skip
    assert (search["status"], unknown["path"], unknown["status"]) == (404, "(unknown)", 404)


BAD: dict[str, tuple[str, object, int]] = {
    "no json": ("check", b"{", 400),
    "nan": ("check", b'{"id": "1", "text": "a", "x": NaN}', 400),
    "deep": ("check", b'{"id": "1", "text":' + b"[" * 5_000 + b"]" * 5_000 + b"}", 400),
    "a list": ("check", [1], 400),
    "no text": ("check", {"id": "1"}, 400),
    "no id": ("check", {"text": "a"}, 400),
    "long id": ("check", {"id": "x" * 100_000, "text": "a"}, 400),
    "number as text": ("entries", {"id": "1", "text": 5}, 400),
    "documents": ("check", {"documents": {"id": "1"}}, 400),
    "documents twice": ("check", b'{"documents": [], "documents": []}', 400),
    "too many": ("check", {"documents": [{"id": "1", "text": "a"}] * 101}, 413),
    "too large": ("check", b" " * (1 << 20) + b"{}", 413),
    "no argument": ("search", {"text": "a", "near": 1}, 400),
    "wrong type": ("search", {"text": 5}, 400),
    "query": ("search", {"text": CAFE, "fq": "((("}, 400),
    "many": ("search", {"text": CAFE, "candidates": 10**9}, 400),
    "half a query": ("search", {"text": CAFE, "fq": "near~2"}, 400),  # to Solr, this is its fault
    "no field": ("search", {"id": "3", "same": "nowhere"}, 400),
    "no way": ("search", {"text": CAFE, "by": "profile"}, 400),
    "unknown id": ("search", {"id": "\u0007"}, 404),
    "nothing": ("search", {}, 400),
    "one id": ("explain?id=1", None, 400),
    "two ids": ("explain?id=1&other_id=7&id=2", None, 400),
    "two ids in disguise": ("explain?id=1&other_id=7&%69d=2", None, 400),
    "no parameter": ("explain?id=1&other_id=7&measure=records", None, 400),
    "no parameter of a check": ("check?hold=0.5", NEW[0], 400),
    "a pattern": ("search", {"id": "1", "equal": r"(\w+\W*)*!X"}, 400),
    "a pattern of several": ("search", {"id": "1", "equal": ["numbers", r"(\w+\W*)*!X"]}, 400),
    "patterns as an object": ("search", {"id": "1", "equal": {r"(\w+\W*)*!X": 1}}, 400),
    "no pattern": ("search", {"id": "1", "equal": None}, 400),
    "path": ("nothing", {}, 404),
    "method": ("check", None, 405),
}


def test_bad_requests_are_told_what_is_wrong(served: Served) -> None:
    """Each has its status and a next step, and the service goes on."""
    for name, (path, body, status) in BAD.items():
        answer = served.ask(path, body)
        assert answer.status == status, name
        assert answer.json.keys() == {"error", "next", "code"}, name
        assert answer.json["code"] in nd.errors.CODES, name
        assert all(answer.json.values()), name
    twice = served.ask("check", BAD["documents twice"][1]).json["error"]
    assert "twice" in twice
    assert "list" not in twice
    packed = served.ask("check", gzip.compress(b"{}"), Content_Encoding="gzip")
    assert (packed.status, packed.json["code"]) == (415, "request-malformed")
    marked = served.ask("check", b"\xef\xbb\xbf" + json.dumps(NEW[0]).encode())
    assert marked.json == served.ask("check", NEW[0]).json
    mixed = served.ask("check", {"documents": [{"id": "x"}, NEW[0]]}).json["decisions"]
    assert [one["action"] for one in mixed] == ["failed", "reject"]
    assert [one.get("code") for one in mixed] == ["text-missing", None]
    assert served.ask("check", NEW[0]).status == 200
    assert not [line for line in served.lines if line.get("status", 0) >= 500]


def test_tokens_have_rights(listings: nd.Collection, tmp_path: Path) -> None:
    """Without the token 401, without the right 403; a changed file counts, a bad one does not."""
    path = tmp_path / "tokens"
    path.write_text("# clients\nfeeder c4n4ry-of-feeder check\nops c4n4ry-of-the-ops all\n")
    path.chmod(0o600)
    with serving(listings.url, tmp_path / "log", "--tokens", str(path)) as served:
        assert served.ask("check", NEW[0]).status == 401
        feeder = {"Authorization": "Bearer c4n4ry-of-feeder"}
        assert served.ask("check", NEW[0], **feeder).status == 200
        assert served.ask("metrics", **feeder).status == 403
        assert served.ask("metrics", Authorization="Bearer c4n4ry-of-the-ops").status == 200
        assert served.ask("ready").status == 200
        clients = {None, "feeder", "ops"}
        until(lambda: {line["client"] for line in served.lines if "path" in line} == clients)
        path.write_text("feeder c4n4ry-of-feeder metrics\n")
        while served.ask("metrics", **feeder).status != 200:
            assert served.process.poll() is None
        path.write_text("feeder c4n4ry\n")
        while not [line for line in served.lines if line.get("level") == "WARNING"]:
            assert served.ask("metrics", **feeder).status == 200
        served.stop()
        assert "c4n4ry" not in served.log.read_text("utf-8")


HERE = "127.0.0.1"
FOREIGN = {
    ("evil.example:{port}", None): 421,
    ("evil.example", None): 421,
    ("127.0.0.1.evil.example", None): 421,
    ("localhost.evil.example:{port}", None): 421,
    ("[", None): 421,
    ("10.0.0.1:{port}", None): 421,
    (HERE, "http://evil.example"): 403,
    (HERE, "null"): 403,
    (HERE, "http://127.0.0.1:1"): 403,
    (HERE, "http://[" + "x" * 500): 403,
    ("127.0.0.1:{port}", "https://evil.example:{port}"): 403,
    ("127.0.0.1:{port}", None): 200,
    ("LOCALHOST:{port}", None): 200,
    ("localhost.", None): 200,
    ("127.0.0.2", None): 200,
    ("[::1]:{port}", None): 200,
    ("localhost:9000", "http://localhost:9000"): 200,  # ssh -L 9000:127.0.0.1:8985
    (HERE, "http://localhost:{port}"): 200,
}
ALLOWED = {
    ("search.example", None): 200,
    ("Search.Example:8985", "https://search.example"): 200,
    ("127.0.0.1:{port}", "https://search.example"): 200,  # a proxy that sends a Host of its own
    ("other.example", None): 421,
    (HERE, "https://other.example"): 403,
}


def knock(served: Served, path: str, host: str, origin: str | None, **headers: str) -> Answer:
    """Ask for a path by this Host, as a page of that origin."""
    port = str(urlsplit(served.address).port)
    named = {"Host": host.replace("{port}", port), **headers}
    if origin is not None:
        named["Origin"] = origin.replace("{port}", port)
    return served.ask(path, **named)


def test_foreign_names_and_pages_are_refused(served: Served) -> None:
    """A page whose name leads here cannot read anything, on any path."""
    for (host, origin), status in FOREIGN.items():
        answer = knock(served, "ready", host, origin)
        assert answer.status == status, (host, origin)
        assert status == 200 or answer.json["code"] == "origin-refused"
        assert status == 200 or (answer.json["error"] and answer.json["next"])
    for path in ("", "docs", "openapi.json", "health", "metrics", "nothing", "explain?id=1"):
        assert knock(served, path, "evil.example", None).status == 421, path
    told = served.ask("search", {"text": CAFE}, Origin="http://evil.example")
    assert (told.status, CAFE in told.body.decode()) == (403, False)


def test_hosts_that_are_named(listings: nd.Collection, tmp_path: Path) -> None:
    """They count beside this machine's own; with tokens, only if some are named."""
    with serving(listings.url, tmp_path / "log", "--allow-host", "search.example") as served:
        for (host, origin), status in ALLOWED.items():
            assert knock(served, "ready", host, origin).status == status, (host, origin)
    path = tmp_path / "tokens"
    path.write_text("ops c4n4ry-of-the-ops all\n")
    token = {"Authorization": "Bearer c4n4ry-of-the-ops"}
    with serving(listings.url, tmp_path / "log", "--tokens", str(path)) as served:
        assert knock(served, "metrics", "any.example", "https://any.example", **token).status == 200
    words = ("--tokens", str(path), "--allow-host", "search.example")
    with serving(listings.url, tmp_path / "log", *words) as served:
        assert knock(served, "metrics", "any.example", None, **token).status == 421
        assert knock(served, "metrics", "search.example", None, **token).status == 200


def test_filters_cannot_choose_another_parser(listings: nd.Collection, tmp_path: Path) -> None:
    """They would read other collections: local parameters need a right of their own."""
    path = tmp_path / "tokens"
    path.write_text("one c4n4ry-of-search search\nother c4n4ry-of-params search local-params\n")
    join = f"{{!join fromIndex={listings.name} from=id to=id}}id:3"
    hidden = "".join(f"\\u{ord(sign):04x}" for sign in join)
    doubly = hidden.replace("\\", "\\\\\\\\")
    ways: list[object] = [
        join, f" \t{join}", f"+{join}", f"id:* AND ({join})", f"id:{join}", ["id:*", join],
        f'_query_:"{join}"', f'_query_:"\\{join}"', f'_query_:"{hidden}"',
        f'_query_:"_query_:\\"{doubly}\\""',
        f'_val_:"query({join})"', f"filter({join})", {"join": {"query": join}},
    ]  # fmt: skip
    with serving(listings.url, tmp_path / "log", "--tokens", str(path)) as served:

        def search(token: str, **fields: object) -> int:
            asked = {"text": CAFE, **fields}
            return served.ask("search", asked, Authorization=f"Bearer c4n4ry-of-{token}").status

        assert [search("search", fq=way) for way in ways] == [403] * len(ways)
        assert [search("search", same=way) for way in ways] == [403] * len(ways)
        assert search("search", fq={"join": {"fromIndex": listings.name}}) == 400
        assert search("search", fq='id:"{a" OR id:"!{ 3"') == search("search", fq="id:3") == 200
        assert [search("params", fq=way) for way in ways[:7]] == [200] * 7
    with serving(listings.url, tmp_path / "log") as served:  # nobody has that right
        assert served.ask("search", {"text": CAFE, "fq": join}).status == 403


def test_json_keeps_the_order_of_keys(served: Served) -> None:
    """A decision reads as docs/serve.md shows it."""
    keys = list(json.loads(served.ask("check", NEW[0]).body))
    assert keys == ["id", "action", "reason", "matches", "complete"]


def connect(served: Served) -> socket.socket:
    """A bare connection."""
    parts = urlsplit(served.address)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


def receive(one: socket.socket) -> Answer:
    """Read an answer to its end: its head may come before its body."""
    found = HTTPResponse(one)
    found.begin()
    return read_answer(found)


PATIENT = "body.REQUEST_SECONDS = 300.0"  # for a request to come
HEAD = b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"


def test_slow_clients_hold_nobody_up(listings: nd.Collection, tmp_path: Path) -> None:
    """A request that comes a byte at a time ends with 408, be it in its head or in its body."""
    begun = [HEAD % 1000, HEAD[:20]]
    # A busy machine sends all of this in two seconds.
    change = "body.REQUEST_SECONDS = 5.0"
    with (
        serving(listings.url, tmp_path / "log", change=change) as served,
        ExitStack() as opened,
    ):
        slow = [opened.enter_context(connect(served)) for _ in begun for _ in range(12)]
        for number, one in enumerate(slow):
            one.sendall(begun[number % 2])
        assert served.ask("check", NEW[0]).status == 200
        for _ in range(4):
            for one in slow:
                one.sendall(b"x")
            time.sleep(0.2)
        assert [receive(one).status for one in slow] == [408] * len(slow)


def test_a_large_body_is_not_kept(served: Served) -> None:
    """It is refused at once, by its announced size or when it has come; memory stays."""
    memory = psutil.Process(served.process.pid).memory_info
    before = memory().rss
    for head in (
        HEAD % (100 << 20),
        HEAD.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked"),
    ):
        with connect(served) as one:
            one.sendall(head)
            if b"chunked" in head:
                with suppress(OSError):  # it may have been closed by then
                    for _ in range(100):
                        one.sendall(b"%x\r\n" % (1 << 20) + b" " * (1 << 20) + b"\r\n")
            answer = receive(one)
            assert answer.status == 413
            assert answer.json["next"]
    assert memory().rss - before < 30 << 20


def test_a_thousand_connections(listings: nd.Collection, tmp_path: Path) -> None:
    """All are answered, while each has a connection of its own."""
    body = json.dumps(NEW[2]).encode()
    with (
        serving(listings.url, tmp_path / "log", change=PATIENT) as served,
        ExitStack() as opened,
    ):
        many = [opened.enter_context(connect(served)) for _ in range(1_000)]
        for one in many[::50]:
            one.sendall(HEAD % len(body) + body)
            assert receive(one).status == 200
        for one in many:
            one.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert Counter(receive(one).status for one in many) == {200: 1_000}


def test_what_is_too_much_is_refused(served: Served) -> None:
    """A flood gets 429 with Retry-After, and nobody is lost; then all is as before."""
    body = json.dumps({"documents": NEW * 20}).encode()
    flood = [connect(served) for _ in range(200)]
    for one in flood:
        one.sendall(HEAD % len(body) + body)
    answers = [receive(one) for one in flood]
    assert {one.status for one in answers} == {200, 429}
    assert all(one.headers["retry-after"] == "1" for one in answers if one.status == 429)
    assert served.ask("check", NEW[0]).status == 200
    for one in flood:
        one.close()


def begin(served: Served, client: socket.socket, head: bytes) -> None:
    """Send the head of a request, and wait until the service waits for its body."""
    client.sendall(head.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
    assert client.recv(12) == b"HTTP/1.1 100"
    while client.recv(1) != b"\n":
        pass
    assert client.recv(2) == b"\r\n"


def is_refused(served: Served) -> bool:
    """Return whether a service takes no new connections."""
    try:
        connect(served).close()
    except ConnectionRefusedError:
        return True
    return False


def test_it_answers_what_it_took_before_it_ends(listings: nd.Collection, tmp_path: Path) -> None:
    """A request under way when the signal comes is answered, and new ones are not taken."""
    body = json.dumps(NEW[0]).encode()
    with serving(listings.url, tmp_path / "log", change=PATIENT) as served, connect(served) as one:
        begin(served, one, HEAD % len(body))
        served.process.send_signal(signal.SIGTERM)
        until(lambda: is_refused(served))
        one.sendall(body)
        assert receive(one).status == 200
        assert served.process.wait(timeout=60) == 0


def test_a_second_signal_ends_at_once(listings: nd.Collection, tmp_path: Path) -> None:
    """Whatever is under way."""
    with serving(listings.url, tmp_path / "log", change=PATIENT) as served, connect(served) as one:
        begin(served, one, HEAD % 10)
        served.process.send_signal(signal.SIGINT)
        until(lambda: is_refused(served))
        served.process.send_signal(signal.SIGINT)
        served.process.wait(timeout=60)  # the request has 300 seconds


UNREAD = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2_000


def is_listening(served: Served) -> bool:
    """Return True if the service takes connections."""
    with suppress(ConnectionRefusedError):
        connect(served).close()
        return True
    return False


@pytest.mark.parametrize("signals", [1, 2])
def test_a_client_that_never_reads_keeps_it_from_no_end(
    listings: nd.Collection, tmp_path: Path, signals: int
) -> None:
    """The first signal waits for it as for others, the second does not wait."""
    change = f"server.END_SECONDS = {1 if signals == 1 else 600}"
    with serving(listings.url, tmp_path / "log", change=change) as served, connect(served) as one:
        one.sendall(UNREAD)
        until(lambda: served.lines[-1].get("path") == "/openapi.json")
        served.process.send_signal(signal.SIGTERM)
        if signals == 2:
            until(lambda: not is_listening(served))
            served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(timeout=60) == 0


def test_a_client_that_never_reads_loses_its_connection(
    listings: nd.Collection, tmp_path: Path
) -> None:
    """Or thousands of them would be all that the service takes."""
    change = "from neardup_solr.web import connection; connection.IDLE_SECONDS = 1"
    with serving(listings.url, tmp_path / "log", change=change) as served, connect(served) as one:
        process, port = psutil.Process(served.process.pid), one.getsockname()[1]

        def is_open() -> bool:
            return any(each.raddr and each.raddr.port == port for each in process.net_connections())

        one.sendall(UNREAD)
        until(lambda: served.lines[-1].get("path") == "/openapi.json")
        assert is_open()
        until(lambda: not is_open())
        assert served.ask("health").status == 200


def require_no_path(answer: Answer, near: str) -> None:
    """An answer says that there is no such path, and names the one that is meant."""
    assert (answer.status, answer.headers.get("location")) == (404, None)
    assert answer.json["next"] == f"use {near}"


NEAR_PATHS = {
    "check/": "POST /check", "/check": "POST /check", "check//": "POST /check",
    "CHECK": "POST /check", "check%2F": "POST /check", "Check/?hold=1": "POST /check",
    "search/": "POST /search", "/entries/": "POST /entries", "explain/?id=1": "GET /explain",
    "metrics/": "GET /metrics", "health/": "GET /health", "ready/": "GET /ready",
    "docs/": "GET /docs", "openapi.json/": "GET /openapi.json", "page.js/": "GET /page.js",
    "/": "GET /",
}  # fmt: skip


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nobody_is_redirected(served: Served, method: str) -> None:
    """A path that is nearly right is refused, and named; so is a method; the Host leads nowhere."""
    for path, near in NEAR_PATHS.items():
        answer = served.ask(path, method=method, Host="127.0.0.1:1")
        if method == "HEAD":
            assert answer.status == 404
        else:
            require_no_path(answer, near)
    for path in ("check", "search", "entries", "explain", "metrics", "health", "", "docs"):
        usual = "POST" if path in ("check", "search", "entries") else "GET"
        if usual != method and (usual, method) != ("GET", "HEAD"):
            answer = served.ask(path, method=method)
            assert answer.status == 405
            assert usual in answer.headers["allow"]
            assert method == "HEAD" or answer.json["next"] == f"send {usual}"


def test_a_host_that_is_no_name(listings: nd.Collection, tmp_path: Path) -> None:
    """With tokens any Host may be sent; it is not read."""
    path = tmp_path / "tokens"
    path.write_text("ops c4n4ry-of-the-ops all\n")
    with serving(listings.url, tmp_path / "log", "--tokens", str(path)) as served:
        for host in ("[", "evil.example/x", "evil.example:port", "["):
            require_no_path(served.ask("check/", NEW[0], Host=host), "POST /check")


def test_behind_a_proxy(listings: nd.Collection, tmp_path: Path) -> None:
    """Paths are known with and without the prefix, and the description has it."""
    with serving(listings.url, tmp_path / "log", "--root-path", "/neardup") as served:
        assert served.address.endswith("/neardup/")
        assert served.ask("check", NEW[0]).status == 200
        served.address = served.address.removesuffix("neardup/")
        assert served.ask("check", NEW[0]).status == 200
        assert served.ask("openapi.json").json["servers"] == [{"url": "/neardup"}]
        for path, near in {
            "neardup": "GET /neardup/", "neardup/check/": "POST /neardup/check",
            "//neardup//Check": "POST /neardup/check", "Health": "GET /neardup/health",
        }.items():  # fmt: skip
            require_no_path(served.ask(path, method="POST"), near)
        assert served.ask("neardupcheck", NEW[0]).status == 404


WRONG = {
    "--port 70000": "--port cannot be 70000; use 1 to 65535, or 0 for a free port",
    "--host 0.0.0.0": "--tokens are required to listen on 0.0.0.0",
    "--host nowhere.invalid --tokens good": "cannot be used",
    "--tokens none": "none: cannot be read (No such file or directory)",
    "--tokens bad": "bad: line 2 has an unknown right; use only the rights check, search",
    "--tokens short": "short: line 1 has a token that is too short",
    "--allow-host https://a": "--allow-host cannot be 'https://a'",
    "--allow-host a:1": "--allow-host cannot be 'a:1'",
    "--max-body 0": "--max-body cannot be 0",
    "-c nothing-of-that-name": "there is no core or collection",
    "--model bad": "bad: ",
    "--answers bad": "bad: ",
}


def test_what_is_wrong_is_one_line(
    listings: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what to do, before any request is taken; no token is shown."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good").write_text("a c4n4ry-of-the-good check\n")
    (tmp_path / "good").chmod(0o600)
    (tmp_path / "bad").write_text("a c4n4ry-of-the-bad check\nb c4n4ry-of-another write\n")
    (tmp_path / "short").write_text("a c4n4ry check\n")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = f"--port {taken.getsockname()[1]}"
        for words, expected in {**WRONG, port: "cannot be used (Address already in use)"}.items():
            given = ["--solr", listings.base, "-c", listings.name, *words.split()]
            ran = neardup("serve", *given)
            assert ran.returncode in (2, 3), words
            assert expected in ran.stderr, words
            assert ran.stderr.startswith("neardup: "), words
            assert ran.stderr.count("\n") == 1, words
            assert "c4n4ry" not in ran.stderr, words
