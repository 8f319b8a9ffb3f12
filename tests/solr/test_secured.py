"""Solr behind nginx: a path, a limit, a login, certificates of both sides, IPv6, a proxy."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import neardup_solr as nd
from tests.command import neardup
from tests.faults.scripted import Answer
from tests.refusals import refusal
from tests.solr.front import Certified, Door, certify, certify_client, front
from tests.solr.nginx import free_port, nginx, wait_until_open

pytestmark = pytest.mark.usefixtures("plain_environment")
TEXTS = {"1": "the quick brown fox jumps", "2": "the quick brown fox leaps", "3": "nothing alike"}
DOCUMENTS = [nd.Document(id=id, text=text) for id, text in TEXTS.items()]
LIMIT = 16_384  # bytes of a request


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A CA that no machine knows, and a server of its."""
    return certify(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def expired(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """Another CA, and a server of its whose certificate was good until yesterday."""
    return certify(tmp_path_factory.mktemp("expired"), is_expired=True)


@pytest.fixture(scope="module")
def addresses(
    solr_url: str,
    certified: Certified,
    expired: Certified,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, str]]:
    """The addresses of an nginx that has several servers in front of the Solr of the tests."""
    folder = tmp_path_factory.mktemp("nginx")
    (folder / "users").write_text("me:{PLAIN}p/w\n")
    passed = f"location /solr/ {{ proxy_pass {solr_url}/; }}"
    asks = f'auth_basic "Solr"; auth_basic_user_file {folder}/users;'
    tls = f"ssl_certificate {certified.certificate}; ssl_certificate_key {certified.key};"
    with nginx(
        folder,
        path=f"client_max_body_size {LIMIT}; location /find/solr/ {{ proxy_pass {solr_url}/; }}",
        ipv6=f"{asks} {passed}",
        certificate=f"{tls} ssl_client_certificate {certified.ca}; ssl_verify_client on; {passed}",
        tls=f"{tls} {passed}",
        expired=f"ssl_certificate {expired.certificate}; ssl_certificate_key {expired.key};",
        token='if ($http_authorization != "Bearer good.token") { return 401; } error_page 401 @who;'
        " location @who { add_header WWW-Authenticate Bearer always; return 401; }"
        f" {passed}",
        reader=f"{asks} location ~ /(update|schema)$ {{ limit_except GET {{ deny all; }}"
        f" proxy_pass {solr_url.removesuffix('/solr')}; }} {passed}",
        login="location / { return 302 https://login.example.org/?next=solr; }",
        page="location / { default_type text/html; return 200 '<form>Who are you?</form>'; }",
        denied="location / { return 403; }",
        proxy="location /solr/ {"
        ' if ($http_proxy_authorization != "Basic bWU6cC93") {'
        ' add_header Proxy-Authenticate "Basic realm=proxy" always; return 407; }'
        f" proxy_pass {solr_url.removesuffix('/solr')}; }}",
    ) as found:
        yield found


def work(solr: nd.Collection) -> None:
    """Index, search and report: updates, queries and an export."""
    assert nd.index(DOCUMENTS, solr).indexed == 3
    assert [match.id for match in nd.search(solr, id="1")] == ["2"]
    assert [(one.id, one.other_id) for one in nd.report(solr).pairs] == [("1", "2")]
    assert [(one.id, one.other_id) for one in nd.duplicates(solr).pairs] == [("1", "2")]


def test_a_path_and_a_limit(addresses: dict[str, str], solr: nd.Collection, tmp_path: Path) -> None:
    """Batches that are too large are halved; a document that alone is too large is named."""
    path = f"{addresses['path']}/find/solr"
    work(nd.connect(path, solr.name))
    own = [f"{n:0200}" for n in range(100)]  # so long that they are too large together, too
    lines = [f'{{"id":"{id}","text":"{id} the quick brown fox leaps"}}\n' for id in own]
    lines[50] = f'{{"id":"{own[50]}","text":"{"a b c d e f g " * 2_000}"}}\n'
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(lines))
    job = ("--job", str(tmp_path / "job"))
    ran = neardup("index", str(file), *job, "--solr", f"{path}/{solr.name}")
    assert ran.returncode == 1, ran.stderr
    assert "Read 100 records = 99 indexed + 0 repeated + 1 failed" in ran.stderr
    assert "50'): Solr refused it: too large for this server (HTTP 413)" in ran.stderr
    assert solr.count() == 3 + 99
    assert len(nd.duplicates(nd.connect(path, solr.name)).pairs) > 0


def test_ipv6_and_a_password(
    addresses: dict[str, str], solr: nd.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address in brackets, with a password of the environment, which may go to this machine."""
    address = f"{addresses['ipv6']}/solr"
    monkeypatch.setenv("NEARDUP_SOLR_USER", "me")
    monkeypatch.setenv("NEARDUP_SOLR_PASSWORD", "p/w")
    work(nd.connect(address, solr.name))
    monkeypatch.setenv("NEARDUP_SOLR_PASSWORD", "wrong")
    ran = neardup("search", "--id", "1", "-c", solr.name, "--solr", address)
    assert (ran.returncode, ran.stderr.count("\n")) == (3, 1)
    assert "refuses the user and password from $NEARDUP_SOLR_PASSWORD (HTTP 401); set" in ran.stderr


def test_a_client_certificate(
    addresses: dict[str, str],
    certified: Certified,
    solr: nd.Collection,
    tmp_path: Path,
) -> None:
    """It is named by argument, option or variable; without one, or with a wrong one, one line."""
    address, cert = f"{addresses['certificate']}/solr", certify_client(certified)
    work(nd.connect(address, solr.name, ca=certified.ca, cert=cert))
    words = ["--ca", str(certified.ca), "search", "--id", "1", "-c", solr.name, "--solr", address]
    assert neardup("--cert", str(cert), *words).returncode == 0
    assert neardup(*words, env={"NEARDUP_SOLR_CERT": str(cert)}).returncode == 0
    ran = neardup(*words)
    assert "it requires a client certificate; set --cert or $NEARDUP_SOLR_CERT to" in ran.stderr
    foreign = certify_client(certify(tmp_path))
    for other in (foreign, certify_client(certified, "expired", is_expired=True)):
        ran = neardup("--cert", str(other), *words)
        assert "it refuses the client certificate; set --cert or $NEARDUP_SOLR_CERT" in ran.stderr
        assert (ran.returncode, ran.stderr.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    ("version", "said"),
    [("-tls1_2", "does it require a client certificate"), ("-tls1_3", "it requires a client")],
)
def test_a_server_that_wants_one_within_tls(
    version: str, said: str, certified: Certified, tmp_path: Path
) -> None:
    """Solr itself refuses the connection, unlike nginx, which gives a page."""
    place = f"127.0.0.1:{free_port('127.0.0.1')}"
    command = ["openssl", "s_server", version, "-quiet", "-www", "-accept", place,
               "-cert", str(certified.certificate), "-key", str(certified.key),
               "-CAfile", str(certified.ca), "-Verify", "2", "-verify_return_error"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_open(process, [place])
            address, other = f"https://{place}/solr", certify_client(certify(tmp_path))
            with pytest.raises(nd.SolrUnreachable, match=said):
                nd.connect(address, "x", ca=certified.ca).count()
            with refusal(nd.SolrUnreachable, "credentials-unusable", "client certificate"):
                nd.connect(address, "x", ca=certified.ca, cert=other).count()
        finally:
            process.terminate()


def test_a_client_certificate_that_cannot_be_used(certified: Certified, tmp_path: Path) -> None:
    """Without its key, with a key that has a password, or missing: told before anything is sent."""
    cert, locked = certify_client(certified), tmp_path / "locked.key"
    command = [
        "openssl",
        "pkey",
        "-in",
        str(cert),
        "-aes256",
        "-passout",
        "pass:x",
        "-out",
        str(locked),
    ]
    subprocess.run(command, check=True, capture_output=True)
    locked.write_text(certified.certificate.read_text() + locked.read_text())
    for file in (certified.certificate, locked, tmp_path / "none.pem"):
        ran = neardup("--cert", str(file), "lint", "--solr", "https://127.0.0.1:1/solr")
        assert ran.returncode == 3
        assert ran.stderr == (
            f"neardup: {file} from --cert or $NEARDUP_SOLR_CERT is not a usable client certificate"
            "; name a PEM file with the certificate and its private key, without a password\n"
        )


REFUSED = {
    "expired": "its TLS certificate has expired; renew it on that server",
    "login": "it redirects to https://login.example.org/; use that server if it is your Solr, or"
    " give credentials if it is a login page",
    "page": "the response is not JSON but text/html (HTTP 200); check that this is the address of a"
    " Solr server, or give credentials if it is a login page",
    "denied": "Solr does not allow this (HTTP 403); set $NEARDUP_SOLR_USER and",
}


@pytest.mark.parametrize(("name", "said"), REFUSED.items())
def test_one_line_says_what_to_do(
    name: str, said: str, addresses: dict[str, str], expired: Certified
) -> None:
    """The page that a server in front gives is never taken for an answer of Solr."""
    address = f"{addresses[name]}/solr"
    ran = neardup("--ca", str(expired.ca), "search", "--text", "x", "--solr", address)
    assert (ran.returncode, ran.stderr.count("\n")) == (3 if name == "denied" else 4, 1)
    assert said in ran.stderr


def test_plain_http_to_a_port_of_tls(addresses: dict[str, str]) -> None:
    """The line names the other scheme."""
    address = addresses["expired"].replace("https://", "http://")
    ran = neardup("search", "--text", "x", "--solr", f"{address}/solr")
    assert "it uses TLS; use an https:// address" in ran.stderr


def test_a_proxy_with_a_password(addresses: dict[str, str], solr: nd.Collection) -> None:
    """It stands in the proxy's address, and is asked for if it is missing or wrong."""
    address, proxy = "http://solr.test/solr", addresses["proxy"]
    own = proxy.replace("://", "://me:p%2Fw@")
    work(nd.connect(address, solr.name, proxy=own))
    words = ("search", "--id", "1", "-c", solr.name, "--solr", address)
    assert neardup(*words, env={"HTTP_PROXY": own}).returncode == 0
    ran = neardup(*words, env={"HTTP_PROXY": proxy})
    assert "the proxy refuses these credentials (HTTP 407); set them in" in ran.stderr


@contextmanager
def tunnel(folder: Path, *, to: str) -> Iterator[str]:
    """Run a tinyproxy that connects to the port of `to`, for `me`; gives its address."""
    program, place = shutil.which("tinyproxy"), free_port("127.0.0.1")
    assert program, "there is no tinyproxy; scripts/programs installs it"
    file = folder / "tinyproxy.conf"
    port = to.rpartition(":")[2]
    file.write_text(f"Listen 127.0.0.1\nPort {place}\nBasicAuth me PLAINpw\nConnectPort {port}\n")
    with subprocess.Popen([program, "-d", "-c", str(file)], stdout=subprocess.DEVNULL) as process:
        try:
            wait_until_open(process, [f"127.0.0.1:{place}"])
            yield f"http://127.0.0.1:{place}"
        finally:
            process.terminate()


def test_tls_through_a_proxy_with_a_password(
    addresses: dict[str, str], certified: Certified, solr: nd.Collection, tmp_path: Path
) -> None:
    """It opens a tunnel (CONNECT) if the password is right, and to ports that it allows."""
    with tunnel(tmp_path, to=addresses["tls"]) as proxy:
        own = proxy.replace("://", "://me:PLAINpw@")

        def connect(server: str, proxy: str) -> nd.Collection:
            address = f"{addresses[server]}/solr"
            return nd.connect(address, solr.name, ca=certified.ca, proxy=proxy)

        work(connect("tls", own))
        for wrong in (proxy, own.replace("pw@", "wrong@")):
            with refusal(nd.SolrUnreachable, "proxy", "(HTTP 40"):
                connect("tls", wrong).count()
        with refusal(nd.SolrUnreachable, "solr-unreachable", "the proxy"):
            connect("certificate", own).count()


def test_a_token(
    addresses: dict[str, str], solr: nd.Collection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It counts more than ~/.netrc and $NEARDUP_SOLR_USER; a wrong one is one line."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login you password hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    address = f"{addresses['token']}/solr"
    header = {"Authorization": "Bearer good.token"}
    assert nd.connect(address, solr.name, headers=header).count() == 0
    monkeypatch.setenv("NEARDUP_SOLR_USER", "me")
    monkeypatch.setenv("NEARDUP_SOLR_TOKEN", "good.token")
    work(nd.connect(address, solr.name))
    words = ("search", "--id", "1", "-c", solr.name, "--solr", address)
    for token, said in (
        ("bad.token", "refuses the token from $NEARDUP_SOLR_TOKEN (HTTP 401); set $NEARDUP_SOLR"),
        ("bad\ntoken", "$NEARDUP_SOLR_TOKEN is not a token; set it to one ASCII line"),
        (None, "Solr requires a token (HTTP 401); set $NEARDUP_SOLR_TOKEN"),
    ):
        variables = {"NEARDUP_SOLR_TOKEN": token, "NEARDUP_SOLR_USER": None, "NETRC": "/nowhere"}
        ran = neardup(*words, env=variables)
        assert (ran.returncode, ran.stderr.count("\n")) == (3, 1)
        assert said in ran.stderr
        assert "bad" not in ran.stderr
    with refusal(nd.ArgumentError, "credentials-exposed", "$NEARDUP_SOLR_TOKEN"):
        nd.connect("http://solr.invalid/solr")


def test_a_token_that_ends(
    solr: nd.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`index` stops with what to do; with a new token `--resume` goes on, and nothing is lost."""
    file, job = tmp_path / "texts.jsonl", str(tmp_path / "job")
    lines = [f'{{"id":"{n}","text":"the quick brown fox leaps {n}"}}\n' for n in range(100)]
    file.write_text("".join([*lines[:5], '{"text":"no id"}\n', *lines[5:]]))
    asked, has_ended = 0, True

    def until_it_ends(path: str, body: bytes, answer: Callable[[], Answer]) -> Answer:
        nonlocal asked
        asked += 1
        if has_ended and asked > 12:
            return Answer(status=401, kind="text/html", body=b"<html>")
        return answer()

    monkeypatch.setenv("NEARDUP_SOLR_TOKEN", "token")
    door = Door(headers=(("Authorization", "Bearer token"),))
    words = ["index", str(file), "--job", job, "--batch", "10", "--checkpoint-every", "20",
             "--max-failed", "1"]  # fmt: skip
    with front(solr.base, door=door, between=until_it_ends) as address:
        words += ["--solr", f"{address}/{solr.name}"]
        ran = neardup(*words)
        error, note = ran.stderr.splitlines()[-2:]
        assert ran.returncode == 4
        assert error.endswith("set $NEARDUP_SOLR_TOKEN to a new one, then run this again")
        assert "are done: --resume continues after them." in note
        has_ended = False
        ran = neardup(*words, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert "Read 101 records = 100 indexed + 0 repeated + 1 failed" in ran.stderr
    assert solr.count() == 100
    assert "no id" in neardup("dead-letters", "show", "--job", job, "--format", "jsonl").stdout


def test_a_user_who_may_only_read(
    addresses: dict[str, str], solr: nd.Collection, tmp_path: Path
) -> None:
    """What writes names the permission; `duplicates` goes on without its commit, and says so."""
    work(solr)
    (tmp_path / "a.csv").write_text("id,text\n9,one two three\n")
    place = (
        "-c",
        solr.name,
        "--solr",
        f"{addresses['reader'].replace('://', '://me:p%2Fw@')}/solr",
    )
    ran = neardup("index", str(tmp_path / "a.csv"), *place)
    assert ran.returncode == 3
    assert (
        "/update: Solr does not allow this with the user and password from --solr (HTTP 403); ask"
        " its administrator for a role with the permission update" in ran.stderr
    )
    ran = neardup("duplicates", *place)
    assert (ran.returncode, ran.stdout.count("\n")) == (0, 2)
    assert "this user cannot commit; reading only committed documents" in ran.stderr
    usual = neardup("lint", "-c", solr.name, "--solr", solr.base)
    assert neardup("lint", *place).returncode == usual.returncode
    assert solr.count() == 3
