"""Report pages over very many pairs: how large, how long to write, and how long a browser takes.

The findings are invented, as the writer gets them after a search; no search is run. Chromium and
its driver have to be on the PATH, and selenium installed (scripts/programs).
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from lib import results
from lib.wholes import MEGABYTE, Peak, Task, held
from neardup_solr.files import write_lines
from neardup_solr.records import Cluster, Duplicate, Member
from neardup_solr.reports.html.page import Page, page_lines

CLUSTERED = 0.18  # of all documents
TRIPLES = 0.25  # of the clusters have three documents, the others two
LARGEST = 0.001  # of all documents, in the largest cluster; the next has half as many, a third, …
WORDS, LONG = 200, 2_000
SWITCHES = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
KINDS = {
    "small clusters": "clusters of two and three documents of 200 words",
    "large clusters": "besides, clusters of 1/1,000 of all documents, half of that, a third, …",
    "long texts": "clusters of two and three documents of 2,000 words",
}
READY = "return document.querySelectorAll('#list .row').length"
TIMES = """
const [page] = performance.getEntriesByType("navigation");
const [first] = performance.getEntriesByName("first-contentful-paint");
return [first ? first.startTime / 1000 : null, page.loadEventEnd / 1000];
"""


class Texts(Mapping[str, str]):
    """A text for each id, made when it is asked for: what a document says is none of the writer's
    memory."""

    def __init__(self, words: int) -> None:
        dice = random.Random(7)
        syllables = ("ka", "lo", "mi", "ter", "san", "vel", "dor", "en", "us", "pri", "qua", "thé")
        lexicon = ["".join(dice.choices(syllables, k=dice.randint(1, 4))) for _ in range(5_000)]
        self._words, self._many = words, dice.choices(lexicon, k=1_000_000)

    def __getitem__(self, id: str) -> str:
        cluster, _, member = id.removeprefix("doc-").partition("-")
        start = int(cluster) * 37 % (len(self._many) - self._words)
        text = self._many[start : start + self._words]
        text[int(member) * 31 % self._words] = f"edited{member}"
        return " ".join(text)

    def __contains__(self, id: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError("texts are only looked up")

    def __len__(self) -> int:
        return 1


def sizes(kind: str, documents: int) -> list[int]:
    """The numbers of documents of the clusters that are found among so many documents."""
    left, found = round(documents * CLUSTERED), []
    if kind == "large clusters":
        size = largest = round(documents * LARGEST)
        while size > 3 and left > size:
            found.append(size)
            left -= size
            size = largest // (len(found) + 1)
    clusters = round(left / (2 + TRIPLES))
    triples = round(clusters * TRIPLES)
    return [*found, *[3] * triples, *[2] * (clusters - triples)]


def page(kind: str, documents: int) -> Page:
    """A page over the findings of one kind among so many documents."""
    clusters, pairs = [], []
    for number, size in enumerate(sizes(kind, documents)):
        ids = [f"doc-{number}-{member}" for member in range(size)]
        chained = [*pairwise(ids), *([(ids[0], ids[2])] if size == 3 else [])]
        members = tuple(Member(id=id, similarity=0.95, distance=10) for id in ids)
        clusters.append(
            Cluster(
                id=ids[0], canonical=ids[0], members=members, pairs=len(chained),
                diameter=1 if size <= 3 else 0, bridges=(),
            )
        )  # fmt: skip
        pairs += [
            Duplicate(
                id=one, other_id=other, similarity=0.95, distance=10, measure="words",
                cluster=ids[0], shared=36,
            )
            for one, other in chained
        ]  # fmt: skip
    texts = Texts(LONG if kind == "long texts" else WORDS)
    return Page(title=kind, pairs=pairs, clusters=clusters, texts=texts, curve=(42, 3))


def work(task: Task) -> dict[str, Any]:
    """Write one page, a kind of KINDS, to the task's folder."""
    kind, path = task.name, Path(task.folder) / "report.html"
    made = page(kind, task.documents)
    base, peak = held("RssAnon"), Peak()
    started = time.perf_counter()
    with peak.watched():
        write_lines(path, page_lines(made))
    return {
        "kind": kind,
        "clusters": len(made.clusters),
        "pairs": len(made.pairs),
        "megabytes of file": path.stat().st_size / MEGABYTE,
        "seconds": time.perf_counter() - started,
        "megabytes over findings": max(0, peak.anonymous - base) / MEGABYTE,
    }


def opened(folder: Path, rounds: int) -> list[dict[str, float]]:
    """How long a new Chromium takes with the page, and the most memory of its tab, each round."""
    return [_opened(folder / "report.html") for _ in range(rounds)]


def _opened(path: Path) -> dict[str, float]:
    with _chromium() as (chrome, profile):
        started = time.perf_counter()
        chrome.get(path.as_uri())
        while not chrome.execute_script(READY):
            time.sleep(0.02)
        ready = time.perf_counter() - started
        first, loaded = chrome.execute_script(TIMES)
        return {
            "first": first or ready,
            "loaded": loaded,
            "ready": ready,
            "megabytes of tab": _tab(profile) / MEGABYTE,
        }


@contextmanager
def _chromium() -> Iterator[tuple[Any, str]]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for switch in (*SWITCHES, f"--user-data-dir={profile}"):
            options.add_argument(switch)
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        chrome = webdriver.Chrome(options=options, service=service)
        try:
            chrome.set_page_load_timeout(600)
            yield chrome, profile
        finally:
            chrome.quit()


def _tab(profile: str) -> int:
    """The most bytes that a renderer of the Chromium with this profile held."""
    found = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8")
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if "--type=renderer" in command and profile in command:
            found = max(found, int(status.partition("VmHWM:")[2].split()[0]) * 1024)
    return found


def sections(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The table of all kinds."""
    rows = []
    for run in found["runs"]:
        middle = sorted(run["opened"], key=lambda one: one["ready"])[len(run["opened"]) // 2]
        rows.append(
            [
                run["kind"], run["documents"], run["clusters"], run["pairs"],
                run["megabytes of file"], run["seconds"], run["megabytes over findings"],
                middle["first"], middle["ready"], middle["megabytes of tab"],
            ]
        )  # fmt: skip
    heads = ["", "documents", "clusters", "pairs", "MB of file", "s to write",
             "MB over the findings", "s to first contents", "s to ready", "MB of tab"]  # fmt: skip
    kinds = "\n".join(f"- {kind}: {what}" for kind, what in KINDS.items())
    yield "Written, and opened in a new Chromium", f"{results.table(heads, rows)}\n\n{kinds}"
