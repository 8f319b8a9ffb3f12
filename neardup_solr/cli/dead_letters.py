"""The commands on dead letters: show and retry."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Function, Given

if TYPE_CHECKING:
    from neardup_solr.arguments import RowFormat
    from neardup_solr.solr.collection import Collection

COLUMNS = ("position", "id", "stage", "reason", "record")
WIDEST = 100_000  # characters of a record that a table is given, which cuts it off much earlier

HELP = "Show the records that index could not index, or index them again."


def show_letters(
    given: Given, *, output: Path | None = None, format: RowFormat | None = None
) -> int:
    """Show the records that could not be indexed, and why.

    With --job, no Solr is asked.
    """
    from neardup_solr.reports import tables

    as_rows = options.choose_format(format)
    if output is not None:
        tables.check_output(output)
    job: Path | None = given["job"]
    if job is None:
        from neardup_solr.checkpoint import folders_of

        target = given.connect()
        folders = folders_of(target.base, target.name)
        whose = f"of {target.name} at {target.base}"
    elif given.address is not None or given.collection is not None:
        raise click.BadParameter("--job tells which: leave --solr and --collection out")
    else:
        folders, whose = [job], f"in {job}"
    found = {folder: nd.dead_letters(job=folder) for folder in folders}
    letters = [letter for several in found.values() for letter in several]
    if output is not None:
        from neardup_solr.files import write_lines

        write_lines(output, _format_letters(letters, output.suffix.lower().removeprefix(".")))
    elif as_rows is not None:
        show.print_rows(_format_letters(letters, as_rows))
    elif letters:
        _print_table(letters)
    _say_where(found, whose)
    return 0


def retry(given: Given) -> int:
    """Index the records again that could not be indexed.

    Mend them in the file that `dead-letters show` names. Those that are indexed are removed from
    it, the others stay, with the new reason. The exit code is 1 if some stay.
    """
    target = _find_target(given)
    show.compile_kernel()
    try:
        with show.watch() as watching:
            done = nd.retry(target, **watching, **given)
    except KeyboardInterrupt:
        show.say("No record was removed that is not indexed; run this again to go on.")
        raise
    for folder in done.unfinished:
        show.say(
            f"The job in {folder} has not ended: wait for it if it is at work, else go on with"
            " neardup index and --resume first."
        )
    if done.read:
        show.say(
            f"Read {show.counted(done.read, 'dead letter')} = {done.indexed:,} indexed"
            f" + {done.repeated:,} repeated + {done.failed:,} failed."
        )
        show.say(
            f"The collection {done.collection} has {show.counted(done.documents, 'document')} now."
        )
    elif not done.unfinished:
        show.say(f"There are no dead letters to index in {target.name}.")
    if done.failed:
        for path in done.left:
            show.say(f"To be mended: {path}")
        show.say(
            "Edit what is wrong in 'record', which may be an object with its columns, or remove the"
            " line; then run this again."
        )
    return 1 if done.failed or done.unfinished else 0


COMMANDS: dict[str, Function] = {"show": show_letters, "retry": retry}


def _find_target(given: Given) -> Collection:
    """Find the collection that the options name, or else that of the job.

    Raises JobError if the job is of another Solr than the one that is usual here.
    """
    if given["job"] is None or given.address is not None:
        return given.connect()
    from neardup_solr import embedded
    from neardup_solr.verbs.connect import ADDRESS
    from neardup_solr.verbs.dead_letters import read_job

    work = read_job(given["job"]).work
    is_usual = os.environ.get(ADDRESS) or work.server == embedded.address()
    address = None if is_usual else work.server
    target = options.connect(address, given.collection or work.collection)
    if os.environ.get(ADDRESS) and target.base != work.server:
        reason = f"the job is of a collection at {work.server}, and ${ADDRESS} names another"
        raise nd.errors.JobError(reason, f"add --solr {work.server}")
    return target


def _say_where(found: Mapping[Path, Sequence[nd.types.Letter]], whose: str) -> None:
    from neardup_solr.checkpoint import LETTERS

    for folder, letters in found.items():
        if letters:
            show.say(f"{show.counted(len(letters), 'dead letter')} in {folder / LETTERS}")
    if not any(found.values()):
        show.say(f"There are no dead letters {whose}.")


def _format_letters(letters: Iterable[nd.types.Letter], format: str) -> Iterator[str]:
    """Format dead letters as lines, in JSONL as they are in their file."""
    from neardup_solr.checkpoint import line_of
    from neardup_solr.reports.tables import format_rows

    if format == "jsonl":
        return map(line_of, letters)
    return format_rows(map(_row, letters), COLUMNS, format)


def _row(letter: nd.types.Letter) -> dict[str, str | None]:
    """Make a row, in which lone surrogates are escaped: they stand for bytes that are not UTF-8."""
    cells = {name: getattr(letter, name) for name in COLUMNS} | {"record": _format_record(letter)}
    return {
        name: cell and cell.encode("utf-8", "backslashreplace").decode()
        for name, cell in cells.items()
    }


def _format_record(letter: nd.types.Letter) -> str | None:
    """Format a record as text: an object as its JSON, a line as it is."""
    if not isinstance(letter.record, Mapping):
        return letter.record
    try:
        return json.dumps(letter.record, ensure_ascii=False)
    except RecursionError:  # lists within lists by the hundred
        return None


def _print_table(letters: Sequence[nd.types.Letter]) -> None:
    """Print the first dead letters as a table, the records cut off if they do not fit."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True)
    table.add_column("position", overflow="fold", ratio=2)
    table.add_column("id", overflow="ellipsis", no_wrap=True, ratio=1)
    table.add_column("stage", no_wrap=True)
    table.add_column("reason", overflow="fold", ratio=3)
    table.add_column("record", overflow="ellipsis", no_wrap=True, ratio=3)
    for letter in letters[: show.MOST_ROWS]:
        table.add_row(*(show.printable((cell or "")[:WIDEST]) for cell in _row(letter).values()))
    Console(markup=False, highlight=False).print(table)
    more = len(letters) - show.MOST_ROWS
    if more > 0:
        show.say(f"... and {more:,} more; -o letters.tsv writes all of them.")
