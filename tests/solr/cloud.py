"""A real SolrCloud of one node with its own ZooKeeper, from the embedded server's jars."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from neardup_solr.embedded import jars, lifecycle, process
from neardup_solr.embedded.layout import Layout
from neardup_solr.files import solr_config

SOLR_XML = """<solr>
  <solrcloud>
    <str name="host">127.0.0.1</str>
    <int name="hostPort">${jetty.port}</int>
    <str name="hostContext">solr</str>
  </solrcloud>
</solr>
"""
READY_SECONDS = 60


@contextmanager
def node(home: Path) -> Iterator[str]:
    """A node whose data lie in `home`, where the jars are already; gives its address."""
    place = Layout(home=home)
    lifecycle.prepare(place)
    (place.solr_home / "solr.xml").write_text(SOLR_XML)
    (place.solr_home / "zoo.cfg").write_text(
        "tickTime=2000\ninitLimit=10\nsyncLimit=5\n4lw.commands.whitelist=ruok\n"
        "admin.enableServer=false\n"
    )
    port = _free_pair()
    command = process.command(
        place, port, java=process.find_java(), heap="512m", settings=solr_config() / "server"
    )
    # Nodes talk HTTP/2 to each other, which this server's Jetty does not offer.
    command[1:1] = ["-DzkRun", "-Dsolr.http1=true"]
    environment = process.environment(jars.class_path(place.jars, jars.locked()))
    with (place.logs / "console.log").open("wb") as console:
        running = subprocess.Popen(command, cwd=place.server, env=environment, stdout=console,
                                   stderr=subprocess.STDOUT)  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}/solr"
        _wait(url, running, place)
        yield url
    finally:
        running.kill()
        running.wait()


def _free_pair() -> int:
    """A port that is free together with the one 1,000 above it, which ZooKeeper takes."""
    for port in range(20983, 21983):
        try:
            for each in (port, port + 1000):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", each))
        except OSError:
            continue
        return port
    raise AssertionError("no free pair of ports")


def _wait(url: str, running: subprocess.Popen[bytes], place: Layout) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and running.poll() is None:
        try:
            listed = requests.get(f"{url}/admin/collections?action=LIST", timeout=5)
            if listed.status_code == 200:
                return
        except requests.RequestException:
            pass
        time.sleep(0.2)
    raise AssertionError((place.logs / "console.log").read_text()[:4000])
