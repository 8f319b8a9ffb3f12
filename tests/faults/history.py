"""What became of each document: sent, checkpointed, dead, found; and what that adds up to.

What was sent is told by the proxy before Solr, what is found by Solr, what is dead and checkpointed
by the files of the job: nothing by the client's own word.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition

import orjson

from tests.faults.invented import Invented


@dataclass(slots=True)
class History:
    """What was sent to a collection, counted at the proxy."""

    sent: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    _changed: Condition = field(default_factory=Condition)

    def __call__(self, path: str, body: bytes) -> None:
        """Take a request that reached the proxy whole."""
        if "/update" not in path:
            return
        with self._changed:
            if body.startswith(b"["):
                self.sent.update(str(one["id"]) for one in orjson.loads(body))
            elif b'"commit"' in body:
                self.commits += 1
            self._changed.notify_all()

    def wait_for(self, count: int, seconds: float) -> bool:
        """Wait until so many documents were sent at least once; False if they were not in time."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.sent) >= count, seconds)

    def resent(self) -> int:
        """How many times a document was sent that had been sent before."""
        return self.sent.total() - len(self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of the documents of a file.

    `lost` could be indexed, and are neither found nor dead; `strange` are found, and were never in
    the file or could not be indexed; `repeated` are found more than once. `dead_missing` and
    `dead_more` are dead letters that should be there, and those that should not, or are there
    more than once.
    """

    lost: list[str]
    strange: list[str]
    repeated: list[str]
    dead_missing: list[str]
    dead_more: list[str]

    def is_right(self) -> bool:
        """Whether every document is where it has to be, once."""
        return not any((self.lost, self.strange, self.repeated, self.dead_missing, self.dead_more))


def judged(documents: Invented, found: Iterable[str], dead: Iterable[str]) -> Verdict:
    """Compare what a search finds, and the ids of the dead letters, with the file."""
    there, letters = Counter(found), Counter(dead)
    good, bad = set(documents.good), set(documents.bad)
    return Verdict(
        lost=sorted(good - there.keys() - letters.keys()),
        strange=sorted(there.keys() - good),
        repeated=sorted(id for id, times in there.items() if times > 1),
        dead_missing=sorted(bad - letters.keys()),
        dead_more=sorted((letters - Counter(bad)).elements()),
    )


def letters(job: Path) -> list[str]:
    """The ids in the file of dead letters, as they stand there."""
    path = job / "dead-letters.jsonl"
    if not path.exists():
        return []
    return [str(json.loads(line)["id"]) for line in path.read_text("utf-8").splitlines()]


def checkpointed(job: Path) -> int:
    """How many records of the file are done according to the checkpoint; 0 if there is none."""
    path = job / "checkpoint.json"
    return int(json.loads(path.read_bytes())["reached"]["read"]) if path.exists() else 0
