"""Requests that are answered by an error, and answers of JSON."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response


class Failure(Exception):
    """A request that is answered by an error."""

    def __init__(
        self, status: int, reason: str, next_step: str = "", *, code: str, **headers: str
    ) -> None:
        self.status, self.reason, self.next_step, self.code = status, reason, next_step, code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    @property
    def response(self) -> Response:
        """The error as JSON."""
        step = {"next": self.next_step} if self.next_step else {}
        body = {"error": self.reason, **step, "code": self.code}
        return to_json(body, self.status, self.headers)


def to_json(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Make a response of JSON, or of bytes that are JSON already."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return Response(content, status, headers, "application/json")
