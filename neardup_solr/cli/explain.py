"""The command explain: two documents, what they share, who finds them, and what else would."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

import neardup_solr as nd
from neardup_solr.cli import options, show
from neardup_solr.cli.options import Given
from neardup_solr.cli.texts import READ

if TYPE_CHECKING:
    from neardup_solr.arguments import TableOrJson
    from neardup_solr.measures import Limits
    from neardup_solr.solr.collection import Collection
    from neardup_solr.verbs.explain.verdict import Advice, Explanation


def explain(given: Given, *, format: TableOrJson = "table") -> int:
    """Explain why two documents are found, or not.

    It also says what would find them.
    """
    from neardup_solr.cli import explanation
    from neardup_solr.verbs.explain import check_ids

    check_ids(given["one"], given["other"])
    source = given["source"]
    if not source and given["settings"]:
        asked = ", ".join(given["settings"])
        raise click.BadParameter(f"a collection has its own {asked}: name a --source")
    if source:
        show.say_if_typed(source, "documents")
    options.check_limits(given)
    place = source or given.connect()
    found = nd.explain(**given | {"source": place})
    is_addressed = given.address is not None
    commands = _commands(found, place, is_addressed, options.typed_again(READ))
    if format == "json":
        show.print_rows(_json(found, commands))
    else:
        explanation.print_explanation(found, commands, is_stored=not source)
    return 0


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
        is_own = isinstance(place, list) or place.names.is_plain
        writing = ["index", *file] if is_own else ["annotate"]
        steps.append(shlex.join(["neardup", *writing, *where]))
    elif advice.settings and not advice.needs_texts and not is_file:
        bands = ["--bands", str(advice.settings.bands), "--band-rows", str(advice.settings.rows)]
        steps.append(shlex.join(["neardup", "reband", *bands, *where]))
    elif advice.settings:
        shaping = options.shaping_words(advice.settings, options.SETTINGS["index"])
        if isinstance(place, list):
            here = ["neardup", "duplicates", *side, "--by", "bands", *measured, *shaping]
            return [*steps, shlex.join([*here, *_limits(advice.limits)])]
        where = _where(place, "NEW", is_addressed)
        finding = ["duplicates"]
        steps.append(shlex.join(["neardup", "index", *file, *where, *shaping]))
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
