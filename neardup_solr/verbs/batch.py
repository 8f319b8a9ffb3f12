"""Many documents at once: signed, shared out with those that they meet, and compared with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup_solr.candidates.by_band import CAP
from neardup_solr.measures import Comparer
from neardup_solr.minhash import bands, sign, signature
from neardup_solr.records import Document, Match
from neardup_solr.solr import query
from neardup_solr.solr.collection import Solr

BANDS = "content_bands"

Fields = Mapping[str, Any]

HOT = CAP  # as in reports of whole collections
SUSPECTS = 64  # terms that are looked at where a batch finds too many
NEAREST = 1_000  # documents that are compared where hot terms find more
MOST = 5_000  # documents that are fetched for one batch; bounds an answer to some ten megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked: documents whose `field` has any of the terms, and which of their fields.

    `filters` are Solr filter queries.
    """

    field: str
    fields: tuple[str, ...]
    filters: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """All fields that are asked for."""
        return ["id", self.field, *self.fields]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A document that has terms in common with one that was asked about; `shared` counts them."""

    id: str
    shared: int
    fields: Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The documents that share a term with one, those that share most first, then by id.

    `is_cut` where there are more of them than are fetched.
    """

    found: tuple[Candidate, ...] = ()
    is_cut: bool = False


class Hot:
    """Terms that more than `HOT` documents have, as they are met: boilerplate, mostly.

    Whole batches would be full of the documents that share nothing else.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def without(self, terms: Sequence[str]) -> list[str]:
        """Those of the terms that are not hot, as far as is known."""
        return [term for term in terms if term not in self._known]

    def learn(self, solr: Solr, field: str, asked: set[str], documents: Sequence[Fields]) -> bool:
        """Whether some of the terms that found too many documents, of which these, are hot."""
        counts = Counter(
            term for one in documents for term in asked.intersection(_values(one, field))
        )
        most = [term for term, _ in counts.most_common(SUSPECTS)]
        request, counting = query.each_term(query.Terms(field=field, values=most))
        found = solr.select(request, fields=["id"], limit=0, counting=counting)
        hot = {term for term, count in found.counts.items() if count > HOT}
        self._known |= hot
        return bool(hot)


def candidates_of_terms(
    solr: Solr, terms: Sequence[Sequence[str]], asking: Asking, hot: Hot
) -> list[Candidates]:
    """The candidates of each document, given by its terms; none for one without a term.

    One request asks for all of them, by the terms that are not hot: what shares only hot ones with
    a document may be missing, and it `is_cut`. Where too many are found for other reasons, it is
    asked in halves, and a single document `is_cut` without any.
    """
    cold = [hot.without(own) for own in terms]
    asked = {term for own in cold for term in own}
    is_cut = [len(own) < len(all_own) for own, all_own in zip(cold, terms, strict=True)]
    if not asked:
        return [Candidates(is_cut=one) for one in is_cut]
    wanted = query.Terms(field=asking.field, values=sorted(asked))
    request = query.any_term(wanted, filters=asking.filters)
    found = solr.select(request, fields=asking.names, limit=MOST)
    if found.total <= MOST:
        shared = shared_out(terms, found.documents, asking.field)
        return [replace(each, is_cut=one) for each, one in zip(shared, is_cut, strict=True)]
    if hot.learn(solr, asking.field, asked, found.documents):
        return candidates_of_terms(solr, terms, asking, hot)
    if len(terms) == 1:
        return [Candidates(is_cut=True)]
    middle = len(terms) // 2
    first, second = terms[:middle], terms[middle:]
    return candidates_of_terms(solr, first, asking, hot) + candidates_of_terms(
        solr, second, asking, hot
    )


def with_most_shared(
    solr: Solr, terms: Sequence[Sequence[str]], asking: Asking, found: Sequence[Candidates]
) -> list[Candidates]:
    """The same candidates; where they are cut, also the `NEAREST` that share most terms."""
    return [
        _joined(each, _most_shared(solr, own, asking)) if each.is_cut else each
        for own, each in zip(terms, found, strict=True)
    ]


def _most_shared(solr: Solr, terms: Sequence[str], asking: Asking) -> tuple[Candidate, ...]:
    """Those that share most terms with one document, hot or not."""
    wanted = query.Terms(field=asking.field, values=terms)
    request = query.any_of(wanted, filters=asking.filters, params={})
    found = solr.select(request, fields=asking.names, limit=NEAREST)
    return counted(terms, found.documents, asking.field)


def _joined(cut: Candidates, others: Sequence[Candidate]) -> Candidates:
    found = {one.id: one for one in (*cut.found, *others)}
    return replace(cut, found=tuple(sorted(found.values(), key=_order)))


def counted(terms: Sequence[str], documents: Sequence[Fields], field: str) -> tuple[Candidate, ...]:
    """Documents that share terms with one, as its candidates."""
    own = set(terms)
    made = (
        Candidate(id=one["id"], shared=len(own.intersection(_values(one, field))), fields=one)
        for one in documents
    )
    return tuple(sorted(made, key=_order))


def shared_out(
    terms: Sequence[Sequence[str]], documents: Sequence[Fields], field: str
) -> list[Candidates]:
    """Each document as a candidate of those whose terms it has in `field`."""
    owners: dict[str, list[int]] = defaultdict(list)
    for row, own in enumerate(terms):
        for term in own:
            owners[term].append(row)
    asked = set(owners)
    found: list[list[Candidate]] = [[] for _ in terms]
    for document in documents:
        common = asked.intersection(_values(document, field))
        shared = Counter(row for term in common for row in owners[term])
        for row, count in shared.items():
            found[row].append(Candidate(id=document["id"], shared=count, fields=document))
    for each in found:
        each.sort(key=_order)
    return [Candidates(found=tuple(each)) for each in found]


def _values(document: Fields, field: str) -> Sequence[str]:
    value = document.get(field, ())
    return (value,) if isinstance(value, str) else value


def _order(one: Candidate) -> tuple[int, str]:
    return -one.shared, one.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Documents that can be indexed, their words and keys, and what they are compared by.

    That is their normal forms, or for the estimate their encoded signatures (`known`).
    """

    documents: Sequence[Document]
    words: NDArray[np.int64]
    keys: NDArray[np.uint64]
    known: list[str]

    def terms(self) -> list[tuple[str, ...]]:
        """The bands of each document; none of one without words."""
        named = bands.terms(self.keys)
        return [own if words else () for own, words in zip(named, self.words, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """A document that another one shares a band with, and its `place` in what is compared.

    `number` is its number among those that a gate admitted before, `row` its row in this batch; a
    document of the collection has neither.
    """

    id: str
    place: int
    shared: int
    number: int | None = None
    row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """A document that another is near to; `is_equal` where what is compared is the same."""

    met: Met
    match: Match
    is_equal: bool


def signed_batch(documents: Sequence[Document], comparer: Comparer) -> Batch:
    """Documents with what is computed from their texts."""
    texts = [one.text for one in documents]
    made = sign.sign(texts, comparer.settings, keep_normal=True)
    needs_texts = comparer.measure.needs_texts
    known = made.normal if needs_texts else list(map(signature.encode, made.signatures))
    return Batch(documents=documents, words=made.words, keys=made.keys, known=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeking:
    """How candidates are found in a collection: those that `filters` let through.

    `hot` are the bands that were met so far which too many documents share; whether those that
    share only such ones are met as far as they share most, is `with_most_shared`. They have these
    further `fields`.
    """

    comparer: Comparer
    filters: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    with_most_shared: bool = False
    hot: Hot = field(default_factory=Hot)

    def asking(self) -> Asking:
        """What is asked of Solr."""
        asked = (self.comparer.measure.compared_field, "num_words", *self.fields)
        return Asking(field=BANDS, fields=asked, filters=self.filters)


def candidates_of(solr: Solr, batch: Batch, seeking: Seeking) -> list[Candidates]:
    """Who in a collection shares a band with each document of a batch; nobody with one of no words.

    Of those that share only hot bands with a document, which `is_cut` then, some may be missing.
    """
    terms, asking = batch.terms(), seeking.asking()
    found = candidates_of_terms(solr, terms, asking, seeking.hot)
    if not seeking.with_most_shared:
        return found
    return with_most_shared(solr, terms, asking, found)


def meetings(
    batch: Batch, found: Sequence[Sequence[Candidate]], known: list[str], comparer: Comparer
) -> list[tuple[int, Met]]:
    """Those found for each row that may be within the limits, with the row.

    What they are compared by is added to `known`, which begins with the batch's own.
    """
    places: dict[str, int] = {}
    contents: list[str] = []
    all_met = []
    for row, words in enumerate(batch.words.tolist()):
        for one in found[row]:
            content = one.fields.get(comparer.measure.compared_field)
            if not content or not comparer.may_be_near(words, one.fields.get("num_words")):
                continue
            if one.id not in places:
                places[one.id] = len(known) + len(contents)
                contents.append(content)
            all_met.append((row, Met(id=one.id, place=places[one.id], shared=one.shared)))
    known += sign.normal_forms(contents) if comparer.measure.needs_texts else contents
    return all_met


def near_ones(
    known: Sequence[str], met: Sequence[tuple[int, Met]], comparer: Comparer
) -> Iterator[tuple[int, Near]]:
    """Those of the rows and whom they met that are within the limits.

    Raises SettingsError where a signature is not one of these settings.
    """
    if not met:
        return
    pairs = np.array([(row, one.place) for row, one in met], dtype=np.uint32)
    found = comparer.compare_texts(known, pairs)
    for at in np.flatnonzero(found.is_near).tolist():
        row, one = met[at]
        match = Match(
            id=one.id,
            distance=int(found.distances[at]) if comparer.measure.has_distance else None,
            similarity=float(found.similarities[at]),
            shared=one.shared,
            content="",
        )
        yield row, Near(met=one, match=match, is_equal=known[one.place] == known[row])
