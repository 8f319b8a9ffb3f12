"""The server of a review: its page, and the answers that it sends.

It listens on this machine alone. The page has no data; each question and each answer needs the
token that stands behind the # of the address, which browsers send to nobody.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, get_args

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from neardup_solr.argument_types import Judgement
from neardup_solr.errors import NeardupError
from neardup_solr.verbs.review.session import ReviewSession
from neardup_solr.web import pages
from neardup_solr.web.body import FAULT, parse_object, read_body
from neardup_solr.web.failure import Failure, to_json
from neardup_solr.web.origin import Guard
from neardup_solr.web.pages import HEADERS, list_pages

MOST = 16 << 10  # bytes of a request
LOST = dict.fromkeys(("answer", "cluster"), "the answer was not saved: ")
LOST |= dict.fromkeys(("back", "undo"), "nothing was undone: ")
LOST["choose"] = "the values were not saved: "
OF_NO_PAIR = ("next", "look", "back", "finish", "unseen")
ACTIONS = (*OF_NO_PAIR, "answer", "skip", "cluster")
ON_VALUES = ("values", "again", "choose", "pass", "undo")
PAGES = {
    "/": "review.html", "/review.css": "review.css", "/review.js": "review.js",
    "/report.css": "report.css", "/words.js": "words.js",
}  # fmt: skip


def make_app(session: ReviewSession, token: str, port: int) -> Starlette:
    """Make the application that asks what a session asks, and writes its files."""
    lock, writing = Lock(), Lock()
    outputs, pairs = session.outputs, len(session.questions.pairs)

    async def act(request: Request) -> Response:
        sent = request.headers.get("authorization", "")
        if not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
            reason = "the token is wrong: open the address printed by the command"
            raise Failure(403, reason, code="token-invalid")
        action = request.scope["path"][1:]
        body = await read_body(request, MOST)
        if action in outputs.names:
            return await run_in_threadpool(write, action, *_parse_wish(body))
        return await run_in_threadpool(answer, action, *_parse(action, body, pairs))

    def write(action: str, *wish: Any) -> Response:
        with writing, _failing("nothing was written: "):  # beside which answers are taken
            with lock:
                session.conflicts.read()  # raises if the answers are away
            return to_json(outputs.write(action, *wish), headers=HEADERS)

    def answer(action: str, *arguments: object) -> Response:
        react: Callable[..., dict[str, Any]] = session.act
        if action in ON_VALUES:
            react = session.conflicts.act
        if action == "values":
            with writing, _failing(""):
                with lock:
                    session.conflicts.read()
                merged = outputs.merge()
            with lock:
                session.conflicts.open(merged)
        with lock, _failing(LOST.get(action, "")):
            return to_json(react(action, *arguments, time.monotonic()), headers=HEADERS)

    async def refuse(_: Request, error: Exception) -> Response:
        if not isinstance(error, Failure):  # but a ClientDisconnect
            error = Failure(400, "the request is incomplete", code="request-malformed")
        return error.response

    names = (*ACTIONS, *(ON_VALUES if outputs.merges else ()), *outputs.names)
    actions = [Route(f"/{action}", act, methods=["POST"]) for action in names]
    return pages.make_app(
        [*list_pages(__package__, PAGES), *actions], [Middleware(Guard, port=port)],
        "open the address printed by the command",
        handlers=dict.fromkeys((Failure, ClientDisconnect), refuse),
    )  # fmt: skip


@contextmanager
def _failing(lost: str) -> Iterator[None]:
    """Make errors, as those of a file until it can be used again, failures that name the loss."""
    try:
        yield
    except (NeardupError, OSError) as error:
        code = getattr(error, "code", "file-unwritable")
        raise Failure(503, f"{lost}{error}", Retry_After="1", code=code) from error


def _parse_wish(body: bytes) -> tuple[list[str], str]:
    """Parse a request to write a file: the questions that were agreed to, and what is kept."""
    fields = parse_object(body)
    agreed, canonical = fields.get("agreed", []), fields.get("canonical", "first")
    is_list = isinstance(agreed, list) and all(isinstance(each, str) for each in agreed)
    if FAULT in fields or not is_list:
        raise Failure(400, "`agreed` must be a list of questions", code="request-malformed")
    if canonical not in ("first", "fullest"):
        reason = "`canonical` must be first or fullest"
        raise Failure(400, reason, code="request-malformed")
    return agreed, canonical


def _parse(action: str, body: bytes, pairs: int) -> tuple[Any, ...]:
    """Parse a request: who reads, and about which pair what is answered, or which values count."""
    fields = parse_object(body)
    if fault := fields.get(FAULT):
        raise Failure(400, "the field {!r} {}".format(*fault), code="request-malformed")
    reader, number, word = (fields.get(name) for name in ("reader", "number", "answer"))
    if not isinstance(reader, str) or not 0 < len(reader) <= 64:
        reason = "`reader` must be a name of 1 to 64 characters"
        raise Failure(400, reason, code="request-malformed")
    if action in ON_VALUES:
        picks = fields.get("picks", {})
        if not isinstance(picks, dict) or any(type(pick) is not int for pick in picks.values()):
            reason = "`picks` must have the number of a value for each column"
            raise Failure(400, reason, code="request-malformed")
        return reader, number if type(number) is int else -1, picks, str(fields.get("state"))
    is_number = type(number) is int and 0 <= number < pairs
    if action not in OF_NO_PAIR and not is_number:
        raise Failure(400, "`number` must be the number of a pair", code="request-malformed")
    if action == "answer" and word not in get_args(Judgement):
        raise Failure(400, "`answer` must be same, different or unsure", code="request-malformed")
    return reader, number if is_number else -1, "same" if action == "cluster" else word
