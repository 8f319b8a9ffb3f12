"""The command search: the near-duplicates of a document or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed
from neardup_solr.settings import MIN_WORDS

if TYPE_CHECKING:
    from neardup_solr.argument_types import RowFormat
    from neardup_solr.solr.collection import Collection


def search(typed: Typed, *, format: RowFormat | None = None) -> int:
    """Find the near-duplicates of one document or text."""
    from neardup_solr.reports.rows import match_rows, passage_rows

    if (typed["id"] is None) == (typed["text"] is None):
        raise click.BadParameter("give either --id or --text")
    as_rows = show.choose_format(format)
    if typed["text"] == "-":
        show.say_if_typed(["-"], "the text")
        from neardup_solr import sources

        typed = typed.replace(text=sources.open_source("-").text())
    target = typed.connect()
    matches = nd.search(target, **typed.arguments)
    shared = [each for match in matches for each in match.passages]
    if as_rows is not None:
        rows = passage_rows(shared) if typed["passages"] else match_rows(matches)
        show.print_rows(rows.lines(as_rows))
    elif typed["passages"]:
        show.print_passages(shared)
    else:
        show.print_matches(matches)
    if typed["passages"] and (without := sum(not match.passages for match in matches)):
        show.say(
            f"{show.counted(without, 'near-duplicate')} without a passage of"
            f" {typed['min_words'] or MIN_WORDS} words."
        )
    if not matches:
        show.say(_describe_nothing(target, typed["id"]))
        show.say_if_full_text(typed["fq"], target.place)
    from neardup_solr.solr.unsigned import describe_unsigned

    show.say_gaps(describe_unsigned(target))
    return 0


def _describe_nothing(target: Collection, id: str | None) -> str:
    """Say that nothing was found, or that a document without words has no near-duplicates."""
    from neardup_solr.text.normalize import normalize

    normalization = target.needed_settings().normalization
    if id is not None and not normalize(target.texts([id]).get(id, ""), normalization):
        return "The document has no text or no words, so it has no near-duplicates."
    return "No near-duplicates found."
