"""The command explain: two documents, what they share, who finds them, and what else would."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Given
from neardup_solr.cli.show import counted, one_line, printable
from neardup_solr.cli.texts import READ

if TYPE_CHECKING:
    from neardup_solr.arguments import TableOrJson
    from neardup_solr.measures import Limits
    from neardup_solr.settings import Settings
    from neardup_solr.solr.collection import Collection
    from neardup_solr.text.diff import Words
    from neardup_solr.verbs.explain.facts import Facts, Subject
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

Part = str | tuple[str, str]  # of a paragraph: a text, or one with its style
Commands = list[list[str]]


def explain(given: Given, *, format: TableOrJson = "table") -> int:
    """Explain why two documents are found, or not.

    It also says what would find them.
    """
    source = given["source"]
    given.require_source("--source")
    if source:
        show.say_if_typed(source, "documents")
    place = source or given.connect()
    with show.watch(comparing="pairs") as watching:
        progress = watching["on_progress"]
        found = nd.explain(**given | {"source": place, "on_progress": progress})
    fields = [word for field in given["fields"] or () for word in ("--field", field)]
    fields += ["--model", str(given["model"])] if given["model"] else []
    sentences, commands = _advise(found, place, fields)
    typed = [shlex.join(["neardup", *words]) for words in commands]
    if format == "json":
        show.print_rows(_format_json(found, typed))
    else:
        _print(found, sentences, typed)
    return 0


def _format_json(found: Explanation, commands: list[str]) -> Iterator[str]:
    """Format the whole record for programs, with commands for the advice."""
    import orjson

    from neardup_solr.verbs.explain.verdict import make_record

    fields = make_record(found)
    if fields["advice"] is not None:
        fields["advice"]["commands"] = commands
    yield orjson.dumps(fields, option=orjson.OPT_INDENT_2).decode() + "\n"


def _print(found: Explanation, sentences: list[str], commands: list[str]) -> None:
    """Print an explanation for a person, with changed words in colour, or marked without colour."""
    from rich.console import Console
    from rich.text import Text

    from neardup_solr.verbs.explain import verdict

    console, facts = Console(markup=False, highlight=False), found.facts

    def say(*parts: Part, indent: int = 0) -> None:
        """Print a paragraph, without spaces at the ends of its lines."""
        text = Text.assemble(*parts)
        for line in text.wrap(console, max(console.width - indent, 1)) or [Text()]:
            line.rstrip()
            console.print(Text(" " * indent).append_text(line))

    title, style = TITLES[found.verdict]
    ids = " – ".join(printable(each.id) for each in facts.both)
    say((f"{ids}: ", "bold"), (title, style))
    if found.verdict == "found":
        way = next(each for each in facts.ways if each.name == found.way)
        why = f"they share {verdict.describe_shared(facts, way)}, within the limits"
        if facts.by == "all" and found.way == "duplicates":
            why = "of so few documents it compares every pair, and this one is within the limits"
        say(f"{verdict.describe_way(way.name)} finds them: {why}.", indent=2)
    for reason in found.reasons:
        say(printable(reason), indent=2)
    is_coloured = console.color_system is not None and not console.no_color
    if facts.is_exact or facts.measured("words").similarity >= UNLIKE:
        texts = [_show_changes(facts, is_coloured)]
    else:
        texts = [_show_beginning(each) for each in facts.both]
    for text in texts:
        say()
        say(*text)
    for rows, right in (
        (_list_documents(facts, verdict.describe_shingles(facts.settings)), (1, 2)),
        (verdict.list_measures(facts), (1, 2)),
        *([(verdict.list_evidence(facts), (2,))] if facts.evidence[1:] else []),
        (verdict.list_ways(facts), (2,)),
    ):
        say()
        head, *lines = show.align([[*map(printable, row)] for row in rows], right)
        say((head, "bold"))
        for line in lines:
            say(line)
    for line in _draw_bands(facts):
        say(line)
    if sentences:
        say()
    for sentence in sentences:
        say(sentence)
    for command in commands:
        console.print(f"  {command}", soft_wrap=True)


def _list_documents(facts: Facts, shingles: str) -> list[list[str]]:
    first, second = facts.first.entry, facts.second.entry
    same = {True: "the same", False: "different"}
    rows = {
        "": [_shorten(each.id) for each in facts.both],
        "words": [f"{each.entry.num_words:,}" for each in facts.both],
        "shingles": [*(f"{len(each.pieces):,}" for each in facts.both), f"(of {shingles})"],
        "first word": [_shorten(first.first_word), _shorten(second.first_word),
                       same[first.first_word == second.first_word]],
        "MD5": [f"{first.md5_hash[:8]}…", f"{second.md5_hash[:8]}…", same[facts.is_exact]],
    }  # fmt: skip
    return [[name, *cells, ""][:4] for name, cells in rows.items()]


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


def _show_beginning(document: Subject) -> list[Part]:
    left = document.entry.num_words - BEGINNING
    words = one_line(document.words.text(slice(0, BEGINNING))) or "(no word)"
    end = f" … {counted(left, 'more word')}" if left > 0 else ""
    return [(f"{printable(document.id)}: ", "bold"), words, (end, "dim")]


def _show_changes(facts: Facts, is_coloured: bool) -> list[Part]:
    """Show the changes that make one text the other.

    Changed words are in colour, or marked [-so-] and {+so+}, as in git's word diff.
    """
    first, second = facts.first.words, facts.second.words
    runs = [(kind, [*run]) for kind, run in groupby(facts.changes, lambda c: c.kind == "equal")]
    more = sum(not is_equal for is_equal, _ in runs) - MOST_CHANGES
    shown, parts = 0, list[Part]()
    for at, (is_equal, run) in enumerate(runs):
        if shown == MOST_CHANGES and more > 0:
            rest = f"\n… {counted(more, 'more change')}; --format json has all of them"
            return [*parts, (rest, "dim")]
        shown += not is_equal
        removed = slice(run[0].first.start, run[-1].first.stop)
        added = slice(run[0].second.start, run[-1].second.stop)
        head = tail = LONGEST_RUN // 2
        sides = [("red strike", first, removed), ("green", second, added)]
        if is_equal:
            head, tail = CONTEXT if at else 0, CONTEXT if at < len(runs) - 1 else 0
            sides = [("", first, removed)]
        if len(runs) == 1:
            head, tail = LONGEST_RUN, 0
        for style, words, part in sides:
            if cut := _shorten_run(words, part, head, tail):
                text = cut if is_coloured else MARKS[style].format(cut)
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


def _advise(
    found: Explanation, place: Collection | list[str], fields: list[str]
) -> tuple[list[str], Commands]:
    """Put advice in sentences, and in the words of commands.

    A file is compared without a Solr first.
    """
    from neardup_solr.verbs.explain.verdict import describe_way, is_related

    facts, advice = found.facts, found.advice
    says, steps = list[str](), Commands()
    if found.verdict == "found":
        return says, steps
    measured = fields or ([] if facts.measure == "words" else ["--measure", facts.measure])
    other = next((way.name for way in facts.ways if way.finds), None)
    if isinstance(place, list):
        duplicates = ["duplicates", *place, *options.repeat_options(READ)]
        if found.verdict == "missed" or (advice and (advice.settings or advice.by)):
            says.append(
                "Without a Solr, every pair of the file can be compared: the first command below."
            )
            limits = _type_limits((advice and advice.limits) or facts.limits)
            steps.append([*duplicates, "--by", "all", *measured, *limits])
    else:
        duplicates = ["duplicates"]
        if other and not (advice and advice.by):
            says.append(f"As it is, search and report find the pair {describe_way(other)}.")
    if advice is None:
        none = "No other bands or shingles catch such pairs without many unrelated ones."
        says.append(none if is_related(facts) else "The two are unrelated: no change is advised.")
        return says, steps
    solr = None if isinstance(place, list) else place
    following, commands = _follow(advice, found.way, duplicates, measured, solr)
    return says + following, steps + commands


def _follow(
    advice: Advice, way: str, duplicates: list[str], measured: list[str], solr: Collection | None
) -> tuple[list[str], Commands]:
    """Say what helps, and the commands that do it."""
    where, new = [], ["-c", "NEW"]
    if solr is not None:
        where, new = shlex.split(solr.place), shlex.split(replace(solr, name="NEW").place)
    limits, settings = _type_limits(advice.limits), advice.settings
    asked = [*measured, *where, *limits]
    shaping = options.spell_settings(settings, options.SETTINGS["index"]) if settings else []
    again = [[*(duplicates if way == "duplicates" else ("report", "--by", way)), *asked]]
    again = again if limits else []
    if advice.measure is not None:
        is_part = advice.measure == "containment"
        why = "as a part of the other" if is_part else "although words differ in spelling"
        return [f"The measure {advice.measure} finds it, {why}:"], [
            [*duplicates, "--measure", advice.measure, *where, *limits]
        ]
    if advice.cap is not None:
        says = [f"To catch it, raise the cap to {advice.cap:,}, so that a word of both is rare:"]
        return says, [[*duplicates, "--cap", str(advice.cap), *asked]]
    if advice.by == "all":  # a file is compared so by the command before
        step = [*duplicates, "--by", "all", *asked]
        return ["To catch it, compare every pair:"], [step] if solr else []
    if advice.by is not None:
        wider = " with wider limits" if limits else ""
        index = [["index", *duplicates[1:], *new]] if solr is None else []
        report = ["report", "--by", advice.by, *measured, *(where or new), *limits]
        return [f"To catch it, search or report --by {advice.by}{wider}:"], [*index, report]
    if settings is not None:
        says = _describe_bands(advice, settings, is_stored=solr is not None)
        if solr is None:
            return says, [[*duplicates, "--by", "bands", *measured, *shaping, *limits]]
        if advice.needs_texts:
            again = [["duplicates", *measured, *new, *limits]] if limits else []
            return says, [["index", "FILE", *new, *shaping], *again]
        bands = ["--bands", str(settings.bands), "--band-rows", str(settings.rows)]
        return says, [["reband", *bands, *where], *again]
    if advice.again and solr is not None:
        renew = ["index", "FILE"] if solr.names.is_plain else ["annotate"]
        return ["To catch it, renew its stored fields:"], [[*renew, *where], *again]
    return ["To catch it, widen the limits:"], again


def _describe_bands(advice: Advice, settings: Settings, *, is_stored: bool) -> list[str]:
    from neardup_solr.minhash.plans import percent
    from neardup_solr.verbs.explain.verdict import describe_bands, describe_shingles

    now, then = (
        percent(share) if share >= LITTLE else f"less than {percent(LITTLE)}"
        for share in (advice.load_now, advice.load)
    )
    how = ", from stored signatures" if is_stored else ""
    if advice.needs_texts:
        how = f", shingles of {describe_shingles(settings)}, indexed anew"
    wider = ", and wider limits" if advice.limits else ""
    return [
        f"To catch it: {describe_bands(settings)}{how}{wider}.",
        f"They find {percent(advice.chance)} of pairs like it (Jaccard {advice.similarity:.3f}),"
        f" and about {then} of unrelated pairs at most (now: {now}).",
    ]


def _type_limits(limits: Limits | None) -> list[str]:
    if limits is None:
        return []
    given, least = list[str](), limits.min_similarity
    if limits.max_distance is not None:
        given += ["--max-distance", str(limits.max_distance)]
    if least is not None and (least or not given):  # 0 alone is another limit than none
        given += ["--min-similarity", f"{least:g}"]
    return given
