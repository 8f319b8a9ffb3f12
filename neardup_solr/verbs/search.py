"""search: the near-duplicates of a text, which Solr finds and a measure ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from neardup_solr import measures
from neardup_solr.argument_types import By, Id, MeasureName, OneOrMore
from neardup_solr.checks import listed, require
from neardup_solr.errors import DocumentNotFound
from neardup_solr.measures import Limits
from neardup_solr.measures.equality import parse_equality
from neardup_solr.measures.rerank import nearness, rerank
from neardup_solr.minhash import make_entry
from neardup_solr.records import Document, Match, Pair, Passage, ordered
from neardup_solr.settings import Settings, choose_words
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import OtherSettings
from neardup_solr.solr.names import ID, SETTINGS, TEXT
from neardup_solr.verbs.collection_measure import comparer_for, measure_by
from neardup_solr.verbs.criteria import (
    COMPUTED,
    SIGNED,
    Criteria,
    find_hits,
    make_finder,
    only_terms,
    searchable,
)

NOT_BOTH = "`id` is for a document in the collection, `text` for any text"


def search_collection(
    collection: Collection,
    *,
    id: Id | None,
    text: str | None,
    by: By | None,
    candidates: int,
    fq: OneOrMore,
    same: OneOrMore,
    equal: OneOrMore,
    measure: MeasureName,
    max_distance: int | None,
    min_similarity: float | None,
    answers: str | Path | None,
    passages: bool,
    min_words: int | None,
) -> list[Match]:
    """Find the near-duplicates of a document or of a text, most similar first."""
    reason = "give either `id` or `text`"
    code = "arguments-conflict" if text is not None else "argument-missing"
    require((id is None) != (text is None), reason, NOT_BOTH, code=code)
    criteria = Criteria(
        by=by or ("shingles" if passages else None),
        candidates=candidates,
        fq=listed(fq),
        same=listed(same),
        equality=parse_equality(equal),
        measure=measure,
        limits=Limits(max_distance=max_distance, min_similarity=min_similarity),
        min_words=choose_words(min_words, passages=passages),
    )
    reason = "`answers` cannot be used with `text`"
    require(answers is None or id is not None, reason, "use `id`", code="arguments-conflict")
    if id is None:
        reason = f"`same` names fields that a text does not have: {', '.join(criteria.read)}"
        step = f"name {' or '.join(COMPUTED)}, or use `fq`"
        require(not criteria.read, reason, step, code="arguments-conflict")
        document = Document(id="(text)", text=text or "")
    else:
        id = str(id)
        document = _read_document(collection, id, criteria.read)
    measure_used = measure_by(collection, measure, max_distance=max_distance)
    criteria = replace(criteria, measure=measure_used)
    if answers is None:
        return _find_matches(collection, document, criteria, id)
    from neardup_solr.answers.format import read_answers
    from neardup_solr.verbs.pair_rules import choose_around, obey_answers

    judged = choose_around(read_answers(answers), document.id)
    matches = _find_matches(collection, document, criteria, id)
    settings = collection.needed_settings()
    comparer = comparer_for(collection, settings, criteria.measure, criteria.limits)
    pairs = [pair_with(document.id, match) for match in matches]
    pairs, _ = obey_answers(collection, judged, pairs, comparer, criteria.fq, {document.id})
    near = {pair.other_id if pair.id == document.id else pair.id: pair for pair in pairs}
    added = near.keys() - {match.id for match in matches}
    texts = collection.texts(sorted(added))
    more = [
        Match(id=id, distance=pair.distance, similarity=pair.similarity, shared=0,
              content=texts.get(id, ""))
        for id, pair in near.items()
        if id in added
    ]  # fmt: skip
    obeyed = [*(match for match in matches if match.id in near), *more]
    return sorted(obeyed, key=reuse)


def _read_document(collection: Collection, id: str, fields: Sequence[str]) -> Document:
    """Read a document with these fields. Raises DocumentNotFound if it does not exist."""
    try:
        row = collection.document(id, [TEXT, *fields])
    except DocumentNotFound:
        collection.require_fields([SETTINGS])  # else its key may have another name
        raise
    return Document(id=id, text=str(row.pop(TEXT, "")), kept=row)


def _find_matches(
    collection: Collection, document: Document, criteria: Criteria, id: str | None
) -> list[Match]:
    """Find the near-duplicates of a document, other than that of this id.

    The request for candidates tells if the settings that the collection had before still hold.
    """
    last = collection.known_settings
    while True:
        settings, chosen = searchable(collection, criteria, last)
        try:
            matches = _compare_candidates(collection, settings, document, chosen, id)
        except OtherSettings:
            last = None
            continue
        if not criteria.equality:
            return matches
        key = criteria.equality.key(document.text)
        return [match for match in matches if criteria.equality.key(match.content) == key]


def _compare_candidates(
    collection: Collection,
    settings: Settings,
    document: Document,
    criteria: Criteria,
    id: str | None,
) -> list[Match]:
    """Find the documents within the limits, other than that of this id.

    Texts come with the candidates, unless most of these only share few of many terms. Then those
    are read that may be near.
    """
    measure = measures.measure_named(criteria.measure)
    read = tuple(dict.fromkeys((*measure.stored_fields, TEXT)))
    is_read = criteria.by not in ("shingles", "signatures")
    finder = make_finder(collection, settings, criteria, *(read if is_read else ()))
    is_signed = criteria.by in SIGNED or not measure.needs_texts
    entry = make_entry(document, only_terms(settings, criteria), is_signed=is_signed)
    hits = find_hits(finder, entry, criteria, lambda hit: hit.id != id)
    comparer = finder.comparer
    near = [hit for hit in hits if criteria.min_words
            or comparer.may_be_near(entry.num_words, hit.num_words)]  # fmt: skip
    rows = {hit.id: hit.fields for hit in near}
    if near and not is_read:
        rows = {row[ID]: row for row in collection.stored([*rows], read)}
    contents = {id: row[field] for id, row in rows.items()
                if row.get(field := measure.compared_field)}  # fmt: skip
    texts = {id: row.get(TEXT, "") for id, row in rows.items()}
    words = criteria.min_words
    shared = _find_passages(document, texts, words) if words else {}
    anything = replace(comparer, limits=Limits(min_similarity=0.0))
    matches = [
        *rerank(entry, [hit for hit in near if hit.id in shared], contents, anything),
        *rerank(entry, [hit for hit in near if hit.id not in shared], contents, comparer),
    ]
    matches = [
        replace(match, content=texts[match.id], passages=tuple(shared.get(match.id, ())))
        for match in matches
    ]
    return sorted(matches, key=reuse)


def _find_passages(
    document: Document, texts: Mapping[str, str], min_words: int
) -> dict[str, list[Passage]]:
    """Find the passages that a document shares with others, by the ids of these."""
    from neardup_solr.candidates.passages import list_passages

    shared: dict[str, list[Passage]] = {}
    ids = [document.id, *texts]
    every = [document.text, *texts.values()]
    for each in list_passages(ids, every, min_words=min_words, has_texts=True):
        shared.setdefault(each.other_id, []).append(each)
    return shared


def reuse(match: Match) -> tuple[int, tuple[float, int, tuple[int, int, str]]]:
    """Make the sort key of a match: those whose passages have most words, the most similar."""
    return -sum(each.words for each in match.passages), nearness(match)


def pair_with(id: str, match: Match) -> Pair:
    """Make a pair of a document and its match."""
    first, second = ordered(id, match.id)
    return Pair(id=first, other_id=second, distance=match.distance, similarity=match.similarity)
