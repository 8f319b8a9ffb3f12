"""The password of the embedded Solr, without a Solr: its file, its hash, its rules."""

from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest

from neardup_solr.embedded.layout import Layout
from neardup_solr.embedded.password import (
    auth_header,
    choose_password,
    hash_password,
    read_credentials,
    write_security,
)


@pytest.fixture
def place(tmp_path: Path) -> Layout:
    """A home in which a Solr was laid out."""
    place = Layout(home=tmp_path)
    place.solr_home.mkdir(parents=True)
    return place


def test_the_hash_is_that_of_solr() -> None:
    """The example of Solr's reference guide: the password is SolrRocks."""
    known = (
        "IV0EHq1OnNrj6gvRCwvFwTrZ1+z1oBbnQdiVC3otuq0= Ndd7LKvVBAaZIF0QAVi1ekCfAJXr1GGfLtRUXhgrF8c="
    )
    salt = base64.b64decode(known.partition(" ")[2])
    assert hash_password("SolrRocks", salt) == known


def test_none_at_first(place: Layout) -> None:
    """Nothing is asked for, and nothing is written."""
    write_security(place)
    assert not place.security.exists()
    assert read_credentials(place) is None
    assert auth_header(place) == {}


def test_a_password_is_kept(place: Layout) -> None:
    """It stays the same, and each layout has a salt of its own."""
    choose_password(place)
    write_security(place)
    first, rules = read_credentials(place), place.security.read_bytes()
    assert first is not None
    assert len(first[1]) == 32
    choose_password(place)
    write_security(place)
    assert read_credentials(place) == first
    assert place.security.read_bytes() != rules
    assert first[1].encode() not in rules


def test_nobody_else_can_read_them(place: Layout) -> None:
    """Whatever the umask is; a file that somebody put there before is not written to."""
    choose_password(place)
    write_security(place)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (place.password, place.security)} == {
        0o600
    }
    elsewhere = place.home / "elsewhere"
    place.security.unlink()
    place.security.symlink_to(elsewhere)
    write_security(place)
    assert not elsewhere.exists()
    assert not place.security.is_symlink()


def test_only_a_server_that_was_laid_out_with_it_gets_it(place: Layout) -> None:
    """A password that was chosen since is for the next start."""
    write_security(place)
    choose_password(place)
    assert read_credentials(place) is None
