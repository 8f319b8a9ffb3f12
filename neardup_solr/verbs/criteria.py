"""Criteria of candidates in a collection: terms, filters and equal values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from neardup_solr import checks, measures
from neardup_solr.argument_types import By
from neardup_solr.errors import SettingsError
from neardup_solr.measures import Limits, Measure
from neardup_solr.measures.equality import ANYTHING, Equality
from neardup_solr.progress import LOG
from neardup_solr.records import Entry, Hit
from neardup_solr.settings import Settings, require_indexed
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Finder
from neardup_solr.solr.names import TEXT
from neardup_solr.solr.schema import require_kept
from neardup_solr.verbs.collection_measure import comparer_for

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """Ways to find candidates, and limits for them: the arguments of `search`, checked.

    `min_words` is how many words a passage has at least, None if passages are not looked for.

    Raises ArgumentError if a value is not possible.
    """

    by: By | None = None
    candidates: int = 100
    fq: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    equality: Equality = ANYTHING
    measure: str | Measure = "words"
    limits: Limits = NO_LIMITS
    min_words: int | None = None

    def __post_init__(self) -> None:
        measures.measure_of(self.measure, self.limits)  # checks them
        if self.by is not None:
            checks.require_choice("by", self.by, WAYS)
        checks.require_positive(candidates=self.candidates)

    @property
    def read(self) -> list[str]:
        """The fields that have to be equal and are not computed from the text."""
        return [name for name in self.same if name not in COMPUTED]


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
    if measure.way in ("shingles", "passages") and criteria.by is None and by != "shingles":
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


def _values(stored: object) -> frozenset[str]:
    """List the values of a field as texts, without empty values."""
    values = stored if isinstance(stored, list) else [stored]
    return frozenset(str(value) for value in values if value not in (None, ""))
