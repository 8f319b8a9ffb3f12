"""Queries for documents that share terms with one document, or with each of many.

A request asks for "any of these terms", scored by how many are shared.
Each term is a clause of constant weight, so the score of a hit is the number of terms that it
shares with the query. A server allows 1,024 clauses in one query; more of them are split into
sub-queries whose scores are summed, over the documents that have any of the terms at all.
Requests are JSON bodies: unlike forms, those have no limit of 2 MB. The names of fields travel as
parameters, `field_…`, in which the client puts the collection's own names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup_solr.records import Hit
from neardup_solr.settings import CAP
from neardup_solr.solr.names import FIELD_PARAM, SETTINGS, VERSION

if TYPE_CHECKING:
    from neardup_solr.solr.collection import Collection, Selection

PAGE = 1_000  # hits, or documents, in one answer
CLAUSES = 1_000  # a little under the 1,024 that an untouched server allows
HOT = CAP  # as in reports of whole collections
SUSPECTS = 64  # terms that are counted if a batch finds too many
NEAREST = 1_000  # documents that are compared if hot terms find more
FEW = 200  # documents that each shard of a cloud may tell in vain
MANY = 200  # documents that take several times as long to fetch and compare as all else of a search
MOST = 5_000  # documents that are fetched for one batch: ten megabytes or so
KEPT, BESIDE = 1 << 26, 800  # bytes of documents that are known, and of each beside its texts
# One of these is in no value: the 5,000 ids of a page, of 512 bytes each, cannot hold all of them.
_SEPARATORS = (range(0x1F, 0, -1), range(0xE000, 0xF8FF), range(0x10000, 0x110000))
_ID, _TERMS = f"{FIELD_PARAM}id", f"{FIELD_PARAM}terms"
_SETTINGS = f"{FIELD_PARAM}settings"

# How many documents have these settings, and how many have any.
_SETTINGS_COUNTED = {
    "these": f"{{!term f=${_SETTINGS} v=$settings}}",
    "any": f"{{!lucene df=${_SETTINGS} v='[* TO *]'}}",
}
_LEADERS = {"shards.preference": "replica.leader:true", "shortCircuit": "false"}

Request = dict[str, Any]
Fields = Mapping[str, Any]
Key = tuple[str, int | None]  # the id and the version of a document


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Terms to look for in one multi-valued string field."""

    field: str
    values: Sequence[str]


def any_of(terms: Terms, *, filters: Sequence[str], params: Mapping[str, str]) -> Request:
    """A request whose hits share at least one term. Their score is the number shared.

    `filters` are filter queries in Solr's syntax; `params` are what those refer to by `$name`.
    Sorted by score, then id, so that equal requests give equal answers.
    """
    chunks = [terms.values[at : at + CLAUSES] for at in range(0, len(terms.values), CLAUSES)]
    clauses = [_clauses(chunk) for chunk in chunks]
    request: Request = {"sort": "score desc,id asc", "filter": list(filters)}
    params = {**params, _TERMS: terms.field}
    if len(clauses) == 1:
        return request | {"query": clauses[0], "params": params}
    named = {f"part{number}": clause for number, clause in enumerate(clauses)}
    summed = ",".join(f"query(${name},0)" for name in named)
    has_any = f"{{!terms f=${_TERMS} cache=false v=$any separator=$separator}}"
    return request | {
        "query": f"{{!func}}sum({summed},0)",
        "filter": [has_any, *filters],
        "params": {**params, **named, **_any(terms.values)},
    }


def any_term(terms: Terms, *, filters: Sequence[str]) -> Request:
    """A request for the documents that share at least one term, however many terms there are.

    They come in no order and without a count of what they share, which makes it the quickest way
    to ask for the terms of many documents at once.
    """
    params = {**_any(terms.values), _TERMS: terms.field}
    wanted = f"{{!terms f=${_TERMS} cache=false v=$any separator=$separator}}"
    return {"query": wanted, "filter": list(filters), "params": params}


def each_term(terms: Terms) -> tuple[Request, dict[str, str]]:
    """A request for all documents, and for each term a query that counts its documents."""
    named = {f"term{number}": value for number, value in enumerate(terms.values)}
    queries = {
        value: f"{{!term f=${_TERMS} cache=false v=${name}}}" for name, value in named.items()
    }
    return {"query": "*:*", "params": {**named, _TERMS: terms.field}}, queries


def by_id(id: str) -> Request:
    """A request for the one document with exactly this id, whatever characters it holds."""
    return {"query": f"{{!term f=${_ID} v=$id}}", "params": {"id": id, _ID: "id"}}


def by_ids(ids: Sequence[str]) -> Request:
    """A request for the documents with exactly these ids."""
    params = {**_any(ids), _ID: "id"}
    return {"query": f"{{!terms f=${_ID} v=$any separator=$separator}}", "params": params}


def of_leaders(request: Request) -> Request:
    """The same request, answered by the leaders of a SolrCloud's shards.

    Not even a lone shard is answered by whatever replica the node has that is asked.
    """
    return _with(request, **_LEADERS)


def at_once(request: Request) -> Request:
    """The same request, for few documents: the shards of a cloud answer it in one round, not two.

    Each tells whole documents, as many as are wanted in all.
    """
    return _with(request, **{"distrib.singlePass": "true"})


def of_replica(request: Request, address: str) -> Request:
    """The same request, answered by one replica."""
    return _with(request, shards=address)


def _with(request: Request, **params: str) -> Request:
    return {**request, "params": {**request.get("params", {}), **params}}


def same_value(field: str, value: str, number: int = 0) -> tuple[str, dict[str, str]]:
    """A filter for documents whose field has this value, with the parameters it uses.

    Of a field that is analysed, they have its words. Filters of one request need a `number` each,
    which names these parameters.
    """
    name, same = f"{FIELD_PARAM}same{number}", f"same{number}"
    return f"{{!field f=${name} v=${same}}}", {same: value, name: field}


def _any(values: Sequence[str]) -> dict[str, str]:
    """The parameters of values for the parser `terms`, with a separator that is in none of them."""
    held = frozenset("".join(values))
    signs = map(chr, chain.from_iterable(_SEPARATORS))
    separator = next(sign for sign in signs if sign not in held)
    # Not named "ids": that parameter means something to Solr.
    return {"any": separator.join(values), "separator": separator}


def _clauses(values: Sequence[str]) -> str:
    # "OR", because someone else's collection may have another default.
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    any_of = " ".join(f'"{value}"^=1' for value in escaped)
    return f"{{!lucene q.op=OR df=${_TERMS}}}{any_of}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A search for documents whose `field` has any of the terms, and for these of their `fields`.

    `filters` are Solr filter queries. With `settings`, their fingerprint, the request also tells
    whether these are the settings of all documents.
    """

    field: str
    fields: tuple[str, ...]
    filters: tuple[str, ...] = ()
    settings: str | None = None


def select_if_settings(
    collection: Collection,
    request: Request,
    fingerprint: str,
    *,
    fields: Sequence[str],
    limit: int,
) -> Selection | None:
    """Select documents if these are the settings of all documents that have any, else None.

    One request asks for both: Solr caches the filters by which it counts the settings.
    """
    request = _with(request, settings=fingerprint, **{_SETTINGS: SETTINGS})
    found = collection.select(request, fields=fields, limit=limit, counting=_SETTINGS_COUNTED)
    return found if found.counts["these"] == found.counts["any"] > 0 else None


class Probe(NamedTuple):
    """A document whose hits are looked for: its terms, and its form, which is compared."""

    terms: Sequence[str]
    form: str


@dataclass(slots=True, kw_only=True)
class Known:
    """What is known of documents from question to question, so that less is asked and fetched.

    `large` are terms that many documents have. Of documents with such a term, `kept` has the form
    and the fields, by id and version. `make_forms` makes forms of fields; `choose` says which forms
    are near to one.
    """

    make_forms: Callable[[Sequence[Fields]], list[str]]
    choose: Callable[[str, Sequence[str]], Iterable[bool]]
    large: set[str] = field(default_factory=set)
    kept: dict[Key, tuple[str, Fields]] = field(default_factory=dict)
    size: int = 0

    def keep(self, documents: Sequence[Fields]) -> dict[Key, tuple[str, Fields]]:
        """Keep documents, and return their forms and fields."""
        made = {
            (one["id"], one.get(VERSION)): (form, one)
            for form, one in zip(self.make_forms(documents), documents, strict=True)
        }
        size = sum(2 * len(form) + BESIDE for form, _ in made.values())
        if self.size + size > KEPT:  # what is needed again is soon fetched again
            self.kept, self.size = {}, 0
        self.kept |= made
        self.size += size
        return made


class OtherSettings(Exception):
    """Documents have other settings than those that the terms were made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The documents that share a term with one: those that share most first, then by id.

    `is_cut` if there are more of them than were fetched; `is_left` if none were looked for, as that
    takes long.
    """

    found: tuple[Hit, ...] = ()
    is_cut: bool = False
    is_left: bool = False


def _learn_hot(collection: Collection, field: str, terms: Sequence[str], hot: set[str]) -> bool:
    """Add to `hot` which terms more than `HOT` documents have. True if some of these do.

    These are mostly boilerplate: whole batches would be full of documents that share nothing else.
    """
    are_hot = [count > HOT for count in _count_terms(collection, field, terms)]
    hot.update(compress(terms, are_hot))
    return any(are_hot)


def _count_terms(collection: Collection, field: str, terms: Sequence[str]) -> list[int]:
    """Count the documents that have each term."""
    spelled = collection.terms(field, terms)
    request, counting = each_term(spelled)
    counted = collection.select(request, fields=["id"], limit=0, counting=counting).counts
    return [counted[value] for value in spelled.values]


def hit(fields: Fields, shared: int) -> Hit:
    """A document with these fields as a hit."""
    return Hit(
        id=fields["id"],
        shared=shared,
        md5_hash=fields.get("md5_hash", ""),
        num_words=fields.get("num_words"),
        fields=fields,
    )


def fetch_ranked(collection: Collection, request: Request, *, page: int = PAGE) -> Iterator[Hit]:
    """Fetch the hits of a request, best first, in pages of `page` hits as they are used."""
    page = min(page, PAGE)
    request = at_once(request) if page <= FEW else request
    fields = ["id", "md5_hash", "num_words", "score"]
    offset, total = 0, 1
    while offset < total:
        found = collection.select(request | {"offset": offset}, fields=fields, limit=page)
        yield from (hit(one, round(one["score"])) for one in found.documents)
        offset, total = offset + page, found.total


def hits_of_each(
    collection: Collection, terms: Sequence[Sequence[str]], question: Question, hot: set[str]
) -> list[Hits]:
    """Find what shares terms with each of many documents, which are given by their terms.

    One request asks for all of them, by the terms that are not `hot`: documents that share only hot
    ones may be missing, and then `is_cut`. What turns out to be hot is added there. If too many are
    found for other reasons, the batch is halved; a single document has no hits then, and `is_cut`.

    Raises OtherSettings if the question has settings that are not those of all documents.
    """
    asked = {term for own in terms for term in own} - hot
    is_cut = [not asked.issuperset(own) for own in terms]
    if not asked:
        return [Hits(is_cut=one) for one in is_cut]
    wanted = collection.terms(question.field, sorted(asked))
    is_scored = len(terms) == 1 and not is_cut[0]
    found = _ask_any(collection, wanted, question, MOST, is_scored=is_scored)
    question = replace(question, settings=None)  # it is sure of them now
    if found.total <= MOST and is_scored:
        return [Hits(found=_rank(hit(one, round(one["score"])) for one in found.documents))]
    if found.total <= MOST:
        shared = assign_hits(terms, found.documents, question.field)
        return [replace(each, is_cut=one) for each, one in zip(shared, is_cut, strict=True)]
    suspects = list(asked)
    if not is_scored:
        own = (asked.intersection(_values(one, question.field)) for one in found.documents)
        suspects = [one for one, _ in Counter(chain.from_iterable(own)).most_common(SUSPECTS)]
    if _learn_hot(collection, question.field, suspects, hot):
        return hits_of_each(collection, terms, question, hot)
    if len(terms) == 1:
        return [Hits(is_cut=True)]
    middle = len(terms) // 2
    halves = terms[:middle], terms[middle:]
    return [one for half in halves for one in hits_of_each(collection, half, question, hot)]


def _ask_any(
    collection: Collection, terms: Terms, question: Question, limit: int, *, is_scored: bool = False
) -> Selection:
    """Select documents that have any of the terms. Raises OtherSettings if theirs are others.

    With `is_scored`, each has the number of terms that it shares as its score, not its terms.
    """
    if is_scored:
        request, shared = any_of(terms, filters=question.filters, params={}), "score"
    else:
        request, shared = any_term(terms, filters=question.filters), question.field
    fields = ["id", shared, *question.fields]
    if question.settings is None:
        return collection.select(request, fields=fields, limit=limit)
    sure = select_if_settings(collection, request, question.settings, fields=fields, limit=limit)
    if sure is None:
        raise OtherSettings
    return sure


def hits_apart(
    collection: Collection,
    probes: Sequence[Probe],
    question: Question,
    known: Known,
    *,
    leaves_large: bool = False,
) -> list[Hits]:
    """Find what `hits_of_each` finds for each of many documents alone, if possible by one request.

    A document that has a large term is asked about after the others, or, with `leaves_large`, not
    at all; of its hits, those that are not near may be missing. What turns out is added to `known`.

    Raises OtherSettings as `hits_of_each` does.
    """
    are_alone = [not known.large.isdisjoint(one.terms) for one in probes]
    others = list(compress(probes, [not one for one in are_alone]))
    together = iter(_hits_together(collection, others, question, known))
    found = []
    for one, is_alone in zip(probes, are_alone, strict=True):
        if not is_alone:
            found.append(next(together))
        elif leaves_large:
            found.append(Hits(is_left=True))
        else:
            found.append(_hits_alone(collection, one, question, known))
    return found


def _hits_together(
    collection: Collection, probes: Sequence[Probe], question: Question, known: Known
) -> list[Hits]:
    if len(probes) == 1:
        return [_hits_alone(collection, probes[0], question, known)]
    terms = [one.terms for one in probes]
    wanted = collection.terms(question.field, sorted(set(chain.from_iterable(terms))))
    if not wanted.values:
        return [Hits() for _ in probes]
    found = _ask_any(collection, wanted, question, NEAREST)
    question = replace(question, settings=None)
    if found.total <= NEAREST:
        hits = assign_hits(terms, found.documents, question.field)
        if many := [own for own, each in zip(terms, hits, strict=True) if len(each.found) > MANY]:
            known.large |= _find_large(collection, question.field, sorted({*chain(*many)}))
        return hits
    middle = len(probes) // 2
    halves = probes[:middle], probes[middle:]
    return [one for half in halves for one in hits_apart(collection, half, question, known)]


def _hits_alone(collection: Collection, probe: Probe, question: Question, known: Known) -> Hits:
    """Find what one document shares terms with, and learn which terms are large.

    What has a large one is counted first, so that not too much is fetched in vain.
    """
    terms, hot = probe.terms, set[str]()
    if many := [term for term in terms if term in known.large]:
        counts = _count_terms(collection, question.field, many)
        known.large.difference_update(compress(many, [each <= MANY for each in counts]))
        if max(counts) > MOST:
            _learn_hot(collection, question.field, terms, hot)
        elif found := _near_hits(collection, probe, question, known):
            return found
    was_expected = bool(hot)
    (found,) = hits_of_each(collection, [terms], question, hot)
    is_new = not was_expected if found.is_cut else not many and len(found.found) > MANY
    if is_new:
        known.large |= _find_large(collection, question.field, terms)
    return found


def _find_large(collection: Collection, field: str, terms: Sequence[str]) -> set[str]:
    counts = _count_terms(collection, field, terms)
    return set(compress(terms, [each > MANY for each in counts]))


def _near_hits(
    collection: Collection, probe: Probe, question: Question, known: Known
) -> Hits | None:
    """Find the hits of one document that are near to it, and fetch only those that are not known.

    Returns None if they are too many, have no versions, or change meanwhile.
    """
    wanted = collection.terms(question.field, probe.terms)
    versions = replace(question, fields=(VERSION,))
    found = _ask_any(collection, wanted, versions, MOST, is_scored=True)
    if found.total > MOST or any(one.get(VERSION) is None for one in found.documents):
        return None
    shared = {(one["id"], one[VERSION]): round(one["score"]) for one in found.documents}
    kept = known.kept  # to which another thread may add
    own = {key: one for key in shared if (one := kept.get(key)) is not None}
    if new := [id for id, _ in shared.keys() - own.keys()]:
        fields = ["id", VERSION, *question.fields]
        own |= known.keep(collection.select(by_ids(new), fields=fields, limit=len(new)).documents)
    if not shared.keys() <= own.keys():
        return None
    near = compress(shared.items(), known.choose(probe.form, [own[key][0] for key in shared]))
    return Hits(found=_rank(hit(own[key][1], count) for key, count in near))


def with_most_shared(
    collection: Collection,
    terms: Sequence[Sequence[str]],
    question: Question,
    found: Sequence[Hits],
) -> list[Hits]:
    """Add to hits that are cut the `NEAREST` that share most terms, hot or not."""
    return [
        _add_most_shared(collection, own, question, each) if each.is_cut else each
        for own, each in zip(terms, found, strict=True)
    ]


def _add_most_shared(
    collection: Collection, terms: Sequence[str], question: Question, cut: Hits
) -> Hits:
    wanted = collection.terms(question.field, terms)
    request = any_of(wanted, filters=question.filters, params={})
    others = collection.select(request, fields=["id", "score", *question.fields], limit=NEAREST)
    nearest = (hit(one, round(one["score"])) for one in others.documents)
    every = {one.id: one for one in (*cut.found, *nearest)}
    return replace(cut, found=_rank(every.values()))


def count_shared(terms: Sequence[str], documents: Sequence[Fields], field: str) -> tuple[Hit, ...]:
    """Make hits of documents that share terms with one, best first."""
    own = set(terms)
    return _rank(hit(one, len(own.intersection(_values(one, field)))) for one in documents)


def assign_hits(
    terms: Sequence[Sequence[str]], documents: Sequence[Fields], field: str
) -> list[Hits]:
    """Make each document a hit of those whose terms it has in `field`, best first."""
    if len(terms) == 1:
        shared = count_shared(terms[0], documents, field)
        return [Hits(found=tuple(one for one in shared if one.shared))]
    owners: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(terms):
        for term in own:
            owners[term].append(row)
    asked = set(owners)
    found: list[list[Hit]] = [[] for _ in terms]
    for document in documents:
        common = asked.intersection(_values(document, field))
        counts = Counter(chain.from_iterable(map(owners.__getitem__, common)))
        for row, count in counts.items():
            found[row].append(hit(document, count))
    return [Hits(found=_rank(each)) for each in found]


def _values(document: Fields, field: str) -> Sequence[str]:
    value = document.get(field, ())
    return (value,) if isinstance(value, str) else value


def _rank(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda one: (-one.shared, one.id)))
