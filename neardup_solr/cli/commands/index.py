"""The command index: a source into a collection."""

from __future__ import annotations

import shlex
from pathlib import Path

import neardup_solr as nd
from neardup_solr.checks import require_positive
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed
from neardup_solr.units import most_failed


def index(typed: Typed, *, max_failed: str = "0") -> int:
    """Index a file, a folder or standard input into Solr."""
    source = typed.paths
    most_failed(max_failed, 0)
    can_resume = _check(typed)
    from neardup_solr.index_job import folder_for
    from neardup_solr.solr.unsigned import describe_unspaced
    from neardup_solr.sources import shown_name
    from neardup_solr.verbs.index_run import not_begun

    try:
        # A collection that is created here has one replica of each shard.
        target = typed.connect(create=typed["min_replicas"] == 1)
        usual = folder_for(source, target.base, target.name, can_resume=can_resume)  # opens it
        folder = typed["job"] or usual
        typed = typed.replace(job=folder)
    except nd.SolrError as error:
        if error.may_pass:
            error.add_note(not_begun(shown_name(source)))
        raise
    if not typed["resume"]:
        _say_if_unfinished(folder)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    with show.say_if_interrupted(show.UNSURE), show.watch() as watching:
        summary = nd.index(collection=target, **watching, **typed.arguments)
    show.say_summary(summary)
    show.say_gaps(describe_unspaced(target))
    if summary.failed:
        job = shlex.quote(str(folder))
        show.warn(f"To see the records that failed: neardup dead-letters show --job {job}")
    is_complete = summary.failed <= most_failed(max_failed, summary.read) and not summary.damaged
    return 0 if is_complete else INCOMPLETE


def _say_if_unfinished(folder: Path) -> None:
    """Tell of an earlier run that did not end."""
    from neardup_solr import index_job

    try:
        with index_job.Job(folder):  # or it is at work
            kept = index_job.read_checkpoint(folder)
    except nd.NeardupError:
        return  # which `index` reports
    if kept is not None and not kept.has_ended:
        records = show.counted(kept.reached.read, "record")
        show.warn(
            f"An earlier run stopped after {records}. This run starts over; --resume continues"
            " the earlier run."
        )


def _check(typed: Typed) -> bool:
    """Refuse numbers and a source that cannot be used, before a Solr is started for them.

    The first record of a file is read; a pipe can be read only once. Returns True for a file.
    """
    from neardup_solr import sources
    from neardup_solr.progress import ignore
    from neardup_solr.sources.column import check_keep
    from neardup_solr.sources.reading import Guess

    numbers = ("batch", "checkpoint_every", "min_replicas")
    require_positive(**{name: typed[name] for name in numbers})

    can_read_again = sources.size_hint(typed.paths) is not None
    columns = {name: typed[name] for name in ("id", "text", "keep")}
    guess: Guess = "refuse" if can_read_again else "none"
    source, reading = sources.reading_of(typed["source"], guess, **columns)
    check_keep(reading.keep)
    # Notices about the source are printed when it is indexed.
    documents = sources.open_source(source, reading, on_notice=ignore).documents(ignore)
    if can_read_again:
        next(documents, None)
    return can_read_again
