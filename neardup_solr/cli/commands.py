"""Commands that make one library call and print its result."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import neardup_solr as nd
from neardup_solr.arguments import most_failed, require_positive
from neardup_solr.cli import options, show
from neardup_solr.cli.exit_codes import INCOMPLETE, REFUSED, UNTRIED
from neardup_solr.errors import ServerError
from neardup_solr.files import private
from neardup_solr.log import unblocked

if TYPE_CHECKING:
    from neardup_solr.arguments import Judgement, RowFormat
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.annotate import AnnotateSummary
    from neardup_solr.verbs.findings import Finding
    from neardup_solr.verbs.init import Preparation

DEMO_PAIRS = 8
MOST_PAIRS = 10  # missed and false ones each that evaluate prints


def demo(parsed: options.ParsedOptions, *, address: str | None = None) -> int:
    """Try index, report and evaluate on sample listings."""
    from neardup_solr.demo import CORE, listings, pairs

    target = options.connect(address, CORE, create=True)
    show.compile_kernel()
    indexed = nd.index(listings(), target, keep=("city", "kind"))
    report = nd.report(target, later_only=True)
    evaluation = nd.evaluate(pairs(), report.pairs)
    show.say_summary(indexed)
    texts = target.texts(show.list_ids(report, most=DEMO_PAIRS))
    rest = f"neardup report {target.place} -o pairs.tsv"
    show.print_report(report, texts, most=DEMO_PAIRS, rest=rest)
    show.say_report(report)
    show.print_evaluation(evaluation, most=3)
    place = target.beside("NAME").place
    steps = {
        f"neardup search {target.place} --id lantern-002": "the near-duplicates of one listing",
        f"neardup report {target.place} --by bands": "all pairs, found by LSH bands",
        f"neardup index FILE {place}": "your own .csv, .tsv, .jsonl, ...",
    }
    width = max(map(len, steps))
    show.say("\n".join(["\nNext:", *(f"  {step:{width}}  {what}" for step, what in steps.items())]))
    return 0


def index(parsed: options.ParsedOptions, *, max_failed: str = "0") -> int:
    """Index a file, a folder or standard input into Solr."""
    source = parsed.paths
    most_failed(max_failed, 0)
    can_resume = _check(parsed)
    from neardup_solr.checkpoint import folder_for
    from neardup_solr.solr.unsigned import describe_unspaced
    from neardup_solr.sources import shown_name
    from neardup_solr.verbs.index_run import not_begun

    try:
        # A collection that is created here has one replica of each shard.
        target = parsed.connect(create=parsed["min_replicas"] == 1)
        usual = folder_for(source, target.base, target.name, can_resume=can_resume)  # opens it
        folder = parsed["job"] = parsed["job"] or usual
    except nd.SolrError as error:
        if error.may_pass:
            error.add_note(not_begun(shown_name(source)))
        raise
    if not parsed["resume"]:
        _say_if_unfinished(folder)
    show.say_if_typed(source, "documents")
    show.compile_kernel()
    with show.say_if_interrupted(show.UNSURE), show.watch() as watching:
        summary = nd.index(collection=target, **watching, **parsed)
    show.say_summary(summary)
    show.say_gaps(describe_unspaced(target))
    if summary.failed:
        job = shlex.quote(str(folder))
        show.warn(f"To see the records that failed: neardup dead-letters show --job {job}")
    return INCOMPLETE if summary.failed > most_failed(max_failed, summary.read) else 0


def _say_if_unfinished(folder: Path) -> None:
    """Tell of an earlier run that did not end."""
    from neardup_solr import checkpoint

    try:
        with checkpoint.Job(folder):  # or it is at work
            kept = checkpoint.read_checkpoint(folder)
    except nd.NeardupError:
        return  # which `index` reports
    if kept is not None and not kept.has_ended:
        records = show.counted(kept.reached.read, "record")
        show.warn(
            f"An earlier run stopped after {records}. This run starts over; --resume continues"
            " the earlier run."
        )


def _check(parsed: options.ParsedOptions) -> bool:
    """Refuse numbers and a source that cannot be used, before a Solr is started for them.

    The first record of a file is read; a pipe can be read only once. Returns True for a file.
    """
    from neardup_solr import sources
    from neardup_solr.progress import ignore
    from neardup_solr.sources.column import check_keep
    from neardup_solr.sources.reading import Guess

    numbers = ("batch", "checkpoint_every", "min_replicas")
    require_positive(**{name: parsed[name] for name in numbers})

    can_read_again = sources.size_hint(parsed.paths) is not None
    columns = {name: parsed[name] for name in ("id", "text", "keep")}
    guess: Guess = "refuse" if can_read_again else "none"
    source, reading = sources.reading_of(parsed["source"], guess, **columns)
    check_keep(reading.keep)
    # Notices about the source are printed when it is indexed.
    documents = sources.documents(source, reading=reading, on_error=ignore, on_notice=ignore)
    if can_read_again:
        next(documents, None)
    return can_read_again


def search(parsed: options.ParsedOptions, *, format: RowFormat | None = None) -> int:
    """Find the near-duplicates of one document or text."""
    from neardup_solr.reports.rows import match_rows

    if (parsed["id"] is None) == (parsed["text"] is None):
        raise click.BadParameter("give either --id or --text")
    as_rows = options.choose_format(format)
    if parsed["text"] == "-":
        show.say_if_typed(["-"], "the text")
        from neardup_solr import sources

        parsed["text"] = sources.read_text("-")
    target = parsed.connect()
    matches = nd.search(target, **parsed)
    if as_rows is None:
        show.print_matches(matches)
    else:
        show.print_rows(match_rows(matches).lines(as_rows))
    if not matches:
        show.say(_describe_nothing(target, parsed["id"]))
        show.say_if_full_text(parsed["fq"], target.place)
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


def report(
    parsed: options.ParsedOptions, *, output: Path | None = None, format: RowFormat | None = None
) -> int:
    """Report the near-duplicate pairs of a collection."""
    from neardup_solr.reports.row_table import check_output
    from neardup_solr.reports.rows import pair_rows

    as_rows = options.choose_format(format)
    if output is not None:
        if format not in (None, output.suffix.lower()[1:]):
            raise click.BadParameter(f"--format {format} conflicts with -o {output}: leave one out")
        check_output(output)
    target, result = _make_report(parsed)
    if output is not None:
        result.write(output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        show.print_report(result, target.texts(show.list_ids(result)))
    else:
        show.print_rows(pair_rows(result.pairs).lines(as_rows))
    show.say_report(result)
    if not result.pairs:
        show.say_if_full_text([parsed["query"], *parsed["fq"]], target.place)
    return 0


def _make_report(parsed: options.ParsedOptions) -> tuple[Collection, nd.Report]:
    target = parsed.connect()
    with show.watch() as watching:
        return target, nd.report(target, on_progress=watching["on_progress"], **parsed)


def evaluate(
    parsed: options.ParsedOptions,
    *,
    known: Path,
    report: Path | None = None,
    ordered: bool = False,
    output: Path | None = None,
) -> int:
    """Compare a report with known pairs: precision, recall, F1.

    Lists the first missed and false pairs; -o writes all of them.
    """
    from neardup_solr.reports.row_table import check_output
    from neardup_solr.verbs.evaluate.id_pairs import known_pairs

    if output is not None:
        check_output(output)
    known_pairs(known)  # refused before a report is made
    result: Path | nd.Report = report or _make_report(parsed)[1]
    if isinstance(result, nd.Report):
        show.say_report(result)
    made = nd.evaluate(known, result, ordered=ordered)
    show.print_evaluation(made, most=MOST_PAIRS)
    if output is not None:
        made.write(output)
        show.say(f"Wrote {output}.")
    return 0


def answer(
    parsed: options.ParsedOptions,
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
    answers, is_list = nd.Answers(parsed["answers"]), answer is None and pairs is None
    if output is not None and not is_list:
        raise click.BadParameter("-o is only for listing answers: leave out the pair or --import")
    if is_list:
        _print_answers(answers, output, options.choose_format(format))
        return 0
    is_named = parsed.address is not None or parsed.collection is not None
    parsed["source"] = parsed["source"] or (parsed.connect() if is_named else None)
    place = answers.path
    aside = {*answers.set_aside} if place.is_file() else set()
    if pairs is not None:
        columns = {name: parsed[name] for name in ("id", "text")}
        done = answers.add(pairs, parsed["source"], ordered=ordered, **columns)
        rest = f", {done.known:,} already known" if done.known else ""
        empty, added = show.counted(done.empty, "row"), show.counted(done.added, "answer")
        show.say(f"{added} recorded in {place}{rest}; {empty} without an answer.")
    else:
        noted = nd.answer(one=one or "", other=other or "", answer=answer or "unsure", **parsed)
        show.say(f"{noted.id} – {noted.other_id} recorded as {noted.answer} in {place}.")
    if parsed["source"] is None:
        texts = ": the answer applies to any texts" if pairs is None else ", except from the table"
        show.say(f"Without --source, the texts are not recorded{texts}.")
    if more := [each for each in answers.set_aside if each not in aside]:
        first = f"{more[0].id} – {more[0].other_id} {more[0].answer}"
        contradicted = show.counted(len(more), "answer is", "answers are")
        show.warn(f"{contradicted} set aside, contradicted by newer answers: {first}.")
    return 0


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


def delete(parsed: options.ParsedOptions, *, yes: bool = False) -> int:
    """Delete documents by id or by query."""
    ids, query = parsed["ids"], parsed["query"]
    is_dry = parsed.pop("dry_run")
    if not ids and query is None:
        raise click.BadParameter("give ids, or --query QUERY ('*:*' matches everything)")
    target = parsed.connect()
    if is_dry or (query is not None and not yes):
        count = nd.delete(target, dry_run=True, **parsed)
        documents = show.counted(count, "document")
        if is_dry:
            if not count:
                show.say_if_full_text([query], target.place)
            change = f"{documents} of {target.url} would be deleted"
            show.warn(f"{change} (dry run: nothing was changed).")
            return 0
        if count and count == target.count():
            what = f"{documents}, everything in {target.url}"
            options.confirm(
                f"Delete {what}?",
                unasked=f"this would delete {what}; add --yes to confirm",
                declined="Nothing was deleted.",
            )
    with show.watch():
        count = nd.delete(target, **parsed)
    if not count:
        show.say_if_full_text([query], target.place)
    absent = max(0, len(set(ids)) - count) if query is None else 0
    rest = f"; {show.counted(absent, 'id was', 'ids were')} not found" if absent else ""
    show.say(f"{show.counted(count, 'document')} deleted{rest}.")
    return 0


def signatures(parsed: options.ParsedOptions) -> int:
    """Write the signatures of a source to a Parquet file.

    The file includes the bands. No Solr is needed.
    """
    settings = parsed["settings"] = nd.Settings(**parsed["settings"])
    show.say_if_typed(parsed.paths, "documents")
    show.compile_kernel()
    with show.watch() as watching:
        written = nd.signatures(**watching, **parsed)
    show.say(
        f"Read {show.counted(written.read, 'record')} = {written.written:,} written"
        f" + {written.failed:,} failed [{settings.fingerprint}]. Wrote {parsed['output']}."
    )
    return INCOMPLETE if written.failed else 0


def init(parsed: options.ParsedOptions) -> int:
    """Create a collection, or add the neardup fields to an existing one."""
    target = parsed.connect()
    done = nd.init(target, **parsed)
    if parsed["remove"]:
        _say_removed(target.name, done, is_dry=parsed["dry_run"])
        return 0
    if done.is_created:
        show.say(f"Created {target.url}; next: neardup index FILE {target.place}")
        return 0
    _say_prepared(target, done)
    return 0 if done.is_done or parsed["dry_run"] else REFUSED


def _say_prepared(target: Collection, done: Preparation) -> None:
    url, place = target.url, target.place
    if done.is_done and not done.fields and not done.xml:
        show.say(f"{url} exists and has all fields.")
        return
    if done.is_done:
        texts = ", ".join(done.names.text)
        step = "" if done.dangers else f"; next: neardup annotate {place}"
        undo = f" (to undo: neardup init {place} --remove)"
        read = f"the text is now read from {texts}{step}"
        show.say(f"{url}: {f'{_count_fields(done)} added{step}{undo}' if done.fields else read}.")
    else:
        print(done.xml)
        show.warn(
            f"{url}: {_count_fields(done)} would be added, as shown above."
            if done.is_mutable
            else f"{url}: this schema cannot be changed over HTTP: paste the lines above into it,"
            " before </schema>, and reload the collection."
        )
    if done.growth is not None:
        show.say(f"By default {done.growth}.")
    for danger in done.dangers[:1]:
        more = (
            f" (and {len(done.dangers) - 1} more: neardup lint {place})" if done.dangers[1:] else ""
        )
        problem = f"{danger.about}: {danger.reason}{more}"
        show.warn(f"But annotate will refuse to run: {problem}; next: {danger.remedy}.")
    if done.beside:
        show.say(f"The schema is shared with {', '.join(done.beside)}.")


def _say_removed(name: str, done: Preparation, *, is_dry: bool) -> None:
    if not done.fields:
        show.say(f"{name} has no fields added by neardup init.")
    elif is_dry:
        show.warn(f"{_count_fields(done)} would be removed: {', '.join(done.fields)}.")
    else:
        show.say(f"{_count_fields(done)} removed from the schema of {name}.")


def _count_fields(done: Preparation) -> str:
    return show.counted(len(done.fields), "field") if done.fields else "the field names"


def lint(parsed: options.ParsedOptions, *, format: RowFormat | None = None) -> int:
    """Check whether a collection can be annotated, without changing it.

    The exit code is 3 if documents would lose data or cannot be written, else 5 if this version of
    Solr is untested.
    """
    target = parsed.connect()
    with show.watch():
        result = nd.lint(target, **parsed)
    _print_findings(result.findings, options.choose_format(format))
    counts = [
        show.counted(sum(finding.level == level for finding in result.findings), level)
        for level in ("danger", "warning", "note")
    ]
    documents = show.counted(result.documents, "document")
    show.say(f"{target.url} ({documents}): {', '.join(counts)}.")
    if result.dangers:
        return REFUSED
    return UNTRIED if result.is_untried else 0


def doctor(parsed: options.ParsedOptions, *, format: RowFormat | None = None) -> int:
    """Check the fields of a collection, and the state of its server.

    Recomputes the fields of a sample. The exit code is 3 if there is a problem.
    """
    with show.watch():
        diagnosis = nd.doctor(parsed.connect(), **parsed)
    _print_findings(diagnosis.findings, options.choose_format(format))
    for fingerprint, count in diagnosis.settings.items():
        show.say(f"{show.counted(count, 'document')} with [{fingerprint}].")
    documents = show.counted(diagnosis.documents, "document")
    problems = show.counted(len(diagnosis.problems), "problem")
    counts = f"{diagnosis.missing:,} missing, {diagnosis.sampled:,} sampled"
    unknown = diagnosis.health.unknown
    verb = "is" if len(unknown) == 1 else "are"
    but = f"; unknown {verb} {', '.join(unknown)}" if unknown else ""
    show.say(f"{documents}, {counts}: {problems}{but}.")
    return REFUSED if diagnosis.problems else 0


def _print_findings(findings: Sequence[Finding], as_rows: str | None) -> None:
    """Print findings for people, or as rows in one of the formats."""
    from neardup_solr.reports.row_table import RowTable

    findings = [replace(each, remedy=show.in_options(each.remedy)) for each in findings]
    if as_rows is not None:
        columns = ("level", "rule", "about", "reason", "remedy")
        show.print_rows(RowTable(map(asdict, findings), columns).lines(as_rows))
        return
    for finding in findings:
        print(show.printable(f"{finding.level}: {finding.about}: {finding.reason}"))
        print(show.printable(f"    {finding.remedy}"))


@unblocked()
def annotate(parsed: options.ParsedOptions) -> int:
    """Add the neardup fields to the documents of a collection.

    All other fields stay unchanged.
    """
    which = parsed["which"]
    if parsed["into"] is not None and which != "needed":
        raise click.BadParameter(f"--which {which} cannot be combined with --into: leave one out")
    from neardup_solr.solr.unsigned import describe_unspaced

    target = parsed.connect()
    show.compile_kernel()
    watched = show.say_log() if parsed["follow"] else show.watch()
    with watched as watching, show.say_if_interrupted():
        done = nd.annotate(target, **watching, **parsed)
    _say_annotated(done)
    if parsed["mark"]:
        marked = f"Marked {show.counted(done.marked, 'document')} as near-duplicates"
        show.say(f"{marked}, and unmarked {done.cleared:,}.")
    if not parsed["follow"]:  # which may have been ended because Solr hangs
        show.say_gaps(describe_unspaced(target))
    return INCOMPLETE if done.failed else 0


def _say_annotated(done: AnnotateSummary) -> None:
    """Say the counts of a run, which add up."""
    counts = {
        "annotated": done.annotated, "unchanged": done.unchanged,
        "without text": done.without_text, "gone": done.gone, "failed": done.failed,
    }  # fmt: skip
    parts = [f"{count:,} {what}" for what, count in counts.items() if count or what == "annotated"]
    rate = done.annotated / done.seconds if done.seconds else 0.0
    read = show.counted(done.read, "document")
    show.say(f"Read {read} = {' + '.join(parts)} ({done.seconds:.1f} s, {rate:,.0f}/s).")
    if done.redone:
        others = show.counted(done.redone, "document")
        show.say(f"{others} changed while being written, and had to be read again.")
    if done.read and done.without_text == done.read:
        show.warn("None of these documents has a text: check --text-field.")


def strip(parsed: options.ParsedOptions) -> int:
    """Remove the neardup fields from all documents.

    Marks are also removed. All other fields stay unchanged.
    """
    target = parsed.connect()
    with show.watch() as watching, show.say_if_interrupted():
        done = nd.strip(target, **watching, **parsed)
    failed = f", {done.failed:,} failed" if done.failed else ""
    show.say(f"{show.counted(done.stripped, 'document')} stripped{failed} ({done.seconds:.1f} s).")
    return INCOMPLETE if done.failed else 0


def reband(parsed: options.ParsedOptions) -> int:
    """Change the bands of a collection, computed from its stored signatures.

    No text is read.
    """
    target = parsed.connect()
    show.compile_kernel()
    with show.watch() as watching, show.say_if_interrupted():
        changed = nd.reband(target, on_progress=watching["on_progress"], **parsed)
    documents = show.counted(changed, "document")
    bands = f"{parsed['bands']} bands of {parsed['rows']} rows"
    show.say(f"{documents} of {target.url} changed to {bands}.")
    return 0


@unblocked()
def serve(parsed: options.ParsedOptions) -> int:
    """Serve a collection over HTTP: decisions, searches and fields."""
    target = parsed.connect()

    def tell(address: str) -> None:
        show.compile_kernel()
        show.say(f"Serving {target.name!r} at {address}; press Ctrl-C to stop.")

    nd.serve(target, on_ready=tell, **parsed)
    return 0


REDIRECT = '<!DOCTYPE html><meta http-equiv="refresh" content="0; url={0}"><a href="{0}">{0}</a>'


@unblocked()
def review(parsed: options.ParsedOptions) -> int:
    """Judge pairs in the browser, the most useful pairs first."""
    parsed.require_source("SOURCE")
    options.choose_columns(parsed)
    parsed["source"] = parsed["source"] or parsed.connect()
    show.compile_kernel()
    from tempfile import TemporaryDirectory

    with ExitStack() as shown, TemporaryDirectory(prefix="neardup-") as folder:
        watching: dict[str, Any] = {}
        is_typed = sys.stdout.isatty()  # programs read the address, and ask at once

        def show_address(address: str) -> None:
            if is_typed:
                print(address, flush=True)
                show.say("The page opens once the documents have been compared.")
            watching.update(shown.enter_context(show.watch(comparing="pairs")))

        def open_page(address: str) -> None:
            shown.close()  # the bars, which have the terminal
            if not is_typed:
                print(address, flush=True)
            show.say("Open this address in a browser on this machine; Ctrl-C ends the review.")
            _open_browser(address, Path(folder) / "review.html")

        # The bars begin when the address has been shown, before anything is read.
        names = ("on_error", "on_progress")
        later: dict[str, Any] = {key: lambda each, key=key: watching[key](each) for key in names}
        reviewed = nd.review(on_address=show_address, on_ready=open_page, **later, **parsed)
    kept = f"{show.counted(reviewed.kept, 'answer')} to {reviewed.answers}"
    show.say(f"Saved {kept}, which now has {reviewed.tally} for these pairs.")
    if reviewed.advice:
        show.say(f"{show.in_options(reviewed.advice)}.")
    return 0


def _open_browser(address: str, redirect: Path) -> None:
    """Open a page for a person.

    The browser is started with the name of a file that leads there: every user of the machine can
    read the arguments of a process, and the address has the token.
    """
    import webbrowser
    from threading import Thread

    with suppress(webbrowser.Error):  # there is none
        browser = webbrowser.get()
        # One of the terminal, such as w3m, would take it, and has no JavaScript.
        is_of_terminal = type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
        if sys.stdout.isatty() and not is_of_terminal:
            with open(redirect, "w", encoding="utf-8", opener=private) as file:
                file.write(REDIRECT.format(address))
            # It may run until it is closed, and the page has to be served meanwhile.
            Thread(target=browser.open, args=(redirect.as_uri(),), daemon=True).start()


def start(parsed: options.ParsedOptions, *, port: int | None = None) -> int:
    """Start Solr, unless it is running."""
    from neardup_solr import embedded

    server = embedded.start(port=port, tell=show.say)
    verb = "is running" if server.started_now else "is already running"
    click.echo(
        f"Solr {server.version} {verb} at {server.url} "
        f"(pid {server.pid}, heap {server.heap}, data in {server.home})"
    )
    if server.password is not None:
        click.echo(f"It requires a login: {_user(server.password)}")
    if port not in (None, server.port):
        step = "stop it first with: neardup solr stop"
        raise ServerError("--port has no effect on a running Solr", step)
    return 0


def _user(password: Path) -> str:
    """The user that an embedded Solr asks for, and where the password is."""
    from neardup_solr.embedded.jars import USER

    return f"{USER}, with the password in {password}"


def status(parsed: options.ParsedOptions) -> int:
    """Show the address and the collections of Solr.

    The exit code is 3 if Solr is not running.
    """
    from neardup_solr import embedded

    server = embedded.running()
    if server is None:
        if begun := embedded.starting():
            click.echo(f"Solr is starting (pid {begun.pid}); wait for it with: neardup solr start")
        else:
            click.echo("Solr is not running; start it with: neardup solr start")
        return REFUSED
    cores = embedded.cores(server)
    counts = [f"{name} ({show.counted(size, 'document')})" for name, size in (cores or {}).items()]
    unknown = "unknown: Solr does not answer; see neardup solr logs"
    user = {} if server.password is None else {"user": _user(server.password)}
    facts = {
        "url": server.url, "pid": server.pid, "port": server.port, "heap": server.heap,
        "since": server.started, "version": server.version, **user, "data": server.home,
        "cores": unknown if cores is None else ", ".join(counts) or "none yet",
    }  # fmt: skip
    for name, value in facts.items():
        click.echo(f"{name:8}{value}")
    return 0


def stop(parsed: options.ParsedOptions) -> int:
    """Stop Solr, and keep the index."""
    from neardup_solr import embedded

    click.echo("Solr has been stopped" if embedded.stop(tell=show.say) else "Solr was not running")
    return 0


def logs(parsed: options.ParsedOptions) -> int:
    """Print the last lines of Solr's log."""
    from neardup_solr import embedded

    last = embedded.logs()
    if not last:
        click.echo("There is no log yet; start Solr with: neardup solr start", err=True)
    click.echo(last, nl=False)
    return 0


def reset(parsed: options.ParsedOptions, *, yes: bool = False) -> int:
    """Stop Solr, and delete everything indexed in it."""
    from neardup_solr import embedded
    from neardup_solr.embedded.jars import layout

    folder = layout().cores
    if not yes:
        options.confirm(
            f"Delete everything indexed in {folder}?",
            unasked="nothing was deleted; add --yes to delete everything",
            declined="Nothing was deleted.",
        )
    embedded.reset(tell=show.say)
    click.echo(f"Deleted everything indexed in {folder}")
    return 0


WIDEST = 100_000  # characters of a record that go to a table, which cuts it off much earlier

TABLE: dict[str, dict[str, Any]] = {
    "position": {"overflow": "fold", "ratio": 2},
    "id": {"overflow": "ellipsis", "no_wrap": True, "ratio": 1},
    "stage": {"no_wrap": True},
    "reason": {"overflow": "fold", "ratio": 3},
    "record": {"overflow": "ellipsis", "no_wrap": True, "ratio": 3},
}


def show_letters(
    parsed: options.ParsedOptions, *, output: Path | None = None, format: RowFormat | None = None
) -> int:
    """Show the records that could not be indexed, and why.

    With --job, Solr does not have to be running.
    """
    from neardup_solr.checkpoint import folders_of
    from neardup_solr.letters import LETTERS
    from neardup_solr.reports.row_table import check_output

    as_rows = options.choose_format(format)
    if output is not None:
        check_output(output)
    job: Path | None = parsed["job"]
    if job is None:
        target = parsed.connect()
        folders = folders_of(target.base, target.name)
        place = f"of {target.name} at {target.base}"
    elif parsed.address is not None or parsed.collection is not None:
        raise click.BadParameter("--job sets the collection: leave --solr and --collection out")
    else:
        folders, place = [job], f"in {job}"
    letters_of = {folder: nd.dead_letters(job=folder) for folder in folders}
    letters = [letter for group in letters_of.values() for letter in group]
    if output is not None:
        from neardup_solr.files import write_lines

        write_lines(output, _format_letters(letters, output.suffix.lower().removeprefix(".")))
    elif as_rows is not None:
        show.print_rows(_format_letters(letters, as_rows))
    elif letters:
        cells = ([(cell or "")[:WIDEST] for cell in _row(letter).values()] for letter in letters)
        show.print_table(TABLE, cells, "-o letters.tsv")
    for folder, group in letters_of.items():
        if group:
            show.say(f"{show.counted(len(group), 'dead letter')} in {folder / LETTERS}")
    if not letters:
        show.say(f"There are no dead letters {place}.")
    return 0


def retry(parsed: options.ParsedOptions) -> int:
    """Retry the records that could not be indexed.

    Correct the records first, in the file that `dead-letters show` names. Indexed records are
    removed from the file. The exit code is 1 if any remain.
    """
    target = _find_target(parsed)
    show.compile_kernel()
    safe = "Only indexed records were removed; run this again to continue."
    with show.say_if_interrupted(safe), show.watch() as watching:
        done = nd.retry(target, **watching, **parsed)
    for folder in done.unfinished:
        show.warn(
            f"The job in {folder} has not finished: wait for it, or continue it with neardup index"
            " --resume, then run this again."
        )
    if done.read:
        show.say(
            f"Read {show.counted(done.read, 'dead letter')} = {done.indexed:,} indexed"
            f" + {done.repeated:,} repeated + {done.failed:,} failed."
        )
        documents = show.counted(done.documents, "document")
        show.say(f"The collection {done.collection} has {documents} now.")
    elif not done.unfinished:
        show.say(f"There are no dead letters to index in {target.name}.")
    if done.failed:
        for path in done.left:
            show.warn(f"To be corrected: {path}")
        show.warn("Correct 'record' (text, or object of columns) or remove the line, then rerun.")
    return INCOMPLETE if done.failed or done.unfinished else 0


def _find_target(parsed: options.ParsedOptions) -> Collection:
    """Find the collection that the options name, or else that of the job.

    Raises JobError if the job is of another Solr than the usual one.
    """
    if parsed["job"] is None or parsed.address is not None:
        return parsed.connect()
    from neardup_solr import embedded
    from neardup_solr.checkpoint import read_job
    from neardup_solr.verbs.connect import ADDRESS

    work, usual = read_job(parsed["job"]).work, os.environ.get(ADDRESS)
    address = None if usual or work.server == embedded.address() else work.server
    target = options.connect(address, parsed.collection or work.collection)
    if usual and target.base != work.server:
        reason = f"the job's collection is at {work.server}, but ${ADDRESS} is a different Solr"
        raise nd.errors.JobError(reason, f"add --solr {work.server}")
    return target


def _format_letters(letters: Iterable[nd.types.Letter], format: str) -> Iterator[str]:
    """Format dead letters as lines, in JSONL as they are in their file."""
    from neardup_solr.letters import line_of
    from neardup_solr.reports.row_table import RowTable

    if format == "jsonl":
        return map(line_of, letters)
    return RowTable(map(_row, letters), list(TABLE)).lines(format)


def _row(letter: nd.types.Letter) -> dict[str, str | None]:
    """Make a row, with an object as its JSON, and a line as it is.

    Lone surrogates are escaped: they stand for bytes that are not UTF-8.
    """
    cells: dict[str, Any] = {name: getattr(letter, name) for name in TABLE}
    if isinstance(letter.record, Mapping):
        try:
            cells["record"] = json.dumps(letter.record, ensure_ascii=False)
        except RecursionError:  # lists within lists by the hundred
            cells["record"] = None
    return {
        name: cell and cell.encode("utf-8", "backslashreplace").decode()
        for name, cell in cells.items()
    }


INNER: dict[str, dict[str, options.Function]] = {
    "solr": {"start": start, "status": status, "stop": stop, "logs": logs, "reset": reset},
    "dead-letters": {"show": show_letters, "retry": retry},
}
