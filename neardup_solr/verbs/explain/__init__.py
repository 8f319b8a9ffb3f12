"""explain: why two documents are found as near-duplicates or not, and what would catch them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from neardup_solr import measures, sources
from neardup_solr.arguments import Id, MeasureName, OneOrMore, PairMeasure, Way, checked, require
from neardup_solr.candidates import MOST_OF_ALL
from neardup_solr.candidates.by_term import count_shared_words
from neardup_solr.errors import DocumentNotFound, SettingsError, counted
from neardup_solr.measures import ANYTHING, Equality, Frequencies, Limits, floor, measure_named
from neardup_solr.measures.aligned import (
    ALIGNED,
    NUMBERS,
    Aligned,
    alignment,
    compare_records,
    frequencies,
)
from neardup_solr.measures.sets import CONTAINMENT, WORDS, similarity
from neardup_solr.memory import Spill
from neardup_solr.minhash import make_entry, plans, sign, signature
from neardup_solr.progress import OnProgress
from neardup_solr.records import NOTHING, Document, Entry
from neardup_solr.reports.html import show_invisibles
from neardup_solr.reports.pair import PairTable, Record, Row
from neardup_solr.settings import (
    DEFAULT_SETTINGS,
    WORD_CAP,
    Settings,
    fit_shingles,
    refuse_settings,
    require_indexed,
    settings_of,
)
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.unsigned import remedy
from neardup_solr.sources import Reading, SourceLike, reading_of
from neardup_solr.sources.guess import fill_in
from neardup_solr.text.diff import Change, Words, changes, split
from neardup_solr.text.normalize import Markup, make_html_table, normalize
from neardup_solr.text.numbers import show_word
from neardup_solr.text.shingles import shingles
from neardup_solr.text.symbols import have_same_symbols
from neardup_solr.verbs import search
from neardup_solr.verbs.duplicates import compare, plan, read

if TYPE_CHECKING:
    from neardup_solr.measures.columns import FieldKind
    from neardup_solr.measures.fields import Evidence

# The stored fields of a document, besides its text, and their names in an entry.
STORED = {
    "signature": "signature",
    "content_bands": "bands",
    "content_sg": "signatures",
    "content_ng": "shingles",
    "md5_hash": "md5_hash",
    "profile_hash": "profile_hash",
}
# The ways to search for candidates, the preferred one first.
SEARCHES = {"bands": search.WAYS["bands"], **search.WAYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One of two documents: its entry as indexing would make it now, and its signature.

    `pieces` are its shingles, `words` the words of its text, `fresh` its terms by field. If it is
    in a collection, `signature` and `terms` are those stored with it; what does not match its text,
    the `remedy` computes anew.
    """

    entry: Entry
    words: Words
    pieces: frozenset[str]
    signature: sign.Signature = field(compare=False)  # arrays do not compare as one value
    fresh: Mapping[str, frozenset[str]]
    terms: Mapping[str, frozenset[str]]
    remedy: str = "index it again"

    @property
    def id(self) -> str:
        """The document's id."""
        return self.entry.id

    @property
    def stale(self) -> tuple[str, ...]:
        """The stored fields that do not match the text."""
        return tuple(name for name in STORED if self.terms[name] != self.fresh[name])


def make_subject(
    document: Document, settings: Settings, *, stored: Mapping[str, Any] = NOTHING
) -> Subject:
    """Make a subject of a document, with the fields that a collection has `stored` of it.

    Raises RecordError if it cannot be indexed, SettingsError if its stored signature was made with
    other settings.
    """
    entry = make_entry(document, settings)
    hashes = signature.decode(stored.get("signature", entry.signature))
    if len(hashes) not in (0, settings.hashes):
        stale = f"the stored signature of {document.id!r} has {len(hashes)} hashes"
        reason = f"{stale}, but the settings specify {settings.hashes}"
        raise SettingsError(reason, "index the document again")
    fresh = {name: _terms_of(getattr(entry, place)) for name, place in STORED.items()}
    return Subject(
        entry=entry,
        words=split(document.text),
        pieces=frozenset(shingles(entry.normal, settings)),
        signature=hashes,
        fresh=fresh,
        terms=fresh | {name: _terms_of(value) for name, value in stored.items()},
    )


def _terms_of(value: str | Iterable[str]) -> frozenset[str]:
    """Return the terms of a field: one, several, or none if it is empty."""
    return frozenset([value] if isinstance(value, str) else value) - {""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Two documents by one measure: `similarity` in 0..1, `distance` in words if it has one.

    The true value of an estimate lies between `low` and `high` with 95 % confidence. `measure` is
    "words" (edits), "jaccard" (exact, of shingles), "containment" and "contained" (the share of the
    first one's shingles that the second has, and the reverse), "estimate" (Jaccard by signatures),
    "aligned" (soft alignment of the words of short texts, if frequencies of words are known),
    "records" (the same, halved if numbers differ), or
    "fields" (the probability that the two are the same, if fields are compared).
    """

    measure: str
    similarity: float
    distance: int | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way in which a pair can become a candidate: the documents share `shared` of `of` terms.

    `name` is "duplicates" (by `Facts.by`) or a value of `by` for searches; `is_there`
    tells whether the collection has what that needs. `chance` is the probability that a pair of
    this Jaccard similarity shares a term, None if it does not depend on chance; `finds` tells
    whether the pair is found: a candidate, and within the limits.
    """

    name: str
    is_there: bool
    shared: int
    of: int
    chance: float | None
    finds: bool


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a pair, with given settings and limits.

    `measure` is the one that the limits bound, and `by` is how `duplicates` finds candidates: "all"
    if it compares every pair. For aligned, `shared_words` are the words of both, and common ones in
    a row, by which it pairs records: each with the number of documents that have it; `frequencies`
    are those of all words, None if the texts are too long for an alignment. Bands and the estimate
    are those of the subjects' signatures, stored or not. If fields are compared, `evidence` is what
    each adds to the odds, as learnt from so many `candidates`, and `probability` that of a match.
    What `equality` asks for has to be equal in both texts. `records` have the values of the fields,
    whose kinds are `kinds`; without these, `texts` are the columns of the text. `documents` are all
    that there are, 0 if unknown; they are in a collection if the pair `is_stored`.
    """

    first: Subject
    second: Subject
    settings: Settings
    limits: Limits
    frequencies: Frequencies | None = None
    measure: PairMeasure = "words"
    shared_words: Mapping[str, int] = field(default_factory=dict)
    by: Way = "bands"
    evidence: tuple[Evidence, ...] = ()
    candidates: int = 0
    probability: float = 0.0
    equality: Equality = ANYTHING
    kinds: Mapping[str, FieldKind] = field(default_factory=dict)
    texts: Sequence[str] = ()
    records: Sequence[Record] = ()
    documents: int = 0
    is_stored: bool = False

    @property
    def both(self) -> tuple[Subject, Subject]:
        """The two documents."""
        return self.first, self.second

    @property
    def is_exact(self) -> bool:
        """True if both have the same words in the same order."""
        return self.first.entry.md5_hash == self.second.entry.md5_hash

    @property
    def has_words(self) -> bool:
        """True if both have words. A text without words is similar to nothing."""
        return all(each.entry.num_words for each in self.both)

    @property
    def longest(self) -> int:
        """The number of words of the longer text."""
        return max(each.entry.num_words for each in self.both)

    @property
    def allowed(self) -> int:
        """The distance in words that the limits allow for the longer text."""
        return WORDS.largest_distance(self.longest, self.limits)

    @property
    def shared_shingles(self) -> int:
        """The number of shingles that both have."""
        return len(self.first.pieces & self.second.pieces)

    @cached_property
    def alignment(self) -> tuple[Aligned, ...] | None:
        """The words that correspond, None if that was not measured."""
        if self.frequencies is None:
            return None
        one, other = self.aligned
        return tuple(alignment(one, other, self.frequencies))

    @cached_property
    def aligned(self) -> Sequence[str]:
        """The normal forms of both, as they are aligned."""
        chosen = measures.measure_named(self.measure)
        measure = chosen if chosen.needs_frequencies else ALIGNED
        contents = [each.entry.content for each in self.both]
        return measure.normalize(contents, self.settings.normalization)

    @cached_property
    def measures(self) -> tuple[Measured, ...]:
        """The pair by every measure."""
        (first, second), shared = (each.pieces for each in self.both), self.shared_shingles
        forms = [each.entry.normal for each in self.both]
        edited = measures.Comparer(measure=WORDS, limits=Limits(max_distance=self.longest))
        pair = measures.first_with_each(1)
        distance = int(edited.compare_texts(forms, pair).distances[0])
        estimate = signature.estimate_jaccard(self.first.signature, self.second.signature)
        value, low, high = (float(each) for each in (estimate.value, estimate.low, estimate.high))
        similarities = {
            "words": similarity(distance, self.longest),
            "jaccard": shared / (len(first | second) or 1),
            "containment": shared / (len(first) or 1),
            "contained": shared / (len(second) or 1),
            "estimate": value,
        }
        if self.frequencies is not None:
            similarities["aligned"], by_numbers = (
                compare_records(self.aligned, pair, self.frequencies, numbers=numbers).item()
                for numbers in (0.0, NUMBERS)
            )
            if self.measure == "records" or by_numbers < similarities["aligned"]:
                similarities["records"] = by_numbers
        if self.evidence:
            similarities[self.measure] = self.probability
        more: dict[str, dict[str, Any]] = {
            "words": {"distance": distance}, "estimate": {"low": low, "high": high},
        }  # fmt: skip
        return tuple(
            Measured(measure=name, similarity=similarity, **more.get(name, {}))
            for name, similarity in similarities.items()
        )

    @cached_property
    def shared_bands(self) -> tuple[int, ...]:
        """The numbers of the bands that the two share, from 0."""
        return find_shared_bands(self.first.signature, self.second.signature, self.settings)

    @property
    def differing_bands(self) -> tuple[int, ...]:
        """The numbers of the bands that the two do not share."""
        return tuple(sorted({*range(self.settings.bands)}.difference(self.shared_bands)))

    @property
    def fresh_bands(self) -> tuple[int, ...]:
        """The bands that the two texts would share, if a stored signature is stale."""
        if not any("signature" in each.stale for each in self.both):
            return ()
        first, second = (signature.decode(each.entry.signature) for each in self.both)
        return find_shared_bands(first, second, self.settings)

    @cached_property
    def ways(self) -> tuple[Route, ...]:
        """The ways in which the two can become candidates, the preferred one first."""
        settings, first, second = self.settings, self.first.pieces, self.second.pieces
        most = {"bands": settings.bands, "signatures": settings.signatures,
                "shingles": len(first | second)}  # fmt: skip
        terms = {  # that are shared, by `duplicates`
            "all": (int(self.has_words), 1),
            "words": (len(self.rare_words), len(self.shared_words)),
            # misses none within the limits
            "shingles": (self.shared_shingles, min(len(first), len(second))),
            "bands": (len(self.shared_bands), settings.bands),
        }
        return (
            self._make_route("duplicates", self.by, "signature", *terms[self.by]),
            *(
                self._make_route(way, way, field, self._count_shared_terms(field), most.get(way, 1))
                for way, (field, _) in SEARCHES.items()
            ),
        )

    def _make_route(self, name: str, by: str, place: str, shared: int, of: int) -> Route:
        rows = {"bands": self.settings.rows, "signatures": 1}.get(by)
        is_there = place in self.settings.fields and (name != "signatures" or of > 0)
        return Route(
            name=name,
            is_there=is_there,
            shared=shared,
            of=of,
            chance=None if rows is None else _chance_to_share(self.jaccard, of, rows),
            finds=is_there and shared > 0 and self.is_near,
        )

    def _count_shared_terms(self, place: str) -> int:
        """Count the terms that a search shares: those of a text with the stored ones."""
        sides = zip(self.both, self.both[::-1], strict=True)
        counts = [len(text.fresh[place] & stored.terms[place]) for text, stored in sides]
        return max(counts) if self.has_words else 0

    @property
    def distance(self) -> int:
        """Words inserted, deleted or replaced."""
        return self.measured("words").distance or 0

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of the two sets of shingles, exactly."""
        return self.measured("jaccard").similarity

    @property
    def containment(self) -> float:
        """The share of the shingles of one text that are in the other, the larger of both."""
        return max(self.measured(name).similarity for name in ("containment", "contained"))

    @property
    def least(self) -> float:
        """The smallest similarity that is within the limits."""
        return measure_named(self.measure).least(self.limits)

    @property
    def similarity(self) -> float:
        """The similarity by the measure that the limits bound."""
        if self.measure == "containment":
            return self.containment
        return self.measured(self.measure).similarity

    @cached_property
    def difference(self) -> str:
        """The part that has to be equal and is not, "" if all is."""
        return self.equality.describe(*(each.entry.content for each in self.both))

    @property
    def is_near(self) -> bool:
        """True if the pair is within the limits, and equal in what has to be."""
        return self.is_within and not self.difference

    @property
    def is_within(self) -> bool:
        """True if the pair is within the limits."""
        if self.measure == "words":
            return self.has_words and self.distance <= self.allowed
        return self.has_words and self.similarity >= floor(self.least)

    @property
    def rare_words(self) -> tuple[str, ...]:
        """The shared words that few enough documents have to make the two candidates."""
        return tuple(word for word, count in self.shared_words.items() if count <= WORD_CAP)

    @property
    def chance(self) -> float:
        """The probability that a pair of this Jaccard similarity shares a band."""
        return _chance_to_share(self.jaccard, self.settings.bands, self.settings.rows)

    @property
    def changes(self) -> list[Change]:
        """Changes from the words of the first text to those of the second."""
        return changes(self.first.words.forms, self.second.words.forms)

    @cached_property
    def table(self) -> PairTable:
        """The maker of the table of the pair."""
        known = self.frequencies if measure_named(self.measure).needs_frequencies else None
        return PairTable(measure=self.measure, least=self.least, kinds=self.kinds,
                         texts=self.texts, frequencies=known, settings=self.settings)  # fmt: skip

    @cached_property
    def rows(self) -> list[Row]:
        """The table of the pair, field by field, or both texts without any fields."""
        split = [self.table.split(each.entry.content) or {} for each in self.both]
        if all(records := self.records or split):
            return [*self.table.list_rows(records, self.evidence, self.similarity)]
        return [self.table.compare("", self.first.words, self.second.words)]

    def measured(self, name: str) -> Measured:
        """Return the pair by the measure of that name."""
        return next(each for each in self.measures if each.measure == name)


def find_shared_bands(
    first: sign.Signature, second: sign.Signature, settings: Settings
) -> tuple[int, ...]:
    """Find the numbers of the bands, from 0, in which two signatures agree."""
    if not (len(first) and len(second)):
        return ()
    keys = sign.hash_bands(np.stack([first, second]), settings.bands, settings.rows)
    return tuple(np.flatnonzero(keys[0] == keys[1]).tolist())


def _chance_to_share(similarity: float, bands: int, rows: int) -> float:
    """Compute P(s) as earlier versions did: the last digits of `plans.curve` are others."""
    return float(1.0 - (1.0 - similarity**rows) ** bands)


PAIR = ("one", "other", "ids")  # what `duplicates` is not asked
ALIGNED_WORDS = 100  # of the longest text that is aligned: the measure is for short records


@checked
def explain(
    source: Collection | SourceLike,
    one: Id,
    other: Id,
    *,
    measure: MeasureName = "auto",
    fields: OneOrMore | Mapping[str, str] | None = None,
    model: str | Path | None = None,
    max_distance: int | None = None,
    min_similarity: float | None = None,
    equal: OneOrMore = (),
    id: str | None = None,
    text: OneOrMore = "text",
    settings: Settings | Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> Explanation:
    """Explain why two documents are near-duplicates or not, and what would find them.

    Example: `nd.explain("listings.csv", "12", "13").verdict`

    With `fields` or a `model`, `facts.evidence` says how much each field or measure adds to the
    odds of a match, in bits. Weights for `fields` are estimated from all candidates, which takes as
    long as `duplicates`.

    Raises DocumentNotFound or SourceError if an id is missing, RecordError if its record is
    unusable, ArgumentError if the ids are equal, SettingsError if the collection has no texts,
    SolrError if Solr does not answer.
    """
    ids = (str(one), str(other))
    require(ids[0] != ids[1], f"both ids are {ids[0]!r}", "give the ids of two different documents")
    arguments = {name: value for name, value in locals().items() if name not in PAIR}
    arguments |= fill_in(arguments)
    id, text, fields = (arguments[name] for name in ("id", "text", "fields"))
    if fields is not None or model is not None:
        return explain_facts(_compare_fields(plan(**arguments), ids))
    limits = Limits(max_distance=max_distance, min_similarity=min_similarity)
    measures.measure_of(measure, limits)  # which checks them
    measure = "words" if measure == measures.AUTO and max_distance is not None else measure
    sample: Iterable[str]
    columns: Sequence[str] = ()
    if isinstance(source, Collection):
        used = _read_settings(source, settings)
        first, second = _read_stored(source, ids, used)
        chosen = measures.measure_of(search.measure_by(source, measure), limits)
        sample, documents, by = search.sample_texts(source), source.count(), chosen.way
        if chosen.needs_frequencies:
            sample = list(sample)
            characters = sum(map(len, sample)) * documents // max(len(sample), 1)
            by = read.choose_way(chosen, documents, lambda most: characters <= most)
    else:
        used = settings_of(settings)
        source, reading = reading_of(source, "number", id=id, text=text)
        columns = reading.text
        found, sample, lengths, words = _read_source(source, ids, reading, measure)
        is_auto = measure == measures.AUTO
        name = measures.choose_measure(used, words)[0] if is_auto else measure
        chosen = measures.measure_of(name, limits)
        used = settings_of(settings, fit_shingles(settings, DEFAULT_SETTINGS, lengths))
        first, second = (make_subject(found[id], used) for id in ids)
        documents = len(lengths)
        by = read.choose_way(chosen, documents, lambda most: sum(lengths) <= most)
    forms, by_words = [], chosen.needs_frequencies
    if by_words or max(first.entry.num_words, second.entry.num_words) <= ALIGNED_WORDS:
        forms = list(
            ALIGNED.normalize([text[: search.SAMPLED] for text in sample], used.normalization)
        )
    one, other = ALIGNED.normalize(
        [each.entry.content for each in (first, second)], used.normalization
    )
    facts = Facts(
        first=first,
        second=second,
        settings=used,
        limits=limits,
        frequencies=frequencies(forms, used.normalization) if forms else None,
        measure=cast(PairMeasure, chosen.name),
        shared_words=_count_shared_words(one, other, forms, documents) if by_words else {},
        by=by,
        equality=measures.parse_equality(equal),
        texts=columns,
        documents=documents,
        is_stored=isinstance(source, Collection),
    )
    return explain_facts(facts)


def _read_settings(collection: Collection, given: Settings | Mapping[str, Any] | None) -> Settings:
    """Read the settings of a collection, which has texts and is given no others."""
    refuse_settings(given, "omit `settings`, or name the original file as `source`")
    used = collection.needed_settings()
    require_indexed(["content"], used.fields, "explain the pair from its original `source`")
    return used


def _compare_fields(work: read.Work, ids: Sequence[str]) -> Facts:
    """Compare all candidates by their fields, and the records of these ids in detail."""
    source, subjects = work.sides[0], list[Subject]()
    if isinstance(source, Collection):
        subjects = _read_stored(source, ids, _read_settings(source, None))
    with Spill() as spill:
        documents = read.read_documents(work, spill)
        rows = [_find_row(work, documents, id) for id in ids]
        for id, row in zip(ids, rows[len(subjects) :], strict=False):
            document = Document(id=id, text=documents.texts([row])[0] or "")
            subjects.append(make_subject(document, documents.settings))
        comparison = compare.Comparison.of(work, documents)
        by = work.choose_way(comparison.distinct, documents.fits)
        candidates = compare.find_candidates(
            work, documents, by, comparison.copies, comparison.columns
        ).pairs
        limits = work.limits
        if work.model is None:
            comparison.verify(candidates)  # which teaches the weights
        else:
            limits = replace(limits, min_similarity=comparison.comparer.least)
        matcher, pair = comparison.matcher, np.array([sorted(rows)], dtype=np.uint32)
        assert matcher is not None
        first, second = subjects
        forms = documents.forms()
        one, other = (forms[row] for row in rows)
        return Facts(
            first=first,
            second=second,
            settings=documents.settings,
            limits=limits,
            frequencies=matcher.frequencies,
            measure=cast(PairMeasure, work.measure.name),
            shared_words=_count_shared_words(one, other, forms, len(forms)),
            by=by,
            evidence=tuple(matcher.explain(pair)[0]),
            kinds=work.kinds,
            records=[documents.record(row, [*work.kinds]) for row in rows],
            candidates=len(candidates),
            equality=work.equality,
            documents=len(documents),
            is_stored=isinstance(source, Collection),
            probability=float(matcher.match(pair)[0]),
        )


def _find_row(work: read.Work, documents: read.Corpus, id: str) -> int:
    """Find the row of an id, the last one if several records have it."""
    (side,) = documents.sides
    ids = list(map(str, side.ids.take(range(len(side.ids)))))
    if id in ids:
        return ids.index(id)
    if rows := [row for row, name in enumerate(ids) if name.startswith(f"{id}@row")]:
        return rows[-1]
    refused = {error.id: error for error in side.failures.first}
    raise sources.lacking(work.sides[0], id, refused, "record with words")


def _count_shared_words(
    one: str, other: str, forms: Sequence[str], documents: int
) -> dict[str, int]:
    """Count the documents that have each word by which `duplicates` would pair two, rarest first.

    If there are more documents than `forms`, that number is an estimate.
    """
    share = max(documents / max(len(forms), 1), 1.0)  # documents may have gone meanwhile
    cap = max(2, round(WORD_CAP / share))
    counts = count_shared_words(one, other, forms, cap=cap)
    if share > 1:  # two documents have each word, and of the others as many as the sample says
        counts = {
            word: 2 + round(max(counts.get(word, 0) - 2, 0) * share)
            for word in {*count_shared_words(one, other, [one, other], cap=cap), *counts}
        }
    counts = {" ".join(map(show_word, words.split())): count for words, count in counts.items()}
    return dict(sorted(counts.items(), key=lambda each: (each[1], each[0])))


def _read_stored(collection: Collection, ids: Sequence[str], settings: Settings) -> list[Subject]:
    """Read the documents as they are in a collection."""
    kept = [name for name in STORED if name in settings.fields]
    rows = {row["id"]: row for row in collection.stored(ids, ["content", *kept])}
    again = remedy(collection, "index it again", "writes them")
    subjects = []
    for id in ids:
        if id not in rows:
            raise DocumentNotFound(collection.url, id)
        stored = {name: rows[id].get(name, "") for name in kept}
        document = Document(id=id, text=rows[id].get("content", ""))
        subjects.append(replace(make_subject(document, settings, stored=stored), remedy=again))
    return subjects


def _read_source(
    source: Any, ids: Sequence[str], reading: Reading, measure: MeasureName
) -> tuple[dict[str, Document], list[str], list[int], list[int]]:
    """Read the documents of these ids, texts, all lengths, and the numbers of words of some texts.

    The texts are the first ones, and all that the measure, or what is chosen instead, may need.
    """
    sample: list[str] = []
    lengths: list[int] = []
    words: list[int] = []
    step = 1  # between texts whose words are counted, so that these come from all parts

    def look(number: int, document: Document) -> None:
        nonlocal words, step
        lengths.append(len(document.text))
        is_needed = measure in ("aligned", "records") or (
            measure == measures.AUTO and lengths[-1] < search.SAMPLED
        )
        if is_needed or len(sample) < search.SAMPLE:
            sample.append(document.text[: search.SAMPLED])
        if measure == measures.AUTO and number % step == 0:
            words.append(len(normalize(document.text).split()))
            if len(words) == 2 * search.SAMPLE:
                words, step = words[1::2], 2 * step

    documents, refused = sources.find(source, ids, reading=reading, on_document=look)
    for id in ids:
        if id not in documents:
            raise sources.lacking(source, id, refused)
    return documents, sample, lengths, words


MOST_HASHES = 1_024  # of bands that are advised
RELATED = 0.25  # below this similarity by words a pair is unrelated, unless its similarity
RELATED_ALIGNED = 0.5  # by aligned words is at least this
OF_RECORDS = ("fields", "model")  # measures whose similarity is a probability
MOST_WORDS = 5  # shared words that are named
SHARED = ("shared_words", "shared_shingles", "shared_bands", "differing_bands", "chance", "ways")
PART = 0.5  # from this containment on, a text counts as a part of another
FOUND, MISSED, BEYOND, APART = "found", "missed", "beyond the limits", "apart"
VERDICTS = {  # by: is it a candidate, is it within the limits
    (True, True): FOUND,
    (False, True): MISSED,
    (True, False): BEYOND,
    (False, False): APART,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """Explanation of a pair.

    `facts`: texts, similarities and shared terms; `way`: how the pair would be found
    ("duplicates", or a value of `by`); `verdict`: "found", "missed" (near enough, but no candidate
    pair), "beyond the limits" (a candidate pair, but not near enough) or "apart" (neither);
    `reasons`: sentences; `advice`: command options that would find the pair, or "".
    """

    facts: Facts
    way: str
    verdict: str
    reasons: tuple[str, ...]
    advice: str

    def __repr__(self) -> str:
        ids = f"{self.facts.first.id!r} and {self.facts.second.id!r}"
        return f"<Explanation: {ids}: {self.verdict}, by {self.way}>"

    def _repr_html_(self) -> str:
        facts, safe = self.facts, show_invisibles
        ids = " – ".join(safe(each.id, is_id=True) for each in (facts.first, facts.second))
        reasons = "".join(f"<p>{safe(reason)}</p>" for reason in self.reasons)
        words = [safe(text) for row in facts.rows if not row.field for text in mark_words(row)]
        tables = "".join(
            make_html_table(heads, [[Markup(safe(cell)) for cell in row] for row in rows])
            for heads, *rows in list_tables(facts)
        )
        return f"<p><b>{ids}</b>: {self.verdict}</p>{reasons}<p>{'<br>'.join(words)}</p>{tables}"


def explain_facts(facts: Facts) -> Explanation:
    """Make the verdict on a pair, its reasons, and advice if it is not found."""
    way = next((each for each in facts.ways if each.is_there), facts.ways[0])
    is_candidate = way.is_there and way.shared > 0
    verdict = VERDICTS[is_candidate, facts.is_near]
    return Explanation(
        facts=facts,
        way=way.name,
        verdict=verdict,
        reasons=tuple(_give_reasons(facts, way.name, is_candidate=is_candidate)),
        advice="" if verdict == FOUND else advise(facts, is_candidate=is_candidate),
    )


def make_record(explanation: Explanation, most: float = math.inf) -> dict[str, Any]:
    """Make the whole record for programs, with settings as their fingerprints.

    It has no changes if a text has more than `most` words: they hold Python's lock all the time.
    """
    facts = explanation.facts
    words, other_words = facts.first.words, facts.second.words

    def show(each: Change) -> dict[str, str]:
        texts = {"first": words.text(each.first), "second": other_words.text(each.second)}
        return {"kind": each.kind, **texts}

    evidence = [row._asdict() for row in facts.evidence]
    return {
        "id": facts.first.id,
        "other_id": facts.second.id,
        "verdict": explanation.verdict,
        "way": explanation.way,
        "reasons": explanation.reasons,
        "measure": facts.measure,
        "settings": facts.settings.fingerprint,
        "limits": asdict(facts.limits) | {"allowed": facts.allowed},
        "documents": [
            {"id": each.id, "words": each.entry.num_words, "shingles": len(each.pieces),
             "first_word": each.entry.first_word, "md5_hash": each.entry.md5_hash,
             "stale": each.stale}
            for each in facts.both
        ],
        "measures": facts.measures,
        **({"evidence": evidence, "candidates": facts.candidates} if evidence else {}),
        "alignment": [row._asdict() for row in facts.alignment or ()],
        **{name: getattr(facts, name) for name in SHARED},
        "advice": explanation.advice or None,
        "changes": None if facts.longest > most else [*map(show, facts.changes)],
    }  # fmt: skip


def _give_reasons(facts: Facts, way: str, *, is_candidate: bool) -> Iterator[str]:
    for each in facts.both:
        if not each.entry.num_words:
            yield f"{each.id!r} has no words, so it is not similar to any document."
    if facts.has_words:
        if facts.is_exact:
            yield _describe_exact(facts)
        if facts.difference:
            yield f"Parts that must be equal differ: {facts.difference}."
        if not facts.is_within:
            yield _describe_limits(facts)
            yield from _describe_floor(facts) if facts.evidence else _describe_parts(facts)
        if not is_candidate:
            yield from _explain_no_candidate(facts, way)
    for each in facts.both:
        if each.stale:
            fields = ", ".join(each.stale)
            is_stored = any(each.terms[name] for name in each.stale)
            problem = f"the stored values of {fields} do not match its text"
            yield f"{each.id!r}: {problem if is_stored else f'it has no {fields}'}; {each.remedy}."


def _describe_exact(facts: Facts) -> str:
    """Say that the words are the same, and in which symbols the texts differ, if in any."""
    texts = [each.entry.content for each in facts.both]
    same = "They are the same word for word, after normalization"
    if have_same_symbols(*texts):
        return f"{same}."
    symbols = measures.parse_equality(measures.SYMBOLS).describe(*texts)
    return f"{same}, but differ in symbols{symbols.removeprefix(measures.SYMBOLS)}."


def _describe_limits(facts: Facts) -> str:
    if facts.measure != "words":
        kind = "probability of a match" if facts.evidence else f"similarity ({facts.measure})"
        return f"Their {kind} is {facts.similarity:.3f}; the minimum is {facts.least:g}."
    bounds = []
    if facts.limits.max_distance is not None:
        bounds.append(f"a distance of at most {facts.limits.max_distance}")
    if facts.least > 0 or not bounds:
        bounds.append(f"a similarity of at least {facts.least:g}")
    words = counted(facts.distance, "word")
    return f"They are {words} apart; the limits allow {facts.allowed:,} ({' and '.join(bounds)})."


def _describe_floor(facts: Facts) -> Iterator[str]:
    """Say that fields cannot make a match, if the whole records differ or no field is in both."""
    from neardup_solr.measures.fields import FLOOR, MISSING_LEVEL

    evidence = facts.evidence[1:]
    if evidence and all(each.level == MISSING_LEVEL for each in evidence):
        yield "No field has a value in both documents, so there is no evidence."
    elif (whole := facts.measured("aligned").similarity) < FLOOR:
        yield f"Their aligned similarity is {whole:.3f}; below {FLOOR:g}, no pair is a match."


def _describe_parts(facts: Facts) -> Iterator[str]:
    """Say that one is a part of the other, if so, which neither edits nor Jaccard show."""
    sides = ("containment", facts.first, facts.second), ("contained", facts.second, facts.first)
    for measure, part, whole in sides:
        share = facts.measured(measure).similarity
        if share >= PART and len(part.pieces) < len(whole.pieces) / 2:
            shingles = f"{plans.percent(share)} of the shingles of {part.id!r}"
            yield f"{shingles} are in {whole.id!r}: {part.id!r} is a part of it."


def _explain_no_candidate(facts: Facts, way: str) -> Iterator[str]:
    """Say why the two share no band (or nothing else, if the collection has no bands)."""
    settings, bands = facts.settings, f"{facts.settings.bands} bands of {facts.settings.rows}"
    cases = f"share one of {bands} in {plans.percent(facts.chance)} of cases"
    if facts.by == "words":
        common = [f"{word} in {count:,}" for word, count in facts.shared_words.items()]
        words = ", ".join(common[:MOST_WORDS] + ["…"] * (len(common) > MOST_WORDS))
        start = "They have no word in common"
        none = f"{start}, even allowing for spelling differences: only --by all compares them."
        few = f"{start} that occurs in at most {WORD_CAP} documents ({words})."
        yield few if common else none
        return
    if facts.fresh_bands:
        fresh = f"{len(facts.fresh_bands)} of {bands}"
        yield f"With signatures of their current texts, they would share {fresh}."
        return
    unit = settings.kind.removesuffix("s")
    if not facts.shared_shingles:
        size = counted(settings.shingle_size, unit)
        yield f"They share no shingle of {size}."
    elif way not in ("duplicates", "bands"):
        yield f"They have nothing in common that a search by {way} compares."
    elif facts.chance >= 0.5:
        similar = f"pairs as similar as this one (Jaccard similarity {facts.jaccard:.3f})"
        yield f"Bad luck: {similar} {cases}; this pair does not."
    else:
        yield f"Their Jaccard similarity of {facts.jaccard:.3f} is low: such pairs {cases}."
    if single := [repr(each.id) for each in facts.both if each.pieces == {each.entry.normal}]:
        names = " and ".join(single)
        yield f"{names}: the text is a single shingle, so most similar texts share none."
    elif facts.is_near and facts.chance < 0.5:
        most = max(len(each.pieces) for each in facts.both)
        shared = f"they share {facts.shared_shingles:,} of {most:,}"
        yield f"Each changed {unit} changes up to {settings.shingle_size} shingles: {shared}."


def advise(facts: Facts, *, is_candidate: bool) -> str:
    """Say in a sentence what would find a pair, or "" if it is unrelated or has to be renewed."""
    by_records = facts.measure in OF_RECORDS
    by_words = by_records or facts.measure in ("aligned", "records")
    words = facts.measured("words").similarity
    aligned = facts.measured("aligned").similarity if facts.alignment is not None else 0.0
    is_alike = words >= RELATED or max(facts.similarity, aligned) >= RELATED_ALIGNED
    if not facts.is_within and not by_words and any(_describe_parts(facts)):
        is_usual = facts.containment >= floor(CONTAINMENT.default)
        wider = "" if is_usual else _spell_least(facts.containment)
        return f"To find it by containment: duplicates --measure containment{wider}."
    if facts.difference or not facts.has_words or not (facts.is_near or is_alike):
        return ""
    if (
        facts.measure == "words"
        and words < WORDS.default
        and aligned >= floor(measure_named("aligned").default)
    ):
        return "To find it despite spelling differences: duplicates --measure aligned."
    limits = "" if by_records else f" --measure {facts.measure}"
    limits += "" if facts.is_within else _widen(facts)
    if is_candidate:
        return f"To find it, widen the limits:{limits}."
    if facts.by == "words":  # a cap that lets a shared word make candidates
        cap = min(facts.shared_words.values(), default=0)
        if 0 < cap * cap <= 2 * MOST_OF_ALL:
            return f"To find it: duplicates{limits} --cap {cap}."
        return _advise_way(facts, limits, has_bands=False)
    return "" if facts.fresh_bands else _advise_way(facts, limits)


def _advise_way(facts: Facts, limits: str, *, has_bands: bool = True) -> str:
    """Advise to compare all pairs, if these are few enough, or bands that the pair shares."""
    pairs = facts.documents * (facts.documents - 1) // 2
    if pairs <= MOST_OF_ALL:
        count = f" ({pairs:,} pairs to compare)" if pairs else ""
        return f"To find it: duplicates{limits} --by all{count}."
    plan = _find_plan(facts, pairs) if has_bands else None
    if plan is None:
        return ""
    bands = f"--bands {plan.bands} --band-rows {plan.rows}"
    if facts.is_stored:
        return f"To find it: neardup reband with {bands}, then duplicates{limits}."
    hashes = max(plan.hashes, facts.settings.hashes)
    more = f" --hashes {hashes}" if hashes > facts.settings.hashes else ""
    return f"To find it: duplicates{limits} {bands}{more}."


def _find_plan(facts: Facts, pairs: int) -> plans.Plan | None:
    """Find bands that the pair shares, and few enough of so many unrelated pairs do."""
    settings, most = facts.settings, MOST_HASHES
    if facts.is_stored:
        most = settings.hashes
    demand = plans.Demand()
    if facts.jaccard <= demand.avoid:
        return None
    for chosen in plans.catching(replace(demand, catch=facts.jaccard), most):
        if chosen.load * pairs > MOST_OF_ALL:
            continue
        hashes = max(chosen.hashes, settings.hashes)
        tried = replace(settings, bands=chosen.bands, rows=chosen.rows, hashes=hashes)
        texts = (Document(id=each.id, text=each.entry.content) for each in facts.both)
        first, second = (signature.decode(make_entry(each, tried).signature) for each in texts)
        if find_shared_bands(first, second, tried):
            return chosen
    return None


def _widen(facts: Facts) -> str:
    """Spell the limits that just include the pair."""
    most, least = facts.limits.max_distance, facts.similarity
    wider = "" if most is None else f" --max-distance {max(most, facts.distance)}"
    if not wider or (facts.limits.min_similarity or 0) > least:
        wider += _spell_least(least)
    return wider


def _spell_least(similarity: float) -> str:
    return f" --min-similarity {math.floor(similarity * 100) / 100:g}"


def list_tables(facts: Facts) -> list[list[list[str]]]:
    """List tables under their headings: the measures, the fields if they are compared, the ways."""
    measures = [[each.measure, f"{each.similarity:.3f}", ""] for each in facts.measures]
    measures[0][2] = f"{facts.distance:,}"
    heads = ["field", facts.first.id, facts.second.id, "agreement", "bits"]
    width = 5 if facts.evidence else 3
    fields = [[row.field, *mark_words(row), row.level, f"{row.bits or 0:+z.1f}"][:width]
              for row in facts.rows if row.field]  # fmt: skip
    ways = [[describe_way(way.name), describe_shared(facts, way), _describe_outcome(facts, way)]
            for way in facts.ways if way.is_there]  # fmt: skip
    return [
        [["measure", "similarity", "distance"], *measures],
        *([[heads[:width], *fields]] if fields else []),
        [["found by", "shared", ""], *ways],
    ]


def mark_words(row: Row) -> list[str]:
    """Mark the words that differ in both values of a field, [-so-] and {+so+}."""
    sides = zip(row.values or (), ("[-{}-]", "{{+{}+}}"), strict=False)
    return [
        " ".join(
            text if change.kind in ("equal", "same") else mark.format(text)
            for change in row.runs
            if (text := words.text((change.first, change.second)[side]))
        )
        for side, (words, mark) in enumerate(sides)
    ] or ["", ""]


def _describe_outcome(facts: Facts, way: Route) -> str:
    if way.shared:
        return FOUND if way.finds else BEYOND
    return MISSED if facts.is_near and way.name not in ("profile", "md5") else ""


def describe_way(name: str) -> str:
    """Describe a way in words of the command: "--by bands"."""
    return name if name == "duplicates" else f"--by {name}"


def describe_shared(facts: Facts, way: Route) -> str:
    """Describe the terms that a pair shares by a way: "3 of 42 bands"."""
    described = {
        "all": "every pair",
        "words": counted(way.shared, "rare word"),
        "bands": f"{way.shared} of {way.of} bands",
        "shingles": counted(way.shared, "shingle"),
        "signatures": f"{way.shared} of {way.of} values",
    }
    by = facts.by if way.name == "duplicates" else way.name
    return described.get(by) or ("the same" if way.shared else "different")
