"""Progress of a command: a bar for each stage, and a line for each of the first errors."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from neardup_solr.cli import show

if TYPE_CHECKING:
    from neardup_solr.progress import Callbacks, Progress

MOST_ERRORS = 20
UNITS = {"joining": "bands"}  # what a stage counts, if not documents


@contextmanager
def watching(**units: str) -> Iterator[Callbacks]:
    """A bar for each stage with rate and time left, and a line for each of the first errors.

    `units` say what a stage counts, by its name. Bars are shown only on a terminal.
    """
    from neardup_solr.progress import Callbacks

    if not sys.stderr.isatty():
        yield Callbacks(on_error=first_errors(show.say))
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, highlight=False)
    bars = Bars(
        TextColumn("{task.description:<9}"),
        BarColumn(),
        TextColumn("{task.fields[done]:,} {task.fields[unit]}, {task.fields[rate]}/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks: dict[str, TaskID] = {}
    begun: dict[str, tuple[float, int]] = {}  # first report of a stage: its time, and what was done

    def on_progress(told: Progress) -> None:
        now = time.monotonic()
        if told.stage not in tasks:
            unit = (UNITS | units).get(told.stage, "documents")
            begun[told.stage] = now, told.done
            tasks[told.stage] = bars.add_task(told.stage, total=None, done=0, unit=unit, rate="–")
        since, before = begun[told.stage]
        rate = f"{(told.done - before) / (now - since):,.0f}" if told.done > before else "–"
        share = told.done / told.total if told.total else told.share
        total = None if share is None else 1.0
        bars.update(tasks[told.stage], completed=share, total=total, done=told.done, rate=rate)

    with bars:
        errors = first_errors(lambda line: console.print(line, markup=False, soft_wrap=True))
        yield Callbacks(on_error=errors, on_progress=on_progress)


def first_errors(say: Callable[[str], None]) -> Callable[[Exception], None]:
    """A function that shows the first errors it is told, a line for each."""
    errors = 0

    def on_error(error: Exception) -> None:
        nonlocal errors
        errors += 1
        if errors <= MOST_ERRORS:
            say(show.printable(str(error)))
        elif errors == MOST_ERRORS + 1:
            say("... further errors are counted, not shown.")

    return on_error


@contextmanager
def resumable() -> Iterator[None]:
    """Tell what an interrupted command says if it can be continued."""
    try:
        yield
    except KeyboardInterrupt:
        show.say("What is written stays; run this again to continue where it stopped.")
        raise
