"""The command, run on a fresh core."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

import neardup_solr as nd
from neardup_solr.minhash import sign
from tests.command import NEARDUP, neardup
from tests.solr import api


class Run(Protocol):
    """Run `neardup` with some words, an input and variables; what it printed and its exit code."""

    def __call__(
        self, *words: str | bytes, input: str | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run it."""


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile the kernel before any command has to say that it does."""
    sign.compile_kernel()


@pytest.fixture
def run(solr: nd.Collection) -> Run:
    """Run `neardup` on the fresh core of this test, in this process."""

    def call(
        *words: str | bytes, input: str | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        return neardup(*words, input=input, env={"NEARDUP_SOLR_URL": solr.url} | env)

    return call


@pytest.fixture
def spawn(solr: nd.Collection) -> Run:
    """Run `neardup` on the fresh core of this test, as a process of its own."""

    def call(
        *words: str | bytes, input: str | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        address = {"NEARDUP_SOLR_URL": solr.url}
        return subprocess.run(
            [*NEARDUP, *words],
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            env=os.environ | address | env,
        )

    return call


@pytest.fixture
def demo_core(solr: nd.Collection) -> Iterator[nd.Collection]:
    """An empty core of the name that the demo uses, on the server of this test."""
    core = solr.beside("neardup_demo")
    nd.init(core)
    yield core
    api.drop(core)


@pytest.fixture
def listings(tmp_path: Path) -> Path:
    """Four listings, two of them near-duplicates."""
    path = tmp_path / "listings.csv"
    path.write_text(
        "id,text,city\n"
        "1,Blue Door Cafe 12 Harbour Street,Alton\n"
        "2,'Blue Door Cafe' 12 Harbour St.,Alton\n"
        "3,Blue Door Books 7 Mill Lane,Alton\n"
        "4,The Old Mill 3 River Walk,Berwick\n"
    )
    return path
