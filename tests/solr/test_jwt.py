"""Tokens (JWT) that Solr itself checks: 8.11.4, whose jars have the plugin; later ones lack it."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded import password, process
from neardup_solr.embedded.layout import CHOSEN, Layout
from neardup_solr.testing import fresh_core, private_home
from tests.command import neardup

# A Solr of its own, and a token that lives for some seconds.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]
KEY = b"a key of thirty-two bytes or more"
SKEW = 30  # seconds for which Solr takes a token that has expired


def _packed(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def token(seconds: float) -> str:
    """A token that Solr takes for so many seconds from now on."""
    head = {"alg": "HS256", "kid": "k1", "typ": "JWT"}
    says = {"sub": "me", "iss": "tests", "exp": int(time.time() + seconds - SKEW)}
    signed = ".".join(_packed(json.dumps(part).encode()) for part in (head, says))
    return f"{signed}.{_packed(hmac.digest(KEY, signed.encode(), 'sha256'))}"


@pytest.fixture(scope="module")
def solr(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[nd.Collection]:
    """A core of a Solr that asks for tokens by this key."""
    key = {"kty": "oct", "use": "sig", "kid": "k1", "alg": "HS256", "k": _packed(KEY)}
    rules = {
        "authentication": {
            "class": "solr.JWTAuthPlugin",
            "blockUnknown": True,
            "issuers": [{"name": "tests", "iss": "tests", "jwk": key}],
        }
    }

    def write_rules(place: Layout) -> None:
        place.security.write_text(json.dumps(rules))

    with pytest.MonkeyPatch.context() as patch, ExitStack() as held:
        patch.setenv(CHOSEN, "8.11.4")
        held.enter_context(private_home(tmp_path_factory.mktemp("jwt")))
        patch.setenv("NEARDUP_SOLR_TOKEN", token(3_600))
        header = {"Authorization": f"Bearer {token(3_600)}"}
        patch.setattr(password, "write_security", write_rules)
        patch.setattr(process, "auth_header", lambda place: header)
        started = embedded.start()
        with fresh_core(started.url) as core:
            yield core
        embedded.stop(timeout=0)


def test_a_token_is_all_it_takes(solr: nd.Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Solr lets who has one in; without one, or with an expired one, one line."""
    monkeypatch.setenv("NEARDUP_SOLR_TOKEN", token(60))
    target = nd.connect(solr.base, solr.name)
    nd.index(
        [nd.Document(id="1", text="one two three"), nd.Document(id="2", text="one two")], target
    )
    assert target.count() == 2
    words = ("search", "--id", "1", "-c", solr.name, "--solr", solr.base)
    for given, said in (
        (
            token(-5),
            "Solr refuses the token from $NEARDUP_SOLR_TOKEN (HTTP 401); set $NEARDUP_SOLR_T",
        ),
        (None, "Solr requires a token (HTTP 401); set $NEARDUP_SOLR_TOKEN"),
    ):
        ran = neardup(*words, env={"NEARDUP_SOLR_TOKEN": given})
        assert (ran.returncode, ran.stderr.count("\n")) == (3, 1)
        assert said in ran.stderr


def test_a_token_that_expires(
    solr: nd.Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`index` stops when Solr refuses it; with a new one `--resume` brings in all documents."""
    file, count = tmp_path / "texts.jsonl", 40_000
    lines = (f'{{"id":"t{n}","text":"the quick brown fox leaps {n}"}}\n' for n in range(count))
    file.write_text("".join(lines))
    words = ["index", str(file), "--job", str(tmp_path / "job"), "--checkpoint-every", "1000",
             "-c", solr.name, "--solr", solr.base]  # fmt: skip
    before = nd.connect(solr.base, solr.name).count()
    for seconds in (5, 10, 20, 40, 80):  # which the first checkpoint takes on a busy machine
        ran = neardup(*words, env={"NEARDUP_SOLR_TOKEN": token(seconds)})
        assert ran.returncode == 4, ran.stderr
        assert "set $NEARDUP_SOLR_TOKEN to a new one, then run this again" in ran.stderr
        if "are done: --resume continues after them." in ran.stderr:
            break
    else:
        pytest.fail(ran.stderr)
    monkeypatch.setenv("NEARDUP_SOLR_TOKEN", token(3_600))
    ran = neardup(*words, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert nd.connect(solr.base, solr.name).count() == before + count
