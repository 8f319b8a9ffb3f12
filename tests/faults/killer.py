"""Kills the embedded Solr, or the command that indexes, at moments of their work.

A moment is a number of documents that were sent, so that all kills hit the work however fast the
machine is. A Solr is killed again right after it was started, while it replays its log, every third
time, or each time if there are few.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil

from neardup_solr import embedded
from neardup_solr.embedded.layout import find_layout, recall
from tests.command import NEARDUP
from tests.faults.history import History
from tests.faults.proxy import Proxy
from tests.faults.tiers import sized

SECONDS = sized(usual=900.0, full=1_800.0)  # for what a machine with time does in a fraction
AGAIN = sized(usual=1, full=3)  # so many kills are followed by one more, while the log is replayed


def moments(total: int, kills: int, random: Random) -> list[int]:
    """When to kill: one moment in each of so many equal parts of the work but the very last."""
    part = total / (kills + 1)
    return [round(part * (at + random.uniform(0.1, 1.0))) for at in range(kills)]


def kill_solr() -> bool:
    """Kill the embedded Solr of $NEARDUP_HOME, and wait until it is gone; False if none runs."""
    state = recall(find_layout())
    if state.pid <= 0:
        return False
    try:
        process = psutil.Process(state.pid)
        process.kill()
        process.wait(SECONDS)
    except psutil.NoSuchProcess:
        return False
    return True


class SolrKiller(threading.Thread):
    """Kills the embedded Solr at moments, and starts it again as a service manager would.

    The proxy is told its port, which may be another one. `kills` counts the kills, `replaying`
    those that came right after a start.
    """

    def __init__(self, history: History, proxy: Proxy, at: Sequence[int], random: Random) -> None:
        super().__init__(daemon=True)
        self.history, self.proxy, self.at, self.random = history, proxy, at, random
        self.kills = self.replaying = 0
        self.fault: BaseException | None = None
        self._stopped = threading.Event()

    def run(self) -> None:
        try:
            for moment in self.at:
                while not self.history.wait_for(moment, 0.2):
                    if self._stopped.is_set():
                        return
                self.kills += kill_solr()
                self._start()
                if self.kills % AGAIN == 0:
                    self._stopped.wait(self.random.uniform(0, 0.3))
                    self.replaying += kill_solr()
                    self._start()
        except BaseException as error:
            self.fault = error

    def _start(self) -> None:
        self.proxy.upstream = embedded.start(tell=_unsaid).port

    def stop(self) -> None:
        """Kill no more, once Solr runs again."""
        self._stopped.set()
        self.join(SECONDS)
        if self.fault is not None:
            raise self.fault


def _unsaid(line: str) -> None:
    """Say nothing of the start."""


class Command:
    """`neardup` as a process of its own, with what it prints."""

    def __init__(self, words: Sequence[str], log: Path, env: Mapping[str, str]) -> None:
        self.log = log
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [*NEARDUP, *words], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                env={**os.environ, **env},
            )  # fmt: skip

    def wait(self, seconds: float = SECONDS) -> int:
        """Its exit code; one that hangs is killed, and is an AssertionError."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the command hangs; it said {self.said()!r}") from None

    def kill(self) -> None:
        """End it by SIGKILL."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(10)

    def kill_when(self, is_time: Callable[[], bool]) -> bool:
        """Kill it once it is time, which is asked for again and again; False if it ended before."""
        while self.process.poll() is None:
            if is_time():
                self.kill()
                return True
        return False

    def said(self) -> str:
        """What it has printed so far."""
        return self.log.read_text("utf-8", errors="replace")
