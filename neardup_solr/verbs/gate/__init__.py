"""gate: decide whether new documents may come in, by what is already there."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING

from neardup_solr import sources
from neardup_solr.arguments import (
    Action,
    MeasureName,
    OneOrMore,
    checked,
    in_seconds,
    listed,
    require,
    require_positive,
)
from neardup_solr.errors import NeardupError, RecordError, SettingsError
from neardup_solr.measures import floor, measure_named, nearness
from neardup_solr.measures.equality import parse_equality
from neardup_solr.memory import Spill
from neardup_solr.minhash import encode_documents
from neardup_solr.progress import LOG, Failures, OnError, OnProgress, SourceProgress, ignore
from neardup_solr.records import Document, find_problem
from neardup_solr.settings import Settings
from neardup_solr.solr import schema
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.finder import Cache, Finder, Hits, OtherSettings
from neardup_solr.solr.names import BANDS
from neardup_solr.sources import SourceLike, reading_of, rows_hint, size_hint
from neardup_solr.sources.record import Record, check_keep
from neardup_solr.templates import SEVERAL, Template, find_template
from neardup_solr.text.normalize import md5, normalize
from neardup_solr.verbs import search
from neardup_solr.verbs.answer import read_if_given
from neardup_solr.verbs.batch import (
    NearMatch,
    SignedBatch,
    sign_batch,
)
from neardup_solr.verbs.delivery import Delivery, Stretch
from neardup_solr.verbs.gate.matcher import Admitted, Matched, keep_equal, match_hits
from neardup_solr.verbs.gate.policy import HOLD, REJECT, TAG_FIELD, Decision, Decisions, Policy
from neardup_solr.verbs.index import ColumnsToKeep

if TYPE_CHECKING:
    from neardup_solr.answers import Answer
    from neardup_solr.answers.verdicts import Answered
    from neardup_solr.verbs.gate.answered import GateAnswers

MOST_TEXTS, MOST_GROUPS = 50, 1_000  # that are looked at to know a template, and such groups
ALIKE, MOST_WORDS = 0.5, 64  # that texts of a template share at least, of so many that are drawn
VERIFIED_EVERY = 10_000  # documents that were indexed
MOST_AT_ONCE = 1_000  # documents that one query asks about
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
    id: str | None = None,
    text: OneOrMore | None = None,
    keep: OneOrMore | None = None,
    on_error: OnError | None = None,
    on_progress: OnProgress | None = None,
) -> Decisions:
    """A decision for each document of a source, in order: allow, tag, hold or reject.

    Decisions are made, and with `index` documents indexed, as the result is read, by a `for` loop
    or `list()`; `.to_pandas()`, `.to_polars()` and `.to_arrow()` of it make a table of all that are
    left. If it is never read, a RuntimeWarning says that nothing is indexed.

    A document is compared with the documents of the collection that share an LSH band with it, and
    with earlier ones that were admitted; never with a document of the same id, which it would
    replace. It is tagged, held or rejected if its similarity (0..1) to the nearest one, by
    `measure`, is at least `tag`, `hold` or `reject` (default: it is tagged from the threshold of
    the measure on). Documents more than `max_distance` words apart are not near. A document whose
    normal form is already there gets at least the action `exact`. With `equal`, documents are near
    only if they have the "numbers" in common, or what a regular expression finds, as for
    `duplicates`. Only documents that match `fq`, Solr filter queries, count. `model` names a file
    that `tune` has written, by which they are compared; the similarity is then the probability of a
    match, and the fields of the model are read and kept as by `keep`. `answers` names a file, or a
    collection, with the answers of people: a document that was judged different is not near, and
    one that was judged the same gets at least the action `exact`, whatever their similarity is;
    `answered` of the result has them.

    Documents that would be rejected for their similarity, and differ from each other only where all
    of them do, are a template, such as alerts of several hosts: from the batch on in which five
    such have come they are held, unless `yes` is given. Exact copies are rejected all the same.

    With `index`, admitted documents are indexed: a decision is given once Solr has the document,
    and what Solr refuses is rejected. Now and then, and after the last one that is read, they are
    committed and looked for, and what Solr has lost is sent again. `replaces` of a decision tells
    if it took the place of a document of the same id. A Solr that is away or restarts is waited
    for, at most `patience` (seconds, or "5m") each time. One query asks about `batch` documents, as
    soon as they have been read; a decision names at most `most` matches. `id`, `text` and `keep`
    name columns of the source, as for `index`; by default `text` are the text fields of a
    collection of somebody else's, as `init` has kept them. With `index`, a document that replaces
    another one has to bring its columns, and without them nothing more is sent, unless `keep` says
    which to keep. A document that cannot be indexed is rejected with the reason; a record that
    makes no document goes to `on_error` (default: a warning is logged). `on_progress` is told how
    far the work is. Documents of the collection that have no signature are not found: `gaps` of the
    result counts them.

    Raises SettingsError if the collection lacks what is compared, SourceError if the source cannot
    be read as a whole, SolrError if Solr does not answer: earlier decisions are still valid.
    """
    if index:
        check_keep(listed(keep or ()))
    policy = Policy(
        tag=tag,
        hold=hold,
        reject=reject,
        exact=exact,
        measure=measure,
        max_distance=max_distance,
        equality=parse_equality(equal),
    )
    fits, filters = 1 <= batch <= MOST_AT_ONCE, listed(fq)
    require(fits, f"`batch` cannot be {batch}", f"give 1 to {MOST_AT_ONCE:,}")
    require_positive(most=most)
    chosen = measure_named(search.measure_by(collection, measure, model, max_distance))
    policy = replace(policy, measure=chosen)
    judged = read_if_given(answers)
    if chosen.fields:
        keep = tuple(dict.fromkeys([*listed(keep or ()), *chosen.fields]))
    usual = text or collection.names.columns
    source, reading = reading_of(source, "refuse", id=id, text=usual, keep=keep, at_once=True)
    failures = Failures(on_error)
    progress = SourceProgress(
        stage="deciding",
        on_progress=on_progress or ignore,
        rows=rows_hint(source),
        size=size_hint(source),
    )
    records = sources.records(source, reading=reading, on_progress=progress.count_bytes)
    finder = make_finder(collection, policy, filters, index=index, may_be_known=True)
    if index:
        collection.require_placed()
    run = GateRun(
        collection=collection,
        finder=finder,
        policy=policy,
        batch=batch,
        most=most,
        failures=failures,
        progress=progress,
        delivery=Delivery(
            collection=collection,
            settings=finder.comparer.settings,
            as_record=lambda one: {reading.id: one.id, reading.text[0]: one.text, **one.kept},
        )
        if index
        else None,
        patience=in_seconds(patience, "patience"),
        columns=ColumnsToKeep(collection, {TAG_FIELD}) if index and keep is None else None,
        answers=None if judged is None else make_answers(collection, judged),
        yes=yes,
    )
    return Decisions(
        run.decide(records),
        failures,
        run.find_gaps,
        is_indexing=index,
        count_answers=run.count_answers,
    )


def make_answers(collection: Collection, judged: list[Answer]) -> GateAnswers:
    """Prepare answers for a gate, by the texts of the documents that are there."""
    from neardup_solr.answers.verdicts import TextVerdicts
    from neardup_solr.verbs.gate.answered import GateAnswers
    from neardup_solr.verbs.verdicts import read_hashes

    return GateAnswers(verdicts=TextVerdicts(judged, read_hashes(collection, judged)))


def make_finder(
    collection: Collection,
    policy: Policy,
    filters: tuple[str, ...],
    *,
    index: bool,
    may_be_known: bool = False,
) -> Finder:
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
        collection.require_fields(["id", *(settings.fields if index else needed)])
    comparer = search.comparer_for(collection, settings, policy.measure, policy.limits)
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
        reason = "the documents of this collection are written by another program"
        next_step = "leave `index` out, let that program write what is admitted, then annotate"
        raise SettingsError(reason, next_step)
    stored = collection.stored_settings()
    if stored is None and collection.count():
        # Raises: nothing would ever be near to documents without our fields.
        stored = collection.needed_settings()
    return collection.choose_settings(None) if index else stored or Settings()


@dataclass(slots=True, kw_only=True)
class GateRun:
    """Decides about documents, one after the other.

    With a `delivery` they are indexed; `stretch` holds what is not verified yet. `rejected` has
    the words of a document and the normal forms of some like it, by one that it is near to, and
    `templates` those of them that are held instead if not `yes`.
    """

    collection: Collection
    finder: Finder
    policy: Policy
    batch: int = 50
    most: int = 100
    failures: Failures
    progress: SourceProgress
    delivery: Delivery | None = None
    patience: float = 0.0
    columns: ColumnsToKeep | None = None
    answers: GateAnswers | None = None
    yes: bool = True
    stretch: Stretch = field(default_factory=Stretch)
    rejected: dict[str, tuple[set[str], list[str]]] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)

    def find_gaps(self) -> list[str]:
        """Say how many documents of the collection have no signature."""
        found = schema.read_schema(self.collection)
        count = schema.count_unsigned(self.collection, found, self.finder.filters)
        return schema.describe_unsigned(self.collection, count)

    def count_answers(self) -> Answered | None:
        """Count the answers about documents that have come, if any answers were given."""
        return None if self.answers is None else self.answers.count()

    def decide(self, records: Iterable[Record]) -> Iterator[Decision | RecordError]:
        """Decide about documents, batch by batch. Other records stay in their places."""
        remaining, done = iter(records), 0
        outages = self.collection.session.outages
        with Spill() as spill, outages.waited_for(self.patience):
            admitted = Admitted(known=spill.strings())
            try:
                while batch := list(islice(remaining, self.batch)):
                    documents = [one for one in batch if isinstance(one, Document)]
                    decided = iter(self._decide_batch(documents, admitted))
                    for one in batch:
                        yield next(decided) if isinstance(one, Document) else one
                    done += len(batch)
                    self.progress.report(done, done)
                    if len(self.stretch.documents) >= VERIFIED_EVERY:
                        self._verify()
            except KeyboardInterrupt:
                outages.stop_waiting()
                with suppress(NeardupError):
                    self._verify()
                raise
            except GeneratorExit:  # whoever reads the decisions stops early, as by `break`
                outages.stop_waiting()
                self._verify()
                raise
            self._verify()
        self.failures.warn()
        if self.answers is not None:
            self.answers.count().warn()
        for template in self.templates.values():
            LOG.warning("held, not rejected, as it seems to be a template: %s; with `yes` such are"
                        " rejected", template)  # fmt: skip

    def _verify(self) -> None:
        """See that Solr has what was indexed, and report what it loses each time as failed."""
        if self.delivery is not None:
            self.delivery.verify(self.stretch)
            for error in self.stretch.dead:
                self.failures.add(error)
            self.stretch = Stretch()

    def _decide_batch(self, documents: Sequence[Document], admitted: Admitted) -> list[Decision]:
        """Decide about documents; those that cannot be indexed are rejected."""
        problems = [find_problem(document) for document in documents]
        usable = [one for one, reason in zip(documents, problems, strict=True) if reason is None]
        judged = iter(self._judge(usable, admitted) if usable else ())
        return [
            next(judged)
            if reason is None
            else Decision(document=document, action=REJECT, reason=reason)
            for document, reason in zip(documents, problems, strict=True)
        ]

    def _judge(self, documents: Sequence[Document], admitted: Admitted) -> list[Decision]:
        """Make final decisions, and admit documents by them."""
        batch, found = self._find(documents)
        decisions, rows, matched = self._judge_found(batch, found, admitted)
        admitted.add(batch, rows, matched.hashes, self.policy.equality)
        return decisions if self.yes else self._hold_templates(decisions)

    def _hold_templates(self, decisions: list[Decision]) -> list[Decision]:
        """Hold what is rejected only for a likeness that is that of a template."""
        groups = [self._group(one) if one.action == REJECT else "" for one in decisions]
        for id in {*groups} - {""}:
            template = self.templates.get(id) or find_template(id, 0, 0.0, self.rejected[id][1])
            if template and template.is_regular and template.texts >= SEVERAL:
                held = template.documents + groups.count(id)
                self.templates[id] = replace(template, documents=held)
        return [
            replace(one, action=HOLD, reason=f"{one.reason}, but as in a template")
            if id in self.templates
            else one
            for one, id in zip(decisions, groups, strict=True)
        ]

    def _group(self, decision: Decision) -> str:
        """Group a rejected document with others like it, "" if it is an exact copy."""
        bound, ids = self.policy.reject, [match.id for match in decision.matches]
        if bound is None or not ids or not floor(bound) <= decision.matches[0].similarity < 1:
            return ""
        form, least = normalize(decision.document.text), floor(max(2 * bound - 1, ALIKE))
        words = {*sorted({*form.split()}, key=md5)[:MOST_WORDS]}  # a sample
        alike = (
            id
            for id, (known, _) in self.rejected.items()
            if id in ids or len(words & known) >= least * max(len(words), len(known))
        )
        id = next(alike, ids[0])
        _, forms = self.rejected[id] = self.rejected.pop(id, (words, []))  # at the end
        if len(forms) < MOST_TEXTS:
            forms.append(form)
        if len(self.rejected) > MOST_GROUPS:
            del self.rejected[next(iter(self.rejected))]
        return id

    def decide_apart(self, requests: Sequence[Sequence[Document]]) -> list[list[Decision] | None]:
        """Decide about the documents of each request as a gate of its own does.

        Solr is asked about all at once. Nothing is indexed, and all of them could be. None stands
        for a request that the finder leaves.
        """
        documents = [one for each in requests for one in each]
        batch, found = self._find(documents)
        nobody = Admitted(known=Spill().strings())
        ends = list(accumulate(map(len, requests), initial=0))
        rows = map(slice, ends[:-1], ends[1:])
        return [
            None
            if any(each.is_left for each in found[one])
            else self._judge_found(batch.part(one), found[one], nobody)[0]
            for one in rows
        ]

    def _find(self, documents: Sequence[Document]) -> tuple[SignedBatch, Sequence[Hits]]:
        """Sign documents, and find what shares a band with each."""
        batch = sign_batch(documents, self.finder.comparer)
        terms = batch.terms()
        try:
            hits = self.finder.hits(terms, batch.forms)
            return batch, self.finder.add_nearest(terms, hits)
        except OtherSettings:  # the collection has other documents than before
            before, is_indexing = self.finder, self.delivery is not None
            finder = make_finder(self.collection, self.policy, before.filters, index=is_indexing)
            cache = None if before.cache is None else Cache()
            self.finder = replace(finder, cache=cache, leaves_large=before.leaves_large)
            return self._find(documents)

    def _judge_found(
        self, batch: SignedBatch, found: Sequence[Hits], admitted: Admitted
    ) -> tuple[list[Decision], list[int], Matched]:
        """Make final decisions: what Solr refuses is rejected, and then keeps no others out.

        Returns the rows that are admitted, too, and what was near to each.
        """
        matched = match_hits(self.finder, batch, found, admitted)
        if self.policy.equality:
            matched = keep_equal(self.policy.equality, self.collection, batch, matched, admitted)
        if self.answers is not None:
            matched = self.answers.obey(self.collection, self.finder, batch, matched, admitted)
        documents, there = batch.documents, dict[str, int]()
        if self.delivery is not None:
            there = self.collection.versions(sorted({one.id for one in documents}))
        fixed: dict[int, Decision] = {}
        while True:
            decisions = self._decide_in_order(batch, matched, fixed, admitted, there)
            rows = [row for row, one in enumerate(decisions) if one.is_admitted]
            refused = self._send(decisions, [row for row in rows if row not in fixed])
            if not refused:
                return decisions, rows, matched
            fixed |= {row: decisions[row] for row in rows} | refused

    def _decide_in_order(
        self,
        batch: SignedBatch,
        matched: Matched,
        fixed: Mapping[int, Decision],
        admitted: Admitted,
        there: Mapping[str, int],
    ) -> list[Decision]:
        """Decide one after the other: an admitted document counts for those that follow.

        With `index`, one whose id is `there`, or was sent by this run, replaces that.
        """
        latest = ChainMap[str, int]({}, admitted.latest)
        numbers: dict[int, int] = {}  # of rows that are admitted

        def counts(one: NearMatch, id: str) -> bool:
            """Return True for another document, admitted, and no later one with its id."""
            met = one.met
            number = met.number if met.row is None else numbers.get(met.row, _NOT_ADMITTED)
            return met.id != id and latest.get(met.id) == number

        decisions = []
        for row, document in enumerate(batch.documents):
            near = [one for one in matched.near[row] if counts(one, document.id)]
            same = [one for one in matched.same.get(row, ()) if counts(one, document.id)]
            words = int(batch.words[row])
            decision = fixed.get(row) or self._decide_one(document, near, same, words)
            is_known = self.delivery is not None and (document.id in there or document.id in latest)
            decisions.append(
                replace(
                    decision,
                    complete=not matched.is_cut[row],
                    replaces=decision.is_admitted and is_known,
                )
            )
            if decision.is_admitted:
                numbers[row] = latest[document.id] = len(admitted.ids) + len(numbers)
        return decisions

    def _decide_one(
        self, document: Document, near: list[NearMatch], same: list[NearMatch], words: int
    ) -> Decision:
        near.sort(key=lambda one: nearness(one.match))
        matches = [one.match for one in near]
        exact = next((one.match for one in near if one.is_equal), None)
        others = sorted((one.match for one in same), key=nearness)
        action, reason = self.policy.judge(matches, exact, next(iter(others), None))
        known = {one.id for one in matches}
        matches = [*matches, *(one for one in others if one.id not in known)]
        return Decision(
            document=document,
            action=action,
            reason=reason if words else "it has no words to compare",
            matches=tuple(matches[: self.most]),
        )

    def _send(self, decisions: Sequence[Decision], rows: Sequence[int]) -> dict[int, Decision]:
        """Index these rows, and return what Solr refuses, by row."""
        if self.delivery is None or not rows:
            return {}
        documents = [replace(decisions[row].document, kept=decisions[row].kept()) for row in rows]
        if self.columns is not None:
            self.columns.require_kept(documents)
        ids = [one.id for one in documents]
        if self.delivery.has_to_verify(self.stretch, ids):
            self._verify()
        encoded = encode_documents(documents, self.delivery.settings)
        answer = self.collection.take([json for json, _ in encoded], ids)
        reasons = {one.id: f"Solr refused it: {one.reason}" for one in answer.refused}
        taken = {one.id: one for one in documents if one.id not in reasons}
        self.stretch.add(Stretch(documents=taken))
        self.stretch.versions.update(answer.versions)
        return {
            row: Decision(document=decisions[row].document, action=REJECT, reason=reasons[id])
            for row, id in zip(rows, ids, strict=True)
            if id in reasons
        }
