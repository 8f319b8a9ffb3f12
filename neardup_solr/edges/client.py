"""The talk with one Solr core or collection: the only user of pysolr and of HTTP.

pysolr reads whole collections by cursor; JSON requests and updates go over the same session.
Every answer is checked by that session before it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pysolr

from neardup_solr.edges.retry import Retry, retrying
from neardup_solr.edges.session import CheckedSession, answer, open_session
from neardup_solr.pure import query
from neardup_solr.pure.errors import DocumentNotFound, SchemaError, SolrAnswerError
from neardup_solr.pure.model import Hit

PAGE = 500  # texts in one answer
IDS_PAGE = 10_000  # bare ids in one answer
ONCE = Retry(attempts=1)
PATIENT = Retry()
EXACT = {"expandMacros": "false"}  # or Solr would expand "${...}" inside values and ids
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A document that Solr did not take: its id ("(unknown)" where it has none) and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Solr:
    """One core or collection: `base` is the server's address, `core` the name in it.

    `retry` bounds how often a request is repeated after a fault that passes.
    """

    base: str
    core: str
    session: CheckedSession = field(repr=False)
    retry: Retry = PATIENT

    @property
    def url(self) -> str:
        """The address of the core, without credentials."""
        return f"{self.base}/{self.core}"

    def add(self, documents: Sequence[bytes | Mapping[str, Any]]) -> tuple[Refusal, ...]:
        """Send documents as they are; those with an id already there are replaced.

        A document is a mapping, or bytes that are already its JSON.
        Returns the documents that Solr refused; the others are taken, and durable once committed.
        A request that is too large (413) is sent again in halves.
        """
        body = b"[" + b",".join(map(_json_of, documents)) + b"]"
        try:
            decoded = self._post("update", body, {})
        except SolrAnswerError as error:
            if error.status != 413 or len(documents) < 2:
                raise
            middle = len(documents) // 2
            return self.add(documents[:middle]) + self.add(documents[middle:])
        errors = decoded["responseHeader"].get("errors", ())
        return tuple(
            Refusal(id=str(refused.get("id")), reason=_first_line(refused.get("message")))
            for refused in errors
        )

    def commit(self) -> None:
        """Make what was sent durable and visible to searches (a hard commit)."""
        self._post("update", b'{"commit":{"waitSearcher":true}}', {})

    def delete_ids(self, ids: Sequence[str]) -> None:
        """Delete documents by id; ids that are not there are no error."""
        # As JSON: an id may hold what XML cannot.
        if ids:
            self._post("update", orjson.dumps({"delete": list(ids)}), {})

    def delete_query(self, filter: str) -> None:
        """Delete the documents that a query in Solr's syntax matches."""
        self._post("update", orjson.dumps({"delete": {"query": filter}}), EXACT)

    def hits(self, request: query.Request, *, page: int = PAGE) -> Iterator[Hit]:
        """What a request finds, best first, fetched in pages of `page` hits as they are used."""
        page = min(page, PAGE)
        request = request | {"fields": ["id", "content", "md5_hash", "score"], "limit": page}
        offset, total = 0, 1
        while offset < total:
            found = self._ask(request | {"offset": offset})["response"]
            yield from map(_hit, found["docs"])
            offset, total = offset + page, found["numFound"]

    def count(self, filters: Sequence[str] = ()) -> int:
        """How many documents match all filters (all documents, where there are none)."""
        request = {"query": "*:*", "filter": list(filters), "limit": 0}
        return int(self._ask(request)["response"]["numFound"])

    def document(self, id: str, fields: Sequence[str]) -> dict[str, Any]:
        """The stored fields of the document with exactly this id.

        Raises DocumentNotFound where there is none.
        """
        request = query.by_id(id) | {"fields": list(fields), "limit": 1}
        docs = self._ask(request)["response"]["docs"]
        if not docs:
            raise DocumentNotFound(self.url, id)
        return dict(docs[0])

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of documents by id; ids that are not there are left out."""
        request = query.by_ids(ids) | {"fields": ["id", "content"], "limit": len(ids)}
        docs = self._ask(request)["response"]["docs"]
        return {found["id"]: found.get("content", "") for found in docs}

    def ids(self, filters: Sequence[str] = ()) -> Iterator[str]:
        """The ids of all documents that match all filters, by code point, page by page.

        Steady while others add documents, but no snapshot.
        """
        params = {
            "fq": list(filters),
            "fl": "id",
            "sort": "id asc",
            "rows": IDS_PAGE,
            "cursorMark": "*",
            **EXACT,
        }
        found = pysolr.Solr(self.url, session=self.session).search("*:*", **params)
        return (document["id"] for document in found)

    def values(self, name: str) -> dict[str, int]:
        """The values of a docValues field, with the number of documents that have each."""
        facet = {"type": "terms", "field": name, "limit": -1}
        decoded = self._ask({"query": "*:*", "limit": 0, "facet": {"values": facet}})
        buckets = decoded.get("facets", {}).get("values", {}).get("buckets", ())
        return {str(bucket["val"]): int(bucket["count"]) for bucket in buckets}

    def require_fields(self, names: Iterable[str]) -> None:
        """Refuse a collection whose schema lacks fields.

        Raises SchemaError that names those missing, CoreMissing where there is no such core.
        """
        response = self.session.get(f"{self.url}/schema/fields")
        present = {described["name"] for described in answer(response)["fields"]}
        missing = [name for name in names if name not in present]
        if missing:
            raise SchemaError(self.url, missing)

    def _ask(self, request: query.Request) -> dict[str, Any]:
        return self._post("select", orjson.dumps(request), EXACT)

    def _post(self, path: str, body: bytes, params: Mapping[str, str]) -> dict[str, Any]:
        def send() -> dict[str, Any]:
            return answer(
                self.session.post(f"{self.url}/{path}", data=body, headers=_JSON, params=params)
            )

        return retrying(send, retry=self.retry)


def connect(address: str, core: str) -> Solr:
    """A core or collection at a Solr's address.

    The address may hold user and password, and may name the core itself
    ("http://host:8983/solr/name"), which then wins over `core`. Nothing is asked yet.

    Raises SolrUnreachable where the address is not an http or https URL.
    """
    session, url = open_session(address)
    base, slash, name = url.partition("/solr/")
    if slash and name:
        return Solr(base=f"{base}/solr", core=name.strip("/"), session=session)
    return Solr(base=url, core=core, session=session)


def _json_of(document: bytes | Mapping[str, Any]) -> bytes:
    return document if isinstance(document, bytes) else orjson.dumps(document)


def _hit(found: Mapping[str, Any]) -> Hit:
    return Hit(
        id=found["id"],
        content=found.get("content", ""),
        md5_hash=found.get("md5_hash", ""),
        shared=round(found["score"]),
    )


def _first_line(message: Any) -> str:
    return str(message).strip().partition("\n")[0]
