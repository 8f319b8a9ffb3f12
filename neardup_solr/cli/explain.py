"""The command explain: two documents, what they share, who finds them, and what else would."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Given
from neardup_solr.cli.show import counted, one_line, printable
from neardup_solr.cli.texts import READ

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from neardup_solr.arguments import TableOrJson
    from neardup_solr.measures import Limits
    from neardup_solr.solr.collection import Collection
    from neardup_solr.text.diff import Words
    from neardup_solr.verbs.explain.facts import Facts
    from neardup_solr.verbs.explain.verdict import Advice, Explanation

# Of the texts:
CONTEXT = 5  # unchanged words beside a change
LONGEST_RUN = 60  # changed words shown in one place, more are cut in the middle
MOST_CHANGES = 20
WORTH_CUTTING = 12  # words; fewer are shown rather than counted
BEGINNING = 40  # words shown of unrelated texts
UNLIKE = 0.25  # below this similarity by words, texts are not compared word by word
MARKS = {"red strike": "[-{}-]", "green": "{{+{}+}}", "": "{}"}
# Of the tables:
STRIP = 64  # bands in a line
WIDEST = 22  # of an id or a word; titles have them whole
# By verdict, and the style of each.
TITLES = {
    "found": ("found", "bold green"),
    "missed": ("missed, though within the limits", "bold red"),
    "beyond the limits": ("compared, but beyond the limits", "bold yellow"),
    "apart": ("no near-duplicates", "bold"),
}
LITTLE = 0.00001


def explain(given: Given, *, format: TableOrJson = "table") -> int:
    """Explain why two documents are found, or not.

    It also says what would find them.
    """
    source = given["source"]
    given.require_source("--source")
    if source:
        show.say_if_typed(source, "documents")
    place = source or given.connect()
    found = nd.explain(**given | {"source": place})
    lines = list(_advise(found, place))
    if format == "json":
        show.print_rows(
            _format_json(found, [line.strip() for line in lines if line.startswith(" ")])
        )
    else:
        _print(found, sorted(lines, key=lambda line: line.startswith(" ")))
    return 0


def _format_json(found: Explanation, commands: list[str]) -> Iterator[str]:
    """Format the whole record for programs, with settings as their fingerprints."""
    import orjson

    facts, advice = found.facts, None
    if found.advice is not None:
        settings = found.advice.settings
        advice = asdict(replace(found.advice, settings=None)) | {"commands": commands}
        advice["settings"] = settings and settings.fingerprint
    fields = {
        "id": facts.first.id,
        "other_id": facts.second.id,
        "verdict": found.verdict,
        "way": found.way,
        "reasons": found.reasons,
        "measure": facts.measure,
        "settings": facts.settings.fingerprint,
        "limits": asdict(facts.limits) | {"allowed": facts.allowed},
        "documents": [
            {
                "id": each.id,
                "words": each.entry.num_words,
                "shingles": len(each.pieces),
                "first_word": each.entry.first_word,
                "md5_hash": each.entry.md5_hash,
                "stale": each.stale,
            }
            for each in (facts.first, facts.second)
        ],
        "measures": [asdict(each) for each in facts.measures],
        "alignment": [row._asdict() for row in facts.alignment],
        "shared_words": dict(facts.shared_words),
        "shared_shingles": facts.shared_shingles,
        "shared_bands": facts.shared_bands,
        "differing_bands": facts.differing_bands,
        "chance": facts.chance,
        "ways": [asdict(each) for each in facts.ways],
        "advice": advice,
        "changes": [
            {
                "kind": each.kind,
                "first": facts.first.words.text(each.first),
                "second": facts.second.words.text(each.second),
            }
            for each in facts.changes
        ],
    }
    yield orjson.dumps(fields, option=orjson.OPT_INDENT_2).decode() + "\n"


def _print(found: Explanation, following: Sequence[str]) -> None:
    """Print an explanation for a person, with changed words in colour, or marked without colour.

    Of what is `following`, each line that begins with a blank is a command, in one piece.
    """
    from rich.console import Console
    from rich.text import Text

    from neardup_solr.verbs.explain import verdict

    console, facts = Console(markup=False, highlight=False), found.facts
    is_coloured = console.color_system is not None and not console.no_color
    title, style = TITLES[found.verdict]
    ids = f"{printable(facts.first.id)} – {printable(facts.second.id)}: "
    console.print(Text(ids, style="bold").append(title, style=style))
    if found.verdict == "found":
        way = next(each for each in facts.ways if each.name == found.way)
        why = f"they share {verdict.describe_shared(facts, way)}, within the limits"
        if facts.by == "all" and found.way == "duplicates":
            why = "of so few documents it compares every pair, and this one is within the limits"
        _say(console, f"{verdict.describe_way(way.name)} finds them: {why}.", indent=2)
    for reason in found.reasons:
        _say(console, printable(reason), indent=2)
    for text in _show_texts(facts, is_coloured):
        console.print()
        _say(console, text)
    documents = _format_table(_list_documents(facts), right=(1, 2))
    measures = _format_table(verdict.list_measures(facts), right=(1, 2))
    ways = _format_table(verdict.list_ways(facts), right=(2,))
    for lines in (documents, measures, ways, _draw_bands(facts)):
        for line in lines:
            _say(console, line)
    if following:
        console.print()
    for line in following:
        if line.startswith(" "):
            console.print(line, soft_wrap=True)
        else:
            _say(console, line)


def _say(console: Console, sentence: str | Text, *, indent: int = 0) -> None:
    """Print a paragraph, without spaces at the ends of its lines."""
    from rich.text import Text

    text = sentence if isinstance(sentence, Text) else Text(sentence)
    for line in text.wrap(console, max(console.width - indent, 1)) or [Text()]:
        line.rstrip()
        console.print(Text(" " * indent).append_text(line))


def _format_table(rows: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str | Text]:
    """Format rows under a heading, the columns in `right` aligned right."""
    from rich.text import Text

    yield ""
    for at, line in enumerate(show.align([[*map(printable, row)] for row in rows], right)):
        yield line if at else Text(line, style="bold")


def _list_documents(facts: Facts) -> list[list[str]]:
    from neardup_solr.verbs.explain.verdict import describe_shingles

    first, second = facts.first.entry, facts.second.entry
    words = _shorten(first.first_word), _shorten(second.first_word)
    same = {True: "the same", False: "different"}
    return [
        ["", _shorten(first.id), _shorten(second.id), ""],
        ["words", f"{first.num_words:,}", f"{second.num_words:,}", ""],
        ["shingles", f"{len(facts.first.pieces):,}", f"{len(facts.second.pieces):,}",
         f"(of {describe_shingles(facts.settings)})"],
        ["first word", *words, same[first.first_word == second.first_word]],
        ["MD5", f"{first.md5_hash[:8]}…", f"{second.md5_hash[:8]}…", same[facts.is_exact]],
    ]  # fmt: skip


def _shorten(text: str) -> str:
    from rich.cells import cell_len, set_cell_size

    line = one_line(text)
    return line if cell_len(line) <= WIDEST else f"{set_cell_size(line, WIDEST - 1)}…"


def _draw_bands(facts: Facts) -> Iterator[str]:
    """Draw the bands as a strip, and list the numbers of those shared."""
    is_there = any(way.is_there for way in facts.ways if way.name in ("duplicates", "bands"))
    if facts.by != "bands" or not is_there:
        return
    count = facts.settings.bands
    strip = "".join("█" if band in facts.shared_bands else "·" for band in range(count))
    yield ""
    for at in range(0, count, STRIP):
        last = min(at + STRIP, count) - 1
        yield f"{f'bands {at}–{last}':<14}{strip[at : last + 1]}"
    runs = (
        [band for _, band in run]
        for _, run in groupby(enumerate(facts.shared_bands), lambda each: each[1] - each[0])
    )
    numbers = ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    yield f"{'shared':<14}{numbers or 'none'}"


def _show_texts(facts: Facts, is_coloured: bool) -> Iterator[Text]:
    """Show the changes that make one text the other, or the beginnings of both if they are unlike.

    Changed words are in colour, or marked [-so-] and {+so+}, as in git's word diff.
    """
    from rich.text import Text

    if facts.is_exact or facts.measured("words").similarity >= UNLIKE:
        yield _show_changes(facts, is_coloured)
        return
    for each in (facts.first, facts.second):
        left = max(each.entry.num_words - BEGINNING, 0)
        words = one_line(each.words.text(slice(0, BEGINNING))) or "(no word)"
        end = f" … {counted(left, 'more word')}" if left else ""
        text = Text(f"{printable(each.id)}: ", style="bold")
        yield text.append(words, style="not bold").append(end, style="dim")


def _show_changes(facts: Facts, is_coloured: bool) -> Text:
    from rich.text import Text

    text, first, second = Text(), facts.first.words, facts.second.words
    runs = [(kind, [*run]) for kind, run in groupby(facts.changes, lambda c: c.kind == "equal")]
    for at, (is_equal, run) in enumerate(runs):
        left = sum(not is_equal for is_equal, _ in runs[at:])
        if left and left == sum(not is_equal for is_equal, _ in runs) - MOST_CHANGES:
            more = counted(left, "more change")
            text.append(f"\n… {more}; --format json has all of them", style="dim")
            break
        removed = slice(run[0].first.start, run[-1].first.stop)
        added = slice(run[0].second.start, run[-1].second.stop)
        head = tail = LONGEST_RUN // 2
        parts = [("red strike", first, removed), ("green", second, added)]
        if is_equal:
            head, tail = CONTEXT if at else 0, CONTEXT if at < len(runs) - 1 else 0
            parts = [("", first, removed)]
        if len(runs) == 1:
            head, tail = LONGEST_RUN, 0
        for style, words, part in parts:
            if cut := _shorten_run(words, part, head, tail):
                text.append(" " if text else "")
                text.append(cut if is_coloured else MARKS[style].format(cut), style=style)
    return text


def _shorten_run(words: Words, part: slice, head: int, tail: int) -> str:
    """Return the words of a run, only the first and the last of a long one."""
    left = part.stop - part.start - head - tail
    if left < WORTH_CUTTING:
        return one_line(words.text(part))
    before = one_line(words.text(slice(part.start, part.start + head)))
    after = one_line(words.text(slice(part.stop - tail, part.stop)))
    return f"{before}\n… {left:,} words … {after}".strip()


def _advise(found: Explanation, place: Collection | list[str]) -> Iterator[str]:
    """Put advice in sentences, and in commands, which are indented.

    A file is compared without a Solr first.
    """
    from neardup_solr.verbs.explain.verdict import describe_way, is_related

    facts, advice = found.facts, found.advice
    if found.verdict == "found":
        return
    is_file = isinstance(place, list)
    source = [*place, *options.repeat_options(READ)] if isinstance(place, list) else []
    measured = [] if facts.measure == "words" else ["--measure", facts.measure]
    other = next((way.name for way in facts.ways if way.finds), None)
    if not is_file and other and not (advice and advice.by):
        yield f"As it is, search and report find the pair {describe_way(other)}."
    if is_file and (found.verdict == "missed" or (advice and (advice.settings or advice.by))):
        yield "Without a Solr, every pair of the file can be compared: the first command below."
        limits = _type_limits(advice.limits if advice and advice.limits else facts.limits)
        yield _type_command("duplicates", *source, "--by", "all", *measured, *limits)
    if advice is not None:
        yield from _follow(advice, found.way, measured, place, source)
    elif is_related(facts):
        yield "No other bands or shingles catch such pairs without many unrelated ones."
    else:
        yield "The two are unrelated: no change is advised."


def _follow(
    advice: Advice, way: str, measured: list[str], place: Collection | list[str], source: list[str]
) -> Iterator[str]:
    """Say what helps, and the commands that do it."""
    solr = None if isinstance(place, list) else place
    where, new = [], ["-c", "NEW"]
    if solr is not None:
        where, new = shlex.split(solr.place), shlex.split(replace(solr, name="NEW").place)
    limits, settings = _type_limits(advice.limits), advice.settings
    wider = " with wider limits" if limits else ""
    asked = [*measured, *where, *limits]
    again = ["duplicates", *source] if way == "duplicates" else ["report", "--by", way]
    if advice.measure is not None:
        is_part = advice.measure == "containment"
        why = "as a part of the other" if is_part else "although words differ in spelling"
        yield f"The measure {advice.measure} finds it, {why}:"
        yield _type_command("duplicates", *source, "--measure", advice.measure, *where, *limits)
    elif advice.cap is not None:
        yield f"To catch it, raise the cap to {advice.cap:,}, so that a word of both is rare:"
        yield _type_command("duplicates", *source, "--cap", str(advice.cap), *asked)
    elif advice.by == "all":
        yield "To catch it, compare every pair:"
        if solr is not None:
            yield _type_command("duplicates", "--by", "all", *asked)
    elif advice.by is not None:
        yield f"To catch it, search or report --by {advice.by}{wider}:"
        if solr is None:
            yield _type_command("index", *source, *new)
        yield _type_command("report", "--by", advice.by, *measured, *(where or new), *limits)
    elif settings is not None and solr is None:
        yield from _describe_bands(advice, is_stored=False)
        shaping = options.spell_settings(settings, options.SETTINGS["index"])
        yield _type_command("duplicates", *source, "--by", "bands", *measured, *shaping, *limits)
    elif settings is not None and advice.needs_texts:
        yield from _describe_bands(advice, is_stored=True)
        shaping = options.spell_settings(settings, options.SETTINGS["index"])
        yield _type_command("index", "FILE", *new, *shaping)
        if limits:
            yield _type_command("duplicates", *measured, *new, *limits)
    else:
        if settings is not None:
            yield from _describe_bands(advice, is_stored=True)
            bands = ["--bands", str(settings.bands), "--band-rows", str(settings.rows)]
            yield _type_command("reband", *bands, *where)
        elif advice.again and solr is not None:
            yield "To catch it, renew its stored fields:"
            yield _type_command(
                *(["index", "FILE"] if solr.names.is_plain else ["annotate"]), *where
            )
        else:
            yield "To catch it, widen the limits:"
        if limits:
            yield _type_command(*again, *asked)


def _type_command(*words: str) -> str:
    return f"  {shlex.join(['neardup', *words])}"


def _describe_bands(advice: Advice, *, is_stored: bool) -> Iterator[str]:
    from neardup_solr.minhash.plans import percent
    from neardup_solr.verbs.explain.verdict import describe_bands, describe_shingles

    assert advice.settings is not None

    def describe(share: float) -> str:
        return percent(share) if share >= LITTLE else f"less than {percent(LITTLE)}"

    how = ", from stored signatures" if is_stored else ""
    if advice.needs_texts:
        how = f", shingles of {describe_shingles(advice.settings)}, indexed anew"
    wider = ", and wider limits" if advice.limits else ""
    yield f"To catch it: {describe_bands(advice.settings)}{how}{wider}."
    yield (
        f"They find {percent(advice.chance)} of pairs like it (Jaccard {advice.similarity:.3f}),"
        f" and about {describe(advice.load)} of unrelated pairs at most (now:"
        f" {describe(advice.load_now)})."
    )


def _type_limits(limits: Limits | None) -> list[str]:
    given = []
    if limits is not None and limits.max_distance is not None:
        given += ["--max-distance", str(limits.max_distance)]
    least = None if limits is None else limits.min_similarity
    if least is not None and (least or not given):  # 0 alone is another limit than none
        given += ["--min-similarity", f"{least:g}"]
    return given
