"""The decider of a gate: it applies the policy and answers to what is near to each document.

Which action the policy takes is said by `Policy.judge`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from neardup_solr.errors import SettingsError
from neardup_solr.measures import floor, measure_named
from neardup_solr.measures.rerank import nearness
from neardup_solr.memory import Spill
from neardup_solr.records import NOTHING, Document, Match
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Cache, Finder, Hits, OtherSettings
from neardup_solr.solr.names import BANDS, ID, SHINGLES, TEXT
from neardup_solr.verbs.batch import NearMatch, SignedBatch, sign_batch
from neardup_solr.verbs.collection_measure import comparer_for
from neardup_solr.verbs.gate.answers import GateAnswers
from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.matcher import (
    Admitted,
    Matched,
    compare_symbols,
    keep_equal,
    match_hits,
)
from neardup_solr.verbs.gate.passage_matcher import match_passages
from neardup_solr.verbs.gate.policy import TAG_FIELD, Policy
from neardup_solr.verbs.gate.reuse import Reuse

_NOT_ADMITTED = -1


def make_finder(
    collection: Collection, policy: Policy, filters: tuple[str, ...], *, index: bool,
    may_be_known: bool = False,
) -> Finder:  # fmt: skip
    """Make the finder of documents of a collection that has what the policy compares.

    The settings that it had before will do if it `may_be_known`: the first question to Solr tells
    if they have changed. What is indexed may not depend on that.
    """
    needed = {BANDS, measure_named(policy.measure).compared_field}
    needed |= {SHINGLES, TEXT} if policy.min_words else set()
    settings = collection.known_settings if may_be_known and not index else None
    is_sure = settings is None or not settings.fields >= needed
    if settings is None or is_sure:
        settings = _read_settings(collection, index=index)
        settings.require(*needed)
        collection.require_fields([ID, *(settings.fields if index else needed)])
    comparer = comparer_for(collection, settings, policy.measure, policy.limits)
    return Finder(
        collection=collection,
        comparer=comparer,
        filters=filters,
        fields=(*comparer.measure.stored_fields, "num_words", TAG_FIELD),
        is_sure=is_sure,
    )


def _read_settings(collection: Collection, *, index: bool) -> Settings:
    """Read the settings of a collection, or the defaults."""
    if index and not collection.names.is_plain:
        reason = "another program writes the documents of this collection"
        next_step = "omit `index`, let that program write the admitted documents, then annotate"
        raise SettingsError(reason, next_step, code="data-at-risk")
    stored = collection.stored_settings()
    if stored is None and collection.count():
        # Raises: nothing would ever be near to documents without our fields.
        stored = collection.needed_settings()
    return collection.choose_settings(None) if index else stored or Settings()


@dataclass(slots=True, kw_only=True)
class Decider:
    """Decides about documents by a policy, and by answers, from what is near to each.

    A decision names at most `most` matches.
    """

    finder: Finder
    policy: Policy
    most: int = 100
    answers: GateAnswers | None = None
    is_indexing: bool = False

    def find(self, documents: Sequence[Document]) -> tuple[SignedBatch, Sequence[Hits]]:
        """Sign documents, and find what shares a band with each."""
        batch = sign_batch(documents, self.finder.comparer)
        terms = batch.terms()
        try:
            hits = self.finder.hits(terms, batch.forms)
            return batch, self.finder.add_nearest(terms, hits)
        except OtherSettings:  # the collection has other documents than before
            before, policy = self.finder, self.policy
            index = self.is_indexing
            finder = make_finder(before.collection, policy, before.filters, index=index)
            finder.cache = None if before.cache is None else Cache()
            finder.leaves_large = before.leaves_large
            self.finder = finder
            return self.find(documents)

    def match(self, batch: SignedBatch, hits: Sequence[Hits], admitted: Admitted) -> Matched:
        """Find what is near to each document of a batch: of its hits, of those before, by answers.

        Documents of the same batch are included, whether they are admitted or not.
        """
        collection, policy = self.finder.collection, self.policy
        matched = match_hits(self.finder.comparer, batch, hits, admitted)
        matched = compare_symbols(collection, batch, matched, admitted)
        if policy.min_words:
            reused = match_passages(self.finder, batch, admitted, policy.min_words)
            matched = replace(matched, reused=reused)
        if policy.equality:
            matched = keep_equal(policy.equality, collection, batch, matched, admitted)
        if self.answers is not None:
            matched = self.answers.obey(self.finder, batch, matched, admitted)
        return matched

    def decide(
        self,
        batch: SignedBatch,
        matched: Matched,
        admitted: Admitted,
        fixed: Mapping[int, Decision],
        versions: Mapping[str, int] = NOTHING,
    ) -> list[Decision]:
        """Decide in order: an admitted document counts for those that follow.

        Decisions that are `fixed`, by row, stay. When documents are indexed, those with an id that
        the collection has (`versions`), or that this run has sent, replace others.
        """
        latest = ChainMap[str, int]({}, admitted.latest)
        numbers: dict[int, int] = {}  # of rows that are admitted

        def counts(near: NearMatch | Reuse, id: str) -> bool:
            """Return True for another document that is admitted, and the last of its id."""
            other = near.candidate
            number = other.number if other.row is None else numbers.get(other.row, _NOT_ADMITTED)
            return other.id != id and latest.get(other.id) == number

        decisions = []
        for row, document in enumerate(batch.documents):
            near = [each for each in matched.near[row] if counts(each, document.id)]
            same = [each for each in matched.same.get(row, ()) if counts(each, document.id)]
            reused = [each for each in matched.reused[row] if counts(each, document.id)]
            decision = fixed.get(row) or self._judge(
                document, near, same, reused, int(batch.words[row])
            )
            is_there = document.id in versions or document.id in latest
            replaces = self.is_indexing and decision.is_admitted and is_there
            decisions.append(replace(decision, complete=not matched.is_cut[row], replaces=replaces))
            if decision.is_admitted:
                numbers[row] = latest[document.id] = len(admitted.ids) + len(numbers)
        return decisions

    def _judge(
        self, document: Document, near: list[NearMatch], same: list[NearMatch],
        reused: list[Reuse], words: int,
    ) -> Decision:  # fmt: skip
        near.sort(key=lambda each: nearness(each.match))
        matches = [each.match for each in near]
        equal = [each for each in near if each.is_equal]
        exact = next((each.match for each in equal if each.is_exact), None)
        worded = next((each.match for each in equal), None)
        others = sorted((each.match for each in same), key=nearness)
        wholes = self._list_wholes(reused)
        whole = next(iter(wholes), None)
        action, reason = self.policy.judge(matches, exact, next(iter(others), None), worded, whole)
        ids = {match.id for match in matches}
        matches += [match for match in others if match.id not in ids]
        ids |= {match.id for match in matches}
        if wholes:
            matches += [match for match in wholes if match.id not in ids]
            matches.sort(key=lambda match: -match.similarity)
        return Decision(
            document=document,
            action=action,
            reason=reason if words else "it has no words to compare",
            matches=tuple(matches[: self.most]),
            passages=tuple(passage for each in reused for passage in each.passages),
        )

    def _list_wholes(self, reused: Sequence[Reuse]) -> list[Match]:
        """List the documents that have so much of another that it counts, those of most first."""
        least = floor(self.policy.limits.min_similarity or 0.0)
        matches = [match for each in reused if (match := each.make_match()) is not None]
        wholes = [match for match in matches if match.similarity >= least]
        return sorted(wholes, key=lambda match: -match.similarity)

    def decide_apart(
        self, requests: Sequence[Sequence[Document]], steps: float
    ) -> list[list[Decision] | None]:
        """Decide about the documents of each request as a gate for it alone does.

        A single search is for all of them. None stands for a request that the finder leaves, or
        that would compare more than `steps` pairs of words.
        """
        batch, hits = self.find([document for request in requests for document in request])
        spill = Spill()
        nobody = Admitted(forms=spill.strings(), texts=spill.strings())
        ends = list(accumulate(map(len, requests), initial=0))
        decisions: list[list[Decision] | None] = []
        for rows in map(slice, ends[:-1], ends[1:]):
            part = batch.part(rows)
            if any(each.is_left for each in hits[rows]) or _count_steps(part, hits[rows]) > steps:
                decisions.append(None)
                continue
            decisions.append(self.decide(part, self.match(part, hits[rows], nobody), nobody, {}))
        return decisions


def _count_steps(batch: SignedBatch, hits: Sequence[Hits]) -> int:
    """Count the pairs of words that a batch and its hits have, about."""
    rows = zip(batch.words.tolist(), hits, strict=True)
    return sum(words * (hit.num_words or words) for words, each in rows for hit in each.best)
