"""One side of what is compared: its documents, and how they come to be known."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from neardup_solr import sources
from neardup_solr.arguments import require, require_positive
from neardup_solr.progress import SILENT, Failures, Watching, unheard
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection, State
from neardup_solr.sources import Reading
from neardup_solr.spill import Spill, Strings
from neardup_solr.verbs.duplicates.past import Past

Compared: TypeAlias = sources.Source | Collection
READING = "reading"


def threads() -> int:
    """The number of threads that compare."""
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """How the work is done, and who is told of it: arguments of `duplicates`, checked.

    Raises ArgumentError if a value is out of range.
    """

    memory: int | None = None
    spill: Path | None = None
    limit: int | None = None
    checkpoint: Path | None = None
    keep_texts: bool = False
    watching: Watching = SILENT

    def __post_init__(self) -> None:
        require_positive(limit=self.limit)
        if self.memory is not None:
            reason = f"`memory` cannot be {self.memory:,}, which is less than 1 MB"
            require(self.memory >= 1 << 20, reason, 'give more, such as "64M"')


@dataclass(slots=True)
class Order:
    """Which records of a source are documents, in its order.

    `are_documents` has 1 for each record that makes a document, `have_words` 1 for each document
    that has words.
    """

    are_documents: bytearray = field(default_factory=bytearray)
    have_words: bytearray = field(default_factory=bytearray)


@dataclass(slots=True, kw_only=True)
class Side:
    """The documents of one source that have words: ids and texts by row, and what was left out.

    `unsigned` documents have text but no signature; `repeated` ones came again later. `state` is
    the state of a collection when it was read, `order` the order of a source if it is needed;
    `has_changed` tells whether a file has been written to since; `digest` tells the texts of a
    source, if there is a checkpoint.
    """

    ids: Strings
    texts: Callable[[Sequence[int]], Sequence[str | None]]
    values: Callable[[Sequence[int], Sequence[str]], Mapping[str, list[Any]]]
    documents: int = 0
    failures: Failures = field(default_factory=lambda: Failures(unheard))
    unsigned: int = 0
    is_cut: bool = False
    repeated: int = 0
    dead: list[int] = field(default_factory=list)
    collection: Collection | None = None
    state: State | None = None
    order: Order | None = None
    has_changed: Callable[[], bool] = lambda: False
    digest: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """How sources are read, with what settings, and what is kept of them.

    `past` is an earlier run, if runs are remembered.
    """

    spill: Spill
    settings: Settings
    reading: Reading
    working: Working
    has_texts: bool
    has_order: bool = False
    past: Past | None = None

    @property
    def remembering(self) -> Past | None:
        """The earlier run, if this one can be remembered."""
        return self.past if self.past is not None and self.past.is_kept else None
