"""A collection in Solr: its documents, their settings, and the names of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from neardup_solr import errors
from neardup_solr.errors import SettingsError, SolrAnswerError, SolrUnreachable, counted
from neardup_solr.records import NOTHING
from neardup_solr.settings import Settings
from neardup_solr.settings_by_name import require_possible, settings_of
from neardup_solr.sizes import SIZES
from neardup_solr.solr import cloud, export, faults, nodes, query, refusals, responses
from neardup_solr.solr.access import Access, Connection
from neardup_solr.solr.address import split_address
from neardup_solr.solr.core import DOCS, EXACT, JSON, SELECT, Core, Endpoint
from neardup_solr.solr.halves import ask_by_halves, in_halves
from neardup_solr.solr.names import ID, PLAIN, SETTINGS, TEXT, VERSION, Names, require_name
from neardup_solr.solr.refusals import Refusal, Sent
from neardup_solr.solr.session import open_session
from neardup_solr.text.json_list import JsonList, write_list

_WITH_VERSIONS = {**EXACT, "versions": "true", "wt": "json"}
Ask = Callable[[query.Request], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionState:
    """State of a collection at a moment: its number of documents and the newest version."""

    documents: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The first documents that a request finds, how many it finds, and what was counted."""

    documents: list[dict[str, Any]]
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)


class Collection(Core):
    """Core or collection in Solr, opened by `connect` and passed to other functions."""

    def add(self, documents: Sequence[bytes | Mapping[str, Any]]) -> tuple[Refusal, ...]:
        """Send documents as they are. Documents of the same id are replaced.

        A document is a mapping, or bytes that are already its JSON.
        Returns the documents that Solr refused; the others are taken, and durable once committed.
        """
        return self.take(documents).refused

    def take(
        self, documents: Sequence[bytes | Mapping[str, Any]], ids: Sequence[str] | None = None
    ) -> Sent:
        """Send documents, as `add` does, and tell which versions they got.

        In a SolrCloud the versions of documents with `ids` are the lowest they can have, 1 if
        they are new: a node that passes documents on does not tell them, and may lose what it took.
        A request that is too large (413), or that Solr refuses because of a document (400, if no
        tolerant chain names it), is sent again in halves; a single document is refused.
        """
        if isinstance(documents, JsonList) and self.names.is_plain:
            spelled: Sequence[bytes] = documents
        else:
            spelled = list(map(self._json_of, documents))

        def send(part: Sequence[int]) -> Sent:
            rows = slice(part[0], part[-1] + 1) if part else slice(0)
            named = ids[rows] if ids else ()
            before = self.versions(named) if self.session.nodes.is_cloud else None
            decoded = self.post("update", write_list(spelled[rows]), params=_WITH_VERSIONS)
            if before is None:
                versions = refusals.versions_in(decoded)
            else:
                versions = {id: before.get(id, 0) + 1 for id in named}
            versions = {id: version for id, version in versions.items() if version > 0}
            return Sent(refused=refusals.parse_refusals(self.url, decoded), versions=versions)

        def id_of(number: int) -> str:
            return str(orjson.loads(spelled[number]).get(self.names.id))

        return in_halves(range(len(spelled)), send, id_of)

    def commit(self) -> None:
        """Make what was sent durable and visible to searches (a hard commit)."""
        self._edit({"commit": {"waitSearcher": True}}, faults.LOG)

    def commit_if_allowed(self) -> bool:
        """Commit, and return False if this user may only read."""
        try:
            self.commit()
        except errors.SolrUnauthorized as error:
            if error.status != 403:
                raise
            return False
        return True

    def delete_ids(self, ids: Sequence[str]) -> None:
        """Delete documents by id. Ids without a document are no error."""
        # As JSON: an id may hold what XML cannot.
        if ids:
            self._edit({"delete": list(ids)}, "check the ids")

    def delete_query(self, filter: str) -> None:
        """Delete the documents that a query in Solr's syntax matches.

        Raises SolrAnswerError if Solr does not understand the query.
        """
        self._edit({"delete": {"query": filter}}, "check the query")

    def select(
        self,
        request: query.Request,
        *,
        fields: Sequence[str],
        limit: int,
        counting: Mapping[str, str] = NOTHING,
    ) -> Selection:
        """At most `limit` of the documents that a request finds, with these fields.

        `counting` has queries by name, each to count its matches in the whole collection. They may
        refer to the request's parameters.
        """
        wanted: dict[str, Any] = {"fields": list(fields), "limit": limit}
        if counting:
            facet = {"type": "query", "domain": {"query": "*:*"}}
            wanted["facet"] = {name: {**facet, "q": filter} for name, filter in counting.items()}
        decoded = self.ask(request | wanted, DOCS | {"facets": dict} if counting else DOCS)
        counted = decoded["facets"] if counting else {}
        responses.require_rows((counted.get(name) for name in counting), {"count": int}, self.url)
        return Selection(
            documents=self.names.logical_all(decoded["response"]["docs"], fields),
            total=decoded["response"]["numFound"],
            counts={name: counted[name]["count"] for name in counting},
        )

    def select_if(
        self, request: query.Request, fingerprint: str, *, fields: Sequence[str], limit: int
    ) -> Selection | None:
        """Select documents if these are the settings of all documents that have any, else None.

        One request asks for both.
        """
        request, counting = query.counting_settings(request, fingerprint)
        selection = self.select(request, fields=fields, limit=limit, counting=counting)
        counts = selection.counts
        return selection if counts["these"] == counts["any"] > 0 else None

    def terms(self, field: str, values: Sequence[str]) -> query.Terms:
        """Terms to look for in a field, as this collection spells them."""
        return query.Terms(field=field, values=self.names.terms(field, values))

    def count(self, filters: Sequence[str] = (), *, ids: Sequence[str] | None = None) -> int:
        """Count the documents that match all filters, with `ids` only those.

        In a SolrCloud the leaders answer, as another replica may lag behind.
        """

        def count(some: Sequence[str] | None) -> list[int]:
            wanted = {"query": "*:*"} if some is None else query.by_ids(some)
            request = wanted | {"filter": list(filters), "limit": 0}
            return [self.ask(query.of_leaders(request), DOCS)["response"]["numFound"]]

        return sum(count(None) if ids is None else ask_by_halves(list(dict.fromkeys(ids)), count))

    def seen(self, ids: Sequence[str], since: int) -> int:
        """Count those of these documents that a search finds in this version or later.

        In a SolrCloud the leaders answer, as for `count`.
        """
        newer = [f"{{!cache=false}}{VERSION}:[{since} TO *]"] if since else []
        return self.count(newer, ids=ids)

    def copies(self, required: Mapping[str, int]) -> int | None:
        """Count the replicas of each shard that have these documents, in this version or later.

        It is the smallest number over the shards of a SolrCloud, the leader included; 0 if a leader
        lacks a document or does not answer, None if the cluster does not tell of its replicas.
        """
        ids = list(required)

        def ask_once(request: query.Request, replica: str) -> dict[str, Any]:
            """Ask a replica once, by the node we talk to."""
            body = orjson.dumps(self.names.request(query.of_replica(request, replica)))
            sent: dict[str, Any] = {"data": body, "headers": JSON, "params": SELECT}
            return self.session.once("POST", f"{self.url}/select", DOCS, **sent)

        def has(replica: str) -> Mapping[str, int] | None:
            with suppress(SolrUnreachable, SolrAnswerError, errors.CoreMissing):
                return self._versions(ids, lambda request: ask_once(request, replica))
            return None

        return self.cluster().copies(required, has)

    def require_placed(self, min_replicas: int = 1) -> None:
        """Refuse a collection in which Solr cannot know where our documents belong.

        Raises SettingsError, and ArgumentError if its shards do not have so many replicas.
        """
        if self.session.nodes.is_cloud is False:
            cloud.require_single(min_replicas=min_replicas)
            return
        cluster = self.cluster()
        if not cluster.nodes and min_replicas > 1:
            reason = f"the cluster does not report the replicas of {self.name!r}"
            raise SettingsError(reason, "let this user read the cluster status, or leave"
                                " `min_replicas` out", code="solr-unauthorized")  # fmt: skip
        cluster.require_placed(self.name, min_replicas)

    def versions(self, ids: Sequence[str]) -> dict[str, int]:
        """Read the versions of documents as a search finds them. Those missing are left out."""
        return self._versions(ids, lambda request: self.ask(query.of_leaders(request), DOCS))

    def _versions(self, ids: Sequence[str], ask: Ask) -> dict[str, int]:
        return {doc["id"]: doc.get(VERSION, 0) for doc in self._read_pages(ids, [VERSION], ask)}

    def document(self, id: str, fields: Sequence[str]) -> dict[str, Any]:
        """The stored fields of the document with exactly this id.

        Raises DocumentNotFound if it does not exist.
        """
        request = query.by_id(id) | {"fields": [ID, *fields], "limit": 1}
        docs = self.ask(request, DOCS)["response"]["docs"]
        if not docs:
            raise errors.DocumentNotFound(self.url, id)
        if (other := str(docs[0][self.names.id])) != id:
            reason = f"the response has the document {other!r} instead of {id!r}"
            raise SolrAnswerError(self.url, 200, reason, faults.LOG_AGAIN, code="answer-partial")
        return self.names.logical(docs[0], fields)

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Read the texts of documents by id. Ids without a document are left out."""
        return {doc["id"]: doc.get(TEXT, "") for doc in self.stored(ids, [TEXT])}

    def stored(
        self, ids: Sequence[str], fields: Sequence[str], *, of_leaders: bool = False
    ) -> list[dict[str, Any]]:
        """Read the id and fields of documents by pages. Ids without a document are left out."""
        choose = query.of_leaders if of_leaders else dict
        return self._read_pages(ids, fields, lambda request: self.ask(choose(request), DOCS))

    def whole(self, ids: Sequence[str], filters: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Read all fields of documents that Solr gives back, by the collection's names.

        Each is read at the same moment as the filters and the version.
        """

        def read(some: Sequence[str]) -> list[dict[str, Any]]:
            wanted = {"fields": ["*", ID, VERSION], "filter": list(filters), "limit": len(some)}
            request = query.at_once(query.by_ids(some)) | wanted
            return list(self.ask(request, DOCS)["response"]["docs"])

        return ask_by_halves(ids, read)

    def _read_pages(
        self, ids: Sequence[str], fields: Sequence[str], ask: Ask
    ) -> list[dict[str, Any]]:
        docs: list[dict[str, Any]] = []
        wanted = [ID, *fields]

        def read(page: Sequence[str]) -> list[dict[str, Any]]:
            request = query.by_ids(page) | {"fields": wanted, "limit": len(page)}
            return list(ask(query.at_once(request))["response"]["docs"])

        for at in range(0, len(ids), query.PAGE):
            page = ask_by_halves(ids[at : at + query.PAGE], read)
            docs += self.names.logical_all(page, wanted)
        return docs

    def ids(self, filters: Sequence[str] = ()) -> Iterator[str]:
        """The ids of all documents that match all filters, by code point, page by page.

        Others may add documents meanwhile: no id comes twice, but it is no snapshot. They may
        be fewer than were announced if some were deleted.
        Raises SolrAnswerError if an id comes twice, or if fewer came than still exist.
        """
        import pysolr

        params = {
            "fq": list(filters),
            "fl": self.names.id,
            "sort": f"{self.names.id} asc",
            "rows": SIZES.page_of_ids,
            "cursorMark": "*",
            **SELECT,
        }

        def page(decoded: dict[str, Any], following: Any = None) -> Any:
            """A page as pysolr reads it, once it is sure to be a page."""
            responses.require_parts(decoded, {**DOCS, "nextCursorMark": str}, self.url)
            responses.require_page(decoded, {"limit": len(decoded["response"]["docs"])}, self.url)
            responses.require_once(decoded["response"]["docs"], self.names.id, self.url)
            responses.require_single(decoded["response"]["docs"], [self.names.id], self.url)
            return pysolr.Results(decoded, following)

        solr = pysolr.Solr(self.url, session=self.session, results_cls=page)
        results = solr.search("*:*", **params)
        count, last = 0, None
        for document in results:
            id = document[self.names.id]
            if id == last:
                reason = f"Solr returned the id {id!r} twice"
                raise SolrAnswerError(
                    self.url, 200, reason, faults.LOG_AGAIN, code="answer-partial"
                )
            yield str(id)
            count, last = count + 1, id
        if count < results.hits and count < self.count(filters):
            reason = f"Solr returned only {count:,} of {results.hits:,} ids"
            raise SolrAnswerError(self.url, 200, reason, faults.LOG_AGAIN, code="answer-partial")

    def exported(
        self,
        fields: Sequence[str],
        shards: Sequence[str] | None = None,
        *,
        filters: Sequence[str] = (),
        parts: int = 1,
    ) -> Iterator[export.Block]:
        """These docValues fields of all documents, in blocks of some thousands, whole or refused.

        In the order of the ids if the collection has a single shard; that exports so many `parts`
        of its documents at the same time. `shards` are addresses of those that are wanted alone,
        `filters` what all documents have to match.
        Raises SolrAnswerError if the export broke off, which Solr reports inside a success.
        """
        wanted = ",".join(self.names.fields(fields))
        sort = f"{self.names.id} asc"
        params = {"q": "*:*", "fq": list(filters), "sort": sort, "fl": wanted, **EXACT}
        if filters:
            # By the operator and field by which /select reads a query that names none.
            body = orjson.dumps({"query": "*:*", "limit": 0})
            echo = {**SELECT, "echoParams": "all"}
            echoed = self.post("select", body, DOCS, params=echo)["responseHeader"].get(
                "params", {}
            )
            params |= {name: str(echoed[name]) for name in ("q.op", "df") if name in echoed}
        blocks = export.blocks(self.session, shards or self.shards(), params, parts=parts)
        names = self.names

        def read(block: export.Block) -> export.Block:
            responses.require_single(block, names.single, self.url)
            return block if names.is_plain else names.logical_all(block, fields)

        return (read(block) for block in blocks)

    def export(self, fields: Sequence[str]) -> list[dict[str, Any]]:
        """Read these docValues fields of all documents, by their ids. See `exported`."""
        documents = [document for block in self.exported(fields) for document in block]
        return sorted(documents, key=lambda document: str(document["id"]))

    def state(self) -> CollectionState:
        """The number of documents and the newest version: any change of a document changes it."""
        request = {"query": "*:*", "limit": 1, "sort": "_version_ desc", "fields": ["_version_"]}
        page = self.ask(request, DOCS)["response"]
        responses.require_rows(page["docs"], {VERSION: int}, self.url)
        newest = page["docs"][0][VERSION] if page["docs"] else 0
        return CollectionState(documents=page["numFound"], version=newest)

    def _json_of(self, document: bytes | Mapping[str, Any]) -> bytes:
        if isinstance(document, bytes) and self.names.is_plain:
            return document
        fields = orjson.loads(document) if isinstance(document, bytes) else document
        return orjson.dumps(self.names.physical(fields))

    def values(self, name: str, filters: Sequence[str] = ()) -> dict[str, int]:
        """The values of a docValues field, with the number of documents that have each.

        Only documents that match all filters are counted.
        """
        facet = {"type": "terms", "field": self.names.of(name), "limit": -1}
        request = {"query": "*:*", "filter": list(filters), "limit": 0, "facet": {"values": facet}}
        try:
            facets = self.ask(request, {"facets.count": int})["facets"]
        except SolrAnswerError as error:
            if f'undefined field: "{self.names.of(name)}"' not in error.reason:
                raise
            # A field that was added after the last commit is in the schema, and in no document.
            self.require_fields([name])
            return {}
        # Without any document the answer has no facet at all.
        listed = {"buckets": []} if facets["count"] == 0 else facets.get("values")
        responses.require_rows([listed], {"buckets": list}, self.url)
        responses.require_rows(listed["buckets"], {"val": object, "count": int}, self.url)
        return {str(bucket["val"]): bucket["count"] for bucket in listed["buckets"]}

    @property
    def known_settings(self) -> Settings | None:
        """The settings of the documents at the last look. They may have changed."""
        return self.endpoint.settings

    def stored_settings(self) -> Settings | None:
        """Read the settings that are stored with the documents, None if no document has any.

        Raises SettingsError if documents differ in them, SchemaError if the field is missing.
        """
        last, everything = self.known_settings, {"query": "*:*"}
        if last and self.select_if(everything, last.fingerprint, fields=[ID], limit=0):
            return last
        self.require_fields([SETTINGS])
        counts = self.values(SETTINGS)
        if len(counts) > 1:
            each = (f"{counted(count, 'document')} with [{text}]" for text, count in counts.items())
            shown = "; ".join(each)
            step = f"finish the interrupted reband, or see: neardup doctor {self.place}"
            reason = f"the collection has mixed settings: {shown}"
            raise SettingsError(reason, step, code="settings-differ")
        self.endpoint.settings = next(map(Settings.parse, counts), None)
        return self.known_settings

    def needed_settings(self) -> Settings:
        """As `stored_settings`, of a collection that has to have some.

        Raises SettingsError also if it is empty or not annotated.
        """
        settings = self.stored_settings()
        if settings is not None:
            return settings
        if count := self.count():
            documents = counted(count, "document")
            reason = f"none of the {documents} in {self.name!r} has fields to compare"
            step = f"add them first: neardup annotate {self.place}"
            raise SettingsError(reason, step, code="fields-missing")
        reason = f"the collection {self.name!r} has no documents"
        step = f"index some: neardup index FILE {self.place}"
        raise SettingsError(reason, step, code="collection-empty")

    def choose_settings(
        self,
        wanted: Settings | Mapping[str, Any] | None,
        usual: Settings | Callable[[], Settings] | None = None,
        step: str = "leave these settings out to use the stored ones, or index into a different"
        " collection",
    ) -> Settings:
        """The settings to index with: those wanted, else those stored, else the usual settings.

        A mapping names some of them. The usual settings are those of `annotate` if the
        collection has other names for our fields. A function that chooses them is called only
        if none are stored.

        Raises ArgumentError if any of them is impossible, before Solr is asked; SettingsError that
        shows both if wanted and stored settings differ, with the next `step`.
        """
        require_possible(wanted)
        # Searches do not see documents of an interrupted run yet, but they count.
        self.commit()
        stored = self.stored_settings()
        if callable(usual):
            usual = usual() if stored is None else stored
        base = stored or usual or self.names.usual_settings
        if wanted is None:
            return base
        wanted = settings_of(wanted, base)
        differs = base != wanted or wanted.measure not in (None, base.measure)
        if stored is not None and differs:
            reason = f"the collection was indexed with [{stored.fingerprint}]"
            raise SettingsError(
                f"{reason}, but [{wanted.fingerprint}] was requested", step, code="settings-differ"
            )
        return wanted if stored is None else base


def open_collection(
    address: str | Connection,
    name: str,
    *,
    embedded: bool = False,
    names: Names = PLAIN,
    access: Access | None = None,
) -> Collection:
    """A collection at a Solr's address, or that of a `pysolr.Solr` that the user has.

    The address may hold user and password, and may name the collection itself
    ("http://host:8983/solr/name"), which then wins over `name`; that of pysolr always does.
    `embedded` says that it is in the embedded Solr; `names` are what the collection calls its
    fields; `access` is how it is reached. Nothing is sent yet.

    Raises ArgumentError if the address is not an http or https URL or goes on behind a collection,
    no collection can have that name, or the CA file cannot be read.
    """
    session = open_session(address, embedded=embedded, access=access)
    url = address if isinstance(address, str) else address.url
    base, name = split_address(url, name, is_core=not isinstance(address, str))
    require_name(name)
    session.outages.home = f"{base}/{name}"
    has_headers = access is not None and bool(access.headers)
    is_known = session.auth is not None or session.carrier is not None
    session.nodes = nodes.Nodes(base, has_secrets=is_known or has_headers)
    return Collection(Endpoint(base=base, name=name, session=session, names=names))
