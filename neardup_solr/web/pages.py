"""The files of a local page, and an application that has them beside its own paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup_solr.records import NOTHING
from neardup_solr.web.failure import Failure

REPORTS = "neardup_solr.reports.html"
OF_REPORTS = ("report.css", "words.js")  # files of the report page, for one look
CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
HEADERS = {
    "Content-Security-Policy": f"{CSP} base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


def list_pages(package: str, names: Mapping[str, str], root_path: str = "") -> list[Route]:
    """Make a route to a file of a package for each path."""

    def route(path: str, name: str) -> Route:
        async def send(_: Request) -> Response:
            return _read_page(REPORTS if name in OF_REPORTS else package, name, root_path)

        return Route(path, send)

    return [route(path, name) for path, name in names.items()]


@cache
def _read_page(package: str, name: str, root_path: str) -> Response:
    text = (resources.files(package) / name).read_text("utf-8").replace("{root_path}", root_path)
    return Response(text, media_type=TYPES[name.rpartition(".")[2]], headers=HEADERS)


def make_app(
    routes: Sequence[Route], middleware: Sequence[Middleware], next_step: str, *,
    root_path: str = "", handlers: Mapping[Any, Any] = NOTHING,
) -> Starlette:  # fmt: skip
    """Make an application of exact paths, which redirects nobody: see `refuse_route`.

    `next_step` is for those who ask for another path.
    """
    methods = {route.path: "POST" if "POST" in (route.methods or ()) else "GET" for route in routes}

    async def refuse(request: Request, error: HTTPException) -> Response:
        path = request.scope["path"]  # that of `url` depends on the Host
        return refuse_route(error, path, methods, root_path, next_step).response

    handlers = {HTTPException: refuse, **handlers}
    app = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
    app.router.redirect_slashes = False  # which would lead to the Host that the client sent
    return app


def refuse_route(
    error: HTTPException, path: str, methods: Mapping[str, str], root_path: str, next_step: str
) -> Failure:
    """Choose the answer to a path that does not exist, or to a wrong method of one.

    `methods` has the method of each path. One that is meant, such as "/check" by "//Check/", is
    named in the answer.
    """
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        method = "POST" if "POST" in allowed else "GET"
        reason = f"{path} accepts only {method}"
        return Failure(405, reason, f"send {method}", Allow=allowed, code="path-unknown")
    words = "/" + "/".join(filter(None, path.lower().split("/")))
    meant = words.removeprefix(root_path.lower()) or "/"
    if meant in methods:
        next_step = f"use {methods[meant]} {root_path}{meant}"
    return Failure(error.status_code, "this path does not exist", next_step, code="path-unknown")
