"""Each request of a service is answered, counted and logged, whatever becomes of it."""

from __future__ import annotations

import asyncio
import re
import secrets
import time

from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup_solr import errors
from neardup_solr.regex import regex
from neardup_solr.verbs.serve.log_lines import ServiceLog
from neardup_solr.verbs.serve.metrics import Metrics
from neardup_solr.verbs.serve.service import SEND
from neardup_solr.web.failure import Failure

RETRY_AFTER = {"Retry-After": "1"}
_REQUEST_ID = regex(r"[\w.-]{1,64}", re.ASCII)


class RequestLog:
    """Middleware that answers errors, and counts and logs each request."""

    def __init__(
        self, app: ASGIApp, *, log: ServiceLog, metrics: Metrics, paths: frozenset[str],
        root_path: str,
    ) -> None:  # fmt: skip
        self.app, self.log, self.metrics = app, log, metrics
        self.paths, self.root_path = paths, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever becomes of it, and log a line."""
        began, status, is_outage = time.perf_counter(), 499, False  # nobody is there to hear it
        scope["path"] = scope["path"].removeprefix(self.root_path)
        path = scope["path"] if scope["path"] in self.paths else "(unknown)"
        request = Request(scope)
        id = request.headers.get("x-request-id", "")
        id = id if _REQUEST_ID.fullmatch(id) else secrets.token_hex(8)
        state = request.state
        state.client, state.rights, state.documents = None, frozenset(), 0

        async def reply(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", id.encode())]
            await send(message)

        try:
            if {"content-length", "transfer-encoding"} <= {*request.headers}:
                reason = "the request has both Content-Length and Transfer-Encoding"
                step = "send only one of them"
                raise Failure(400, reason, step, Connection="close", code="request-malformed")
            await self.app(scope, receive, reply)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:  # the service ends, and this takes too long
            failure = Failure(
                503, "the service is stopping", "try again later", **RETRY_AFTER, code="busy"
            )
            await failure.response(scope, receive, reply)
        except Exception as error:
            failure = choose_failure(error)
            is_outage = failure.status == 503
            if is_outage:
                self.log.note_outage(failure.reason, refused=1)
            elif failure.status >= 500:
                self.log.note_fault(id, error, failure)
            await failure.response(scope, receive, reply)
        seconds = time.perf_counter() - began
        self.metrics.requests.labels(path, status).inc()
        self.metrics.seconds.labels(path).observe(seconds)
        if is_outage:
            return
        line = {"id": id, "client": state.client, "path": path, "status": status}
        line |= {"ms": round(seconds * 1000, 1), "documents": state.documents}
        self.log.write(line)


def choose_failure(error: Exception) -> Failure:
    """Choose the answer to an error."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, errors.RecordError):
        return Failure(400, f"{error.position}: {error.reason}", SEND, code=error.code)
    if isinstance(error, errors.ArgumentError):
        return Failure(400, error.reason, error.next_step, code=error.code)
    if isinstance(error, errors.DocumentNotFound):
        return Failure(404, error.reason, error.next_step, code=error.code)
    if isinstance(error, errors.NeardupError):
        reason, step = error.reason, error.next_step
        if isinstance(error, errors.SolrUnreachable):
            reason, step = f"Solr is unavailable: {reason}", "try again later"
        if isinstance(error, errors.SourceError):
            reason = f"{error.source}: {reason}"
        if isinstance(error, errors.SolrUnauthorized) and error.status == 401:
            step = "restart the service with credentials that Solr accepts"
        return Failure(503, reason, step, **RETRY_AFTER, code=error.code)
    reason = "internal error"
    return Failure(500, reason, "report the X-Request-Id to the operator", code="internal")
