"""The server of a review: one page, and the answers that it sends.

It listens on this machine alone. The page has no data; each question and each answer needs the
token that stands behind the # of the address, which browsers send to nobody.
"""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable
from importlib import resources
from threading import Lock
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from neardup_solr.arguments import Judgement
from neardup_solr.errors import NeardupError
from neardup_solr.web import HEADERS, TYPES, find_foreign

MOST = 16 << 10  # bytes of a request


def make_app(react: Callable[..., dict[str, Any]], pairs: int, token: str, port: int) -> Starlette:
    """Make the application that asks about so many pairs; `react` does what a page asks for."""
    lock = Lock()

    def serve(name: str) -> Callable[[Request], Response]:
        def send(_: Request) -> Response:
            return Response(
                read_asset(name), media_type=TYPES[name.rpartition(".")[2]], headers=HEADERS
            )

        return send

    async def act(request: Request) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            raise HTTPException(
                403, "the token is wrong: open the address that the command printed"
            )
        asked = await _read(request)
        return await run_in_threadpool(answer, request.path_params["what"], asked)

    def answer(what: str, asked: dict[str, Any]) -> Response:
        reader, number, word = (asked.get(name) for name in ("reader", "number", "answer"))
        if not isinstance(reader, str) or not 0 < len(reader) <= 64:
            raise HTTPException(400, "`reader` is not a name")
        is_number = type(number) is int and 0 <= number < pairs
        if what not in ("next", "back", "answer", "skip", "cluster"):
            raise HTTPException(404, "there is no such page")
        if what not in ("next", "back") and not is_number:
            raise HTTPException(400, "`number` is not that of a pair")
        if what == "answer" and word not in get_args(Judgement):
            raise HTTPException(400, "`answer` is same, different or unsure")
        with lock:
            try:
                found = react(what, reader, number, word, time.monotonic())
            except (NeardupError, OSError) as error:
                is_answer = what in ("answer", "cluster")
                reason = f"the answer is not kept: {error}" if is_answer else f"{error}"
                raise HTTPException(507, reason) from error
        return JSONResponse(found, headers=HEADERS)

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, headers=HEADERS)

    async def check(request: Request, answer: RequestResponseEndpoint) -> Response:
        foreign = find_foreign(request.headers, port)
        if foreign is not None:
            return await refuse(request, HTTPException(*foreign))
        return await answer(request)

    names = {"/": "review.html", "/review.css": "review.css", "/review.js": "review.js"}
    pages = [Route(path, serve(name)) for path, name in names.items()]
    actions = Route("/{what:str}", act, methods=["POST"])
    return Starlette(
        routes=[*pages, actions],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=check)],
        exception_handlers={HTTPException: refuse},
    )


def read_asset(name: str) -> str:
    """Read a file of the page. Its style is that of the report, and what only it has."""
    own = (resources.files(__name__.rpartition(".")[0]) / name).read_text("utf-8")
    if name.endswith(".css"):
        return (resources.files("neardup_solr.reports.html") / "report.css").read_text(
            "utf-8"
        ) + own
    return own


async def _read(request: Request) -> dict[str, Any]:
    """Read the object of a request, which is short."""
    content = bytearray()
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > MOST:
                raise HTTPException(413, f"a request has at most {MOST:,} bytes")
    except ClientDisconnect:
        raise HTTPException(400, "the request is cut") from None
    try:
        found = json.loads(bytes(content))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise HTTPException(400, "the request is not a JSON object")
    return found
