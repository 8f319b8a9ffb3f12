"""The command dead-letters: the records that could not be indexed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed, connect

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.solr.collection import Collection


WIDEST = 100_000  # characters of a record that go to a table, which cuts it off much earlier

TABLE: dict[str, dict[str, Any]] = {
    "position": {"overflow": "fold", "ratio": 2},
    "id": {"overflow": "ellipsis", "no_wrap": True, "ratio": 1},
    "stage": {"no_wrap": True},
    "reason": {"overflow": "fold", "ratio": 3},
    "record": {"overflow": "ellipsis", "no_wrap": True, "ratio": 3},
}


def show_letters(
    typed: Typed, *, output: Path | None = None, format: RowFormat | None = None
) -> int:
    """Show the records that could not be indexed, and why.

    With --job, Solr does not have to be running.
    """
    from neardup_solr.dead_letter_file import LETTERS
    from neardup_solr.index_job import folders_of
    from neardup_solr.reports.row_table import check_output

    as_rows = show.choose_format(format)
    if output is not None:
        check_output(output)
    job: Path | None = typed["job"]
    if job is None:
        target = typed.connect()
        folders = folders_of(target.base, target.name)
        place = f"of {target.name} at {target.base}"
    elif typed.place.is_named:
        raise click.BadParameter("--job sets the collection: leave --solr and --collection out")
    else:
        folders, place = [job], f"in {job}"
    letters_of = {folder: nd.dead_letters(job=folder) for folder in folders}
    letters = [letter for group in letters_of.values() for letter in group]
    if output is not None:
        from neardup_solr.files import write_lines

        write_lines(output, _format_letters(letters, output.suffix.lower().removeprefix(".")))
    elif as_rows is not None:
        show.print_rows(_format_letters(letters, as_rows))
    elif letters:
        cells = ([(cell or "")[:WIDEST] for cell in _row(letter).values()] for letter in letters)
        show.print_table(TABLE, cells, "-o letters.tsv")
    for folder, group in letters_of.items():
        if group:
            show.say(f"{show.counted(len(group), 'dead letter')} in {folder / LETTERS}")
    if not letters:
        show.say(f"There are no dead letters {place}.")
    return 0


def retry(typed: Typed) -> int:
    """Retry the records that could not be indexed.

    Correct the records first, in the file that `dead-letters show` names. Indexed records are
    removed from the file. The exit code is 1 if any remain.
    """
    target = _find_target(typed)
    show.compile_kernel()
    safe = "Only indexed records were removed; run this again to continue."
    with show.say_if_interrupted(safe), show.watch() as watching:
        done = nd.retry(target, **watching, **typed.arguments)
    for folder in done.unfinished:
        show.warn(
            f"The job in {folder} has not finished: wait for it, or continue it with neardup index"
            " --resume, then run this again."
        )
    if done.read:
        show.say(
            f"Read {show.counted(done.read, 'dead letter')} = {done.indexed:,} indexed"
            f" + {done.repeated:,} repeated + {done.failed:,} failed."
        )
        documents = show.counted(done.documents, "document")
        show.say(f"The collection {done.collection} has {documents} now.")
    elif not done.unfinished:
        show.say(f"There are no dead letters to index in {target.name}.")
    if done.failed:
        for path in done.left:
            show.warn(f"To be corrected: {path}")
        show.warn("Correct 'record' (text, or object of columns) or remove the line, then rerun.")
    return INCOMPLETE if done.failed or done.unfinished else 0


COMMANDS = {"show": show_letters, "retry": retry}


def _find_target(typed: Typed) -> Collection:
    """Find the collection that the options name, or else that of the job.

    Raises JobError if the job is of another Solr than the usual one.
    """
    if typed["job"] is None or typed.place.address is not None:
        return typed.connect()
    from neardup_solr import embedded
    from neardup_solr.index_job import read_job
    from neardup_solr.verbs.connect import ADDRESS

    work, usual = read_job(typed["job"]).work, os.environ.get(ADDRESS)
    address = None if usual or work.server == embedded.address() else work.server
    target = connect(address, typed.place.collection or work.collection)
    if usual and target.base != work.server:
        reason = f"the job's collection is at {work.server}, but ${ADDRESS} is a different Solr"
        raise nd.errors.JobError(reason, f"add --solr {work.server}", code="job-other-collection")
    return target


def _format_letters(letters: Iterable[nd.types.Letter], format: str) -> Iterator[str]:
    """Format dead letters as lines, in JSONL as they are in their file."""
    from neardup_solr.dead_letter_file import line_of
    from neardup_solr.reports.row_table import RowTable

    if format == "jsonl":
        return map(line_of, letters)
    return RowTable(map(_row, letters), list(TABLE)).lines(format)


def _row(letter: nd.types.Letter) -> dict[str, str | None]:
    """Make a row, with an object as its JSON, and a line as it is.

    Lone surrogates are escaped: they stand for bytes that are not UTF-8.
    """
    cells: dict[str, Any] = {name: getattr(letter, name) for name in TABLE}
    if isinstance(letter.record, Mapping):
        try:
            cells["record"] = json.dumps(letter.record, ensure_ascii=False)
        except RecursionError:  # lists within lists by the hundred
            cells["record"] = None
    return {
        name: cell and cell.encode("utf-8", "backslashreplace").decode()
        for name, cell in cells.items()
    }
