"""gate: decide whether new documents may come in, by those of a collection."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path

from neardup_solr import arguments, sources
from neardup_solr.answers import Answer, Answered, TextVerdicts, read_answers
from neardup_solr.arguments import Action, MeasureName, OneOrMore, checked, listed, require
from neardup_solr.errors import NeardupError, RecordError, SettingsError
from neardup_solr.measures import measure_named, nearness, parse_equality
from neardup_solr.memory import Spill
from neardup_solr.minhash import encode_documents
from neardup_solr.progress import Failures, OnError, OnProgress, SourceProgress, ignore
from neardup_solr.records import NOTHING, Document, find_problem
from neardup_solr.settings import Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Cache, Finder, Hits, OtherSettings
from neardup_solr.solr.names import BANDS, ID
from neardup_solr.solr.schema import read_schema
from neardup_solr.solr.unsigned import count_unsigned, describe_unsigned
from neardup_solr.sources import SourceLike, reading_of
from neardup_solr.sources.record import Record, check_keep
from neardup_solr.verbs import search
from neardup_solr.verbs.answer import read_hashes
from neardup_solr.verbs.batch import NearMatch, SignedBatch, sign_batch
from neardup_solr.verbs.gate import policy as policies
from neardup_solr.verbs.gate.matcher import (
    Admitted,
    GateAnswers,
    Matched,
    compare_symbols,
    keep_equal,
    match_hits,
)
from neardup_solr.verbs.gate.policy import Decision, Decisions, Policy, Templates
from neardup_solr.verbs.index import HURRY_SECONDS, ColumnsToKeep, Delivery, Stretch

VERIFIED_EVERY = 10_000  # documents that were indexed
MOST_AT_ONCE = 1_000  # documents of a query
_NOT_ADMITTED = -1


@checked
def gate(
    source: SourceLike,
    collection: Collection,
    *,
    tag: float | None = None,
    hold: float | None = None,
    reject: float | None = None,
    exact: Action = "reject",
    yes: bool = False,
    measure: MeasureName = "auto",
    model: str | Path | None = None,
    max_distance: int | None = None,
    equal: OneOrMore = (),
    fq: OneOrMore = (),
    index: bool = False,
    batch: int = 50,
    most: int = 100,
    answers: str | Path | None = None,
    patience: float | str = "5m",
    keep: OneOrMore | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Decisions:
    """Decide about each document of a source, in order: allow, tag, hold or reject.

    Example: `[each.action for each in nd.gate("new.jsonl", listings, reject=0.95)]`

    Each decision is made only when you read it: by a `for` loop, `list()`, `.to_pandas()`,
    `.to_polars()` or `.to_arrow()`. With `index`, documents are indexed only then.

    A document is compared with the documents in the collection that share an LSH band with it, and
    with earlier admitted documents, but not with the document that it replaces. The similarity (0
    to 1) of the best match decides. Without `tag`, `hold` and `reject`, a document is tagged if the
    similarity reaches the measure's threshold. `exact` is the minimum action for equal texts and
    for pairs answered "same". Texts from a template, which all differ in the same places, are held
    instead of rejected, unless `yes` is set.

    With `index`, each decision is returned once Solr has the document. A replacement must have all
    columns of the old document, unless `keep` is given. Documents lost by Solr are resent.

    Raises SettingsError if the collection lacks a required field, SourceError if the source cannot
    be read, SolrError if Solr does not answer; earlier decisions stay valid.
    """
    if index:
        check_keep(listed(keep or ()))
    policy = Policy(
        tag=tag, hold=hold, reject=reject, exact=exact, max_distance=max_distance,
        measure=measure, equality=parse_equality(equal),
    )  # fmt: skip
    fits = 1 <= batch <= MOST_AT_ONCE
    require(fits, f"`batch` cannot be {batch}", f"give 1 to {MOST_AT_ONCE:,}")
    arguments.require_positive(most=most)
    chosen = measure_named(search.measure_by(collection, measure, model, max_distance))
    policy = replace(policy, measure=chosen)
    judged = None if answers is None else read_answers(answers)
    columns = keep
    if chosen.fields:
        columns = tuple(dict.fromkeys([*listed(keep or ()), *chosen.fields]))
    texts = collection.names.columns
    source, reading = reading_of(source, "refuse", text=texts, keep=columns, at_once=True)
    failures = Failures(on_error)
    progress = sources.make_progress("deciding", source, on_progress or ignore)
    records = sources.records(source, reading=reading, on_progress=progress.count_bytes)
    finder = make_finder(collection, policy, listed(fq), index=index, may_be_known=True)
    delivery = guard = None
    if index:
        collection.require_placed()
        delivery = Delivery(
            collection=collection,
            settings=finder.comparer.settings,
            as_record=reading.as_record,
        )
        guard = ColumnsToKeep(collection, {policies.TAG_FIELD}) if columns is None else None
    gate_answers = None if judged is None else make_answers(collection, judged)
    gate = Gate(finder=finder, policy=policy, most=most, answers=gate_answers, is_indexing=index)
    run = _Run(
        gate=gate, batch=batch, failures=failures, progress=progress, delivery=delivery,
        columns=guard, patience=arguments.in_seconds(patience, "patience"),
        templates=None if yes else Templates(reject),
    )  # fmt: skip
    return Decisions(
        run.decide(records), failures, run.find_gaps, run.count_answers, lambda: run.repeated,
        index, source,
    )  # fmt: skip


def make_answers(collection: Collection, judged: list[Answer]) -> GateAnswers:
    """Prepare answers for a gate, by the texts of the documents of its collection."""
    return GateAnswers(verdicts=TextVerdicts(judged, read_hashes(collection, judged)))


def make_finder(
    collection: Collection, policy: Policy, filters: tuple[str, ...], *, index: bool,
    may_be_known: bool = False,
) -> Finder:  # fmt: skip
    """Make the finder of documents of a collection that has what the policy compares.

    The settings that it had before will do if it `may_be_known`: the first question to Solr tells
    if they have changed. What is indexed may not depend on that.
    """
    needed = {BANDS, measure_named(policy.measure).compared_field}
    settings = collection.known_settings if may_be_known and not index else None
    is_sure = settings is None or not settings.fields >= needed
    if settings is None or is_sure:
        settings = _read_settings(collection, index=index)
        settings.require(*needed)
        collection.require_fields([ID, *(settings.fields if index else needed)])
    comparer = search.comparer_for(collection, settings, policy.measure, policy.limits)
    return Finder(
        collection=collection,
        comparer=comparer,
        filters=filters,
        fields=(*comparer.measure.stored_fields, "num_words", policies.TAG_FIELD),
        is_sure=is_sure,
    )


def _read_settings(collection: Collection, *, index: bool) -> Settings:
    """Read the settings of a collection, or the defaults."""
    if index and not collection.names.is_plain:
        reason = "another program writes the documents of this collection"
        next_step = "omit `index`, let that program write the admitted documents, then annotate"
        raise SettingsError(reason, next_step)
    stored = collection.stored_settings()
    if stored is None and collection.count():
        # Raises: nothing would ever be near to documents without our fields.
        stored = collection.needed_settings()
    return collection.choose_settings(None) if index else stored or Settings()


@dataclass(slots=True, kw_only=True)
class Gate:
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
        collection, equality = self.finder.collection, self.policy.equality
        matched = match_hits(self.finder.comparer, batch, hits, admitted)
        matched = compare_symbols(collection, batch, matched, admitted)
        if equality:
            matched = keep_equal(equality, collection, batch, matched, admitted)
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

        def counts(near: NearMatch, id: str) -> bool:
            """Return True for another document that is admitted, and the last of its id."""
            other = near.candidate
            number = other.number if other.row is None else numbers.get(other.row, _NOT_ADMITTED)
            return other.id != id and latest.get(other.id) == number

        decisions = []
        for row, document in enumerate(batch.documents):
            near = [each for each in matched.near[row] if counts(each, document.id)]
            same = [each for each in matched.same.get(row, ()) if counts(each, document.id)]
            decision = fixed.get(row) or self._judge(document, near, same, int(batch.words[row]))
            is_there = document.id in versions or document.id in latest
            replaces = self.is_indexing and decision.is_admitted and is_there
            decisions.append(replace(decision, complete=not matched.is_cut[row], replaces=replaces))
            if decision.is_admitted:
                numbers[row] = latest[document.id] = len(admitted.ids) + len(numbers)
        return decisions

    def _judge(
        self, document: Document, near: list[NearMatch], same: list[NearMatch], words: int
    ) -> Decision:
        near.sort(key=lambda each: nearness(each.match))
        matches = [each.match for each in near]
        equal = [each for each in near if each.is_equal]
        exact = next((each.match for each in equal if each.is_exact), None)
        worded = next((each.match for each in equal), None)
        others = sorted((each.match for each in same), key=nearness)
        action, reason = self.policy.judge(matches, exact, next(iter(others), None), worded)
        ids = {match.id for match in matches}
        matches += [match for match in others if match.id not in ids]
        return Decision(
            document=document,
            action=action,
            reason=reason if words else "it has no words to compare",
            matches=tuple(matches[: self.most]),
        )

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


@dataclass(slots=True, kw_only=True)
class _Run:
    """Decides about the documents of a source, so many at once (`batch`).

    With a `delivery` they are indexed; `stretch` holds what is not verified yet. What seems to
    be of `templates` is held. Of the admitted documents, the id of `repeated` came before.
    """

    gate: Gate
    batch: int
    failures: Failures
    progress: SourceProgress
    patience: float
    delivery: Delivery | None
    columns: ColumnsToKeep | None
    templates: Templates | None
    stretch: Stretch = field(default_factory=Stretch)
    repeated: int = 0

    @property
    def collection(self) -> Collection:
        """The collection that documents come into."""
        return self.gate.finder.collection

    def find_gaps(self) -> list[str]:
        """Say how many documents of the collection have no signature."""
        filters = self.gate.finder.filters
        count = count_unsigned(self.collection, read_schema(self.collection), filters)
        return describe_unsigned(self.collection, count)

    def count_answers(self) -> Answered | None:
        """Count the answers about documents that have come, None without answers."""
        return None if self.gate.answers is None else self.gate.answers.count()

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
                    self._verify(HURRY_SECONDS)
                raise
            except GeneratorExit:  # whoever reads the decisions stops early, as by `break`
                outages.stop_waiting()
                self._verify()
                raise
            self._verify()
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
        made: list[Decision | RecordError | None] = []
        usable = []
        for record in records:
            if not isinstance(record, Document):
                made.append(record)
            elif reason := find_problem(record):
                made.append(Decision(document=record, action=policies.REJECT, reason=reason))
            else:
                made.append(None)
                usable.append(record)
        decisions = iter(self._admit(usable, admitted) if usable else ())
        return [next(decisions) if each is None else each for each in made]

    def _admit(self, documents: Sequence[Document], admitted: Admitted) -> list[Decision]:
        """Make final decisions, and admit documents by them.

        What Solr refuses is rejected, and then keeps no others out.
        """
        batch, hits = self.gate.find(documents)
        matched = self.gate.match(batch, hits, admitted)
        versions: Mapping[str, int] = NOTHING
        if self.delivery is not None:
            versions = self.collection.versions(sorted({each.id for each in documents}))
        fixed: dict[int, Decision] = {}
        while True:
            decisions = self.gate.decide(batch, matched, admitted, fixed, versions)
            rows = [row for row, decision in enumerate(decisions) if decision.is_admitted]
            refused = self._send({row: decisions[row] for row in rows if row not in fixed})
            if not refused:
                break
            fixed |= {row: decisions[row] for row in rows} | refused
        admitted.add(batch, rows, matched.hashes, self.gate.policy.equality)
        self.repeated = len(admitted.ids) - len(admitted.latest)
        if self.templates is None:
            return decisions
        return self.templates.hold(decisions, matched.near)

    def _send(self, decisions: Mapping[int, Decision]) -> dict[int, Decision]:
        """Index the documents of decisions, by row, and return what Solr refuses."""
        if self.delivery is None or not decisions:
            return {}
        documents = [replace(each.document, kept=each.kept()) for each in decisions.values()]
        if self.columns is not None:
            self.columns.require_kept(documents)
        ids = [document.id for document in documents]
        if self.delivery.has_to_verify(self.stretch, ids):
            self._verify()
        encoded = encode_documents(documents, self.delivery.settings)
        answer = self.collection.take([json for json, _ in encoded], ids)
        reasons = {refusal.id: f"Solr refused it: {refusal.reason}" for refusal in answer.refused}
        taken = {each.id: each for each in documents if each.id not in reasons}
        self.stretch.add(Stretch(documents=taken))
        self.stretch.versions.update(answer.versions)
        rejected = ((row, each) for row, each in decisions.items() if each.id in reasons)
        return {
            row: Decision(document=each.document, action=policies.REJECT, reason=reasons[each.id])
            for row, each in rejected
        }
