"""Homes of an embedded Solr for tests that start, kill and reset it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import randrange

import pytest

from neardup_solr import embedded
from neardup_solr.embedded import jars, process
from neardup_solr.embedded.layout import Layout, ServerState, find_layout, remember
from tests import ROOT


@contextmanager
def settled(folder: Path) -> Iterator[Layout]:
    """Use a home below the folder, with an awkward name, ports of its own and the jars already."""
    user_jars = find_layout().jars
    jars.install(user_jars, jars.read_lock(find_layout().version), tell=print)
    with pytest.MonkeyPatch.context() as patch:
        # Of the jars of Solr 10, Jetty 12 finds none in a folder that is not ASCII.
        is_10 = find_layout().version.startswith("10.")
        patch.setenv("NEARDUP_HOME", str(folder / f"zu Hause{'' if is_10 else ' – 家'}"))
        patch.delenv("NEARDUP_SOLR_HEAP", raising=False)
        use_private_ports(patch)
        place = find_layout()
        shutil.copytree(user_jars, place.jars, copy_function=_link)
        place.server.mkdir(mode=0o700, parents=True)
        remember(place, ServerState(port=0))  # as if started before, without a password
        yield place
        embedded.stop(timeout=0)


def use_private_ports(patch: pytest.MonkeyPatch) -> None:
    """Start servers at ports that none takes which somebody starts meanwhile."""
    patch.setattr(process, "FIRST_PORT", randrange(21500, 30000))
    patch.setattr(process, "LAST_PORT", 32000)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


def starter() -> subprocess.Popen[str]:
    """Another process that starts the server and prints its pid and whether it was the one."""
    program = (
        "from neardup_solr import embedded\n"
        "from neardup_solr.embedded import process\n"
        f"process.FIRST_PORT, process.LAST_PORT = {process.FIRST_PORT}, {process.LAST_PORT}\n"
        "found = embedded.start()\n"
        "print(found.pid, found.started_now)\n"
    )
    command = [sys.executable, "-c", program]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT)


def make_core(found: embedded.Server, name: str) -> None:
    """An empty core from the configset."""
    path = f"/solr/admin/cores?action=CREATE&name={name}&configSet=neardup&wt=json"
    assert process.ask(found.port, path, 120)
