"""A run of `gate` over a source: it decides batch by batch, and indexes what is admitted."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice

from neardup_solr.answers.verdicts import Answered
from neardup_solr.errors import NeardupError, RecordError
from neardup_solr.memory import Spill
from neardup_solr.minhash import encode_documents
from neardup_solr.progress import Failures, SourceProgress
from neardup_solr.records import NOTHING, Document, find_problem
from neardup_solr.settings import SEED_CAP
from neardup_solr.sizes import SIZES
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.schema import read_schema
from neardup_solr.solr.unsigned import count_unsigned, describe_unsigned
from neardup_solr.sources.part import Record
from neardup_solr.verbs.columns_to_keep import ColumnsToKeep
from neardup_solr.verbs.delivery import Delivery, Stretch
from neardup_solr.verbs.gate.decider import Decider
from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.matcher import Admitted
from neardup_solr.verbs.gate.policy import REJECT
from neardup_solr.verbs.gate.templates import Templates

VERIFIED_EVERY = 10_000  # documents that were indexed


@dataclass(slots=True, kw_only=True)
class GateRun:
    """Decides about the documents of a source, so many at once (`batch`).

    With a `delivery` they are indexed; `stretch` holds what is not verified yet. What seems to
    be of `templates` is held. Of the admitted documents, the id of `repeated` came before. At the
    end, `hot` is the number of seeds that more than `SEED_CAP` of them have.
    """

    decider: Decider
    batch: int
    failures: Failures
    progress: SourceProgress
    patience: float
    delivery: Delivery | None
    columns: ColumnsToKeep | None
    templates: Templates | None
    stretch: Stretch = field(default_factory=Stretch)
    repeated: int = 0
    hot: int = 0

    @property
    def collection(self) -> Collection:
        """The collection that documents come into."""
        return self.decider.finder.collection

    def find_gaps(self) -> list[str]:
        """Say how many documents of the collection have no signature."""
        filters = self.decider.finder.filters
        count = count_unsigned(self.collection, read_schema(self.collection), filters)
        return describe_unsigned(self.collection, count)

    def count_answers(self) -> Answered | None:
        """Count the answers about documents that have come, None without answers."""
        return None if self.decider.answers is None else self.decider.answers.count()

    def decide(self, records: Iterable[Record]) -> Generator[Decision | RecordError, None, None]:
        """Decide about documents, batch by batch. Other records stay in their places."""
        remaining, done = iter(records), 0
        outages = self.collection.session.outages
        with Spill() as spill, outages.waited_for(self.patience):
            admitted = Admitted(forms=spill.strings(), texts=spill.strings())
            try:
                while batch := list(islice(remaining, self.batch)):
                    yield from self._decide_batch(batch, admitted)
                    done += len(batch)
                    self.progress.report(done, done)
                    if len(self.stretch.documents) >= VERIFIED_EVERY:
                        self._verify()
            except KeyboardInterrupt:
                outages.stop_waiting()
                with suppress(NeardupError, TimeoutError):
                    self._verify(SIZES.last_seconds)
                raise
            except GeneratorExit:  # whoever reads the decisions stops early, as by `break`
                outages.stop_waiting()
                self._verify()
                raise
            self._verify()
            self.hot = admitted.seeds.index.count_frequent(SEED_CAP)
        self.failures.warn()
        if (answered := self.count_answers()) is not None:
            answered.warn()
        if self.templates is not None:
            self.templates.warn()

    def _verify(self, seconds: float | None = None) -> None:
        """See that Solr has what was indexed, and report what it loses each time as failed.

        Raises TimeoutError if Solr takes longer than so many seconds to commit it.
        """
        if self.delivery is not None:
            self.delivery.verify(self.stretch, seconds)
            for error in self.stretch.dead:
                self.failures.add(error)
            self.stretch = Stretch()

    def _decide_batch(
        self, records: Sequence[Record], admitted: Admitted
    ) -> list[Decision | RecordError]:
        """Decide about documents, and reject those that cannot be indexed."""
        decided: list[Decision | RecordError | None] = []
        usable = []
        for record in records:
            if not isinstance(record, Document):
                decided.append(record)
            elif reason := find_problem(record):
                decided.append(Decision(document=record, action=REJECT, reason=reason))
            else:
                decided.append(None)
                usable.append(record)
        decisions = iter(self._admit(usable, admitted) if usable else ())
        return [next(decisions) if each is None else each for each in decided]

    def _admit(self, documents: Sequence[Document], admitted: Admitted) -> list[Decision]:
        """Make final decisions, and admit documents by them.

        What Solr refuses is rejected, and then keeps no others out.
        """
        batch, hits = self.decider.find(documents)
        matched = self.decider.match(batch, hits, admitted)
        versions: Mapping[str, int] = NOTHING
        if self.delivery is not None:
            versions = self.collection.versions(sorted({each.id for each in documents}))
        fixed: dict[int, Decision] = {}
        while True:
            decisions = self.decider.decide(batch, matched, admitted, fixed, versions)
            rows = [row for row, decision in enumerate(decisions) if decision.is_admitted]
            refused = self._send({row: decisions[row] for row in rows if row not in fixed})
            if not refused:
                break
            fixed |= {row: decisions[row] for row in rows} | refused
        admitted.add(batch, rows, matched.hashes, self.decider.policy)
        self.repeated = len(admitted.ids) - len(admitted.latest)
        if self.templates is None:
            return decisions
        return self.templates.hold(decisions, matched.near)

    def _send(self, decisions: Mapping[int, Decision]) -> dict[int, Decision]:
        """Index the documents of decisions, by row, and return what Solr refuses."""
        if self.delivery is None or not decisions:
            return {}
        documents = [replace(each.document, kept=each.kept()) for each in decisions.values()]
        ids = [document.id for document in documents]
        if self.columns is not None:
            self.columns.require_kept(ids, [document.kept for document in documents])
        if self.delivery.has_to_verify(self.stretch, ids):
            self._verify()
        encoded = encode_documents(documents, self.delivery.settings)
        answer = self.collection.take(encoded, ids)
        reasons = {refusal.id: f"Solr refused it: {refusal.reason}" for refusal in answer.refused}
        taken = Stretch()
        taken.documents |= {each.id: each for each in documents if each.id not in reasons}
        self.stretch.add(taken)
        self.stretch.versions.update(answer.versions)
        rejected = ((row, each) for row, each in decisions.items() if each.id in reasons)
        return {
            row: Decision(document=each.document, action=REJECT, reason=reasons[each.id])
            for row, each in rejected
        }
