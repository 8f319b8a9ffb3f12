"""What a service answers: decisions, near-duplicates, explanations and fields, from one collection.

Its functions are called by several threads at once; `look` by one that does nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from neardup_solr.arguments import require
from neardup_solr.errors import NeardupError, RecordError, SolrUnreachable
from neardup_solr.minhash.encode import encode_documents
from neardup_solr.records import NOTHING, Document, make_refusal
from neardup_solr.settings import ANNOTATED, DEFAULT_SETTINGS, Settings
from neardup_solr.solr.collection import Collection
from neardup_solr.solr.update import orders
from neardup_solr.solr.waiting import Retry
from neardup_solr.sources.json import from_objects
from neardup_solr.sources.record import Opened, Reading, Record
from neardup_solr.verbs.explain import explain
from neardup_solr.verbs.explain.verdict import make_record
from neardup_solr.verbs.gate import gate
from neardup_solr.verbs.gate.write import FAILED, make_match
from neardup_solr.verbs.search import search

RETRY = Retry(attempts=2, seconds=1.0)  # a client that waits is told soon that Solr is away
ANSWER_SECONDS = 5.0  # for Solr's answer
MOST_CANDIDATES = 1_000
OF_SEARCH = (
    "text", "id", "by", "candidates", "fq", "same", "measure", "max_distance", "min_similarity",
)  # fmt: skip
SEND = 'send JSON such as {"id": "1", "text": "..."}'

Json = dict[str, Any]


class Service:
    """A collection that is served, by a policy: the arguments of `gate`.

    Raises what `gate` raises if the collection cannot be served.
    """

    def __init__(self, collection: Collection, policy: Mapping[str, Any]) -> None:
        self.policy = policy
        self.collection = collection
        collection.session.retry = RETRY
        collection.session.read_seconds = ANSWER_SECONDS
        self.seen = 0.0  # when Solr last answered, by time.monotonic()
        self.problem: NeardupError | None = None
        self._check([])
        self.look()
        if self.problem is not None:
            raise self.problem

    @property
    def reading(self) -> Reading:
        """How the documents of requests are read."""
        return Reading(text=self.collection.names.columns)

    def look(self) -> None:
        """Look whether the collection can be served, and note what is wrong."""
        try:
            names = self.collection.kept_names()
            if names != self.collection.names:
                self.collection.take_names(names)
            self._check([])
            self.collection.stored_settings()
            self.problem = None
        except NeardupError as error:
            self.problem = error
        else:
            self.seen = time.monotonic()

    def find_problem(self, seconds: float) -> NeardupError | None:
        """Return what is wrong, if it is known, or if Solr has not answered for so long."""
        if self.problem is None and time.monotonic() - self.seen > seconds:
            url = self.collection.url
            return SolrUnreachable(url, "Solr does not answer", "see that it runs")
        return self.problem

    def check(self, given: Sequence[object], *, is_single: bool) -> Json:
        """Decide about documents, as `gate` does."""
        found = list(self.read(given, is_single=is_single))
        decided = iter(self._check([one for one in found if isinstance(one, Document)]))
        made = [
            {"id": one.id, "action": FAILED, "reason": one.reason, "matches": [], "complete": True}
            if isinstance(one, RecordError)
            else next(decided)
            for one in found
        ]
        return made[0] if is_single else {"decisions": made}

    def _check(self, documents: list[Document]) -> list[Json]:
        return [
            {
                "id": one.id,
                "action": one.action,
                "reason": one.reason,
                "matches": list(map(make_match, one.matches)),
                "complete": one.complete,
            }
            for one in gate(documents, self.collection, patience=0, **self.policy)
        ]

    def search(self, asked: Json) -> Json:
        """Find the near-duplicates of a text, or of a document."""
        for name in asked:
            require(name in OF_SEARCH, f"there is no `{name}`", f"give {', '.join(OF_SEARCH)}")
        most = asked.get("candidates", 1)
        few = not isinstance(most, int) or most <= MOST_CANDIDATES
        require(few, f"`candidates` cannot be {most}", f"give at most {MOST_CANDIDATES:,}")
        wanted = asked.get("fq", ())
        if isinstance(wanted, str | list) and self.policy["fq"]:
            wanted = [*self.policy["fq"], *([wanted] if isinstance(wanted, str) else wanted)]
        found = search(self.collection, **asked | {"fq": wanted})
        return {"matches": [make_match(one) | {"text": one.content} for one in found]}

    def explain(self, asked: Mapping[str, str]) -> Json:
        """Say why two documents are found as near-duplicates or not."""
        for name in ("id", "other_id"):
            require(name in asked, f"`{name}` is missing", "ask for /explain?id=...&other_id=...")
        names = ("measure", "max_distance", "model")
        chosen = {name: self.policy[name] for name in names}
        return make_record(explain(self.collection, asked["id"], asked["other_id"], **chosen))

    def make_entries(self, given: Sequence[object], *, is_single: bool) -> bytes:
        """Compute the fields that `index`, or `annotate`, writes for documents."""
        documents = []
        for one in self.read(given, is_single=True):
            assert isinstance(one, Document)
            documents.append(replace(one, kept=NOTHING))
        names, settings = self.collection.names, self._settings()
        if names.is_plain:
            made = [json for json, _ in encode_documents(documents, settings)]
        else:
            versions = dict.fromkeys((one.id for one in documents), 0)
            made = []
            for order in orders(documents, versions, settings, names):
                values = {names.id: orjson.dumps(order.id), **order.values}
                parts = (b'"%s":%s' % (name.encode(), json) for name, json in values.items()
                         if json != b"null")  # fmt: skip
                made.append(b"{%s}" % b",".join(parts))
        return b'{"entries":[%s]}' % b",".join(made)

    def _settings(self) -> Settings:
        usual = DEFAULT_SETTINGS if self.collection.names.is_plain else ANNOTATED
        return self.collection.known_settings or usual

    def read(self, given: Sequence[object], *, is_single: bool) -> Iterator[Record]:
        """Make documents of what a request holds. Raises RecordError for a single one."""
        columns = self.reading.text
        objects = []
        for number, one in enumerate(given):
            if isinstance(one, dict) and "text" in one and not any(c in one for c in columns):
                one = {**one, columns[0]: one["text"]}
            objects.append((f"documents[{number}]", one, b""))
        source = Opened(given="documents", name="documents", path=None, reading=self.reading)
        for found in from_objects(source, objects, self.reading):
            made = make_refusal(found) or found if isinstance(found, Document) else found
            if is_single and isinstance(made, RecordError):
                raise made
            yield made
