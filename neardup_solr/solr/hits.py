"""Documents that share terms with one document, or with each of many, found by Solr."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neardup_solr.candidates import CAP
from neardup_solr.records import Hit
from neardup_solr.solr import query
from neardup_solr.solr.collection import PAGE, Collection

Fields = Mapping[str, Any]

HOT = CAP  # as in reports of whole collections
SUSPECTS = 64  # terms that are counted if a batch finds too many
NEAREST = 1_000  # documents that are compared if hot terms find more
FEW = 200  # documents that each shard of a cloud may tell in vain
MOST = 5_000  # documents that are fetched for one batch: ten megabytes or so


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to ask for: documents whose `field` has any of the terms, and these of their `fields`.

    `filters` are Solr filter queries. With `settings`, their fingerprint, the request also tells
    whether these are the settings of all documents.
    """

    field: str
    fields: tuple[str, ...]
    filters: tuple[str, ...] = ()
    settings: str | None = None

    @property
    def names(self) -> list[str]:
        """All fields that are asked for."""
        return ["id", self.field, *self.fields]


class OtherSettings(Exception):
    """Documents have other settings than those that the terms were made with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The documents that share a term with one: those that share most first, then by id.

    `is_cut` if there are more of them than were fetched.
    """

    found: tuple[Hit, ...] = ()
    is_cut: bool = False


class Hot:
    """Terms that more than `HOT` documents have, as far as they are known: mostly boilerplate.

    Without this, whole batches would be full of documents that share nothing else.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def without(self, terms: Sequence[str]) -> list[str]:
        """Those of the terms that are not hot, as far as is known."""
        return [term for term in terms if term not in self._known]

    def learn(
        self, collection: Collection, field: str, asked: set[str], documents: Sequence[Fields]
    ) -> bool:
        """Whether some of the terms are hot, which found too many `documents`; remember those."""
        counts = Counter(
            term for one in documents for term in asked.intersection(_values(one, field))
        )
        most = [term for term, _ in counts.most_common(SUSPECTS)]
        spelled = collection.terms(field, most)
        request, counting = query.each_term(spelled)
        counted = collection.select(request, fields=["id"], limit=0, counting=counting).counts
        hot = {term for term, value in zip(most, spelled.values, strict=True)
               if counted[value] > HOT}  # fmt: skip
        self._known |= hot
        return bool(hot)


def hit(fields: Fields, shared: int) -> Hit:
    """A document with these fields as a hit."""
    return Hit(
        id=fields["id"],
        shared=shared,
        md5_hash=fields.get("md5_hash", ""),
        num_words=fields.get("num_words"),
        fields=fields,
    )


def ranked(collection: Collection, request: query.Request, *, page: int = PAGE) -> Iterator[Hit]:
    """What a request finds, best first, fetched in pages of `page` hits as they are used."""
    page = min(page, PAGE)
    request = query.at_once(request) if page <= FEW else request
    fields = ["id", "md5_hash", "num_words", "score"]
    offset, total = 0, 1
    while offset < total:
        found = collection.select(request | {"offset": offset}, fields=fields, limit=page)
        yield from (hit(one, round(one["score"])) for one in found.documents)
        offset, total = offset + page, found.total


def hits_of_each(
    collection: Collection, terms: Sequence[Sequence[str]], question: Question, hot: Hot
) -> list[Hits]:
    """What shares terms with each of many documents, which are given by their terms.

    One request asks for all of them, by the terms that are not hot: documents that share only hot
    ones may be missing, and then `is_cut`. If too many are found for other reasons, the batch is
    halved; a single document has no hits then, and `is_cut`.

    Raises OtherSettings if the question has settings that are not those of all documents.
    """
    cold = [hot.without(own) for own in terms]
    asked = {term for own in cold for term in own}
    is_cut = [len(own) < len(all_own) for own, all_own in zip(cold, terms, strict=True)]
    if not asked:
        return [Hits(is_cut=one) for one in is_cut]
    wanted = collection.terms(question.field, sorted(asked))
    request = query.any_term(wanted, filters=question.filters)
    if question.settings is None:
        found = collection.select(request, fields=question.names, limit=MOST)
    else:
        found = collection.select(
            query.with_settings(request, question.settings),
            fields=question.names,
            limit=MOST,
            counting=query.SETTINGS_COUNTED,
        )
        if not query.are_all(found.counts):
            raise OtherSettings
        question = replace(question, settings=None)
    if found.total <= MOST:
        shared = shared_out(terms, found.documents, question.field)
        return [replace(each, is_cut=one) for each, one in zip(shared, is_cut, strict=True)]
    if hot.learn(collection, question.field, asked, found.documents):
        return hits_of_each(collection, terms, question, hot)
    if len(terms) == 1:
        return [Hits(is_cut=True)]
    middle = len(terms) // 2
    first, second = terms[:middle], terms[middle:]
    return hits_of_each(collection, first, question, hot) + hits_of_each(
        collection, second, question, hot
    )


def with_most_shared(
    collection: Collection,
    terms: Sequence[Sequence[str]],
    question: Question,
    found: Sequence[Hits],
) -> list[Hits]:
    """The same hits; if they are cut, also the `NEAREST` that share most terms."""
    return [
        _joined(each, _most_shared(collection, own, question)) if each.is_cut else each
        for own, each in zip(terms, found, strict=True)
    ]


def _most_shared(
    collection: Collection, terms: Sequence[str], question: Question
) -> tuple[Hit, ...]:
    """The documents that share most terms with one document, hot or not."""
    wanted = collection.terms(question.field, terms)
    request = query.any_of(wanted, filters=question.filters, params={})
    found = collection.select(request, fields=question.names, limit=NEAREST)
    return counted(terms, found.documents, question.field)


def _joined(cut: Hits, others: Sequence[Hit]) -> Hits:
    found = {one.id: one for one in (*cut.found, *others)}
    return replace(cut, found=tuple(sorted(found.values(), key=_order)))


def counted(terms: Sequence[str], documents: Sequence[Fields], field: str) -> tuple[Hit, ...]:
    """Documents that share terms with one, as its hits; those that share most first."""
    own = set(terms)
    made = (hit(one, len(own.intersection(_values(one, field)))) for one in documents)
    return tuple(sorted(made, key=_order))


def shared_out(
    terms: Sequence[Sequence[str]], documents: Sequence[Fields], field: str
) -> list[Hits]:
    """Each document as a hit of those whose terms it has in `field`."""
    owners: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(terms):
        for term in own:
            owners[term].append(row)
    asked = set(owners)
    found: list[list[Hit]] = [[] for _ in terms]
    for document in documents:
        common = asked.intersection(_values(document, field))
        shared = Counter(row for term in common for row in owners[term])
        for row, count in shared.items():
            found[row].append(hit(document, count))
    for each in found:
        each.sort(key=_order)
    return [Hits(found=tuple(each)) for each in found]


def _values(document: Fields, field: str) -> Sequence[str]:
    value = document.get(field, ())
    return (value,) if isinstance(value, str) else value


def _order(one: Hit) -> tuple[int, str]:
    return -one.shared, one.id
