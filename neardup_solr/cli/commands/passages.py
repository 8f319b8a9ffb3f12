"""The command passages: what documents share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.typed import Typed, choose_columns, has_no_solr

if TYPE_CHECKING:
    from neardup_solr import Passages
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.verbs.passages.strike import Struck

# How a relation reads between two ids, in a line about all of them.
RELATIONS = {
    "copy": ("copy", "copies"),
    "edited": ("edition", "editions"),
    "part of": ("part", "parts"),
    "contains": ("part", "parts"),
    "quotes": ("quotation", "quotations"),
    "quoted in": ("quotation", "quotations"),
    "shares": ("pair that shares a passage", "pairs that share a passage"),
}


def passages(
    typed: Typed, *, output: Path | None = None, strike: Path | None = None,
    format: RowFormat | None = None,
) -> int:  # fmt: skip
    """Find passages that documents share, in a file or a collection.

    A file needs no Solr. Passages may differ by edits, or by letters that a scanner misread.
    """
    from neardup_solr.verbs.duplicates.output import check_table

    as_rows = show.choose_format(format)
    if output is not None:
        check_table(output)
    if not (typed["source"] or typed.place.collection) and has_no_solr(typed.place.address):
        raise click.BadParameter("name a file, or a collection with -c")
    if strike is not None:
        _check_strike(typed, strike)
    from neardup_solr.verbs.passages.request import PassagesRequest

    typed = choose_columns(typed, PassagesRequest).typed
    prints_table = output is None and as_rows is None
    with show.watch() as watching:
        place = typed["source"] or typed.connect()
        arguments = {**typed.arguments, "source": place}
        arguments["texts"] = arguments["texts"] or prints_table
        show.compile_kernel()
        result = nd.passages(**watching, **arguments)
        struck = strike and result.strike(strike, on_progress=watching["on_progress"])
    if output is not None:
        result.write(output)
        show.say(f"Wrote {output}.")
    elif strike is not None and format is None:
        pass  # only the file was asked for
    elif as_rows is None:
        _print_longest(result)
    else:
        show.print_rows(result.lines(as_rows))
    _say_passages(result)
    if strike and struck:
        _say_struck(struck, strike)
    return INCOMPLETE if result.failed else 0


def _check_strike(typed: Typed, strike: Path) -> None:
    """Refuse a file that the source could not be written to, before any work is done for it."""
    from neardup_solr.sources.reading import reading_of
    from neardup_solr.verbs.duplicates.unique import check_files, require_copied

    if not typed.paths:
        raise click.BadParameter("--strike needs a file: a collection is not written anew")
    _, reading = reading_of(typed["source"], "number", id=typed["id"], text=typed["text"])
    paths = require_copied(typed.paths, reading)
    check_files(paths, reading, {"unique": strike})


def _say_struck(struck: Struck, path: Path) -> None:
    """Say what was struck, where it is listed, and what was left as it is."""
    show.say(
        f"Struck {show.counted(struck.passages, 'passage')} from"
        f" {show.counted(struck.documents, 'document')}: {path} has the rest, {struck.listed} what"
        " was struck."
    )
    if struck.empty:
        have = "has" if struck.empty == 1 else "have"
        show.say(
            f"{show.counted(struck.empty, 'document')} {have} no text left: all of it is in others."
            " neardup duplicates --unique leaves such documents out."
        )


def _print_longest(result: Passages) -> None:
    """Print the longest passages as a table."""
    longest = result.longest(show.MOST_ROWS)
    show.print_passages(longest)
    if more := len(result) - len(longest):
        show.say(f"... and {show.counted(more, 'shorter passage')}: -o passages.csv has all.")


def _say_passages(result: Passages) -> None:
    """Say what was found, and what was not looked for."""
    counts: dict[tuple[str, str], int] = {}
    for relation, count in result.count_relations().items():
        names = RELATIONS[relation]
        counts[names] = counts.get(names, 0) + count
    shown = ", ".join(f"{show.counted(count, *names)}" for names, count in counts.items() if count)
    show.say(
        f"Compared {show.counted(result.documents, 'document')}:"
        f" {show.counted(len(result), 'passage')} of {result.min_words} words or more"
        f"{f' ({shown})' if shown else ''}."
    )
    if result.hot:
        show.say(
            f"{show.counted(result.hot, 'run')} of letters {'is' if result.hot == 1 else 'are'} in"
            f" more than {result.cap} documents each: these are compared with the first that has it"
            " and with the next one only."
        )
