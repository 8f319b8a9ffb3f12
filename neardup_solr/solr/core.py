"""A core of Solr: its address, the names of its fields, and requests to its handlers.

Names of fields are translated here; all callers use those without a prefix, such as `signature`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Self

import orjson

from neardup_solr import errors
from neardup_solr.errors import SolrAnswerError, SolrUnreachable, place
from neardup_solr.progress import ignore
from neardup_solr.records import NOTHING
from neardup_solr.settings import Settings
from neardup_solr.solr import cloud, faults, query, refusals, responses
from neardup_solr.solr.cloud import SolrCluster
from neardup_solr.solr.names import ID, NOTE, PLAIN, VERSION, Names
from neardup_solr.solr.session import CheckedSession

EXACT = {"expandMacros": "false"}  # or Solr would expand "${...}" inside values and ids
# The parser that our queries are written for; someone else's collection may have another.
SELECT = {**EXACT, "defType": "lucene", "wt": "json"}
JSON = {"Content-Type": "application/json"}
DOCS = {"response.docs": list, "response.numFound": int}


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """The address of a core, the session that reaches it, and what is learnt of it.

    `names` are those of its fields, `settings` those of its documents at the last look.
    """

    base: str
    name: str
    session: CheckedSession
    names: Names = PLAIN
    settings: Settings | None = None


class Core:
    """A core, or a collection of a SolrCloud, whose endpoint may be opened at its first use."""

    __slots__ = ("_endpoint",)

    def __init__(self, endpoint: Endpoint | Callable[[], Endpoint]) -> None:
        self._endpoint = endpoint

    def __repr__(self) -> str:
        if not isinstance(self._endpoint, Endpoint):
            return f"{type(self).__name__}(not opened yet)"
        parts = f"base={self.base!r}, name={self.name!r}, names={self.names!r}"
        return f"{type(self).__name__}({parts})"

    @property
    def endpoint(self) -> Endpoint:
        """Endpoint of the collection, opened at its first use."""
        if not isinstance(self._endpoint, Endpoint):
            self._endpoint = self._endpoint()
        return self._endpoint

    @property
    def base(self) -> str:
        """Address of the server."""
        return self.endpoint.base

    @property
    def name(self) -> str:
        """Name of the core or collection."""
        return self.endpoint.name

    @property
    def session(self) -> CheckedSession:
        """Session that sends its requests."""
        return self.endpoint.session

    @property
    def names(self) -> Names:
        """Names of its fields."""
        return self.endpoint.names

    @property
    def url(self) -> str:
        """The address of the collection, without credentials."""
        return f"{self.base}/{self.name}"

    @property
    def identity(self) -> str:
        """The name and the names of fields: what is learnt of it holds for no other."""
        return f"{self.name} {self.names.to_note()}"

    @property
    def place(self) -> str:
        """The options that name it in a command of `neardup`, for messages that propose it."""
        return place(self.name, None if self.session.embedded else self.base)

    def with_names(self, names: Names) -> Self:
        """Return the same collection by other names of its fields."""
        return type(self)(replace(self.endpoint, names=names, settings=None))

    def beside(self, name: str) -> Self:
        """Return another collection of the same server, by the usual names of its fields."""
        return type(self)(replace(self.endpoint, name=name, names=PLAIN, settings=None))

    def ask(self, request: query.Request, needed: Mapping[str, type]) -> dict[str, Any]:
        """Ask /select by a request with logical names. The answer must have the parts `needed`.

        Raises SolrAnswerError if a part is missing, or Solr does not understand the request.
        """

        def require(decoded: Mapping[str, Any]) -> None:
            if "response.numFound" not in needed:
                return
            responses.require_page(decoded, request, self.url)
            documents, fields = decoded["response"]["docs"], request.get("fields", ())
            responses.require_single(documents, self.names.single, self.url)
            if ID in fields:
                responses.require_once(documents, self.names.id, self.url)
                if (ids := query.ids_in(request)) is not None:
                    responses.require_asked(documents, ids, self.names.id, self.url)
            if "score" in fields:
                responses.require_rows(documents, {"score": (int, float)}, self.url)
            if VERSION in request.get("sort", ""):
                responses.require_rows(documents, {VERSION: int}, self.url)

        body = orjson.dumps(self.names.request(request))
        allowed = self.session.allowed_seconds
        bound = {} if allowed is None else {"timeAllowed": str(round(1000 * allowed))}
        decoded = self.post("select", body, needed, require=require, params=SELECT | bound)
        nodes = self.session.nodes
        if nodes.is_cloud is None:  # a SolrCloud tells its mode in its answers
            nodes.is_cloud = "zkConnected" in decoded["responseHeader"]
            if nodes.is_cloud:
                self.cluster()
        return decoded

    def _edit(self, command: Mapping[str, Any], next_step: str) -> None:
        # The tolerant chain answers status 0 to a delete that it refuses.
        decoded = self.post("update", orjson.dumps(command))
        for refused in refusals.parse_refusals(self.url, decoded):
            reason = faults.SAYS + refused.reason
            raise SolrAnswerError(self.url, 200, reason, next_step, code="solr-refused")

    def post(
        self,
        path: str,
        body: bytes,
        needed: Mapping[str, type] = NOTHING,
        *,
        require: Callable[[dict[str, Any]], None] = ignore,
        params: Mapping[str, str] = EXACT,
        headers: Mapping[str, str] = JSON,
    ) -> dict[str, Any]:
        """Send a body, of JSON by default, to a handler of the collection.

        See `CheckedSession.ask`.
        """
        sent: dict[str, Any] = {"data": body, "headers": headers, "params": params}
        return self.session.ask("POST", f"{self.url}/{path}", needed, require=require, **sent)

    def cluster(self) -> SolrCluster:
        """Ask a SolrCloud for its nodes and our shards. Without an answer it has none."""
        nodes = self.session.nodes
        if nodes.is_cloud is False:
            return SolrCluster()
        cluster = cloud.cluster_of(self.session.once, self.base, self.name)
        if cluster.nodes:
            nodes.learn(cluster.nodes)
        return cluster

    def shards(self, *, of_leaders: bool = False) -> list[str]:
        """List the addresses of the shards. A standalone core is its only shard."""
        request = {"query": "*:*", "limit": 0, "params": {"shards.info": "true"}}
        request = query.of_leaders(request) if of_leaders else request
        shards = self.ask(request, DOCS).get("shards.info", {})
        responses.require_rows(shards.values(), {"shardAddress": str}, self.url)
        return [shard["shardAddress"].rstrip("/") for shard in shards.values()] or [self.url]

    def shard_names(self) -> list[str]:
        """List the names of the shards. A core, or an alias of several, has addresses."""
        return [shard.name for shard in self.cluster().shards] or self.shards()

    def replica_of(self, shard: str) -> str:
        """The address of a replica that can serve a shard of `shard_names`.

        Raises SolrUnreachable if none can serve.
        """
        if "://" in shard:
            return shard
        replicas = next((s.replicas for s in self.cluster().shards if s.name == shard), ())
        if not replicas:
            raise SolrUnreachable(self.url, f"no replica of {shard!r} answers", "start its node")
        return random.choice(replicas)

    def take_names(self, names: Names) -> None:
        """Call the fields so from now on: these names have just been kept in the schema."""
        self.endpoint.names = names  # whoever holds the collection has them, too

    def kept_names(self) -> Names:
        """Read the field names stored in the schema, or the defaults.

        Raises SettingsError if what the schema keeps is not understood.
        """
        try:
            fields = self._rows("fields", fl=NOTE)
        except errors.CoreMissing:
            return PLAIN
        notes = [field for field in fields if field["name"] == NOTE]
        return Names.read(str(notes[0].get("default", "")), self.place) if notes else PLAIN

    def require_fields(self, names: Iterable[str]) -> None:
        """Refuse a collection whose schema lacks fields.

        Raises SchemaError that names those missing, CoreMissing if the collection does not exist.
        """
        present = {field["name"] for field in self._rows("fields")}
        missing = [name for name in self.names.fields(names) if name not in present]
        if missing and not self.names.is_plain:  # a dynamic field may hold a text
            patterns = [field["name"] for field in self._rows("dynamicFields")]
            texts = self.names.text
            dynamic = {name for name in texts if any(fnmatchcase(name, p) for p in patterns)}
            missing = [name for name in missing if name not in dynamic]
        if missing:
            step = self.names.advise(present, self.place)
            raise errors.SchemaError(self.url, missing, next_step=step)

    def _rows(self, part: str, **params: str) -> list[dict[str, Any]]:
        """The rows of a part of the schema, each with its name."""

        def require(decoded: Mapping[str, Any]) -> None:
            responses.require_rows(decoded[part], {"name": str}, self.url)

        url = f"{self.url}/schema/{part.lower()}"
        decoded = self.session.ask("GET", url, {part: list}, require=require, params=params)
        return list(decoded[part])
