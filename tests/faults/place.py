"""A job on the embedded Solr, behind a proxy that counts what is sent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from neardup_solr import embedded
from neardup_solr.solr.collection import Collection
from neardup_solr.testing import fresh_core
from tests.faults.history import History, Verdict, judged, letters
from tests.faults.invented import Invented, invent
from tests.faults.killer import Command
from tests.faults.proxy import Proxy, proxied

FIELDS = "content,content_bands,signature"  # Solr is quicker with few; all else is the same


@dataclass(slots=True)
class Place:
    """Documents, their collection behind a proxy, the history of what passed, and how to index.

    `words` are those of `neardup index`, whose job is in the folder `job`.
    """

    folder: Path
    documents: Invented
    collection: Collection
    proxy: Proxy
    history: History
    words: list[str] = field(default_factory=list)

    @property
    def job(self) -> Path:
        """The folder of checkpoint and dead letters."""
        return self.folder / "job"

    @property
    def said(self) -> Path:
        """What the commands print."""
        return self.folder / "said.txt"

    def run(self, *more: str, **env: str) -> Command:
        """Start `neardup index`."""
        return Command([*self.words, *more], self.said, env)

    def find_solr(self) -> psutil.Process:
        """Find the process that listens at the port behind the proxy."""
        for each in psutil.net_connections("tcp"):
            is_solr = getattr(each.laddr, "port", 0) == self.proxy.upstream
            if is_solr and each.status == psutil.CONN_LISTEN and each.pid:
                return psutil.Process(each.pid)
        raise LookupError("no Solr listens")

    def verdict(self) -> Verdict:
        """What became of the documents, once all runs have ended."""
        return judged(self.documents, self.collection.ids(), letters(self.job))


class Places:
    """Makes places on the running embedded Solr, all of which end with the block."""

    def __init__(self, folder: Path, held: ExitStack) -> None:
        self._folder, self._held = folder, held

    def make(self, count: int, *, every_bad: int = 0, interval: int = 4_000) -> Place:
        """A place with so many documents, of which each `every_bad`-th cannot be indexed."""
        documents = invent(self._folder / "documents.jsonl", count, every_bad=every_bad)
        history = History()
        proxy: Proxy = self._enter(proxied(embedded.start().port, history))
        collection: Collection = self._enter(fresh_core(proxy.url))
        made = Place(self._folder, documents, collection, proxy, history)
        made.words = [
            "index", str(documents.path), "--solr", collection.url, "--job", str(made.job),
            "--checkpoint-every", str(interval), "--fields", FIELDS,
        ]  # fmt: skip
        return made

    def _enter(self, context: Any) -> Any:
        return self._held.enter_context(context)


@contextmanager
def places(folder: Path) -> Iterator[Places]:
    """Places whose files are in a folder."""
    with ExitStack() as held:
        yield Places(folder, held)
