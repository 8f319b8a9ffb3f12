"""Where user and password come from, which counts, and to whom they may not go."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import neardup_solr as nd
from tests.faults.scripted import EMPTY, Answer, answering
from tests.unit.solr.conftest import Door

NAMES = ("USER", "PASSWORD", "PASSWORD_FILE", "PLAIN_HTTP")
SetTo = Callable[..., None]
SECRET = "pass wörd€:/@"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests."""
    for name in NAMES:
        monkeypatch.delenv(f"NEARDUP_SOLR_{name}", raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))


@pytest.fixture
def set_to(monkeypatch: pytest.MonkeyPatch) -> SetTo:
    """Sets variables by the end of their names."""

    def call(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"NEARDUP_SOLR_{name}", value)

    return call


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    """A file that holds the password, for its owner alone."""
    path = tmp_path / "password"
    path.write_text(f"{SECRET}\n", encoding="utf-8")
    path.chmod(0o600)
    return path


Found = Callable[..., tuple[str, str] | None]


@pytest.fixture
def found(door: Door) -> Found:
    """Connects, with these before the host, and gives the user and password that are sent."""

    def connect(userinfo: str = "") -> tuple[str, str] | None:
        nd.connect(door.address.replace("://", f"://{userinfo}@" if userinfo else "://"), "x")
        return door.credentials[-1]

    return connect


def test_none(found: Found) -> None:
    """Nothing is set: nothing is sent."""
    assert found() is None


def test_address(found: Found, set_to: SetTo) -> None:
    """Both in the address count more than any variable."""
    set_to(USER="other", PASSWORD="other")
    assert found("us%40er:p%2Fw") == ("us@er", "p/w")
    assert found(":token") == ("other", "token")


def test_a_user_alone_in_the_address(found: Found, set_to: SetTo) -> None:
    """Its password is looked for; if there is none it is empty."""
    assert found("me") == ("me", "")
    set_to(USER="other", PASSWORD=SECRET)
    assert found("me") == ("me", SECRET)


def test_variables(found: Found, set_to: SetTo) -> None:
    """User and password as they are."""
    set_to(USER="me", PASSWORD=SECRET)
    assert found() == ("me", SECRET)


def test_file(found: Found, set_to: SetTo, secret_file: Path) -> None:
    """The only line of the file; the variable with the password itself counts more."""
    set_to(USER="me", PASSWORD_FILE=str(secret_file))
    assert found() == ("me", SECRET)
    set_to(PASSWORD="first")
    assert found() == ("me", "first")


def test_netrc(found: Found, set_to: SetTo, tmp_path: Path) -> None:
    """The entry of the host, if nothing else is set."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login you password hidden\n")
    netrc.chmod(0o600)
    assert found() == ("you", "hidden")
    set_to(USER="me", PASSWORD=SECRET)
    assert found() == ("me", SECRET)


def test_a_file_of_an_editor_that_marks_utf8(
    found: Found, set_to: SetTo, secret_file: Path
) -> None:
    """A byte order mark at its start is no part of the password."""
    secret_file.write_bytes(b"\xef\xbb\xbf" + SECRET.encode() + b"\r\n")
    set_to(USER="me", PASSWORD_FILE=str(secret_file))
    assert found() == ("me", SECRET)


def test_what_is_no_regular_file(found: Found, set_to: SetTo, tmp_path: Path) -> None:
    """A pipe to which nobody writes is not waited for, and no mode of a device is to be changed."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (pipe, Path("/dev/zero")):
        set_to(USER="me", PASSWORD_FILE=str(path))
        with pytest.raises(nd.SettingsError, match="regular file"):
            found()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o644])
def test_a_file_that_others_can_read(
    found: Found, set_to: SetTo, secret_file: Path, mode: int
) -> None:
    """It is refused with what to type."""
    secret_file.chmod(mode)
    set_to(USER="me", PASSWORD_FILE=str(secret_file))
    with pytest.raises(nd.SettingsError, match=f"chmod 600 {secret_file}$"):
        found()
    secret_file.chmod(0o400)
    assert found() == ("me", SECRET)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a single line"),
        (b"\n", "is not a single line"),
        (b"canary\nmore\n", "is not a single line"),
        (b"canary" * 1_000, "is not a single line"),
        (b"canary\xff", "is not UTF-8 text"),
        (None, r"cannot be read \(No such file or directory\)"),
    ],
)
def test_a_file_without_a_password(
    found: Found, set_to: SetTo, secret_file: Path, content: bytes | None, reason: str
) -> None:
    """The line names the file and shows nothing of it."""
    set_to(USER="me", PASSWORD_FILE=str(secret_file))
    if content is None:
        secret_file.unlink()
    else:
        secret_file.write_bytes(content)
    with pytest.raises(nd.SettingsError, match=f"_PASSWORD_FILE, {reason};"):
        found()


def test_half_of_it(found: Found, set_to: SetTo) -> None:
    """A user without a password and a password without a user are told at once."""
    set_to(PASSWORD=SECRET)
    with pytest.raises(nd.SettingsError, match=r"PASSWORD .*_USER"):
        found()
    set_to(PASSWORD="", USER="me")
    with pytest.raises(nd.SettingsError, match=r"USER .*_PASSWORD"):
        found()


PLAIN = "http://me:pw@solr.invalid:8983/solr"


@pytest.mark.parametrize("host", ["solr.example.org", "10.0.0.7", "[2001:db8::1]", "0.0.0.0"])
def test_no_password_over_plain_http(host: str) -> None:
    """To another machine it is refused before anything is asked."""
    bare = host.strip("[]")
    with pytest.raises(nd.ArgumentError) as caught:
        nd.connect(f"http://me:pw@{host}:8983/solr", "x")
    for name in ("`address`", bare, "https://"):
        assert name in str(caught.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
def test_a_password_stays_on_this_machine(host: str) -> None:
    """Nobody listens between a machine and itself."""
    with pytest.raises(nd.SolrUnreachable):
        nd.connect(f"http://me:pw@{host}:1/solr", "x")


def test_every_source_is_kept_from_plain_http(set_to: SetTo, tmp_path: Path) -> None:
    """The line says where the password was found: it may be forgotten there."""
    bare = PLAIN.replace("me:pw@", "")
    with pytest.raises(nd.SolrUnreachable):
        nd.connect(bare)
    headers = {"authorization": "Basic bWU6cHc="}
    with pytest.raises(nd.ArgumentError, match="a header"):
        nd.connect(bare, headers=headers)
    netrc = tmp_path / "netrc"
    netrc.write_text("default login you password hidden\n")
    netrc.chmod(0o600)
    with pytest.raises(nd.ArgumentError, match=r"~/\.netrc"):
        nd.connect(bare)
    set_to(USER="me", PASSWORD="pw")
    with pytest.raises(nd.ArgumentError, match=r"\$NEARDUP_SOLR_PASSWORD"):
        nd.connect(bare)


def test_what_is_refused_is_named_by_where_it_was_found(
    found: Found, set_to: SetTo, tmp_path: Path
) -> None:
    """A password that is out of date may come from a file that nobody thinks of."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login you password canary\n")
    netrc.chmod(0o600)
    for variables, source in (
        ({"USER": "me", "PASSWORD": "canary"}, r"\$NEARDUP_SOLR_PASSWORD"),
        ({"USER": "", "PASSWORD": ""}, r"~/\.netrc"),
    ):
        set_to(**variables)
        with (
            answering(Answer(status=401)) as (address, _),
            pytest.raises(nd.errors.SolrUnauthorized, match=source),
        ):
            nd.connect(address, "x")


def test_a_refusal_that_repeats_the_password_does_not_show_it(set_to: SetTo) -> None:
    """Neither of a document that is sent whole, nor of an update of one that is there."""
    set_to(USER="me", PASSWORD="canary")
    refused = b'{"responseHeader":{"status":0,"errors":[{"id":"1","message":"me:canary"}]}}'
    with answering(Answer(body=EMPTY), Answer(body=refused)) as (address, _):
        solr = nd.connect(address, "x")
        for document in ({"id": "1"}, {"id": "1", "city": {"set": "Rome"}}):
            (refusal,) = solr.add([document])
            assert refusal.reason == "me:…"


def test_plain_http_if_asked_for(set_to: SetTo) -> None:
    """By argument or by variable."""
    with pytest.raises(nd.ArgumentError, match=r"solr\.invalid"):
        nd.connect(PLAIN)
    with pytest.raises(nd.SolrUnreachable):
        nd.connect(PLAIN, plain_http=True)
    set_to(PLAIN_HTTP="1")
    with pytest.raises(nd.SolrUnreachable):
        nd.connect(PLAIN)
    set_to(PLAIN_HTTP="0")
    with pytest.raises(nd.ArgumentError, match=r"`plain_http` .*_HTTP=1$"):
        nd.connect(PLAIN)


def test_the_embedded_solr_gets_none_of_these(
    door: Door, set_to: SetTo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are for a Solr of yours."""
    set_to(USER="me", PASSWORD="pw")
    running = SimpleNamespace(url=door.address, started_now=False, home=tmp_path)
    monkeypatch.setattr("neardup_solr.embedded.start", lambda **_: running)
    monkeypatch.setattr("neardup_solr.embedded.credentials", lambda _: None)
    nd.connect()
    assert door.credentials == [None]


def test_any_sign_can_be_sent(found: Found, set_to: SetTo) -> None:
    """A password of other signs than ASCII goes as UTF-8; requests alone has Latin only."""
    set_to(USER="me", PASSWORD=SECRET)
    assert found() == ("me", SECRET)


def test_nothing_shows_a_password(door: Door, set_to: SetTo) -> None:
    """Neither the collection nor the session that it has."""
    set_to(USER="me", PASSWORD="canary")
    opened = nd.connect(door.address)
    assert door.credentials == [("me", "canary")]
    assert "canary" not in f"{opened!r} {opened.session!r}"
