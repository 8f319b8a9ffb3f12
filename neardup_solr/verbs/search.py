"""search: the near-duplicates of a text, which Solr finds and a measure ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr import arguments, measures
from neardup_solr.arguments import By, Id, MeasureName, OneOrMore, checked, listed, require
from neardup_solr.errors import DocumentNotFound, SchemaError, SettingsError, counted
from neardup_solr.measures import Limits, Measure
from neardup_solr.measures.equality import ANYTHING, Equality, parse_equality
from neardup_solr.measures.rerank import nearness, rerank
from neardup_solr.minhash import make_entry
from neardup_solr.progress import LOG
from neardup_solr.records import Document, Entry, Hit, Match, Pair, ordered
from neardup_solr.settings import Settings, require_indexed
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder, OtherSettings
from neardup_solr.solr.names import ID, SETTINGS, TEXT
from neardup_solr.solr.schema import require_kept
from neardup_solr.text import normalize

if TYPE_CHECKING:
    from neardup_solr.measures.frequencies import Frequencies

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
NOT_BOTH = "`id` is for a document in the collection, `text` for any text"


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
        measures.measure_of(self.measure, self.limits)  # checks them
        if self.by is not None:
            arguments.require_choice("by", self.by, WAYS)
        arguments.require_positive(candidates=self.candidates)

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
    """Find the near-duplicates of a document or of a text in a collection, most similar first.

    Example: `nd.search(listings, id="12", fq="city:Paris")`

    Give either `id` or `text`. Only the documents that share the most terms are compared, at most
    `candidates` of them. A document is never its own match. If it lacks a value in a `same` field,
    it has no matches. With `text`, `same` may name only "first_word" and "md5_hash".

    Raises DocumentNotFound for an unknown id, SettingsError if the collection lacks a required
    field, SolrError if Solr does not answer.
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
    require(answers is None or id is not None, "`answers` cannot be used with `text`", "use `id`")
    if id is None:
        reason = f"`same` names fields that a text does not have: {', '.join(criteria.read)}"
        require(not criteria.read, reason, f"name {' or '.join(COMPUTED)}, or use `fq`")
        document = Document(id="(text)", text=text or "")
    else:
        id = str(id)
        document = _read_document(collection, id, criteria.read)
    measure_used = measure_by(collection, measure, max_distance=max_distance)
    criteria = replace(criteria, measure=measure_used)
    if answers is None:
        return _find_matches(collection, document, criteria, id)
    from neardup_solr.answers.format import read_answers
    from neardup_solr.verbs.answer import choose_around, obey_answers

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
    return sorted([*(match for match in matches if match.id in near), *more], key=nearness)


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
    near = [hit for hit in hits if comparer.may_be_near(entry.num_words, hit.num_words)]
    rows = {hit.id: hit.fields for hit in near}
    if near and not is_read:
        rows = {row[ID]: row for row in collection.stored([*rows], read)}
    contents = {id: row[field] for id, row in rows.items()
                if row.get(field := measure.compared_field)}  # fmt: skip
    matches = rerank(entry, near, contents, comparer)
    return [replace(match, content=rows[match.id].get(TEXT, "")) for match in matches]


def searchable(
    collection: Collection, criteria: Criteria, last: Settings | None = None
) -> tuple[Settings, Criteria]:
    """Choose a way to search a collection for `criteria`, and read its settings.

    Those of the `last` look are taken if they have all fields that are needed. Raises SettingsError
    if it has no documents, or lacks such a field.
    """
    if last is not None:
        with suppress(SettingsError):
            return last, _choose_way(collection, last, criteria)
    settings = collection.needed_settings()
    return settings, _choose_way(collection, settings, criteria)


def _choose_way(collection: Collection, settings: Settings, criteria: Criteria) -> Criteria:
    fields = settings.fields - ({"content_sg"} if settings.signatures == 0 else set())
    ways = [way for way, (field, _) in WAYS.items() if field in fields]
    by = criteria.by or (ways[0] if ways else DEFAULT_WAY)
    measure = measures.measure_named(criteria.measure)
    if not measure.needs_texts:
        next_step = f"choose a different `measure`: {measure.name} compares signatures"
        require_indexed(["signature"], fields, next_step)
    needed = [WAYS[by][0], TEXT, *(name for name in criteria.same if name in COMPUTED)]
    if ways and TEXT in fields:
        require_indexed(needed, fields, f"choose a different `by` ({' or '.join(ways)}) or `same`")
    require_indexed(needed, fields)
    if measure.way == "shingles" and criteria.by is None and by != "shingles":
        LOG.warning(
            "with %s, most excerpts from longer texts are missed: to find them, index the documents"
            " into a collection with --fields=all",
            by,
        )
    if criteria.read:
        require_kept(collection, criteria.read, "name a different field in `same`")
    return replace(criteria, by=by)


def make_finder(
    collection: Collection, settings: Settings, criteria: Criteria, *fields: str
) -> Finder:
    """Make the finder of candidates by the way of `criteria`, which come with these fields."""
    return Finder(
        collection=collection,
        comparer=comparer_for(collection, settings, criteria.measure, criteria.limits),
        filters=criteria.fq,
        fields=("md5_hash", "num_words", *criteria.read, *fields),
        term_field=WAYS[criteria.by or DEFAULT_WAY][0],
    )


def only_terms(settings: Settings, criteria: Criteria) -> Settings:
    """Leave the terms out of settings that are not searched for: they take time."""
    return replace(settings, fields=settings.fields & {WAYS[criteria.by or DEFAULT_WAY][0]})


def find_hits(
    finder: Finder, entry: Entry, criteria: Criteria, wanted: Callable[[Hit], bool]
) -> list[Hit]:
    """Find the wanted documents that share most terms, at most `criteria.candidates`."""
    same = {
        name: _values(getattr(entry, name) if name in COMPUTED else entry.kept.get(name))
        for name in criteria.same
    }
    if not all(same.values()):
        return []

    def fits(hit: Hit) -> bool:
        """Return True if the values are the same: a filter finds those with further ones, too."""
        return wanted(hit) and all(
            _values(hit.fields.get(name)) == same[name] for name in criteria.read
        )

    _, terms_of = WAYS[criteria.by or DEFAULT_WAY]
    return finder.rank(terms_of(entry), criteria.candidates, fits, same)


def pair_with(id: str, match: Match) -> Pair:
    """Make a pair of a document and its match."""
    first, second = ordered(id, match.id)
    return Pair(id=first, other_id=second, distance=match.distance, similarity=match.similarity)


def _values(stored: object) -> frozenset[str]:
    """List the values of a field as texts, without empty values."""
    values = stored if isinstance(stored, list) else [stored]
    return frozenset(str(value) for value in values if value not in (None, ""))


def comparer_for(
    collection: Collection, settings: Settings, name: str | Measure, limits: Limits
) -> measures.Comparer:
    """Make the comparer of a collection by a measure, with word frequencies if needed."""
    measure, counts = measures.measure_of(name, limits), None
    if measure.needs_frequencies:
        counts = frequencies(sample_texts(collection), settings, measure)
    return measures.Comparer(measure=measure, limits=limits, settings=settings, frequencies=counts)


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
        if measure != measures.AUTO or max_distance is not None:
            return measure
        settings = collection.known_settings
        if settings is None:
            with suppress(SchemaError, SettingsError):  # which reading its documents raises, too
                settings = collection.stored_settings()
        return (settings and settings.measure) or "words"
    from neardup_solr.measures.model import make_measure
    from neardup_solr.measures.record_matcher import make_joined_measure
    from neardup_solr.verbs.duplicates.read import read_model

    is_free = measure == measures.AUTO
    require(is_free, "a model has its own measure", "omit `model` or `measure`")
    trained = read_model(model)
    if collection.count():
        next_step = (
            "index again with the fields of the model in `keep`, or use a model without fields"
        )
        require_kept(collection, trained.fields, next_step)
    ids = list(islice(collection.ids(), SAMPLE))
    sample = collection.stored(ids, [TEXT, *trained.fields])
    if trained.evidence is not None and trained.evidence.as_wholes and len(ids) < FEWEST_SAMPLED:
        LOG.warning(
            "%s: %s tell too little about which words are rare, so this model of two tables may"
            " match others, too; index all of one table first",
            collection.name, counted(len(ids), "document"),
        )  # fmt: skip
    settings = collection.stored_settings() or Settings()
    texts = [row.get(TEXT, "")[:SAMPLED] for row in sample]
    forms = make_measure(trained).normalize(texts, settings.normalization)
    return make_joined_measure(trained, sample, forms, settings.normalization)


SAMPLE = 1_000  # documents whose words are counted, to tell rare words from common ones
FEWEST_SAMPLED = 100
SAMPLED = 2_000  # characters of each document


def sample_texts(collection: Collection) -> Iterator[str]:
    """Yield the texts of a collection's first documents, read when they are needed.

    Few are read at a time, as only their first characters are used.
    """
    ids = list(islice(collection.ids(), SAMPLE))
    for at in range(0, len(ids), SAMPLE // 5):
        yield from collection.texts(ids[at : at + SAMPLE // 5]).values()


def frequencies(texts: Iterable[str], settings: Settings, measure: Measure) -> Frequencies:
    """Count the texts that contain each word as it is compared, by their first characters."""
    from neardup_solr.measures.frequencies import count_words

    forms = measure.normalize([text[:SAMPLED] for text in texts], settings.normalization)
    return count_words(forms, settings.normalization)


def normal_forms(texts: Iterable[str], settings: Settings) -> list[str]:
    """Make the normal forms of the first characters of texts."""
    return [normalize.normalize(text[:SAMPLED], settings.normalization) for text in texts]
