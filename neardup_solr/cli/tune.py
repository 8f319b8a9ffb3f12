"""The command tune: bands and rows for a demand, or a model of what people answered."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Given
from neardup_solr.cli.texts import READ
from neardup_solr.files import page

if TYPE_CHECKING:
    from neardup_solr.arguments import TableOrJson
    from neardup_solr.minhash.plans import Choice, Tuning
    from neardup_solr.verbs.duplicates.training import Training


def tune(given: Given, *, format: TableOrJson = "table") -> int:
    """Choose bands and rows, or with --answers learn what is a match.

    It shows what bands cost, on a sample, or how good the model is.
    """
    source = given.paths
    given.require_source("SOURCE")
    failures: list[Exception] = []
    chosen = options.choose_columns(given, by_fields=bool(given["answers"]))
    target = None if source else given.connect()
    if source:
        show.say_if_typed(source, "documents")
        show.compile_kernel()
    given["source"] = target or given["source"]
    if given["answers"]:
        if given["against"]:
            from neardup_solr.cli.duplicates import find_side

            given["against"] = find_side(given)
        return _learn(given, format)
    found = cast("Tuning", nd.tune(**given, on_error=failures.append))
    _say_failures(failures)
    place = target.place if target else nd.errors.place(given.collection or "NEW", given.address)
    follow = _spell_commands(found, source, place, [*options.repeat_options(READ), *chosen])
    show.print_rows(_format_json(found) if format == "json" else _table(found, follow))
    return 1 if failures else 0


def _learn(given: Given, format: TableOrJson) -> int:
    """Learn a model from answers, and say what it knows."""
    import orjson

    with show.watch(comparing="pairs") as watching:
        found = nd.tune(**watching, **given)
    if format == "json":
        known = orjson.loads(found.model.to_text()) | {
            "answered": len(found.answered.obeyed), "is_default": found.is_default,
            "candidates": found.candidates, "found": found.found, "right": found.right,
            "default_right": found.default_right,
        }  # fmt: skip
        show.print_rows(iter([orjson.dumps(known, option=orjson.OPT_INDENT_2).decode() + "\n"]))
    else:
        show.print_rows(f"{line.rstrip()}\n" for line in _describe_training(found, given))
    return 0


def _describe_training(found: Training, given: Mapping[str, Any]) -> Iterator[str]:
    """Describe what a model learnt, how good it is, and what to do next."""
    from neardup_solr.verbs.duplicates.training import FEWEST, FEWEST_OF_EACH

    model = found.model
    default = f"the measure {model.measure}"
    answers = show.counted(model.same + model.different, "answer")
    yield (
        f"{answers} ({model.same} same, {model.different} different) about pairs of"
        f" {show.counted(found.documents, 'document')}; {found.candidates:,} candidates."
    )
    if found.unlike:
        more = show.counted(found.unlike, "more is", "more are")
        yield f"{more} about pairs so unlike that nothing is learnt from them."
    if found.is_default:
        few, each = FEWEST, FEWEST_OF_EACH
        yield f"Too few answers: {few} are needed, and {each} of either kind."
        yield f"Until then the model decides as {default} does by default."
    else:
        yield ""
        rows = [["bits", "equal", "different"]]
        rows += [[name, *(f"{bits:+.1f}" for bits in ends)] for name, *ends in found.influences]
        yield from show.align(rows, right=(1, 2), gap="  ")
        yield ""
        total = model.same + model.different
        yield (
            f"Each left out in turn, the model gives {found.right} of {total} answers by itself,"
            f" {default} {found.default_right}."
        )
        if found.right < found.default_right:
            yield "So these answers do not show yet that it is better than the default."
    yield f"Of the pairs that nobody judged it finds {found.found:,}."
    if given["output"]:
        yield f"Wrote {given['output']}: neardup duplicates … --model {given['output']}"


def _say_failures(failures: Sequence[Exception]) -> None:
    for failure in failures[: show.MOST_ERRORS]:
        show.say(show.printable(str(failure)))
    if failures:
        show.say(f"{show.counted(len(failures), 'record')} could not be used.")


def _format_json(found: Tuning) -> Iterator[str]:
    """Format the whole record, with settings as their fingerprint."""
    import orjson

    fields = asdict(found) | {"settings": found.settings.fingerprint}
    yield orjson.dumps(fields, option=orjson.OPT_INDENT_2).decode() + "\n"


def _spell_commands(
    found: Tuning, source: Sequence[str], place: str, reading: Sequence[str] = ()
) -> list[str]:
    """Spell the commands that use the chosen bands, for a file or in a collection."""
    plan = found.choice.plan
    bands = ["--bands", str(plan.bands), "--band-rows", str(plan.rows)]
    if not source:
        return [f"{shlex.join(['neardup', 'reband', *bands])} {place}"]
    names = ("kind", "shingle_size", "language", "family", "hashes")
    asked = [*source, *reading, *bands, *options.spell_settings(found.settings, names)]
    return [
        shlex.join(["neardup", "duplicates", *asked, "--by", "bands"]),
        f"{shlex.join(['neardup', 'index', *asked])} {place}",
    ]


def _table(found: Tuning, follow: Sequence[str]) -> Iterator[str]:
    for block in (_head(found), _curve(found), _choices(found), _advice(found, follow)):
        yield from (f"{line.rstrip()}\n" for line in block)


def _head(found: Tuning) -> Iterator[str]:
    shingles = f"shingles of {found.settings.shingle_size} {found.settings.kind}"
    pairs = show.counted(sum(found.agreements), "pair")
    yield f"{found.sampled:,} of {found.documents:,} documents, {pairs} ({shingles})"
    yield ""


def _curve(found: Tuning) -> Iterator[str]:
    """Count pairs by similarity, beside the chance to find them by the recommended bands."""
    from neardup_solr.minhash.plans import curve, make_histogram

    pairs, plan = make_histogram(found.agreements), found.choice.plan
    known = make_histogram(found.known) if found.known else ()
    edges = [at / len(pairs) for at in range(len(pairs) + 1)]
    rows = [["similarity", "pairs", "found", *(["known"] if found.known else ())]]
    for at, (low, high) in enumerate(pairwise(edges)):
        chance = float(curve((low + high) / 2, plan.bands, plan.rows))
        of_known = [f"{count:,}" if count else "" for count in known[at : at + 1]]
        rows.append([f"{low:.2f}–{high:.2f}", f"{pairs[at]:,}", f"{100 * chance:.1f} %", *of_known])
    yield from show.align(rows, right=range(1, len(rows[0])), gap="  ")
    yield ""


def _choices(found: Tuning) -> Iterator[str]:
    """The choices as a table, the recommended one marked."""
    from neardup_solr.minhash.plans import percent

    def cells(name: str, choice: Choice) -> list[str]:
        plan = choice.plan
        shown = [f"{plan.bands} × {plan.rows}", f"{plan.threshold:.2f}", percent(plan.caught)]
        shown += [percent(plan.load), _number(choice.candidates), f"{choice.index_bytes:,.0f}"]
        if choice.recall is not None and choice.precision is not None:
            shown += [f"{choice.recall:.3f}", f"{choice.precision:.3f}"]
        return [name, *shown]

    rows = [["", "bands", "threshold", "caught", "passed", "candidates", "bytes"]]
    rows[0] += ["recall", "precision"] if found.known else []
    listed = sorted((found.choice, *found.others), key=lambda choice: choice.plan.rows)
    rows += [cells("chosen" if each is found.choice else "", each) for each in listed]
    rows += [cells("now", found.current)] if found.current else []
    yield from show.align(rows, right=range(len(rows[0])), gap=" ")
    yield ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _advice(found: Tuning, follow: Sequence[str]) -> Iterator[str]:
    from neardup_solr.minhash.plans import percent

    plan, demand = found.choice.plan, found.demand
    yield (
        f"caught: share of pairs of similarity {demand.catch:g} that are found;"
        f" passed: of {demand.avoid:g};"
    )
    yield "candidates, bytes of index: expected for a document of the whole collection."
    if found.absent:
        yield f"{show.counted(found.absent, 'known pair')} left out: a document is missing."
    yield ""
    if found.current and found.current.plan == plan:
        yield "The collection has the chosen bands already."
        return
    miss, load = percent(demand.miss), percent(demand.load)
    yield f"Fewest bands that miss at most {miss} and pass at most {load}:"
    yield from (f"  {command}" for command in follow)
    if found.current:
        yield f"They are computed from stored signatures, without texts: see {page('tuning')}."
