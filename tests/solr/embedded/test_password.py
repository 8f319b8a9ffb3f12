"""The password of the embedded Solr, as its files have it when it is started for the first time."""

from __future__ import annotations

import base64
import hashlib
import json
import stat
from pathlib import Path

import pytest

from tests.solr.embedded.conftest import FakeJava


def is_hash(kept: str, password: str) -> bool:
    """Return True for the hash and the salt of a password, as Solr compares them."""
    found, salt = map(base64.b64decode, kept.split())
    first = hashlib.sha256(salt + password.encode()).digest()
    return found == hashlib.sha256(first).digest()


@pytest.fixture
def java(path: Path) -> FakeJava:
    """A Java that runs nothing."""
    return FakeJava(path, "21")


@pytest.fixture
def server(own_home: Path) -> Path:
    """The folder of the server in its home."""
    return own_home / "server"


def rules(server: Path) -> Path:
    """The file of users and what they may do, as Solr reads it."""
    return server / "solr" / "security.json"


def password_of(server: Path) -> str:
    """The password that was chosen."""
    return (server / "password").read_text("utf-8").rstrip("\n")


def kept_hash(server: Path) -> str:
    """The only user's password as Solr's file has it."""
    users = json.loads(rules(server).read_bytes())["authentication"]["credentials"]
    assert users.keys() == {"neardup"}
    return str(users["neardup"])


# The example of Solr's reference guide.
KNOWN = "IV0EHq1OnNrj6gvRCwvFwTrZ1+z1oBbnQdiVC3otuq0= Ndd7LKvVBAaZIF0QAVi1ekCfAJXr1GGfLtRUXhgrF8c="


@pytest.mark.parametrize("password", ["SolrRocks", "pässwörd€:"])
def test_the_hash_is_that_of_solr(java: FakeJava, server: Path, password: str) -> None:
    """A password of the user's own counts, with other letters and a line break of Windows."""
    server.mkdir(exist_ok=True)
    (server / "password").write_bytes(f"{password}\r\n".encode())
    java.start()
    assert is_hash(KNOWN, "SolrRocks")
    assert is_hash(kept_hash(server), password)


def test_a_password_is_kept(java: FakeJava, server: Path) -> None:
    """It stays the same, and each layout has a salt of its own."""
    java.start()
    first, salted = password_of(server), kept_hash(server)
    assert len(first) == 32
    assert is_hash(salted, first)
    java.start()
    assert password_of(server) == first
    assert kept_hash(server) != salted
    assert is_hash(kept_hash(server), first)
    assert first not in rules(server).read_text("utf-8")


def test_a_server_that_was_started_without_one_stays_so(java: FakeJava, server: Path) -> None:
    """Nothing is asked for, and nothing is written."""
    server.mkdir(exist_ok=True)
    (server / "state.json").write_text('{"port": 0}')
    java.start()
    assert not rules(server).exists()
    assert not (server / "password").exists()


def test_nobody_else_can_read_them(java: FakeJava, server: Path) -> None:
    """Whatever the umask is; a file that somebody put there before is not written to."""
    elsewhere = server.parent / "elsewhere"
    rules(server).parent.mkdir(parents=True)
    rules(server).symlink_to(elsewhere)
    java.start()
    assert not elsewhere.exists()
    assert not rules(server).is_symlink()
    for path in (server / "password", rules(server)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
