"""search: the near-duplicates of one text, found by Solr and ranked by a measure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr.arguments import (
    By,
    Id,
    MeasureName,
    OneOrMore,
    checked,
    listed,
    require,
    require_choice,
    require_positive,
)
from neardup_solr.errors import DocumentNotFound, SchemaError, SettingsError
from neardup_solr.measures import (
    AUTO,
    Comparer,
    Limits,
    Measure,
    measure_named,
    measure_of,
    nearness,
    rerank,
)
from neardup_solr.measures.equality import ANYTHING, Equality, parse_equality
from neardup_solr.minhash import make_entry
from neardup_solr.progress import LOG
from neardup_solr.records import Document, Entry, Hit, Match, Pair, ordered
from neardup_solr.settings import Settings, require_indexed
from neardup_solr.solr import query, schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.names import SETTINGS, TEXT
from neardup_solr.solr.query import count_shared, fetch_ranked
from neardup_solr.text import normalize

if TYPE_CHECKING:
    from neardup_solr.measures.arrays import Frequencies

DEFAULT_WAY: By = "shingles"

# The ways to find candidates: the field that is searched, and the terms of an entry for it.
WAYS: dict[By, tuple[str, Callable[[Entry], Sequence[str]]]] = {
    "shingles": ("content_ng", lambda entry: entry.shingles),
    "bands": ("content_bands", lambda entry: entry.bands),
    "signatures": ("content_sg", lambda entry: entry.signatures),
    "profile": ("profile_hash", lambda entry: (entry.profile_hash,) if entry.num_words else ()),
    "md5": ("md5_hash", lambda entry: (entry.md5_hash,) if entry.num_words else ()),
}
SIGNED = ("bands", "signatures")  # the ways that need a signature, and so the kernel
COMPUTED = ("first_word", "md5_hash")  # fields of ours that may have to be equal: of any text
NO_LIMITS = Limits()
NOT_BOTH = "`id` is that of a document in the collection, `text` any text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """Ways to find candidates, and limits for them: the arguments of `search`, checked.

    Raises ArgumentError if a value is not possible.
    """

    by: By | None = None
    candidates: int = 100
    fq: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    equality: Equality = ANYTHING
    measure: str | Measure = "words"
    limits: Limits = NO_LIMITS

    def __post_init__(self) -> None:
        measure_of(self.measure, self.limits)  # checks them
        if self.by is not None:
            require_choice("by", self.by, WAYS)
        require_positive(candidates=self.candidates)

    @property
    def read(self) -> list[str]:
        """The fields that have to be equal and are not computed from the text."""
        return [name for name in self.same if name not in COMPUTED]


@checked
def search(
    collection: Collection,
    *,
    id: Id | None = None,
    text: str | None = None,
    by: By | None = None,
    candidates: int = 100,
    fq: OneOrMore = (),
    same: OneOrMore = (),
    equal: OneOrMore = (),
    measure: MeasureName = "auto",
    max_distance: int | None = None,
    min_similarity: float | None = None,
    answers: str | Path | None = None,
) -> list[Match]:
    """The near-duplicates of a document of the collection, or of a text, most similar first.

    Give either `id` or `text`; a document is not its own near-duplicate. `by` says what candidates
    share with it: "shingles", "bands", "signatures", "profile" or "md5" (default: the first of
    these that the collection has). At most `candidates` documents, those that share most, are
    compared. They have to match `fq`, Solr filter queries, and to have equal values of the fields
    that `same` names (a tenant, a language, "first_word"); a document that lacks a value has no
    near-duplicates then. A `text` has but "first_word" and "md5_hash". By `equal` the texts have to
    have the "numbers" in common, or what a regular expression finds, as for `duplicates`.

    Candidates are compared by `measure`; they count if they are at most `max_distance` words apart
    and at least `min_similarity` (0..1) similar (default: the threshold of the measure). `answers`
    names a file with the answers of people about documents: what is different
    from the document `id` is left out, and what is the same is added.

    Raises DocumentNotFound for an unknown id, SettingsError if the collection lacks what is asked
    for, SolrError if Solr does not answer.
    """
    require((id is None) != (text is None), "give either `id` or `text`", NOT_BOTH)
    criteria = Criteria(
        by=by,
        candidates=candidates,
        fq=listed(fq),
        same=listed(same),
        equality=parse_equality(equal),
        measure=measure,
        limits=Limits(max_distance=max_distance, min_similarity=min_similarity),
    )
    require(answers is None or id is not None, "`answers` are about documents", "give an `id`")
    if id is None:
        reason = f"a text has no value of {', '.join(criteria.read)} for `same`"
        require(not criteria.read, reason, f"name {' or '.join(COMPUTED)}, or take `fq`")
        document = Document(id="(text)", text=text or "")
    else:
        id = str(id)
        document = _document(collection, id, criteria.read)
    measure_used = measure_by(collection, measure, max_distance=max_distance)
    criteria = replace(criteria, measure=measure_used)
    if answers is None:
        return _find_matches(collection, document, criteria, id)
    from neardup_solr.verbs.answer import read_from
    from neardup_solr.verbs.verdicts import choose_around, obey_answers

    judged = choose_around(read_from(answers), document.id)
    matches = _find_matches(collection, document, criteria, id)
    settings = collection.needed_settings()
    comparer = comparer_for(collection, settings, criteria.measure, criteria.limits)
    pairs = [pair_with(document.id, one) for one in matches]
    pairs, _ = obey_answers(collection, judged, pairs, comparer, criteria.fq, {document.id})
    found = {one.other_id if one.id == document.id else one.id: one for one in pairs}
    more = [
        Match(id=id, distance=one.distance, similarity=one.similarity, shared=0, content="")
        for id, one in found.items()
        if id not in {match.id for match in matches}
    ]
    kept = [one for one in matches if one.id in found]
    return sorted([*kept, *_with_texts(collection, more)], key=nearness)


def _find_matches(
    collection: Collection, document: Document, criteria: Criteria, id: str | None
) -> list[Match]:
    """Find the near-duplicates of a document, other than that of this id."""
    matches = _compare_candidates(collection, document, criteria, id)
    if not criteria.equality:
        return matches
    key = criteria.equality.key(document.text)
    return [match for match in matches if criteria.equality.key(match.content) == key]


def _compare_candidates(
    collection: Collection, document: Document, criteria: Criteria, id: str | None
) -> list[Match]:
    """Find the documents within the limits, other than that of this id."""
    at_once = _by_bands(collection, document, criteria, wanted=lambda hit: hit.id != id)
    if at_once is not None:
        return at_once
    settings, criteria = searchable(collection, criteria)
    needs_texts = measure_named(criteria.measure).needs_texts
    is_signed = criteria.by in SIGNED or not needs_texts
    entry = make_entry(document, settings, is_signed=is_signed)
    found_hits = hits(collection, entry, criteria, wanted=lambda hit: hit.id != id)
    comparer = comparer_for(collection, settings, criteria.measure, criteria.limits)
    found = compare_hits(collection, entry, found_hits, comparer)
    return found if needs_texts else _with_texts(collection, found)


def _document(collection: Collection, id: str, fields: Sequence[str]) -> Document:
    """Read a document with these fields. Raises DocumentNotFound if there is none of that id."""
    try:
        found = collection.document(id, [TEXT, *fields])
    except DocumentNotFound:
        collection.require_fields([SETTINGS])  # of one that is not prepared, the key is not known
        raise
    return Document(id=id, text=str(found.pop(TEXT, "")), kept=found)


def _by_bands(
    collection: Collection, document: Document, criteria: Criteria, *, wanted: Callable[[Hit], bool]
) -> list[Match] | None:
    """Find the near-duplicates by one request, or None if one is not enough.

    One is enough if candidates share a band, if they are few enough to count the shared bands here,
    and if all documents have the known settings: the request itself counts those.
    """
    settings = collection.known_settings
    measure = measure_named(criteria.measure)
    compared_field = measure.compared_field
    fields = ["content", "content_bands", compared_field]
    if settings is None or criteria.same or not settings.fields.issuperset(fields):
        return None
    if criteria.by is None and measure.way == "shingles":  # `searchable` warns
        return None
    if (criteria.by or next(iter(_ways(settings.fields)), None)) != "bands":
        return None
    # Without other fields, since terms that are not needed take time.
    entry = make_entry(document, replace(settings, fields=frozenset(fields)))
    asked = collection.terms("content_bands", entry.bands)
    request = query.any_term(asked, filters=criteria.fq)
    limit = 2 * criteria.candidates + 1
    read = ["id", "md5_hash", "num_words", *fields]
    found = query.select_if_settings(
        collection, request, settings.fingerprint, fields=read, limit=limit
    )
    if found is None or found.total > limit:
        return None
    shared = count_shared(entry.bands, found.documents, "content_bands")
    there = {one.id: one.fields for one in shared}
    hits = islice(filter(wanted, shared), criteria.candidates)
    comparer = comparer_for(collection, settings, criteria.measure, criteria.limits)
    near = [hit for hit in hits if comparer.may_be_near(entry.num_words, hit.num_words)]
    known = {id: one[compared_field] for id, one in there.items() if one.get(compared_field)}
    matches = rerank(entry, near, known, comparer)
    return [replace(match, content=there[match.id].get("content", "")) for match in matches]


def searchable(collection: Collection, criteria: Criteria) -> tuple[Settings, Criteria]:
    """The settings of a collection that has all fields that `criteria` need, and `criteria` with
    a way to search.

    Raises SettingsError if it has no documents, or lacks a field that is needed.
    """
    settings = collection.needed_settings()
    there = settings.fields - ({"content_sg"} if settings.signatures == 0 else set())
    ways = _ways(there)
    by = criteria.by or next(iter(ways), DEFAULT_WAY)
    if not measure_named(criteria.measure).needs_texts:
        next_step = f"choose another `measure`: {criteria.measure} compares signatures"
        require_indexed(["signature"], there, next_step)
    computed = [name for name in criteria.same if name in COMPUTED]
    needed = [WAYS[by or DEFAULT_WAY][0], "content", *computed]
    if ways and "content" in there:
        require_indexed(needed, there, f"choose another `by`: {' or '.join(ways)}")
    require_indexed(needed, there)
    seeks_excerpts = measure_named(criteria.measure).way == "shingles"
    if seeks_excerpts and criteria.by is None and by != "shingles":
        LOG.warning(
            "by %s most excerpts of longer texts are missed: index the documents into a collection"
            " with fields=all to find them",
            by,
        )
    if criteria.read:
        _require_kept(collection, criteria.read, "name another one in `same`")
    return settings, replace(criteria, by=by)


def _require_kept(collection: Collection, fields: Iterable[str], next_step: str) -> None:
    """Refuse fields that are not there, or that no document has, by SettingsError."""
    described = schema.read_schema(collection)
    for name in fields:
        place = collection.names.of(name)
        field = described.field(place)
        reason = f"the collection {collection.name!r} has no field {name!r}"
        if field is not None:
            reason = f"no document has a value of {name}"
            if not field.is_kept:
                reason = f"the field {name!r} is neither stored nor in docValues"
            elif collection.count([f"{place}:[* TO *]"]):
                continue
        raise SettingsError(reason, next_step)


def _ways(fields: Set[str]) -> list[By]:
    return [way for way, (field_name, _) in WAYS.items() if field_name in fields]


def hits(
    collection: Collection, entry: Entry, criteria: Criteria, *, wanted: Callable[[Hit], bool]
) -> list[Hit]:
    """Find the wanted documents that share most terms, at most `criteria.candidates`."""
    field_name, terms_of = WAYS[criteria.by or DEFAULT_WAY]
    terms = collection.terms(field_name, terms_of(entry))
    if not terms.values:
        return []
    filters = list(criteria.fq)
    params: dict[str, str] = {}
    for name in criteria.same:
        values = _values(getattr(entry, name) if name in COMPUTED else entry.kept.get(name))
        if not values:
            return []
        for value in sorted(values):
            same, param = query.same_value(name, value, len(params))
            filters.append(same)
            params |= param
    asked = query.any_of(terms, filters=filters, params=params)
    found = fetch_ranked(collection, asked, page=criteria.candidates + 1)
    chosen = list(islice(filter(wanted, found), criteria.candidates))
    if not criteria.read or not chosen:
        return chosen
    # The filters also find documents with further values, or with the words among others.
    rows = collection.stored([hit.id for hit in chosen], criteria.read)
    own = {name: _values(entry.kept[name]) for name in criteria.read}
    equal = {row["id"] for row in rows
             if all(_values(row.get(name)) == own[name] for name in own)}  # fmt: skip
    return [hit for hit in chosen if hit.id in equal]


def pair_with(id: str, match: Match) -> Pair:
    """Make a pair of a document and its match."""
    first, second = ordered(id, match.id)
    return Pair(id=first, other_id=second, distance=match.distance, similarity=match.similarity)


def _values(stored: object) -> frozenset[str]:
    """Return the values of a field, one or several, as texts, without empty ones."""
    values = stored if isinstance(stored, list) else [stored]
    return frozenset(str(value) for value in values if value not in (None, ""))


def comparer_for(
    collection: Collection, settings: Settings, measure: str | Measure, limits: Limits
) -> Comparer:
    """Make the comparer of a collection by a measure, with word frequencies if needed."""
    measure = measure_of(measure, limits)
    return Comparer(
        measure=measure,
        limits=limits,
        settings=settings,
        frequencies=frequencies(sample_texts(collection), settings)
        if measure.needs_frequencies
        else None,
    )


def measure_by(
    collection: Collection,
    measure: MeasureName,
    model: str | Path | None = None,
    max_distance: int | None = None,
) -> str | Measure:
    """Name the measure, by default that of the collection, or make that of a model if it is named.

    Raises ArgumentError if both are given, SourceError if the file is not a model, SettingsError if
    the collection lacks a field that the model compares.
    """
    if model is None:
        if measure != AUTO or max_distance is not None:
            return measure
        settings = collection.known_settings
        if settings is None:
            with suppress(SchemaError, SettingsError):  # which are told by what reads documents
                settings = collection.stored_settings()
        return (settings and settings.measure) or "words"
    from neardup_solr.measures.model import make_joined_measure
    from neardup_solr.verbs.duplicates.training import read_model

    require(measure == AUTO, "a model has its own measure", "leave `model` or `measure` out")
    trained = read_model(model)
    if collection.count():
        next_step = (
            "index again with `keep` for the fields of the model, or take one without fields"
        )
        _require_kept(collection, trained.fields, next_step)
    ids = list(islice(collection.ids(), SAMPLE))
    sample = collection.stored(ids, [TEXT, *trained.fields])
    texts = (row.get(TEXT, "") for row in sample)
    settings = collection.stored_settings() or Settings()
    return make_joined_measure(trained, sample, frequencies(texts, settings))


def compare_hits(
    collection: Collection, entry: Entry, hits: Sequence[Hit], comparer: Comparer
) -> list[Match]:
    """Compare hits, and return those within the limits, most similar first. See `rerank`.

    Only of hits that may be, the texts are read; for the estimate, the stored signatures.
    """
    near = [hit for hit in hits if comparer.may_be_near(entry.num_words, hit.num_words)]
    if not near:
        return []
    ids = [hit.id for hit in near]
    known = collection.texts(ids) if comparer.measure.needs_texts else _signatures(collection, ids)
    return rerank(entry, near, known, comparer)


def _signatures(collection: Collection, ids: Sequence[str]) -> dict[str, str]:
    """Read the encoded signatures of documents by id. Those without one are left out."""
    rows = collection.stored(ids, ["signature"])
    return {row["id"]: row["signature"] for row in rows if row.get("signature")}


def _with_texts(collection: Collection, matches: Sequence[Match]) -> list[Match]:
    texts = collection.texts([match.id for match in matches])
    return [replace(match, content=texts.get(match.id, "")) for match in matches]


SAMPLE = 1_000  # documents whose words are counted, to tell rare words from common ones
SAMPLED = 2_000  # characters of each document


def sample_texts(collection: Collection) -> Iterator[str]:
    """Yield the texts of a collection's first documents, read when they are needed."""
    yield from collection.texts(list(islice(collection.ids(), SAMPLE))).values()


def frequencies(texts: Iterable[str], settings: Settings) -> Frequencies:
    """Count the texts that contain each word, by their first characters."""
    from neardup_solr.measures import aligned

    return aligned.frequencies(normal_forms(texts, settings), settings.normalization)


def normal_forms(texts: Iterable[str], settings: Settings) -> list[str]:
    """Make the normal forms of the first characters of texts."""
    return [normalize.normalize(text[:SAMPLED], settings.normalization) for text in texts]
