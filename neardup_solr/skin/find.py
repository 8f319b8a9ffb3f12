"""Commands that find near-duplicates: search, report, evaluate, and the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neardup_solr.skin import options, show

if TYPE_CHECKING:
    from neardup_solr.edges.client import Solr
    from neardup_solr.pure.comparing.similarity import Limits
    from neardup_solr.verbs.reporting import Chosen, Report
    from neardup_solr.verbs.searching import Criteria


def search(
    id: Annotated[str | None, typer.Option("--id", help="Id of a document in Solr.")] = None,
    text: Annotated[str | None, typer.Option("--text", help="A text.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="A file that holds a text; - for stdin.")
    ] = None,
    by: options.ByOption = None,
    same: options.SameOption = None,
    fq: options.FilterOption = None,
    rows: options.RowsOption = 100,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    format: options.FormatOption = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Find the near-duplicates of one document or text."""
    from neardup_solr.edges import report as faces
    from neardup_solr.edges import sources
    from neardup_solr.verbs import searching

    if sum(given is not None for given in (id, text, file)) != 1:
        raise typer.BadParameter("give one of --id, --text and --file")
    as_rows = rows_format(format)
    limits = _limits(max_distance, min_similarity)
    criteria = _criteria(by, same, fq, rows, measure, limits)
    if file is not None:
        show.say_if_typed(str(file), "the text")
        text = sources.read_text(file)
    matches = searching.search(options.connect(solr, core), id=id, text=text, criteria=criteria)
    if as_rows is None:
        show.print_matches(matches)
    else:
        show.print_rows(faces.format_matches(matches, as_rows))
    if not matches:
        show.say("No near-duplicates found.")


def report(
    first: options.FromOption = None,
    last: options.ToOption = None,
    query: options.QueryOption = None,
    later_only: options.LaterOption = False,
    by: options.ByOption = None,
    same: options.SameOption = None,
    fq: options.FilterOption = None,
    rows: options.RowsOption = 100,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    output: options.OutputOption = None,
    format: options.FormatOption = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Report the near-duplicate pairs of a collection, or of some of its documents."""
    from neardup_solr.edges import report as faces

    as_rows = rows_format(format)
    if output is not None:
        if format not in (None, output.suffix.lower()[1:]):
            raise typer.BadParameter(f"--format {format} is not that of -o {output}: leave it out")
        faces.check_output(output)
    chosen = _chosen(first, last, query, later_only)
    limits = _limits(max_distance, min_similarity)
    criteria = _criteria(by, same, fq, rows, measure, limits)
    target = options.connect(solr, core)
    found = _report(target, chosen, criteria)
    if output is not None:
        faces.write_pairs(found.pairs, output)
        show.say(f"Wrote {output}.")
    elif as_rows is None:
        show.print_report(found, target.texts(show.ids_of(found)))
    else:
        show.print_rows(faces.format_pairs(found.pairs, as_rows))
    show.say_report(found)


def evaluate(
    known: Annotated[Path, typer.Argument(help="Known pairs: two columns of ids.")],
    found: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Pairs of a report; else one is made."),
    ] = None,
    first: options.FromOption = None,
    last: options.ToOption = None,
    query: options.QueryOption = None,
    later_only: options.LaterOption = False,
    by: options.ByOption = None,
    same: options.SameOption = None,
    fq: options.FilterOption = None,
    rows: options.RowsOption = 100,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    solr: options.SolrOption = None,
    core: options.CoreOption = "neardup",
) -> None:
    """Compare a report with known pairs: precision, recall, F1, and what was missed."""
    from neardup_solr.verbs import evaluating

    known_pairs = evaluating.known_pairs(known)
    if found is not None:
        show.print_evaluation(evaluating.evaluate(found, known_pairs))
        return
    chosen = _chosen(first, last, query, later_only)
    limits = _limits(max_distance, min_similarity)
    criteria = _criteria(by, same, fq, rows, measure, limits)
    made = _report(options.connect(solr, core), chosen, criteria)
    show.say_report(made)
    show.print_evaluation(evaluating.evaluate(made.pairs, known_pairs))


def demo(solr: options.SolrOption = None) -> None:
    """See the main job on listings that come with the package."""
    from neardup_solr.verbs import demonstrating

    target = options.connect(solr, demonstrating.CORE, create=True)
    shown = demonstrating.demo(target)
    show.say_summary(shown.indexed)
    texts = target.texts(show.ids_of(shown.report, most=DEMO_PAIRS))
    show.print_report(shown.report, texts, most=DEMO_PAIRS)
    show.say_report(shown.report)
    show.print_evaluation(shown.evaluation, most=3)
    show.say(NEXT_STEPS)


NEXT_STEPS = """
Next:
  neardup search --core neardup_demo --id lantern-002      the near-duplicates of one listing
  neardup report --core neardup_demo --by bands            all pairs, found by LSH bands
  neardup index FILE                                       your own .csv, .tsv, .jsonl, ...
"""
DEMO_PAIRS = 8


def rows_format(format: str | None) -> str | None:
    """The format of rows to print, checked; None for a table."""
    from neardup_solr.edges import report as faces

    format = format or ("table" if show.is_terminal() else "tsv")
    if format == "table":
        return None
    faces.check_format(format)
    return format


def _chosen(first: str | None, last: str | None, query: str | None, later_only: bool) -> Chosen:
    from neardup_solr.pure.ids import natural
    from neardup_solr.verbs.reporting import Chosen

    if first is not None and last is not None and natural(first) > natural(last):
        raise typer.BadParameter(f"--from {first} comes after --to {last}: turn them round")
    return Chosen(first=first, last=last, filter=query, later_only=later_only)


def _criteria(
    by: str | None,
    same: list[str] | None,
    fq: list[str] | None,
    rows: int,
    measure: str,
    limits: Limits,
) -> Criteria:
    from neardup_solr.verbs.searching import Criteria

    return Criteria(
        by=by,
        rows=rows,
        filters=tuple(fq or ()),
        same=tuple(same or ()),
        measure=measure,
        limits=limits,
    )


def _limits(max_distance: int | None, min_similarity: float | None) -> Limits:
    from neardup_solr.pure.comparing.similarity import Limits

    return Limits(max_distance=max_distance, min_similarity=min_similarity)


def _report(target: Solr, chosen: Chosen, criteria: Criteria) -> Report:
    from neardup_solr.verbs import reporting

    with show.counting("comparing") as on_progress:
        return reporting.report(target, chosen=chosen, criteria=criteria, on_progress=on_progress)
