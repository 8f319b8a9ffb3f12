"""The examples of docs/serve.md and docs/clients.md: feeders, curl, nginx."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from tests import ROOT
from tests.command import neardup
from tests.services import Served, serving, until
from tests.solr import api, foreign
from tests.solr.nginx import nginx
from tests.test_examples import ADDRESS, blocks, require_output, run_console

PAGE = ROOT / "docs" / "clients.md"
SERVICE, LOCAL = "http://localhost:8985", "http://127.0.0.1:8985"
TOKENS = "feeder c4n4ry-of-feeder check search entries\nchecker c4n4ry-of-checker check\n"
FEEDER = {"Authorization": "Bearer c4n4ry-of-feeder"}
SCHEMA = foreign.SCHEMA.replace("sku", "id").replace('"body"', '"content"')
MORE = "".join(
    f'<field name="{name}" type="string" indexed="true" stored="true"/>'
    for name in ("url", "tstamp", "digest")
)
FERRY = {
    "id": "https://example.org/ferry",
    "title": "Night ferry",
    "content": "It leaves the old pier at nine and comes back before breakfast, "
    "with a band on the upper deck.",
}


@pytest.fixture(scope="module")
def pages(home: Path) -> Iterator[nd.Collection]:
    """A collection of somebody else's, with one document, prepared and annotated."""
    with foreign.collection(
        name="pages", schema=SCHEMA, more=MORE, key="<uniqueKey>id</uniqueKey>"
    ) as made:
        requests.post(f"{made.url}/update?commit=true", json=[FERRY], timeout=60).raise_for_status()
        nd.init(made, text=("title", "content"), prefix="nd_")
        prepared = nd.connect(made.base, made.name)
        nd.annotate(prepared)
        yield prepared


@pytest.fixture(scope="module")
def served(pages: nd.Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its service, which asks for a token."""
    folder = tmp_path_factory.mktemp("service")
    (folder / "tokens").write_text(TOKENS)
    words = ("--reject", "0.9", "--tokens", str(folder / "tokens"))
    with serving(pages.url, folder / "log", *words) as found:
        yield found


@pytest.fixture
def reader(
    served: Served, pages: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Who reads the page: its files lie in the folder, and its lines are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JDK_JAVA_OPTIONS", raising=False)  # java would tell that it is set
    monkeypatch.setenv("NEARDUP_TOKEN", "c4n4ry-of-feeder")
    for block in blocks(PAGE):
        if block.mark == "file":
            Path(block.note).write_text(block.text, "utf-8")

    def type_lines(word: str) -> None:
        for block in blocks(PAGE):
            if block.language == "console" and f"$ {word}" in block.text:
                text = block.text.replace(SERVICE, served.address.rstrip("/"))
                run_console(
                    text.replace(ADDRESS, pages.base), f"docs/clients.md, block {block.number}"
                )

    return type_lines


def test_curl(reader: Any) -> None:
    """The lines print what the page shows."""
    reader("curl")


def test_what_logstash_would_send(served: Served, pages: nd.Collection) -> None:
    """The configuration drops a copy and sends the rest to Solr, request by request."""
    text = next(block.text for block in blocks(PAGE) if block.note == "logstash.conf")
    ask, send = re.findall(r'url => "(.*?)"', text)
    bodies = [dict(re.findall(r'"(\w+)" => "%\{\[(\w+)\]\}"', line))
              for line in re.findall(r"(?m)^ +(?:body|mapping) => (.*)", text)]  # fmt: skip
    dropped = json.loads(re.findall(r"action\] in (\[.*?\])", text)[0])
    messages = [f"Night ferry\n{FERRY['content']}", "disk 3 of the archive was replaced at noon"]
    for number, message in enumerate(messages, start=1):
        event = {"id": f"log-{number}", "message": message}
        body, mapped = ({to: event[of] for to, of in one.items()} for one in bodies)
        asked = requests.post(ask.replace(SERVICE, served.address.rstrip("/")), json=body,
                              headers=FEEDER, timeout=60).json()  # fmt: skip
        if asked["action"] not in dropped:
            to = send.replace(ADDRESS, pages.base)
            requests.post(to, json=mapped, timeout=60).raise_for_status()
    pages.commit()
    assert [pages.count([f"id:{id}"]) for id in ("log-1", "log-2")] == [0, 1]


def curl(*words: str) -> tuple[int, str, str]:
    """The exit code of curl, the status of the last answer, and what it prints."""
    command = ["curl", "-sS", "--fail-with-body", "-w", "\n%{http_code}", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    *printed, status = done.stdout.splitlines()
    return done.returncode, status, "\n".join(printed)


def test_behind_nginx_under_a_path(pages: nd.Collection, tmp_path: Path) -> None:
    """The page's lines work; a body over the limit is refused in JSON; without it, 502."""
    block = next(block.text for block in blocks(PAGE) if block.note == "neardup.conf")
    with serving(pages.url, tmp_path / "log", "--root-path", "/neardup") as served:
        place = served.address.removesuffix("/neardup/")
        with nginx(tmp_path, front=block.replace("http://127.0.0.1:8985", place)) as fronts:
            front = f"{fronts['front']}/neardup"
            new = json.dumps({"id": "7", "text": "a ferry of another harbour"})
            code, status, said = curl(f"{front}/check", "-d", new)
            assert (code, status, json.loads(said)["action"]) == (0, "200", "allow")
            (tmp_path / "large").write_text(json.dumps({"id": "7", "text": "a " * 600_000}))
            code, status, said = curl(f"{front}/check", "-d", f"@{tmp_path / 'large'}")
            assert (code, status, "next" in json.loads(said)) == (22, "413", True), said
            page = requests.get(f"{front}/", timeout=60)
            assert page.status_code == 200
            for link in re.findall(r'(?:src|href)="(?!data:)([^"#]+)"', page.text):
                assert requests.get(requests.compat.urljoin(page.url, link), timeout=60).ok, link
            described = requests.get(f"{front}/openapi.json", timeout=60).json()
            assert described["servers"][0]["url"].rstrip("/").endswith("/neardup")
            served.stop()
            assert curl(f"{front}/ready")[:2] == (22, "502")
    assert curl(f"{served.address}ready")[0] == 7


def test_what_curl_shows_if_something_is_wrong(
    served: Served, pages: nd.Collection, tmp_path: Path
) -> None:
    """Status, message, and exit code."""
    new = ("-d", '{"id": "7", "text": "a ferry of another harbour"}')
    said = curl(f"{served.address}check", *new)
    assert said == (22, "401", said[2])
    assert '"error":"the token is missing or wrong","next":' in said[2]
    checker = ("-H", "Authorization: Bearer c4n4ry-of-checker")
    said = curl(f"{served.address}search", *checker, *new)
    assert said[:2] == (22, "403")
    assert "this token does not grant 'search'" in said[2]
    with nginx(tmp_path, solr=f"location / {{ proxy_pass {pages.base[:-5]}; }}") as fronts:
        service = serving(f"{fronts['solr']}/solr/pages", tmp_path / "log")
        alone = service.__enter__()
        assert curl(f"{alone.address}ready")[:2] == (0, "200")
    try:
        while curl(f"{alone.address}ready")[0] == 0:
            pass  # for at most two seconds
        for path, body in (("ready", ()), ("check", new)):
            code, status, printed = curl("-i", f"{alone.address}{path}", *body)
            assert (code, status) == (22, "503"), printed
            assert "retry-after:" in printed.lower()
            assert {"error", "next"} <= json.loads(printed.splitlines()[-1]).keys()
    finally:
        service.__exit__(None, None, None)


@pytest.fixture(scope="module")
def feeding(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feeding]:
    """The collection of docs/serve.md with its service, by the lines of the page's first block."""
    folder = tmp_path_factory.mktemp("feeder")
    schema, key = foreign.SCHEMA.replace('"sku"', '"key"'), "<uniqueKey>key</uniqueKey>"
    with foreign.collection(name="articles", schema=schema, key=key) as made:
        page = blocks(ROOT / "docs" / "serve.md")
        for block in page:
            if block.mark == "file":
                (folder / block.note).write_text(block.text, "utf-8")
        for name in ("feed.mjs", "Feed.java"):
            shutil.copy(ROOT / "docs" / "deploy" / name, folder)
        first, fed, *_ = (block.text for block in page if block.language == "console")
        typed = re.findall(r"(?m)^\$ neardup (.*)", first)
        for line in typed[:-1]:
            ran = neardup(*line.split(), env={"NEARDUP_SOLR_URL": made.base})
            assert ran.returncode == 0, ran.stderr
        with serving(
            made.url, folder / "log", *typed[-1].partition("articles ")[2].split()
        ) as served:
            run_console(first[first.index("$ curl") :].replace(LOCAL, served.address[:-1]), "curl")
            yield Feeding(nd.connect(made.base, made.name), served, folder, fed)


@dataclass(slots=True)
class Feeding:
    """The collection that feeders fill, its service, their files, and what the page shows."""

    solr: nd.Collection
    served: Served
    folder: Path
    shown: str

    def empty(self) -> None:
        """Delete all documents."""
        requests.post(f"{self.solr.url}/update?commit=true", json={"delete": {"query": "*:*"}})

    def require_fed(self) -> None:
        """Two documents came in, with the fields of `annotate`, and no warning about clients."""
        assert sorted(self.solr.ids()) == ["20", "24"]
        assert nd.annotate(self.solr).annotated == 0
        warnings = [line["message"] for line in self.served.lines if line.get("level") == "WARNING"]
        assert not [
            message for message in warnings if not message.startswith("Solr is unavailable")
        ]


def test_a_feeder_shows_what_the_page_says(feeding: Feeding) -> None:
    """The line of the page, typed: the same decisions and complaints in the same order."""
    feeding.empty()
    words, shown = feeding.shown.removeprefix("$ ").split("\n", 1)
    line = words.replace(LOCAL, feeding.served.address[:-1]).replace(ADDRESS, feeding.solr.base)
    ran = subprocess.run(line, shell=True, cwd=feeding.folder, stderr=subprocess.STDOUT,
                         stdout=subprocess.PIPE, text=True, timeout=120)  # fmt: skip
    require_output(shown, ran.stdout, line)
    assert ran.returncode == 1
    feeding.require_fed()


@pytest.mark.parametrize("program", ["node feed.mjs", "java Feed.java"])
def test_a_feeder_survives_a_bad_document_and_an_outage(feeding: Feeding, program: str) -> None:
    """After a 400 of the service and one of Solr it goes on, after 503 it sends again."""
    feeding.empty()
    words = [*program.split(), feeding.served.address[:-1], feeding.solr.url]
    log, server = feeding.folder / "errors", api.process(feeding.solr.base)
    with log.open("w") as errors, subprocess.Popen(
        words, cwd=feeding.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
        text=True, env=os.environ | {"JDK_JAVA_OPTIONS": ""},
    ) as feeder:  # fmt: skip
        assert feeder.stdin is not None
        assert feeder.stdout is not None
        try:
            lines = (feeding.folder / "new.jsonl").read_text("utf-8").splitlines(keepends=True)
            for place, line in enumerate(lines):
                if place == 3:
                    until(lambda: log.read_text().count("left out") == 2)
                    server.suspend()
                    until(lambda: feeding.served.ask("ready").status == 503)
                feeder.stdin.write(line)
                feeder.stdin.flush()
                if place == 3:
                    until(lambda: "503, again in" in log.read_text())
                    server.resume()
            said, _ = feeder.communicate(timeout=120)
        finally:
            server.resume()
            feeder.kill()
    decisions = re.findall(r"(2\d)\b.*?\b(allow|tag|hold|reject)\b", said)
    assert decisions == [("20", "allow"), ("22", "allow"), ("23", "reject"), ("24", "allow")]
    refused = re.findall(r"left out: (.*)", log.read_text())
    assert [json.loads(line)["key"] for line in refused] == ["21", "22"]
    assert feeder.returncode == 1
    feeding.require_fed()
