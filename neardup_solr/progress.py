"""How far a verb is, and what it could not use: told to whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from neardup_solr.errors import RecordError


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a verb is.

    `stage` is a word for what is being done ("indexing", "comparing", ...), `done` how many
    documents (when "joining" bands, when "comparing" in `duplicates` pairs) are behind it, of
    `total`. If nobody knows the total, `share` may say what part of the source is behind it, 0..1.
    """

    stage: str
    done: int
    total: int | None = None
    share: float | None = None


OnError = Callable[[RecordError], None]
OnProgress = Callable[[Progress], None]


def unheard(_: object) -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Who is told what: of each record that cannot be used, and now and then of progress."""

    on_error: OnError = field(default=unheard)
    on_progress: OnProgress = field(default=unheard)


SILENT = Watching()
