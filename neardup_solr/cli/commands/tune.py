"""The command tune: bands and rows for a demand, or a model of answers."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import neardup_solr as nd
from neardup_solr.cli import show
from neardup_solr.cli.exit_codes import INCOMPLETE
from neardup_solr.cli.show import counted
from neardup_solr.cli.typed import Typed, choose_columns, repeat_options, spell_settings
from neardup_solr.files import page
from neardup_solr.option_table import READ

if TYPE_CHECKING:
    from neardup_solr.argument_types import TableOrJson
    from neardup_solr.minhash.band_plans import Tuning
    from neardup_solr.verbs.tune.training import Training

OF_TEXT = (
    "Without options, duplicates compares the columns of this table one by one, without bands; "
    "these are for all in one text, as in Solr."
)


def tune(typed: Typed, *, format: TableOrJson = "table") -> int:
    """Choose bands and rows, or learn a model from answers (--answers).

    Shows how many pairs the bands select in a sample, or the quality of the model.
    """
    typed.require_source("SOURCE")
    from neardup_solr.verbs.tune.request import TuneRequest

    columns = choose_columns(typed, TuneRequest)
    typed = columns.typed
    target = None if typed.paths else typed.connect()
    if columns.options.count("--text-field") > 1 and not typed["answers"]:
        show.warn(OF_TEXT)
    if typed.paths:
        show.say_if_typed(typed.paths, "documents")
        show.compile_kernel()
    typed = typed.replace(source=target or typed["source"])
    if typed["answers"]:
        return _learn(typed, format)
    with show.watch() as watching:
        tuning = cast("Tuning", nd.tune(**watching, **typed.arguments))
    if tuning.failed:
        show.warn(f"{counted(tuning.failed, 'record')} could not be used.")
    if format == "json":
        show.print_rows(
            show.format_json(asdict(tuning) | {"settings": tuning.settings.fingerprint})
        )
    else:
        other = nd.errors.place(typed.place.collection or "NEW", typed.place.address)
        reading = [*repeat_options(READ), *columns.options]
        place = target.place if target else other
        commands = spell_commands(tuning, typed.paths, place, reading)
        show.print_rows(f"{line.rstrip()}\n" for line in list_lines(tuning, commands))
    return INCOMPLETE if tuning.failed else 0


def _learn(typed: Typed, format: TableOrJson) -> int:
    """Learn a model from answers, and print what it knows."""
    with show.watch(comparing="pairs") as watching:
        training = nd.tune(**watching, **typed.arguments)
    if format == "json":
        names = ("is_default", "candidates", "found", "right", "default_right")
        record = json.loads(training.model.to_text()) | {
            "answered": len(training.answered.obeyed),
            **{name: getattr(training, name) for name in names},
        }
        show.print_rows(show.format_json(record))
    else:
        lines = _describe_training(training, typed["output"])
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
    typed = [*paths, *reading, *bands, *spell_settings(tuning.settings, names)]
    return [
        shlex.join(["neardup", "duplicates", *typed, "--by", "bands"]),
        f"{shlex.join(['neardup', 'index', *typed])} {place}",
    ]


def list_lines(tuning: Tuning, commands: Sequence[str]) -> Iterator[str]:
    """List the sample, its pairs by similarity, the choices, and the commands that take one."""
    from neardup_solr.minhash.band_plans import percent

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
    from neardup_solr.minhash.band_plans import curve, make_histogram

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
    from neardup_solr.minhash.band_plans import percent

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
