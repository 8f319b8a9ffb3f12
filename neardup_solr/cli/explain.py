"""The command explain: two documents, what they share, who finds them, and what else would."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import neardup_solr as nd
from neardup_solr.cli import options, show

if TYPE_CHECKING:
    from neardup_solr.measures import Limits
    from neardup_solr.settings import Settings
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.explain.verdict import Advice, Explanation


def explain(
    id: Annotated[str, typer.Argument(help="Id of a document.")],
    other_id: Annotated[str, typer.Argument(help="Id of another document.")],
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="File or folder that has both (repeatable), - for standard input (default: a"
            " collection)."
        ),
    ] = None,
    measure: options.MeasureOption = "words",
    max_distance: options.MaxDistanceOption = None,
    min_similarity: options.MinSimilarityOption = None,
    format: options.JsonOption = "table",
    id_field: options.IdFieldOption = None,
    text_field: options.TextFieldOption = None,
    source_format: options.SourceFormatOption = None,
    delimiter: options.DelimiterOption = None,
    encoding: options.EncodingOption = None,
    lossy: options.LossyOption = False,
    kind: options.KindOption = None,
    shingle_size: options.ShingleSizeOption = None,
    language: options.LanguageOption = None,
    hashes: options.HashesOption = None,
    bands: options.BandsOption = None,
    band_rows: options.BandRowsOption = None,
    solr: options.SolrOption = None,
    collection: options.CollectionOption = None,
) -> None:
    """Explain why two documents are found, or not.

    It also says what would find them.
    """
    from neardup_solr.cli import explanation
    from neardup_solr.verbs.explain import check_ids

    check_ids(id, other_id)
    settings = options.settings_given(
        kind=kind, shingle_size=shingle_size, language=language, hashes=hashes, bands=bands,
        rows=band_rows,
    )  # fmt: skip
    if not source and settings:
        raise typer.BadParameter(f"a collection has its own {', '.join(settings)}: name a --source")
    if source:
        show.say_if_typed(source, "documents")
    options.check_limits(measure, max_distance, min_similarity)
    reading = options.reading(id_field, text_field, source_format, delimiter, encoding, lossy)
    place = source or options.connect(solr, collection)
    found = nd.explain(
        place,
        id,
        other_id,
        measure=measure,
        max_distance=max_distance,
        min_similarity=min_similarity,
        settings=settings,
        **reading,
    )
    commands = _commands(found, place, solr is not None, options.reading_words(reading))
    if format == "json":
        show.print_rows(_json(found, commands))
    else:
        explanation.print_explanation(found, commands, is_stored=not source)


def _json(found: Explanation, commands: list[str]) -> Iterator[str]:
    """The whole record for programs; settings as their fingerprints."""
    import orjson

    facts = found.facts
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
        "advice": _advice_fields(found.advice, commands) if found.advice else None,
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


def _advice_fields(advice: Advice, commands: list[str]) -> dict[str, Any]:
    fields = {
        name: getattr(advice, name)
        for name in (
            "again",
            "by",
            "measure",
            "cap",
            "similarity",
            "chance",
            "load",
            "load_now",
            "needs_texts",
        )
    }
    fields["limits"] = asdict(advice.limits) if advice.limits else None
    fields["settings"] = advice.settings.fingerprint if advice.settings else None
    return fields | {"commands": commands}


def _commands(
    found: Explanation, place: Collection | list[str], is_addressed: bool, reading: Sequence[str]
) -> list[str]:
    """What to type to follow the advice; a file is compared without a Solr first."""
    from neardup_solr.cli import explanation

    advice = found.advice
    is_file = isinstance(place, list)
    side = [*place, *reading] if isinstance(place, list) else []
    file = side or ["FILE"]
    where = [] if isinstance(place, list) else _where(place, place.name, is_addressed)
    measured = [] if found.facts.measure == "words" else ["--measure", found.facts.measure]
    steps = []
    if is_file and explanation.needs_all(found):
        limits = _limits(advice.limits if advice and advice.limits else found.facts.limits)
        all_pairs = ["--by", "all", *measured, *limits]
        steps.append(shlex.join(["neardup", "duplicates", *side, *all_pairs]))
    if advice is None or (is_file and advice.by == "all"):
        return steps
    if advice.cap:
        capped = ["--cap", str(advice.cap), *measured, *where, *_limits(advice.limits)]
        return [*steps, shlex.join(["neardup", "duplicates", *side, *capped])]
    finding = ["report", "--by", advice.by or found.way, *measured]
    if found.way == "duplicates" and advice.by is None:
        finding = ["duplicates", *side, *measured]
    elif advice.by == "all":
        finding = ["duplicates", "--by", "all", *measured]
    if advice.measure:
        named = ["neardup", "duplicates", *side, "--measure", advice.measure, *where]
        return [shlex.join([*named, *_limits(advice.limits)])]
    if advice.again:
        steps.append(shlex.join(["neardup", "index", *file, *where]))
    elif advice.settings and not advice.needs_texts and not is_file:
        bands = ["--bands", str(advice.settings.bands), "--band-rows", str(advice.settings.rows)]
        steps.append(shlex.join(["neardup", "reband", *bands, *where]))
    elif advice.settings:
        where = ["--collection", "NEW"]
        if not isinstance(place, list):
            where = _where(place, "NEW", is_addressed)
        finding = ["duplicates"]
        steps.append(shlex.join(["neardup", "index", *file, *where, *_shaping(advice.settings)]))
    elif advice.by and is_file:
        where = ["--collection", "NEW"]
        steps.append(shlex.join(["neardup", "index", *file, *where]))
    if advice.limits or advice.by:
        steps.append(shlex.join(["neardup", *finding, *where, *_limits(advice.limits)]))
    return steps


def _where(solr: Collection, name: str, is_addressed: bool) -> list[str]:
    named = ["--collection", name] if name != "neardup" else []
    return named + (["--solr", solr.base] if is_addressed else [])


def _limits(limits: Limits | None) -> list[str]:
    given = []
    if limits is not None and limits.max_distance is not None:
        given += ["--max-distance", str(limits.max_distance)]
    if limits is not None and limits.min_similarity:
        given += ["--min-similarity", f"{limits.min_similarity:g}"]
    return given


_OPTIONS = {
    "kind": "--kind", "shingle_size": "--shingle-size", "language": "--language",
    "family": "--family", "hashes": "--hashes", "bands": "--bands", "rows": "--band-rows",
    "signatures": "--signatures",
}  # fmt: skip


def _shaping(settings: Settings) -> list[str]:
    """The options that give these settings to a new collection."""
    from neardup_solr.settings import OPTIONAL_FIELDS
    from neardup_solr.settings import Settings as Default

    default = Default()
    given = []
    for name, option in _OPTIONS.items():
        if (value := getattr(settings, name)) != getattr(default, name):
            given += [option, str(value)]
    if settings.fields != default.fields:
        names = [name for name in OPTIONAL_FIELDS if name in settings.fields]
        given += ["--fields", ",".join(names)]
    return given
