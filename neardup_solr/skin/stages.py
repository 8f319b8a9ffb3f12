"""How far `duplicates` is, stage by stage, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup_solr.skin import show

if TYPE_CHECKING:
    from neardup_solr.pure.model import Cluster
    from neardup_solr.verbs.duplicating import Duplicates

MOST_CLUSTERS = 20  # on a terminal; files and pipes get all
_WHAT = {"reading": "documents", "joining": "bands", "comparing": "pairs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Who is told of errors and of progress."""

    on_error: Callable[[Exception], None]
    on_progress: Callable[[str, int, int | None], None]


@contextmanager
def watching() -> Iterator[Watching]:
    """A bar for each stage with rate and time to go; a line for each of the first errors."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False)
    bars = Progress(
        TextColumn("{task.description:<9}"),
        BarColumn(),
        TextColumn("{task.completed:,} {task.fields[what]}, {task.fields[rate]}/s"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks: dict[str, TaskID] = {}
    errors = show.first_errors(console)

    def on_progress(stage: str, done: int, total: int | None) -> None:
        if stage not in tasks:
            tasks[stage] = bars.add_task(stage, total=total, what=_WHAT[stage], rate="–")
        # Rich leaves out what is done of a task from its speed until the second step.
        speed = bars.tasks[list(tasks).index(stage)].speed
        rate = "–" if speed is None else f"{speed:,.0f}"
        bars.update(tasks[stage], completed=done, total=total, rate=rate)

    with bars:
        yield Watching(on_error=errors, on_progress=on_progress)


def print_clusters(found: Duplicates, *, most: int = MOST_CLUSTERS) -> None:
    """The largest clusters as a table: what to keep, and what is near it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    largest = sorted(found.clusters, key=lambda cluster: -len(cluster.members))[:most]
    if not largest:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    for name in ("documents", "pairs", "similarity", "diameter"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("keep", overflow="fold", max_width=24)
    table.add_column("near it", ratio=1, overflow="ellipsis", no_wrap=True)
    for cluster in largest:
        table.add_row(
            f"{len(cluster.members):,}",
            f"{cluster.pairs:,}",
            f"{min(member.similarity for member in cluster.members):.3f}",
            f"{cluster.diameter}" if cluster.diameter else "–",
            show.printable(cluster.canonical),
            show.printable(_others(cluster)),
        )
    Console(markup=False, highlight=False).print(table)
    more = len(found.clusters) - len(largest)
    if more:
        show.say(
            f"... and {show.counted(more, 'smaller cluster')};"
            " -o report.html shows all of them, -o pairs.tsv has all pairs."
        )


def _others(cluster: Cluster, *, most: int = 20) -> str:
    return " ".join(member.id for member in cluster.members[1 : most + 1])


def say_duplicates(found: Duplicates) -> None:
    """What stands behind the pairs of a whole collection, and what may be missing."""
    pairs = show.counted(len(found.pairs), "near-duplicate pair")
    clusters = show.counted(len(found.clusters), "cluster")
    documents = show.counted(found.documents, "document")
    compared = show.counted(found.candidates, "pair")
    show.say(f"{pairs} in {clusters} among {documents}; {compared} compared.")
    if found.hot_keys and found.by_bands:
        show.say(
            f"{show.counted(found.hot_keys, 'band key')} of more documents than --cap: these were"
            " chained, not all compared with each other; raise --cap to be sure."
        )
    elif found.hot_keys:
        words = show.counted(found.hot_keys, "common word")
        show.say(f"{words} did not make candidates alone; raise --cap to be sure.")
    for gap in found.gaps:
        show.say(f"Not complete: {gap}.")
