"""Which rights each command needs: the table of docs/security.md, measured on a Solr with roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import requests

from tests import ROOT
from tests.command import neardup
from tests.solr.cloud import with_jars

# A Solr of its own, and each command as each user.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]
NAME, NEW = "rights", "init of a new collection"
ROLES = {"reads": ["r"], "writes": ["w"], "both": ["r", "w"], "administrator": ["admin"]}
PERMISSIONS = {"read": "r", "schema-read": "rw", "update": "w"}
COMMANDS: dict[str, Sequence[str]] = {
    "search": ["search", "--id", "1"],
    "report": ["report"],
    "duplicates": ["duplicates"],
    "duplicates --mark": ["duplicates", "--mark"],
    "explain": ["explain", "1", "2"],
    "tune": ["tune"],
    "evaluate": ["evaluate", "known.tsv"],
    "answer": ["answer", "1", "2", "same", "--answers", "answers.jsonl"],
    "gate": ["gate", "more.csv"],
    "doctor": ["doctor"],
    "lint": ["lint"],
    "index": ["index", "more.csv"],
    "gate --index": ["gate", "more.csv", "--index"],
    "delete": ["delete", "9"],
    "annotate": ["annotate"],
    "reband": ["reband", "--bands", "16", "--band-rows", "4"],
    "strip": ["strip"],
    "init": ["init"],
    NEW: ["init", "-c", "fresh"],
}


@pytest.fixture(scope="module")
def guarded(
    home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The address of a Solr that knows these roles, and its administrator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEARDUP_HOME", str(with_jars(home, tmp_path_factory.mktemp("guarded"))))
        said = neardup("solr", "start").stdout
        [address] = re.findall(r"at (http://\S+)", said)
        [path] = re.findall(r"with the password in (.*)", said)
        own = ("neardup", Path(path).read_text("utf-8").rstrip())

        def change(part: str, **commands: object) -> None:
            url = f"{address}/admin/{part}"
            requests.post(url, json=commands, auth=own, timeout=60).raise_for_status()

        change("authentication", **{"set-user": dict.fromkeys(ROLES, "pw")})
        change("authorization", **{"set-user-role": ROLES})
        for name, roles in PERMISSIONS.items():
            rule = {"name": name, "role": [*roles, "admin"], "before": 1}
            change("authorization", **{"set-permission": rule})
        yield address, own
        assert neardup("solr", "stop").returncode == 0


@pytest.fixture(scope="module")
def table() -> dict[str, set[str]]:
    """The table of the page: the permissions that each command needs."""
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    lines = page.partition("<!-- rights -->\n")[2].partition("<!-- /rights -->")[0].splitlines()
    rows = [[re.findall("`(.+?)`", cell) for cell in line.strip("|").split("|")] for line in lines]
    return {command: set(needed) for commands, needed in rows[2:] for command in commands}


@pytest.mark.parametrize("role", ROLES)
def test_the_table_is_what_happens(
    role: str,
    guarded: tuple[str, tuple[str, str]],
    table: dict[str, set[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command does its work, or its line names what is not allowed and whom to ask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEARDUP_SOLR_URL", guarded[0])
    Path("all.csv").write_text("id,text\n1,one two three four\n2,one two three five\n3,else\n")
    Path("more.csv").write_text("id,text\n9,one two three six\n")
    Path("known.tsv").write_text("1\t2\n")

    def run(user: str, password: str, *words: str) -> tuple[int, str]:
        login = {"NEARDUP_SOLR_USER": user, "NEARDUP_SOLR_PASSWORD": password}
        name = () if "-c" in words else ("-c", NAME)
        ran = neardup(*words, *name, env=login)
        return ran.returncode, ran.stderr

    begin = ("init", "delete --query *:* --yes", "index all.csv")
    for line in begin:
        code, said = run(*guarded[1], *line.split())
        assert code == 0, said
    found = {}
    for name, words in COMMANDS.items():
        code, said = run(role, "pw", *words)
        found[name] = code == 0
        if code:
            assert "(HTTP 403); ask its administrator for a role with" in said, (name, said)
    code, said = run(role, "pw", "doctor", "-c", "nowhere")
    assert code, said
    assert "'nowhere'" in said, said  # Solr says 403 of a collection that does not exist
    granted = {name for name, roles in PERMISSIONS.items() if set(roles) & set(ROLES[role])}
    allowed = {
        command: role == "administrator" or needed <= granted for command, needed in table.items()
    }
    assert found == allowed | {NEW: allowed["init"]}
