"""The files for containers and systemd: by their own linters, and their commands for real.

No image can be pulled here: that of the service is built step by step, without a container.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

import neardup_solr as nd
from neardup_solr import Collection
from neardup_solr.testing import SIZES
from tests import ROOT
from tests.command import NEARDUP, neardup
from tests.refusals import refusal
from tests.services import Served, serving

DEPLOY = ROOT / "docs" / "deploy"
RULES = "{extends: default, rules: {line-length: {max: 100}, document-start: disable}}"


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a linter as a user would."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False
    )


def load(name: str) -> list[dict[str, Any]]:
    """The documents of a file."""
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


@pytest.mark.parametrize("name", ["compose.yaml", "compose-serve.yaml"])
def test_compose_is_what_its_schema_asks_for(name: str) -> None:
    """By the schema of the Compose specification; no port is open to other machines."""
    said = run("check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(DEPLOY / name))
    assert said.returncode == 0, said.stdout + said.stderr
    (made,) = load(name)
    ports = [port for one in made["services"].values() for port in one.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_manifest_is_what_kubernetes_takes(tmp_path: Path) -> None:
    """All but the operator's own kind, by the schemas of Kubernetes."""
    names = ("kubernetes.yaml", "follow.yaml", "serve.yaml")
    manifests = [one for name in names for one in load(name)]
    own = [one for one in manifests if one["apiVersion"].startswith("solr.apache.org/")]
    assert [one["kind"] for one in own] == ["SolrCloud"]
    path = tmp_path / "kubernetes.yaml"
    path.write_text(yaml.safe_dump_all([one for one in manifests if one not in own]))
    said = run("kubernetes_validate", "--strict", str(path))
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_files_are_tidy() -> None:
    """By yamllint."""
    names = map(str, sorted(DEPLOY.glob("*.yaml")))
    said = run("yamllint", "--strict", "-d", RULES, *names)
    assert said.returncode == 0, said.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="hadolint has no wheel for Windows")
def test_the_image_is_what_hadolint_asks_for() -> None:
    """Its shell as well, by shellcheck."""
    command = [str(Path(sys.executable).with_name("hadolint")), str(DEPLOY / "Dockerfile")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd")
@pytest.mark.parametrize("name", ["neardup-follow.service", "neardup-serve.service"])
def test_the_unit_is_what_systemd_takes(name: str, tmp_path: Path) -> None:
    """With a command that is there."""
    there = (DEPLOY / name).read_text().replace("/opt/neardup/bin/neardup", sys.executable)
    (tmp_path / name).write_text(there)
    command = ["systemd-analyze", "verify", str(tmp_path / name)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")


def read_unit(name: str) -> configparser.ConfigParser:
    """A unit of systemd, whose keys may come several times."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / name)
    return unit


def command_of(name: str) -> list[str]:
    """The words after `neardup` by which a unit, a manifest or the compose file does its work."""
    if name.endswith(".service"):
        return read_unit(name)["Service"]["ExecStart"].split()[1:]
    if name.startswith("compose"):
        return list(load("compose-serve.yaml")[0]["services"][name.split()[1]]["command"])
    (container,) = load(name)[0]["spec"]["template"]["spec"]["containers"]
    return list(container["command"][1:])


FOLLOWING = ["neardup-follow.service", "follow.yaml", "compose follow"]
SERVING = ["neardup-serve.service", "serve.yaml", "compose serve"]


@pytest.mark.parametrize("name", [*FOLLOWING, *SERVING])
def test_what_is_run_is_a_command_that_there_is(name: str) -> None:
    """Each of its options is known: it ends as there is no Solr, or no file of tokens."""
    done = neardup(*command_of(name), env={"NEARDUP_SOLR_URL": "http://127.0.0.1:9/solr"})
    reason = "tokens: cannot be read" if name in SERVING else "nothing is listening"
    assert reason in done.stderr


@pytest.mark.parametrize("name", ["neardup-follow.service", "neardup-serve.service"])
def test_a_unit_starts_again_after_a_failure_alone(name: str) -> None:
    """As often as it takes."""
    unit = read_unit(name)
    assert unit["Service"]["Restart"] == "on-failure"
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"


TOKEN = "c4n4ry-of-the-feeder"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
NEW = {"id": "new", "text": "Blue Door Cafe, 12 Harbour Street"}


def served_by(words: Sequence[str], solr: Collection, folder: Path) -> Any:
    """Serve a collection as words say that have another one, and tokens elsewhere."""
    assert words[words.index("serve") - 1 : words.index("serve")] in ([], ["--plain-http"])
    text = " ".join(words[words.index("serve") + 1 :])
    text, count = re.subn(r"(-c |--collection=)\w+", "", text)
    assert count == 1
    tokens = folder / "tokens"
    tokens.write_text(f"feeder {TOKEN} check\n")
    text, count = re.subn(r"(?<=--tokens[ =])\S+", str(tokens), text)
    assert count == 1
    return serving(solr.url, folder / "log", *text.split())


def ask(served: Served, path: str, body: object = None) -> tuple[int, Any]:
    """Send a request with the token to this machine, whatever address it listens on."""
    served.address = served.address.replace("0.0.0.0", "127.0.0.1")
    answer = served.ask(path, body, **BEARER)
    return answer.status, answer.json


@pytest.mark.parametrize("name", [SERVING[0], pytest.param(SERVING[1], marks=pytest.mark.slow)])
def test_it_serves_as_the_unit_and_the_manifest_say(
    name: str, solr: Collection, tmp_path: Path
) -> None:
    """With a real Solr: probes need no token, requests do, and it ends well."""
    with served_by(command_of(name), solr, tmp_path) as served:
        assert ask(served, "check", NEW)[1]["action"] == "allow"
        for path in ("health", "ready"):
            assert served.ask(path).status == 200
        assert served.ask("check", NEW).status == 401
        assert served.stop() == 0


def test_the_probes_are_those_of_the_service() -> None:
    """Alive by /health, ready by /ready, and there is time to end."""
    deployment, service = load("serve.yaml")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    paths = [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")]
    assert paths == ["/health", "/ready"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert container["ports"][0]["containerPort"] == service["spec"]["ports"][0]["port"] == 8985
    seconds = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] >= seconds + 30
    assert int(read_unit("neardup-serve.service")["Service"]["TimeoutStopSec"]) > 30


@pytest.mark.slow
def test_the_services_of_compose_work_together(solr: Collection, tmp_path: Path) -> None:
    """The lines at its top: a document that is sent gets its fields, and a copy is told."""
    (made,) = load("compose-serve.yaml")
    (check,) = (one for one in made["services"].values() if "python" in str(one["healthcheck"]))
    _, _, *asks = check["healthcheck"]["test"]
    with served_by(command_of("compose serve"), solr, tmp_path) as served:
        assert ask(served, "check", NEW)[1]["action"] == "allow"
        port = served.address.rstrip("/").rpartition(":")[2]
        asks = [word.replace("8985", port) for word in asks]
        assert subprocess.run([sys.executable, *asks], check=False).returncode == 0
        words = [word for word in command_of("compose follow") if "--collection" not in word]
        follow = subprocess.Popen([*NEARDUP, *words, "--solr", solr.url])
        try:
            body = [{"id": "1", "content": NEW["text"]}]
            requests.post(f"{solr.url}/update?commit=true", json=body, timeout=60)
            end = time.monotonic() + 60
            while ask(served, "check", NEW)[1].get("action") != "reject":
                assert time.monotonic() < end, "it takes too long"
                time.sleep(0.1)
        finally:
            follow.terminate()
            assert follow.wait(60) == 0
        served.stop()
        assert (
            subprocess.run(
                [sys.executable, *asks], check=False, stderr=subprocess.DEVNULL
            ).returncode
            == 1
        )


def steps(stage: int) -> Iterator[tuple[str, str]]:
    """The instructions of a stage of the image, each with its words."""
    text = re.sub(r"(?m)^#.*\n", "", (DEPLOY / "Dockerfile").read_text())
    text = re.sub(r"\\\n\s*", " ", text)
    for line in text.split("FROM ")[1 + stage].splitlines()[1:]:
        if line:
            word, _, rest = line.partition(" ")
            yield word, rest


@pytest.mark.slow
def test_the_image_step_by_step(
    solr: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it copies and runs makes an environment that serves, and that stays as it was made."""
    places = {"/opt/neardup": str(tmp_path / "made"), "/source": str(tmp_path / "source")}

    def here(words: str) -> str:
        for place, folder in places.items():
            words = words.replace(place, folder)
        return words

    for name in [name for name in os.environ if name.startswith(("PYTHON", "NEARDUP_", "NUMBA_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "source").mkdir()
    for word, rest in steps(0):
        if word == "COPY":
            *names, to = here(rest).split()
            for name in names:
                source, target = ROOT / name, Path(to)
                if source.is_dir():
                    unwanted = shutil.ignore_patterns("__pycache__", "x86-64-*")
                    shutil.copytree(source, target, ignore=unwanted)
                else:
                    shutil.copy(source, target)
        else:
            assert word == "RUN"
            ran = here(rest).replace("python -m venv", f"{sys.executable} -m venv")
            done = subprocess.run(ran, shell=True, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
    made = dict(steps(1))
    assert made["COPY"].split() == ["--from=build", "/opt/neardup", "/opt/neardup"]
    assert "PYTHONDONTWRITEBYTECODE=1" in made["ENV"]
    folder = tmp_path / "made"
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        assert len(list(folder.rglob("kernel/x86-64-*"))) == 1
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    (tmp_path / "tokens").write_text(f"feeder {TOKEN} check\n")
    (program,) = json.loads(made["ENTRYPOINT"])
    command, *words = json.loads(made["CMD"].replace("/run/secrets", str(tmp_path)))
    assert command == "serve"
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    program = str(folder / "bin" / program)
    with serving(solr.url, tmp_path / "log", *words, program=program) as served:
        assert ask(served, "check", NEW)[1]["action"] == "allow"
        _, asks = made["HEALTHCHECK"].split(" CMD ")
        asks = asks.replace("8985", served.address.rstrip("/").rpartition(":")[2])
        assert subprocess.run(json.loads(asks), check=False).returncode == 0
        assert served.stop() == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_all_run_the_version_of_solr_that_is_tested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the embedded one, whose download says which it is."""
    monkeypatch.setenv("NEARDUP_HOME", str(tmp_path))
    for name in ("NEARDUP_SOLR_URL", "NEARDUP_SOLR_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(SIZES, "download_pauses", ())
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    told: list[str] = []
    with refusal(nd.errors.ServerError, "download-failed"):
        nd.connect(on_started=told.append)
    (version,) = re.findall(r"Solr (\d+\.\d+\.\d+) ", told[0])
    assert load("compose.yaml")[0]["x-solr"]["image"] == f"solr:{version}"
    alone = load("compose-serve.yaml")[0]["services"]["solr"]
    assert alone["image"] == f"solr:{version}"
    assert load("kubernetes.yaml")[0]["spec"]["solrImage"]["tag"] == version


def test_prometheus_is_asked_for_metrics_that_there_are() -> None:
    """The ```yaml of the page can be read, and names metrics of its table."""
    page = (ROOT / "docs" / "serve.md").read_text("utf-8")
    (block,) = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    asked = {
        name
        for rule in yaml.safe_load(block)["groups"][0]["rules"]
        for name in re.findall(r"neardup_\w+", rule["expr"])
    }
    assert len(asked) == 3
    assert asked <= set(re.findall(r"^\| `(neardup_\w+)`", page, re.MULTILINE))
