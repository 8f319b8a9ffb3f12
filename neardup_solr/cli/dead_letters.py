"""The commands on dead letters: show and retry."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Function, ParsedOptions

if TYPE_CHECKING:
    from neardup_solr.arguments import RowFormat
    from neardup_solr.solr.collection import Collection

COLUMNS = ("position", "id", "stage", "reason", "record")
WIDEST = 100_000  # characters of a record that go to a table, which cuts it off much earlier

TABLE: dict[str, dict[str, Any]] = {
    "position": {"overflow": "fold", "ratio": 2},
    "id": {"overflow": "ellipsis", "no_wrap": True, "ratio": 1},
    "stage": {"no_wrap": True},
    "reason": {"overflow": "fold", "ratio": 3},
    "record": {"overflow": "ellipsis", "no_wrap": True, "ratio": 3},
}

HELP = "Show the records that index could not index, or index them again."


def show_letters(
    parsed: ParsedOptions, *, output: Path | None = None, format: RowFormat | None = None
) -> int:
    """Show the records that could not be indexed, and why.

    With --job, no Solr is asked.
    """
    from neardup_solr.checkpoint import LETTERS, folders_of
    from neardup_solr.reports import tables

    as_rows = options.choose_format(format)
    if output is not None:
        tables.check_output(output)
    job: Path | None = parsed["job"]
    if job is None:
        target = parsed.connect()
        folders = folders_of(target.base, target.name)
        place = f"of {target.name} at {target.base}"
    elif parsed.address is not None or parsed.collection is not None:
        raise click.BadParameter("--job tells which: leave --solr and --collection out")
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


def retry(parsed: ParsedOptions) -> int:
    """Index the records again that could not be indexed.

    Mend them in the file that `dead-letters show` names. Those that are indexed are removed from
    it, the others stay, with the new reason. The exit code is 1 if some stay.
    """
    target = _find_target(parsed)
    show.compile_kernel()
    try:
        with show.watch() as watching:
            done = nd.retry(target, **watching, **parsed)
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


def _find_target(parsed: ParsedOptions) -> Collection:
    """Find the collection that the options name, or else that of the job.

    Raises JobError if the job is of another Solr than the usual one.
    """
    if parsed["job"] is None or parsed.address is not None:
        return parsed.connect()
    from neardup_solr import embedded
    from neardup_solr.verbs.connect import ADDRESS
    from neardup_solr.verbs.dead_letters import read_job

    work, usual = read_job(parsed["job"]).work, os.environ.get(ADDRESS)
    address = None if usual or work.server == embedded.address() else work.server
    target = options.connect(address, parsed.collection or work.collection)
    if usual and target.base != work.server:
        reason = f"the job is of a collection at {work.server}, and ${ADDRESS} names another"
        raise nd.errors.JobError(reason, f"add --solr {work.server}")
    return target


def _format_letters(letters: Iterable[nd.types.Letter], format: str) -> Iterator[str]:
    """Format dead letters as lines, in JSONL as they are in their file."""
    from neardup_solr.checkpoint import line_of
    from neardup_solr.reports.tables import RowTable

    if format == "jsonl":
        return map(line_of, letters)
    return RowTable(map(_row, letters), COLUMNS).lines(format)


def _row(letter: nd.types.Letter) -> dict[str, str | None]:
    """Make a row, with an object as its JSON, and a line as it is.

    Lone surrogates are escaped: they stand for bytes that are not UTF-8.
    """
    cells: dict[str, Any] = {name: getattr(letter, name) for name in COLUMNS}
    if isinstance(letter.record, Mapping):
        try:
            cells["record"] = json.dumps(letter.record, ensure_ascii=False)
        except RecursionError:  # lists within lists by the hundred
            cells["record"] = None
    return {
        name: cell and cell.encode("utf-8", "backslashreplace").decode()
        for name, cell in cells.items()
    }
