"""A real nginx, as it stands in front of many a Solr."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

SECONDS = 20.0  # until it listens
# All that it writes lies in one folder; it runs in the foreground, as whoever runs the tests.
CONFIGURATION = """
{user}
daemon off; pid {folder}/pid; error_log {folder}/log; worker_processes 1;
events {{}}
http {{
    access_log off; server_tokens off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {servers}
}}
"""


@contextmanager
def nginx(folder: Path, **servers: str) -> Iterator[dict[str, str]]:
    """Run nginx with these servers; gives the address of each, without a path.

    What stands in a server's block is given by its name, without `listen`: it listens on this
    machine, by TLS if it has a certificate, and on IPv6 if its name is `ipv6`.
    """
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "there is no nginx; scripts/programs installs it"
    places, blocks = {}, []
    with ExitStack() as taken:  # all at once, so that no two servers have one port
        for name, block in servers.items():
            host, tls = ("::1" if name == "ipv6" else "127.0.0.1"), "ssl_certificate" in block
            port = taken.enter_context(_listen(host)).getsockname()[1]
            place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            places[name] = f"{'https' if tls else 'http'}://{place}"
            blocks.append(f"server {{ listen {place}{' ssl' if tls else ''}; {block} }}")
    user = "user root;" if os.geteuid() == 0 else ""
    text = CONFIGURATION.format(folder=folder, user=user, servers="\n".join(blocks))
    file = folder / "nginx.conf"
    file.write_text(text)
    process = subprocess.Popen([program, "-e", str(folder / "log"), "-c", str(file)])
    try:
        wait_until_open(process, [place.split("//")[1] for place in places.values()])
        yield places
    finally:
        process.terminate()
        process.wait(SECONDS)


def free_port(host: str) -> int:
    """A port of this machine that is free."""
    with _listen(host) as free:
        return int(free.getsockname()[1])


def _listen(host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 0), family=family)


def wait_until_open(process: subprocess.Popen[bytes], places: list[str]) -> None:
    """Return once a process listens at each of these places."""
    end = time.monotonic() + SECONDS
    for place in places:
        host, _, port = place.rpartition(":")
        while True:
            assert process.poll() is None, "the server has ended"
            try:
                socket.create_connection((host.strip("[]"), int(port))).close()
                break
            except OSError:
                assert time.monotonic() < end, "the server does not listen"
                time.sleep(0.01)
