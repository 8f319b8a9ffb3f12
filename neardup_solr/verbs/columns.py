"""Choose the columns of a source that has no column of the text, if nobody named any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from neardup_solr import sources
from neardup_solr.arguments import Source, listed
from neardup_solr.errors import ArgumentError, RecordError, SourceError
from neardup_solr.progress import LOG, ignore
from neardup_solr.records import Document
from neardup_solr.sources import reading_of
from neardup_solr.sources.record import ROW, matches, plain

ROWS = 1_000  # that are looked at


class Chosen(NamedTuple):
    """Arguments for a source that was looked at, and a line on what is left out, or ""."""

    name: str
    arguments: dict[str, Any]
    left_out: str

    def lines(self, spell: Callable[[Mapping[str, Any]], str]) -> list[str]:
        """Describe the choice in a line or two, with the arguments spelled to be repeated."""
        chosen = f"text: compared by its {'columns' if 'fields' in self.arguments else 'text'}"
        if self.arguments.keys() == {"id"}:
            is_row = self.arguments["id"] == ROW
            chosen = f"id: {'its records are numbered' if is_row else 'another has the ids'}"
        line = f"{self.name} has no column {chosen}, as by: {spell(self.arguments)}"
        return [line, *filter(None, [self.left_out])]


def fill_in(inputs: Mapping[str, Any], *, by_fields: bool = True) -> dict[str, Any]:
    """Choose columns as `choose_columns`, log which, and return these arguments, {} for none."""
    chosen = choose_columns(inputs, by_fields=by_fields)
    if chosen is None:
        return {}
    for line in chosen.lines(_spell):
        LOG.warning("%s", line)
    return chosen.arguments


def choose_columns(inputs: Mapping[str, Any], *, by_fields: bool = True) -> Chosen | None:
    """Choose the id, and fields or a text, by the arguments of a verb.

    None if the source is a collection, or columns are named, or it has columns id and text; the id
    is chosen for a text and for fields that are named, too. Two sides are compared by columns that
    both have. If the other arguments are for texts, or not `by_fields`, the columns are joined to
    one. Whoever reads the source reports what is wrong with it.
    """
    try:
        return _look(inputs, by_fields)
    except (ArgumentError, SourceError, RecordError, TypeError):
        return None


def _look(inputs: Mapping[str, Any], by_fields: bool) -> Chosen | None:
    compared = [inputs[name] for name in ("source", "against") if inputs.get(name) is not None]
    first = inputs["source"] if isinstance(inputs["source"], Source) else Source(())
    id, text = inputs["id"] or first.id, first.text or inputs["text"]
    if listed(text) != ("text",) or any(map(sources.is_collection, compared)):
        return None
    read = [reading_of(side, "none", id=id, text=text) for side in compared]
    names = [sources.column_names(side, reading=reading) for side, reading in read]
    has_fields = inputs["fields"] is not None or inputs.get("model") is not None
    has_ids = id is not None or all(
        matches(reading.id, each) for (_, reading), each in zip(read, names, strict=True)
    )
    has_texts = any(matches("text", each) for each in names)
    has_compared = has_fields or has_texts
    if not (names and all(names)) or (has_ids and has_compared):
        return None
    from neardup_solr.sources.guess import guess_columns

    shown = {name.strip(): None for name in names[0] if isinstance(name, str) and name.strip()}
    keys = [{name: [each[at] for at in matches(name, each)] for name in shown} for each in names]
    common = [name for name in shown if all(len(each[name]) == 1 for each in keys)]
    sides = [
        [
            {name: plain(row.get(each[name][0])) for name in common}
            for row in sources.read_rows(side, reading=reading, most=ROWS)
        ]
        for (side, reading), each in zip(read, keys, strict=True)
    ]

    def read_again(wanted: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        rows = [row for side in sides for row in side]
        whole = (name for name in common if all(isinstance(row[name], str | int) for row in rows))
        texts = tuple({*wanted, *islice(whole, 1)})  # with which each record has a text
        for number, (side, reading) in enumerate(read):
            by_row = replace(reading, id=ROW, text=texts, keep=tuple(wanted))
            for record in sources.records(side, reading=by_row, on_notice=ignore):
                if isinstance(record, Document):
                    yield number, record.kept

    paths = sources.paths_of(read[0][0])
    name = type(read[0][0]).__name__ if paths is None else sources.shown_name(paths)
    if not any(sides):  # no records, which is reported when they are read
        return Chosen(name, {"text": tuple(common)}, "") if common and not has_compared else None
    guess = guess_columns(sides, id=id)
    if guess and guess.fields and any(len(rows) >= ROWS for rows in sides):  # long texts: once
        guess = guess_columns(sides, id=id, read=read_again)
    if guess is None:
        return None
    arguments: dict[str, Any] = {} if guess.id is None else {"id": guess.id}
    if has_compared:
        return None if guess.id == ROW and not has_fields else Chosen(name, arguments, "")
    is_for_texts = (
        inputs.get("measure", "fields") not in ("auto", "fields")
        or inputs.get("by") == "shingles"
        or any(inputs.get(each) is not None for each in ("remember", "max_distance"))
    )
    if guess.texts or is_for_texts or not by_fields:
        arguments["text"] = guess.texts or tuple(guess.fields)
    else:
        arguments["fields"] = guess.spelled
    twice = {each: "there twice" for each in shown if any(len(side[each]) > 1 for side in keys)}
    return Chosen(
        name, arguments, replace(guess, left_out=guess.left_out | twice).describe_left_out()
    )


def _spell(arguments: Mapping[str, Any]) -> str:
    """Spell arguments as they are written in Python."""
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
