"""The command index."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import neardup_solr as nd
from neardup_solr.cli import options, progress, show
from neardup_solr.sizes import MAX_DOC_BYTES, as_bytes, in_seconds, most_failed

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection


def index(
    source: options.SourceArgument,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
    id_field: options.IdFieldOption = None,
    text_field: options.TextFieldOption = None,
    keep: options.KeepOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    max_doc_bytes: options.MaxDocBytesOption = MAX_DOC_BYTES,
    on_repeat: options.OnRepeatOption = "last",
    fields: options.FieldsOption = None,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    family: options.FamilyOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
    signatures: options.SignatureTermsOption = None,
    threads: options.ThreadsOption = 2,
    batch: options.BatchOption = 500,
    checkpoint_every: options.CheckpointOption = 20_000,
    patience: options.PatienceOption = "5m",
    min_replicas: Annotated[
        int,
        typer.Option(
            help="Replicas of each shard in SolrCloud that must have what counts as done.",
            min=1,
            rich_help_panel=options.WORK,
        ),
    ] = 1,
    max_failed: options.MaxFailedOption = "0",
    job: options.JobOption = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on after the last checkpoint of a run that was interrupted.",
            rich_help_panel=options.SAFETY,
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Begin anew, whatever an earlier run has left.",
            rich_help_panel=options.SAFETY,
        ),
    ] = False,
) -> None:
    """Index a file, a folder or standard input into Solr."""
    settings = options.settings_given(
        fields=fields, kind=kind, shingle_size=shingle_size, language=language, family=family,
        hashes=hashes, bands=bands, rows=band_rows, signatures=signatures,
    )  # fmt: skip
    reading = options.reading(id_field, text_field, source_format, delimiter, encoding, lossy)
    kept = options.names(keep)
    if resume and restart:
        raise typer.BadParameter("--resume and --restart exclude each other")
    most_failed(max_failed, 0)
    seconds = in_seconds(patience, "patience")
    _judge(source, reading, kept, max_doc_bytes)
    from neardup_solr.solr.answers import is_of_cluster
    from neardup_solr.sources import shown_name
    from neardup_solr.verbs.index import not_begun

    try:
        # A collection that is created here has one replica of each shard.
        target = options.connect(solr, collection, create=min_replicas == 1, patience=seconds)
    except nd.SolrError as error:
        is_node_away = isinstance(error, nd.SolrAnswerError) and is_of_cluster(error)
        if error.may_pass or is_node_away:
            error.add_note(not_begun(shown_name(source)))
        raise
    folder = job or _usual_folder(source, target)
    if not (resume or restart):
        _say_if_unfinished(folder)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    try:
        with progress.watching() as watching:
            summary = nd.index(
                source,
                target,
                keep=kept if keep is not None else None,
                settings=settings,
                threads=threads,
                batch=batch,
                on_repeat=on_repeat,
                max_doc_bytes=max_doc_bytes,
                checkpoint_every=checkpoint_every,
                patience=seconds,
                min_replicas=min_replicas,
                job=folder,
                resume=resume,
                on_error=watching.on_error,
                on_progress=watching.on_progress,
                **reading,
            )
    except KeyboardInterrupt as interrupt:
        safe = "What was sent may not be durable; it is safe to run the same command again."
        for note in getattr(interrupt, "__notes__", (safe,)):
            show.say(note.replace("`resume`", "--resume"))
        raise
    show.say_summary(summary)
    if summary.failed:
        show.say(
            f"The records that failed: neardup dead-letters show --job {shlex.quote(str(folder))}"
        )
        if summary.failed > most_failed(max_failed, summary.read):
            raise typer.Exit(1)


def _usual_folder(source: Sequence[str], target: Collection) -> Path:
    from neardup_solr import jobs, sources

    can_resume = sources.size_hint(source) is not None
    return jobs.folder_for(source, target.server, target.name, can_resume=can_resume)


def _say_if_unfinished(folder: Path) -> None:
    """Tell of an earlier run that did not end."""
    from neardup_solr import jobs

    try:
        with jobs.Job(folder):  # or it is at work
            kept = jobs.kept_in(folder)
    except nd.NeardupError:
        return  # which is told when it is begun
    if kept is not None and not kept.has_ended:
        records = show.counted(kept.reached.read, "record")
        show.say(
            f"An earlier run of this stopped after {records}. This one begins anew; with --resume"
            " it would go on after them."
        )


def _judge(
    source: Sequence[str], reading: options.Reading, keep: Sequence[str], max_doc_bytes: str
) -> None:
    """Refuse a source that cannot be used, before a Solr is started for it.

    The first record of a file is read; a pipe can be read only once.
    """
    from neardup_solr import sources
    from neardup_solr.progress import unheard

    can_read_again = sources.size_hint(source) is not None
    asked = sources.Reading(
        keep=tuple(keep),
        max_doc_bytes=as_bytes(max_doc_bytes, "max_doc_bytes"),
        guess="refuse" if reading["id"] is None and can_read_again else "none",
        id=reading["id"] or "id",
        text=reading["text"],
        source_format=reading["source_format"],
        delimiter=reading["delimiter"],
        encoding=reading["encoding"],
        lossy=reading["lossy"],
    )
    # Notices about the source are printed when it is indexed.
    documents = sources.documents(source, reading=asked, on_error=unheard, on_notice=unheard)
    if can_read_again:
        next(documents, None)
