"""gate: may a new document come in, beside what the collection and this run already have?"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from neardup_solr.errors import SettingsError
from neardup_solr.measures import measure_named
from neardup_solr.measures.rerank import nearness
from neardup_solr.minhash import encode, entries
from neardup_solr.records import Document
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.spill import Spill
from neardup_solr.verbs import search
from neardup_solr.verbs.batch import BANDS, Batch, Finder, Met, Near, signed_batch
from neardup_solr.verbs.gate.meet import Admitted, Matched, Meeting
from neardup_solr.verbs.gate.policy import REJECT, TAG_FIELD, Decision, Policy

_NOT_ADMITTED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Gating:
    """How the gate works.

    `batch` documents are asked about by one query; a decision names at most `most` matches.
    `filters` are Solr filter queries that say what of the collection counts. With `index` the
    admitted documents are indexed.

    Raises SettingsError where a value cannot be.
    """

    batch: int = 50
    most: int = 100
    filters: tuple[str, ...] = ()
    index: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= 1_000:
            raise SettingsError(f"batches of {self.batch} documents", "give 1 to 1,000")
        if self.most < 1:
            raise SettingsError(f"{self.most} matches of a decision", "give 1 or more")


DEFAULT = Policy()
DEFAULT_GATING = Gating()


def gate(
    collection: Collection,
    documents: Iterable[Document],
    *,
    policy: Policy = DEFAULT,
    gating: Gating = DEFAULT_GATING,
) -> Iterator[Decision]:
    """A decision for each document, in order: allow, tag, hold or reject.

    A document is compared with those of the collection, as searches see it, that share an LSH
    band with it, and with those before it that were admitted; never with one of its own id, which
    it would replace. One that cannot be indexed is rejected with the reason. Where documents are
    indexed, a decision is given once Solr has the document, and what Solr refuses is rejected;
    after the last one they are committed.

    Raises SettingsError where the collection lacks what the policy needs, SolrError where Solr
    does not answer: what was decided before still holds.
    """
    settings = _settings(collection, policy, index=gating.index)
    comparer = search.comparer_for(collection, settings, policy.measure, policy.limits)
    finder = Finder(
        comparer=comparer, filters=gating.filters, fields=(TAG_FIELD,), with_most_shared=True
    )
    meeting = Meeting(collection=collection, finder=finder)
    return _Run(meeting=meeting, policy=policy, gating=gating).decisions(documents)


def _settings(collection: Collection, policy: Policy, *, index: bool) -> Settings:
    """The settings of a collection that has what the policy compares; defaults of an empty one."""
    if index and not collection.names.is_plain:
        reason = "the documents of this collection are written by another program"
        raise SettingsError(reason, "index there what the gate admits, and run neardup annotate")
    stored = collection.stored_settings()
    if stored is None and collection.count():
        stored = (
            collection.needed_settings()
        )  # refused: to documents without fields nothing is ever near
    settings = collection.settled(None) if index else stored or Settings()
    needed = {BANDS, measure_named(policy.measure).compared_field}
    settings.require(*needed)
    collection.require_fields(["id", *(settings.fields if index else needed)])
    return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What decides about documents, one after the other."""

    meeting: Meeting
    policy: Policy
    gating: Gating

    def decisions(self, documents: Iterable[Document]) -> Iterator[Decision]:
        """The decisions about documents, batch by batch."""
        remaining = iter(documents)
        with Spill() as spill:
            admitted = Admitted.none(spill)
            while batch := list(islice(remaining, self.gating.batch)):
                yield from self._decided(batch, admitted)
        if self.gating.index:
            self.meeting.collection.commit()

    def _decided(self, documents: Sequence[Document], admitted: Admitted) -> list[Decision]:
        problems = [entries.problem(document) for document in documents]
        usable = [one for one, reason in zip(documents, problems, strict=True) if reason is None]
        judged = iter(self._judged(signed_batch(usable, self.meeting.comparer), admitted))
        return [
            next(judged)
            if reason is None
            else Decision(document=document, action=REJECT, reason=reason)
            for document, reason in zip(documents, problems, strict=True)
        ]

    def _judged(self, batch: Batch, admitted: Admitted) -> list[Decision]:
        """Decisions that hold: what Solr refuses is rejected, and no reason to keep others out."""
        matched = self.meeting.matched(batch, admitted)
        fixed: dict[int, Decision] = {}
        while True:
            decisions = self._in_order(batch, matched, fixed, admitted)
            refused = self._sent(decisions, fixed) if self.gating.index else {}
            rows = [row for row, one in enumerate(decisions) if one.is_admitted]
            if not refused:
                admitted.add(batch, rows)
                return decisions
            fixed |= {row: decisions[row] for row in rows} | refused

    def _in_order(
        self, batch: Batch, matched: Matched, fixed: Mapping[int, Decision], admitted: Admitted
    ) -> list[Decision]:
        """One decision after the other: whoever is admitted counts for those that follow."""
        latest = ChainMap[str, int]({}, admitted.latest)
        numbers: dict[int, int] = {}
        decisions = []
        for row, document in enumerate(batch.documents):
            near = [
                one
                for one in matched.near[row]
                if one.met.id != document.id and _is_there(one.met, numbers, latest)
            ]
            decision = fixed.get(row) or self._decision(document, near, int(batch.words[row]))
            decisions.append(replace(decision, complete=not matched.is_cut[row]))
            if decision.is_admitted:
                numbers[row] = latest[document.id] = len(admitted.ids) + len(numbers)
        return decisions

    def _decision(self, document: Document, near: Sequence[Near], words: int) -> Decision:
        near = sorted(near, key=lambda one: nearness(one.match))
        matches = [one.match for one in near]
        exact = next((one.match for one in near if one.is_equal), None)
        action, reason = self.policy.judge(matches, exact)
        return Decision(
            document=document,
            action=action,
            reason=reason if words else "it has no words to compare",
            matches=tuple(matches[: self.gating.most]),
        )

    def _sent(
        self, decisions: Sequence[Decision], fixed: Mapping[int, Decision]
    ) -> dict[int, Decision]:
        """Index what is admitted and not sent yet; rejections of what Solr refuses, by row."""
        rows = [row for row, one in enumerate(decisions) if one.is_admitted and row not in fixed]
        if not rows:
            return {}
        documents = [replace(decisions[row].document, kept=decisions[row].kept()) for row in rows]
        encoded = encode.encoded(documents, self.meeting.comparer.settings)
        refused = {}
        for refusal in self.meeting.collection.add([json for json, _ in encoded]):
            reason = f"Solr refused it: {refusal.reason}"
            for row in rows:
                document = decisions[row].document
                if document.id == refusal.id:
                    refused[row] = Decision(document=document, action=REJECT, reason=reason)
        return refused


def _is_there(met: Met, numbers: Mapping[int, int], latest: Mapping[str, int]) -> bool:
    """Whether a document was admitted, and none of its id after it."""
    number = met.number if met.row is None else numbers.get(met.row, _NOT_ADMITTED)
    return latest.get(met.id) == number
