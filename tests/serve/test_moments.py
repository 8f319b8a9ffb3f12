"""The service when its collection changes or goes, or Solr is silent, restarts or refuses it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
import requests

import neardup_solr as nd
from tests.command import neardup
from tests.conftest import Cores
from tests.faults.killer import kill_solr
from tests.hostile import HOSTILE, MORE
from tests.serve.test_serve import CAFE, LISTINGS, as_decisions
from tests.services import Answer, Served, serving, until
from tests.solr import api, foreign
from tests.solr.nginx import nginx

ALLOWANCE = 20.0  # for a busy machine
SECONDS = 30.0  # for what takes a machine with time one or two
LIMITS = ("--hold", "0.8", "--tag", "0.5")
NEAR = {"id": "near", "text": f"{CAFE} number 3 x"}


@pytest.fixture(scope="module")
def changing(core_pool: Cores) -> Iterator[nd.Collection]:
    """A core that tests fill and change."""
    core = core_pool.take()
    yield core
    core_pool.give_back(core.name)


@pytest.fixture(scope="module")
def served(changing: nd.Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its service, which is there before any document is."""
    log = tmp_path_factory.mktemp("served") / "log"
    with serving(changing.url, log, *LIMITS) as found:
        yield found


@pytest.fixture
def full(changing: nd.Collection) -> nd.Collection:
    """The core with twenty listings and no other documents."""
    changing.delete_query("*:*")
    nd.index(LISTINGS, changing)
    return changing


def test_the_address_is_on_standard_output(served: Served) -> None:
    """For programs, as it is no terminal; the line for people is on standard error."""
    assert served.log.with_name("address").read_text() == f"{served.address}\n"


def require_refused(answer: Answer) -> None:
    """An answer says to come again, and what to do."""
    assert answer.status == 503, answer.body
    assert answer.headers["retry-after"] == "1"
    assert answer.json.keys() == {"error", "next", "code"}
    assert all(answer.json.values())


def settle(served: Served, solr: nd.Collection, *, has_gone: bool = False) -> None:
    """Wait until a document is decided about as the gate does; until then it is refused."""
    (expected,) = as_decisions([NEAR], solr)
    assert has_gone or expected["action"] == "hold"

    def counted(answer: Answer) -> bool:
        """Every five seconds: what had no signature a moment ago may still count."""
        return "unsigned" in answer.json

    def is_right() -> bool:
        answer = served.ask("check", NEAR)
        if answer.status == 200:
            assert answer.json == expected | {
                name: answer.json[name] for name in ("complete", "unsigned") if counted(answer)
            }
            return not counted(answer)
        require_refused(answer)
        return False

    until(is_right)


def test_hostile_ids_and_texts(served: Served, changing: nd.Collection) -> None:
    """They are found, compared and explained by exactly these ids; filters are at most refused."""
    ids = [*HOSTILE, *MORE]
    documents = [{"id": id, "text": f"{CAFE} number {n}"} for n, id in enumerate(ids)]
    changing.delete_query("*:*")
    nd.index(documents, changing)
    made = served.ask("check", {"documents": documents}).json["decisions"]
    assert made == as_decisions(documents, changing)
    assert [one["id"] for one in made] == ids
    entries = served.ask("entries", {"documents": documents}).json["entries"]
    assert [one["id"] for one in entries] == ids
    texts = served.ask("check", {"documents": [{"id": "x", "text": id} for id in ids]})
    assert {one["action"] for one in texts.json["decisions"]} == {"allow"}
    for id in ids:
        found = served.ask("search", {"id": id, "by": "bands", "candidates": 3})
        assert (found.status, len(found.json["matches"])) == (200, 3), id
        assert id not in [match["id"] for match in found.json["matches"]]
        asked = served.ask("search", {"text": CAFE, "by": "bands", "fq": id})
        assert asked.status in ((403,) if "{!" in id else (200, 400)), id
    for id in HOSTILE[1:]:
        why = served.ask(f"explain?id={quote(id, safe='')}&other_id=plain")
        assert (why.status, why.json.get("id")) == (200, id)


def test_settings_that_change(served: Served, full: nd.Collection) -> None:
    """Other bands, other shingles, no documents, no collection, a new one: no wrong decision."""
    settle(served, full)
    nd.reband(full, bands=20, rows=6)
    settle(served, full)
    full.delete_query("*:*")
    full.commit()
    settle(served, full, has_gone=True)
    require_refused(served.ask("search", {"text": CAFE}))
    nd.index(LISTINGS, full, settings={"shingle_size": 2, "family": "xor"})
    settle(served, full)
    until(lambda: b"words2 xor" in served.ask("entries", NEAR).body)
    api.drop(full)
    for path, body in {
        "check": NEAR,
        "search": {"text": CAFE},
        "explain?id=1&other_id=2": None,
    }.items():
        require_refused(served.ask(path, body))
    until(lambda: served.ask("ready").status == 503)
    assert "there is no core" in served.ask("entries", NEAR).json["error"]
    new = nd.connect(full.base, full.name)
    nd.init(new)
    nd.index(LISTINGS, new)
    settle(served, new)
    until(lambda: served.ask("ready").status == 200)
    assert b"words3 affine" in served.ask("entries", NEAR).body


def test_another_collection_by_the_same_name(home: Path, tmp_path: Path) -> None:
    """Another text field is noticed soon, another prefix at once; no field is mixed up."""
    with foreign.collection() as first, foreign.collection() as second:
        for solr, field in ((first, "body"), (second, "title")):
            rows = [{"sku": one["id"], field: one["text"]} for one in LISTINGS]
            requests.post(f"{solr.url}/update?commit=true", json=rows, timeout=60)
            nd.init(solr, text=(field,), prefix="nd_")
            nd.annotate(nd.connect(solr.base, solr.name))
        with serving(first.url, tmp_path / "log", *LIMITS) as served:

            def is_right() -> bool:
                return bool(served.ask("check", NEAR).json["matches"] == expected["matches"])

            api.admin(first.base, "cores", action="SWAP", core=first.name, other=second.name)
            solr = nd.connect(first.base, first.name)
            (expected,) = as_decisions([NEAR], solr)
            until(is_right, seconds=5)  # names are looked at twice a second
            nd.strip(solr)
            require_refused(served.ask("check", NEAR))
            nd.init(solr, remove=True)
            nd.init(solr, text=("title",), prefix="near_")
            solr = nd.connect(solr.base, solr.name)
            nd.annotate(solr, settings={"shingle_size": 2})
            settle(served, solr)
            (entry,) = served.ask("entries", NEAR).json["entries"]
            assert all(name == "sku" or name.startswith("near_") for name in entry)
            assert entry["near_signature_settings"].startswith("n2 words2 ")


@pytest.mark.slow
def test_a_silent_solr(home: Path, served: Served, full: nd.Collection) -> None:
    """Readiness tells within two seconds, requests are answered, and it goes on by itself."""
    settle(served, full)
    solr = api.process(full.base)
    solr.suspend()
    try:
        began = time.monotonic()
        until(lambda: served.ask("ready").status == 503)
        assert time.monotonic() - began < 2 + ALLOWANCE
        require_refused(served.ask("check", NEAR))
        assert served.ask("entries", NEAR).status == 200
        assert served.ask("health").status == 200
    finally:
        solr.resume()
    settle(served, full)


@pytest.mark.slow
@pytest.mark.parametrize("is_killed", [True, False], ids=["killed", "stopped"])
def test_solr_restarts(home: Path, served: Served, full: nd.Collection, is_killed: bool) -> None:
    """Readiness tells within two seconds; each request has an answer, and no decision is wrong."""
    settle(served, full)
    began = time.monotonic()
    if is_killed:
        assert kill_solr()
    else:
        assert neardup("solr", "stop").returncode == 0
    until(lambda: served.ask("ready").status == 503)
    if is_killed:
        assert time.monotonic() - began < 2 + ALLOWANCE
    require_refused(served.ask("check", NEAR))
    started = neardup("solr", "start", "--port", str(urlsplit(full.base).port))
    assert started.returncode == 0, started.stderr
    settle(served, full)
    assert served.ask("ready").status == 200


def test_what_is_wrong_is_told_until_it_is_mended(
    full: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password that Solr refuses, and a file of answers that cannot be read."""
    users, answers = tmp_path / "users", tmp_path / "answers.jsonl"
    users.write_text("me:{PLAIN}good\n")
    monkeypatch.setenv("NEARDUP_SOLR_USER", "me")
    monkeypatch.setenv("NEARDUP_SOLR_PASSWORD", "good")
    asks = f'auth_basic "Solr"; auth_basic_user_file {users};'
    passes = f"location /solr/ {{ proxy_pass {full.base}/; }}"
    words = (*LIMITS, "--answers", str(answers))
    with (
        nginx(tmp_path, front=f"{asks} {passes}") as fronts,
        serving(
            f"{fronts['front']}/solr/{full.name}", tmp_path / "log", *words,
            change="service.THOROUGH_EVERY = 2",
        ) as served,
    ):  # fmt: skip
        for path, bad, good, said in (
            (users, "me:{PLAIN}other\n", "me:{PLAIN}good\n", "HTTP 401"),
            (answers, "[1]\n", "", str(answers)),
        ):
            settle(served, full)
            path.write_text(bad)
            until(lambda: served.ask("ready").status == 503)
            answer = served.ask("check", NEAR)
            require_refused(answer)
            assert said in answer.json["error"]
            assert "good" not in answer.body.decode()
            path.write_text(good)
        settle(served, full)
        until(lambda: served.log.read_text("utf-8").count("available again after") == 2)
        assert "PLAIN" not in served.log.read_text("utf-8")
        lines = [line["message"] for line in served.lines if "level" in line]
        ends = [at for at, line in enumerate(lines) if "available again after" in line]
        assert [said in lines[at - 1] for at, said in zip(ends, ("401", str(answers)), strict=True)]
        assert all(re.search(r"after [\d.]+ s; [1-9][\d,]* requests", lines[at]) for at in ends)
        assert 503 not in {line.get("status") for line in served.lines}
