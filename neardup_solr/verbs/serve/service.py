"""Answers of a service: decisions, near-duplicates, explanations and fields, by a collection.

Its functions are called by several threads at once; `look` by one that does nothing else.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from neardup_solr import errors
from neardup_solr.answers.format import read_answers
from neardup_solr.answers.verdicts import TextVerdicts
from neardup_solr.api.search import search as _search
from neardup_solr.checks import require
from neardup_solr.files import read_state, regular
from neardup_solr.measures import NAMES, measure_named
from neardup_solr.measures.folded import fold_texts
from neardup_solr.minhash import encode_documents
from neardup_solr.progress import LOG
from neardup_solr.records import NOTHING, Document
from neardup_solr.settings_by_name import ANNOTATED, DEFAULT_SETTINGS
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.faults import is_of_solr
from neardup_solr.solr.finder import Cache
from neardup_solr.solr.names import BANDS
from neardup_solr.solr.responses import largest
from neardup_solr.solr.retry import Retry
from neardup_solr.solr.schema import read_schema
from neardup_solr.solr.unsigned import count_unsigned, describe_unsigned
from neardup_solr.solr.update import orders
from neardup_solr.sources.part import Record
from neardup_solr.sources.reading import Reading
from neardup_solr.text.json_list import write_list
from neardup_solr.verbs.explain import explain_pair
from neardup_solr.verbs.explain.explanation import make_record
from neardup_solr.verbs.explain.request import ExplainRequest
from neardup_solr.verbs.gate.answers import GateAnswers, make_answers
from neardup_solr.verbs.gate.decider import Decider, make_finder
from neardup_solr.verbs.gate.decision import Decision
from neardup_solr.verbs.gate.decision_rows import FAILED, make_match
from neardup_solr.verbs.gate.policy import Policy
from neardup_solr.verbs.serve.documents import OF_TEXT, Json, list_missing
from neardup_solr.verbs.serve.filters import require_named
from neardup_solr.verbs.serve.search_request import (
    IN_QUERY,
    list_texts,
    parse_search,
    read_filters,
    require_allowed,
)

RETRY = Retry(attempts=2, seconds=1.0)  # a client that waits learns soon that Solr is unavailable
ANSWER_SECONDS = 5.0  # for Solr's answer
ALLOWED_SECONDS = 4.5  # after which Solr gives up a search
KEPT_SECONDS = 30.0  # for an answer that comes late: so long no more is asked instead
MOST_BYTES = 1 << 28  # of an answer, as several are held at a time
COUNT_SECONDS, COUNT_SHARE = 5.0, 20  # until the next count, or so many times what one takes
COUNTS_HOLD = 12  # of these, for which a count holds if no other can be had
READY_SECONDS = 1.5  # without Solr's answer, until it counts as away
THOROUGH_EVERY = 20  # looks; the others only look at names and settings
MAY_LACK = {"by", "same", "measure"}  # which a collection may have no fields for
MOST_WORDS = 10_000  # of texts with changes
COMPILING = "to compile what is needed"
SEND = 'send JSON such as {"id": "1", "text": "..."}'


class Service:
    """A collection that is served, by a policy, filters, and answers: the arguments of `gate`.

    Clients may also choose a filter by its name (`named`).

    Raises what `gate` raises if the collection cannot be served.
    """

    def __init__(
        self,
        collection: Collection,
        policy: Policy,
        *,
        fq: tuple[str, ...] = (),
        answers: str | Path | None = None,
        named: Mapping[str, str] = NOTHING,
    ) -> None:
        self.collection, self.policy, self.fq, self.named = collection, policy, fq, named
        session = collection.session
        session.retry, session.read_seconds = RETRY, ANSWER_SECONDS
        session.allowed_seconds = ALLOWED_SECONDS
        session.most_bytes = partial(largest, MOST_BYTES)
        self.seen = 0.0  # when Solr last answered, by time.monotonic()
        self.problem: errors.NeardupError | None = None
        self.unsigned: int | None = None  # documents that nothing is compared with, if counted
        self.count_after, self._count_until = COUNT_SECONDS, 0.0
        self._answers = None if answers is None else Path(answers)
        self._answers_state: tuple[int, ...] = ()
        self._verdicts: TextVerdicts | None = None
        self._looks = 0
        self._gate = self._open_gate(collection)
        self.count_gap()
        self.look()
        if self.problem is not None:
            raise self.problem
        self.check([[Document(id="-", text=COMPILING)]])
        fold_texts([COMPILING])  # what an explanation needs, too
        self.seen = time.monotonic()  # compiling takes longer than Solr may be silent
        for query in named.values():
            collection.count([query])  # raises if Solr does not understand it
        if fq and not collection.count(fq):
            LOG.warning("no document currently matches the filters, so no text has near-duplicates")
        if self._answers is not None and not self._answers.exists():
            LOG.warning("%s: the file is missing, so no answers apply", self._answers)

    def _open_gate(self, collection: Collection) -> Decider:
        """Prepare what all requests share, and check that the collection has what is compared."""
        finder = make_finder(collection, self.policy, self.fq, index=False)
        finder.cache = Cache()
        return Decider(finder=finder, policy=self.policy)

    @property
    def description(self) -> str:
        """The collection, and what its documents are compared by, with the bounds."""
        bounds = (f"{action} from {at:g}" for action, at in self.policy.bounds)
        measure = measure_named(self.policy.measure).name
        return f"{self.collection.name} by {measure}: {', '.join(bounds)}"

    @property
    def reading(self) -> Reading:
        """The way in which the documents of requests are read."""
        fields = measure_named(self.policy.measure).fields
        names = self.collection.names
        return Reading(id=names.id, text=names.columns, keep=fields)

    def look(self) -> None:
        """Look whether the collection can be served, and note what is wrong."""
        is_due = self._looks % THOROUGH_EVERY == 0
        self._looks += 1
        if isinstance(self.problem, errors.SolrUnauthorized) and not is_due:
            return  # or it may lock the account
        settings = self._gate.finder.comparer.settings
        try:
            names = self.collection.kept_names()
            is_same = names == self.collection.names
            # What is under way goes on by the names that it had.
            collection = self.collection if is_same else self.collection.with_names(names)
            is_due = is_due or self.problem is not None
            if is_due or not is_same or collection.stored_settings() != settings:
                gate, before = self._open_gate(collection), self._gate.finder.cache
                if is_same and gate.finder.comparer.settings == settings:
                    gate.finder.cache = before
                self._gate, self.collection = gate, collection
            self._look_at_answers()
            self.problem, self.seen = None, time.monotonic()
        except errors.NeardupError as error:
            self.problem = error

    def count_gap(self) -> None:
        """Count the documents without a signature, and warn if there are some, or more.

        If that fails, the count before holds for a while. `look` notes if Solr is unavailable.
        """
        if self.problem is not None:
            return
        collection, start = self.collection, time.monotonic()
        try:
            count = count_unsigned(collection, read_schema(collection), self.fq)
        except errors.NeardupError as error:
            if time.monotonic() > self._count_until:
                LOG.warning("the documents without a signature cannot be counted: %s", error)
                self.unsigned, self._count_until = None, math.inf
            return
        self.count_after = max(COUNT_SECONDS, COUNT_SHARE * (time.monotonic() - start))
        self._count_until = start + COUNTS_HOLD * self.count_after
        if count > (self.unsigned or 0):
            gap, *_ = describe_unsigned(collection, count)
            LOG.warning("%s; until then, new documents are not compared with them", gap)
        self.unsigned = count

    def _look_at_answers(self) -> None:
        """Read the answers of people again if there are new ones."""
        if self._answers is None:
            return
        if (state := read_state(self._answers)) != self._answers_state:
            if not os.path.lexists(self._answers):
                step = "put it back, or an empty file to serve without answers"
                raise errors.SourceError(
                    str(self._answers), "is missing", step, code="file-missing"
                )
            answers = read_answers(self._answers, regular)
            self._verdicts = make_answers(self.collection, answers).verdicts
            self._answers_state = state

    def find_problem(self, seconds: float) -> errors.NeardupError | None:
        """Return what is wrong at the last look, or that Solr has not answered for so long."""
        if self.problem is None and time.monotonic() - self.seen > seconds:
            url = self.collection.url
            return errors.SolrUnreachable(url, "it does not answer", "check that it is running")
        return self.problem

    def make_silence(self) -> errors.SolrUnreachable:
        """Make the error of a request that Solr does not answer in time."""
        step = "check that it is running"
        return errors.SolrUnreachable(self.collection.url, "it did not respond in time", step)

    def keep_threads(self) -> None:
        """Let this thread keep what it has asked Solr until that answers, within a bound."""
        self.collection.session.keep(KEPT_SECONDS)

    def count_silent(self, threads: Iterable[int]) -> int:
        """Count the threads to whom Solr does not answer in time."""
        began, now = self.collection.session.asked, time.monotonic()
        return sum(now - began.get(thread, now) > ANSWER_SECONDS for thread in threads)

    def check(
        self, requests: Sequence[Sequence[Record]], leaves_large: bool = False,
        steps: float = math.inf,
    ) -> list[list[Json] | None]:  # fmt: skip
        """Decide about the documents of each request as a gate of its own does.

        None stands for a request that takes long, and keeps others waiting: one that compares more
        than `steps` pairs of words, or with `leaves_large` one that many documents share a band
        with.
        """
        documents = [[each for each in records if isinstance(each, Document)]
                     for records in requests]  # fmt: skip
        gate, verdicts = self._gate, self._verdicts
        gate = replace(
            gate, finder=replace(gate.finder, is_sure=False, leaves_large=leaves_large),
            answers=None if verdicts is None else GateAnswers(verdicts=verdicts),
        )  # fmt: skip
        answers: list[list[Json] | None] = []
        for records, decisions in zip(requests, gate.decide_apart(documents, steps), strict=True):
            if decisions is None:
                answers.append(None)
                continue
            rest = iter(decisions)
            results = (next(rest) if isinstance(each, Document) else each for each in records)
            answers.append([self.with_gap(self._show(result)) for result in results])
        return answers

    def _show(self, result: Decision | errors.RecordError) -> Json:
        """Make the object of a decision, or of a document that cannot be used."""
        if isinstance(result, errors.RecordError):
            return {"id": result.id, "action": FAILED, "reason": result.reason,
                    "code": result.code, "matches": [], "complete": True}  # fmt: skip
        matches, missing = (
            list(map(make_match, result.matches)),
            list_missing(result.document, self.reading),
        )
        more: Json = {"missing": missing} if missing else {}
        if self.policy.min_words:
            more["passages"] = list(map(asdict, result.passages))
        return {"id": result.id, "action": result.action, "reason": result.reason,
                "matches": matches, "complete": result.complete, **more}  # fmt: skip

    def with_gap(self, answer: Json) -> Json:
        """Add how many documents nothing is compared with to an answer, if there are any."""
        unsigned = self.unsigned
        if unsigned == 0 or answer.get("action") == FAILED:
            return answer
        is_complete = {"complete": False} if "complete" in answer else {}
        return answer | is_complete | {"unsigned": unsigned}

    def is_by_id(self, request: Json) -> bool:
        """Return True if a search has no text, and so is about a document of the collection."""
        return request.keys().isdisjoint({*OF_TEXT, *self.reading.text})

    def search(self, request: Json, *, is_free: bool = False) -> Json:
        """Find the near-duplicates of a text, or of a document, by the measure of the gate.

        A document that is new, or has changed, has its key and its text, by the names of `read`.
        Filters may be more than `rewrite_filters` allows if the client `is_free`.
        """
        request, document_id, missing = parse_search(request, self.reading)
        require_allowed(request, document_id, tuple(self.policy.equality.rules))
        filters = [*self.fq, *read_filters(request, self.named, is_free=is_free)]
        measure = measure_named(self.policy.measure).name
        is_usual = measure in NAMES and request.get("max_distance") is None
        usual: Json = {"measure": measure} if is_usual else {}
        usual["equal"] = self.policy.equality.rules
        collection = self.collection
        try:
            matches = _search(collection, **usual | request | {"fq": filters})
        except errors.SettingsError as error:
            if isinstance(error, errors.ArgumentError) or request.keys().isdisjoint(MAY_LACK):
                raise
            collection.needed_settings()  # raises if the collection is at fault, not the request
            raise errors.ArgumentError(error.reason, error.next_step, code=error.code) from None
        except errors.SolrAnswerError as error:
            is_refused = error.status in (400, 500) and error.passes is not errors.Passes.ALWAYS
            if is_refused and is_of_solr(error) and not request.keys().isdisjoint(IN_QUERY):
                require_named(map(str.strip, list_texts(request.get("fq", ()), "fq")), self.named)
                step = "check `fq` and `same`"
                raise errors.ArgumentError(error.reason, step, code=error.code) from None
            raise
        shown = [make_match(match) | {"text": match.content}
                 for match in matches if match.id != document_id]  # fmt: skip
        return self.with_gap({"matches": shown} | ({"missing": missing} if missing else {}))

    def explain(self, request: Mapping[str, str]) -> Json:
        """Say why two documents are found as near-duplicates or not."""
        for name in ("id", "other_id"):
            step = "request /explain?id=...&other_id=..."
            require(name in request, f"`{name}` is missing", step, code="argument-missing")
        measure = measure_named(self.policy.measure)
        step = "run neardup explain --model instead"
        reason = "with a model, this takes as long as a full report"
        require(not measure.fields, reason, step, code="arguments-conflict")
        limits: Any = {"measure": measure.name, "max_distance": self.policy.max_distance}
        equal = self.policy.equality.rules
        ids = request["id"], request["other_id"]
        pair = ExplainRequest(self.collection, *ids, **limits, equal=equal)
        return make_record(explain_pair(pair), MOST_WORDS)

    def make_entries(self, documents: Sequence[Document]) -> bytes:
        """Compute the fields that `index`, or `annotate`, writes for documents."""
        reading = self.reading
        lacks = {each.id: missing for each in documents if (missing := list_missing(each, reading))}
        more = b',"missing":' + orjson.dumps(lacks) if lacks else b""
        documents = [replace(document, kept=NOTHING) for document in documents]
        names = self.collection.names
        settings = self.collection.known_settings
        if names.is_plain:
            encoded = encode_documents(documents, settings or DEFAULT_SETTINGS)
            return b'{"entries":%s%s}' % (write_list(encoded), more)
        versions = {document.id: 0 for document in documents}
        entries = []
        for order in orders(documents, versions, settings or ANNOTATED, names):
            fields = {name: value for name, value in order.fields.items() if value is not None}
            bands = names.of(BANDS)
            if names.has_numeric_bands and bands in fields:
                fields[bands] = [*map(str, fields[bands])]  # JavaScript would round 64 bits
            entries.append({names.id: order.id, **fields})
        return b'{"entries":%s%s}' % (orjson.dumps(entries), more)
