"""A model of a Solr with one core, behind a real local HTTP server: what it keeps, what it loses.

It answers what the client asks while it indexes, in the shapes of Solr 9.10, and it is durable as
that one was measured to be. Documents that were acknowledged are in a log until a hard commit; a
new log begins after each start. A Solr that is killed and starts again replays its two newest logs,
and no older ones, while it answers already; a commit does nothing until that is done. No search
finds what is not committed. Versions grow.

All that goes wrong is planned, for the n-th request of a kind: nothing here depends on time.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from neardup_solr.settings import ALL_FIELDS
from neardup_solr.solr.collection import Collection, open_collection
from neardup_solr.solr.retry import Retry
from tests.faults.scripted import serving

Kind = Literal["add", "commit", "search", "probe", "schema", "unknown"]
Fields = Mapping[str, Any]
FULL = "No space left on device"
REPLAYED_LOGS = 2
FIRST_VERSION = 1_880_000_000_000_000_000
_SINCE = re.compile(r"\{!cache=false\}_version_:\[(\d+) TO \*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """Solr is killed while it does what was asked.

    Of an update, so many documents were `applied` by then; a commit was done if that is not 0.
    Without `keeps_logs` its logs are gone, too. Then `away` requests are refused, `loading` ones
    are answered as if the core did not exist, and `replay` ones are answered during the replay.
    """

    applied: int = 0
    keeps_logs: bool = True
    away: int = 1
    loading: int = 0
    replay: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The connection ends without an answer; so many documents were `applied` (None: all)."""

    applied: int | None = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """Solr does nothing and says to come again."""

    status: int = 503
    retry_after: str | None = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFull:
    """From now on nothing can be written until Solr is started again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftCommit:
    """Searches find what was applied so far, which makes nothing durable; then the request."""


Fault = Crash | Cut | Busy | DiskFull | SoftCommit


@dataclass(frozen=True, slots=True)
class Stored:
    """A document in a version."""

    version: int
    fields: Fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes back: HTTP status, JSON, and the header Retry-After."""

    status: int = 200
    content: Mapping[str, Any] = field(default_factory=dict)
    retry_after: str | None = None


NOT_LOADED = Answer(
    status=404,
    content={"servlet": "default", "message": "Not Found", "url": "/solr/model", "status": "404"},
)


def takes(_: Fields) -> None:
    """No document is refused."""


@dataclass(slots=True, kw_only=True)
class Model:
    """A Solr with a core that is empty at first.

    `refuses` gives the message for a document that Solr refuses; the chain of updates is `tolerant`
    and names it, or answers 400 for the whole batch. `drops` is true of documents that Solr takes
    and does not keep, as with another program that deletes them. A request of more than
    `most` documents is too large. A Solr that keeps no versions has not `tells_versions`; neither
    has a node of a SolrCloud that passes documents on, which is what the model is if it `is_cloud`.

    `committed` is durable and `visible` is what a search finds, both by id. `sent` lists the ids in
    each update that came in whole; `asked` counts the requests by kind, and `turned_away` those
    while Solr did not run. `lost` are the ids of applied documents that a crash took.
    `halts` counts how often the client was told of a full disk, and `halted_commits` the commits
    that came after that, and before a new start: each loses all that was acknowledged.
    """

    name: str = "model"
    tolerant: bool = True
    tells_versions: bool = True
    is_cloud: bool = False
    most: int | None = None
    refuses: Callable[[Fields], str | None] = takes
    drops: Callable[[Fields], bool] = lambda _: False
    committed: dict[str, Stored] = field(default_factory=dict)
    visible: dict[str, Stored] = field(default_factory=dict)
    sent: list[list[str]] = field(default_factory=list)
    asked: Counter[Kind] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    turned_away: int = 0
    crashes: int = 0
    halts: int = 0
    halted_commits: int = 0
    _plans: dict[tuple[Kind, int], Fault] = field(default_factory=dict)
    _index: dict[str, Stored] = field(default_factory=dict)
    _logs: list[dict[str, Stored]] = field(default_factory=list)
    _has_log: bool = False  # of its own, since its last start
    _away: int = 0
    _loading: int = 0
    _replaying: int = 0
    _later: Crash = field(default_factory=Crash)
    _is_halted: bool = False
    _has_told: bool = False  # of its full disk
    _last_version: int = FIRST_VERSION
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def plan(self, kind: Kind, nth: int, fault: Fault) -> None:
        """Let something go wrong with the n-th request of a kind from now on; 0 is the next one."""
        with self._lock:
            self._plans[kind, self.asked[kind] + nth] = fault

    def forget_plans(self) -> None:
        """Let nothing more go wrong."""
        self._plans.clear()

    def crash(self, crash: Crash | None = None) -> None:
        """Kill Solr now, between two requests; a disk that was full has room again."""
        crash = crash or Crash()
        with self._lock:
            self.crashes += 1
            if not crash.keeps_logs:
                self._lose(self._logs)
                self._logs = []
            self._later, self._away = crash, crash.away
            self._is_halted = self._has_told = False
            if not self._away:
                self._start()

    @property
    def is_replaying(self) -> bool:
        """Whether a commit does nothing yet."""
        return self._replaying > 0

    def durable(self) -> dict[str, Stored]:
        """What would be left if Solr lost its logs now."""
        with self._lock:
            return dict(self.committed)

    def answer(self, method: str, path: str, body: bytes, crashes: int) -> Answer | None:
        """The answer to a request on a connection as old as so many crashes; None for none."""
        with self._lock:
            if crashes < self.crashes or not self._has_started():
                return None
            if self._loading:
                self._loading -= 1
                return NOT_LOADED
            self._go_on()
            split = urlsplit(path)
            place, params = split.path.rstrip("/"), parse_qs(split.query)
            kind = self._kind(method, place, body)
            fault = self._plans.pop((kind, self.asked[kind]), None)
            self.asked[kind] += 1
            return self._answer(kind, params, body, fault)

    def _kind(self, method: str, path: str, body: bytes) -> Kind:
        core = f"/solr/{self.name}"
        if path == f"{core}/update":
            return "add" if body.startswith(b"[") else "commit"
        if path == f"{core}/select":
            return "search" if method == "POST" else "probe"
        if path == "/solr/admin/metrics":
            return "probe"
        return "schema" if path == f"{core}/schema/fields" else "unknown"

    def _answer(
        self, kind: Kind, params: Mapping[str, list[str]], body: bytes, fault: Fault | None
    ) -> Answer | None:
        documents = json.loads(body) if kind == "add" else []
        if kind == "add":
            self.sent.append([str(one["id"]) for one in documents])
        match fault:
            case Crash(applied=applied):
                if kind == "commit" and applied:
                    self._commit()
                self._add(documents[:applied])
                self.crash(fault)
                return None
            case Cut(applied=applied):
                if kind == "commit" and applied != 0:
                    self._commit()
                self._add(documents[:applied])
                return None
            case Busy(status=status, retry_after=retry_after):
                content = _failed(status, "come again")
                return Answer(status=status, content=content, retry_after=retry_after)
            case DiskFull():
                self._is_halted = True
            case SoftCommit():
                self.visible = dict(self._index)
        if kind == "add":
            return self._add(documents)
        if kind == "commit":
            return self._commit()
        if kind == "search":
            return self._search(json.loads(body))
        if kind == "probe":
            return self._state() if "group" in params else self._page(params)
        if kind == "schema":
            names = ["id", "_version_", *sorted({*ALL_FIELDS} - {"id"})]
            return _well({"fields": [{"name": name, "type": "string"} for name in names]})
        return Answer(status=400, content=_failed(400, "the model does not know this request"))

    # What it keeps, and what it loses.

    def _has_started(self) -> bool:
        """Whether Solr runs; each request that it refuses brings that nearer."""
        if not self._away:
            return True
        self.turned_away += 1
        self._away -= 1
        if not self._away:
            self._start()
        return False

    def _start(self) -> None:
        """Start again with what is committed, and the newest logs to be replayed."""
        self._lose(self._logs[:-REPLAYED_LOGS])
        self._logs = self._logs[-REPLAYED_LOGS:]
        self._index, self.visible = dict(self.committed), dict(self.committed)
        self._has_log = False
        self._loading = self._later.loading
        self._replaying = self._later.replay + 1 if self._logs else 0
        if self._replaying == 1:
            self._go_on()

    def _go_on(self) -> None:
        """Get on with the replay, which ends with a commit."""
        if not self._replaying:
            return
        self._replaying -= 1
        if not self._replaying:
            for log in self._logs:
                for id, stored in log.items():
                    if id not in self._index or self._index[id].version < stored.version:
                        self._index[id] = stored
            self._commit()

    def _lose(self, logs: Sequence[Mapping[str, Stored]]) -> None:
        self.lost += [id for log in logs for id in log]

    def apply(self, document: Fields) -> int:
        """Take a document into the log, as updates do; gives its version."""
        self._last_version += 1
        if not self.drops(document):
            if not self._has_log:
                self._logs.append({})
                self._has_log = True
            stored = Stored(self._last_version, document)
            self._index[str(document["id"])] = self._logs[-1][str(document["id"])] = stored
        return self._last_version

    def _add(self, documents: Sequence[Fields]) -> Answer:
        """Apply documents up to the first that is refused, or all others if that is tolerated."""
        if self.most is not None and len(documents) > self.most:
            return Answer(status=413, content=_failed(413, "too large"))
        if self._is_halted and not self._has_told:
            self._has_told = True
            self.halts += 1
        adds: list[object] = []
        errors = []
        for document in documents:
            message = self.refuses(document)
            if self._is_halted and self.tolerant:
                message = f"Server error writing document id {document['id']} to the index."
            elif self._is_halted:
                return Answer(status=500, content=_failed(500, FULL))
            if message is None:
                adds += [document["id"], self.apply(document)]
            elif self.tolerant:
                errors.append({"type": "ADD", "id": document["id"], "message": message})
            else:
                return Answer(status=400, content=_failed(400, message))
        is_told = adds and self.tells_versions and not self.is_cloud
        return self._done({"adds": adds} if is_told else {}, errors)

    def _commit(self) -> Answer:
        if self._is_halted:
            self.halted_commits += self._has_told
            self._lose(self._logs)
            self._logs = []
            return Answer(status=500, content=_failed(500, "this IndexWriter is closed"))
        if not self._replaying:
            self.committed, self.visible = dict(self._index), dict(self._index)
            self._logs, self._has_log = [], False
        return self._done({}, [])

    def _done(self, content: Mapping[str, Any], errors: Sequence[Fields]) -> Answer:
        """The answer to an update."""
        tolerated = {"errors": list(errors), "maxErrors": -1} if self.tolerant else {}
        return Answer(content={"responseHeader": {**tolerated, "status": 0, "QTime": 0}, **content})

    # What it finds.

    def _search(self, request: Mapping[str, Any]) -> Answer:
        found = dict(self.visible)
        params = request.get("params", {})
        if "any" in params:
            wanted = params["any"].split(params["separator"])
            found = {id: found[id] for id in wanted if id in found}
        elif request["query"] != "*:*":
            return Answer(status=400, content=_failed(400, "the model does not know this query"))
        for one in request.get("filter", []):
            since = _SINCE.fullmatch(one)
            if since is None:
                return Answer(status=400, content=_failed(400, f"unknown filter {one}"))
            found = {id: one for id, one in found.items() if one.version >= int(since[1])}
        docs = [_shown(one, request.get("fields", [])) for one in found.values()]
        content = _response(len(found), docs[: request["limit"]])
        if "facet" in request:
            content["facets"] = _facets(list(found.values()), request["facet"]["values"]["field"])
        answer = _well(content)
        if self.is_cloud:
            answer.content["responseHeader"]["zkConnected"] = True
        return answer

    def _page(self, params: Mapping[str, list[str]]) -> Answer:
        """All ids on one page, or none of them: what probes ask for, and cursors."""
        mark = params.get("cursorMark", [""])[0]
        ids = sorted(self.visible) if mark == "*" else []
        content = _response(len(self.visible), [{"id": id} for id in ids])
        return _well(content | {"nextCursorMark": "end"} if mark else content)

    def _state(self) -> Answer:
        state = 0 if self._replaying else 3
        return _well({"metrics": {f"solr.core.{self.name}": {"TLOG.state": state}}})


def _well(content: Mapping[str, Any]) -> Answer:
    return Answer(content={"responseHeader": {"status": 0, "QTime": 0}, **content})


def _failed(status: int, message: str) -> dict[str, Any]:
    error = {
        "metadata": ["error-class", "org.apache.solr.common.SolrException"],
        "msg": message,
        "code": status,
    }
    return {"responseHeader": {"status": status, "QTime": 0}, "error": error}


def _response(total: int, docs: Sequence[Fields]) -> dict[str, Any]:
    return {"response": {"numFound": total, "start": 0, "numFoundExact": True, "docs": list(docs)}}


def _shown(stored: Stored, wanted: Sequence[str]) -> dict[str, Any]:
    fields = {**stored.fields, "_version_": stored.version}
    return {name: value for name, value in fields.items() if "*" in wanted or name in wanted}


def _facets(found: Sequence[Stored], name: str) -> dict[str, Any]:
    if not found:
        return {"count": 0}
    counts = Counter(str(one.fields[name]) for one in found)
    buckets = [{"val": value, "count": count} for value, count in counts.items()]
    return {"count": len(found), "values": {"buckets": buckets}}


@contextmanager
def running(model: Model) -> Iterator[str]:
    """The model behind a local server; gives the address, which ends in /solr."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet, which waits for no acknowledgement
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            self.crashes = model.crashes

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = model.answer(self.command, self.path, body, self.crashes)
            if answer is None:
                self.close_connection = True
                return
            content = json.dumps(answer.content).encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json;charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            if answer.retry_after is not None:
                self.send_header("Retry-After", answer.retry_after)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(Handler) as address:
        yield f"{address}/solr"


def client(address: str, model: Model) -> Collection:
    """A client that has never asked this Solr, and does not wait long before it tries again."""
    collection = open_collection(address, model.name)
    collection.session.retry = Retry(first_wait=0.0005)
    return collection
