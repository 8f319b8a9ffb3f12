"""How far a command is: bars for people, and a line for each of the first errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from neardup_solr.cli import show

if TYPE_CHECKING:
    from neardup_solr.verbs.annotate.rewrite import Watching


@contextmanager
def rewriting(what: str) -> Iterator[Watching]:
    from rich.console import Console

    from neardup_solr.verbs.annotate.rewrite import Watching

    errors = show.first_errors(Console(stderr=True, highlight=False))
    with show.counting(what) as on_progress:
        yield Watching(on_error=errors, on_progress=on_progress)


@contextmanager
def going_on() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        show.say("What is written stays; the same command again goes on where this one stopped.")
        raise
