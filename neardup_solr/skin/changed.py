"""Two texts on a terminal as one, with what was removed and added; long unchanged runs are cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from neardup_solr.skin.show import counted, printable

if TYPE_CHECKING:
    from neardup_solr.pure.explaining.facts import Facts
    from neardup_solr.pure.text.diff import Words

CONTEXT = 5  # unchanged words beside a change
LONGEST_RUN = 60  # changed words shown in one place, more are cut in the middle
MOST_CHANGES = 20
WORTH_CUTTING = 12  # words; fewer are shown rather than counted
BEGINNING = 40  # words of texts that have nothing to do with each other
UNLIKE = 0.25  # similarity by words below which a comparison word by word tells nothing
MARKS = {"red strike": ("[-", "-]"), "green": ("{+", "+}")}


def texts(facts: Facts, is_coloured: bool) -> Iterator[Text]:
    """One text with the changes that make it the other; the beginnings of unlike ones.

    Changed words are in colour, or else marked [-so-] and {+so+}, as git's word diff has them.
    """
    subjects = (facts.first, facts.second)
    if facts.is_exact or facts.measured("words").similarity >= UNLIKE:
        yield _changes(facts, is_coloured)
        return
    for each in subjects:
        left = max(each.entry.num_words - BEGINNING, 0)
        words = printable(each.words.text(slice(0, BEGINNING))) or "(no word)"
        end = f" … {counted(left, 'more word')}" if left else ""
        text = Text(f"{printable(each.id)}: ", style="bold")
        text.append(words, style="not bold").append(end, style="dim")
        yield text


def _changes(facts: Facts, is_coloured: bool) -> Text:
    text = Text()
    first, second = facts.first.words, facts.second.words
    runs = list(_runs(facts))
    for at, (removed, added) in enumerate(runs):
        if at // 2 == MOST_CHANGES:
            left = counted((len(runs) - at + 1) // 2, "more change")
            text.append(f"\n… {left}; --format json has all of them", style="dim")
            break
        if at % 2 == 0:  # runs are unchanged and changed in turn
            sides = (CONTEXT if at else 0, CONTEXT if at < len(runs) - 1 else 0)
            _append(text, _cut(first, removed, *sides if len(runs) > 1 else (LONGEST_RUN, 0)), "")
        else:
            sides = (LONGEST_RUN // 2, LONGEST_RUN // 2)
            _append(text, _cut(first, removed, *sides), "red strike", is_coloured)
            _append(text, _cut(second, added, *sides), "green", is_coloured)
    return text


def _runs(facts: Facts) -> Iterator[tuple[slice, slice]]:
    """Runs of words of either text that cover both, unchanged and changed ones in turn."""
    first = second = slice(0, 0)
    is_changed = False
    for change in facts.changes:
        if (change.kind != "equal") != is_changed:
            yield first, second
            first, second, is_changed = change.first, change.second, not is_changed
        first = slice(first.start, change.first.stop)
        second = slice(second.start, change.second.stop)
    yield first, second


def _cut(words: Words, part: slice, head: int, tail: int) -> str:
    """Words, of a long run the first and the last."""
    left = part.stop - part.start - head - tail
    if left < WORTH_CUTTING:
        return printable(words.text(part))
    before = printable(words.text(slice(part.start, part.start + head)))
    after = printable(words.text(slice(part.stop - tail, part.stop)))
    return f"{before}\n… {left:,} words … {after}".strip()


def _append(text: Text, words: str, style: str, is_coloured: bool = True) -> None:
    if not words:
        return
    if text:
        text.append(" ")
    before, after = ("", "") if is_coloured else MARKS[style]
    text.append(f"{before}{words}{after}", style=style)
