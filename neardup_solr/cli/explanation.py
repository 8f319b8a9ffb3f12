"""An explanation on the terminal: the verdict, the texts word by word, the figures, the advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from neardup_solr.cli.show import counted, one_line, printable
from neardup_solr.minhash.plans import percent
from neardup_solr.verbs.explain.verdict import is_related, shape

if TYPE_CHECKING:
    from neardup_solr.verbs.explain.facts import Facts, Measured, Route
    from neardup_solr.verbs.explain.verdict import Advice, Explanation
if TYPE_CHECKING:
    from neardup_solr.text.diff import Words
    from neardup_solr.verbs.explain.facts import Facts

LITTLE = 0.00001
MOST_STAND_INS = 2  # words for words of an alignment
STRIP = 64  # bands in a line
WIDEST = 22  # of an id or a word in a table; titles have them whole

STYLES = {"found": "bold green", "missed": "bold red", "beyond the limits": "bold yellow"}


def print_explanation(found: Explanation, commands: Sequence[str], *, is_stored: bool) -> None:
    """An explanation for a person, with changed words in colour, or marked if there is no colour.

    `commands` follow the advice; `is_stored` tells whether the documents are in a collection.
    """
    console = Console(markup=False, highlight=False)
    is_coloured = console.color_system is not None and not console.no_color
    _print_verdict(console, found)
    for text in texts(found.facts, is_coloured):
        console.print()
        _say(console, text, indent=0)
    for part in (_documents, _measures, _ways, _bands):
        for row in part(found.facts):
            _say(console, row, indent=0)
    for sentence in _advice(found, is_stored=is_stored):
        _say(console, sentence, indent=0)
    for command in commands:
        console.print(f"  {command}", soft_wrap=True)  # in one piece


def _print_verdict(console: Console, found: Explanation) -> None:
    facts = found.facts
    title = Text(f"{printable(facts.first.id)} – {printable(facts.second.id)}: ", style="bold")
    title.append(_TITLES[found.verdict], style=STYLES.get(found.verdict, "bold"))
    console.print(title)
    way = next(each for each in facts.ways if each.name == found.way)
    if found.verdict == "found":
        why = f"they share {_shares(facts, way)}, within the limits"
        if facts.by == "all" and found.way == "duplicates":
            why = "of so few documents it compares every pair, and this one is within the limits"
        _say(console, f"{_command_of(way)} finds them: {why}.")
    for reason in found.reasons:
        _say(console, printable(reason))


def _say(console: Console, sentence: str | Text, *, indent: int = 2) -> None:
    """A paragraph, without spaces at the ends of its lines."""
    text = sentence if isinstance(sentence, Text) else Text(sentence)
    for line in text.wrap(console, max(console.width - indent, 1)) or [Text()]:
        line.rstrip()
        console.print(Text(" " * indent).append_text(line))


_TITLES = {
    "found": "found",
    "missed": "missed, though within the limits",
    "beyond the limits": "compared, but beyond the limits",
    "apart": "no near-duplicates",
}


def _table(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> Iterator[Text]:
    """Rows under a heading, columns two spaces apart; those in `right` are aligned right."""
    yield Text()
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for at, row in enumerate(rows):
        cells = []
        for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (width - cell_len(cell))
            cells.append(blanks + cell if column in right else cell + blanks)
        yield Text("  ".join(cells).rstrip(), style="" if at else "bold")


def _documents(facts: Facts) -> Iterator[Text]:
    subjects = (facts.first, facts.second)
    entries = [each.entry for each in subjects]
    first_words = [_short(each.first_word) for each in entries]
    sizes = [f"{len(each.pieces):,}" for each in subjects]
    rows = [
        ["", *(_short(each.id) for each in subjects), ""],
        ["words", *(f"{each.num_words:,}" for each in entries), ""],
        ["shingles", *sizes, f"(of {shape(facts.settings)})"],
        ["first word", *first_words, _same(entries[0].first_word, entries[1].first_word)],
        ["MD5", *(f"{each.md5_hash[:8]}…" for each in entries),
         _same(entries[0].md5_hash, entries[1].md5_hash)],
    ]  # fmt: skip
    yield from _table(rows, right=(1, 2))


def _short(text: str) -> str:
    shown = one_line(text)
    return shown if cell_len(shown) <= WIDEST else f"{set_cell_size(shown, WIDEST - 1)}…"


def _same(one: str, other: str) -> str:
    return "the same" if one == other else "different"


def _measures(facts: Facts) -> Iterator[Text]:
    shared = facts.shared_shingles
    sizes = [len(each.pieces) for each in (facts.first, facts.second)]
    notes = {
        "words": f"the limits allow a distance of {facts.allowed:,}"
        if facts.measure == "words"
        else "",
        "jaccard": f"{shared:,} of {sum(sizes) - shared:,} shingles are in both",
        "containment": f"{shared:,} of {sizes[0]:,} shingles of the first",
        "contained": f"{shared:,} of {sizes[1]:,} shingles of the second",
        "aligned": _stand_ins(facts),
    }
    rows = [["measure", "similarity", "distance", ""]]
    for each in facts.measures:
        distance = "" if each.distance is None else f"{each.distance:,}"
        note = notes.get(each.measure) or _interval(each)
        if each.measure == facts.measure != "words":
            note = f"the limits ask for {facts.least:g}; {note}"
        rows.append([each.measure, f"{each.similarity:.3f}", distance, note])
    yield from _table(rows, right=(1, 2))


def _stand_ins(facts: Facts) -> str:
    """The first words that correspond to other ones, and how many more do."""
    listed = [row for row in facts.alignment if row.first and row.second]
    other = [f"{row.first} ≈ {row.second}" for row in listed if row.first != row.second]
    shown = ", ".join(map(printable, other[:MOST_STAND_INS]))
    more = f" and {len(other) - MOST_STAND_INS} more" if len(other) > MOST_STAND_INS else ""
    return f"{shown}{more}" or f"{counted(len(listed), 'word')} aligned, rare ones weigh more"


def _interval(measured: Measured) -> str:
    if measured.low is None or measured.high is None:
        return ""
    return f"jaccard by signatures: {measured.low:.2f}–{measured.high:.2f} (95 %)"


def _ways(facts: Facts) -> Iterator[Text]:
    rows = [["found by", "shared", "chance", ""]]
    for way in facts.ways:
        chance = "" if way.chance is None else percent(way.chance)
        if way.is_there:
            rows.append([_command_of(way), _shares(facts, way), chance, _outcome(facts, way)])
        else:
            rows.append([_command_of(way), "", "", "not indexed"])
    yield from _table(rows, right=(2,))


def _outcome(facts: Facts, way: Route) -> str:
    if way.finds:
        return "found"
    if not way.shared:
        return "missed" if facts.is_near and way.name not in ("profile", "md5") else ""
    return "beyond the limits"


def _command_of(way: Route) -> str:
    return way.name if way.name == "duplicates" else f"--by {way.name}"


def _shares(facts: Facts, way: Route) -> str:
    by = facts.by if way.name == "duplicates" else way.name
    if by == "all":
        return "every pair"
    if by == "words":
        return counted(way.shared, "rare word")
    if by == "bands":
        return f"{way.shared} of {way.of} bands"
    if by == "shingles":
        return counted(way.shared, "shingle")
    if way.name == "signatures":
        return f"{way.shared} of {way.of} values"
    return "the same" if way.shared else "different"


def _bands(facts: Facts) -> Iterator[Text]:
    """Bands as a strip, and the numbers of those shared."""
    if facts.by != "bands" or not any(
        way.is_there for way in facts.ways if way.name in ("duplicates", "bands")
    ):
        return
    count, shared = facts.settings.bands, set(facts.shared_bands)
    strip = "".join("█" if band in shared else "·" for band in range(count))
    yield Text()
    for at in range(0, count, STRIP):
        last = min(at + STRIP, count) - 1
        yield Text(f"{f'bands {at}–{last}':<14}{strip[at : last + 1]}")
    yield Text(f"{'shared':<14}{_ranges(facts.shared_bands) or 'none'}")


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order as "1, 3–5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def needs_all(found: Explanation) -> bool:
    """Whether no bands are shared by a pair that is found if every pair is compared."""
    advice = found.advice
    is_advised = advice is not None and (advice.settings is not None or advice.by is not None)
    return found.verdict == "missed" or is_advised


def _advice(found: Explanation, *, is_stored: bool) -> Iterator[str]:
    if found.verdict == "found":
        return
    yield ""
    other = next((way for way in found.facts.ways if way.finds), None)
    if is_stored and other is not None and (found.advice is None or found.advice.by is None):
        yield f"As it is, search and report find the pair {_command_of(other)}."
    if not is_stored and needs_all(found):
        yield "Without a Solr, every pair of the file can be compared: the first command below."
    if found.advice is not None:
        yield from _what_helps(found.advice, is_stored=is_stored)
    elif is_related(found.facts):
        yield "No other bands or shingles catch such pairs without many unrelated ones."
    else:
        yield "The two are unrelated: no change is advised."


def _what_helps(advice: Advice, *, is_stored: bool) -> Iterator[str]:
    settings = advice.settings
    if advice.again:
        yield "To catch it, renew its stored fields:"
    elif advice.measure is not None:
        is_part = advice.measure == "containment"
        why = "as a part of the other" if is_part else "although words differ in spelling"
        yield f"The measure {advice.measure} finds it, {why}:"
    elif advice.cap is not None:
        yield f"To catch it, raise the cap to {advice.cap:,}, so that a word of both is rare:"
    elif advice.by == "all":
        yield "To catch it, compare every pair:"
    elif advice.by is not None:
        wider = " with wider limits" if advice.limits else ""
        yield f"To catch it, search or report --by {advice.by}{wider}:"
    elif settings is None:
        yield "To catch it, widen the limits:"
    else:
        shingles = f", shingles of {shape(settings)}"
        how = f"{shingles}, indexed anew" if advice.needs_texts else ", from stored signatures"
        how = how if advice.needs_texts or is_stored else ""
        wider = ", and wider limits" if advice.limits else ""
        yield f"To catch it: {settings.bands} bands of {settings.rows}{how}{wider}."
        yield (
            f"They find {percent(advice.chance)} of pairs like it (Jaccard"
            f" {advice.similarity:.3f}), and about {_little(advice.load)} of unrelated pairs at"
            f" most (now: {_little(advice.load_now)})."
        )


def _little(share: float) -> str:
    return percent(share) if share >= LITTLE else f"less than {percent(LITTLE)}"


CONTEXT = 5  # unchanged words beside a change
LONGEST_RUN = 60  # changed words shown in one place, more are cut in the middle
MOST_CHANGES = 20
WORTH_CUTTING = 12  # words; fewer are shown rather than counted
BEGINNING = 40  # words shown of unrelated texts
UNLIKE = 0.25  # below this similarity by words, texts are not compared word by word
MARKS = {"red strike": ("[-", "-]"), "green": ("{+", "+}")}


def texts(facts: Facts, is_coloured: bool) -> Iterator[Text]:
    """One text with the changes that make it the other; the beginnings of both if they are unlike.

    Changed words are in colour, or marked [-so-] and {+so+}, as in git's word diff.
    """
    subjects = (facts.first, facts.second)
    if facts.is_exact or facts.measured("words").similarity >= UNLIKE:
        yield _changes(facts, is_coloured)
        return
    for each in subjects:
        left = max(each.entry.num_words - BEGINNING, 0)
        words = one_line(each.words.text(slice(0, BEGINNING))) or "(no word)"
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
    """Runs of words that cover both texts, alternately unchanged and changed."""
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
    """The words of a run; only the first and the last of a long one."""
    left = part.stop - part.start - head - tail
    if left < WORTH_CUTTING:
        return one_line(words.text(part))
    before = one_line(words.text(slice(part.start, part.start + head)))
    after = one_line(words.text(slice(part.stop - tail, part.stop)))
    return f"{before}\n… {left:,} words … {after}".strip()


def _append(text: Text, words: str, style: str, is_coloured: bool = True) -> None:
    if not words:
        return
    if text:
        text.append(" ")
    before, after = ("", "") if is_coloured else MARKS[style]
    text.append(f"{before}{words}{after}", style=style)
