"""The command index."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

import neardup_solr as nd
from neardup_solr.arguments import most_failed
from neardup_solr.cli import progress, show
from neardup_solr.cli.options import Given


def index(given: Given, *, max_failed: str = "0", restart: bool = False) -> int:
    """Index a file, a folder or standard input into Solr."""
    source = given["source"]
    if given["resume"] and restart:
        raise click.BadParameter("--resume and --restart exclude each other")
    most_failed(max_failed, 0)
    _judge(given)
    from neardup_solr.solr.responses import is_of_cluster
    from neardup_solr.sources import shown_name
    from neardup_solr.verbs.index import not_begun

    try:
        # A collection that is created here has one replica of each shard.
        target = given.connect(create=given["min_replicas"] == 1)
        usual = _usual_folder(source, target.server, target.name)  # opens it
        folder = given["job"] = given["job"] or usual
    except nd.SolrError as error:
        is_node_away = isinstance(error, nd.SolrAnswerError) and is_of_cluster(error)
        if error.may_pass or is_node_away:
            error.add_note(not_begun(shown_name(source)))
        raise
    if not (given["resume"] or restart):
        _say_if_unfinished(folder)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    try:
        with progress.watching() as watching:
            summary = nd.index(
                collection=target,
                on_error=watching.on_error,
                on_progress=watching.on_progress,
                **given,
            )
    except KeyboardInterrupt as interrupt:
        if not hasattr(interrupt, "__notes__"):
            interrupt.add_note(
                "What was sent may not be durable; it is safe to run the same command again."
            )
        raise
    show.say_summary(summary)
    if summary.failed:
        show.say(
            f"The records that failed: neardup dead-letters show --job {shlex.quote(str(folder))}"
        )
    return 1 if summary.failed > most_failed(max_failed, summary.read) else 0


def _usual_folder(source: Sequence[str], server: str, name: str) -> Path:
    from neardup_solr import jobs, sources

    can_resume = sources.size_hint(source) is not None
    return jobs.folder_for(source, server, name, can_resume=can_resume)


def _say_if_unfinished(folder: Path) -> None:
    """Tell of an earlier run that did not end."""
    from neardup_solr import jobs

    try:
        with jobs.Job(folder):  # or it is at work
            kept = jobs.read_checkpoint(folder)
    except nd.NeardupError:
        return  # which is told when it is begun
    if kept is not None and not kept.has_ended:
        records = show.counted(kept.reached.read, "record")
        show.say(
            f"An earlier run of this stopped after {records}. This one begins anew; with --resume"
            " it would go on after them."
        )


def _judge(given: Given) -> None:
    """Refuse a source that cannot be used, before a Solr is started for it.

    The first record of a file is read; a pipe can be read only once.
    """
    from neardup_solr import sources
    from neardup_solr.progress import ignore
    from neardup_solr.sources.columns import check_keep

    can_read_again = sources.size_hint(given["source"]) is not None
    asked = sources.reading_of(given, "refuse" if can_read_again else "none")
    check_keep(asked.keep)
    # Notices about the source are printed when it is indexed.
    documents = sources.documents(given["source"], reading=asked, on_error=ignore, on_notice=ignore)
    if can_read_again:
        next(documents, None)
