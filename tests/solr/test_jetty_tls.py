"""TLS by Solr's own Jetty, between nodes too; users known by a certificate (CertAuthPlugin)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests

import neardup_solr as nd
from neardup_solr import embedded
from neardup_solr.embedded import Server, password, process
from neardup_solr.embedded.layout import Layout
from neardup_solr.files import solr_config
from neardup_solr.progress import until
from neardup_solr.testing import fresh_core, private_home
from tests.command import neardup
from tests.solr import nodes as cloud
from tests.solr.cloud import nodes, with_jars
from tests.solr.front import Certified, certify, certify_client
from tests.solr.nginx import free_port
from tests.solr.test_secured import work

# A Solr of its own, and a cloud of two nodes.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("plain_environment")]
MODES = {"wanted": "wantClientAuth", "needed": "needClientAuth"}
CONTEXT = """
<Arg><New class="org.eclipse.jetty.util.ssl.SslContextFactory$Server">
  <Set name="keyStorePath">{folder}/server.p12</Set><Set name="keyStorePassword">secret</Set>
  <Set name="trustStorePath">{folder}/ca.p12</Set><Set name="trustStorePassword">secret</Set>
  <Set name="{mode}">true</Set></New></Arg>
"""
# A connector beside that of solr_config/server/jetty.xml, which tells that Solr is ready.
CONNECTOR = f"""
<Call name="addConnector"><Arg><New class="org.eclipse.jetty.server.ServerConnector">
  <Arg><Ref refid="Server"/></Arg>{CONTEXT}
  <Arg><Array type="org.eclipse.jetty.server.ConnectionFactory"><Item>
    <New class="org.eclipse.jetty.server.HttpConnectionFactory"><Arg>
      <New class="org.eclipse.jetty.server.HttpConfiguration"><Call name="addCustomizer"><Arg>
        <New class="org.eclipse.jetty.server.SecureRequestCustomizer">
          <Set name="sniHostCheck">false</Set></New></Arg></Call></New></Arg></New>
  </Item></Array></Arg>
  <Set name="host">127.0.0.1</Set><Set name="port">{{port}}</Set>
</New></Arg></Call>
"""
# Where TLS takes the place of plain text, in the connector of that file.
FACTORIES = '<Array type="org.eclipse.jetty.server.ConnectionFactory">'
FACTORY = f"""{FACTORIES}<Item>
<New class="org.eclipse.jetty.server.SslConnectionFactory">{CONTEXT}<Arg>http/1.1</Arg></New></Item>
"""
# Solr knows a user by the whole name in the certificate.
RULES = {
    "authentication": {"class": "solr.CertAuthPlugin"},
    "authorization": {
        "class": "solr.RuleBasedAuthorizationPlugin",
        "permissions": [
            {"name": "read", "role": ["reader", "admin"]},
            {"name": "schema-read", "role": ["reader", "admin"]},
            {"name": "all", "role": "admin"},
        ],
        "user-role": {"CN=me": "admin", "CN=reader": "reader"},
    },
}


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    """A CA that no machine knows, a server of its, as Java reads them, and a client, me.pem."""
    made = certify(tmp_path_factory.mktemp("certificates"))
    pairs = {"server": (made.certificate, made.key), "ca": (made.ca, made.ca.with_suffix(".key"))}
    for name, (certificate, key) in pairs.items():
        command = ["openssl", "pkcs12", "-export", "-passout", "pass:secret",
                   "-in", str(certificate), "-inkey", str(key),
                   "-out", str(made.ca.with_name(f"{name}.p12"))]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
    certify_client(made)
    return made


def configure(
    patch: pytest.MonkeyPatch,
    folder: Path,
    text: tuple[str, str],
    ask: Callable[[int], object],
    properties: Mapping[str, str],
) -> None:
    """Start Solr with other text in jetty.xml; it is ready once it answers at its port by TLS."""
    settings = folder / "settings"
    shutil.copytree(solr_config() / "server", settings)
    file = settings / "jetty.xml"
    file.write_text(file.read_text(encoding="utf-8").replace(*text), encoding="utf-8")
    given = process.command

    def command(*args: Any, **options: Any) -> list[str]:
        more = {**options.get("properties", {}), **properties}
        return given(*args, **options | {"settings": settings, "properties": more})

    patch.setattr(process, "command", command)
    patch.setattr(process, "answers", lambda place, port: ask(port) is not None)
    patch.setattr(process, "has_loaded", lambda *_: True)


def ask(port: int, by: Certified, action: str = "") -> Any:
    """Solr's answer at a port by TLS; None if there is none yet."""
    address = f"https://127.0.0.1:{port}/solr/admin/"
    path = f"collections?action={action}" if action else "info/system"
    cert = str(by.ca.with_name("me.pem"))
    try:
        return requests.get(address + path, cert=cert, verify=str(by.ca), timeout=30).json()
    except (requests.RequestException, ValueError):
        return None


@pytest.fixture(scope="module")
def addresses(
    home: Path, certified: Certified, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A Solr that speaks TLS at two ports: one wants a client certificate, one needs it."""
    ports = {name: free_port("127.0.0.1") for name in MODES}
    connectors = "".join(
        CONNECTOR.format(folder=certified.ca.parent, mode=mode, port=ports[name])
        for name, mode in MODES.items()
    )

    def write_rules(place: Layout) -> None:
        place.security.write_text(json.dumps(RULES))

    folder = tmp_path_factory.mktemp("tls")
    with private_home(folder):
        with pytest.MonkeyPatch.context() as patch:
            added = ("</Configure>", f"{connectors}</Configure>")
            configure(patch, folder, added, lambda _: ask(ports["needed"], certified), {})
            patch.setattr(password, "write_security", write_rules)
            embedded.start()
        yield {name: f"https://127.0.0.1:{port}/solr" for name, port in ports.items()}
        embedded.stop(timeout=0)


@pytest.fixture(scope="module")
def core(addresses: dict[str, str], certified: Certified) -> Iterator[nd.Collection]:
    """A core with three documents, by the administrator's certificate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REQUESTS_CA_BUNDLE", str(certified.ca))
        patch.setenv("NEARDUP_SOLR_CERT", str(certified.ca.with_name("me.pem")))
        with fresh_core(addresses["wanted"]) as core:
            work(core)
            work(nd.connect(addresses["needed"], core.name))
            yield core


SAID = {
    "none": "requires a client certificate",
    "foreign": "it refuses the client certificate; set --cert or $NEARDUP_SOLR_CERT to a PEM file",
    "expired": "it refuses the client certificate; set --cert or $NEARDUP_SOLR_CERT to a PEM file"
    " with a trusted certificate that has not expired and its key",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", SAID)
def test_who_is_refused(
    mode: str, kind: str, core: nd.Collection, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Without a certificate, or with one that Solr does not take, one line says what to do."""
    certified, addresses = map(request.getfixturevalue, ("certified", "addresses"))
    signer = certify(tmp_path) if kind == "foreign" else certified
    cert = certify_client(signer, kind, is_expired=kind == "expired")
    given = None if kind == "none" else str(cert)
    words = ("search", "--id", "1", "-c", core.name, "--solr", addresses[mode])
    ran = neardup("--ca", str(certified.ca), *words, env={"NEARDUP_SOLR_CERT": given})
    code = 3 if (kind, mode) == ("none", "wanted") else 4  # no right to it, or no connection
    assert (ran.returncode, ran.stderr.count("\n")) == (code, 1)
    assert SAID[kind] in ran.stderr


def test_a_user_by_certificate_who_may_only_read(
    addresses: dict[str, str], core: nd.Collection, certified: Certified, tmp_path: Path
) -> None:
    """Solr knows the rights by the name in the certificate; the line names what is missing."""
    (tmp_path / "a.csv").write_text("id,text\n9,one two three\n")
    cert = str(certify_client(certified, "reader"))
    common = ("--ca", str(certified.ca), "--cert", cert)
    place = ("-c", core.name, "--solr", addresses["needed"])
    assert neardup(*common, "search", "--id", "1", *place).returncode == 0
    ran = neardup(*common, "index", str(tmp_path / "a.csv"), *place)
    assert ran.returncode == 3
    assert (
        "/update: Solr does not allow this with the client certificate (HTTP 403); ask its"
        " administrator for a role with the permission update" in ran.stderr
    )
    assert core.count() == 3


def test_a_cloud_whose_nodes_speak_tls(
    home: Path, certified: Certified, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes show each other their certificates, and are asked at the addresses that they tell."""
    folder = certified.ca.parent
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certified.ca))
    monkeypatch.setenv("NEARDUP_SOLR_CERT", str(folder / "me.pem"))
    properties = {}
    for kind, name in (("key", "server"), ("trust", "ca")):
        properties[f"javax.net.ssl.{kind}Store"] = f"{folder}/{name}.p12"
        properties[f"javax.net.ssl.{kind}StorePassword"] = "secret"
    factory = FACTORY.format(folder=folder, mode="needClientAuth")
    asked = partial(ask, by=certified)
    configure(monkeypatch, tmp_path, (FACTORIES, factory), asked, properties)

    def wait_until_joined(running: Sequence[Server]) -> None:
        def is_whole() -> bool:
            told = asked(running[0].port, action="CLUSTERSTATUS")
            return len(told["cluster"]["live_nodes"]) == 2

        asked(running[0].port, action="CLUSTERPROP&name=urlScheme&val=https")
        assert until(is_whole, 60, 0.1)

    monkeypatch.setattr(cloud, "_wait_until_joined", wait_until_joined)
    with nodes(with_jars(home, tmp_path), 2) as started:
        addresses = [node.replace("http:", "https:") for node in started.nodes]
        nd.init(nd.connect(addresses[0], "ads"), shards=2, replicas=2)
        for address in addresses:
            core = nd.connect(address, "ads")
            work(core)
            assert core.cluster().nodes == tuple(addresses)
            assert nd.doctor(core).problems == ()
