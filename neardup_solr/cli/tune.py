"""The commands tune, bands and rows for a demand or a model of answers, and explain."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.show import counted, one_line, printable
from neardup_solr.files import page

if TYPE_CHECKING:
    from neardup_solr.arguments import TableOrJson
    from neardup_solr.minhash.plans import Tuning
    from neardup_solr.text.diff import Words
    from neardup_solr.verbs.explain.explanation import Explanation
    from neardup_solr.verbs.explain.facts import Facts
    from neardup_solr.verbs.explain.subject import Subject
    from neardup_solr.verbs.tune import Training


def tune(parsed: options.ParsedOptions, *, format: TableOrJson = "table") -> int:
    """Choose bands and rows, or learn a model from answers (--answers).

    Shows how many pairs the bands select in a sample, or the quality of the model.
    """
    parsed.require_source("SOURCE")
    columns = options.choose_columns(parsed, by_fields=bool(parsed["answers"]))
    target = None if parsed.paths else parsed.connect()
    if parsed.paths:
        show.say_if_typed(parsed.paths, "documents")
        show.compile_kernel()
    parsed["source"] = target or parsed["source"]
    if parsed["answers"]:
        return _learn(parsed, format)
    with show.watch() as watching:
        tuning = cast("Tuning", nd.tune(**watching, **parsed))
    if tuning.failed:
        show.warn(f"{counted(tuning.failed, 'record')} could not be used.")
    if format == "json":
        show.print_rows(_format_json(asdict(tuning) | {"settings": tuning.settings.fingerprint}))
    else:
        other = nd.errors.place(parsed.collection or "NEW", parsed.address)
        reading = [*options.repeat_options(options.READ), *columns]
        place = target.place if target else other
        commands = spell_commands(tuning, parsed.paths, place, reading)
        show.print_rows(f"{line.rstrip()}\n" for line in list_lines(tuning, commands))
    return INCOMPLETE if tuning.failed else 0


def _format_json(record: Mapping[str, Any]) -> Iterator[str]:
    import orjson

    yield orjson.dumps(record, option=orjson.OPT_INDENT_2).decode() + "\n"


def _learn(parsed: options.ParsedOptions, format: TableOrJson) -> int:
    """Learn a model from answers, and print what it knows."""
    with show.watch(comparing="pairs") as watching:
        training = nd.tune(**watching, **parsed)
    if format == "json":
        names = ("is_default", "candidates", "found", "right", "default_right")
        record = json.loads(training.model.to_text()) | {
            "answered": len(training.answered.obeyed),
            **{name: getattr(training, name) for name in names},
        }
        show.print_rows(_format_json(record))
    else:
        lines = _describe_training(training, parsed["output"])
        show.print_rows(f"{line.rstrip()}\n" for line in lines)
    return 0


def _describe_training(training: Training, output: Path | None) -> Iterator[str]:
    """Describe what a model learnt, how good it is, and what to do next."""
    from neardup_solr.measures.logistic import FEWEST, FEWEST_OF_EACH

    model = training.model
    default, total = f"the measure {model.measure}", model.same + model.different
    yield (
        f"{counted(total, 'answer')} ({model.same} same, {model.different} different) about"
        f" pairs of {counted(training.documents, 'document')};"
        f" {training.candidates:,} candidates."
    )
    if training.unlike:
        more = counted(training.unlike, "more is", "more are")
        yield f"{more} about pairs too dissimilar to learn from."
    if training.is_default:
        yield f"Too few answers: {FEWEST} are needed, including {FEWEST_OF_EACH} of each kind."
        yield f"Until then the model decides like {default}."
    else:
        rows = [["bits", "equal", "different"]]
        rows += [[name, *(f"{bits:+.1f}" for bits in ends)] for name, *ends in training.influences]
        yield from ("", *show.align(rows, right=(1, 2)), "")
        yield (
            f"In cross-validation, the model predicts {training.right} of {total} answers"
            f" correctly, and {default} {training.default_right}."
        )
        if training.right < training.default_right:
            yield "These answers do not yet show that the model is better."
    yield f"Among the pairs without an answer, it finds {training.found:,}."
    if output:
        yield f"Wrote {output}: neardup duplicates … --model {output}"


def spell_commands(
    tuning: Tuning, paths: Sequence[str], place: str, reading: Sequence[str] = ()
) -> list[str]:
    """Spell the commands that use the chosen bands, for a file or in a collection."""
    plan = tuning.choice.plan
    bands = ["--bands", str(plan.bands), "--band-rows", str(plan.rows)]
    if not paths:
        return [f"{shlex.join(['neardup', 'reband', *bands])} {place}"]
    names = ("kind", "shingle_size", "language", "family", "hashes")
    typed = [*paths, *reading, *bands, *options.spell_settings(tuning.settings, names)]
    return [
        shlex.join(["neardup", "duplicates", *typed, "--by", "bands"]),
        f"{shlex.join(['neardup', 'index', *typed])} {place}",
    ]


def list_lines(tuning: Tuning, commands: Sequence[str]) -> Iterator[str]:
    """List the sample, its pairs by similarity, the choices, and the commands that take one."""
    from neardup_solr.minhash.plans import percent

    plan, demand = tuning.choice.plan, tuning.demand
    shingles = f"shingles of {tuning.settings.shingle_size} {tuning.settings.kind}"
    pairs = counted(sum(tuning.agreements), "pair")
    yield f"{tuning.sampled:,} of {tuning.documents:,} documents, {pairs} ({shingles})"
    curve, choices = _list_curve(tuning), _list_choices(tuning)
    yield from ("", *show.align(curve, right=range(1, len(curve[0]))))
    yield from ("", *show.align(choices, right=range(len(choices[0])), gap=" "), "")
    yield f"caught, passed: pairs found at similarity {demand.catch:g} and {demand.avoid:g};"
    yield "candidates, bytes of index: estimates per document, for the whole collection."
    if tuning.absent:
        yield f"{counted(tuning.absent, 'known pair')} left out: a document is missing."
    yield ""
    if tuning.current and tuning.current.plan == plan:
        yield "The collection already has the chosen bands."
        return
    miss, load = percent(demand.miss), percent(demand.load)
    yield f"Fewest bands that miss at most {miss} and pass at most {load}:"
    yield from (f"  {command}" for command in commands)
    if tuning.current:
        yield f"They are computed from stored signatures, without texts: see {page('tuning')}."


def _list_curve(tuning: Tuning) -> list[list[str]]:
    """Count pairs by similarity, beside the chance to find them by the recommended bands."""
    from neardup_solr.minhash.plans import curve, make_histogram

    pairs, plan = make_histogram(tuning.agreements), tuning.choice.plan
    record = make_histogram(tuning.known) if tuning.known else ()
    rows = [["similarity", "pairs", "found", *(["known"] if tuning.known else ())]]
    for at, (low, high) in enumerate(pairwise([at / len(pairs) for at in range(len(pairs) + 1)])):
        chance = float(curve((low + high) / 2, plan.bands, plan.rows))
        counts = [f"{count:,}" if count else "" for count in record[at : at + 1]]
        rows.append([f"{low:.2f}–{high:.2f}", f"{pairs[at]:,}", f"{100 * chance:.1f} %", *counts])
    return rows


def _list_choices(tuning: Tuning) -> list[list[str]]:
    """List the choices by their rows, and what the collection has now."""
    from neardup_solr.minhash.plans import percent

    heads = ["", "bands", "threshold", "caught", "passed", "candidates", "bytes"]
    rows = [heads + (["recall", "precision"] if tuning.known else [])]
    listed = sorted((tuning.choice, *tuning.others), key=lambda choice: choice.plan.rows)
    for choice in [*listed, *([tuning.current] if tuning.current else ())]:
        plan, candidates = choice.plan, choice.candidates
        name = "chosen" if choice is tuning.choice else "now" if choice is tuning.current else ""
        rows.append([
            name, f"{plan.bands} × {plan.rows}", f"{plan.threshold:.2f}", percent(plan.caught),
            percent(plan.load), f"{candidates:,.0f}" if candidates >= 100 else f"{candidates:.3g}",
            f"{choice.index_bytes:,.0f}",
            *(f"{share:.3f}" for share in (choice.recall, choice.precision) if share is not None),
        ])  # fmt: skip
    return rows


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


def explain(parsed: options.ParsedOptions, *, format: TableOrJson = "table") -> int:
    """Explain why a pair of documents is found or missed.

    Also suggests options that would find the pair.
    """
    parsed.require_source("--source")
    show.say_if_typed(parsed.paths, "documents")
    options.choose_columns(parsed)
    place = parsed["source"] or parsed.connect()
    with show.watch(comparing="pairs") as watching:
        progress = watching["on_progress"]
        explanation = nd.explain(**parsed | {"source": place, "on_progress": progress})
    if format == "json":
        from neardup_solr.verbs.explain.explanation import make_record

        show.print_rows(_format_json(make_record(explanation)))
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
    if explanation.verdict == "found":
        way = next(each for each in facts.ways if each.name == explanation.way)
        why = f"they share {tables.describe_shared(facts, way)}, within the limits"
        if facts.by == "all" and way.name == "duplicates":
            why = "with so few documents it compares every pair, and this pair is within the limits"
        say(f"{tables.describe_way(way.name)} finds them: {why}.", indent=2)
    for reason in explanation.reasons:
        say(printable(reason), indent=2)
    texts = [] if facts.rows[0].field else [_show_beginning(each) for each in facts.both]
    if texts and (facts.is_exact or facts.measured("words").similarity >= UNLIKE):
        texts = [_show_changes(facts, console.color_system is not None and not console.no_color)]
    for text in texts:
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


def _show_changes(facts: Facts, is_coloured: bool) -> list[Part]:
    """Show the changes that make one text the other.

    Changed words are in colour, or marked [-so-] and {+so+}, as in git's word diff. What the
    measure takes for the same is not, but if it is written in another way, that follows "≈".
    """
    first, second = facts.first.words, facts.second.words
    runs = [(is_equal, [*run]) for is_equal, run in
            groupby(facts.rows[0].runs, lambda change: change.kind == "equal")]  # fmt: skip
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
