"""An hour of kills, each round with other moments; by `scripts/test --soak` alone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from neardup_solr.testing import private_home
from tests.command import sign_once
from tests.faults.loops import Outcome, kill_client, kill_server
from tests.faults.place import places
from tests.faults.tiers import is_soak

pytestmark = pytest.mark.skipif(not is_soak(), reason="takes an hour; run scripts/test --soak")

SECONDS = float(os.environ.get("NEARDUP_SOAK_SECONDS", 3_300))
DOCUMENTS, KILLS, INTERVAL, EVERY_BAD = 40_000, 5, 8_000, 500


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An embedded Solr of these tests alone, as they kill it."""
    sign_once()
    with private_home(tmp_path_factory.mktemp("soak")) as folder:
        yield folder


@pytest.mark.usefixtures("home")
def test_rounds_of_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Any) -> None:
    """Solr and the client are killed in turn, round after round, and nothing is lost."""
    monkeypatch.delenv("NEARDUP_SOLR_URL", raising=False)
    end, server, client = time.monotonic() + SECONDS, list[Outcome](), list[Outcome]()
    while time.monotonic() < end:
        seed = len(server)
        folder = tmp_path / str(seed)
        folder.mkdir()
        with places(folder) as jobs:
            server.append(kill_server(jobs.make(DOCUMENTS), KILLS, Random(seed)))
        with places(folder) as jobs:
            here = jobs.make(DOCUMENTS, every_bad=EVERY_BAD, interval=INTERVAL)
            client.append(kill_client(here, KILLS, Random(seed), INTERVAL))
    kills = sum(one.kills + one.replaying for one in server)
    share = sum(one.resent for one in server) / (DOCUMENTS * len(server))
    size = f"{len(server)} rounds of {DOCUMENTS:,} documents"
    row("R1", f"{size}, {kills} kills: lost 0, {share:.1%} sent again")
    kills, most = sum(one.kills for one in client), max(one.most for one in client)
    row(
        "R2",
        f"{size}, {kills} kills: lost 0, dead letters exact, after a kill at most {most:,} sent"
        f" again (interval {INTERVAL:,})",
    )
