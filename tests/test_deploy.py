"""The files for containers are what their own linters ask for; no image can be pulled here."""

from __future__ import annotations

import configparser
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import ROOT
from tests.command import neardup

DEPLOY = ROOT / "docs" / "deploy"
RULES = "{extends: default, rules: {line-length: {max: 100}, document-start: disable}}"


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a linter as a user would."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False
    )


def test_compose_is_what_its_schema_asks_for() -> None:
    """Three nodes and a ZooKeeper, by the schema of the Compose specification."""
    path = DEPLOY / "compose.yaml"
    said = run("check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path))
    assert said.returncode == 0, said.stdout + said.stderr
    services = yaml.safe_load(path.read_text())["services"]
    assert sorted(services) == ["solr1", "solr2", "solr3", "zookeeper"]
    # Nobody else reaches it, as it asks for no password.
    ports = [port for one in services.values() for port in one.get("ports", ())]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_manifest_is_what_kubernetes_takes(tmp_path: Path) -> None:
    """All but the operator's own kind, by the schemas of Kubernetes."""
    names = ("kubernetes.yaml", "follow.yaml")
    manifests = [one for name in names for one in yaml.safe_load_all((DEPLOY / name).read_text())]
    own = [one for one in manifests if one["apiVersion"].startswith("solr.apache.org/")]
    assert [one["kind"] for one in own] == ["SolrCloud"]
    path = tmp_path / "kubernetes.yaml"
    path.write_text(yaml.safe_dump_all([one for one in manifests if one not in own]))
    said = run("kubernetes_validate", "--strict", str(path))
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.mark.parametrize("name", ["compose.yaml", "follow.yaml", "kubernetes.yaml"])
def test_the_files_are_tidy(name: str) -> None:
    """By yamllint."""
    said = run("yamllint", "--strict", "-d", RULES, str(DEPLOY / name))
    assert said.returncode == 0, said.stdout


def test_what_follows_a_collection_is_a_command_that_there_is() -> None:
    """The unit and the manifest have the same options, and what the manifest's secret gives."""
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "neardup-follow.service")
    words = unit["Service"]["ExecStart"].split()[1:]
    (made,) = yaml.safe_load_all((DEPLOY / "follow.yaml").read_text())
    (container,) = made["spec"]["template"]["spec"]["containers"]
    for typed in (words, container["command"][1:]):
        done = neardup(*typed, env={"NEARDUP_SOLR_URL": "http://127.0.0.1:9/solr"})
        assert "nothing listens there" in done.stderr
    assert (unit["Service"]["Restart"], unit["Unit"]["StartLimitIntervalSec"]) == (
        "on-failure",
        "0",
    )


def test_both_run_the_version_of_solr_that_is_tested() -> None:
    """As the embedded one."""
    from neardup_solr.embedded import SOLR_VERSION

    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    cloud = next(iter(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())))
    assert compose["x-solr"]["image"] == f"solr:{SOLR_VERSION}"
    assert cloud["spec"]["solrImage"]["tag"] == SOLR_VERSION
