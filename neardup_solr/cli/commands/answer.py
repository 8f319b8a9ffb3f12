"""The command answer: what a person says of a pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.typed import Typed, say_choice

if TYPE_CHECKING:
    from neardup_solr.argument_types import Judgement, RowFormat


def answer(
    typed: Typed,
    *,
    one: str | None = None,
    other: str | None = None,
    answer: Judgement | None = None,
    pairs: Path | None = None,
    ordered: bool = False,
    output: Path | None = None,
    format: RowFormat | None = None,
) -> int:
    """Record whether a pair is the same, different or unsure.

    Without a pair, lists the answers in the file, or reads answers from a table (--import).
    """
    if (answer is not None and pairs is not None) or (one and answer is None):
        raise click.BadParameter("give either ID OTHER_ID same|different|unsure or --import FILE")
    answers, is_list = nd.Answers(typed["answers"]), answer is None and pairs is None
    if output is not None and not is_list:
        raise click.BadParameter("-o is only for listing answers: leave out the pair or --import")
    if is_list:
        _print_answers(answers, output, show.choose_format(format))
        return 0
    typed = _choose_columns(typed)
    source = typed["source"] or (typed.connect() if typed.place.is_named else None)
    typed = typed.replace(source=source)
    place = answers.path
    aside = {*answers.set_aside} if place.is_file() else set()
    if pairs is not None:
        columns = {name: typed[name] for name in ("id", "text")}
        done = answers.add(pairs, source, ordered=ordered, **columns)
        rest = f", {done.known:,} already known" if done.known else ""
        empty, added = show.counted(done.empty, "row"), show.counted(done.added, "answer")
        show.say(f"{added} recorded in {place}{rest}; {empty} without an answer.")
    else:
        noted = nd.answer(
            one=one or "", other=other or "", answer=answer or "unsure", **typed.arguments
        )
        show.say(f"{noted.id} – {noted.other_id} recorded as {noted.answer} in {place}.")
    if source is None:
        texts = ": the answer applies to any texts" if pairs is None else ", except from the table"
        show.say(f"Without --source, the texts are not recorded{texts}.")
    if more := [each for each in answers.set_aside if each not in aside]:
        first = f"{more[0].id} – {more[0].other_id} {more[0].answer}"
        contradicted = show.counted(len(more), "answer is", "answers are")
        show.warn(f"{contradicted} set aside, contradicted by newer answers: {first}.")
    return 0


def _choose_columns(typed: Typed) -> Typed:
    """Add the columns that are not named, as `duplicates` chooses them, and say which."""
    from neardup_solr.sources.choice import choose_columns
    from neardup_solr.verbs.answer import request_columns

    if not typed.paths:
        return typed
    chosen = choose_columns(request_columns(typed["source"], typed["id"], typed["text"]))
    if chosen is None:
        return typed
    say_choice(chosen)
    return typed.replace(**chosen.arguments)


def _print_answers(answers: nd.Answers, output: Path | None, as_rows: str | None) -> None:
    """Print the latest answers, or write them to a file."""
    from neardup_solr.reports.rows import column_rows

    columns = answers.columns()
    if output is not None:
        answers.write(output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        table = [[name, *map(show.printable, cells)] for name, cells in columns.items()]
        rows = zip(*table, strict=True)
        show.print_rows(f"{line}\n" for line in show.align([*rows], right=()))
    else:
        show.print_rows(column_rows(columns).lines(as_rows))
    aside = show.counted(len(answers.set_aside), "is", "are")
    show.say(f"Answers about {show.counted(len(columns['id']), 'pair')}; {aside} set aside.")
