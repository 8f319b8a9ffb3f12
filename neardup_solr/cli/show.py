"""Print tables and progress for people, and plain rows for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import compress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from neardup_solr.cli.exit_codes import REFUSED
from neardup_solr.errors import counted as counted  # the commands take it from here
from neardup_solr.regex import regex
from neardup_solr.variables import read_number

if TYPE_CHECKING:
    from neardup_solr.progress import OnProgress, Progress
    from neardup_solr.records import AnyId, Cluster, Match, Pair, Passage
    from neardup_solr.verbs.evaluate.evaluation import Evaluation
    from neardup_solr.verbs.index_run import IndexSummary
    from neardup_solr.verbs.report import Report

MOST_ERRORS = 20  # of a run, each a line
UNITS = {"joining": "bands"}  # what a stage counts, if not documents
PROGRESS = "NEARDUP_PROGRESS"  # seconds between two lines of progress; 0 prints none
EVERY = 10.0  # if it is not set
MOST_ROWS = 40  # of a report on a terminal; files and pipes get all
RESUMABLE = "Everything written so far is kept; run this again to continue."
UNSURE = "The last documents may be missing; it is safe to run the same command again."
MOST_MEMBERS = 5  # of a cluster in a table
# An argument in backticks; first what a message quotes, in which nothing is an argument.
_ARGUMENT = regex(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)|`(\w+)(?:\['(.*?)'\])?`"""
)
_BREAKS = regex(r"[\t\n\r]+")
WIDEST_ID = 0.3  # of the terminal, longer ones are folded
NARROW = 66  # columns of a terminal; below it a table leaves no room for texts
_FULL_TEXT = regex(r"\bcontent:(?!\[|\*$)")
_NOT_SHOWN = regex(r"(?:(?!\r?\n)[^\t ])+")  # all but tabs, blanks and line breaks


def is_quiet() -> bool:
    """Return True if --quiet was typed, before the command or behind it."""
    context = click.get_current_context(silent=True)
    both = (context, context.find_root()) if context else ()
    return any(each.params.get("quiet") for each in both)


def say(line: str) -> None:
    """Print a line for the person at the terminal, unless --quiet was typed."""
    if not is_quiet():
        warn(line)


def warn(line: str) -> None:
    """Print a warning or an error, out of the way of what is piped on.

    What was printed before stands before it, even if both streams go to one file.
    """
    with suppress(OSError):  # a reader that is gone is noticed at the end
        sys.stdout.flush()
    with suppress(OSError):  # nobody listens any more
        print(line, file=sys.stderr)


def say_if_typed(sources: Sequence[str], what: str) -> None:
    """Tell a person that a source is read from the keyboard."""
    if "-" in sources and sys.stdin.isatty():
        say(f"Reading {what} from the keyboard; to finish, press Ctrl-D on an empty line.")


def say_if_full_text(queries: Iterable[str | None], place: str) -> None:
    """Tell why a query found nothing, if it looks for words in a field that is a string."""
    if any(query and _FULL_TEXT.search(query) for query in queries):
        say(
            "Hint: if content is not indexed for full text, queries find no words in it;"
            f" neardup search {place} --text 'SOME WORDS' finds documents similar to a text."
        )


def compile_kernel() -> None:
    """Compile the kernel before it is needed, and say so if that takes time."""
    from neardup_solr.minhash import sign

    line = "Compiling the kernel for this processor (first use only): up to half a minute ..."
    sign.compile_kernel(on_wait=lambda: say(line))


def printable(text: str) -> str:
    """Escape the characters of a text that move the cursor or change the reading direction."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def one_line(text: str) -> str:
    """Put a text on a line, `printable`, with blanks for line breaks."""
    return printable(_BREAKS.sub(" ", text))


def print_rows(lines: Iterator[str]) -> None:
    """Print lines with line breaks, on a terminal `printable` and elsewhere as they are."""
    if sys.stdout.isatty():
        lines = (_NOT_SHOWN.sub(lambda found: printable(found[0]), line) for line in lines)
    sys.stdout.writelines(lines)


def align(rows: Sequence[Sequence[str]], right: Container[int], gap: str = "  ") -> Iterator[str]:
    """Align the cells of rows, those of some columns `right`, in lines without trailing blanks."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        cells = [
            blank + cell if column in right else cell + blank
            for column, (cell, blank) in enumerate(zip(row, blanks, strict=True))
        ]
        yield gap.join(cells).rstrip()


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows of a table, and the heading and texts that stand for them on a narrow terminal."""

    rows: Sequence[Sequence[str]]
    heading: str
    texts: Sequence[str]


def print_table(
    columns: Mapping[str, Mapping[str, Any]], rows: Iterable[Sequence[str]], rest: str = ""
) -> None:
    """Print rows as a table, only the first if `rest` writes all of them. () ends a section."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    is_wide = any("ratio" in how for how in columns.values())
    table, count = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=is_wide), 0
    for name, how in columns.items():
        table.add_column(name, **how)
    for count, row in enumerate(rows, 1):
        if not row:
            table.add_section()
        elif count <= MOST_ROWS or not rest:
            table.add_row(*map(printable, row))
    if count:
        Console(markup=False, highlight=False).print(table)
    if rest and count > MOST_ROWS:
        say(f"... and {count - MOST_ROWS:,} more; {rest} writes all of them.")


def _print_groups(columns: Sequence[str], groups: Sequence[_Group]) -> None:
    """Print a table, or each group as a heading and texts, a line for each."""
    from rich.console import Console

    console = Console(markup=False, highlight=False)
    if console.width < NARROW:
        for group in groups:
            console.print(group.heading)
            for text in group.texts:
                console.print(f"  {one_line(text)}", no_wrap=True, overflow="ellipsis")
        return
    rows = [row for group in groups for row in group.rows]
    filled = [any(row[at] for row in rows) for at in range(len(columns))]  # no distances by jaccard
    id = {"overflow": "fold", "max_width": int(WIDEST_ID * console.width)}
    special = {"text": {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"}, "id": id}
    number = {"justify": "right", "no_wrap": True}
    shown = {name: special.get(name, number) for name in compress(columns, filled)}
    lines: list[Sequence[str]] = []
    for group in groups:
        lines += [[one_line(cell) for cell in compress(row, filled)] for row in group.rows]
        lines += [()] if len(group.rows) > 1 else []
    print_table(shown, lines)


def _measured(match: Match | Pair) -> tuple[str, str]:
    distance = "" if match.distance is None else str(match.distance)
    return distance, f"{match.similarity:.3f}"


def _head(ids: str, match: Match | Pair) -> str:
    distance, similarity = _measured(match)
    return f"{ids}: {f'distance {distance}, ' if distance else ''}{similarity}"


def print_matches(matches: Sequence[Match]) -> None:
    """Print the near-duplicates of one document as a table."""
    groups = [
        _Group(
            [(id, *_measured(match), str(match.shared), match.content)],
            _head(id, match),
            [match.content],
        )
        for match in matches
        for id in [printable(match.id)]
    ]
    _print_groups(("id", "distance", "similarity", "shared", "text"), groups)


def print_passages(passages: Iterable[Passage]) -> None:
    """Print passages as a table."""
    fold, right = {"overflow": "fold"}, {"justify": "right"}
    columns: dict[str, dict[str, Any]] = {
        "id": fold, "relation": {}, "other_id": fold, "words": right, "similarity": right,
        "passage": {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"},
    }  # fmt: skip
    rows = (
        (str(each.id), each.relation, str(each.other_id), f"{each.words:,}",
         f"{each.similarity:.3f}", one_line(each.text or ""))
        for each in passages
    )  # fmt: skip
    print_table(columns, rows)


def print_report(
    report: Report, texts: Mapping[str, str], *, most: int = MOST_ROWS, rest: str = "-o pairs.tsv"
) -> None:
    """Print pairs of a report, text under text, at most so many: `rest` writes all of them."""
    groups = []
    for pair in report.pairs[:most]:
        ids = printable(pair.id), printable(pair.other_id)
        both = texts.get(pair.id, ""), texts.get(pair.other_id, "")
        rows = [(ids[0], both[0], "", ""), (ids[1], both[1], *_measured(pair))]
        groups.append(_Group(rows, _head(" – ".join(ids), pair), both))
    _print_groups(("id", "text", "distance", "similarity"), groups)
    if len(report.pairs) > most:
        more = counted(len(report.pairs) - most, "more pair")
        say(f"... and {more}; {rest} writes all of them.")


def print_clusters(clusters: Sequence[Cluster], texts: Mapping[AnyId, str]) -> None:
    """Print clusters with their first members, text under text, the document to keep first."""
    from neardup_solr.records import key_of

    groups = []
    for cluster in clusters:
        rows = [
            (
                "" if at else f"{len(cluster.members):,}",
                printable(member.id),
                texts.get(key_of(member.id, member.side), ""),
                f"{member.similarity:.3f}" if at else "keep",
            )
            for at, member in enumerate(cluster.members[:MOST_MEMBERS])
        ]
        if (more := len(cluster.members) - MOST_MEMBERS) > 0:
            rows.append(("", "", f"… and {more:,} more", ""))
        head = f"{counted(len(cluster.members), 'document')}, keep {printable(cluster.canonical)}"
        groups.append(_Group(rows, head, [f"{id} {text}".lstrip() for _, id, text, _ in rows]))
    _print_groups(("documents", "id", "text", "similarity"), groups)


def list_ids(report: Report, *, most: int = MOST_ROWS) -> list[str]:
    """List the ids of the pairs that a table shows."""
    pairs = report.pairs[:most]
    return list({id: None for pair in pairs for id in (pair.id, pair.other_id)})


def say_report(report: Report) -> None:
    """Say what a report covers, and what it may have left out."""
    pairs = counted(len(report.pairs), "near-duplicate pair")
    say(f"{pairs} among {counted(report.documents, 'document')}.")
    if report.cut:
        cut = f"{counted(report.cut, 'document')} reached --candidates {report.candidates}"
        warn(f"{cut}, and may have more near-duplicates: --candidates {report.enough} is enough.")
    if report.answered is not None:
        say(f"{report.answered}.")
    say_gaps(report.gaps)


def say_gaps(gaps: Iterable[str]) -> None:
    """Say what may be missing."""
    for gap in gaps:
        warn(f"Incomplete: {in_options(gap)}.")


def spell(message: str, spelled: Mapping[str, str]) -> str:
    """Put a message of the library in options: `min_similarity` is --min-similarity."""

    return _ARGUMENT.sub(
        lambda match: (
            f"{spelled[match[1]]} {match[2] or ''}".rstrip() if match[1] in spelled else match[0]
        ),
        message,
    )


def in_options(message: str) -> str:
    """Put a message of the library in the options of the command that runs."""
    context = click.get_current_context(silent=True)
    return spell(message, getattr(context.command, "spell", dict)()) if context else message


def print_evaluation(evaluation: Evaluation, *, most: int) -> None:
    """Print precision, recall and F1, then `most` of the missed and of the false pairs."""
    print(evaluation.summary)
    for title, pairs in (("missed", evaluation.missed), ("false", evaluation.false)):
        if pairs:
            shown = ", ".join(f"{printable(a)} – {printable(b)}" for a, b in pairs[:most])
            left = len(pairs) - len(pairs[:most])
            more = f", and {left} more" if left else ""
            print(f"{title} ({len(pairs)}): {shown}{more}")


def say_summary(summary: IndexSummary) -> None:
    """Say the counts of an indexing run, which add up."""
    rate = (summary.read - summary.resumed) / summary.seconds if summary.seconds else 0.0
    if summary.resumed:
        say(f"{counted(summary.resumed, 'record was', 'records were')} done by an earlier run.")
    if summary.resent:
        say(f"Resent {counted(summary.resent, 'document')} that Solr had lost.")
    say(
        f"Read {counted(summary.read, 'record')} = {summary.indexed:,} indexed"
        f" + {summary.repeated:,} repeated + {summary.failed:,} failed"
        f" ({summary.seconds:.1f} s, {rate:,.0f} records/s)."
    )
    say(f"The collection {summary.collection} has {counted(summary.documents, 'document')} now.")
    from neardup_solr.settings import LONG_TEXT

    long = summary.words > LONG_TEXT * summary.read
    if (measure := summary.settings.measure) not in (None, "words"):
        few = "texts" if long else "short texts"
        say(f"Its {few} are compared by --measure {measure}; --measure words counts edited words.")
    if long and "content_ng" in summary.settings.fields:
        say(
            "Hint: for texts this long, shingles make up most of the index; to leave them"
            " out, use --fields=-content_ng with a new collection (-c NAME)."
        )


@contextmanager
def watch(**units: str) -> Iterator[dict[str, Any]]:
    """Give a verb's `on_error` and `on_progress`: a line for each of the first errors, and bars.

    A bar, with rate and time left, is that of a stage; without a terminal lines stand for bars.
    `units` say what a stage counts, by its name.
    """
    if is_quiet() or not sys.stderr.isatty():
        from neardup_solr.progress import ignore

        seconds = 0.0 if is_quiet() else _read_interval()
        lines = _say_progress(UNITS | units, seconds) if seconds else nullcontext(ignore)
        with lines as on_progress:
            yield {"on_error": first_errors(warn), "on_progress": on_progress}
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True, highlight=False)
    bars = Bars(
        TextColumn("{task.description:<9}"), BarColumn(),
        TextColumn("{task.fields[done]:,} {task.fields[unit]}, {task.fields[rate]}/s"),
        TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal,
    )  # fmt: skip
    tasks: dict[str, tuple[TaskID, float, int]] = {}  # by stage, with its start and what was done

    def show_bar(progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage not in tasks:
            unit = (UNITS | units).get(progress.stage, "documents")
            task = bars.add_task(progress.stage, total=None, done=0, unit=unit, rate="–")
            tasks[progress.stage] = task, now, progress.done
        task, since, before = tasks[progress.stage]
        rate = f"{(progress.done - before) / (now - since):,.0f}" if progress.done > before else "–"
        share = _share(progress)
        total = None if share is None else 1.0
        bars.update(task, completed=share, total=total, done=progress.done, rate=rate)

    with bars:  # from here on, as an interrupt while they begin leaves the terminal half set
        errors = first_errors(lambda line: console.print(line, markup=False, soft_wrap=True))
        yield {"on_error": errors, "on_progress": show_bar}


def _read_interval() -> float:
    """Read how many seconds lie between two lines of progress, 0 if none are to be printed."""
    step = f"set it to a number of seconds, such as {EVERY:g}, or 0 for no lines of progress"
    return read_number(PROGRESS, EVERY, step, float)


@contextmanager
def _say_progress(units: Mapping[str, str], seconds: float) -> Iterator[OnProgress]:
    """Say every so many seconds how far a command is."""
    command, start, has_ended = click.get_current_context().command.name, time.monotonic(), Event()
    began, first, last = start, None, None  # the stage, with its first report and its last one

    def take_report(progress: Progress) -> None:
        nonlocal began, first, last
        if first is None or first.stage != progress.stage:
            began, first = time.monotonic(), progress
        last = progress

    def repeat() -> None:
        while not has_ended.wait(seconds):
            now = time.monotonic()
            line = f"{_spell_time(now - start)} so far"
            if first is not None and last is not None:
                share, shared = _share(last), _share(first) or 0.0
                if share is not None and shared < share < 1:
                    line = f"{_spell_time((now - began) * (1 - share) / (share - shared))} left"
                total = f" of {last.total:,} " if last.total else " "
                count = f"{last.done:,}{total}{units.get(last.stage, 'documents')}, "
                line = f"{last.stage}, {count if last.done or last.total else ''}{line}"
            warn(f"{command}: {line}")

    Thread(target=repeat, daemon=True).start()
    try:
        yield take_report
    finally:
        has_ended.set()


def _share(progress: Progress) -> float | None:
    return progress.done / progress.total if progress.total else progress.share


def _spell_time(seconds: float) -> str:
    """Spell a time in seconds, minutes or hours, at least two of them."""
    size, unit = (1, "s") if seconds < 120 else (60, "min") if seconds < 7200 else (3600, "h")
    return f"{seconds / size:.0f} {unit}"


def first_errors(say: Callable[[str], None]) -> Callable[[Exception], None]:
    """Make a function that shows the first errors it is told, a line for each."""
    errors = 0

    def on_error(error: Exception) -> None:
        nonlocal errors
        errors += 1
        if errors <= MOST_ERRORS or getattr(error, "ends_source", False):
            say(printable(str(error)))
        elif errors == MOST_ERRORS + 1:
            say("... further errors are counted, but not shown.")

    return on_error


@contextmanager
def say_log() -> Iterator[dict[str, Any]]:
    """Say what the package logs, with the time, and give a verb's `on_error`, as `watch` does.

    For a command that does not end by itself, and does not wait for whoever reads what it says.
    """
    import logging

    from neardup_solr.log import unblocked
    from neardup_solr.progress import LOG

    form = logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S")
    level = LOG.level
    with unblocked() as log, log.gathering(LOG, formatter=form):
        LOG.setLevel(logging.WARNING if is_quiet() else logging.INFO)
        try:
            yield {"on_error": first_errors(warn), "on_progress": None}
        finally:
            LOG.setLevel(level)


@contextmanager
def say_if_interrupted(line: str = RESUMABLE) -> Iterator[None]:
    """If interrupted, say what can be done, unless the interrupt tells."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if line and not hasattr(interrupt, "__notes__"):
            warn(line)
        raise


def choose_format(format: str | None) -> str | None:
    """Choose the format of rows to print, None for a table."""
    if format is None:
        return None if sys.stdout.isatty() else "tsv"
    return None if format == "table" else format


def format_json(record: Mapping[str, Any]) -> Iterator[str]:
    """Format a record as a JSON object of several lines."""
    import orjson

    yield orjson.dumps(record, option=orjson.OPT_INDENT_2).decode() + "\n"


def confirm(question: str, *, unasked: str, declined: str) -> None:
    """Ask at a terminal, and exit if `declined`, or refuse, as `unasked`, without one."""
    if not sys.stdin.isatty():
        warn(f"neardup: {unasked}")
        raise click.exceptions.Exit(REFUSED)
    if not click.confirm(question, err=True):
        say(declined)
        raise click.exceptions.Exit(REFUSED)
