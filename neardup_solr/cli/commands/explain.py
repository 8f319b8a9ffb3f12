"""The command explain: why a pair is found or missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.show import counted, one_line, printable
from neardup_solr.cli.typed import Typed, choose_columns

if TYPE_CHECKING:
    from neardup_solr.argument_types import TableOrJson
    from neardup_solr.records import Passage
    from neardup_solr.text.diff import Change, Words
    from neardup_solr.verbs.explain.explanation import Explanation
    from neardup_solr.verbs.explain.facts import Facts
    from neardup_solr.verbs.explain.subject import Subject


# Of the texts:
CONTEXT = 5  # unchanged words beside a change
LONGEST_RUN = 60  # changed words shown in one place, more are cut in the middle
MOST_CHANGES = 20
WORTH_CUTTING = 12  # words; fewer are shown rather than counted
BEGINNING = 40  # words shown of unrelated texts
UNLIKE = 0.25  # below this similarity by words, texts are not compared word by word
MARKS = {"red strike": "[-{}-]", "green": "{{+{}+}}", "cyan": "≈ {}", "": "{}"}
STYLES = {("delete", True): "red strike", ("insert", False): "green", ("same", False): "cyan"}
# By verdict, and the style of each.
TITLES = {
    "found": ("found", "bold green"),
    "missed": ("missed, though within the limits", "bold red"),
    "beyond the limits": ("compared, but beyond the limits", "bold yellow"),
    "apart": ("no near-duplicates", "bold"),
}

Part = str | tuple[str, str]  # of a paragraph: a text, or one with its style


def explain(typed: Typed, *, format: TableOrJson = "table") -> int:
    """Explain why a pair of documents is found or missed.

    Also suggests options that would find the pair.
    """
    typed.require_source("--source")
    show.say_if_typed(typed.paths, "documents")
    from neardup_solr.verbs.explain.request import ExplainRequest

    typed = choose_columns(typed, ExplainRequest).typed
    typed = typed.replace(source=typed["source"] or typed.connect())
    with show.watch(comparing="pairs") as watching:
        explanation = nd.explain(**typed.arguments, on_progress=watching["on_progress"])
    if format == "json":
        from neardup_solr.verbs.explain.explanation import make_record

        show.print_rows(show.format_json(make_record(explanation)))
    else:
        _print(explanation)
    return 0


def _print(explanation: Explanation) -> None:
    """Print an explanation for a person, with changed words in colour, or marked without colour."""
    from rich.console import Console
    from rich.text import Text

    from neardup_solr.verbs.explain import tables

    console, facts = Console(markup=False, highlight=False), explanation.facts

    def say(*parts: Part, indent: int = 0) -> None:
        """Print a paragraph, without blanks at the ends of its lines."""
        text = Text.assemble(*parts)
        for line in text.wrap(console, max(console.width - indent, 1)) or [Text()]:
            line.rstrip()
            console.print(Text(" " * indent).append_text(line))

    title, style = TITLES[explanation.verdict]
    ids = " – ".join(printable(each.id) for each in facts.both)
    say((f"{ids}: ", "bold"), (title, style))
    if explanation.verdict == "found" and not facts.answer:
        way = next(each for each in facts.ways if each.name == explanation.way)
        why = f"they share {tables.describe_shared(facts, way)}, within the limits"
        if facts.by == "all" and way.name == "duplicates":
            why = "with so few documents it compares every pair, and this pair is within the limits"
        say(f"{tables.describe_way(way.name)} finds them: {why}.", indent=2)
    for reason in explanation.reasons:
        say(printable(reason), indent=2)
    is_coloured = console.color_system is not None and not console.no_color
    for text in _show_texts(facts, is_coloured=is_coloured):
        say()
        say(*text)
    for rows in tables.list_tables(facts):
        say()
        if rows[0][0] == "field":
            show.print_table({head: {"overflow": "fold"} for head in rows[0]}, rows[1:])
            continue
        right = () if rows[0][0] == "found by" else range(1, 3)
        head, *lines = show.align([[*map(printable, row)] for row in rows], right)
        say((head, "bold"))
        for line in lines:
            say(line)
    if explanation.advice:
        say()
        say(explanation.advice)


def _show_beginning(document: Subject) -> list[Part]:
    left = document.entry.num_words - BEGINNING
    words = one_line(document.words.text(slice(0, BEGINNING))) or "(no word)"
    end = f" … {counted(left, 'more word')}" if left > 0 else ""
    return [(f"{printable(document.id)}: ", "bold"), words, (end, "dim")]


def _show_texts(facts: Facts, *, is_coloured: bool) -> Iterator[list[Part]]:
    """Show what differs, only in the longest passages of long texts, or how unlike texts begin."""
    if facts.is_record:
        return
    if facts.has_passages:
        from neardup_solr.verbs.explain.tables import list_longest

        for each in list_longest(facts.passages):
            spans = (each.start, each.end), (each.other_start, each.other_end)
            place = " and ".join(f"{start:,}–{end:,}" for start, end in spans)
            yield [(f"characters {place}: ", "bold"), *_show_passage(each, is_coloured=is_coloured)]
    elif facts.is_exact or facts.measured("words").similarity >= UNLIKE:
        (row,) = facts.rows
        yield _show_changes(facts.first.words, facts.second.words, [*row.runs], is_coloured)
    else:
        yield from map(_show_beginning, facts.both)


def _show_passage(passage: Passage, *, is_coloured: bool) -> list[Part]:
    """Show the changes of a passage, however long it is."""
    from neardup_solr.text.diff import changes_in_parts, mark_same, split

    first, second = (split(text or "") for text in (passage.text, passage.other_text))
    runs = mark_same(changes_in_parts(first.forms, second.forms), ((), ()))
    return _show_changes(first, second, [*runs], is_coloured)


def _show_changes(
    first: Words, second: Words, changed: Sequence[Change], is_coloured: bool
) -> list[Part]:
    """Show the changes that make one text the other.

    Changed words are in colour, or marked [-so-] and {+so+}, as in git's word diff. What the
    measure takes for the same is not, but if it is written in another way, that follows "≈".
    """
    runs = [(is_equal, [*run]) for is_equal, run in
            groupby(changed, lambda change: change.kind == "equal")]  # fmt: skip
    more = sum(not is_equal for is_equal, _ in runs) - MOST_CHANGES
    shown, parts = 0, list[Part]()
    for at, (is_equal, run) in enumerate(runs):
        if shown == MOST_CHANGES and more > 0:
            rest = f"\n… {counted(more, 'more change')}; --format json has all of them"
            return [*parts, (rest, "dim")]
        shown += not is_equal
        head = tail = LONGEST_RUN // 2
        if is_equal:
            head, tail = CONTEXT if at else 0, CONTEXT if at < len(runs) - 1 else 0
        if len(runs) == 1:
            head, tail = LONGEST_RUN, 0
        for change in run:
            is_first = change.first.stop > change.first.start
            words, part = (first, change.first) if is_first else (second, change.second)
            style = STYLES.get((change.kind, is_first), "")
            if style == "cyan" and {*words.forms[part]} <= {*first.forms}:  # it moved
                continue
            if cut := _shorten_run(words, part, head, tail):
                text = cut if is_coloured and style != "cyan" else MARKS[style].format(cut)
                parts += [*[" "][: len(parts)], (text, style)]
    return parts


def _shorten_run(words: Words, part: slice, head: int, tail: int) -> str:
    """Return the words of a run, only the first and the last of a long one."""
    left = part.stop - part.start - head - tail
    if left < WORTH_CUTTING:
        return one_line(words.text(part))
    before = one_line(words.text(slice(part.start, part.start + head)))
    after = one_line(words.text(slice(part.stop - tail, part.stop)))
    return f"{before}\n… {left:,} words … {after}".strip()
